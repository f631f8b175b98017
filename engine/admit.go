package engine

import (
	"time"

	"baton/engine/admission"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/health"
)

// room says whether one more attempt may be in flight; that there is none counts
// as turned away. v.mu is held.
func (v *Vendor) room(lane control.Lane, now time.Time) bool {
	if v.fits(lane) {
		return true
	}
	v.admission.Turned(now)
	return false
}

// fits is room without that count. v.mu is held.
func (v *Vendor) fits(lane control.Lane) bool {
	return v.admission.Room(admission.Lane(lane), v.flight.n, v.flight.awaiting)
}

// spares says whether it may be all the same, where no vendor has room. v.mu is held.
func (v *Vendor) spares(a *Ask, now time.Time) bool {
	return a.spare && v.admission.Spare(now, admission.Lane(a.Lane), v.flight.n, v.flight.awaiting, v.flight.batch)
}

// late says whether the attempt could no longer be done by its deadline. One
// that would be alone is let through: it is what says how long they take now.
// v.mu is held.
func (v *Vendor) late(a *Ask, now time.Time) bool {
	return v.flight.n > 0 && admission.Late(now, a.Deadline, v.admission.Typical(admission.Kind(a.Kind)))
}

// admitted shows admission how long an attempt took. Trials and what is sent to
// an ejected vendor say nothing of a well one. v.mu is held.
func (v *Vendor) admitted(l *Lease, now time.Time, d time.Duration) {
	if !l.Trial && !l.outside {
		v.admission.Sample(now, l.begun, admission.Kind(l.kind), d, v.flight.n, v.flight.awaiting)
		v.yields(now)
		v.sounded()
	}
}

// sounded says whether admission, or the limiter, wants more at the vendor than its weight is.
// v.mu is held.
func (v *Vendor) sounded() {
	v.sounds.Store(v.admission.Wants(v.flight.awaiting) || v.limiter.Tests())
}

// tickAdmission lets the limits of attempts in flight become old, and gives
// those who wait what has become free otherwise than by an attempt's end.
func (e *Engine) tickAdmission(t *table, now time.Time) {
	for _, v := range t.vendors {
		v.mu.Lock()
		if v.health.State() == health.Ejected {
			v.admission.Reset()
		}
		v.admission.Tick(now, v.flight.n)
		v.yields(now)
		if v.limiter.Raised() || v.limiter.Drains() {
			v.admission.Quiet(now)
		}
		v.sounded()
		v.mu.Unlock()
	}
	e.serve(now)
}

// patience is how long an interactive request waits for a place: less where a
// vendor is saturated, so that it is served quickly or not at all.
func (e *Engine) patience(a *Ask) time.Duration {
	var slack time.Duration
	for _, v := range a.among {
		v.mu.Lock()
		if _, limiting := v.admission.Value(); limiting {
			slack = max(slack, v.admission.Slack(admission.Kind(a.Kind)))
		}
		v.mu.Unlock()
	}
	return admission.Patience(budget(e.cfg.Load()), slack, e.Waiting(control.Batch) > 0)
}

// budget is a first token's: the timeout, or what is promised if that is less.
func budget(c *config.Config) time.Duration {
	b := c.Timeouts.FirstToken
	if slo := c.Routing.SLOP90; slo > 0 && (b <= 0 || slo < b) {
		b = slo
	}
	return b
}

// placesPerSecond is how many attempts per second get a place at the vendors
// that an attempt may go to, when all places are taken.
func (e *Engine) placesPerSecond(a *Ask) float64 {
	sum := 0.0
	for _, v := range a.among {
		v.mu.Lock()
		r := v.admission.Rate()
		if rps, ok := v.limiter.Allowed(); ok && (r == 0 || rps < r) {
			r = rps
		}
		v.mu.Unlock()
		sum += r
	}
	return sum
}

// Waiting returns how many requests of a lane wait for a place at a vendor.
func (e *Engine) Waiting(lane control.Lane) int { return int(e.lobby.waiting[lane].Load()) }

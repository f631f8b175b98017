package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"baton/engine/admission"
	"baton/engine/affinity"
	"baton/engine/control"
	"baton/engine/health"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// Why no vendor takes an attempt.
var (
	// ErrNoVendor: no vendor may take traffic at all.
	ErrNoVendor = errors.New("no vendor may take traffic")
	// ErrTried: every vendor that may take the attempt has been tried.
	ErrTried = errors.New("every vendor that may take the request was tried")
	// ErrDrained is the cause with which attempts end when their vendor is
	// drained at once.
	ErrDrained = errors.New("the vendor was drained")
	// ErrLeft: the client left while its request waited for a place.
	ErrLeft = errors.New("the client left while the request waited for a place")
	// ErrLate: the request can no longer be done by its deadline.
	ErrLate = errors.New("the request can no longer be done by its deadline")
)

// Limited says that the vendors left take no more at the moment.
type Limited struct {
	Until time.Time // when one of them may be asked again
	Full  bool      // one of them has as much in flight as it can do; otherwise it is their rate
}

// Error says what they are at.
func (l *Limited) Error() string {
	if l.Full {
		return "every vendor has as much in flight as it can do"
	}
	return "every vendor is over its rate limit"
}

// Ask is what an attempt wants.
type Ask struct {
	Lane  control.Lane
	Kind  weights.Kind
	Tried []*Vendor          // not these
	Same  *Vendor            // a further try at this one
	Only  func(*Vendor) bool // nil: any
	First bool               // the request's first attempt

	// Affinity is the hash of the conversation, 0 for none: of the first attempts of
	// each one vendor is preferred, within the weights.
	Affinity uint64

	// Gone is closed when the client leaves. With it the attempt waits for a place
	// when there is none, as its lane may; without, it is told at once.
	Gone     <-chan struct{}
	Deadline time.Time // of the request, zero: none; nothing begins that cannot be done by then

	among []*Vendor // in place of Tried and Only, for those who wait
	spare bool      // no vendor has room: whether one may take it all the same
}

// Lease is one attempt's place at a vendor. The caller owns the memory: a Lease
// in the attempt's own struct costs no allocation. It must not be copied while
// it is held.
type Lease struct {
	Vendor *Vendor
	Trial  bool                    // one live request to see whether the vendor is well again
	Cancel context.CancelCauseFunc // called with ErrDrained when the vendor is drained at once
	Waited time.Duration           // for a place, also if there was none in the end

	engine     *Engine
	kind       weights.Kind
	lane       control.Lane
	begun      time.Time
	firstToken time.Duration // 0 before it
	outside    bool          // begun while the vendor was ejected: a trial, or in panic
	prev, next *Lease
}

// Acquire finds the vendor for an attempt and takes a place there, waiting for
// one if the ask allows it. It returns ErrNoVendor, ErrTried, ErrLate, ErrLeft or
// *Limited when there is none; after nil the lease's Done must be called exactly
// once.
func (e *Engine) Acquire(l *Lease, a Ask) error {
	now := time.Now()
	cancel := l.Cancel
	*l = Lease{engine: e, kind: a.Kind, lane: a.Lane, begun: now, Cancel: cancel}
	t := e.table.Load()
	if a.Same != nil {
		return e.again(l, a.Same, now)
	}
	if a.First && e.trial(t, l, a, now) {
		return nil
	}
	var err error
	if e.lobby.ahead(a.Lane) {
		err = e.nobody(t, &a, 0, now) // those who wait come first
	} else {
		err = e.take(t, l, &a, now)
	}
	if err == nil || a.Gone == nil {
		return err
	}
	if t.panic && a.Lane == control.Batch {
		return err // in panic it does not wait for what the others need
	}
	if limit, ok := err.(*Limited); ok { //nolint:errorlint // it is made here and never wrapped
		return e.wait(t, l, &a, limit, now)
	}
	return err
}

// take takes a place at the vendor whose turn it is among those that have one.
func (e *Engine) take(t *table, l *Lease, a *Ask, now time.Time) error {
	var out uint64 // vendors that turned out to be over their limit
	a.spare = false
	for {
		i := e.choose(t, a, out, now)
		if i < 0 && !a.spare && a.First && !(t.panic && a.Lane == control.Batch) {
			a.spare = true
			continue
		}
		if i < 0 {
			return e.nobody(t, a, out, now)
		}
		v := t.vendors[i]
		v.mu.Lock()
		if (v.fits(a.Lane) || v.spares(a, now)) && v.limiter.Take(now) {
			v.begin(l, now, false)
			v.mu.Unlock()
			return nil
		}
		v.mu.Unlock()
		out |= 1 << i
	}
}

// again takes a place at the vendor that has been tried already.
func (e *Engine) again(l *Lease, v *Vendor, now time.Time) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.barred() || (v.health.State() == health.Ejected && e.othersOpen(v)) {
		return ErrTried
	}
	if !v.room(control.Interactive, now) {
		return &Limited{Until: now.Add(time.Second), Full: true}
	}
	if !v.limiter.Take(now) {
		return &Limited{Until: v.limiter.Until(now)}
	}
	v.begin(l, now, false)
	return nil
}

// trial gives the attempt to a vendor that is due for one, if any is.
func (e *Engine) trial(t *table, l *Lease, a Ask, now time.Time) bool {
	for _, v := range t.vendors {
		if v.open.Load() {
			if v.welcome.Load() && a.allows(v) && v.greet(l, a.Lane, now) {
				return true
			}
			continue
		}
		if !a.allows(v) || !e.othersOpen(v) {
			continue
		}
		if a.Lane == control.Interactive && e.batchFlows(now) {
			return false // a trial may cost its request a timeout: batch work can wait for that
		}
		v.mu.Lock()
		due := !v.drained && v.health.State() == health.Ejected && v.disabled == "" && v.health.TrialDue(now)
		if due {
			v.health.TrialBegun(now)
		} else if v.disabled != "" && !v.drained && v.retest && !v.retesting {
			due, v.retesting = true, true
		}
		if due {
			v.begin(l, now, true)
		}
		v.mu.Unlock()
		if due {
			return true
		}
	}
	return false
}

// greet gives the attempt to a vendor that a person has just brought back.
func (v *Vendor) greet(l *Lease, lane control.Lane, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.barred() || !v.welcome.Load() || !v.fits(lane) || !v.limiter.Take(now) {
		return false
	}
	v.welcome.Store(false)
	v.begin(l, now, false)
	return true
}

// allows says whether the attempt may go to v, whatever v's state.
func (a *Ask) allows(v *Vendor) bool {
	if a.among != nil {
		return slices.Contains(a.among, v)
	}
	return !slices.Contains(a.Tried, v) && (a.Only == nil || a.Only(v))
}

// choose picks the vendor whose turn it is among those that may take the
// attempt, -1 for none. out are those known to be over their limit.
func (e *Engine) choose(t *table, a *Ask, out uint64, now time.Time) int {
	may := func(i int) bool {
		v := t.vendors[i]
		return out&(1<<i) == 0 && e.routable(t, v) && a.allows(v) && v.ready(a, now)
	}
	want := -1
	if a.First && a.Affinity != 0 {
		want = affinity.Prefer(a.Affinity, t.seeds, t.split[a.Lane])
	}
	if i := e.sounds(t, a, may); i >= 0 {
		return i
	}
	e.pickMu.Lock()
	defer e.pickMu.Unlock()
	p := &e.pickers[a.Lane][a.Kind]
	if !a.First {
		p = &e.rescues
	}
	if i := p.Prefer(t.split[a.Lane], may, want); i >= 0 {
		return i
	}
	// Nobody with weight: one without serves all the same. The largest
	// configured weight first.
	best := -1
	for i, v := range t.vendors {
		if may(i) && (best < 0 || v.cfg.Load().Weight > t.vendors[best].cfg.Load().Weight) {
			best = i
		}
	}
	return best
}

// sounds is the vendor that admission sounds, if it may take the attempt, else -1.
// What it gets more than its weight for some seconds is what its line holds.
func (e *Engine) sounds(t *table, a *Ask, may func(int) bool) int {
	for i, v := range t.vendors {
		if a.First && !t.exact && t.split[a.Lane][i] > 0 && v.sounds.Load() && may(i) {
			return i
		}
	}
	return -1
}

// routable says whether v may take ordinary attempts now.
func (e *Engine) routable(t *table, v *Vendor) bool {
	if v.open.Load() {
		return true
	}
	if !t.panic && !t.still {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.barred()
}

// ready says whether admission would let an attempt through. That it would not
// counts as turned away: the vendor is over its limit.
func (v *Vendor) ready(a *Ask, now time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.room(a.Lane, now) && !v.spares(a, now) || v.late(a, now) {
		return false
	}
	if v.limiter.Ready(now) {
		return true
	}
	v.limiter.Take(now)
	return false
}

// nobody says why there is no vendor for the attempt.
func (e *Engine) nobody(t *table, a *Ask, out uint64, now time.Time) error {
	var until time.Time
	some, allowed, late, full := false, 0, 0, false
	for i, v := range t.vendors {
		if !e.routable(t, v) {
			continue
		}
		some = true
		if !a.allows(v) {
			continue
		}
		allowed++
		v.mu.Lock()
		u := v.limiter.Until(now)
		crowded, tooLate := !v.fits(a.Lane), v.late(a, now)
		limited := out&(1<<i) != 0 || !v.limiter.Ready(now)
		if limited && !crowded && !tooLate {
			v.limiter.Pressed(now)
		}
		if crowded && a.First {
			v.admission.Crowded(now)
		}
		v.mu.Unlock()
		if tooLate {
			late++
			continue
		}
		if crowded && !limited {
			full = true
			u = now.Add(e.service.relief(now))
		}
		if until.IsZero() || u.Before(until) {
			until = u
		}
	}
	switch {
	case !some:
		return ErrNoVendor
	case allowed == 0:
		return ErrTried
	case late == allowed:
		return ErrLate
	}
	return &Limited{Until: until, Full: full}
}

// othersOpen says whether a vendor other than v may take traffic.
func (e *Engine) othersOpen(v *Vendor) bool {
	for _, x := range e.table.Load().vendors {
		if x != v && x.open.Load() {
			return true
		}
	}
	return false
}

// begin counts an attempt in. v.mu is held.
func (v *Vendor) begin(l *Lease, now time.Time, trial bool) {
	l.Vendor, l.Trial, l.begun = v, trial, now
	l.outside = v.health.State() == health.Ejected
	v.flight.add(l)
	v.attempts++
	if trial {
		v.counts.Add(now, catTrial, 1)
		return
	}
	v.begun++
	v.lastBegun = now
	if !l.outside {
		v.admission.Began(now, admission.Kind(l.kind))
	}
	v.counts.Add(now, catBegun, 1)
}

// FirstToken says that the first meaningful event has come: the attempt is
// past its commit point.
func (l *Lease) FirstToken(now time.Time) {
	v := l.Vendor
	v.mu.Lock()
	if l.firstToken == 0 {
		v.flight.awaiting--
	}
	l.firstToken = max(now.Sub(l.begun), 1)
	v.counts.Add(now, catBack, 1)
	v.health.Progress(now)
	v.admitted(l, now, l.firstToken)
	if !l.Trial {
		v.limiter.Back(l.begun, l.firstToken)
	}
	v.mu.Unlock()
	l.engine.serve(now)
}

// Done says how the attempt ended.
func (l *Lease) Done(now time.Time, r outcome.Result, u outcome.Usage) {
	v, e := l.Vendor, l.engine
	alone := !e.othersOpen(v)
	v.mu.Lock()
	v.flight.remove(l)
	v.counts.Add(now, int(r.Outcome), 1)
	if l.firstToken == 0 {
		v.counts.Add(now, catBack, 1)
	}
	v.tokensIn += int64(u.Input)
	v.tokensOut += int64(u.Output)
	v.measure(l, now, r, u)
	v.bad.add(l, now, &r)
	v.limiter.Ended(now, l.begun, l.ending(r, u))
	var enabled bool
	var disable string
	switch r.Outcome {
	case outcome.OK:
		v.requests++
		if v.disabled != "" && l.Trial {
			v.disabled, v.retest, enabled = "", false, true
		}
	case outcome.VendorFault:
		v.faults++
		v.failed++
		v.lastErr = r.Reason
	case outcome.AccountFault:
		v.failed++
		if r.Scope == outcome.ScopeVendor && v.disabled == "" {
			disable = r.Reason
		}
	default:
		v.failed++
	}
	if l.Trial {
		v.retesting, v.retest = false, false
	}
	v.health.Keep(alone)
	var change health.Change
	if !v.health.Stale(l.begun) {
		change = v.health.Attempt(now, r.Outcome, r.Connect, l.outside)
	}
	v.mu.Unlock()

	e.serve(now) // its place is free
	if disable != "" {
		e.disable(v, disable, r)
	}
	if enabled {
		e.enabled(v, "a trial was answered")
	}
	e.healthChanged(v, change, now)
}

// measure puts the attempt's time into the window of its kind: successes, and
// attempts that one of our clocks ended, at the age they had. A fast failure is
// in no window. v.mu is held.
func (v *Vendor) measure(l *Lease, now time.Time, r outcome.Result, u outcome.Usage) {
	age := now.Sub(l.begun)
	switch {
	case r.Outcome == outcome.OK && l.kind == weights.Stream:
		if l.firstToken > 0 {
			v.rings[weights.Stream].Add(now, l.firstToken)
			v.firstTokens.Add(l.firstToken)
		}
	case r.Outcome == outcome.OK:
		v.rings[weights.Whole].Add(now, age)
		v.admitted(l, now, age)
	case r.Outcome == outcome.VendorFault && r.Clock != outcome.NoClock && l.firstToken == 0:
		v.rings[l.kind].Add(now, age)
		v.admitted(l, now, age)
	}
	if r.Outcome == outcome.OK && !l.Trial && !l.outside {
		v.admission.Took(admission.Kind(l.kind), age)
	}
}

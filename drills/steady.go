package drills

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"baton/engine/control"
)

// prepare does what has to stand before the baseline: the drill's own traffic,
// and failover in people's hands.
func (r *run) prepare(ctx context.Context) error {
	if r.scenario.Failover == failoverManual && r.before.Failover != failoverManual {
		lease := r.baseline() + r.scenario.lasting(r.spec) + failbackTime
		err := r.m.control.Do(ctx, &control.SetFailover{Meta: control.Meta{By: r.me()}, Mode: failoverManual, For: control.Duration(lease)})
		if err != nil {
			return fmt.Errorf("failover could not be made manual: %w", err)
		}
		r.leased = true
	}
	return r.startTraffic(ctx)
}

// leaveAsFound ends what prepare began. A lease that cannot be ended ends by
// itself.
func (r *run) leaveAsFound() {
	r.tidied.Do(func() {
		r.stopTraffic()
		if !r.leased {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), silence)
		defer cancel()
		if err := r.m.control.Do(ctx, &control.SetFailover{Meta: control.Meta{By: r.me()}, Mode: failoverAuto}); err != nil {
			r.say(control.Warn, r.me(), "failover could not be made automatic again: "+err.Error()+"; its lease ends by itself", map[string]any{})
		}
	})
}

// baseline is how long the steady phase is, the random moment of a blind one
// apart.
func (r *run) baseline() time.Duration {
	if !r.scenario.Steady {
		return time.Duration(r.start.Countdown)
	}
	return r.terms.rules.Baseline + time.Duration(r.start.Countdown)
}

// steady holds the baseline and counts down, and reports whether the drill goes
// on: it does not where the hypothesis does not hold without a fault.
func (r *run) steady(ctx context.Context) bool {
	length := r.baseline()
	if w := r.scenario.Window; w > 0 {
		length += rand.N(w)
	}
	if length <= 0 {
		return true
	}
	begun := time.Now()
	armed := begun.Add(length)
	if !r.steadyBegins(begun, armed) {
		return false
	}
	r.keepUp()
	for left := length; left > 0; left = time.Until(armed) {
		select {
		case <-ctx.Done():
			r.stop("baton stopped", true)
		case <-r.stopping:
		case <-time.After(min(pace, left)):
		}
		if r.stopped() {
			r.mu.Lock()
			why := r.why.text
			r.mu.Unlock()
			r.finish(control.Aborted, why+", before the fault")
			return false
		}
		t, err := r.tally(ctx)
		if err != nil {
			if time.Since(r.answered) > silence {
				r.finish(control.Refused, "the engine does not answer: "+err.Error())
				return false
			}
			continue
		}
		r.answered = time.Now()
		r.early.add(t, armed)
		if why := r.lostOther(t); why != "" {
			r.finish(control.Refused, why+" in the baseline")
			return false
		}
	}
	return r.hypothesis(ctx)
}

// steadyBegins stamps the phase and says it.
func (r *run) steadyBegins(begun, armed time.Time) bool {
	r.answered = begun
	r.mu.Lock()
	r.reach(control.PhaseSteady, begun)
	at := armed.UTC()
	if !r.scenario.external() {
		r.st.Armed = &at
	}
	r.mu.Unlock()
	if !r.scenario.Steady {
		return true
	}
	text := fmt.Sprintf("drill %s: the baseline is held for %s, then %s at %s. A aborts", r.scenario.Name, control.Duration(r.baseline()), r.spec.Kind, r.label)
	switch {
	case r.scenario.Sealed:
		text = fmt.Sprintf("drill %s: something happens to somebody within %s. A aborts", r.scenario.Name, control.Duration(r.baseline()+r.scenario.Window))
	case r.scenario.external():
		text = fmt.Sprintf("drill %s: the baseline is held for %s, then people cut %s. A aborts", r.scenario.Name, control.Duration(r.baseline()), r.label)
	}
	r.say(control.Warn, r.start.Who(), text, map[string]any{"phase": control.PhaseSteady, "command": r.start.Line()})
	return true
}

// lostOther says which other vendor takes no traffic any more, "" if all that did
// at the start do.
func (r *run) lostOther(t *control.Tally) string {
	for i := range t.Vendors {
		v := &t.Vendors[i]
		if was := r.before.Vendor(v.Name); v.Name != r.vendor && was != nil && takes(was.State) && !takes(v.State) {
			return v.Name + " became " + v.State
		}
	}
	return ""
}

// hypothesis holds the baseline against what is asked of the drill later: what is
// not so before the fault proves nothing after it.
func (r *run) hypothesis(ctx context.Context) bool {
	snap, err := control.Get[*control.Snapshot](ctx, r.m.control, control.State{})
	if err != nil {
		r.finish(control.Refused, "the engine does not answer: "+err.Error())
		return false
	}
	r.mu.Lock()
	r.before = snap
	from, to := r.early.span(r.terms.rules.Baseline)
	why := ""
	if from != nil && r.scenario.Steady {
		l := latency(from.FirstToken, to.FirstToken)
		r.st.Baseline, r.report.Baseline = &l, &l
		ok, failed := served(from, to)
		if n := ok + failed; n > 0 && float64(ok) < r.terms.rules.Success*float64(n) {
			why = fmt.Sprintf("the baseline does not hold: clients' success has to be at least %g, it is %s", r.terms.rules.Success, share(ok, n))
		}
	}
	r.mu.Unlock()
	if why != "" {
		r.finish(control.Refused, why)
		return false
	}
	return true
}

// early is what was counted before T0, a tally a second.
type early struct {
	tallies []*control.Tally
	latest  *control.Tally
}

// earlyKept bounds them: a blind drill may wait for a day.
const earlyKept = 120

// add keeps t where it begins another second before armed.
func (e *early) add(t *control.Tally, armed time.Time) {
	c := *t
	c.Lost = nil
	e.latest = &c
	if n := len(e.tallies); n > 0 {
		last := e.tallies[n-1].Time
		if armed.Sub(last).Truncate(time.Second) == armed.Sub(t.Time).Truncate(time.Second) {
			return
		}
		if n == earlyKept {
			e.tallies = e.tallies[1:]
		}
	}
	e.tallies = append(e.tallies, &c)
}

// span is the tallies between which the last d lie; nil, nil where there are none.
func (e *early) span(d time.Duration) (from, to *control.Tally) {
	if e.latest == nil {
		return nil, nil
	}
	for _, t := range e.tallies {
		if e.latest.Time.Sub(t.Time) <= d+pace {
			return t, e.latest
		}
	}
	return e.latest, e.latest
}

// upTo is the last tally not after at, nil where there is none.
func (e *early) upTo(at time.Time) *control.Tally {
	if e.latest != nil && !e.latest.Time.After(at) {
		return e.latest
	}
	for i := len(e.tallies) - 1; i >= 0; i-- {
		if !e.tallies[i].Time.After(at) {
			return e.tallies[i]
		}
	}
	return nil
}

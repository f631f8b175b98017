package drills

import (
	"strings"
	"time"

	"baton/engine/control"
)

const (
	shiftSpan  = time.Second // over which the vendor's part of the attempts is taken
	shiftPart  = 0.01
	shiftCount = 20
	hurtBelow  = 0.99 // success of a second under which clients were hurt
	// fallen is how many points of weight are a clear fall: the law moves some
	// with every breath of the latency.
	fallen = 5
	// known is how many first tokens of the minute before make a baseline.
	known = 100
)

// read takes what an entry of the journal says about the drill. r.mu is held.
func (r *run) read(e *control.Event) {
	if r.t0.IsZero() || e.Time.Before(r.t0) {
		return
	}
	if e.Kind == "fault" && e.Vendor == r.vendor && r.restored.at.IsZero() {
		switch {
		case e.Data["on"] == false:
			r.restored = restoration{at: e.Time, by: e.Who}
		case e.Who != r.me():
			r.spoiled = e.Who + " injected another fault"
		}
	}
	if r.noticed.IsZero() && r.notices(e) {
		r.noticed = e.Time
	}
}

// notices says whether an entry of the journal is a sign that the vendor's loss
// was noticed: by the engine, or by a person who acts.
func (r *run) notices(e *control.Event) bool {
	its := e.Vendor == r.vendor
	switch e.Kind {
	case "health":
		return its && e.Data["to"] == control.Ejected
	case "account":
		return its && e.Level == control.Crit
	case "weights":
		return person(e.Who)
	case "operator":
		return its && person(e.Who)
	}
	return false
}

func person(who string) bool { return strings.HasPrefix(who, "operator:") }

// progress stamps the phases on the way to the cutover, and reports whether it
// has just been proven. r.mu is held.
func (r *run) progress(t *control.Tally) bool {
	if r.st.Verdict != nil {
		return false
	}
	if _, ok := r.reached(control.PhaseDetected); !ok {
		if at := r.detected(t); !at.IsZero() {
			r.reach(control.PhaseDetected, at)
		}
	}
	r.shift(t)
	return r.verify()
}

// detected is when the vendor's loss was noticed, zero if it was not yet: the
// earliest of the signs. r.mu is held.
func (r *run) detected(t *control.Tally) time.Time {
	v, was := r.of(t), r.of(r.seconds[0]).Weight
	at := r.noticed
	sign := func(is bool, when time.Time) {
		if is && when.After(r.t0) && (at.IsZero() || when.Before(at)) {
			at = when
		}
	}
	sign(v.State == control.Ejected, v.StateSince)
	sign(was > 0 && v.Weight <= was-min(fallen, was/2), v.WeightSince)
	return at
}

// shift stamps the moment from which the vendor got under 1 % of the attempts
// begun, over at least a second and at least 20 attempts. r.mu is held.
func (r *run) shift(t *control.Tally) {
	detected, ok := r.reached(control.PhaseDetected)
	if _, done := r.reached(control.PhaseShifted); done || !ok {
		return
	}
	to := r.marks[len(r.marks)-1]
	for i := len(r.marks) - 2; i >= 0; i-- {
		from := r.marks[i]
		all, its := to.all-from.all, to.its-from.its
		if to.at-from.at < shiftSpan || all < shiftCount {
			continue
		}
		if float64(its) >= shiftPart*float64(all) {
			return
		}
		at := from.at
		if last := r.of(t).LastBegun; its == 0 && !last.IsZero() {
			at = last.Sub(r.t0) // to the moment: nothing has begun there since
		}
		r.shifted = max(at, detected, 0)
		r.reach(control.PhaseShifted, r.t0.Add(r.shifted))
		return
	}
}

// stretch is what clients got from one second after T0 to another.
type stretch struct {
	control.VerifyState
	success float64 // what it has to reach
}

// stretch measures the seconds from a to b. r.mu is held.
func (r *run) stretch(a, b int) stretch {
	rules := &r.terms.rules
	w := stretch{success: rules.Success}
	w.HeldS, w.HoldS, w.MinN, w.LimitMs = float64(b-a), float64(r.hold()), int64(rules.MinRequests), r.limit()
	if a >= b {
		return w
	}
	from, to := r.seconds[a], r.seconds[b]
	ok, failed := served(from, to)
	if w.N = ok + failed; w.N > 0 {
		w.Success = control.Figure(float64(ok) / float64(w.N))
	}
	w.P99ms = quantile(between(from, to), 0.99)
	return w
}

// serving says whether nothing speaks against it.
func (w *stretch) serving() bool {
	return (w.Success == nil || *w.Success >= w.success) && (w.P99ms == nil || *w.P99ms <= w.LimitMs)
}

// enough says whether it has the requests to prove something.
func (w *stretch) enough() bool { return w.N > 0 && w.N >= w.MinN }

// hold is how many seconds good service has to be held.
func (r *run) hold() int {
	return max(int((r.terms.rules.Hold+time.Second-1)/time.Second), 1)
}

// limit is what the P99 of first tokens has to stay under, in milliseconds:
// the SLO, or half as much again as in the minute before where that is more. A
// kill waits for no baseline, so it takes what was measured.
func (r *run) limit() float64 {
	l := millis(r.terms.sloP99)
	if s := &r.before.Service; s.P99ms != nil && s.Count >= known {
		l = max(l, 1.5**s.P99ms)
	}
	return l
}

// verify looks for the first window of good service without the vendor, and
// reports whether it has just been found. r.mu is held.
func (r *run) verify() bool {
	if _, ok := r.reached(control.PhaseShifted); !ok {
		return false
	}
	hold, first := r.hold(), int(r.shifted/time.Second)
	last := len(r.seconds) - 1
	if !r.restored.at.IsZero() { // what came after is no service without the vendor
		last = min(last, int(r.restored.at.Sub(r.t0)/time.Second))
	}
	if r.st.Verify != nil && r.looked == last {
		return false
	}
	r.looked = last
	for r.from = max(r.from, first); r.from+hold <= last; r.from++ {
		if w := r.stretch(r.from, r.from+hold); w.enough() && w.serving() {
			r.st.Verify = &w.VerifyState
			r.proven(r.from, r.from+hold, w)
			return true
		}
	}
	// Not yet: show the window that is being held.
	w := r.stretch(last, last)
	for k := max(first, last-hold); k < last; k++ {
		if w = r.stretch(k, last); w.serving() {
			break
		}
	}
	r.st.Verify = &w.VerifyState
	return false
}

// proven stamps the verification, stops the clock and gives the verdict.
// r.mu is held.
func (r *run) proven(from, to int, w stretch) {
	cut := time.Duration(from) * time.Second
	for _, p := range []string{control.PhaseDetected, control.PhaseShifted} {
		at, _ := r.reached(p)
		cut = max(cut, at)
	}
	r.st.CutoverS = control.Figure(milli(cut.Seconds()))
	r.reach(control.PhaseVerified, r.t0.Add(time.Duration(to)*time.Second))
	r.marks = nil
	r.judged(r.verdict(w))
}

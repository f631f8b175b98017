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
	its := e.Vendor == r.vendor
	if e.Kind == "fault" && its && r.restored.at.IsZero() && !r.incident && !r.scenario.external() {
		switch {
		case e.Data["on"] == false && (r.faults == 0 || person(e.Who)): // else another one comes
			r.restored = restoration{at: e.Time, by: e.Who}
		case e.Data["on"] == true && e.Who != r.me():
			r.spoiled = e.Who + " injected another fault"
		}
	}
	if e.Kind == "health" && (its || !r.scenario.hits()) && e.Data["to"] == control.Ejected {
		r.ejections++
	}
	if r.noticed.IsZero() && r.notices(e) {
		r.noticed = e.Time
	}
}

// notices says whether an entry of the journal is a sign that the vendor's loss
// was noticed: by the engine, or by a person who acts.
func (r *run) notices(e *control.Event) bool {
	its := e.Vendor == r.vendor
	people := r.scenario.Failover == failoverManual // only what they do counts
	switch e.Kind {
	case "health":
		return its && e.Data["to"] == control.Ejected && !people
	case "account":
		return its && e.Level == control.Crit && !people
	case "limit":
		return its && e.Level != control.Info && r.scenario.Judge == judgeContained
	case "weights":
		return person(e.Who)
	case "operator":
		return its && person(e.Who)
	}
	return false
}

func person(who string) bool { return strings.HasPrefix(who, "operator:") }

// progress stamps the phases on the way to the proof, and reports whether it
// has just been given. r.mu is held.
func (r *run) progress(t *control.Tally) bool {
	if r.st.Verdict != nil {
		return false
	}
	if _, ok := r.reached(control.PhaseDetected); !ok && r.restored.at.IsZero() {
		if at := r.detected(t); !at.IsZero() {
			r.reach(control.PhaseDetected, at)
		}
	}
	switch r.scenario.Judge {
	case judgeContained:
		r.shrink()
	case judgeCutover:
		r.shift(t)
	}
	return r.verify()
}

// detected is when the vendor's loss was noticed, zero if it was not yet: the
// earliest of the signs. Where people are to move the weights it is what they did
// first. r.mu is held.
func (r *run) detected(t *control.Tally) time.Time {
	v, was := r.of(t), r.of(r.seconds[0]).Weight
	at := r.noticed
	if r.scenario.Failover == failoverManual {
		return at
	}
	sign := func(is bool, when time.Time) {
		if is && when.After(r.t0) && (at.IsZero() || when.Before(at)) {
			at = when
		}
	}
	sign(v.State == control.Ejected, v.StateSince)
	sign(was > 0 && v.Weight <= was-min(fallen, was/2), v.WeightSince)
	return at
}

const (
	shrinkSpan  = 3 * time.Second // over which the share of a vendor that is half broken is taken
	shrinkCount = 50
)

// shareBefore is the vendor's share before the fault, in percent, by its weight.
// r.mu is held.
func (r *run) shareBefore() float64 { return r.of(r.seconds[0]).Weight }

// shareBound is what the share of a vendor that is half broken has to fall to, in
// percent. r.mu is held.
func (r *run) shareBound() float64 {
	if b := r.scenario.Bounds.Share; b > 0 {
		return b
	}
	return r.shareBefore() * 2 / 3 // less is within what chance does in some seconds
}

// shrink stamps the moment from which the vendor's share of the attempts was down
// to its bound. r.mu is held.
func (r *run) shrink() {
	if _, done := r.reached(control.PhaseShifted); done {
		return
	}
	to := r.marks[len(r.marks)-1]
	for i := len(r.marks) - 2; i >= 0; i-- {
		from := r.marks[i]
		all, its := to.all-from.all, to.its-from.its
		if to.at-from.at < shrinkSpan || all < shrinkCount {
			continue
		}
		if 100*float64(its) > r.shareBound()*float64(all) {
			return
		}
		detected, _ := r.reached(control.PhaseDetected)
		r.shifted = max(from.at, detected)
		r.reach(control.PhaseShifted, r.t0.Add(r.shifted))
		return
	}
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
	if s := r.scenario.Bounds.Success; r.scenario.Judge == judgeContained && s > 0 {
		w.success = s // some of what meets the fault may be lost
	}
	w.HeldS, w.HoldS, w.MinN, w.LimitMs = float64(b-a), float64(r.hold()), int64(rules.MinRequests), r.limit()
	if a >= b {
		return w
	}
	from, to := r.seconds[a], r.seconds[b]
	ok, failed := served(from, to)
	if w.N = ok + failed; w.N > 0 {
		w.Success = control.Figure(float64(ok) / float64(w.N))
	}
	w.P99ms = quantile(between(from.FirstToken, to.FirstToken), 0.99)
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

// limit is what the P99 of first tokens has to stay under, in milliseconds: the
// scenario's own bound; or else the SLO, or half as much again as in the baseline
// where that is more. A kill waits for no baseline, so it takes what was measured.
func (r *run) limit() float64 {
	if b := r.scenario.Bounds.P99; b > 0 {
		return millis(b)
	}
	l := millis(r.terms.sloP99)
	s := &r.before.Service
	count, p99 := s.Count, s.P99ms
	if b := r.st.Baseline; b != nil {
		count, p99 = b.Count, b.P99ms
	}
	if p99 != nil && count >= known {
		l = max(l, 1.5**p99)
	}
	return l
}

// held is the seconds after T0 between which a window that proves may lie. r.mu is
// held.
func (r *run) held() (first, last int, ok bool) {
	last = len(r.seconds) - 1
	if r.scenario.Judge == judgeRecovered {
		if r.restored.at.IsZero() {
			return 0, 0, false
		}
		at := r.restored.at.Sub(r.t0)
		return int((at + time.Second - 1) / time.Second), last, true
	}
	if _, shifted := r.reached(control.PhaseShifted); !shifted {
		return 0, 0, false
	}
	if !r.restored.at.IsZero() { // what came after is no service without the vendor
		last = min(last, int(r.restored.at.Sub(r.t0)/time.Second))
	}
	return int(r.shifted / time.Second), last, true
}

// verify looks for the first window of good service, and reports whether it has
// just been found. r.mu is held.
func (r *run) verify() bool {
	first, last, may := r.held()
	if !may || r.st.Verify != nil && r.looked == last {
		return false
	}
	hold := r.hold()
	r.looked = last
	for r.from = max(r.from, first); r.from+hold <= last; r.from++ {
		if w := r.stretch(r.from, r.from+hold); w.enough() && w.serving() && r.shrunk(r.from, r.from+hold) {
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

// shareIn is the vendor's share of the attempts begun in the seconds from a to b,
// in percent. r.mu is held.
func (r *run) shareIn(a, b int) float64 {
	all, its := begun(r.seconds[a], r.seconds[b], r.vendor)
	if all == 0 {
		return 0
	}
	return 100 * float64(its) / float64(all)
}

// shrunk says whether a vendor that is half broken got no more than its bound.
// r.mu is held.
func (r *run) shrunk(a, b int) bool {
	return r.scenario.Judge != judgeContained || r.shareIn(a, b) <= r.shareBound()
}

// proven stamps the verification, stops the clock and gives the verdict.
// r.mu is held.
func (r *run) proven(from, to int, w stretch) {
	at := time.Duration(from) * time.Second
	for _, p := range []string{control.PhaseDetected, control.PhaseShifted} {
		m, _ := r.reached(p)
		at = max(at, m)
	}
	figure := milli(at.Seconds())
	switch r.scenario.Judge {
	case judgeCutover:
		r.st.CutoverS = &figure
	case judgeRecovered:
		begun := time.Duration(from) * time.Second
		figure = milli(max(begun-r.restored.at.Sub(r.t0), 0).Seconds())
	}
	r.proof = &figure
	r.reach(control.PhaseVerified, r.t0.Add(time.Duration(to)*time.Second))
	r.marks = nil
	r.judged(r.verdict(from, to, w))
}

package drills

import (
	"fmt"
	"strings"
	"time"

	"baton/engine/control"
)

const (
	badSeconds = 10 // in a row under drill.abort_below that end a drill
	badCount   = 20 // requests in them
)

// breached says which stop condition holds, "" if none. r.mu is held.
func (r *run) breached(t *control.Tally) string {
	rules := &r.terms.rules
	if r.spoiled != "" {
		return r.spoiled
	}
	if r.of(t).Name == "" {
		return r.label + " is no vendor any more"
	}
	if why := r.alone(t); why != "" {
		return why
	}
	if n := r.st.Requests.Failed; rules.MaxFailed > 0 && n > int64(rules.MaxFailed) {
		return fmt.Sprintf("%d requests failed, more than drill.max_failed %d", n, rules.MaxFailed)
	}
	if b := r.st.Budget; b != nil && b.Cost != nil && b.MaxCost != nil && *b.Cost > *b.MaxCost {
		return fmt.Sprintf("it cost %.4g extra, more than drill.max_cost %g", *b.Cost, *b.MaxCost)
	}
	return r.suffering()
}

// alone says that another vendor that took traffic at T0 does not any more, or
// that none does. r.mu is held.
func (r *run) alone(t *control.Tally) string {
	others, why := false, ""
	for i := range t.Vendors {
		v := &t.Vendors[i]
		if v.Name == r.vendor {
			continue
		}
		others = others || takes(v.State)
		if was := of(r.seconds[0], v.Name); takes(was.State) && (v.State == control.Ejected || v.State == control.Disabled) {
			why = "another vendor, " + v.Name + ", is " + v.State
		}
	}
	if !others {
		return "no other vendor may take traffic any more"
	}
	return why
}

// suffering says that each of the last ten seconds in which anybody was served
// was under drill.abort_below. r.mu is held.
func (r *run) suffering() string {
	var all, bad int64
	seconds := 0
	for k := len(r.seconds) - 1; k > 0 && seconds < badSeconds; k-- {
		ok, failed := served(r.seconds[k-1], r.seconds[k])
		if ok+failed == 0 {
			continue
		}
		if float64(ok) >= r.terms.rules.AbortBelow*float64(ok+failed) {
			return ""
		}
		all, bad, seconds = all+ok+failed, bad+failed, seconds+1
	}
	if seconds < badSeconds || all < badCount {
		return ""
	}
	return fmt.Sprintf("%d of %d requests failed in 10 s: success was under drill.abort_below %g in each of them", bad, all, r.terms.rules.AbortBelow)
}

// verdict holds what was measured against the target and the scenario's bounds;
// from and to are the seconds of the window w. r.mu is held.
func (r *run) verdict(from, to int, w stretch) (verdict, reason string) {
	r.report.Hypothesis = r.bounds(from, to, w)
	verdict = control.Passed
	var missed []string
	for _, b := range r.report.Hypothesis {
		if !b.OK {
			verdict = control.Failed
			missed = append(missed, fmt.Sprintf("%s: wanted %s, got %s", b.Name, b.Want, b.Got))
		}
	}
	return verdict, strings.Join(missed, "; ")
}

func (r *run) bounds(from, to int, w stretch) []control.Bound {
	got, q, asks := *r.proof, r.st.Requests, &r.scenario.Bounds
	var out []control.Bound
	add := func(name, want, got string, ok bool) {
		out = append(out, control.Bound{Name: name, Want: want, Got: got, OK: ok})
	}
	word := r.word()
	add(word, "at most "+clock(r.st.TargetS), clock(got), got <= r.st.TargetS)
	if c := r.scenario.bound().Seconds(); c > 0 {
		add(word+", the scenario's own bound", "at most "+clock(c), clock(got), got <= c)
	}
	name, n := "clients' success until the proof", q.OK+q.Failed
	if r.scenario.external() && q.CutStreams > 0 { // whoever cuts the line cuts what is on it: that shows nothing of the failover
		name, n = fmt.Sprintf("%s, apart from %d streams that were cut under way", name, q.CutStreams), n-min(q.CutStreams, q.Failed)
	}
	if asks.Success > 0 && n > 0 {
		add(name, fmt.Sprintf("at least %g", asks.Success), share(q.OK, n), float64(q.OK) >= asks.Success*float64(n))
	}
	if asks.Hurt > 0 {
		add("seconds in which clients were hurt", fmt.Sprintf("at most %g", asks.Hurt.Seconds()), fmt.Sprintf("%g", r.st.HurtS), r.st.HurtS <= asks.Hurt.Seconds())
	}
	if r.scenario.Judge == judgeContained {
		s := r.shareIn(from, to)
		add("its share of the attempts", fmt.Sprintf("at most %.4g %%, from %.4g %%", r.shareBound(), r.shareBefore()), fmt.Sprintf("%.4g %%", s), s <= r.shareBound())
	}
	if asks.Ejections != nil {
		add("its ejections", fmt.Sprintf("at most %d", *asks.Ejections), fmt.Sprintf("%d", r.ejections), r.ejections <= *asks.Ejections)
	}
	a, b := r.seconds[from], r.seconds[to]
	ok, failed := served(a, b)
	add(fmt.Sprintf("good service for %g s, from %s after the fault", w.HoldS, clock(float64(from))),
		fmt.Sprintf("success at least %g, P99 at most %g ms, at least %d requests", w.success, w.LimitMs, w.MinN),
		fmt.Sprintf("success %s; P99 %s", share(ok, ok+failed), p99Text(between(a.FirstToken, b.FirstToken))), true)
	return out
}

// word is what the scenario's figure is called.
func (r *run) word() string {
	switch r.scenario.Judge {
	case judgeContained:
		return "contained after"
	case judgeRecovered:
		return "served well again after the last restore"
	}
	return "cutover"
}

// provenBefore says what was proven, of a drill that is aborted after it. r.mu is
// held.
func (r *run) provenBefore() string {
	if r.proof == nil {
		return ""
	}
	if r.scenario.Judge == judgeCutover {
		return "the cutover " + clock(*r.proof) + " was proven before that"
	}
	return "it was " + r.word() + " " + clock(*r.proof) + ", which was proven before that"
}

// deadline is the time within which the proof had to be given to pass.
func (r *run) deadline() time.Duration {
	d := r.terms.rules.Target
	if c := r.scenario.bound(); c > 0 {
		d = min(d, c)
	}
	return d
}

// tooLate says whether it is certain at a moment after T0 that the cutover will
// not have been within the deadline: good service that is being held may have
// begun before it. r.mu is held.
func (r *run) tooLate(at time.Duration) bool {
	if w := r.st.Verify; w != nil && w.HeldS > 0 {
		at -= time.Duration(w.HeldS+1) * time.Second
	}
	return at >= r.deadline()
}

// missing says what keeps the cutover from being proven, and whether it is only
// that too few asked. r.mu is held.
func (r *run) missing() (what string, few bool) {
	if r.scenario.Judge == judgeRecovered {
		if !r.isRestored() {
			return "the fault was not over", false
		}
		return r.unverified()
	}
	q, least := &r.st.Requests, int64(r.terms.rules.MinRequests)
	all, its := begun(r.seconds[0], r.last, r.vendor)
	detected, noticed := r.reached(control.PhaseDetected)
	_, shifted := r.reached(control.PhaseShifted)
	switch n := q.OK + q.Failed; {
	case !takes(r.of(r.seconds[0]).State):
		return "it took no traffic before", true
	case its == 0 && !noticed:
		return "no attempt met the fault", true
	case !noticed && !shifted && n < least:
		return fmt.Sprintf("not detected, and %d requests, fewer than %d, prove nothing", n, least), true
	case !noticed && !shifted && r.scenario.Judge == judgeContained:
		return fmt.Sprintf("its share of the attempts did not fall to %.4g %%: %d of %d since the fault went to it", r.shareBound(), its, all), false
	case !noticed && !shifted:
		return "not detected", false
	case !shifted && r.scenario.Judge == judgeContained:
		return fmt.Sprintf("noticed, but its share of the attempts did not fall to %.4g %%: %d of %d since the fault went to it", r.shareBound(), its, all), all < shrinkCount
	case !shifted:
		for i := len(r.marks) - 1; i >= 0 && r.marks[i].at > detected; i-- {
			few = r.marks[len(r.marks)-1].all-r.marks[i].all < shiftCount
		}
		if few || all < shiftCount {
			return fmt.Sprintf("detected, and fewer than %d attempts since: not shifted, and nothing proven", shiftCount), true
		}
		return fmt.Sprintf("detected, but not shifted: %d of %d attempts since the fault went to it", its, all), false
	}
	return r.unverified()
}

// unverified is missing where only good service is. r.mu is held.
func (r *run) unverified() (what string, few bool) {
	w := r.st.Verify
	switch {
	case w == nil:
		return "good service was not held yet", false
	case w.HeldS >= w.HoldS && w.N < w.MinN || w.N == 0 && w.HeldS > 0:
		return fmt.Sprintf("%d requests in %g s, fewer than %d, prove nothing", w.N, w.HeldS, max(w.MinN, 1)), true
	case w.Success != nil && *w.Success < r.stretch(0, 0).success:
		return fmt.Sprintf("clients' success is %.5f, under %g", *w.Success, r.stretch(0, 0).success), false
	case w.P99ms != nil && *w.P99ms > w.LimitMs:
		return fmt.Sprintf("the P99 of first tokens is %g ms, over %g ms", *w.P99ms, w.LimitMs), false
	}
	return fmt.Sprintf("good service was held for %g of %g s", w.HeldS, w.HoldS), false
}

// unproven is the verdict of a drill whose fault has ended without a proof.
// r.mu is held.
func (r *run) unproven() (verdict, reason string) {
	if r.proof != nil || r.restored.at.IsZero() {
		return "", ""
	}
	what, few := r.missing()
	took := r.restored.at.Sub(r.t0)
	ended := "the fault ended"
	if r.incident {
		ended = "the outage ended"
	}
	switch {
	case few:
		return control.Inconclusive, what
	case r.tooLate(took):
		return control.Failed, fmt.Sprintf("no %s within %s: %s", r.aim(), clock(r.deadline().Seconds()), what)
	case person(r.restored.by) && !r.incident:
		return control.Aborted, fmt.Sprintf("restored by %s after %s, before the %s was proven: %s", r.restored.by, clock(took.Seconds()), r.aim(), what)
	}
	return control.Inconclusive, fmt.Sprintf("%s after %s, before the target of %s: %s", ended, clock(took.Seconds()), clock(r.st.TargetS), what)
}

// aim is what the scenario is after.
func (r *run) aim() string {
	switch r.scenario.Judge {
	case judgeContained:
		return "containment"
	case judgeRecovered:
		return "recovery"
	}
	return "cutover"
}

// overtime says once in the journal, and from then on in the state, that the
// cutover is too late whatever comes.
func (r *run) overtime(at time.Duration) {
	r.mu.Lock()
	if r.st.Verdict != nil || r.scenario.Judge == judgeRecovered || !r.tooLate(at) {
		r.mu.Unlock()
		return
	}
	what, few := r.missing()
	first := !r.late
	r.late = true
	r.st.Reason = fmt.Sprintf("the target of %s has passed: %s", clock(r.deadline().Seconds()), what)
	reason := r.st.Reason
	r.mu.Unlock()
	if !first || r.scenario.Sealed {
		return
	}
	level := control.Crit
	if few {
		level = control.Warn
	}
	r.say(level, r.me(), fmt.Sprintf("drill %s of %s: %s. The clock runs on", r.scenario.Name, r.label, reason), map[string]any{})
}

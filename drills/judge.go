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
	others := false
	for i := range t.Vendors {
		others = others || t.Vendors[i].Name != r.vendor && takes(t.Vendors[i].State)
	}
	if !others {
		return "no other vendor may take traffic any more"
	}
	if n := r.st.Requests.Failed; rules.MaxFailed > 0 && n > int64(rules.MaxFailed) {
		return fmt.Sprintf("%d requests failed, more than drill.max_failed %d", n, rules.MaxFailed)
	}
	return r.suffering()
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

// verdict holds what was measured against the target and the scenario's bounds.
// r.mu is held.
func (r *run) verdict(w stretch) (verdict, reason string) {
	cut, q := *r.st.CutoverS, r.st.Requests
	bounds := []control.Bound{{Name: "cutover", Want: "at most " + clock(r.st.TargetS), Got: clock(cut), OK: cut <= r.st.TargetS}}
	if c := r.scenario.Bounds.Cutover.Seconds(); c > 0 {
		bounds = append(bounds, control.Bound{Name: "cutover of the scenario", Want: "at most " + clock(c), Got: clock(cut), OK: cut <= c})
	}
	if s := r.scenario.Bounds.Success; s > 0 && q.OK+q.Failed > 0 {
		got := float64(q.OK) / float64(q.OK+q.Failed)
		bounds = append(bounds, control.Bound{
			Name: "clients' success until the proof", Want: fmt.Sprintf("at least %g", s),
			Got: fmt.Sprintf("%.5f: %d of %d failed", got, q.Failed, q.OK+q.Failed), OK: got >= s,
		})
	}
	bounds = append(bounds, control.Bound{
		Name: fmt.Sprintf("service without it for %g s", w.HoldS),
		Want: fmt.Sprintf("success at least %g, P99 at most %g ms, at least %d requests", w.success, w.LimitMs, w.MinN),
		Got:  fmt.Sprintf("success %.5f, P99 %s ms, %d requests", *w.Success, figure(w.P99ms), w.N), OK: true,
	})
	r.report.Hypothesis = bounds
	verdict = control.Passed
	var missed []string
	for _, b := range bounds {
		if !b.OK {
			verdict = control.Failed
			missed = append(missed, fmt.Sprintf("%s: wanted %s, got %s", b.Name, b.Want, b.Got))
		}
	}
	return verdict, strings.Join(missed, "; ")
}

// deadline is the time within which the cutover had to be proven to pass.
func (r *run) deadline() time.Duration {
	d := r.terms.rules.Target
	if c := r.scenario.Bounds.Cutover; c > 0 {
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
	q, least := &r.st.Requests, int64(r.terms.rules.MinRequests)
	all, its := begun(r.seconds[0], r.last, r.vendor)
	detected, noticed := r.reached(control.PhaseDetected)
	_, shifted := r.reached(control.PhaseShifted)
	switch n := q.OK + q.Failed; {
	case !takes(r.of(r.seconds[0]).State):
		return "it took no traffic before", true
	case !noticed && its == 0:
		return "no attempt met the fault", true
	case !noticed && n < least:
		return fmt.Sprintf("not detected, and %d requests, fewer than %d, prove nothing", n, least), true
	case !noticed:
		return "not detected", false
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
	case w.Success != nil && *w.Success < r.terms.rules.Success:
		return fmt.Sprintf("clients' success is %.5f, under %g", *w.Success, r.terms.rules.Success), false
	case w.P99ms != nil && *w.P99ms > w.LimitMs:
		return fmt.Sprintf("the P99 of first tokens is %g ms, over %g ms", *w.P99ms, w.LimitMs), false
	}
	return fmt.Sprintf("good service was held for %g of %g s", w.HeldS, w.HoldS), false
}

// unproven is the verdict of a drill whose fault has ended without a proven
// cutover. r.mu is held.
func (r *run) unproven() (verdict, reason string) {
	if r.st.CutoverS != nil || r.restored.at.IsZero() {
		return "", ""
	}
	what, few := r.missing()
	took := r.restored.at.Sub(r.t0)
	switch {
	case few:
		return control.Inconclusive, what
	case r.tooLate(took):
		return control.Failed, fmt.Sprintf("no cutover within %s: %s", clock(r.deadline().Seconds()), what)
	case person(r.restored.by):
		return control.Aborted, fmt.Sprintf("restored by %s after %s, before the cutover was proven: %s", r.restored.by, clock(took.Seconds()), what)
	}
	return control.Inconclusive, fmt.Sprintf("the fault ended after %s, before the target of %s: %s", clock(took.Seconds()), clock(r.st.TargetS), what)
}

// overtime says once in the journal, and from then on in the state, that the
// cutover is too late whatever comes.
func (r *run) overtime(at time.Duration) {
	r.mu.Lock()
	if r.st.Verdict != nil || !r.tooLate(at) {
		r.mu.Unlock()
		return
	}
	what, few := r.missing()
	first := !r.late
	r.late = true
	r.st.Reason = fmt.Sprintf("the target of %s has passed: %s", clock(r.deadline().Seconds()), what)
	reason := r.st.Reason
	r.mu.Unlock()
	if !first {
		return
	}
	level := control.Crit
	if few {
		level = control.Warn
	}
	r.say(level, r.me(), fmt.Sprintf("drill %s of %s: %s. The clock runs on; R ends it", r.scenario.Name, r.label, reason), map[string]any{})
}

package drills

import (
	"context"
	"fmt"
	"strings"
	"time"

	"baton/engine/control"
)

// halt ends a drill that was told to stop: it restores, whatever else happens.
func (r *run) halt() bool {
	r.mu.Lock()
	why, given := r.why, r.st.Verdict != nil
	over := r.isRestored() && given
	r.mu.Unlock()
	if over { // only the failback was waited for
		r.fellBack(nil, "not seen: "+why.text)
		r.finish("", "")
		return true
	}
	switch {
	case r.scenario.external():
		why.text += "; what was cut has to be put back by whoever cut it"
	default:
		if err := r.restore(); err != nil {
			why.text += "; the fault could not be ended (" + err.Error() + ") and expires by itself"
		}
	}
	r.mu.Lock()
	r.stampRestored()
	proof := r.proof
	before := r.provenBefore()
	verdict, reason := r.unproven()
	r.mu.Unlock()
	switch {
	case given && why.orderly:
		r.finish("", "")
	case why.orderly && verdict == control.Failed: // too late whatever comes
		r.finish(verdict, reason)
	case proof != nil:
		r.finish(control.Aborted, why.text+"; "+before)
	default:
		r.finish(control.Aborted, why.text)
	}
	return true
}

// restore ends the fault.
func (r *run) restore() error {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	err := r.m.control.Do(ctx, &control.ClearFault{Meta: control.Meta{By: r.me()}, Vendor: r.vendor})
	if err != nil {
		r.say(control.Crit, r.me(), "the fault could not be ended: "+err.Error()+"; it expires by itself", map[string]any{})
		return err
	}
	if t, err := r.look(ctx); err == nil { // for the engine's stamp of it
		r.mu.Lock()
		if !r.t0.IsZero() {
			r.take(t, t.Time.Sub(r.t0))
			r.after = t
		}
		r.mu.Unlock()
	}
	return nil
}

// noteRestored takes our own clock for the end of the fault where the engine's
// stamp is not known. r.mu is held.
func (r *run) noteRestored() {
	if r.restored.at.IsZero() {
		r.restored = restoration{at: r.t0.Add(time.Since(r.zero)), by: r.me()}
	}
}

// stampRestored stamps the end of the fault. r.mu is held.
func (r *run) stampRestored() {
	r.noteRestored()
	r.st.Until, r.st.Waits = nil, ""
	if !r.isRestored() {
		r.reach(control.PhaseRestored, r.restored.at)
	}
}

// afterRestore goes on once the fault has ended, and reports whether the drill
// has, too: without a proof nothing is left to wait for, but in a drill that asks
// for recovery.
func (r *run) afterRestore(t *control.Tally) bool {
	r.mu.Lock()
	sealed := r.isSealed()
	r.stampRestored()
	r.after = t
	by := r.restored.by
	given, proven := r.st.Verdict != nil, r.proof != nil
	verdict, reason := "", ""
	if r.scenario.Judge != judgeRecovered {
		verdict, reason = r.unproven()
	}
	r.mu.Unlock()
	text := fmt.Sprintf("drill %s: %s restored; it is tried at once and comes back over a ramp", r.scenario.Name, r.label)
	if sealed {
		text = fmt.Sprintf("drill %s is unsealed: it was %s at %s, from %s on. It comes back over a ramp", r.scenario.Name, r.spec.Kind, r.label, r.t0.In(zone(&r.terms.rules)).Format("15:04:05"))
	}
	r.say(control.Info, by, text, map[string]any{"phase": control.PhaseRestored})
	switch {
	case proven, r.scenario.Judge == judgeRecovered && !given:
		r.keep()
		return false
	case given:
		r.finish("", "")
	default:
		r.finish(verdict, reason)
	}
	return true
}

// aftermath waits for what comes after the fault, and reports whether the drill is
// over.
func (r *run) aftermath(ctx context.Context, t *control.Tally) bool {
	r.mu.Lock()
	given, gone := r.st.Verdict != nil, r.gone
	late := t.Time.Sub(r.restored.at) > r.deadline()+time.Duration(r.hold()+1)*time.Second
	what, few := "", false
	if !given {
		what, few = r.missing()
	}
	r.mu.Unlock()
	switch {
	case given:
		return r.failback(ctx, t)
	case gone != "":
		r.finish(control.Aborted, gone+" before it was proven: "+what)
		return true
	case late && few:
		r.finish(control.Inconclusive, what)
		return true
	case late:
		r.finish(control.Failed, fmt.Sprintf("no %s within %s: %s", r.aim(), clock(r.deadline().Seconds()), what))
		return true
	}
	return false
}

// failback waits until the vendor is back where it belongs, which is judged
// apart, and reports whether the wait is over.
func (r *run) failback(ctx context.Context, t *control.Tally) bool {
	r.mu.Lock()
	since := t.Time.Sub(r.restored.at)
	gone := r.gone
	r.mu.Unlock()
	why := ""
	if !t.Time.Before(r.nextBack) {
		r.nextBack = t.Time.Add(time.Second - pace)
		if why = r.away(ctx, t); why == "" {
			r.mu.Lock()
			r.reach(control.PhaseFailback, t.Time)
			r.mu.Unlock()
			r.fellBack(&since, "")
			r.finish("", "")
			return true
		}
	}
	switch {
	case gone != "":
		r.fellBack(nil, "not seen: "+gone)
	case since > failbackTime && why != "":
		r.fellBack(nil, "not within it: "+why)
	default:
		return false
	}
	r.finish("", "")
	return true
}

// away says why the vendor is not back yet, "" if it is: well, and inside its
// band, or at the weight that a person has pinned.
func (r *run) away(ctx context.Context, t *control.Tally) string {
	v := r.of(t)
	if v.State != control.Healthy {
		return "it is " + v.State
	}
	band := r.before.Vendor(r.vendor).Band
	low, high := band[0], band[1]
	want := fmt.Sprintf("in its band of %.4g to %.4g", low, high)
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	if s, err := control.Get[*control.Snapshot](ctx, r.m.control, control.State{}); err == nil && s.Pin != nil {
		low, high = s.Pin.Weights[r.vendor], s.Pin.Weights[r.vendor]
		want = fmt.Sprintf("the %.4g that it is pinned to", low)
	}
	const slack = 0.05 // weights are shown to a tenth
	if v.Weight < low-slack || v.Weight > high+slack {
		return fmt.Sprintf("its weight is %.4g, not %s", v.Weight, want)
	}
	return ""
}

// fellBack keeps how the failback went: how long it took, or why not.
func (r *run) fellBack(took *time.Duration, not string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := ""
	switch {
	case took != nil:
		r.report.FailbackS, r.report.Failback = control.Figure(milli(took.Seconds())), control.Passed
		text = clock(took.Seconds())
	case !strings.HasPrefix(not, "not seen"):
		r.report.Failback = control.Failed
	}
	r.report.Hypothesis = append(r.report.Hypothesis, failbackBound(text, not))
}

func failbackBound(took, not string) control.Bound {
	return control.Bound{
		Name: "failback, judged apart", Want: "back where it belongs within " + clock(failbackTime.Seconds()), Got: took + not, OK: took != "",
	}
}

// finish ends the drill; with no verdict the one it has stays.
func (r *run) finish(verdict, reason string) {
	r.leaveAsFound()
	defer r.m.tape.End(r.id)
	r.mu.Lock()
	if verdict != "" {
		r.judged(verdict, reason)
	}
	got := *r.st.Verdict
	now := time.Now()
	end := got
	if got == control.Passed {
		end = control.PhaseDone
	}
	if !r.t0.IsZero() {
		r.stamp(end, r.t0.Add(now.Sub(r.zero)))
		if r.proof == nil && r.scenario.hits() {
			what, _ := r.missing()
			r.report.Hypothesis = append([]control.Bound{{Name: r.word(), Want: "at most " + clock(r.st.TargetS), Got: "not proven: " + what}}, r.report.Hypothesis...)
		}
	}
	r.st.Until, r.st.Armed, r.st.Waits = nil, nil, ""
	at := now.UTC()
	r.report.Ended = &at
	text := fmt.Sprintf("drill %s of %s ended: %s", r.scenario.Name, r.label, got)
	if r.incident {
		text = fmt.Sprintf("the outage of %s is over: %s", r.label, got)
	}
	if r.st.Reason != "" {
		text += ": " + r.st.Reason
	}
	r.mu.Unlock()
	r.keep()
	r.mu.Lock()
	r.st.Phase, r.ended = end, true // whoever sees it finds the whole record
	r.mu.Unlock()
	level := control.Crit
	switch got {
	case control.Passed:
		level = control.Info
	case control.Refused, control.Inconclusive:
		level = control.Warn
	}
	r.say(level, r.me(), text, map[string]any{"verdict": got})
}

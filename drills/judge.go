package drills

import (
	"fmt"
	"math"
	"time"

	"baton/engine/control"
	"baton/engine/window"
)

func round1000(s float64) float64 { return math.Round(s*1000) / 1000 }

// of finds the vendor of the drill in a tally.
func (r *run) of(t *control.Tally) control.VendorTally {
	for _, v := range t.Vendors {
		if v.Name == r.vendor {
			return v
		}
	}
	return control.VendorTally{}
}

// detect stamps the moment at which the vendor was ejected or its weight fell,
// by the engine's own stamps. r.mu is held.
func (r *run) detect(t *control.Tally) {
	if _, ok := r.reached(control.PhaseDetected); ok {
		return
	}
	v := r.of(t)
	at := time.Time{}
	if v.State != control.Healthy && v.StateSince.After(r.t0) {
		at = v.StateSince
	}
	if v.WeightSince.After(r.t0) && v.Weight < r.of(r.samples[0]).Weight-0.5 && (at.IsZero() || v.WeightSince.Before(at)) {
		at = v.WeightSince
	}
	if !at.IsZero() {
		r.reach(control.PhaseDetected, at)
	}
}

// shift stamps the moment from which the vendor got under 1 % of the attempts
// begun: over at least a second and at least 20 attempts. r.mu is held.
func (r *run) shift() {
	if !r.shifted.IsZero() {
		return
	}
	if _, ok := r.reached(control.PhaseDetected); !ok {
		return
	}
	j := len(r.samples) - 1
	for i := j - perSecond; i >= 0; i-- {
		all, its := begun(r.samples[i], r.samples[j], r.vendor)
		if all < shiftCount {
			continue
		}
		if float64(its) >= shiftPart*float64(all) {
			return
		}
		at := r.t0.Add(time.Duration(i) * pace)
		if last := r.of(r.samples[j]).LastBegun; its == 0 {
			at = last // exact: nothing has begun there since
		}
		if at.Before(r.t0) {
			at = r.t0
		}
		r.shifted = at
		r.reach(control.PhaseShifted, at)
		return
	}
}

// begun counts the attempts begun between two tallies, all and the vendor's.
func begun(from, to *control.Tally, vendor string) (all, its int64) {
	for _, b := range to.Vendors {
		n := b.Begun
		for _, a := range from.Vendors {
			if a.Name == b.Name {
				n -= a.Begun
			}
		}
		all += n
		if b.Name == vendor {
			its = n
		}
	}
	return all, its
}

// verify looks for the first window of good service without the vendor, and
// reports whether it has just been found. r.mu is held.
func (r *run) verify() bool {
	if r.shifted.IsZero() || r.st.CutoverS != nil {
		return false
	}
	hold := max(int(r.m.o.Rules.Hold/time.Second), 1)
	first := int(r.shifted.Sub(r.t0) / time.Second)
	last := (len(r.samples) - 1) / perSecond
	best := &control.VerifyState{HoldS: float64(hold), MinN: int64(r.m.o.Rules.MinRequests), LimitMs: r.limit()}
	for k := first; k <= last; k++ {
		v := r.window(k, min(k+hold, last))
		if k+hold <= last && v.good(r) {
			r.st.Verify = v.VerifyState
			r.proven(k, hold)
			return true
		}
		if v.serving(r) || k == last {
			best = v.VerifyState // the window that is being held
			break
		}
	}
	r.st.Verify = best
	return false
}

// proven stamps the verification and stops the clock. r.mu is held.
func (r *run) proven(k, hold int) {
	at := r.t0.Add(time.Duration(k+hold) * time.Second)
	cut := time.Duration(k) * time.Second
	for _, p := range []string{control.PhaseDetected, control.PhaseShifted} {
		if t, ok := r.reached(p); ok {
			cut = max(cut, t.Sub(r.t0))
		}
	}
	r.st.CutoverS = control.Figure(round1000(cut.Seconds()))
	r.reach(control.PhaseVerified, at)
	r.hurt(k + hold)
	verdict, reason := r.judge()
	r.st.Verdict, r.st.Reason = &verdict, reason
}

// judged is what clients got between two seconds after T0.
type judged struct {
	*control.VerifyState
	ok, failed int64
}

// window is what clients got from second a to second b after T0. r.mu is held.
func (r *run) window(a, b int) judged {
	from, to := r.samples[a*perSecond], r.samples[b*perSecond]
	v := judged{VerifyState: &control.VerifyState{HeldS: float64(b - a), HoldS: r.m.o.Rules.Hold.Seconds(), MinN: int64(r.m.o.Rules.MinRequests), LimitMs: r.limit()}}
	v.ok = to.Totals.OK - from.Totals.OK
	v.failed = to.Totals.Failed - from.Totals.Failed
	v.N = v.ok + v.failed
	if v.N > 0 {
		v.Success = control.Figure(float64(v.ok) / float64(v.N))
	}
	v.P99ms = quantile(from, to, 0.99)
	return v
}

// serving says whether nothing speaks against the window yet.
func (v judged) serving(r *run) bool {
	return (v.Success == nil || *v.Success >= r.m.o.Rules.Success) && (v.P99ms == nil || *v.P99ms <= v.LimitMs)
}

// good says whether the window proves good service.
func (v judged) good(r *run) bool {
	return v.N >= v.MinN && v.serving(r)
}

// limit is what the P99 of first tokens has to stay under, in milliseconds: a
// kill takes no baseline.
func (r *run) limit() float64 { return float64(r.m.o.SLOP99) / float64(time.Millisecond) }

// quantile is a quantile of clients' first tokens between two tallies, in
// milliseconds, nil of none.
func quantile(from, to *control.Tally, q float64) *float64 {
	h := between(from, to)
	d, ok := h.Quantile(q)
	if !ok {
		return nil
	}
	return control.Figure(math.Round(float64(d)/float64(time.Millisecond)*10) / 10)
}

// between is the histogram of first tokens between two tallies.
func between(from, to *control.Tally) *window.Histogram {
	had := make(map[int]uint64, len(from.FirstToken))
	for _, b := range from.FirstToken {
		had[b.Index] = b.N
	}
	var used []window.Bucket
	for _, b := range to.FirstToken {
		if n := b.N - had[b.Index]; n > 0 {
			used = append(used, window.Bucket{Index: b.Index, N: n})
		}
	}
	return window.FromSparse(used)
}

// hurt counts the seconds up to the given one in which clients were hurt.
// r.mu is held.
func (r *run) hurt(until int) {
	r.st.HurtS = 0
	for k := 0; k < until && (k+1)*perSecond < len(r.samples); k++ {
		if v := r.window(k, k+1); v.Success != nil && *v.Success < hurtBelow {
			r.st.HurtS++
		}
	}
}

// breached says which stop condition holds, "" if none. r.mu is held.
func (r *run) breached(now time.Time) string {
	rules := r.m.o.Rules
	if rules.MaxFailed > 0 && r.st.Requests.Failed > int64(rules.MaxFailed) {
		return fmt.Sprintf("%d requests failed, more than drill.max_failed %d", r.st.Requests.Failed, rules.MaxFailed)
	}
	n := len(r.samples) - 1
	if r.st.CutoverS == nil && n >= 10*perSecond {
		v := judged{VerifyState: &control.VerifyState{}}
		from, to := r.samples[n-10*perSecond], r.samples[n]
		v.ok, v.failed = to.Totals.OK-from.Totals.OK, to.Totals.Failed-from.Totals.Failed
		if v.ok+v.failed >= shiftCount && float64(v.ok) < rules.AbortBelow*float64(v.ok+v.failed) {
			return fmt.Sprintf("%d of %d requests failed within 10 s: success is under drill.abort_below %g", v.failed, v.ok+v.failed, rules.AbortBelow)
		}
	}
	return ""
}

// judge holds what was measured against the scenario's bounds and the target.
// r.mu is held.
func (r *run) judge() (verdict, reason string) {
	q := r.st.Requests
	bounds := []control.Bound{{
		Name: "cutover", Want: "at most " + clock(r.st.TargetS), Got: clock(*r.st.CutoverS), OK: *r.st.CutoverS <= r.st.TargetS,
	}}
	if c := r.scenario.Bounds.Cutover; c > 0 {
		bounds = append(bounds, control.Bound{Name: "cutover of the scenario", Want: "at most " + clock(c.Seconds()), Got: clock(*r.st.CutoverS), OK: *r.st.CutoverS <= c.Seconds()})
	}
	if s := r.scenario.Bounds.Success; s > 0 && q.OK+q.Failed > 0 {
		got := float64(q.OK) / float64(q.OK+q.Failed)
		bounds = append(bounds, control.Bound{Name: "clients' success", Want: fmt.Sprintf("at least %g", s), Got: fmt.Sprintf("%.4f (%d of %d, n=%d)", got, q.OK, q.OK+q.Failed, q.OK+q.Failed), OK: got >= s})
	}
	r.report.Hypothesis = bounds
	verdict = control.Passed
	for _, b := range bounds {
		if !b.OK {
			verdict, reason = control.Failed, fmt.Sprintf("%s: wanted %s, got %s", b.Name, b.Want, b.Got)
		}
	}
	return verdict, reason
}

// clock writes seconds as m:ss.t.
func clock(s float64) string {
	t := int64(math.Round(s * 10))
	return fmt.Sprintf("%d:%02d.%d", t/600, t/10%60, t%10)
}

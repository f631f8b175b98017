package drills

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"baton/drills/spike"
	"baton/engine/control"
)

// surge is a load spike under way. Its fields belong to the drill's goroutine.
type surge struct {
	plan    spike.Plan
	phases  chan string       // as they begin
	seconds chan spike.Second // as they end
	told    []spike.Second
	result  *spike.Result
}

// sent is what spike.Run has returned.
type sent struct {
	result *spike.Result
	err    error
}

// spike sends the scenario's load spike and judges what became of it. T0 is the
// step up, by the engine's clock.
func (r *run) spike(ctx context.Context) {
	plan, err := r.spikePlan()
	if err != nil {
		r.finish(control.Refused, err.Error())
		return
	}
	if r.m.quiet != nil {
		defer r.m.quiet()()
	}
	s := &surge{phases: make(chan string, 3), seconds: make(chan spike.Second, 2+int(plan.Length()/time.Second)), plan: *plan}
	s.plan.Entered = func(phase string) { s.phases <- phase }
	r.surge = s
	r.spikeBegins()
	sending, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan sent, 1)
	go func() {
		result, err := spike.Run(sending, s.plan, func(x spike.Second) { s.seconds <- x })
		done <- sent{result, err}
	}()
	if r.spikeGoesOn(ctx, done) {
		return
	}
	stop()
	<-done
	r.mu.Lock()
	ended, why := r.st.Verdict != nil, r.why.text
	r.mu.Unlock()
	if !ended {
		r.finish(control.Aborted, why)
	}
}

// spikeGoesOn follows the spike to its end; false: it is to be cut short.
func (r *run) spikeGoesOn(ctx context.Context, done <-chan sent) bool {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		r.beat.Store(time.Now().UnixNano())
		select {
		case <-ctx.Done():
			r.stop("baton stopped", true)
		case <-r.stopping:
		case phase := <-r.surge.phases:
			if !r.spikeEnters(ctx, phase) {
				return false
			}
		case x := <-r.surge.seconds:
			r.spikeSecond(x)
		case <-tick.C:
			r.spikeCounts(ctx)
			r.keepUp()
		case end := <-done:
			r.spikeEnds(ctx, end)
			return true
		}
		if r.stopped() {
			return false
		}
	}
}

func (r *run) spikePlan() (*spike.Plan, error) {
	way, err := r.wayIn()
	if err != nil {
		return nil, err
	}
	p := r.scenario.Spike
	plan := &spike.Plan{
		URL: way.url, Model: way.model, Key: way.key, Agent: userAgent, Batch: p.Batch, Stream: p.Stream, Tokens: p.Tokens, Seed: 1,
		From: p.From, To: p.To, Baseline: p.Baseline + time.Duration(r.start.Countdown), Hold: p.Hold, Recovery: p.Recovery, Proof: p.Proof,
		CPU: r.m.spikes == nil, Transport: r.m.spikes,
	}
	if err := plan.Validate(); err != nil {
		return nil, fmt.Errorf("the spike cannot be sent: %w", err)
	}
	return plan, nil
}

// spikeBegins stamps the baseline and says it.
func (r *run) spikeBegins() {
	p := &r.surge.plan
	begun := time.Now()
	up := begun.Add(p.Baseline).UTC()
	r.mu.Lock()
	r.reach(control.PhaseSteady, begun)
	r.st.Armed = &up
	r.st.Caption = fmt.Sprintf("baseline: %g requests/s", p.From)
	r.st.Steps = []control.StepState{
		{Text: fmt.Sprintf("%g requests/s, from %g", p.To, p.From)},
		{AtS: p.Hold.Seconds(), Text: fmt.Sprintf("back to %g requests/s", p.From)},
		{AtS: (p.Hold + p.Recovery).Seconds(), Text: "what became of it is reckoned up"},
	}
	r.mu.Unlock()
	text := fmt.Sprintf("drill %s: %g requests/s for %s, then %g for %s. A aborts", r.scenario.Name, p.From, control.Duration(p.Baseline), p.To, control.Duration(p.Hold))
	r.say(control.Warn, r.start.Who(), text, map[string]any{"phase": control.PhaseSteady, "command": r.start.Line()})
}

// spikeEnters stamps the step up and the step back, and reports whether the drill
// goes on.
func (r *run) spikeEnters(ctx context.Context, phase string) bool {
	before := time.Now()
	t, err := r.tally(ctx)
	if err != nil {
		r.stop("the engine does not answer: "+err.Error(), false)
		return true
	}
	after := time.Now()
	p := &r.surge.plan
	switch phase {
	case spike.Peak:
		if !r.hypothesis(ctx) {
			return false
		}
		until := t.Time.Add(p.Hold).UTC()
		r.mu.Lock()
		r.t0, r.zero = t.Time, t.Time
		if t.Time.Before(before) || t.Time.After(after) {
			r.zero = after // the engine's clock is another one
		}
		r.counts.begin(t)
		r.st.Armed, r.st.Until = nil, &until
		r.st.Steps[0].Done = true
		r.reach(control.PhaseFault, t.Time)
		r.mu.Unlock()
		r.say(control.Warn, r.me(), fmt.Sprintf("drill %s: the step up, %g requests/s from now on", r.scenario.Name, p.To), map[string]any{"phase": control.PhaseFault})
	case spike.Recovery:
		r.mu.Lock()
		r.take(t, t.Time.Sub(r.t0))
		r.after = t
		r.restored = restoration{at: t.Time, by: r.me()}
		r.st.Steps[1].Done = true
		r.stampRestored()
		r.spikeAsked()
		r.mu.Unlock()
		r.say(control.Info, r.me(), fmt.Sprintf("drill %s: the step back, %g requests/s again", r.scenario.Name, p.From), map[string]any{"phase": control.PhaseRestored})
	}
	return true
}

// spikeCounts takes what the engine has counted.
func (r *run) spikeCounts(ctx context.Context) {
	t, err := r.look(ctx)
	if err != nil {
		return // it is looked at again
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.t0.IsZero() {
		if armed := r.st.Armed; armed != nil {
			r.early.add(t, *armed)
		}
		return
	}
	r.take(t, t.Time.Sub(r.t0))
	r.spikeAsked()
}

// spikeAsked has the requests since T0 be the spike's own, as its generator saw
// them: a refusal by admission is no failure. r.mu is held.
func (r *run) spikeAsked() {
	q := &r.st.Requests
	q.Total, q.OK, q.Failed, q.Lost = 0, 0, 0, []string{}
	for i := range r.surge.told {
		if x := &r.surge.told[i]; x.Phase == spike.Peak {
			q.Total, q.OK, q.Failed = q.Total+int64(x.Sent), q.OK+int64(x.Admitted), q.Failed+int64(x.Failed)
		}
	}
}

// spikeSecond says what became of the requests of a second.
func (r *run) spikeSecond(x spike.Second) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.surge.told = append(r.surge.told, x)
	word := map[string]string{spike.Baseline: "baseline", spike.Peak: "spike", spike.Recovery: "recovery"}[x.Phase]
	text := fmt.Sprintf("%s: %d requests/s, %d admitted, %d limited, %d shed, %d failed", word, x.Sent, x.Admitted, x.Limited, x.Shed, x.Failed)
	if x.Dropped > 0 {
		text += fmt.Sprintf(", %d not sent", x.Dropped)
	}
	if x.P99ms > 0 {
		text += fmt.Sprintf("; first token P50 %.0f ms, P99 %.0f ms", x.P50ms, x.P99ms)
	}
	r.st.Caption = text
}

// spikeEnds judges a spike that has been sent to its end.
func (r *run) spikeEnds(ctx context.Context, end sent) {
	for len(r.surge.seconds) > 0 {
		r.spikeSecond(<-r.surge.seconds)
	}
	t, err := r.tally(ctx)
	if end.err == nil {
		end.err = err
	}
	if end.err != nil || end.result == nil || r.t0.IsZero() || r.restored.at.IsZero() {
		r.finish(control.Aborted, fmt.Sprintf("the spike was cut short: %v", end.err))
		return
	}
	res := end.result
	r.mu.Lock()
	r.take(t, t.Time.Sub(r.t0))
	r.surge.told = res.Seconds
	r.surge.result = res
	r.spikeAsked()
	for i := range r.st.Steps {
		r.st.Steps[i].Done = true
	}
	q := &r.st.Requests
	q.Total, q.OK, q.Failed = int64(res.Peak.Sent), int64(res.Peak.Admitted), int64(res.Peak.Failed)
	attempts, requests := t.Totals.Attempts-r.seconds[0].Totals.Attempts, t.Totals.Requests-r.seconds[0].Totals.Requests
	r.own = spikeFigures(res, attempts, requests)
	if at := res.RecoverS; at != nil {
		figure := milli(max(*at, 0))
		r.proof = &figure
		r.reach(control.PhaseVerified, r.restored.at.Add(time.Duration((*at+r.surge.plan.Proof.Seconds())*float64(time.Second))))
	}
	verdict, reason := r.spikeVerdict()
	r.mu.Unlock()
	r.finish(verdict, reason)
}

// spikeFigures are the figures of a spike by their names.
func spikeFigures(res *spike.Result, attempts, requests int64) map[string]float64 {
	p := &res.Peak
	out := map[string]float64{
		"sent": float64(p.Sent), "admitted": float64(p.Admitted), "limited": float64(p.Limited), "shed": float64(p.Shed), "failed": float64(p.Failed), "dropped": float64(p.Dropped),
		"goodput": p.Goodput, "admitted_rps": p.RPS, "p50_ms": p.P50ms, "p90_ms": p.P90ms, "p99_ms": p.P99ms,
		"baseline_goodput": res.Baseline.Goodput, "baseline_p99_ms": res.Baseline.P99ms, "recovery_goodput": res.Recovery.Goodput, "recovery_p99_ms": res.Recovery.P99ms,
		"attempts": float64(attempts), "requests": float64(requests), "schedule_lag_p99_ms": res.LagP99ms,
	}
	if requests > 0 {
		out["amplification"] = float64(attempts) / float64(requests)
	}
	if refused := int64(p.Limited + p.Shed + res.Recovery.Limited + res.Recovery.Shed); requests > refused {
		out["attempts_per_admitted"] = float64(attempts) / float64(requests-refused)
	}
	if res.FirstShedS != nil {
		out["first_shed_s"] = *res.FirstShedS
	}
	if res.RecoverS != nil {
		out["recover_s"] = *res.RecoverS
	}
	if res.CPU != nil {
		out["cpu_measured_s"] = res.CPUSeconds
		for part, s := range res.CPU {
			out["cpu_"+part+"_s"] = s
		}
	}
	for name, v := range out {
		out[name] = math.Round(1e4*v) / 1e4
	}
	return out
}

// spikeVerdict holds the result against what is asked. r.mu is held.
func (r *run) spikeVerdict() (verdict, reason string) {
	res, asks := r.surge.result, &r.scenario.Bounds
	var missed []string
	add := func(name, want, got string, ok bool) {
		r.report.Hypothesis = append(r.report.Hypothesis, control.Bound{Name: name, Want: want, Got: got, OK: ok})
		if !ok {
			missed = append(missed, fmt.Sprintf("%s: wanted %s, got %s", name, want, got))
		}
	}
	want, got := "within the plan", "not within the plan: METASTABLE, the bad state has outlived the load"
	if asks.Recovered > 0 {
		want = "within " + clock(asks.Recovered.Seconds())
	}
	back := r.proof != nil
	if back {
		got = clock(*r.proof)
		back = asks.Recovered == 0 || *r.proof <= asks.Recovered.Seconds()
	}
	add("goodput as before the spike, after the step back", want, got, back)
	if a, ok := r.own["amplification"]; asks.Amplification > 0 {
		add("attempts at vendors per request", fmt.Sprintf("at most %g", asks.Amplification),
			fmt.Sprintf("%.4g (%.0f of %.0f)", a, r.own["attempts"], r.own["requests"]), ok && a <= asks.Amplification)
	}
	if asks.P99 > 0 {
		add("first-token P99 of what was admitted in the spike", fmt.Sprintf("at most %g ms", millis(asks.P99)),
			fmt.Sprintf("%.0f ms (n=%d)", res.Peak.P99ms, res.Peak.Streams), res.Peak.Streams > 0 && res.Peak.P99ms <= millis(asks.P99))
	}
	failed := res.Baseline.Failed + res.Peak.Failed + res.Recovery.Failed
	add("requests that failed, refusals apart", "none", failures(failed, res.Words), failed == 0)
	lag := fmt.Sprintf("late by %.1f ms (P99), %d not sent", res.LagP99ms, res.Peak.Dropped)
	add("the generator", "in time", lag, !res.ClientLimited)
	switch {
	case res.ClientLimited:
		return control.Inconclusive, "CLIENT-LIMITED: the generator was " + lag + ", so it measured itself"
	case len(missed) > 0:
		return control.Failed, strings.Join(missed, "; ")
	}
	return control.Passed, ""
}

// failures is a count of failures, and why.
func failures(n int, words map[string]int) string {
	if n == 0 {
		return "none"
	}
	var why []string
	for _, w := range slices.Sorted(maps.Keys(words)) {
		why = append(why, fmt.Sprintf("%s %d", w, words[w]))
	}
	return fmt.Sprintf("%d (%s)", n, strings.Join(why, ", "))
}

// spikeSeries puts what the generator saw beside what the engine counted. r.mu is
// held.
func (r *run) spikeSeries(points []control.Point) {
	if r.surge == nil {
		return
	}
	up := int(math.Round(r.surge.plan.Baseline.Seconds()))
	by := make(map[int]*spike.Second, len(r.surge.told))
	for i := range r.surge.told {
		by[r.surge.told[i].T-up] = &r.surge.told[i]
	}
	for i := range points {
		if x := by[int(math.Round(points[i].TS))]; x != nil {
			points[i].Extra = map[string]float64{
				"sent": float64(x.Sent), "admitted": float64(x.Admitted), "limited": float64(x.Limited), "shed": float64(x.Shed), "failed": float64(x.Failed), "dropped": float64(x.Dropped),
			}
		}
	}
}

// spikeScope is what a spike exercises and what it does not.
func (r *run) spikeScope() (exercised, not []string) {
	return []string{"admission, the order of those who wait, limits, retries and weights under a load that nobody announced; real sockets on loopback"},
		[]string{"real vendors, their limits and their networks: all are SIMULATED", "other clients: the generator, the gateway and the vendors share this machine's processors", "losing a vendor"}
}

package engine

import (
	"fmt"
	"math"
	"time"

	"baton/engine/control"
	"baton/engine/health"
	"baton/engine/outcome"
	"baton/engine/weights"
	"baton/engine/window"
)

// degradedErrors is the error rate from which a vendor is called degraded.
const degradedErrors = 0.02

// spans in the order of control.Windows.
var spans = [3]window.Span{window.S10, window.S60, window.S300}

// Fill writes the engine's part of a snapshot.
func (e *Engine) Fill(s *control.Snapshot) {
	now := time.Now()
	c := e.cfg.Load()
	t := e.table.Load()
	s.Time = now.UTC().Truncate(time.Millisecond)
	s.UptimeS = math.Round(now.Sub(e.started).Seconds()*10) / 10
	s.Environment, s.Mode, s.Apply = c.Console.Environment, c.Routing.Mode, c.Console.Apply
	s.Control, s.Failover = "auto", "auto"
	s.Simulated = c.Simulated()
	s.Target = control.Targets{SLOP90ms: ms(c.Routing.SLOP90), SLOP99ms: ms(c.Routing.SLOP99), CutoverS: c.Drill.Target.Seconds()}
	s.Alerts = []string{}

	e.mu.Lock()
	defer e.mu.Unlock()
	if e.pin != nil {
		p := e.pin.Pin
		s.Control, s.Pin = "pinned", &p
	}
	if t.manual {
		s.Failover = "manual"
		until := ""
		if !e.manual.until.IsZero() {
			at := e.manual.until.UTC()
			s.FailoverUntil = &at
			until = " until " + at.Format(time.TimeOnly) + " UTC"
		}
		s.Alerts = append(s.Alerts, "failover is manual"+until+": breakers alarm, people move the weights")
	}
	s.Overrides = e.overrides(now)
	total := [2]int{}
	for i, d := range [2]time.Duration{10 * time.Second, time.Minute} {
		for _, v := range t.vendors {
			v.mu.Lock()
			total[i] += v.counts.Sum(now, catBegun, d)
			v.mu.Unlock()
		}
	}
	s.Vendors = make([]control.Vendor, len(t.vendors))
	for i, v := range t.vendors {
		e.fillVendor(&s.Vendors[i], v, total, now)
		if s.Vendors[i].State == control.Disabled || s.Vendors[i].State == control.Ejected {
			s.Alerts = append(s.Alerts, fmt.Sprintf("%s is %s: %s", e.label(v), s.Vendors[i].State, s.Vendors[i].Reason))
		}
		s.Totals.Attempts += s.Vendors[i].Attempts
	}
	if !e.Ready() {
		s.Alerts = append([]string{"no vendor may take traffic: every request is answered 503"}, s.Alerts...)
	}
	e.fillService(s, t, now)
}

// fillService writes what clients asked and got.
func (e *Engine) fillService(s *control.Snapshot, t *table, now time.Time) {
	sv := e.service
	sv.mu.Lock()
	defer sv.mu.Unlock()
	attempts := s.Totals.Attempts
	s.Totals = sv.totals
	s.Totals.Attempts = attempts
	s.Gateway.InFlight = sv.inFlight
	s.Service.Success10s = rate(sv.counts.Sum(now, svcOK, 10*time.Second), sv.counts.Sum(now, svcFailed, 10*time.Second))
	if ok := rate(sv.counts.Sum(now, svcOK, time.Minute), sv.counts.Sum(now, svcFailed, time.Minute)); ok != nil {
		s.Service.Errors60s = control.Figure(1 - *ok)
	}
	lat := latency(sv.firstToken, now, window.S60)
	s.Service.Count, s.Service.P50ms, s.Service.P90ms, s.Service.P99ms = lat.Count, lat.P50ms, lat.P90ms, lat.P99ms
	for _, lane := range []control.Lane{control.Interactive, control.Batch} {
		st := control.LaneState{RPS: e.perSecond(sv.counts.Sum(now, svcBegun+int(lane), 10*time.Second), now), Split: map[string]float64{}, Waiting: e.Waiting(lane), Shed: sv.shed[lane]}
		for i, v := range t.vendors {
			st.Split[v.Name] = math.Round(1000*t.split[lane][i]) / 10
		}
		s.Gateway.RPS += st.RPS
		if lane == control.Batch {
			s.Lanes.Batch = st
		} else {
			s.Lanes.Interactive = st
		}
	}
	s.Gateway.RPS = math.Round(10*s.Gateway.RPS) / 10
}

// perSecond is the rate of n in the last 10 s, or since the start if that is
// shorter.
func (e *Engine) perSecond(n int, now time.Time) float64 {
	d := min(10, max(1, now.Sub(e.started).Seconds()))
	return math.Round(10*float64(n)/d) / 10
}

// fillVendor writes one vendor's part. e.mu is held.
func (e *Engine) fillVendor(out *control.Vendor, v *Vendor, total [2]int, now time.Time) {
	vc := v.cfg.Load()
	c := e.cfg.Load()
	out.Name, out.Label, out.Role, out.Simulated = v.Name, vc.Label, vc.Role, vc.Simulate != ""
	out.Weight, out.Target, out.Why = percent(v.weight), percent(v.target), v.why
	if len(vc.Band) == 2 {
		out.Band = [2]float64{vc.Band[0], vc.Band[1]}
	}
	out.Pinned = e.pin != nil
	out.Overrides = []string{}
	if e.pin != nil {
		out.Target = e.pinTarget(v)
		out.Overrides = append(out.Overrides, fmt.Sprintf("pinned to %g until %s UTC", e.pin.Weights[v.Name], e.pin.Until.Format(time.TimeOnly)))
	}
	if vc.Published.P90FirstToken > 0 {
		out.Published = &control.Published{Source: vc.Published.Source, P90FirstTokenMs: control.Figure(ms(vc.Published.P90FirstToken))}
	}

	v.mu.Lock()
	defer v.mu.Unlock()
	out.Share10s = share(v.counts.Sum(now, catBegun, 10*time.Second), total[0])
	out.Share60s = share(v.counts.Sum(now, catBegun, time.Minute), total[1])
	out.RPS = e.perSecond(v.counts.Sum(now, catBegun, 10*time.Second), now)
	if n, ok := v.admission.Value(); ok {
		out.InFlightLimit = control.Figure(n)
	}
	out.InFlight, out.Requests, out.Attempts, out.Failed = v.flight.n, v.requests, v.attempts, v.failed
	out.FirstToken, out.Latency = map[string]control.Latency{}, map[string]control.Latency{}
	for i, s := range spans {
		out.FirstToken[control.Windows[i]] = latency(v.rings[weights.Stream], now, s)
		out.Latency[control.Windows[i]] = latency(v.rings[weights.Whole], now, s)
	}
	out.Errors.Rate10s = v.errorRate(now, 10*time.Second)
	out.Errors.Rate60s = v.errorRate(now, time.Minute)
	out.Errors.ByOutcome60s = map[string]int64{}
	for o := range outcome.Count {
		out.Errors.ByOutcome60s[outcome.Outcome(o).String()] = int64(v.counts.Sum(now, o, time.Minute))
	}
	out.Tokens = control.Tokens{Input: v.tokensIn, Output: v.tokensOut}
	out.Limit = v.limitState(v.keyCount(max(1, len(vc.APIKeys))), now)
	out.History = v.history.series()
	if v.health.State() == health.Recovering {
		if age, length := v.health.RampAge(now); length > 0 {
			out.Ramp = control.Figure(math.Round(100*min(1, age.Seconds()/length.Seconds())) / 100)
		}
	}
	if v.drained {
		out.Overrides = append(out.Overrides, "drained by "+v.drainedBy)
	}
	if rps, ok := v.setByHand(); ok {
		out.Overrides = append(out.Overrides, fmt.Sprintf("limit set to %g requests/s", rps))
	}
	out.Release = e.wouldRelease(v, now)
	word, reason := v.state(ms(c.Routing.SLOP90), out, now)
	if word != v.word {
		v.word, v.since = word, now
	}
	out.State, out.Reason, out.StateSince = word, reason, v.stateSince().UTC()
}

// pinTarget is where a pin takes v's weight in the end, in percent: its own
// weight, and its part of what the ejected and the barred cannot carry.
// e.mu is held.
func (e *Engine) pinTarget(v *Vendor) float64 {
	sum, own := 0.0, 0.0
	t := e.table.Load()
	for _, x := range t.vendors {
		x.mu.Lock()
		out := x.barred() || !x.open.Load() && !e.pin.Override && !t.manual
		x.mu.Unlock()
		if out {
			continue
		}
		sum += e.pin.Weights[x.Name]
		if x == v {
			own = e.pin.Weights[x.Name]
		}
	}
	if sum == 0 {
		return percent(v.weight)
	}
	return math.Round(1000*own/sum) / 10
}

// stateSince is when the present state began: as stamped by the machine where
// health decided it. v.mu is held.
func (v *Vendor) stateSince() time.Time {
	if (v.word == control.Ejected || v.word == control.Recovering) && !v.health.Since().IsZero() {
		return v.health.Since()
	}
	return v.since
}

// state is the vendor's state word and why. v.mu is held.
func (v *Vendor) state(slo float64, out *control.Vendor, now time.Time) (word, reason string) {
	switch {
	case v.drained:
		return control.Drained, "drained by " + v.drainedBy
	case v.disabled != "":
		return control.Disabled, v.disabled
	case v.health.State() == health.Ejected:
		return control.Ejected, v.health.Reason()
	case v.health.State() == health.Recovering:
		return control.Recovering, v.health.Reason()
	}
	if a := v.health.Alarm(); a != "" {
		return control.Degraded, a + "; the last vendor is never ejected"
	}
	if r := out.Errors.Rate60s; r != nil && *r >= degradedErrors {
		return control.Degraded, fmt.Sprintf("errors %.1f%% in 60 s", 100**r)
	}
	if l := out.FirstToken["60s"]; l.Count >= 50 && l.P90ms != nil && *l.P90ms > slo {
		return control.Degraded, fmt.Sprintf("first-token P90 %.2fs is over %.2fs", *l.P90ms/1000, slo/1000)
	}
	if _, held := v.limiter.Held(); held {
		return control.Degraded, "its rate may rise slowly only; " + v.limiter.Evidence()
	}
	if v.limiter.Limited(now) {
		return control.Degraded, "over its rate limit"
	}
	return control.Healthy, ""
}

// errorRate is vendor_faults over attempts that ended ok or so. v.mu is held.
func (v *Vendor) errorRate(now time.Time, d time.Duration) *float64 {
	ok := v.counts.Sum(now, int(outcome.OK), d)
	bad := v.counts.Sum(now, int(outcome.VendorFault), d)
	return rate(bad, ok)
}

func latency(r *window.Ring, now time.Time, s window.Span) control.Latency {
	st := r.Window(now, s)
	if st.Count == 0 {
		return control.Latency{}
	}
	return control.Latency{Count: st.Count, P50ms: tenth(ms(st.P50)), P90ms: tenth(ms(st.P90)), P99ms: tenth(ms(st.P99)), Maxms: tenth(ms(st.Max))}
}

func tenth(v float64) *float64 { return finite(math.Round(10*v) / 10) }

// rate is a over a and b, nil of nothing.
func rate(a, b int) *float64 {
	if a+b == 0 {
		return nil
	}
	return finite(float64(a) / float64(a+b))
}

// share is the percent that n is of total, nil of nothing.
func share(n, total int) *float64 {
	if total == 0 {
		return nil
	}
	return tenth(100 * float64(n) / float64(total))
}

func percent(w float64) float64 { return math.Round(1000*w) / 10 }

// Tally is what was counted since the start.
func (e *Engine) Tally() *control.Tally {
	now := time.Now()
	t := e.table.Load()
	out := &control.Tally{Time: now.UTC()}
	e.mu.Lock()
	defer e.mu.Unlock()
	var attempts int64
	for _, v := range t.vendors {
		v.mu.Lock()
		vt := control.VendorTally{
			Name: v.Name, Begun: v.begun, LastBegun: v.lastBegun.UTC(), Faults: v.faults,
			State: v.healthWord(), StateSince: v.health.Since().UTC(), Weight: percent(v.weight), WeightSince: v.fell.UTC(),
			FirstToken: buckets(&v.firstTokens), FirstFault: v.bad.since.UTC(),
		}
		attempts += v.attempts
		v.mu.Unlock()
		out.Vendors = append(out.Vendors, vt)
	}
	s := e.service
	s.mu.Lock()
	defer s.mu.Unlock()
	out.Totals = s.totals
	out.Totals.Attempts = attempts
	out.CutStreams = s.cut
	out.Lost = append([]string{}, s.lost...)
	out.FirstToken = buckets(&s.all)
	return out
}

// buckets is a histogram as a Tally holds it.
func buckets(h *window.Histogram) []control.Bucket {
	used := h.Sparse()
	out := make([]control.Bucket, len(used))
	for i, b := range used {
		out[i] = control.Bucket{Index: b.Index, N: b.N}
	}
	return out
}

// healthWord is what keeps the vendor from traffic, or healthy. v.mu is held.
func (v *Vendor) healthWord() string {
	switch {
	case v.drained:
		return control.Drained
	case v.disabled != "":
		return control.Disabled
	}
	return v.health.State().String()
}

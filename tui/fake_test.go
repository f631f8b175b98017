package tui

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"time"

	"baton/engine/control"
	"baton/tui/theme"

	tea "github.com/charmbracelet/bubbletea"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

var (
	vendorNames  = []string{"lanyun", "bailian", "volc", "azure-eu", "kimi", "zhipu"}
	vendorLabels = []string{"蓝耘", "百炼", "火山", "", "月之暗面", "智谱"}
)

// made is a snapshot of n healthy vendors, the same every time.
func made(n int) *control.Snapshot {
	s := &control.Snapshot{
		Time: noon, Version: "1.0.0", Environment: "DEMO", Revision: 7, Control: "auto", Failover: "auto", Mode: "steer", Simulated: true, Apply: "release",
		Gateway: control.GatewayState{Address: "127.0.0.1:8080", RPS: 19.8, InFlight: 12}, Demo: &control.DemoState{RPS: 20, Batch: 0.25},
		Target:  control.Targets{SLOP90ms: 1000, SLOP99ms: 2000, CutoverS: 420},
		Service: control.Service{Success10s: control.Figure(1), Errors60s: control.Figure(0), Count: 890, P50ms: control.Figure(302), P90ms: control.Figure(471), P99ms: control.Figure(718)},
	}
	weights := []float64{75, 25}
	if n != 2 {
		weights = toHundred(make([]float64, n))
	}
	for i := range n {
		s.Vendors = append(s.Vendors, madeVendor(i, weights[i]))
	}
	return s
}

func madeVendor(i int, weight float64) control.Vendor {
	f := func(p90 float64) map[string]control.Latency {
		l := control.Latency{Count: 24 * int(weight), P50ms: control.Figure(p90 * 0.6), P90ms: control.Figure(p90), P99ms: control.Figure(p90 * 1.5), Maxms: control.Figure(p90 * 2)}
		return map[string]control.Latency{"10s": l, "60s": l, "5m": l}
	}
	v := control.Vendor{
		Name: vendorNames[i], Label: vendorLabels[i], Role: "secondary", Simulated: true, State: control.Healthy, StateSince: noon.Add(-time.Hour),
		Weight: weight, Target: weight, Band: [2]float64{20, 30}, Share10s: control.Figure(weight), Share60s: control.Figure(weight + 0.3), RPS: weight / 5, InFlight: int(weight) / 6,
		FirstToken: f(470 + 90*float64(i)), Latency: f(1820 + 200*float64(i)),
		Errors: control.Errors{Rate60s: control.Figure(0), ByOutcome60s: map[string]int64{"ok": int64(weight) * 24}},
		Why:    "75 to 62: P90 1.9s against 0.9s; 60s window, n=812",
	}
	if i == 0 {
		v.Role, v.Band = "primary", [2]float64{70, 80}
	}
	v.History.StepS = 1
	for j := range 240 {
		p90 := 420 + 90*math.Sin(float64(j)/17+2*float64(i)) + 40*math.Sin(float64(j*j)) + 90*float64(i)
		v.History.P90ms = append(v.History.P90ms, p90)
		v.History.P99ms = append(v.History.P99ms, p90*1.5+60*math.Cos(float64(j*7)))
		v.History.Failed = append(v.History.Failed, 0)
	}
	return v
}

// killed is made(n) with the first vendor killed, seconds after the fault.
func killed(n int, seconds float64) *control.Snapshot {
	s := made(n)
	v := &s.Vendors[0]
	v.Fault = &control.FaultState{Kind: "refuse", Percent: 100, Until: noon.Add(14 * time.Minute)}
	v.Errors.Rate60s = control.Figure(0.042)
	until := noon.Add(14 * time.Minute)
	s.Drill = &control.DrillState{
		ID: "20261201-120000-4f2a", Scenario: "kill", Vendor: "lanyun", Fault: control.FaultSpec{Kind: "refuse"}, Phase: control.PhaseFault,
		ClockS: seconds, TargetS: 420, Started: noon, Until: &until, Phases: []control.Moment{{Name: control.PhaseFault, Time: noon}},
		Requests: control.DrillRequests{Total: int64(seconds * 20), OK: int64(seconds * 20), FailedOver: 23},
	}
	d := s.Drill
	reach := func(name string, at float64) bool {
		if seconds < at {
			return false
		}
		d.Phases = append(d.Phases, control.Moment{Name: name, TS: at})
		d.Phase = name
		return true
	}
	if reach(control.PhaseDetected, 1.2) {
		v.State, v.StateSince, v.Reason = control.Ejected, noon.Add(-4*time.Second), "5 vendor faults in a row: connection_refused"
		rest := v.Weight
		v.Weight, v.Target = 0, 0
		if n > 1 {
			s.Vendors[1].Weight += rest
			s.Vendors[1].Target += rest
		}
		for j := 230; j < 240; j++ {
			v.History.P90ms[j], v.History.P99ms[j], v.History.Failed[j] = math.NaN(), math.NaN(), 2
		}
	}
	if reach(control.PhaseShifted, 2.4) {
		d.Verify = &control.VerifyState{HeldS: min(10, seconds-2.4), HoldS: 10, N: int64(20 * (seconds - 2.4)), MinN: 100, Success: control.Figure(1), P99ms: control.Figure(812), LimitMs: 2000}
	}
	if reach(control.PhaseVerified, 12.6) {
		d.CutoverS, d.ClockS = control.Figure(2.6), 2.6
		d.Record = "/home/op/.local/state/baton/drills/20261201-120000-4f2a.json"
	}
	return s
}

func journal() []control.Event {
	return []control.Event{
		{Seq: 1, Time: noon.Add(-90 * time.Second), Level: control.Info, Kind: "config", Who: control.Controller, Text: "serving on 127.0.0.1:8080: two simulated vendors, demo traffic 20/s"},
		{Seq: 2, Time: noon.Add(-30 * time.Second), Level: control.Warn, Kind: "limit", Vendor: "bailian", Who: control.Controller, Text: "learned a limit of 20/s from 429s (12 of 300)"},
		{Seq: 3, Time: noon.Add(-5 * time.Second), Level: control.Crit, Kind: "health", Vendor: "lanyun", Who: "operator:li.wei", Text: "ejected: 5 vendor faults in a row"},
	}
}

// many are n further events, the newest last.
func many(n int) []control.Event {
	var out []control.Event
	for i := range n {
		out = append(out, control.Event{Seq: int64(10 + i), Time: noon.Add(time.Duration(i) * time.Second), Level: control.Info, Kind: "weights", Vendor: "bailian", Text: fmt.Sprintf("number %d", i)})
	}
	return out
}

// fake is a Control that remembers what it was told.
type fake struct {
	mu     sync.Mutex
	snap   *control.Snapshot
	failed []control.Failure

	scenarios []control.Scenario
	preflight *control.Preflight
	reports   []control.Report
	costs     *control.Costs
	leverage  *control.Leverage

	did  []control.Command
	err  error // what the next commands end with
	send chan control.Update
}

func newFake(s *control.Snapshot) *fake { return &fake{snap: s, send: make(chan control.Update)} }

func (f *fake) Do(_ context.Context, c control.Command) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.did = append(f.did, c)
	if f.err != nil {
		return f.err
	}
	s := *f.snap
	s.Vendors = append([]control.Vendor(nil), s.Vendors...)
	switch c := c.(type) {
	case *control.SetWeights:
		if c.Revision != nil && *c.Revision != s.Revision {
			return control.Errorf(control.Stale, "made against revision %d, now it is %d", *c.Revision, s.Revision)
		}
		for i := range s.Vendors {
			s.Vendors[i].Weight = c.Weights[s.Vendors[i].Name]
		}
		s.Pin, s.Control = &control.Pin{Weights: c.Weights, Until: noon.Add(15 * time.Minute)}, "pinned"
		s.Revision++
	case *control.ReleaseWeights:
		s.Pin, s.Control = nil, "auto"
		s.Revision++
	}
	f.snap = &s
	return nil
}

func (f *fake) Ask(_ context.Context, q control.Query) (control.Answer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch q.(type) {
	case control.State:
		return f.snap, nil
	case control.Scenarios:
		if f.scenarios != nil {
			return f.scenarios, nil
		}
		return []control.Scenario{{Name: "kill", Claim: "losing a vendor costs no client an answer"}}, nil
	case control.PreflightOf:
		if f.preflight != nil {
			return f.preflight, nil
		}
	case control.CostsOf:
		if f.costs != nil {
			return f.costs, nil
		}
	case control.LeverageOf:
		if f.leverage != nil {
			return f.leverage, nil
		}
	case control.FailuresOf:
		return f.failed, nil
	case control.Drills:
		if f.reports != nil {
			return f.reports, nil
		}
		return []control.Report{{ID: "a", Scenario: "kill", Vendor: "lanyun", Verdict: control.Passed, CutoverS: control.Figure(4.2), Started: noon}}, nil
	}
	return nil, control.Errorf(control.Invalid, "no answer to %T", q)
}

func (f *fake) Watch(ctx context.Context, _ time.Duration) iter.Seq2[control.Update, error] {
	return func(yield func(control.Update, error) bool) {
		f.mu.Lock()
		s := f.snap
		f.mu.Unlock()
		if !yield(control.Update{Snapshot: s, Events: journal()}, nil) {
			return
		}
		for {
			select {
			case <-ctx.Done():
				return
			case u := <-f.send:
				if u.Snapshot == nil {
					yield(control.Update{}, fmt.Errorf("connection refused"))
					return
				}
				if !yield(u, nil) {
					return
				}
			}
		}
	}
}

// console is a model under test, with a clock that only the test moves.
type console struct {
	*Model
	f   *fake
	now time.Time
}

func newConsole(s *control.Snapshot, o Options) *console {
	c := &console{f: newFake(s), now: noon}
	o.Control, o.Lang = c.f, "en"
	if o.Operator == "" {
		o.Operator = "li.wei"
	}
	c.Model = newModel(o, func() time.Time { return c.now }, theme.Plain)
	c.loc = time.UTC
	c.later = func(_ time.Duration, msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }
	c.resize(120, 36)
	c.take(s, noon)
	c.addEvents(journal())
	return c
}

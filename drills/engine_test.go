package drills

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// rig is the real engine behind a real Hub; attempts fail while a vendor has a
// fault, as the path to it would make them.
type rig struct {
	*testing.T
	hub     *control.Hub
	engine  *engine.Engine
	machine *Machine

	mu     sync.Mutex
	faults map[string]*control.SetFault
	struck float64 // percents that have come together
}

// unwatched is the Hub without what recordings are made of: they would be most of
// the work of these tests.
type unwatched struct{ *control.Hub }

func (unwatched) Watch(context.Context, time.Duration) iter.Seq2[control.Update, error] {
	return func(func(control.Update, error) bool) {}
}

func (g *rig) do(ctx context.Context, cmd control.Command) error {
	if done, err := g.engine.Do(cmd); done {
		return err
	}
	if done, err := g.machine.Do(ctx, cmd); done {
		return err
	}
	switch c := cmd.(type) {
	case *control.SetFault:
		g.mu.Lock()
		g.faults[c.Vendor] = c
		g.mu.Unlock()
		g.hub.Log(control.Event{Kind: "fault", Vendor: c.Vendor, Who: c.Who(), Data: map[string]any{"on": true}})
		time.AfterFunc(time.Duration(c.For), func() { g.end(c.Vendor, control.Controller, c) })
	case *control.ClearFault:
		g.end(c.Vendor, c.Who(), nil)
	}
	return nil
}

// end ends a vendor's fault; only that one, if it is given.
func (g *rig) end(vendor, who string, only *control.SetFault) {
	g.mu.Lock()
	was := g.faults[vendor]
	if only != nil && was != only {
		g.mu.Unlock()
		return
	}
	delete(g.faults, vendor)
	g.mu.Unlock()
	g.hub.Log(control.Event{Kind: "fault", Vendor: vendor, Who: who, Data: map[string]any{"on": false}})
	g.engine.Restored(vendor)
}

func (g *rig) ask(_ context.Context, q control.Query) (control.Answer, error) {
	if done, a, err := g.machine.Ask(q); done {
		return a, err
	}
	if _, is := q.(control.Counts); is {
		return g.engine.Tally(), nil
	}
	return nil, control.Errorf(control.Invalid, "%T", q)
}

func (g *rig) fill(s *control.Snapshot) {
	g.engine.Fill(s)
	s.Drill, s.Incident = g.machine.State(), g.machine.Incident()
	s.Schedule = g.machine.Schedule()
}

// request is a client's: up to three attempts, each of which takes its time.
func (g *rig) request(lane control.Lane, id string) {
	g.engine.Begin(lane)
	f := engine.Finished{Lane: lane, Kind: weights.Stream, Outcome: outcome.VendorFault, ID: id}
	began := time.Now()
	var tried []*engine.Vendor
	for n := range 3 {
		var l engine.Lease
		if g.engine.Acquire(&l, engine.Ask{Lane: lane, Kind: weights.Stream, Tried: tried, First: n == 0}) != nil {
			break
		}
		f.Vendor, f.FailedOver = l.Vendor, n > 0
		result, first := g.meets(l.Vendor.Name)
		time.Sleep(first)
		if result.Outcome == outcome.OK || result.Reason == "cut" {
			l.FirstToken(time.Now())
			f.FirstToken = time.Since(began)
			time.Sleep(200 * time.Millisecond)
			if result.Clock == outcome.IdleClock {
				time.Sleep(30 * time.Second)
			}
		}
		l.Done(time.Now(), result, outcome.Usage{})
		if f.Outcome = result.Outcome; result.Outcome == outcome.OK || result.Reason == "cut" {
			f.Total, f.Cut = time.Since(began), result.Reason == "cut"
			break
		}
		tried = append(tried, l.Vendor)
	}
	g.engine.Finish(f)
}

// meets is what becomes of an attempt at a vendor, and after how long: with no
// fault, and where it is not struck, an answer.
func (g *rig) meets(vendor string) (outcome.Result, time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.faults[vendor]
	ok, usual := outcome.Result{Outcome: outcome.OK}, 300*time.Millisecond
	if c == nil {
		return ok, usual
	}
	percent := 100.0
	if c.Percent != nil {
		percent = *c.Percent
	}
	if g.struck += percent; g.struck < 100 {
		return ok, usual
	}
	g.struck -= 100
	switch c.Kind {
	case "http_429":
		return outcome.Result{Outcome: outcome.RateLimited, Reason: "rate_limit"}, time.Millisecond
	case "slow_first_token":
		return ok, usual + time.Duration(c.Delay)
	case "cut_stream":
		return outcome.Result{Outcome: outcome.VendorFault, Reason: "cut"}, usual
	case "stall_stream":
		return outcome.Result{Outcome: outcome.VendorFault, Reason: "cut", Clock: outcome.IdleClock}, usual
	case "blackhole":
		return outcome.Result{Outcome: outcome.VendorFault, Reason: "connect_timeout", Connect: true}, 3 * time.Second
	}
	return outcome.Result{Outcome: outcome.VendorFault, Reason: "connection_refused", Connect: true}, time.Millisecond
}

// traffic is 40 requests a second, a quarter of them batch work.
func (g *rig) traffic(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for n := 0; ctx.Err() == nil; n++ {
		lane := control.Interactive
		if n%4 == 0 {
			lane = control.Batch
		}
		wg.Go(func() { g.request(lane, fmt.Sprint("req-", n)) })
		time.Sleep(25 * time.Millisecond)
	}
}

// onEngine runs f over an engine that has had traffic for a while.
func onEngine(t *testing.T, change func(*config.Config), f func(g *rig)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		cfg := config.Default()
		cfg.Vendors = []config.Vendor{
			{Name: "a", Label: "蓝耘", Role: "primary", BaseURL: "http://127.0.0.1:1/v1", Weight: 75, Band: []float64{70, 80}},
			{Name: "b", Label: "百炼", Role: "secondary", BaseURL: "http://127.0.0.1:2/v1", Weight: 25, Band: []float64{20, 30}},
		}
		cfg.Probe.Path = ""
		cfg.Console.Environment = "DEMO"
		if change != nil {
			change(cfg)
		}
		g := &rig{T: t, faults: map[string]*control.SetFault{}}
		g.hub = control.NewHub(control.Backend{Do: g.do, Ask: g.ask, Fill: g.fill}, nil)
		g.engine = engine.New(cfg, g.hub.Log)
		var err error
		g.machine, err = New(Options{Control: unwatched{g.hub}, Dir: dir, Config: cfg, Log: g.hub.Log})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		wg.Go(func() { _ = g.engine.Run(ctx) })
		wg.Go(func() { _ = g.machine.Run(ctx) })
		wg.Go(func() { g.traffic(ctx) })
		time.Sleep(70*time.Second + 7*time.Millisecond)
		f(g)
	})
}

func (g *rig) send(cmd control.Command) {
	g.Helper()
	if err := g.hub.Do(g.Context(), cmd); err != nil {
		g.Fatal(err)
	}
	synctest.Wait()
}

func (g *rig) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (g *rig) drill() *control.DrillState {
	g.Helper()
	s, err := control.Get[*control.Snapshot](g.Context(), g.hub, control.State{})
	if err != nil || s.Drill == nil {
		g.Fatalf("no drill is shown: %v", err)
	}
	return s.Drill
}

func TestEngine_KilledVendorIsCutOverRestoredAndBack(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.send(&control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: "kill", Vendor: "a"})
		g.pass(20 * time.Second)
		d := g.drill()
		if d.Verdict == nil || *d.Verdict != control.Passed || *d.CutoverS > 6 || *d.CutoverS < 0.1 || d.HurtS != 0 {
			t.Fatalf("drill %+v: %q, phases %+v, verify %+v", d, d.Reason, d.Phases, d.Verify)
		}
		if q := d.Requests; q.Failed != 0 || q.FailedOver == 0 || q.Total < 780 || q.Total > 800 || q.Attempts < q.Total {
			t.Errorf("requests %+v", q)
		}
		g.send(&control.ClearFault{Meta: control.Meta{By: "li"}, Vendor: "a"})
		g.pass(2 * time.Minute)
		d = g.drill()
		var names []string
		for _, p := range d.Phases {
			names = append(names, p.Name)
		}
		if got := fmt.Sprint(names); got != "[fault detected shifted verified restored failback done]" {
			t.Errorf("phases %s", got)
		}
		r, err := control.Get[*control.Report](t.Context(), g.hub, control.DrillByID{ID: d.ID})
		if err != nil || r.Latency["before"].Count < 1000 || *r.Latency["during"].P99ms < 290 || len(r.Series) < 80 {
			t.Errorf("report %+v, %v", r, err)
		}
	})
}

func TestEngine_SecondaryIsCutOverToo(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.send(&control.StartDrill{Scenario: "kill", Vendor: "b"})
		g.pass(25 * time.Second)
		if d := g.drill(); d.Verdict == nil || *d.Verdict != control.Passed || d.Requests.Failed != 0 {
			t.Fatalf("drill %+v: %q, phases %+v, verify %+v", d, d.Reason, d.Phases, d.Verify)
		}
	})
}

func TestEngine_PinnedWeightsFallByEjectionAndComeBackToThePin(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.send(&control.SetWeights{Weights: map[string]float64{"a": 50, "b": 50}, For: control.Duration(time.Hour)})
		g.send(&control.StartDrill{Scenario: "kill", Vendor: "a"})
		g.pass(20 * time.Second)
		if d := g.drill(); d.Verdict == nil || *d.Verdict != control.Passed {
			t.Fatalf("drill %+v: %q, phases %+v, verify %+v", d, d.Reason, d.Phases, d.Verify)
		}
		g.send(&control.ClearFault{Vendor: "a"})
		g.pass(100 * time.Second)
		if d := g.drill(); d.Phase != control.PhaseDone || d.Phases[len(d.Phases)-2].Name != control.PhaseFailback {
			t.Errorf("phases %+v", d.Phases)
		}
	})
}

func TestEngine_ManualFailoverWaitsForAPerson(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.engine.SetManual(time.Now().Add(30 * time.Minute))
		g.send(&control.StartDrill{Scenario: "kill", Vendor: "a"})
		g.pass(time.Minute)
		d := g.drill()
		if d.Verdict != nil || d.ClockS < 59.9 || d.ClockS > 60 {
			t.Fatalf("drill %+v: %q, phases %+v", d, d.Reason, d.Phases)
		}
		g.send(&control.Drain{Meta: control.Meta{By: "li"}, Vendor: "a"})
		g.pass(20 * time.Second)
		// The last attempt there may have begun a while before the drain.
		if d = g.drill(); d.CutoverS == nil || *d.CutoverS < 59 || *d.CutoverS > 61 || *d.Verdict != control.Passed {
			t.Errorf("drill %+v: %q, phases %+v, verify %+v", d, d.Reason, d.Phases, d.Verify)
		}
	})
}

func TestEngine_ObservingNothingShifts(t *testing.T) {
	onEngine(t, func(c *config.Config) { c.Routing.Mode = "observe" }, func(g *rig) {
		g.send(&control.StartDrill{Scenario: "kill", Vendor: "a"})
		g.pass(30 * time.Second)
		if d := g.drill(); d.CutoverS != nil || d.Phase != control.PhaseDetected || d.Requests.Failed != 0 {
			t.Errorf("drill %+v: %q, phases %+v, verify %+v", d, d.Reason, d.Phases, d.Verify)
		}
	})
}

func TestEngine_ExpiryEndsTheFault(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.send(&control.StartDrill{Scenario: "kill", Vendor: "a", For: control.Duration(20 * time.Second)})
		g.pass(20*time.Second + 2*pace)
		d := g.drill()
		if d.Phase != control.PhaseRestored || d.Until != nil || *d.Verdict != control.Passed {
			t.Errorf("drill %+v: %q, phases %+v", d, d.Reason, d.Phases)
		}
	})
}

func TestEngine_AbortRightAfterTheStart(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		if err := g.hub.Do(t.Context(), &control.StartDrill{Scenario: "kill", Vendor: "a"}); err != nil {
			t.Fatal(err)
		}
		g.send(&control.AbortDrill{Meta: control.Meta{By: "li"}})
		g.pass(pace)
		if d := g.drill(); *d.Verdict != control.Aborted || len(g.faults) != 0 {
			t.Errorf("drill %+v, faults %v", d, g.faults)
		}
	})
}

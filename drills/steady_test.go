package drills

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// begin starts a scenario of the world's primary, a.
func (s *stage) begin(c *control.StartDrill) string {
	s.Helper()
	c.By = "li"
	if _, err := s.m.Do(s.Context(), c); err != nil {
		s.Fatal(err)
	}
	synctest.Wait()
	return c.ID
}

func (s *stage) faulted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault != nil
}

func TestSteady_HoldsTheBaselineAndCountsDown(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		id := s.begin(&control.StartDrill{Scenario: "kill-primary", Countdown: control.Duration(5 * time.Second)})
		began := time.Now()
		s.pass(19900 * time.Millisecond)
		d := s.m.State()
		if s.faulted() || d.Phase != control.PhaseSteady || d.Armed == nil || d.Armed.Sub(began) != 20*time.Second || d.ClockS != 0 {
			t.Fatalf("after 19.9 s: fault %t, %+v", s.faulted(), d)
		}
		s.pass(200 * time.Millisecond)
		d = s.m.State()
		if !s.faulted() || d.Armed != nil || d.Baseline == nil || d.Baseline.Count < 740 || d.Phases[0].TS != -20 || d.Phases[1].TS != 0 {
			t.Fatalf("after 20.1 s: fault %t, %+v", s.faulted(), d)
		}
		s.pass(time.Minute)
		s.ends(control.Passed, "")
		r := s.record(id)
		if r.Series[0].TS != -20 || r.Series[0].Requests < 45 || len(r.Hypothesis) != 5 || r.FailbackS == nil || *r.FailbackS < 20 {
			t.Errorf("series from %+v, %+v, failback %v", r.Series[0], r.Hypothesis, r.FailbackS)
		}
		if s.faulted() {
			t.Error("the fault is still in")
		}
	})
}

func TestSteady_AbortedBeforeTheFaultInjectsNothing(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		id := s.begin(&control.StartDrill{Scenario: "kill-primary"})
		s.pass(7 * time.Second)
		if _, err := s.m.Do(s.Context(), &control.AbortDrill{Meta: control.Meta{By: "wang"}}); err != nil {
			t.Fatal(err)
		}
		s.pass(time.Second)
		s.ends(control.Aborted, "aborted by operator:wang, before the fault")
		if r := s.record(id); r.Ended == nil || faulted(r) || len(s.texts("fault")) != 0 {
			t.Errorf("record %+v, faults %q", r.Phases, s.texts("fault"))
		}
		s.pass(time.Minute)
		if s.faulted() {
			t.Error("a fault went in after the abort")
		}
	})
}

func TestSteady_RefusesWhatIsNotSoWithoutAFault(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *stage)
		reason string
	}{
		"clients are not served well": {func(s *stage) {
			s.rescue, s.fault = false, &control.SetFault{Vendor: "b", FaultSpec: control.FaultSpec{Kind: "refuse"}}
		}, "the baseline does not hold: clients' success has to be at least 0.999, it is 0.7"},
		"another vendor goes": {func(s *stage) { s.by("b").State = control.Ejected }, "b became ejected in the baseline"},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, nil, func(s *stage) {
				s.begin(&control.StartDrill{Scenario: "kill-primary"})
				s.pass(time.Second)
				s.set(func() { c.change(s) })
				s.pass(16 * time.Second)
				s.ends(control.Refused, c.reason)
				if n := len(s.texts("fault")); n != 0 {
					t.Errorf("%d faults", n)
				}
			})
		})
	}
}

func TestPreflight_RefusesWithReasons(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *world, o *Options)
		force  bool
		reason string // "": it is not refused
		warns  string // a warning that is given
	}{
		"all is well":                   {func(*world, *Options) {}, false, "", "their room"},
		"the other is degraded":         {func(w *world, _ *Options) { w.by("b").State = control.Degraded }, false, "the other vendors: wanted all healthy for 30s, got vendor b is degraded", ""},
		"the other is healthy for 10 s": {func(w *world, _ *Options) { w.by("b").StateSince = time.Now().Add(-5 * time.Second) }, false, "got vendor b for 10s", ""},
		"the other lacks room":          {func(w *world, _ *Options) { w.rate, w.room = 40, 47 }, false, "their room: wanted 48 requests/s, 1.2 times what comes now, got 47 requests/s", ""},
		"the other has room":            {func(w *world, _ *Options) { w.rate, w.room = 40, 48 }, false, "", ""},
		"the vendor is out already":     {func(w *world, _ *Options) { w.by("a").State = control.Drained }, false, "the vendor itself: wanted takes traffic, got drained", ""},
		"a blackout date":               {func(_ *world, o *Options) { o.Config.Drill.Blackout = []string{"2000-01-01"} }, false, "blackout dates: ... got today is in 2000-01-01", ""},
		"a blackout range":              {func(_ *world, o *Options) { o.Config.Drill.Blackout = []string{"1999-12-30..2000-01-02"} }, false, "today is in 1999-12-30..2000-01-02", ""},
		"a blackout, by force":          {func(_ *world, o *Options) { o.Config.Drill.Blackout = []string{"2000-01-01"} }, true, "", "blackout dates"},
		"another day's blackout":        {func(_ *world, o *Options) { o.Config.Drill.Blackout = []string{"2000-01-02"} }, false, "", ""},
		"the day's errors are used up": {func(w *world, o *Options) {
			o.Config.Vendors = []config.Vendor{{Name: "a", BaseURL: "https://maas.example/v1"}}
			w.sour = 11
		}, false, "error budget: wanted at most 10 failed requests...got 11 of ... outside drills since ...`baton drill run --force` overrides it", ""},
		"they are, and no vendor is real": {func(w *world, _ *Options) { w.sour = 11 }, false, "", "error budget"},
		"they are used up, but by force":  {func(w *world, _ *Options) { w.sour = 11 }, true, "", "error budget"},
		"a model only here": {func(_ *world, o *Options) {
			o.Config.Models = []config.Model{{Name: "x", At: map[string]string{"a": "x1"}}, {Name: "y"}}
		}, false, "", "models"},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, c.change, func(s *stage) {
				s.set(func() { s.totals.Failed += s.sour })
				_, a, err := s.m.Ask(control.PreflightOf{Scenario: "kill-primary"})
				if err != nil {
					t.Fatal(err)
				}
				p := a.(*control.Preflight)
				if (p.Refused == "") != (c.reason == "") && !c.force || p.Vendor != "a" || len(p.Plan) < 4 || !strings.Contains(p.Claim, "primary") {
					t.Errorf("the dry run: %+v", p)
				}
				s.begin(&control.StartDrill{Scenario: "kill-primary", Force: c.force})
				if c.reason != "" {
					s.ends(control.Refused, c.reason)
					if r := s.record(s.m.State().ID); r.Verdict != control.Refused || r.Ended == nil || len(r.Preflight) < 5 {
						t.Errorf("record %+v", r)
					}
					return
				}
				d := s.m.State()
				if d.Verdict != nil || d.Phase != control.PhaseSteady {
					t.Fatalf("%s: %s", d.Phase, d.Reason)
				}
				warned := c.warns == ""
				for _, x := range d.Preflight {
					warned = warned || x.Name == c.warns && x.Warn && !x.OK && (x.Name != "models" || x.Got == "only here: x (25 % of the requests of the last day)")
				}
				if !warned {
					t.Errorf("no warning about %s in %+v", c.warns, d.Preflight)
				}
			})
		})
	}
}

func TestPreflight_ASecondDrillOfADayWarnsAndIsRefusedWhereTheVendorIsReal(t *testing.T) {
	for _, real := range []bool{false, true} {
		rehearse(t, func(_ *world, o *Options) {
			if real {
				o.Config.Vendors = []config.Vendor{{Name: "a", BaseURL: "https://maas.example/v1"}}
			}
		}, func(s *stage) {
			first := s.begin(&control.StartDrill{Scenario: "kill-primary"})
			s.pass(2 * time.Minute)
			s.ends(control.Passed, "")
			s.begin(&control.StartDrill{Scenario: "kill-primary"})
			if !real {
				if d := s.m.State(); d.Verdict != nil || !strings.Contains(d.Preflight[len(d.Preflight)-1].Got, first) {
					t.Errorf("%+v", d.Preflight)
				}
				return
			}
			s.ends(control.Refused, "drills of it today: wanted none, got "+first+". `baton drill run --force`")
			s.begin(&control.StartDrill{Scenario: "kill-primary", Force: true})
			if d := s.m.State(); d.Verdict != nil {
				t.Errorf("by force: %s", d.Reason)
			}
		})
	}
}

func TestBudget_DoesNotCountWhatADrillCosts(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.rescue = false }, func(s *stage) {
		s.kill("a", 0)
		s.pass(15 * time.Second)
		s.restore("a")
		s.pass(25 * time.Second)
		_, failed, _ := s.m.watcher.today(s.snapshotTotals())
		if q := s.m.State().Requests; q.Failed < 50 || failed != 0 {
			t.Errorf("the drill cost %d, of which the day counts %d", q.Failed, failed)
		}
		s.set(func() { s.totals.Failed += 3 })
		s.pass(2 * time.Second)
		if _, failed, _ = s.m.watcher.today(s.snapshotTotals()); failed != 3 {
			t.Errorf("%d after it", failed)
		}
	})
}

func (s *stage) snapshotTotals() control.Totals {
	var now control.Totals
	s.set(func() { now = s.totals })
	return now
}

func TestStop_AnotherVendorThatIsEjectedEndsTheDrill(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) {
		w.vendors = append(w.vendors, &vendor{VendorTally: control.VendorTally{Name: "c", State: control.Healthy}})
	}, func(s *stage) {
		s.kill("a", 0)
		s.pass(time.Second)
		s.set(func() { s.by("b").State = control.Ejected })
		s.pass(2 * pace)
		s.ends(control.Aborted, "another vendor, b, is ejected")
	})
}

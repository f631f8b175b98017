package drills

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"baton/engine/control"
)

func (g *rig) snapshot() *control.Snapshot {
	g.Helper()
	s, err := control.Get[*control.Snapshot](g.Context(), g.hub, control.State{})
	if err != nil {
		g.Fatal(err)
	}
	return s
}

func (g *rig) events(kind string) []control.Event {
	g.Helper()
	all, err := control.Get[[]control.Event](g.Context(), g.hub, control.EventsAfter{})
	if err != nil {
		g.Fatal(err)
	}
	var out []control.Event
	for _, e := range all {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// fails breaks a vendor or mends it without anybody having ordered it.
func (g *rig) fails(vendor string, is bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if delete(g.faults, vendor); is {
		g.faults[vendor] = &control.SetFault{Vendor: vendor, FaultSpec: control.FaultSpec{Kind: "refuse"}}
	}
}

func (g *rig) report(id string) *control.Report {
	g.Helper()
	r, err := control.Get[*control.Report](g.Context(), g.hub, control.DrillByID{ID: id})
	if err != nil {
		g.Fatal(err)
	}
	return r
}

func TestHandsOn_ThePeoplesFirstActIsDetectedAndTheLeaseIsGivenBack(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Meta: control.Meta{By: "facilitator"}, Scenario: "hands-on"}
		g.send(c)
		g.pass(16 * time.Second)
		if s := g.snapshot(); s.Failover != "manual" || s.Drill.Phase != control.PhaseFault || len(s.Drill.Checklist) < 6 {
			t.Fatalf("failover %s, drill %+v", s.Failover, s.Drill)
		}
		g.send(&control.MarkDrill{Task: 2})
		g.pass(44 * time.Second)
		d := g.drill()
		if d.Verdict != nil || len(d.Phases) != 2 || !d.Checklist[1].Done || d.Checklist[3].Done || d.Requests.Failed != 0 {
			t.Fatalf("an alarm alone is no detection: %+v", d)
		}
		g.send(&control.SetWeights{Meta: control.Meta{By: "wang"}, Weights: map[string]float64{"a": 0, "b": 100}, Override: true})
		g.pass(13 * time.Second)
		d = g.drill()
		if d.Verdict == nil || *d.Verdict != control.Passed || *d.CutoverS < 44.9 || *d.CutoverS > 46 || !d.Checklist[3].Done || !d.Checklist[5].Done {
			t.Fatalf("verdict %+v: %s, cutover %v, %+v", d.Verdict, d.Reason, *d.CutoverS, d.Checklist)
		}
		g.pass(6 * time.Minute)
		r := g.report(c.ID)
		if s := g.snapshot(); s.Failover != "auto" || r.Ended == nil || r.Verdict != control.Passed || !strings.Contains(strings.Join(r.NotExercised, " "), "failover was manual") {
			t.Errorf("failover %s, ended %v, not exercised %q", s.Failover, r.Ended, r.NotExercised)
		}
	})
}

func TestKill_HasTheVendorsFirstTokensBeforeIt(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Scenario: "kill", Vendor: "a"}
		g.send(c)
		g.pass(20 * time.Second)
		r := g.report(c.ID)
		if a, all := r.Vendors["a"].Before.Count, r.Latency["before"].Count; a == 0 || all <= a {
			t.Errorf("%d first tokens at a before, %d of all clients", a, all)
		}
	})
}

func TestFaultText_SaysNothingWhereThereIsNoFault(t *testing.T) {
	for _, c := range []struct {
		r    control.Report
		want string
	}{
		{control.Report{Fault: control.FaultSpec{Kind: kindShow}}, "-"},
		{control.Report{Reason: underSeal}, "sealed"},
		{control.Report{Fault: control.FaultSpec{Kind: "refuse", For: control.Duration(time.Minute)}}, "refuse, for at most 1m"},
	} {
		if got := faultText(&c.r); got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}

func TestMark_OfWhatNobodyWaitsForIsRefused(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		if err := g.hub.Do(t.Context(), &control.MarkDrill{}); kindOf(err) != control.Conflict {
			t.Errorf("without a drill: %v", err)
		}
		g.send(&control.StartDrill{Scenario: "kill", Vendor: "a"})
		if err := g.hub.Do(t.Context(), &control.MarkDrill{}); kindOf(err) != control.Conflict {
			t.Errorf("of a kill: %v", err)
		}
		if err := g.hub.Do(t.Context(), &control.MarkDrill{Task: 1}); kindOf(err) != control.Invalid {
			t.Errorf("of a line that is not there: %v", err)
		}
	})
}

func TestExternal_TheClockRunsFromTheKeypressAndTheFirstBadAttemptIsStamped(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Scenario: "external"}
		g.send(c)
		g.pass(20 * time.Second)
		if d := g.drill(); d.Waits == "" || d.Phase != control.PhaseSteady || d.ClockS != 0 {
			t.Fatalf("%+v", d)
		}
		g.send(&control.MarkDrill{Meta: control.Meta{By: "li"}})
		pressed := time.Now()
		g.pass(2 * time.Second)
		g.fails("a", true) // the firewall takes its time
		g.pass(18 * time.Second)
		d := g.drill()
		affected := -1.0
		for _, p := range d.Phases {
			if p.Name == momentAffected {
				affected = p.TS
			}
		}
		if d.CutoverS == nil || *d.CutoverS < 3 || *d.CutoverS > 6 || affected < 2 || affected > 2.2 || !d.Phases[1].Time.Equal(pressed) || d.Waits == "" {
			t.Fatalf("cutover %v, affected at %g, phases %+v: %s", d.CutoverS, affected, d.Phases, d.Reason)
		}
		if len(g.events("fault")) != 0 || g.snapshot().Incident != nil {
			t.Error("a fault was injected, or an incident opened")
		}
		g.fails("a", false)
		g.send(&control.MarkDrill{Meta: control.Meta{By: "li"}})
		g.pass(3 * time.Second)
		if d := g.drill(); d.Phase != control.PhaseRestored {
			t.Errorf("in %s", d.Phase)
		}
		g.send(&control.MarkDrill{Meta: control.Meta{By: "wang"}}) // who says it again is right
		for _, task := range g.drill().Checklist {
			if ansi.StringWidth(task.Text) >= 70 {
				t.Errorf("too long for a screen: %q", task.Text)
			}
		}
		g.pass(3 * time.Minute)
		r := g.report(c.ID)
		if r.Verdict != control.Passed || r.Ended == nil || r.Failback != control.Passed || r.Extra["affected_s"] != affected || !strings.HasPrefix(r.Exercised[0], "the vendor's own endpoint") {
			t.Errorf("%s %s, failback %q, %v, %q", r.Verdict, r.Reason, r.Failback, r.Extra, r.Exercised)
		}
	})
}

func TestExternal_ALineThatSwallowsIsStampedWhereItBeganToThoughTheKeyCameLater(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Scenario: "external"}
		g.send(c)
		g.pass(20 * time.Second)
		g.mu.Lock()
		g.faults["a"] = &control.SetFault{Vendor: "a", FaultSpec: control.FaultSpec{Kind: "blackhole"}} // known to be bad after 3 s
		g.mu.Unlock()
		g.pass(time.Second)
		g.send(&control.MarkDrill{Meta: control.Meta{By: "li"}})
		g.pass(25 * time.Second)
		r := g.report(c.ID)
		affected, has := r.Extra["affected_s"]
		if r.CutoverS == nil || !has || affected > -0.9 || affected < -1.1 {
			t.Fatalf("cutover %v, affected %v (%t), phases %+v: %s", r.CutoverS, affected, has, r.Phases, r.Reason)
		}
		if from := r.Extra["cutover_from_affected_s"]; from < *r.CutoverS+0.9 {
			t.Errorf("cutover %g from the key, %g from the first bad attempt, which was %g s before", *r.CutoverS, from, -affected)
		}
	})
}

func TestExternal_ACutThatNobodyAnnouncedBeginsTheClock(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.send(&control.StartDrill{Scenario: "external"})
		g.pass(20 * time.Second)
		g.fails("a", true)
		cut := time.Now()
		g.pass(16 * time.Second)
		d := g.drill()
		if d.CutoverS == nil || *d.CutoverS > 6 || d.Phases[1].Time.Sub(cut) > 200*time.Millisecond || d.Phases[1].Time.Before(cut) {
			t.Errorf("cut at %v: %+v: %s", cut, d.Phases, d.Reason)
		}
	})
}

func TestExternal_StreamsCutWithTheLineAreCountedAndNotHeldAgainstIt(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Scenario: "external"}
		g.send(c)
		g.pass(20 * time.Second)
		g.mu.Lock()
		g.faults["a"] = &control.SetFault{Vendor: "a", FaultSpec: control.FaultSpec{Kind: "cut_stream"}}
		g.mu.Unlock()
		g.pass(600 * time.Millisecond) // whoever has got a first token in this time loses the rest
		g.mu.Lock()
		delete(g.faults, "a")
		g.mu.Unlock()
		g.fails("a", true)
		g.send(&control.MarkDrill{Meta: control.Meta{By: "li"}})
		g.pass(20 * time.Second)
		r := g.report(c.ID)
		if q := r.Requests; r.Verdict != control.Passed || q.CutStreams < 3 || q.Failed != q.CutStreams {
			t.Fatalf("%s: %s, %+v", r.Verdict, r.Reason, q)
		}
		said := false
		for _, b := range r.Hypothesis {
			said = said || strings.Contains(b.Name, "streams that were cut under way") && b.OK && strings.Contains(b.Got, "0 of ")
		}
		if !said {
			t.Errorf("asked and got: %+v", r.Hypothesis)
		}
	})
}

func TestExternal_StreamsThatStallAreCountedThoughTheyBreakAfterItWasPutBack(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Scenario: "external"}
		g.send(c)
		g.pass(20 * time.Second)
		g.mu.Lock()
		g.faults["a"] = &control.SetFault{Vendor: "a", FaultSpec: control.FaultSpec{Kind: "stall_stream"}}
		g.mu.Unlock()
		g.pass(600 * time.Millisecond) // whoever has got a first token in this time waits for the idle clock
		g.mu.Lock()
		delete(g.faults, "a")
		g.mu.Unlock()
		g.fails("a", true)
		g.send(&control.MarkDrill{Meta: control.Meta{By: "li"}})
		g.pass(18 * time.Second)
		before := g.report(c.ID).Requests
		g.fails("a", false)
		g.send(&control.MarkDrill{Meta: control.Meta{By: "li"}})
		g.pass(2 * time.Minute)
		r := g.report(c.ID)
		if q := r.Requests; r.Verdict != control.Passed || before.CutStreams != 0 || q.CutStreams < 3 || q.Failed != q.CutStreams || len(q.Lost) != int(q.CutStreams) || q.OK+q.Failed != q.Total {
			t.Fatalf("%s: %s, when it was put back %+v, at the end %+v", r.Verdict, r.Reason, before, q)
		}
	})
}

func TestExternal_NobodyCutsIsAborted(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		r := g.run(&control.StartDrill{Scenario: "external", For: control.Duration(time.Minute)}, 2*time.Minute)
		if r.Verdict != control.Aborted || !strings.Contains(r.Reason, "nobody cut 蓝耘 within 1m") {
			t.Errorf("%s: %s", r.Verdict, r.Reason)
		}
	})
}

func TestBlind_TellsNothingUntilItIsOver(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		c := &control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: "blind"}
		g.send(c)
		var at time.Duration
		for ; at < 11*time.Minute; at += time.Second {
			g.pass(time.Second)
			d := g.drill()
			_, noticed := g.machine.drill().reached(control.PhaseDetected)
			if !d.Sealed {
				break
			}
			if d.Vendor != "" || d.Fault.Kind != "" || d.Armed != nil || !noticed && (d.Phase != control.PhaseSteady || d.ClockS != 0 || d.Requests.Total != 0) {
				t.Fatalf("it shows %+v", d)
			}
			if r := g.report(c.ID); r.Vendor != "" || r.Fault.Kind != "" {
				t.Fatalf("its record shows %+v", r)
			}
		}
		g.pass(3 * time.Minute)
		r := g.report(c.ID)
		if r.Verdict != control.Passed || r.Vendor == "" || r.Fault.Kind == "random" || r.Fault.Kind == "" {
			t.Errorf("%s of %s by %s: %s", r.Verdict, r.Vendor, r.Fault.Kind, r.Reason)
		}
		if m := g.machine; m.Sealed("a") || m.Sealed("b") {
			t.Error("it is still sealed")
		}
	})
}

func TestIncident_AnOutageThatNobodyOrderedIsADrill(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.fails("a", true)
		began := time.Now()
		g.pass(20 * time.Second)
		i := g.snapshot().Incident
		if i == nil || !i.Incident || i.Vendor != "a" || i.CutoverS == nil || *i.CutoverS > 6 || i.Phases[0].Time.Sub(began) > 300*time.Millisecond || i.Phases[0].Time.Before(began) {
			t.Fatalf("began at %v: %+v", began, i)
		}
		if g.snapshot().Drill != nil {
			t.Error("it is shown as a drill")
		}
		if err := g.hub.Do(t.Context(), &control.DismissIncident{}); kindOf(err) != control.Conflict {
			t.Errorf("dismissed before it was over: %v", err)
		}
		// It comes back, and goes again before a minute of calm: one outage.
		g.fails("a", false)
		g.pass(80 * time.Second)
		g.fails("a", true)
		g.pass(20 * time.Second)
		g.fails("a", false)
		g.pass(6 * time.Minute)
		i = g.snapshot().Incident
		r := g.report(i.ID)
		if r.Ended == nil || r.Verdict != control.Passed || !r.Incident || r.Failback != control.Passed || r.Extra["ejections"] != 2 || r.Scenario != "incident" {
			t.Fatalf("%s: %s, ended %v, failback %q, %v, %+v", r.Verdict, r.Reason, r.Ended, r.Failback, r.Extra, r.Phases)
		}
		all, err := control.Get[[]control.Report](t.Context(), g.hub, control.Drills{})
		if err != nil || len(all) != 1 {
			t.Errorf("%d records, %v", len(all), err)
		}
		g.send(&control.DismissIncident{})
		if g.snapshot().Incident != nil {
			t.Error("it is still shown")
		}
	})
}

func TestIncident_WhatADrillOrAPersonOrderedIsNone(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.run(&control.StartDrill{Scenario: "kill-primary"}, 4*time.Minute)
		g.send(&control.SetFault{Meta: control.Meta{By: "li"}, Vendor: "a", FaultSpec: control.FaultSpec{Kind: "refuse", For: control.Duration(time.Minute)}})
		g.pass(30 * time.Second)
		if g.snapshot().Vendor("a").State != control.Ejected {
			t.Error("the fault was not noticed")
		}
		g.send(&control.ClearFault{Vendor: "a"})
		g.pass(30 * time.Second)
		if i := g.snapshot().Incident; i != nil {
			t.Errorf("an incident: %+v", i)
		}
	})
}

func TestIncident_IsClosedByTheDrillThatBeginsAtItsVendor(t *testing.T) {
	for name, back := range map[string]bool{"before it is calm": true, "while it is out": false} {
		t.Run(name, func(t *testing.T) {
			onEngine(t, nil, func(g *rig) {
				g.fails("a", true)
				g.pass(20 * time.Second)
				if back {
					g.fails("a", false)
					g.pass(50 * time.Second)
				}
				id := g.snapshot().Incident.ID
				p, err := control.Get[*control.Preflight](t.Context(), g.hub, control.PreflightOf{Scenario: "kill-primary"})
				if err != nil || !slices.ContainsFunc(p.Checks, func(c control.Check) bool { return c.Name == "incidents" && c.Warn && strings.Contains(c.Got, id) }) {
					t.Errorf("no warning of %s in %+v, %v", id, p, err)
				}
				before := time.Now()
				g.send(&control.StartDrill{Scenario: "kill", Vendor: "a"})
				g.pass(time.Second)
				r := g.report(id)
				if r.Ended == nil || r.Verdict != control.Passed || len(g.machine.incidents) != 1 {
					t.Fatalf("ended %v, %s: %s", r.Ended, r.Verdict, r.Reason)
				}
				restored := time.Time{}
				for _, m := range r.Phases {
					if m.Name == control.PhaseRestored {
						restored = m.Time
					}
				}
				if back == restored.IsZero() || restored.After(before) {
					t.Errorf("restored at %v, the drill began at %v", restored, before)
				}
				g.pass(time.Minute)
				if again := g.report(id); !again.Ended.Equal(*r.Ended) || len(g.machine.incidents) != 1 {
					t.Error("it went on, or another one was opened")
				}
			})
		})
	}
}

func TestIncident_ThatIsOpenAtTheEndIsClosed(t *testing.T) {
	onEngine(t, nil, func(g *rig) {
		g.fails("a", true)
		g.pass(20 * time.Second)
		id := g.snapshot().Incident.ID
		r := g.machine.incidents[0]
		r.stop("baton stopped", true)
		g.pass(time.Second)
		if rep := g.report(id); rep.Ended == nil || rep.Verdict != control.Passed {
			t.Errorf("%+v", rep)
		}
	})
}

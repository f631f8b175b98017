package draw

import (
	"strings"
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

func TestDrill_WithoutAVendorSaysWhatHappensAndOffersNoRestore(t *testing.T) {
	k := look(false, theme.Plain)
	until := time.Now().Add(time.Minute)
	d := &Drill{
		D: &control.DrillState{
			Scenario: "spike-400x", Fault: control.FaultSpec{Kind: "spike"}, Phase: control.PhaseFault, Phases: []control.Moment{{Name: control.PhaseFault}}, TargetS: 80, ClockS: 12,
			Until: &until, Caption: "spike: 1795 requests/s, 812 admitted, 983 limited", Steps: []control.StepState{{Text: "1800 requests/s, from 4.5", Done: true}},
		},
		Seconds: 12, Now: time.Now(), Act: true,
	}
	screen := ansi.Strip(strings.Join(d.Screen(120, 30, k), "\n"))
	for _, want := range []string{"spike: 1795 requests/s, 812 admitted, 983 limited", "1800 requests/s, from 4.5", k.Aborts} {
		if !strings.Contains(screen, want) {
			t.Errorf("it does not show %q:\n%s", want, screen)
		}
	}
	if strings.Contains(screen, k.Restores) {
		t.Errorf("it offers to restore nobody:\n%s", screen)
	}
}

func TestShow_HasItsActsInPlaceOfPhases(t *testing.T) {
	verdict := control.Passed
	for _, over := range []bool{false, true} {
		s := &control.DrillState{
			Scenario: "story", Fault: control.FaultSpec{Kind: "show"}, Phases: []control.Moment{{Name: control.PhaseSteady}}, TargetS: 308, ClockS: 70, Record: "/tmp/drills/x.md",
			Caption: "ACT 2 of 6: The same GPU, quantized. 4-bit weights leave room for every request. whole answer P50 15.02s P90 15.80s P99 16.10s, errors 0.0 %, n=900 Load: 26 requests/s",
			Steps: []control.StepState{
				{Text: "this machine is measured", Done: true}, {AtS: 7, Text: "1 One GPU behind a plain server, at ten times its traffic: whole answer P50 2.72s; 500 users", Done: true}, {AtS: 69, Text: "2 The same GPU, quantized", Done: over},
			},
		}
		if over {
			s.Verdict = &verdict
		}
		k := look(false, theme.Plain)
		d := &Drill{D: s, Seconds: 70, Now: time.Now(), Act: true, Shares: []Share{{Label: "蓝耘"}}}
		for _, size := range [][2]int{{120, 36}, {80, 24}, {60, 20}} {
			for name, lines := range map[string][]string{"screen": d.Screen(size[0], size[1], k), "presenter": d.Presenter(size[0], size[1], k)} {
				text := ansi.Strip(strings.Join(lines, "\n"))
				for _, no := range []string{k.phase(control.PhaseSteady), k.phase(control.PhaseDetected), k.Restores, "show", "蓝耘"} {
					if strings.Contains(text, no) {
						t.Errorf("%s %v (over: %v) shows %q:\n%s", name, size, over, no, text)
					}
				}
				if !over && !strings.Contains(text, "ACT 2 of 6") {
					t.Errorf("%s %v does not say what happens now:\n%s", name, size, text)
				}
				if len(lines) != size[1] {
					t.Errorf("%s %v has %d rows", name, size, len(lines))
				}
				for _, l := range lines {
					if Width(ansi.Strip(l)) > size[0] {
						t.Errorf("%s %v: a row is too wide: %q", name, size, l)
					}
				}
			}
			if text := ansi.Strip(strings.Join(d.Screen(size[0], size[1], k), "\n")); !strings.Contains(text, "P50 2.72s") {
				t.Errorf("%v: the figures of an act are not there:\n%s", size, text)
			}
		}
	}
}

// While a show plays its clock runs against its length, and from the fault of the
// drill in it against that one's target; when it stands, against the target too.
func TestShow_SaysWhatItsClockRunsAgainst(t *testing.T) {
	passed := control.Passed
	fault := control.Moment{Name: control.PhaseFault}
	for name, c := range map[string]struct {
		d    control.DrillState
		want [2]string
	}{
		"before the kill": {control.DrillState{TargetS: 308, ClockS: 70}, [2]string{"of about 5:08 · 3:58 left", "共约 5:08 · 3:58 剩余"}},
		"in the kill":     {control.DrillState{TargetS: 420, ClockS: 2, Phases: []control.Moment{fault}}, [2]string{"target 7:00 · 6:58 left", "目标 7:00 · 6:58 剩余"}},
		"over":            {control.DrillState{TargetS: 420, ClockS: 2.6, CutoverS: control.Figure(2.6), Phases: []control.Moment{fault}, Verdict: &passed}, [2]string{"target 7:00", "目标 7:00"}},
	} {
		c.d.Scenario, c.d.Fault.Kind = "story", "show"
		c.d.Steps = []control.StepState{{Text: "this machine is measured", Done: true}, {AtS: 7, Text: "1 One GPU behind a plain server, at ten times its traffic"}}
		if c.d.Verdict == nil {
			c.d.Caption = "ACT 1 of 6: One GPU behind a plain server, at ten times its traffic. Load: 26 requests/s, independent arrivals (Poisson)"
		}
		for i, zh := range []bool{false, true} {
			k := look(false, theme.Plain)
			if zh {
				k.Words = &chinese
			}
			d := &Drill{D: &c.d, Seconds: c.d.ClockS, Now: time.Now(), Act: true}
			for _, size := range [][2]int{{120, 7}, {80, 5}} {
				if text := ansi.Strip(strings.Join(d.Lines(size[0], size[1], k), "\n")); !strings.Contains(text, c.want[i]) {
					t.Errorf("%s, %v: it does not say %q:\n%s", name, size, c.want[i], text)
				}
			}
		}
	}
}

package draw

import (
	"strings"
	"testing"

	"baton/engine/control"
	"baton/tui/theme"
)

func TestJudge_NamesTheFigureOfItsOwn(t *testing.T) {
	passed := control.Passed
	moments := []control.Moment{{Name: control.PhaseFault}, {Name: control.PhaseRestored, TS: 20}, {Name: control.PhaseVerified, TS: 32}}
	for _, x := range []struct {
		name string
		d    control.DrillState
		want string
	}{
		{"contained runs", control.DrillState{Judge: contained, Vendor: "a", ClockS: 3, Phases: moments[:1]}, "contained from the fault until clients are unhurt and a gets less"},
		{"contained", control.DrillState{Judge: contained, Vendor: "a", ClockS: 5.481, Phases: moments, Verdict: &passed}, "contained 0:05.5 \u2714 PASSED"},
		{"contained, nothing proven", control.DrillState{Judge: contained, Vendor: "a", Phases: moments[:1], Verdict: &passed}, "\u2714 PASSED"},
		{"recovered", control.DrillState{Judge: recovered, Vendor: "a", ClockS: 27.26, Phases: moments, Verdict: &passed}, "served well again 0:07.3 \u2714 PASSED"},
		{"cutover", control.DrillState{Judge: "cutover", Vendor: "a", CutoverS: control.Figure(2.76), Phases: moments, Verdict: &passed, TargetS: 60}, "cutover 0:02.8 \u2714 PASSED"},
	} {
		k := Look{Theme: theme.New("mono", false, theme.Plain), Words: &english}
		d := Drill{D: &x.d, Label: "a", Seconds: x.d.ClockS}
		line, _ := d.headline(100, k)
		if got := strings.TrimSpace(line); !strings.HasPrefix(got, x.want) {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
	r := control.Report{Judge: contained, Extra: map[string]float64{"contained_s": 5.481}}
	if v := resultOf(&r); v == nil || *v != 5.481 {
		t.Errorf("a record's figure: %v", v)
	}
}

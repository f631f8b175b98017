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

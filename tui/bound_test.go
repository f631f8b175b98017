package tui

import (
	"strings"
	"testing"

	"baton/engine/control"
)

func TestTarget_IsTheScenariosOwnBoundWhereThatIsStricter(t *testing.T) {
	all := []control.Scenario{{Name: "kill"}, {Name: "kill-primary", BoundS: 60}, {Name: "slow", BoundS: 600}}
	c := newConsole(made(2), Options{Embedded: true})
	c.drills.scenarios.value = all
	plan := &control.Preflight{Scenario: "planned", BoundS: 90}
	for name, want := range map[string]float64{"kill": 420, "kill-primary": 60, "slow": 420, "planned": 90, "unheard-of": 420} {
		if got := c.targetS(name, plan, 420); got != want {
			t.Errorf("%s: the clock runs against %v s, want %v", name, got, want)
		}
	}
	s := killed(2, 6)
	s.Drill.Scenario, s.Drill.BoundS = "kill-primary", 60
	c.take(s, noon)
	if d := c.drillView().D; d.TargetS != 60 || s.Drill.TargetS != 420 {
		t.Errorf("the bar runs against %v s; the snapshot says %v", d.TargetS, s.Drill.TargetS)
	}
	c = newConsole(made(2), Options{Embedded: true})
	c.drills.scenarios.value = all
	c.arm(&control.StartDrill{Scenario: "kill-primary", Vendor: "lanyun", Fault: "refuse"})
	if c.question == nil || !strings.Contains(strings.Join(c.question.Text, " "), "against 1:00") {
		t.Errorf("the question does not tell the bound: %+v", c.question)
	}
}

package cli

import (
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func TestStatus_TellsAnOutageThatNobodyOrdered(t *testing.T) {
	s := &control.Snapshot{Time: time.Now(), Environment: "DEMO", Control: "auto", Vendors: []control.Vendor{{Name: "lanyun", State: control.Ejected}}}
	s.Incident = &control.DrillState{ID: "20261201-120000-incident", Vendor: "lanyun", Incident: true, Phase: "detected", ClockS: 2.5, TargetS: 420}
	s.Drill = &control.DrillState{ID: "20261201-115000-kill", Scenario: "kill", Vendor: "bailian", Phase: "steady", TargetS: 420}
	var b strings.Builder
	if err := writeStatus(&b, s); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{b.String(), statusLine(s)} {
		if !strings.Contains(text, "INCIDENT 20261201-120000-incident lanyun, nobody ordered it: detected") || !strings.Contains(text, "drill 20261201-115000-kill kill bailian: steady") {
			t.Errorf("incident and drill are not both told:\n%s", text)
		}
	}
}

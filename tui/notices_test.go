package tui

import (
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func TestBanner_TellsWhatEndsFirstAndWhatPExtends(t *testing.T) {
	made := func(pin, manual time.Duration) *control.Snapshot {
		s := made(2)
		s.Failover = "manual"
		p, f := noon.Add(pin), noon.Add(manual)
		s.FailoverUntil = &f
		s.Pin = &control.Pin{Weights: map[string]float64{"lanyun": 60, "bailian": 40}, Until: p}
		s.Overrides = []control.Override{
			{Kind: "manual", Until: &f, Extend: "baton failover manual --for 30m", Ending: manual < 2*time.Minute},
			{Kind: "pin", Until: &p, Extend: "baton weights lanyun=60 bailian=40 --for 15m", Ending: pin < 2*time.Minute},
		}
		s.Alerts = []string{"failover is manual"}
		return s
	}
	for _, x := range []struct {
		name        string
		pin, manual time.Duration
		want, not   string
	}{
		{"the pin ends soon", 119 * time.Second, 17 * time.Minute, "the pin ends in 1:59", "FAILOVER"},
		{"the pin ends first", 10 * time.Minute, 17 * time.Minute, "move nothing (p extends the pin, which ends first)", "p extends it"},
		{"the lease ends first", 20 * time.Minute, 17 * time.Minute, "move nothing (p extends it)", "the pin"},
		{"both end soon, the lease first", 119 * time.Second, time.Minute, "FAILOVER MANUAL for 1:00", "the pin ends"},
	} {
		c := newConsole(made(x.pin, x.manual), Options{Embedded: true})
		if got, _ := c.banner(); !strings.Contains(got, x.want) || strings.Contains(got, x.not) {
			t.Errorf("%s: %q", x.name, got)
		}
	}
	s := made(119*time.Second, 17*time.Minute)
	s.Alerts = append(s.Alerts, "蓝耘 is ejected: it refuses")
	c := newConsole(s, Options{Embedded: true})
	if got, _ := c.banner(); !strings.HasPrefix(got, "蓝耘") || !strings.Contains(got, "the pin ends in 1:59") || !strings.HasSuffix(got, "(+1)") {
		t.Errorf("beside an alarm: %q", got)
	}
}

package tui

import (
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

func TestWelcome_IsForTheFirstStartAndOverNothing(t *testing.T) {
	begun := func() *control.Snapshot {
		s := made(2)
		s.UptimeS = 3
		return s
	}
	started := []control.Event{{Seq: 1, Time: noon.Add(-3 * time.Second), Level: control.Info, Kind: "config", Text: "serving"}}
	with := func(f func(s *control.Snapshot)) *control.Snapshot {
		s := begun()
		f(s)
		return s
	}
	for _, x := range []struct {
		name     string
		snap     *control.Snapshot
		events   []control.Event
		embedded bool
		want     bool
	}{
		{"a first start", begun(), started, true, true},
		{"before any event", begun(), nil, true, true},
		{"a later start", begun(), append(journal(), started...), true, false},
		{"attached", begun(), started, false, false},
		{"vendors that are real", with(func(s *control.Snapshot) { s.Simulated = false }), started, true, false},
		{"an alarm", with(func(s *control.Snapshot) { s.Alerts = []string{"no vendor may take traffic"} }), started, true, false},
		{"a drill", with(func(s *control.Snapshot) { s.Drill = killed(2, 6).Drill }), started, true, false},
		{"an incident", with(func(s *control.Snapshot) { s.Incident = incident().Incident }), started, true, false},
	} {
		m := newModel(Options{Control: newFake(x.snap), Lang: "en", Embedded: x.embedded}, func() time.Time { return noon }, theme.Plain)
		m.addEvents(x.events)
		m.take(x.snap, noon)
		if got := m.shape().Top == TopWelcome; got != x.want {
			t.Errorf("%s: the first screen is shown: %v, want %v", x.name, got, x.want)
		}
	}
}

package tui

import (
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// player is a recording under test.
type player struct {
	*fake
	pos control.Position
}

func (p *player) Play(speed float64)         { p.pos.Speed = speed }
func (p *player) Seek(to time.Duration)      { p.pos.At = to }
func (p *player) Position() control.Position { return p.pos }

func replayed(s *control.Snapshot) (*console, *player) {
	p := &player{newFake(s), control.Position{Name: "20261201-120000-4f2a", At: 83 * time.Second, Length: 400 * time.Second, Speed: 2}}
	c := newConsole(s, Options{})
	c.o.Control, c.player, c.readOnly = p, p, true
	return c, p
}

func TestReplay_SaysWhereItStandsAndIsMovedByItsKeys(t *testing.T) {
	c, p := replayed(killed(2, 6.4))
	v := c.View()
	for _, want := range []string{"REPLAY", "20261201-120000-4f2a", "1:23/6:40 2x", "Space pause", "[ ] 10 s"} {
		if !strings.Contains(v, want) {
			t.Errorf("the screen does not say %q\n%s", want, v)
		}
	}
	c.resize(80, 24)
	if v := c.View(); !strings.Contains(v, "REPLAY 1:23/6:40 2x") {
		t.Errorf("80x24 does not say where the recording stands\n%s", v)
	}
	for _, x := range []struct {
		key  string
		want control.Position
	}{
		{"+", control.Position{At: 83 * time.Second, Speed: 5}},
		{"+", control.Position{At: 83 * time.Second, Speed: 10}},
		{"-", control.Position{At: 83 * time.Second, Speed: 5}},
		{" ", control.Position{At: 83 * time.Second}},
		{" ", control.Position{At: 83 * time.Second, Speed: 1}},
		{"-", control.Position{At: 83 * time.Second, Speed: 1}},
		{"]", control.Position{At: 93 * time.Second, Speed: 1}},
		{"[", control.Position{At: 83 * time.Second, Speed: 1}},
	} {
		c.press(x.key)
		if p.pos.At != x.want.At || p.pos.Speed != x.want.Speed {
			t.Errorf("after %q it stands at %v, %gx, want %v, %gx", x.key, p.pos.At, p.pos.Speed, x.want.At, x.want.Speed)
		}
	}
	p.pos.At = 5 * time.Second
	if c.press("["); p.pos.At != 0 {
		t.Errorf("before the beginning: %v", p.pos.At)
	}
	p.pos.At = 399 * time.Second
	if c.press("]"); p.pos.At != 400*time.Second {
		t.Errorf("after the end: %v", p.pos.At)
	}
}

func TestReplay_NeverSendsAnything(t *testing.T) {
	s := planned()
	s.Drill = ended().Drill
	s.Incident = incident().Incident
	c, p := replayed(s)
	c.press("W", "right", "left", "u", "a", "K", "y", "D", "y", "R", "A", "p", "x", "e", "=", "4", "0", "enter", "d", "enter", "y", " ", "esc", "esc", "o", "enter", "p", "esc", ":", "drain lanyun", "enter", "y", "esc", "esc", "esc")
	if len(p.did) > 0 {
		t.Errorf("a replay sent %q", p.did[0].Line())
	}
}

func TestReplay_TheClockIsTheRecordings(t *testing.T) {
	c, _ := replayed(killed(2, 6.4))
	c.now = noon.Add(time.Minute)
	c.Update(frameMsg(c.now))
	if got := c.seconds(); got != 6.4 {
		t.Errorf("a minute later on the wall the drill's clock shows %v", got)
	}
	if got := c.journal(); len(got) != 3 {
		t.Errorf("%d events are shown", len(got))
	}
	s := killed(2, 6.4)
	s.Time = noon.Add(-45 * time.Second)
	c.take(s, c.now)
	if got := c.journal(); len(got) != 1 {
		t.Errorf("after a step back %d events are shown, want those until then", len(got))
	}
}

package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// speeds are what + and - step through in a replay.
var speeds = [...]float64{1, 2, 5, 10, 20}

const seekStep = 10 * time.Second

// playerKey is a key of a replay; ok is false where it is none, or there is no
// recording.
func (m *Model) playerKey(k tea.KeyMsg) (cmd tea.Cmd, ok bool) {
	p := m.player
	if p == nil {
		return nil, false
	}
	pos := p.Position()
	act := func(f func()) (tea.Cmd, bool) {
		return func() tea.Msg { // a player may read its file
			f()
			return nil
		}, true
	}
	switch k.String() {
	case " ":
		speed := 0.0
		if pos.Speed == 0 {
			speed = 1
		}
		return act(func() { p.Play(speed) })
	case "+", "=":
		return act(func() { p.Play(faster(pos.Speed, 1)) })
	case "-", "_":
		return act(func() { p.Play(faster(pos.Speed, -1)) })
	case "[":
		return act(func() { p.Seek(max(0, pos.At-seekStep)) })
	case "]":
		return act(func() { p.Seek(min(pos.Length, pos.At+seekStep)) })
	}
	return nil, false
}

// faster is the next speed above (1) or below (-1).
func faster(now float64, by int) float64 {
	if by > 0 {
		for _, s := range speeds {
			if s > now {
				return s
			}
		}
		return speeds[len(speeds)-1]
	}
	for i := len(speeds) - 1; i >= 0; i-- {
		if speeds[i] < now {
			return speeds[i]
		}
	}
	return speeds[0]
}

// moment is now, by the recording's time in a replay.
func (m *Model) moment() time.Time {
	if m.player != nil && m.shown != nil {
		return m.shown.Time
	}
	return m.now
}

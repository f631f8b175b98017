package tui

import (
	"time"

	"baton/engine/control"
)

// timer shows the drill's clock between snapshots. The engine measures; here it
// is only continued: from the earliest start that any snapshot gives, so that
// it never runs backwards, and to the figure that the engine stopped it at.
type timer struct {
	id    string
	begun bool
	still bool // stopped, or never started
	fixed float64
	start time.Time // where 0 was on this machine's clock
}

// see takes the drill of a snapshot that came at that time.
func (t *timer) see(s *control.Snapshot, at time.Time) {
	d := s.Drill
	if d == nil {
		*t = timer{}
		return
	}
	if d.ID != t.id {
		*t = timer{id: d.ID}
	}
	switch {
	case d.CutoverS != nil:
		t.still, t.fixed = true, *d.CutoverS
		return
	case d.Verdict != nil:
		t.still, t.fixed = true, d.ClockS
		return
	}
	t.still = false
	if !injected(d) {
		t.begun = false
		return
	}
	start := at.Add(-time.Duration(d.ClockS * float64(time.Second)))
	const jump = 2 * time.Second // the engine's clock was set, or it is another one
	if !t.begun || start.Before(t.start) || start.Sub(t.start) > jump {
		t.start, t.begun = start, true
	}
}

// injected says whether the drill's fault is in: its clock runs from there.
func injected(d *control.DrillState) bool {
	for i := range d.Phases {
		if d.Phases[i].Name == control.PhaseFault {
			return true
		}
	}
	return d.ClockS > 0
}

// running says whether the clock moves.
func (t *timer) running() bool { return t.id != "" && t.begun && !t.still }

// at is what the clock shows, in seconds.
func (t *timer) at(now time.Time) float64 {
	switch {
	case t.still:
		return t.fixed
	case !t.begun:
		return 0
	}
	return max(0, now.Sub(t.start).Seconds())
}

// drill is the drill to show, nil when there is none or it was put away.
func (m *Model) drill() *control.DrillState {
	if m.shown == nil || m.shown.Drill == nil || m.shown.Drill.ID == m.dismissed && m.shown.Drill.Verdict != nil {
		return nil
	}
	return m.shown.Drill
}

// seconds is what the clock shows now, or when the screen was frozen.
func (m *Model) seconds() float64 {
	switch {
	case m.frozen:
		return m.timer.at(m.frozenAt)
	case m.lost != nil: // nobody measures now
		return m.timer.at(m.lostAt)
	}
	return m.timer.at(m.now)
}

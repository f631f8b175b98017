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
	armed time.Time // while a countdown runs: where it ends on this machine's clock
}

// see takes the drill or incident of a snapshot that was taken at one time by
// the engine's clock, and came at another by this machine's.
func (t *timer) see(d *control.DrillState, taken, at time.Time) {
	if d == nil {
		*t = timer{}
		return
	}
	if d.ID != t.id {
		*t = timer{id: d.ID}
	}
	t.armed = time.Time{}
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
		if d.Armed != nil {
			t.armed = at.Add(d.Armed.Sub(taken))
		}
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
func (t *timer) running() bool { return t.id != "" && !t.still && (t.begun || !t.armed.IsZero()) }

// at is what the clock shows, in seconds: while a countdown runs, what is left
// of it.
func (t *timer) at(now time.Time) float64 {
	switch {
	case t.still:
		return t.fixed
	case !t.begun && !t.armed.IsZero():
		return max(0, t.armed.Sub(now).Seconds())
	case !t.begun:
		return 0
	}
	return max(0, now.Sub(t.start).Seconds())
}

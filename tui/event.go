package tui

import (
	"baton/engine/control"
	"baton/tui/draw"
)

// eventOf is the drill or incident of s that is shown, nil when there is none or
// it was put away: what runs first, a drill before an incident, then what ended
// last.
func (m *Model) eventOf(s *control.Snapshot) *control.DrillState {
	var best *control.DrillState
	for _, d := range [...]*control.DrillState{s.Drill, s.Incident} {
		switch {
		case d == nil, m.putAway(d):
		case best == nil, d.Verdict == nil && best.Verdict != nil:
			best = d
		case d.Verdict != nil && best.Verdict != nil && d.Started.After(best.Started):
			best = d
		}
	}
	return best
}

// putAway says whether an ended drill or incident is out of sight here: for
// good, or until nothing of it is to come.
func (m *Model) putAway(d *control.DrillState) bool {
	return d.Verdict != nil && (d.ID == m.dismissed || d.ID == m.hidden && !draw.Over(d))
}

// drill is the drill or incident to show, nil when there is none.
func (m *Model) drill() *control.DrillState {
	if m.shown == nil {
		return nil
	}
	return m.eventOf(m.shown)
}

// seconds is what the clock shows now, or when the screen was frozen.
func (m *Model) seconds() float64 {
	switch {
	case m.player != nil: // a recording has a time of its own
		d := m.drill()
		switch {
		case d == nil:
			return 0
		case d.CutoverS != nil:
			return *d.CutoverS
		}
		return d.ClockS
	case m.frozen:
		return m.timer.at(m.frozenAt)
	case m.lost != nil: // nobody measures now
		return m.timer.at(m.lostAt)
	}
	return m.timer.at(m.now)
}

// unsealed is s without what a sealed drill must not tell: whoever looks on
// knows no more than clients do.
func unsealed(s *control.Snapshot) *control.Snapshot {
	d := s.Drill
	if d == nil || !d.Sealed || d.Verdict != nil {
		return s
	}
	out := *s
	out.Vendors = append([]control.Vendor(nil), s.Vendors...)
	for i := range out.Vendors {
		out.Vendors[i].Fault = nil
	}
	out.Overrides = nil
	for _, o := range s.Overrides {
		if o.Kind != "fault" {
			out.Overrides = append(out.Overrides, o)
		}
	}
	bare := control.DrillState{ID: d.ID, Scenario: d.Scenario, Who: d.Who, Started: d.Started, TargetS: d.TargetS, Judge: d.Judge, Sealed: true}
	out.Drill = &bare
	return &out
}

// drillView is the drill as it is drawn.
func (m *Model) drillView() *draw.Drill {
	d := m.drill()
	v := &draw.Drill{
		D: d, Lost: m.lost != nil, Label: d.Vendor, Seconds: m.seconds(), Now: m.moment(), Act: !m.readOnly, Home: m.home,
		Service: m.shown.Service, RPS: m.shown.Gateway.RPS, Location: m.loc, AtTask: m.drills.at[tabRun],
	}
	if d.BoundS > 0 && (d.TargetS <= 0 || d.BoundS < d.TargetS) {
		bounded := *d
		bounded.TargetS = d.BoundS
		v.D = &bounded
	}
	if x := m.shown.Vendor(d.Vendor); x != nil {
		v.Label = label(x)
	}
	per := m.percents()
	for i := range m.shown.Vendors {
		x := &m.shown.Vendors[i]
		v.Shares = append(v.Shares, draw.Share{Label: label(x), Percent: per.share[i], Alive: draw.Alive(x.State), Hit: x.Name == d.Vendor})
	}
	return v
}

// percents are the percents of what is shown.
func (m *Model) percents() *percents {
	if m.per.of != m.shown {
		m.per = percentsOf(m.shown)
	}
	return &m.per
}

package draw

import (
	"strconv"

	"baton/engine/control"
)

var drillPhases = [...]string{control.PhaseFault, control.PhaseDetected, control.PhaseShifted, control.PhaseVerified, control.PhaseRestored}

func (d *Drill) moment(name string) *control.Moment {
	for i := range d.D.Phases {
		if d.D.Phases[i].Name == name {
			return &d.D.Phases[i]
		}
	}
	return nil
}

// detail is how much a line of phases says.
type detail struct {
	tight bool // little space between, and not the fault itself
	times bool // when phases were reached
	ahead bool // what is still to come
	clock bool // moments as on the clock, m:ss.t
}

// phases are the drill's steps with the moments at which they were reached: as
// much of it as w cells hold, what happens now last of all to go.
func (d *Drill) phases(w int, k Look) string {
	if d.show() {
		return d.actRow(w, k)
	}
	var line []Span
	for _, v := range [...]detail{
		{times: true, ahead: true, clock: true},
		{tight: true, times: true, ahead: true, clock: true},
		{tight: true, times: true, ahead: true},
		{tight: true, times: true},
		{tight: true, ahead: true},
		{tight: true},
	} {
		if line = d.steps(v, k); spansWidth(line) <= w {
			break
		}
	}
	r := NewRow(w, k)
	for _, s := range line {
		r.Add(s.Style, s.Text)
	}
	return r.String()
}

func (d *Drill) steps(v detail, k Look) []Span {
	gap, sp := "   ", " "
	if v.tight {
		gap, sp = "  ", ""
		if k.ASCII { // letters stand for marks there
			sp = " "
		}
	}
	out := make([]Span, 0, 16)
	next := func() {
		if len(out) > 0 {
			out = append(out, Span{"", gap})
		}
	}
	doing := d.D.Verdict == nil
	if d.moment(control.PhaseFault) == nil && doing {
		out = append(out, Span{k.WarnBold, k.Doing + sp + k.phase(control.PhaseSteady)})
		doing = false
	}
	for _, name := range drillPhases {
		if v.tight && name == control.PhaseFault {
			continue // its moment is always 0
		}
		m := d.moment(name)
		switch {
		case m != nil:
			next()
			out = append(out, Span{k.OK, k.Done}, Span{"", sp + k.phase(name)})
			if name != control.PhaseFault && v.times {
				out = append(out, Span{k.Dim, " " + momentText(m.TS, v.clock)})
			}
		case doing && name == control.PhaseRestored && !v.ahead:
			// the keys below say so
		case doing:
			doing = false
			next()
			out = append(out, Span{k.WarnBold, k.Doing + sp + k.phase(name)})
			if x := d.D.Verify; name == control.PhaseVerified && x != nil {
				out = append(out, Span{k.Warn, " " + strconv.Itoa(int(x.HeldS)) + "/" + strconv.Itoa(int(x.HoldS)) + "s"})
			}
			if name == control.PhaseRestored {
				out = append(out, Span{k.Dim, " (R)"})
			}
		case v.ahead:
			next()
			out = append(out, Span{k.Faint, k.Ahead + sp + k.phase(name)})
		}
	}
	return out
}

// momentText is a moment, rounded as the cutover is: what was reached before it
// must not read as later.
func momentText(s float64, clock bool) string {
	if !clock && s < 60 {
		return tenths(s)
	}
	return Took(s)
}

package draw

import (
	"baton/engine/control"
	"baton/tui/theme"
)

// Share is what part of the traffic a vendor gets now.
type Share struct {
	Label   string
	Percent float64 // whole, of the last 10 s; -1: not known
	Alive   bool
	Hit     bool // it is what the drill is about
}

// shares are a bar for each vendor, as many as h rows hold, in columns.
func (d *Drill) shares(w, h int, k Look) []string {
	label := 0
	for i := range d.Shares {
		label = max(label, Width(Clean(d.Shares[i].Label)))
	}
	label = min(label, max(4, w/3), w)
	const figure = 5
	n := w - label - 1 - figure
	out := make([]string, 0, len(d.Shares))
	for i := range d.Shares {
		if len(out) == h {
			break
		}
		s := &d.Shares[i]
		name, ink := theme.Style(""), k.OK
		switch {
		case s.Hit && !s.Alive:
			name, ink = k.CritBold, k.Crit
		case !s.Alive:
			name, ink = k.Dim, k.Dim
		case s.Hit:
			name, ink = k.WarnBold, k.Warn
		}
		r := NewRow(w, k)
		r.max = label
		r.Add(name, s.Label)
		r.max = w
		r.Pad(label+1).Painted(Meter(s.Percent/100, n, ink, k), max(0, n))
		text := unknown
		if s.Percent >= 0 {
			text = Whole(s.Percent)
		}
		out = append(out, r.Right(k.Strong, text).String())
	}
	return out
}

// Meter is a bar of n cells, filled to part (0-1).
func Meter(part float64, n int, ink theme.Style, k Look) string {
	if n <= 0 {
		return ""
	}
	full := 0
	if part > 0 {
		full = min(max(1, int(part*float64(n)+0.5)), n)
	}
	return NewRow(n, k).Fill(ink, k.Bar, full).Fill(k.Edge, k.BarRail, n-full).String()
}

// service is what clients get now, while a drill runs.
func (d *Drill) service(w int, k Look) string {
	v := &d.Service
	ink := k.OKBold
	switch {
	case v.Success10s == nil:
		ink = k.Faint
	case *v.Success10s < 0.95:
		ink = k.CritBold
	case *v.Success10s < 0.999:
		ink = k.WarnBold
	}
	r := NewRow(w, k).Add(k.Dim, k.Sayf("success")+" ").Add(ink, Percent(v.Success10s))
	if p99 := Millis(v.P99ms); Width(p99)+7 <= r.Left() {
		r.Add(k.Dim, "   P99 ").Add(k.Strong, p99)
	}
	if rps := Rate(d.RPS); Width(rps)+Width(k.ReqS)+4 <= r.Left() {
		r.Add(k.Strong, "   "+rps).Add(k.Dim, " "+k.ReqS)
	}
	return r.String()
}

// atTask is the checklist's line that is chosen.
func (d *Drill) atTask() int { return min(max(0, d.AtTask), max(0, len(d.D.Checklist)-1)) }

// riskRow is one stop condition: how much of it is used up.
func riskRow(name, used, most string, part float64, w int, k Look) string {
	ink := k.OK
	switch {
	case part >= 0.9:
		ink = k.Crit
	case part >= 0.5:
		ink = k.Warn
	}
	text := used + " / " + most
	r := NewRow(w, k).Add(k.Dim, name).Pad(10)
	n := w - r.w - Width(text) - 1
	if n >= 4 {
		r.Painted(Meter(part, n, ink, k), n).Add("", " ")
	}
	return r.Add(k.Strong, text).String()
}

func (d *Drill) risks(w int, k Look) []string {
	b := d.D.Budget
	if b == nil {
		return nil
	}
	var out []string
	if b.MaxFailed > 0 {
		out = append(out, riskRow(k.FailedW, Count(b.Failed), Count(b.MaxFailed), float64(b.Failed)/float64(b.MaxFailed), w, k))
	}
	if b.MaxCost != nil {
		used, part := unknown, 0.0
		if b.Cost != nil {
			used = Money(b.Cost)
			if *b.MaxCost > 0 {
				part = *b.Cost / *b.MaxCost
			}
		}
		out = append(out, riskRow(k.Words.Cost, used, Money(b.MaxCost), part, w, k))
	} else if b.Cost != nil {
		out = append(out, NewRow(w, k).Add(k.Dim, k.Words.Cost).Pad(10).Add(k.Strong, Money(b.Cost)).String())
	}
	return out
}

// checkInk is a check's glyph and style.
func checkInk(c *control.Check, k Look) (string, theme.Style) {
	switch {
	case c.OK && !c.Warn:
		return k.Done, k.OK
	case c.Warn:
		return k.Glyphs.Degraded, k.Warn
	}
	return k.Bad, k.CritBold
}

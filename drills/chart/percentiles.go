package chart

import (
	"fmt"
	"strconv"
)

// Percentiles is latency by percentile: the further to the right, the rarer, each
// nine as wide as the one before it (the form of HdrHistogram's plots).
type Percentiles struct {
	Title  string
	Y      Axis
	Series []Series // X is the percentile, from 0 to under 100
	Limits []Limit
	Size   Size
}

// SVG draws it.
func (c Percentiles) SVG() string {
	lines := Lines{Y: c.Y}
	legend := make([]entry, len(c.Series))
	var xs, ys []float64
	for i, s := range c.Series {
		legend[i] = entry{name: s.Name, ink: ink(s.Ink, i), stroke: s.Stroke}
		rare := Series{Points: make([]XY, 0, len(s.Points))}
		for _, p := range s.Points {
			q := XY{rarity(p.X), p.Y}
			rare.Points = append(rare.Points, q)
			if finite(q.X) && c.Y.shows(q.Y) {
				xs, ys = append(xs, q.X), append(ys, q.Y)
			}
		}
		lines.Series = append(lines.Series, rare)
	}
	f := open(c.Size, c.Title, legend)
	f.top += 6
	x, none := newScale(Axis{Scale: Log}, xs, f.left, f.right)
	if none {
		return f.empty()
	}
	for _, l := range c.Limits {
		ys = append(ys, l.Y)
	}
	f.y, _ = newScale(c.Y, ys, f.bottom, f.top)
	f.y = f.y.round(ticksY)
	f.grid(c.Y.Label, "percentile")
	f.x = x
	for _, p := range []float64{0, 50, 90, 99, 99.9, 99.99, 99.999} {
		if r := rarity(p); r >= x.from*0.999 && r <= x.to*1.001 {
			at := x.at(r)
			fmt.Fprintf(f, `<path %s d="M%s %sV%s"/>`, look("grid"), num(at), num(f.top), num(f.bottom))
			f.text(at, f.bottom+16, "", "middle", strconv.FormatFloat(p, 'f', -1, 64))
		}
	}
	f.limits(c.Limits)
	for i, s := range lines.Series {
		if d := f.path(s.Points); d != "" {
			fmt.Fprintf(f, `<path %s d="%s"/>`, lineLook(legend[i].ink, c.Series[i].Stroke), d)
		}
	}
	return f.close()
}

// rarity is one in how many a percentile leaves out.
func rarity(p float64) float64 {
	if p < 0 || p >= 100 {
		return Missing()
	}
	return 1 / (1 - p/100)
}

package chart

import (
	"fmt"
	"math"
	"strings"
)

// Lines is lines over time, or over a load.
type Lines struct {
	Title  string
	X, Y   Axis
	Series []Series
	Spans  []Span
	Marks  []Mark // by rising X
	Limits []Limit
	Size   Size
}

// SVG draws it.
func (l Lines) SVG() string {
	legend := make([]entry, len(l.Series))
	var xs, ys []float64
	for i, s := range l.Series {
		legend[i] = entry{name: s.Name, ink: ink(s.Ink, i), stroke: s.Stroke}
		for _, p := range s.Points {
			if l.X.shows(p.X) && l.Y.shows(p.Y) {
				xs, ys = append(xs, p.X), append(ys, p.Y)
			}
		}
	}
	f := open(l.Size, l.Title, legend)
	x, none := newScale(l.X, reach(xs, l.Marks), f.left, f.right)
	if none {
		return f.empty()
	}
	f.x = x
	places := f.place(l.Marks)
	for _, m := range l.Limits {
		ys = append(ys, m.Y)
	}
	f.y, _ = newScale(l.Y, ys, f.bottom, f.top)
	f.y = f.y.round(ticksY)
	f.spans(l.Spans)
	f.grid(l.Y.Label, l.X.Label)
	f.limits(l.Limits)
	for i, s := range l.Series {
		if d := f.path(s.Points); d != "" {
			fmt.Fprintf(f, `<path %s d="%s"/>`, lineLook(legend[i].ink, s.Stroke), d)
		}
	}
	f.marks(places)
	return f.close()
}

// path is the points as SVG path data: a gap begins anew, and a point alone is a
// dot. Of more points than pixels it keeps each pixel's first, least, greatest
// and last.
func (f *frame) path(points []XY) string {
	var b strings.Builder
	var run []XY
	flush := func() {
		for i, p := range thin(run) {
			c := byte('L')
			if i == 0 {
				c = 'M'
			}
			b.WriteByte(c)
			b.WriteString(num(p.X) + " " + num(p.Y))
		}
		if len(run) == 1 {
			b.WriteString("h.1")
		}
		run = run[:0]
	}
	for _, p := range points {
		if !f.x.axis.shows(p.X) || !f.y.axis.shows(p.Y) {
			flush()
			continue
		}
		run = append(run, XY{f.x.at(p.X), f.y.at(p.Y)})
	}
	flush()
	return b.String()
}

// thin drops points that share a pixel column and are neither its first, its
// least, its greatest nor its last.
func thin(points []XY) []XY {
	const few = 1000
	if len(points) <= few {
		return points
	}
	var out []XY
	for i := 0; i < len(points); {
		j := i
		lo, hi := i, i
		for ; j < len(points) && math.Floor(points[j].X) == math.Floor(points[i].X); j++ {
			if points[j].Y < points[lo].Y {
				lo = j
			}
			if points[j].Y > points[hi].Y {
				hi = j
			}
		}
		last := -1
		for _, k := range []int{i, min(lo, hi), max(lo, hi), j - 1} {
			if k != last {
				out = append(out, points[k])
			}
			last = k
		}
		i = j
	}
	return out
}

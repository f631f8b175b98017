package chart

import (
	"fmt"
	"strings"
)

// Stack is layers over time that add up: shares of a whole. The layers have
// points at the same X; where one is missing, there is a gap.
type Stack struct {
	Title  string
	X, Y   Axis
	Layers []Series
	Marks  []Mark // by rising X
	Size   Size
}

// SVG draws it.
func (s Stack) SVG() string {
	legend := make([]entry, len(s.Layers))
	for i, l := range s.Layers {
		legend[i] = entry{name: l.Name, ink: ink(l.Ink, i), filled: true}
	}
	f := open(s.Size, s.Title, legend)
	xs, sums := s.sums()
	var tops []float64
	if len(sums) > 0 {
		tops = sums[len(sums)-1]
	}
	var shown []float64
	for i, x := range xs {
		if finite(tops[i]) && s.X.shows(x) {
			shown = append(shown, x)
		}
	}
	x, none := newScale(s.X, reach(shown, s.Marks), f.left, f.right)
	if none {
		return f.empty()
	}
	f.x = x
	places := f.place(s.Marks)
	axis := s.Y
	axis.Scale, axis.Zero = Linear, true
	f.y, _ = newScale(axis, tops, f.bottom, f.top)
	f.y = f.y.round(ticksY)
	f.grid(s.Y.Label, s.X.Label)
	floor := make([]float64, len(xs))
	for i := range s.Layers {
		if d := f.area(xs, floor, sums[i], tops); d != "" {
			fmt.Fprintf(f, `<path %s d="%s"/>`, areaLook(legend[i].ink), d)
		}
		floor = sums[i]
	}
	f.marks(places)
	return f.close()
}

// sums are the X of the layers, and each layer's upper edge.
func (s Stack) sums() (xs []float64, sums [][]float64) {
	if len(s.Layers) == 0 {
		return nil, nil
	}
	for _, p := range s.Layers[0].Points {
		xs = append(xs, p.X)
	}
	total := make([]float64, len(xs))
	for _, l := range s.Layers {
		for i := range xs {
			if i < len(l.Points) && l.Points[i].X == xs[i] {
				total[i] += l.Points[i].Y
			} else {
				total[i] = Missing()
			}
		}
		sums = append(sums, append([]float64(nil), total...))
	}
	return xs, sums
}

// area is the outline between two edges, one for each stretch without a gap.
func (f *frame) area(xs, low, high, tops []float64) string {
	var b strings.Builder
	for i := 0; i < len(xs); {
		if !finite(tops[i]) || !f.x.axis.shows(xs[i]) {
			i++
			continue
		}
		j := i
		var up, down []XY
		for ; j < len(xs) && finite(tops[j]) && f.x.axis.shows(xs[j]); j++ {
			up = append(up, XY{f.x.at(xs[j]), f.y.at(high[j])})
			down = append(down, XY{f.x.at(xs[j]), f.y.at(low[j])})
		}
		if j == i+1 { // a point alone gets a pixel's width
			up, down = append(up, XY{up[0].X + 1, up[0].Y}), append(down, XY{down[0].X + 1, down[0].Y})
		}
		for k, p := range thin(up) {
			b.WriteString(command(k) + num(p.X) + " " + num(p.Y))
		}
		back := thin(down)
		for k := len(back) - 1; k >= 0; k-- {
			b.WriteString("L" + num(back[k].X) + " " + num(back[k].Y))
		}
		b.WriteString("Z")
		i = j
	}
	return b.String()
}

// command is the path command of the k-th point of an outline.
func command(k int) string {
	if k == 0 {
		return "M"
	}
	return "L"
}

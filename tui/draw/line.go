package draw

import (
	"math"
	"strings"

	"baton/tui/theme"

	"github.com/guptarohit/asciigraph"
)

// Curve is one line of a chart.
type Curve struct {
	V    []float64 // a value at even distances; NaN is a gap
	Join bool      // straight from one to the next, in place of steps
	Ink  uint8     // of the 256 colour palette
	Name string
}

// Lines draws curves on a scale from 0 to what the largest needs, in exactly h
// rows of w cells. label writes a value; the axis is as wide as the longest.
// Few values fill the whole width.
func Lines(all []Curve, w, h int, label func(float64) string, k Look) (out []string) {
	defer func() {
		if recover() != nil {
			out = notice(k.GraphError, w, h, k)
		}
	}()
	hi := 0.0
	for _, c := range all {
		for _, v := range c.V {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				hi = max(hi, v)
			}
		}
	}
	if hi <= 0 || h < 2 {
		return notice(k.NoData, w, h, k)
	}
	hi = roundUp(hi)
	lw := max(Width(label(hi)), Width(label(hi/2)), Width(label(0)))
	cols := w - lw - 2
	if cols < 4 {
		return block(nil, w, h)
	}
	var series [][]float64
	var inks []asciigraph.AnsiColor
	for _, c := range all {
		v, n := sane(c.stretched(cols+1), cols+1, hi)
		if n < 2 {
			continue
		}
		series, inks = append(series, v), append(inks, asciigraph.AnsiColor(c.Ink))
	}
	if len(series) == 0 {
		return notice(k.NoData, w, h, k)
	}
	opts := []asciigraph.Option{
		asciigraph.Height(h - 1), asciigraph.LowerBound(0), asciigraph.UpperBound(hi), asciigraph.Offset(2),
		asciigraph.YAxisValueFormatter(func(v float64) string {
			row, s := int(math.Round(v/hi*float64(h-1))), ""
			if row == 0 || row == h-1 || h >= 5 && 2*row == h-1 { // others are no round figures
				s = label(hi * float64(row) / float64(h-1)) // v is that, but for its rounding
			}
			return Blank(lw-Width(s)) + s
		}),
	}
	set := asciigraph.DefaultCharSet
	if k.ASCII {
		set = charSets(k, 1)[0]
	}
	chars := make([]asciigraph.CharSet, len(series))
	for i := range chars {
		chars[i] = set
	}
	opts = append(opts, asciigraph.SeriesChars(chars...))
	if k.Line.P99 != 0 {
		axis := asciigraph.AnsiColor(k.Line.Axis)
		opts = append(opts, asciigraph.SeriesColors(inks...), asciigraph.AxisColor(axis), asciigraph.LabelColor(axis))
	}
	text := asciigraph.PlotMany(series, opts...)
	if k.ASCII {
		text = asciiAxis.Replace(text)
	}
	out = strings.Split(text, "\n")
	for i, l := range out {
		out[i] = fitGraph(l, w)
	}
	return block(out, w, h)
}

// stretched is the curve as n values: as steps, or straight between its own.
func (c *Curve) stretched(n int) []float64 {
	m := len(c.V)
	if m == 0 || m >= n {
		return c.V
	}
	out := make([]float64, n)
	for i := range out {
		if !c.Join || m == 1 {
			out[i] = c.V[min(m-1, i*m/n)]
			continue
		}
		at := float64(i) * float64(m-1) / float64(n-1)
		j := min(int(at), m-2)
		out[i] = c.V[j] + (c.V[j+1]-c.V[j])*(at-float64(j))
	}
	return out
}

// roundUp is the next 1, 2, 2.5 or 5 times a power of ten.
func roundUp(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range [...]float64{1, 2, 2.5, 5, 10} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// inkOf is the palette's number of curve i, and the same as a style for its name.
func inkOf(i int, k Look) (uint8, theme.Style) {
	if i%2 == 0 {
		return k.Line.P90, k.Theme.P90
	}
	return k.Line.P99, k.Theme.P99
}

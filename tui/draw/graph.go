package draw

import (
	"math"
	"strconv"
	"strings"

	"baton/tui/theme"

	"github.com/charmbracelet/x/ansi"
	"github.com/guptarohit/asciigraph"
)

// gutter is the width of a graph's labels and axis: " 2.0┤".
const gutter = 5

// Graph draws P90 and P99 (milliseconds, a value per column, the newest last)
// on a scale from 0 to hi, in exactly h rows of w cells. What is not a number
// is a gap; values above hi lie on its line. Under four rows two lines cannot
// be told apart, so there only P99 is drawn. Lines that the graph library
// fails on become one row that says so: a figure must not end the console.
func Graph(p90, p99 []float64, w, h int, hi float64, k Look) (out []string) {
	defer func() {
		if recover() != nil {
			out = notice(k.GraphError, w, h, k)
		}
	}()
	cols := w - gutter
	if h < 2 || cols < 4 {
		return block(nil, w, h)
	}
	if !(hi > 0) || math.IsInf(hi, 0) {
		hi = 1000
	}
	top, step, every := axisScale(hi, h-1)
	hi = top
	a, na := sane(p90, cols+1, hi)
	b, nb := sane(p99, cols+1, hi)
	if na < 2 && nb < 2 {
		return notice(k.NoData, w, h, k)
	}
	series := [][]float64{a, b}
	colours := []asciigraph.AnsiColor{asciigraph.AnsiColor(k.Line.P90), asciigraph.AnsiColor(k.Line.P99)}
	if h < 4 {
		series, colours = series[1:], colours[1:]
	}
	opts := []asciigraph.Option{
		asciigraph.Height(h - 1), asciigraph.LowerBound(0), asciigraph.UpperBound(hi), asciigraph.Offset(2),
		asciigraph.YAxisValueFormatter(func(v float64) string {
			if int(math.Round(v/step))%every != 0 {
				return "   "
			}
			return axisLabel(v)
		}),
		asciigraph.SeriesChars(charSets(k, len(series))...),
	}
	if k.Line.P99 != 0 {
		axis := asciigraph.AnsiColor(k.Line.Axis)
		opts = append(opts, asciigraph.SeriesColors(colours...), asciigraph.AxisColor(axis), asciigraph.LabelColor(axis))
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

var asciiAxis = strings.NewReplacer("┤", "|", "┼", "+", "└", "+", "┬", "+", "─", "-", "╴", "-", "╶", "-")

// fitGraph is Fit for the library's lines, which are usually short enough.
func fitGraph(s string, w int) string {
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == 0x1b:
			for i < len(s) && s[i] != 'm' {
				i++
			}
		case c < 0x80 || c >= 0xc0: // one cell a rune: all of its glyphs are
			n++
		}
	}
	if n > w {
		return ansi.Truncate(s, w, "") + theme.Off
	}
	return s + Blank(w-n)
}

// marks are the steps between an axis's labels, milliseconds.
var marks = [...]float64{100, 200, 300, 400, 500, 600, 800, 1000, 1500, 2000, 2500, 3000, 4000, 5000, 6000, 8000, 10000, 15000, 20000, 25000, 30000, 40000, 50000, 60000, 100000, 200000}

// axisScale makes an axis of rows steps that holds hi: each step is a round
// part of what lies between two labels, every so many rows. All graphs of one
// height and one hi get the same.
func axisScale(hi float64, rows int) (top, step float64, every int) {
	switch {
	case rows < 4:
		every = 1
	case rows < 12:
		every = 2
	case rows < 24:
		every = 4
	default:
		every = 5
	}
	for _, m := range marks {
		step = m / float64(every)
		top = step * float64(rows)
		if top >= hi && (top < 9950 || math.Mod(m, 1000) == 0) { // from 10 s on labels are whole
			return top, step, every
		}
	}
	return hi, hi / float64(rows), every
}

// axisLabel writes milliseconds as seconds, always three cells wide.
func axisLabel(ms float64) string {
	s := ms / 1000
	switch {
	case s >= 999.5:
		return ">1k"
	case s >= 99.5:
		return strconv.Itoa(int(s + 0.5))
	case s >= 9.95:
		return " " + strconv.Itoa(int(s+0.5))
	}
	return strconv.FormatFloat(math.Max(s, 0), 'f', 1, 64)
}

// charSets are the lines' glyphs: without colours the P90 is dotted.
func charSets(k Look, n int) []asciigraph.CharSet {
	p99, p90 := asciigraph.DefaultCharSet, asciigraph.DefaultCharSet
	switch {
	case k.ASCII:
		p99 = asciigraph.CharSet{Horizontal: "-", VerticalLine: "|", ArcDownRight: "/", ArcDownLeft: "\\", ArcUpRight: "\\", ArcUpLeft: "/", EndCap: "-", StartCap: "-", UpRight: "+", DownHorizontal: "+"}
		p90 = asciigraph.CreateCharSet(".")
	case k.Line.P99 == 0:
		p90.Horizontal, p90.VerticalLine = "┄", "┊"
	}
	if n == 1 {
		return []asciigraph.CharSet{p99}
	}
	return []asciigraph.CharSet{p90, p99}
}

// sane copies the last n values, with the missing ones before them, and counts
// those that are numbers.
func sane(v []float64, n int, hi float64) ([]float64, int) {
	out := make([]float64, n)
	if len(v) > n {
		v = v[len(v)-n:]
	}
	gap := n - len(v)
	for i := range gap {
		out[i] = math.NaN()
	}
	known := 0
	for i, x := range v {
		switch {
		case math.IsNaN(x) || math.IsInf(x, 0):
			x = math.NaN()
		default:
			x = min(max(x, 0), hi)
			known++
		}
		out[gap+i] = x
	}
	return out, known
}

// notice is a word in the middle of an empty area.
func notice(text string, w, h int, k Look) []string {
	out := block(nil, w, h)
	if h > 0 {
		out[h/2] = NewRow(w, k).Pad((w-Width(text))/2).Add(k.Faint, text).String()
	}
	return out
}

// Columns brings a history to n columns of step values each by the largest of
// them, so that no spike is lost. tick is the number of the newest value,
// counted from any fixed moment: columns hold the same values from one frame
// to the next.
func Columns(v []float64, n, step int, tick int64) []float64 {
	if n <= 0 || step <= 0 {
		return nil
	}
	out := make([]float64, n)
	newest := floorDiv(tick, int64(step))
	for i := range out {
		out[i] = math.NaN()
	}
	for i := len(v) - 1; i >= 0; i-- {
		c := n - 1 - int(newest-floorDiv(tick-int64(len(v)-1-i), int64(step)))
		if c < 0 {
			break
		}
		if x := v[i]; !math.IsNaN(x) && !math.IsInf(x, 0) && !(out[c] >= x) {
			out[c] = x
		}
	}
	return out
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// stepFor is how many values a column holds so that n columns show about three
// minutes.
func stepFor(n int, stepS float64) int {
	if n <= 0 || !(stepS > 0) {
		return 1
	}
	return max(1, int(math.Ceil(180/stepS/float64(n))))
}

// axis is the line under a graph: how far back it goes, and a mark where
// attempts failed.
func axis(failed []float64, w int, span float64, k Look) string {
	r := NewRow(w, k)
	r.Pad(gutter-1).Add(k.Edge, k.Corner)
	ago := "-" + MinSec(span)
	n := r.Left()
	failedAt := func(c int) bool {
		i := len(failed) - n + c
		return i >= 0 && i < len(failed) && failed[i] > 0
	}
	for c := 0; c < n; {
		if c == 0 && n > 3*len(ago) {
			r.Add(k.Faint, ago)
			c += len(ago)
			continue
		}
		from, bad := c, failedAt(c)
		for c < n && failedAt(c) == bad {
			c++
		}
		if bad {
			r.Fill(k.Crit, k.Fail, c-from)
		} else {
			r.Fill(k.Edge, k.Base, c-from)
		}
	}
	return r.String()
}

// Spark draws a series in one row of w cells, in a style; failures are marks.
func Spark(st theme.Style, v, failed []float64, w int, hi float64, k Look) string {
	r := NewRow(w, k)
	for i := range w {
		j := len(v) - w + i
		f := len(failed) - w + i
		switch {
		case f >= 0 && f < len(failed) && failed[f] > 0:
			r.Add(k.Crit, k.Fail)
		case j < 0 || math.IsNaN(v[j]) || math.IsInf(v[j], 0) || !(hi > 0):
			r.Add("", " ")
		default:
			r.Add(st, k.Sparks[min(7, max(0, int(v[j]/hi*8)))])
		}
	}
	return r.String()
}

// scales are the upper ends that a shared scale steps through, milliseconds.
var scales = [...]float64{200, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 3000, 5000, 8000, 10000, 15000, 20000, 30000, 60000, 120000, 300000}

// ScaleFor is the smallest scale that v fits under.
func ScaleFor(v float64) float64 {
	for _, s := range scales {
		if v <= s {
			return s
		}
	}
	return scales[len(scales)-1]
}

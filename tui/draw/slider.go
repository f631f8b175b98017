package draw

import "math"

// Knob is the column of a weight (percent) on a slider of n cells.
func Knob(weight float64, n int) int {
	if n <= 1 || math.IsNaN(weight) {
		return 0
	}
	return min(max(int(math.Round(weight/100*float64(n-1))), 0), n-1)
}

// AtKnob is the whole percent nearest to column x of a slider of n cells.
func AtKnob(x, n int) float64 {
	if n <= 1 {
		return 0
	}
	return math.Round(float64(min(max(x, 0), n-1)) / float64(n-1) * 100)
}

// Slider draws a weight on n cells: ━━━●───. What is staged has a hollow knob
// and a mark where it was.
func Slider(p *Panel, n int, k Look) string {
	r := NewRow(n, k)
	at, was := Knob(p.Shown(), n), -1
	line, knob, glyph := k.Accent, k.Strong, k.Knob
	switch {
	case p.Staged:
		was = Knob(p.Weight, n)
		line, knob, glyph = k.Theme.Staged, k.Theme.Staged, k.KnobStaged
	case !p.Alive():
		line, knob = k.Faint, k.Dim
	case !p.Selected:
		line, knob = k.Dim, k.Strong
	}
	for x := 0; x < n; x++ {
		switch {
		case x == at:
			r.Add(knob, glyph)
		case x == was:
			r.Add(k.Dim, k.Ghost)
		case x < at:
			end := at
			if was > x && was < end {
				end = was
			}
			r.Fill(line, k.Filled, end-x)
			x = end - 1
		default:
			end := n
			if was > x {
				end = was
			}
			r.Fill(k.Edge, k.Rail, end-x)
			x = end - 1
		}
	}
	return r.String()
}

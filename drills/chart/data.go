package chart

import "math"

// Missing is a figure that does not exist: it leaves a gap.
func Missing() float64 { return math.NaN() }

// Value is a figure that may not exist.
func Value(v *float64) float64 {
	if v == nil {
		return Missing()
	}
	return *v
}

// XY is one point. A Y that is no finite number is a gap.
type XY struct{ X, Y float64 }

// Stroke is how a line is drawn.
type Stroke string

// The strokes.
const (
	Solid  Stroke = ""
	Dashed Stroke = "dashed"
	Dotted Stroke = "dotted"
)

// Series is one named line or layer.
type Series struct {
	Name   string
	Ink    int // the colour, 1 to 6; 0: by its place among the series
	Stroke Stroke
	Points []XY // by rising X
}

// Mark is a moment on the X axis, which reaches to all of them.
type Mark struct {
	X     float64
	Label string
}

// Span is a stretch of the X axis, shaded.
type Span struct{ From, To float64 }

// Limit is a level that the figures are held against.
type Limit struct {
	Y     float64
	Label string
}

// Scale is how an axis runs.
type Scale string

// The scales.
const (
	Linear Scale = ""
	Log    Scale = "log"  // base 10; figures of 0 and less are gaps
	Time   Scale = "time" // seconds, written m:ss
)

// Axis is how one axis is drawn.
type Axis struct {
	Label string // what it shows, with the unit
	Scale Scale
	Zero  bool    // begins at 0, if it is not Log
	Max   float64 // ends here at least; 0: with the figures
}

// Size is a chart's size in CSS pixels at full width, but for the labels of its
// moments, which come on top; 0: 860 by 260.
type Size struct{ Width, Height int }

const inks = 6

// ink is the colour of the series at a place.
func ink(own, place int) int {
	if own >= 1 && own <= inks {
		return own
	}
	return place%inks + 1
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// reach adds the moments to the figures of an axis.
func reach(xs []float64, marks []Mark) []float64 {
	if len(xs) == 0 {
		return nil
	}
	for _, m := range marks {
		xs = append(xs, m.X)
	}
	return xs
}

package chart

import (
	"fmt"
	"math"
	"strconv"
)

// scale maps figures to pixels.
type scale struct {
	axis     Axis
	from, to float64 // figures
	a, b     float64 // pixels
}

// newScale spans the figures: empty reports whether there are none.
func newScale(axis Axis, figures []float64, a, b float64) (s scale, empty bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range figures {
		if axis.shows(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return scale{}, true
	}
	if axis.Max != 0 {
		hi = max(hi, axis.Max)
	}
	if axis.Zero && axis.Scale != Log {
		lo, hi = min(lo, 0), max(hi, 0)
	}
	switch {
	case axis.Scale == Log && hi/lo < 1.5:
		lo, hi = lo/2, hi*2
	case axis.Scale != Log && hi-lo <= math.Abs(hi)*1e-9:
		lo, hi = lo-0.5, hi+0.5
		if axis.Zero && lo < 0 && hi <= 1 {
			lo, hi = 0, 1
		}
	}
	return scale{axis: axis, from: lo, to: hi, a: a, b: b}, false
}

// shows says whether a figure has a place on the axis.
func (a Axis) shows(v float64) bool { return finite(v) && (a.Scale != Log || v > 0) }

// at is the pixel of a figure.
func (s scale) at(v float64) float64 {
	f, t := s.from, s.to
	if s.axis.Scale == Log {
		v, f, t = math.Log10(v), math.Log10(f), math.Log10(t)
	}
	return s.a + (v-f)/(t-f)*(s.b-s.a)
}

// round widens the scale to whole ticks.
func (s scale) round(n int) scale {
	if s.axis.Scale == Log {
		return s
	}
	step := s.step(n)
	s.from, s.to = math.Floor(s.from/step+1e-9)*step, math.Ceil(s.to/step-1e-9)*step
	return s
}

// timeSteps are the steps of a time axis, in seconds.
var timeSteps = []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}

// step is a round step that makes about n ticks.
func (s scale) step(n int) float64 {
	raw := (s.to - s.from) / float64(max(n, 1))
	if s.axis.Scale == Time && raw > 0.5 {
		for _, t := range timeSteps {
			if t >= raw {
				return t
			}
		}
	}
	ten := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*ten >= raw {
			return m * ten
		}
	}
	return 10 * ten
}

type tick struct {
	v     float64
	label string
}

// ticks are about n ticks inside the scale.
func (s scale) ticks(n int) []tick {
	if s.axis.Scale == Log {
		return s.logTicks(n)
	}
	step := s.step(n)
	first, last := math.Ceil(s.from/step-1e-9), math.Floor(s.to/step+1e-9)
	var out []tick
	for i := first; i <= last && len(out) < 50; i++ {
		v := i * step
		if v == 0 {
			v = 0 // no minus
		}
		out = append(out, tick{v, s.label(v, step)})
	}
	return out
}

// logTicks are powers of ten, with 2 and 5 between them where there is room.
func (s scale) logTicks(n int) []tick {
	decades := math.Log10(s.to / s.from)
	steps := []float64{1}
	if decades*3 <= float64(2*n) {
		steps = []float64{1, 2, 5}
	}
	every := max(1, math.Ceil(decades/float64(max(n, 1))))
	var out []tick
	for e := math.Floor(math.Log10(s.from)); e <= math.Log10(s.to)+1e-9 && len(out) < 50; e += every {
		for _, m := range steps {
			if v := m * math.Pow(10, e); v >= s.from*(1-1e-9) && v <= s.to*(1+1e-9) {
				out = append(out, tick{v, strconv.FormatFloat(v, 'g', 6, 64)})
			}
		}
	}
	return out
}

func (s scale) label(v, step float64) string {
	if s.axis.Scale == Time {
		return clock(v, step)
	}
	decimals := max(0, min(9, int(math.Ceil(-math.Log10(step)-1e-9))))
	if math.Abs(v) >= 1e7 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// clock writes seconds as m:ss, with tenths where the steps have them.
func clock(v, step float64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	if step < 1 {
		return fmt.Sprintf("%s%d:%04.1f", sign, int(v)/60, math.Mod(v, 60))
	}
	whole := int(math.Round(v))
	if whole >= 3600 {
		return fmt.Sprintf("%s%d:%02d:%02d", sign, whole/3600, whole/60%60, whole%60)
	}
	return fmt.Sprintf("%s%d:%02d", sign, whole/60, whole%60)
}

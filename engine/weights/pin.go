package weights

import "math"

// hold puts a pin in force and reports whether it could: a pin that names nobody is no pin, and one whose
// vendors are all down is left to panic or to the others.
func (l *Law) hold(ms []Measure, pin *Pin) bool {
	w := l.move
	for i := range ms {
		w[i] = clampFinite(pin.Weights[ms[i].Name], 0, 1e6)
		if pin.Override {
			continue
		}
		switch ms[i].State {
		case Down, Out:
			w[i] = 0
		case Ramp: // what is pinned comes back as slowly as what is not: a cold vendor is still cold
			w[i] *= math.Max(l.p.RampMin, ms[i].ramped())
		}
	}
	if sum(w) == 0 {
		return false
	}
	l.adopt(w)
	return true
}

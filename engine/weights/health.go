package weights

import (
	"math"
	"time"
)

// meet lines the remembered vendors up with the measures, by name, and follows a changed configuration.
func (l *Law) meet(ms []Measure) {
	same := len(ms) == len(l.vendors) && l.known
	rebased := false
	for i := 0; same && i < len(ms); i++ {
		same = ms[i].Name == l.vendors[i].name
	}
	if !same {
		rebased = l.line(ms)
	}
	for i := range ms {
		rebased = rebased || ms[i].Base != l.vendors[i].base
	}
	switch {
	case !l.known:
		l.start(ms)
	case rebased:
		l.rebase(ms)
	}
	for i := range ms {
		v := &l.vendors[i]
		v.ramped = v.state == Ramp && ms[i].State == Well
		v.base, v.band, v.state = ms[i].Base, ms[i].Band, ms[i].State
	}
}

// line rebuilds the vendors in the order of the measures and reports whether any came or went.
func (l *Law) line(ms []Measure) (changed bool) {
	old, taken := l.vendors, make([]bool, len(l.vendors))
	l.vendors = make([]vendor, len(ms))
	kept := 0
	for i := range ms {
		found := false
		for j := range old {
			if !taken[j] && old[j].name == ms[i].Name {
				l.vendors[i], taken[j], found = old[j], true, true
				kept++
				break
			}
		}
		if !found {
			l.vendors[i] = vendor{name: ms[i].Name, base: math.NaN(), state: ms[i].State, away: -time.Hour}
			l.vendors[i].forget()
			l.vendors[i].well = ms[i].State == Well
		}
	}
	n := len(ms)
	l.f, l.lo, l.up, l.yield = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	l.target, l.move, l.wish = make([]float64, n), make([]float64, n), make([]float64, n)
	return kept != len(old) || kept != n
}

// start begins at the saved weights if there are any, else at the configured ones.
func (l *Law) start(ms []Measure) {
	l.adoptBase(ms)
	if l.saved != nil {
		for i := range ms {
			l.target[i] = clampFinite(l.saved[ms[i].Name], 0, 1)
		}
		l.adopt(l.target)
	}
	for i := range l.vendors {
		l.vendors[i].told = l.vendors[i].w
	}
}

// adoptBase puts the configured weights of whoever is not Out in force.
func (l *Law) adoptBase(ms []Measure) {
	base(ms, l.move)
	l.adopt(l.move)
}

// base writes the configured weights among those that are not Out, in equal parts if they are all 0.
func base(ms []Measure, w []float64) {
	total := 0.0
	for i := range ms {
		if ms[i].State != Out && ms[i].Band[1] > 0 {
			total += ms[i].Base
		}
	}
	for i := range ms {
		switch {
		case ms[i].State == Out:
			w[i] = 0
		case total == 0:
			w[i] = 1
		case ms[i].Band[1] == 0:
			w[i] = 0
		default:
			w[i] = ms[i].Base
		}
	}
	normalise(w)
}

// rebase follows configured weights that changed. While the bands held they apply at once; otherwise every
// vendor keeps its distance from what is configured, so that a sick one is not handed its full weight again.
func (l *Law) rebase(ms []Measure) {
	base(ms, l.move)
	if !l.steady {
		for i := range ms {
			if v := &l.vendors[i]; v.base > 0 {
				l.move[i] = ms[i].Base * v.w / v.base
			}
		}
	}
	l.adopt(l.move)
}

// alarm decides on panic: everybody who could carry traffic is down. It lasts until somebody lives, and at
// least PanicHold.
func (l *Law) alarm(ms []Measure) {
	down, living := 0, 0
	for i := range ms {
		switch ms[i].State {
		case Down:
			down++
		case Well, Ramp:
			living++
		}
	}
	switch {
	case down+living == 0:
		l.panicking = false
	case living == 0 && !l.panicking:
		l.panicking, l.panicSince = true, l.clock
	case living > 0 && l.panicking && l.clock-l.panicSince >= l.p.PanicHold:
		l.panicking = false
	}
}

func (l *Law) panicWeights(ms []Measure) {
	l.adoptBase(ms)
	for i := range ms {
		l.target[i] = l.vendors[i].w
	}
}

// shed takes the weight of whoever may carry none and gives it to the living, pro rata to their weights; to
// their targets where they have none.
func (l *Law) shed(ms []Measure) {
	w := l.move
	held, lost := 0.0, 0.0
	for i := range ms {
		w[i] = 0
		if ms[i].State.living() {
			w[i] = l.vendors[i].w
			held += w[i]
		} else {
			lost += l.vendors[i].w
		}
	}
	if lost == 0 && held > 0 {
		return // and no rounding may look like a move
	}
	if held == 0 {
		l.heir(ms, w)
	}
	l.adopt(w)
	for i := range ms {
		if sum(w) == 0 {
			l.vendors[i].w = 0
		}
	}
}

// heir names who takes everything when nobody living has any weight: the living by configured weight, in equal
// parts if they have none of that either.
func (l *Law) heir(ms []Measure, w []float64) {
	total := 0.0
	for i := range ms {
		if ms[i].State.living() {
			w[i] = ms[i].Base
			total += ms[i].Base
		}
	}
	for i := range ms {
		if total == 0 && ms[i].State.living() {
			w[i] = 1
		}
	}
}

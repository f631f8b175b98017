package weights

import "math"

// score fills l.f with what each vendor deserves before bounds, and every vendor's r, e and worst kind.
// f = base * r^-gamma * s^kappa, with r the latency relative to the best and s the success relative to the best.
func (l *Law) score(ms []Measure) {
	least, sum, top := math.Inf(1), 0.0, 0.0
	for i := range ms {
		if ms[i].State.living() {
			least = math.Min(least, l.vendors[i].errorRate())
		}
	}
	for i := range ms {
		v := &l.vendors[i]
		l.f[i] = 0
		if !ms[i].State.living() {
			continue
		}
		v.r = l.relative(ms, i)
		v.excess = v.errorRate() - least
		s := 1.0
		if least < 1 {
			s = (1 - v.errorRate()) / (1 - least)
		}
		l.f[i] = ms[i].Base * math.Pow(v.r, -l.p.Gamma) * math.Pow(s, l.p.Kappa)
		sum += ms[i].Base
		top = math.Max(top, l.f[i])
	}
	for i := range ms {
		// A vendor that deserves next to nothing must still be able to take what nobody else has room for.
		switch {
		case !ms[i].State.living():
		case sum == 0:
			l.f[i] = 1
		case ms[i].Base > 0:
			l.f[i] = math.Max(l.f[i], math.Max(1e-9*top, 1e-300))
		}
	}
}

// relative is one vendor's latency against the best of the living: the geometric mean over the kinds that it
// and another vendor have, weighted by requests. A kind that nobody else has is held against its own baseline.
func (l *Law) relative(ms []Measure, i int) float64 {
	v := &l.vendors[i]
	v.worst, v.against = -1, math.NaN()
	logs, weight, most := 0.0, 0.0, 1.0
	for k := range v.latency {
		mine := v.latency[k].value
		if math.IsNaN(mine) {
			continue
		}
		best, others := mine, 0
		for j := range ms {
			other := l.vendors[j].latency[k].value
			if j != i && ms[j].State.living() && !math.IsNaN(other) {
				best, others = math.Min(best, other), others+1
			}
		}
		if others == 0 {
			best = v.baseline[k]
		}
		r := clampFinite(mine/(l.p.Near*best), 1, l.p.RMax)
		n := math.Max(float64(ms[i].Latency[k].Requests60), 1)
		logs, weight = logs+n*math.Log(r), weight+n
		if r > most {
			most, v.worst, v.against, v.alone = r, k, best, others == 0
		}
	}
	if weight == 0 {
		return 1
	}
	return math.Exp(logs / weight)
}

// bound fills l.lo and l.up. While everybody is well the configured bands hold; otherwise a vendor may fall to
// the floor and rise to its cap, except that one which is well keeps at least its band's lower end: it is not
// punished for a faster peer.
func (l *Law) bound(ms []Measure) {
	steady, lo, up := true, 0.0, 0.0
	for i := range ms {
		if !ms[i].State.living() {
			steady = steady && ms[i].State == Out
			continue
		}
		steady = steady && l.vendors[i].well
		lo, up = lo+ms[i].Band[0], up+ms[i].Band[1]
	}
	l.steady = steady && lo <= 1+1e-9 && up >= 1-1e-9
	for i := range ms {
		l.boundOne(&ms[i], &l.vendors[i], i)
	}
	l.relax(ms)
}

func (l *Law) boundOne(m *Measure, v *vendor, i int) {
	l.lo[i], l.up[i], l.yield[i], v.capped = 0, 0, 0, false
	if !m.State.living() {
		return
	}
	floor := math.Min(l.p.Floor, m.Band[0])
	lo, up := floor, 1.0
	if m.Band[1] == 0 {
		up = 0
	}
	if l.steady {
		lo, up = inner(m.Band, m.Base)
	} else if v.well {
		lo = m.Band[0]
	}
	if room := math.Max(v.room.share(l.rate), l.p.Floor); room < up {
		up, v.capped = room, true
	}
	if v.room.relieved(l.clock) {
		lo = math.Max(lo, math.Min(v.w, up)) // relief is working: more would overshoot
	}
	if c := math.Max(v.ceiling, floor); c < up && !l.steady {
		l.yield[i], lo, up = up-c, floor, c
	}
	l.lo[i], l.up[i] = math.Min(lo, up), up
}

// inner is the band drawn in by half a point a side where it is wide enough: the share that is really carried
// wobbles by single requests around its weight, and it is the share that has to stay in the band.
func inner(band [2]float64, base float64) (lo, up float64) {
	margin := math.Min(0.005, (band[1]-band[0])/10)
	lo = math.Min(band[0]+margin, math.Max(base, band[0]))
	up = math.Max(band[1]-margin, math.Min(base, band[1]))
	return lo, up
}

// relax makes impossible bounds possible, because the traffic has to go somewhere: where the vendors together
// have too little room, first the SLO's ceilings give way, then the caps, both in proportion.
func (l *Law) relax(ms []Measure) {
	lo, up, yield := sum(l.lo), sum(l.up), sum(l.yield)
	if up < 1 && yield > 0 {
		part := math.Min((1-up)/yield, 1)
		for i := range ms {
			l.up[i] += part * l.yield[i]
		}
		up += part * yield
	}
	for i := range ms {
		if !ms[i].State.living() {
			continue
		}
		switch {
		case up == 0:
			l.up[i] = 1
		case up < 1:
			l.up[i] /= up
		}
		if lo > 1 {
			l.lo[i] /= lo
		}
		l.lo[i] = math.Min(l.lo[i], l.up[i])
	}
}

// fill spreads 1 in proportion to f inside [lo, up]: x = clamp(q*f, lo, up) with the one q that makes the sum 1.
// The sum grows with q in straight pieces that break where a vendor meets a bound, so q is found exactly.
func fill(x, f, lo, up []float64) {
	total := func(q float64) (sum float64) {
		for i := range f {
			if f[i] > 0 {
				sum += math.Min(math.Max(q*f[i], lo[i]), up[i])
			} else {
				sum += lo[i]
			}
		}
		return sum
	}
	below, above := 0.0, math.Inf(1)
	try := func(q float64) {
		if math.IsInf(q, 0) || math.IsNaN(q) {
			return
		}
		if total(q) <= 1 {
			below = math.Max(below, q)
		} else {
			above = math.Min(above, q)
		}
	}
	for i := range f {
		if f[i] > 0 {
			try(lo[i] / f[i])
			try(up[i] / f[i])
		}
	}
	q := below
	if !math.IsInf(above, 1) {
		if a, b := total(below), total(above); b > a {
			q = below + (above-below)*(1-a)/(b-a)
		}
	}
	for i := range f {
		x[i] = lo[i]
		if f[i] > 0 {
			x[i] = math.Min(math.Max(q*f[i], lo[i]), up[i])
		}
	}
}

// aim fills l.target from the scores, inside their bounds. A recovering vendor counts in proportion to its ramp,
// after the bounds, so that its end of the ramp is where it will stay.
func (l *Law) aim(ms []Measure) {
	l.bound(ms)
	fill(l.target, l.f, l.lo, l.up)
	for i := range ms {
		if ms[i].State == Ramp {
			l.target[i] *= math.Max(ms[i].ramped(), l.p.RampMin)
		}
	}
	normalise(l.target)
}

// normalise makes w sum to 1 as exactly as floats can, or leaves all zeros.
func normalise(w []float64) {
	sum, top := 0.0, 0
	for i := range w {
		w[i] = clampFinite(w[i], 0, 1e9)
		sum += w[i]
		if w[i] > w[top] {
			top = i
		}
	}
	if sum == 0 {
		return
	}
	rest := 1.0
	for i := range w {
		w[i] /= sum
		if i != top {
			rest -= w[i]
		}
	}
	w[top] = math.Max(rest, 0)
}

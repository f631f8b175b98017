package admission

import "time"

// Where the first ones that began are all that base rests on, an overload that was there
// from the first request on has told little of the time without it: they came quickly after
// each other, and are few. So when the line has gone a limited vendor is given clearly less for
// about two first tokens: what they take then is base. If that falls by as much as what was
// taken away had waited, the line still stood, and it is given less again.

const (
	// knownBy is how many samples of a time without load are enough.
	knownBy = firstMany
	// probeDeep is the part of its limit that a vendor is given, probeLine the part of
	// the due effect from which on the line still stood, and probesMost how often it is tried.
	probeDeep, probeLine = 0.8, 0.6
	probesMost           = 4
)

// probe is one, or none.
type probe struct {
	active bool
	done   bool
	times  int
	before float64 // the limit before the first
	took   float64 // seconds, before the first
	limit  float64 // the limit before this one
	last   float64 // seconds, before this one
}

// probes begins one if base is not known well and the line is gone.
func (l *Limit) probes(now time.Time, k Kind, x, q float64) bool {
	p := &l.probe
	if p.active || p.done || !l.proven || !l.w.turned || q > l.high(k) || l.seen[k] >= knownBy {
		return false
	}
	*p = probe{active: true, before: l.limit, took: x}
	l.deeper(now, x)
	return true
}

// deeper takes places away and waits for those who began since.
func (l *Limit) deeper(now time.Time, x float64) {
	p := &l.probe
	p.times++
	p.limit, p.last = l.limit, x
	l.limit = max(l.limit*probeDeep, Floor)
	l.w.from, l.w.ripe, l.w.ripens = now, time.Time{}, seconds(ripen*x*probeDeep)
	l.cut, l.grown, l.best = cut{}, 0, best{}
}

// probed looks at what one found.
func (l *Limit) probed(now time.Time, k Kind, x float64) {
	p := &l.probe
	due := (p.limit - l.limit) / max(l.rate, 1e-9)
	if p.last-x > probeLine*due && p.times < probesMost {
		l.deeper(now, x)
		return
	}
	l.base[k], l.anchor[k], l.spread[k] = x, x, l.w.variance(k)
	l.seen[k] += l.w.n[k]
	p.active, p.done = false, true
	l.limit = min(max(p.before-l.rate*(p.took-l.base[k]*l.target(k)), l.limit), p.before)
	l.w.from, l.w.ripe = now, time.Time{}
}

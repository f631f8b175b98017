package weights

import (
	"math"
	"time"
)

// windows are the lengths of the latency windows, as indexed by Latency.
var windows = [3]time.Duration{10 * time.Second, 60 * time.Second, 300 * time.Second}

// figure is a measurement that outlives its samples for a while.
type figure struct {
	value  float64 // NaN unknown
	at     time.Duration
	window int // index into windows
	n      int
}

func (f *figure) forget() { *f = figure{value: math.NaN()} }

// wilson is the lower bound of the Wilson score interval of k in n at z deviations
// (E. B. Wilson, "Probable inference", 1927).
func wilson(k, n int, z float64) float64 {
	if n <= 0 || k <= 0 {
		return 0
	}
	p, m := float64(k)/float64(n), float64(n)
	z2 := z * z
	mid := p + z2/(2*m)
	dev := z * math.Sqrt(p*(1-p)/m+z2/(4*m*m))
	return clampFinite((mid-dev)/(1+z2/m), 0, 1)
}

// observe takes one vendor's measure into its figures: latencies, errors, baselines, and how long it has been
// beyond the SLO.
func (l *Law) observe(v *vendor, m *Measure, dt float64) {
	if !m.State.living() {
		v.forget()
		return
	}
	for k := range v.latency {
		l.observeLatency(v, m, k, dt)
	}
	l.observeErrors(v, m)
	l.observeSLO(v, m)
	v.judge(l, m)
}

// within says whether a window of the given length began after the vendor came back: what it did before its
// ejection is not held against its ramp.
func within(m *Measure, window time.Duration) bool {
	return m.State != Ramp || m.RampFor >= window
}

func (l *Law) observeLatency(v *vendor, m *Measure, k int, dt float64) {
	f, lat := &v.latency[k], &m.Latency[k]
	for w := range windows {
		p := lat.P90[w]
		if lat.N[w] < l.p.NMin || !(p > 0) || math.IsInf(p, 0) || !within(m, windows[w]) {
			continue
		}
		*f = figure{value: p, at: l.clock, window: w, n: lat.N[w]}
		break
	}
	if l.clock-f.at > l.p.Keep {
		f.forget()
	}
	if b := &v.baseline[k]; math.IsNaN(*b) {
		*b = f.value
	} else if !math.IsNaN(f.value) {
		*b = math.Min(*b*(1+l.p.BaselineDrift*dt), f.value)
	}
}

// observeErrors keeps the larger of two lower bounds: a slow window that sees small rates, and a fast one that
// answers only when the case is plain. One fast window alone wandered at 5 % errors.
func (l *Law) observeErrors(v *vendor, m *Measure) {
	f := &v.errors
	switch {
	case m.Known60 >= l.p.NMin && within(m, windows[1]):
		e := math.Max(wilson(m.Faults60, m.Known60, 1.64), wilson(m.Faults10, m.Known10, 3))
		*f = figure{value: e, at: l.clock, window: 1, n: m.Known60}
	case m.Known10 >= l.p.NMin && within(m, windows[0]):
		*f = figure{value: wilson(m.Faults10, m.Known10, 3), at: l.clock, window: 0, n: m.Known10}
	case l.clock-f.at > l.p.Keep:
		f.forget()
	}
}

func (l *Law) observeSLO(v *vendor, m *Measure) {
	p, n := m.FirstTokenP90, m.Latency[Stream].N[1]
	known := p > 0 && !math.IsInf(p, 0) && n >= l.p.NMin && within(m, windows[1])
	if l.p.SLOP90 <= 0 {
		v.beyond, v.late = false, false
		return
	}
	if !known {
		if l.clock-v.sloKnown > l.p.Keep {
			v.beyond, v.late = false, false
		}
		return
	}
	v.sloKnown = l.clock
	if beyond := p > l.p.SLOP90.Seconds(); beyond != v.beyond {
		v.beyond, v.beyondSince = beyond, l.clock
	}
	if l.clock-v.beyondSince >= l.p.SLOHold {
		v.late = v.beyond
	}
}

// judge decides whether the vendor is well: healthy, inside the SLO, under 2 % errors and not limited. It stops
// being well at once and is well again after WellAfter, so that a figure at its bound does not flap the bands.
func (v *vendor) judge(l *Law, m *Measure) {
	sick := m.State != Well || m.Limited || v.beyond ||
		m.Known60 >= l.p.NMin && float64(m.Faults60) >= l.p.ErrorWell*float64(m.Known60)
	if sick {
		v.well, v.sickAt = false, l.clock
	} else if !v.well && l.clock-v.sickAt >= l.p.WellAfter {
		v.well = true
	}
}

func (v *vendor) errorRate() float64 {
	if math.IsNaN(v.errors.value) {
		return 0
	}
	return v.errors.value
}

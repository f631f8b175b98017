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
		v.away = l.clock
		return
	}
	for k := range v.latency {
		l.observeLatency(v, m, k, dt)
	}
	l.observeErrors(v, m)
	l.observeSLO(v, m)
	v.judge(l, m)
}

// covers says whether a window began after the vendor came back: what it did before its ejection is not held
// against it.
func (l *Law) covers(v *vendor, w int) bool { return l.clock-v.away >= windows[w] }

func (l *Law) observeLatency(v *vendor, m *Measure, k int, dt float64) {
	f, lat := &v.latency[k], &m.Latency[k]
	for w := range windows {
		p := lat.P90[w]
		if lat.N[w] < l.p.NMin || !(p > 0) || math.IsInf(p, 0) || !l.covers(v, w) {
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
	case m.Known60 >= l.p.NMin && l.covers(v, 1):
		e := math.Max(wilson(m.Faults60, m.Known60, 1.64), wilson(m.Faults10, m.Known10, 3))
		*f = figure{value: e, at: l.clock, window: 1, n: m.Known60}
	case m.Known10 >= l.p.NMin && l.covers(v, 0):
		*f = figure{value: wilson(m.Faults10, m.Known10, 3), at: l.clock, window: 0, n: m.Known10}
	case l.clock-f.at > l.p.Keep:
		f.forget()
	}
}

// observeSLO moves the vendor's ceiling under the absolute target. A vendor that has been beyond it for SLOHold
// sinks toward its floor while another one is within it, and comes back up when nobody is: moving work from one
// overloaded vendor to the next is how both are lost. Within the target for SLOHold it rises again slowly.
func (l *Law) observeSLO(v *vendor, m *Measure) {
	if l.p.SLOP90 <= 0 {
		v.beyond, v.late, v.ceiling = false, false, 1
		return
	}
	p, n := m.FirstTokenP90, m.Latency[Stream].N[1]
	switch {
	case p > 0 && !math.IsInf(p, 0) && n >= l.p.NMin && l.covers(v, 1):
		v.sloKnown = l.clock
		if beyond := p > l.p.SLOP90.Seconds(); beyond != v.beyond {
			v.beyond, v.beyondSince = beyond, l.clock
		}
	case l.clock-v.sloKnown > l.p.Keep && v.beyond:
		v.beyond, v.beyondSince = false, l.clock
	}
	if l.clock-v.beyondSince >= l.p.SLOHold {
		v.late = v.beyond
	}
}

// ceil moves the ceilings once every vendor has been observed. Slowness that came from load is no matter for
// them: less load cures it, and room remembers how much less.
func (l *Law) ceil(ms []Measure, dt float64) {
	for i := range ms {
		v := &l.vendors[i]
		if !ms[i].State.living() || l.p.SLOP90 <= 0 {
			v.ceiling = 1
			continue
		}
		loaded := v.room.open && v.room.proved || l.clock < v.room.patient
		late := v.late && v.beyond && v.latency[Stream].value > l.p.SLOP90.Seconds() && !loaded
		switch {
		case !l.relievable(ms, i):
			v.ceiling = math.Min(v.ceiling+l.p.Step*dt, 1)
		case late:
			// Never far ahead of the weight, which may be held: it would rush after it later.
			sunk := math.Min(v.ceiling, v.w) - l.p.Step*dt
			v.ceiling = math.Max(math.Max(sunk, v.w-l.p.SLOLead), 0)
		case !v.late:
			v.ceiling = math.Min(v.ceiling+l.p.SLORise*dt, 1)
		}
	}
}

// relievable says whether some other vendor is within the SLO and not strained itself.
func (l *Law) relievable(ms []Measure, i int) bool {
	for j := range ms {
		o := &l.vendors[j]
		if j != i && ms[j].State.living() && !o.beyond && !o.room.open &&
			!(o.latency[Stream].value > l.p.SLORoom*l.p.SLOP90.Seconds()) {
			return true
		}
	}
	return false
}

// judge decides whether the vendor is well: healthy, inside the SLO, under 2 % errors and not limited. It stops
// being well at once and is well again after WellAfter, so that a figure at its bound does not flap the bands.
func (v *vendor) judge(l *Law, m *Measure) {
	sick := m.State != Well || m.Limited || v.beyond && l.clock-v.beyondSince >= l.p.WellAfter || math.Min(v.ceiling, v.room.share(l.rate)) < m.Band[0] ||
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

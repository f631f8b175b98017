package weights

import (
	"math"
	"testing"
	"time"
)

var t0 = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// two is the usual pair, well and equally fast.
func two() []Measure {
	return []Measure{vendorAt("lanyun", 0.75, 0.5), vendorAt("bailian", 0.25, 0.5)}
}

func vendorAt(name string, base, p90 float64) Measure {
	m := Measure{Name: name, Base: base, Band: [2]float64{base - 0.05, base + 0.05}, Cap: math.Inf(1), FirstTokenP90: p90}
	m.Known10, m.Known60 = 500, 3000
	m.Latency[Stream] = Latency{P90: [3]float64{p90, p90, p90}, N: [3]int{500, 3000, 15000}, Requests60: 3000}
	m.Latency[Whole] = Latency{P90: [3]float64{math.NaN(), math.NaN(), math.NaN()}}
	return m
}

// slow sets every figure of a vendor's stream latency.
func (m *Measure) slow(p90 float64) {
	m.Latency[Stream].P90 = [3]float64{p90, p90, p90}
	m.FirstTokenP90 = p90
}

func (m *Measure) fail(rate float64) {
	m.Faults10, m.Faults60 = int(rate*float64(m.Known10)), int(rate*float64(m.Known60))
}

// run ticks the law n times at one second and returns the last decision.
func run(l *Law, now *time.Time, n int, ms []Measure, pin *Pin) (d Decision) {
	for range n {
		*now = now.Add(time.Second)
		d = l.Tick(*now, ms, pin)
	}
	return d
}

func TestLaw_StartsAtTheConfiguredWeightsAndStays(t *testing.T) {
	l, now := New(Default()), t0
	for range 600 {
		d := run(l, &now, 1, two(), nil)
		if d.Weights[0] != 0.75 || d.Weights[1] != 0.25 || d.Moved || d.Reasons[0] != "" {
			t.Fatalf("at %s: %+v", now.Sub(t0), d)
		}
	}
}

func TestLaw_ADownVendorIsZeroInTheSameTick(t *testing.T) {
	l, now := New(Default()), t0
	run(l, &now, 5, two(), nil)
	ms := two()
	ms[0].State = Down
	d := run(l, &now, 1, ms, nil)
	if d.Weights[0] != 0 || d.Weights[1] != 1 || !d.Moved || d.Reasons[0] == "" {
		t.Fatalf("%+v", d)
	}
}

func TestLaw_DropZeroesBetweenTicks(t *testing.T) {
	l, now := New(Default()), t0
	run(l, &now, 5, two(), nil)
	if d := l.Drop("lanyun"); d.Weights[0] != 0 || d.Weights[1] != 1 || d.Panic {
		t.Fatalf("%+v", d)
	}
	if d := l.Drop("bailian"); !d.Panic || !near(d.Weights[0], 0.75, 1e-9) {
		t.Fatalf("the last vendor was ejected: %+v", d)
	}
	if d := New(Default()).Drop("nobody"); len(d.Weights) != 0 {
		t.Fatalf("%+v", d)
	}
}

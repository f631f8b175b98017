package weights

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// nonsense is a figure that may be anything a broken owner can produce.
func nonsense(rng *rand.Rand) float64 {
	switch rng.IntN(9) {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1)
	case 2:
		return math.Inf(-1)
	case 3:
		return 0
	case 4:
		return -rng.Float64()
	case 5:
		return math.MaxFloat64
	case 6:
		return math.SmallestNonzeroFloat64
	}
	return rng.Float64()
}

func anyMeasure(rng *rand.Rand, name string) Measure {
	m := Measure{
		Name: name, Base: nonsense(rng), Band: [2]float64{nonsense(rng), nonsense(rng)}, State: State(rng.IntN(5)),
		RampFor: time.Duration(rng.Int64()), RampLen: time.Duration(rng.Int64() - rng.Int64()),
		Faults10: rng.IntN(100) - 20, Known10: rng.IntN(100) - 20, Faults60: rng.IntN(1000) - 20, Known60: rng.IntN(1000) - 20,
		FirstTokenP90: nonsense(rng), Limited: rng.IntN(4) == 0, Cap: nonsense(rng),
	}
	for k := range m.Latency {
		for w := range m.Latency[k].P90 {
			m.Latency[k].P90[w], m.Latency[k].N[w] = nonsense(rng), rng.IntN(200)-20
		}
		m.Latency[k].Requests60 = rng.IntN(1000) - 100
	}
	return m
}

func check(t *testing.T, d Decision, ms []Measure) {
	t.Helper()
	out := 0
	for i := range ms {
		if ms[i].State >= Out {
			out++
		}
	}
	for name, w := range map[string][]float64{"weights": d.Weights, "targets": d.Targets} {
		total := 0.0
		for i, x := range w {
			if !(x >= 0 && x <= 1) {
				t.Fatalf("%s[%d] is %v in %v", name, i, x, w)
			}
			total += x
		}
		if want := 1.0; math.Abs(total-want) > 1e-9 && (out < len(ms) || total != 0) && !(name == "targets" && total == 0) {
			t.Fatalf("%s %v sum to %v", name, w, total)
		}
	}
}

func TestTick_WhateverComesInWeightsSumToOne(t *testing.T) { // P1, P16
	rng := rand.New(rand.NewPCG(11, 12))
	names := []string{"a", "b", "c", "d", "a", ""}
	for range 200 {
		l, now := New(Default()), t0
		for range 100 {
			ms := make([]Measure, 0, 5)
			for range rng.IntN(5) {
				ms = append(ms, anyMeasure(rng, names[rng.IntN(len(names))]))
			}
			var pin *Pin
			switch rng.IntN(6) {
			case 0:
				pin = &Pin{Weights: map[string]float64{"a": nonsense(rng), "b": nonsense(rng)}, Override: rng.IntN(2) == 0}
			case 1:
				l.Set(map[string]float64{"a": nonsense(rng), "c": nonsense(rng)})
			}
			now = now.Add(time.Duration(rng.IntN(5)-1) * 700 * time.Millisecond)
			if rng.IntN(20) == 0 {
				now = now.Add(time.Duration(rng.IntN(200)-100) * time.Hour)
			}
			check(t, l.Tick(now, ms, pin), ms)
			if rng.IntN(5) == 0 {
				for _, w := range l.Drop("a").Weights {
					if math.IsNaN(w) || w < 0 || w > 1 {
						t.Fatalf("after a drop: %v", w)
					}
				}
			}
		}
	}
}

func TestTick_ADownOrOutVendorNeverHasWeight(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	l, now := New(Default()), t0
	for range 3000 {
		ms := []Measure{vendorAt("a", 0.5, 0.5), vendorAt("b", 0.3, 0.5), vendorAt("c", 0.2, 0.5)}
		living := 0
		for i := range ms {
			ms[i].State = State(rng.IntN(4))
			if ms[i].State.living() {
				living++
			}
		}
		d := run(l, &now, 1, ms, nil)
		for i := range ms {
			if !ms[i].State.living() && living > 0 && d.Weights[i] != 0 && !d.Panic {
				t.Fatalf("vendor %d is %v and has %v", i, ms[i].State, d.Weights)
			}
		}
	}
}

// wander moves every vendor's latency and errors about, all of them alive.
func wander(rng *rand.Rand, ms []Measure, errors bool) {
	for i := range ms {
		if rng.IntN(20) == 0 {
			ms[i].slow(0.2 + 3*rng.Float64()*rng.Float64())
		}
		if errors && rng.IntN(40) == 0 {
			ms[i].fail(0.3 * rng.Float64() * rng.Float64())
		}
	}
}

func TestTick_AHealthyVendorKeepsItsFloor(t *testing.T) { // P2
	rng := rand.New(rand.NewPCG(15, 16))
	for range 20 {
		l, now := New(Default()), t0
		ms := []Measure{vendorAt("a", 0.7, 0.5), vendorAt("b", 0.2, 0.5), vendorAt("c", 0.1, 0.5), vendorAt("off", 0, 0.5)}
		ms[2].Band = [2]float64{0.02, 0.12}
		ms[3].Band = [2]float64{0, 0}
		for range 500 {
			wander(rng, ms, true)
			d := run(l, &now, 1, ms, nil)
			for i, floor := range []float64{0.05, 0.05, 0.02, 0} {
				if d.Weights[i] < floor-1e-9 {
					t.Fatalf("%s has %v, floor %v", ms[i].Name, d.Weights[i], floor)
				}
			}
			if d.Weights[3] != 0 {
				t.Fatalf("a band of [0, 0] carries %v", d.Weights[3])
			}
		}
	}
}

func TestTick_NoStepIsLargerThanAllowed(t *testing.T) { // P5
	rng := rand.New(rand.NewPCG(17, 18))
	l, now, last := New(Default()), t0, []float64{0.5, 0.3, 0.2}
	ms := []Measure{vendorAt("a", 0.5, 0.5), vendorAt("b", 0.3, 0.5), vendorAt("c", 0.2, 0.5)}
	for range 5000 {
		wander(rng, ms, false)
		d := run(l, &now, 1, ms, nil)
		for i := range ms {
			if math.Abs(d.Weights[i]-last[i]) > 0.02+1e-9 {
				t.Fatalf("%s went from %v to %v in one tick", ms[i].Name, last[i], d.Weights[i])
			}
		}
		copy(last, d.Weights)
	}
}

func TestTick_NoVendorTurnsMoreThanTwiceAMinute(t *testing.T) { // P4
	rng := rand.New(rand.NewPCG(29, 30))
	l, now := New(Default()), t0
	ms := []Measure{vendorAt("a", 0.5, 0.5), vendorAt("b", 0.3, 0.5), vendorAt("c", 0.2, 0.5)}
	s := &sim{}
	for range 10000 {
		wander(rng, ms, false)
		s.history = append(s.history, run(l, &now, 1, ms, nil).Weights)
	}
	for i := range ms {
		if got := worstMinute(s.turns(i)); got > 2 {
			t.Errorf("%s turned %d times within a minute, at %v", ms[i].Name, got, s.turns(i))
		}
	}
}

func TestTick_TooFewSamplesMoveNothing(t *testing.T) { // P9
	l, now := New(Default()), t0
	ms := two()
	ms[0].slow(5)
	ms[0].Latency[Stream].N = [3]int{49, 49, 49}
	ms[0].Known10, ms[0].Known60 = 49, 49
	ms[0].fail(0.4)
	if d := run(l, &now, 600, ms, nil); d.Weights[0] != 0.75 {
		t.Fatalf("moved to %v", d.Weights)
	}
}

func TestTick_ALatencyWithoutSamplesIsKeptForFiveMinutesThenUnknown(t *testing.T) {
	l, now := New(Default()), t0
	ms := two()
	ms[0].slow(3)
	ms[0].FirstTokenP90 = 1.5
	before := run(l, &now, 120, ms, nil).Targets[0]
	ms[0].Latency[Stream].N = [3]int{}
	if got := run(l, &now, 200, ms, nil).Targets[0]; math.Abs(got-before) > 0.01 {
		t.Fatalf("target %v after 200 s without samples, was %v", got, before)
	}
	if got := run(l, &now, 300, ms, nil).Targets[0]; got < 0.70 {
		t.Fatalf("target %v, want the band once nothing is known", got)
	}
}

func TestTick_RelabellingVendorsRelabelsWeights(t *testing.T) { // P13
	rng := rand.New(rand.NewPCG(19, 20))
	la, lb, now := New(Default()), New(Default()), t0
	ms := []Measure{vendorAt("a", 0.5, 0.5), vendorAt("b", 0.3, 0.5), vendorAt("c", 0.2, 0.5)}
	for range 1000 {
		wander(rng, ms, true)
		now = now.Add(time.Second)
		swapped := []Measure{ms[2], ms[0], ms[1]}
		a, b := la.Tick(now, ms, nil).Weights, lb.Tick(now, swapped, nil).Weights
		if !near(a[0], b[1], 1e-9) || !near(a[1], b[2], 1e-9) || !near(a[2], b[0], 1e-9) {
			t.Fatalf("%v and %v", a, b)
		}
	}
}

func TestTick_ReorderingOnTheWayChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	la, lb, now := New(Default()), New(Default()), t0
	ms := []Measure{vendorAt("a", 0.5, 0.5), vendorAt("b", 0.3, 0.5), vendorAt("c", 0.2, 0.5)}
	for n := range 1000 {
		wander(rng, ms, true)
		now = now.Add(time.Second)
		other := []Measure{ms[0], ms[1], ms[2]}
		rng.Shuffle(3, func(i, j int) { other[i], other[j] = other[j], other[i] })
		a, b := la.Tick(now, ms, nil).Weights, lb.Tick(now, other, nil).Weights
		for i := range ms {
			for j := range other {
				if ms[i].Name == other[j].Name && !near(a[i], b[j], 1e-9) {
					t.Fatalf("tick %d: %s has %v and %v", n, ms[i].Name, a[i], b[j])
				}
			}
		}
	}
}

func TestTick_OnlyRelativeLatencyCounts(t *testing.T) { // P14
	rng := rand.New(rand.NewPCG(23, 24))
	p := Default()
	p.SLOP90 = 100 * time.Second
	la, lb, now := New(p), New(p), t0
	ms := two()
	for range 1000 {
		wander(rng, ms, false)
		now = now.Add(time.Second)
		tenfold := []Measure{ms[0], ms[1]}
		for i := range tenfold {
			tenfold[i].slow(10 * tenfold[i].FirstTokenP90)
		}
		a, b := la.Tick(now, ms, nil).Weights, lb.Tick(now, tenfold, nil).Weights
		if !near(a[0], b[0], 1e-9) {
			t.Fatalf("%v and %v", a, b)
		}
	}
}

func TestTick_MoreLatencyNeverRaisesTheTarget(t *testing.T) { // P15
	rng := rand.New(rand.NewPCG(25, 26))
	for range 2000 {
		n := 2 + rng.IntN(3)
		ms := make([]Measure, n)
		for i := range ms {
			ms[i] = vendorAt(fmt.Sprint(i), 1/float64(n), 0.2+2*rng.Float64())
			ms[i].fail(0.1 * rng.Float64() * rng.Float64())
		}
		before := New(Default()).Tick(t0, ms, nil).Targets[0]
		ms[0].slow(ms[0].FirstTokenP90 * (1 + 3*rng.Float64()))
		if after := New(Default()).Tick(t0, ms, nil).Targets[0]; after > before+1e-9 {
			t.Fatalf("target rose from %v to %v", before, after)
		}
	}
}

func TestFill_StaysInsideItsBoundsAndSumsToOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	for range 20000 {
		n := 1 + rng.IntN(6)
		f, lo, up, x := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range f {
			f[i] = math.Pow(rng.Float64(), 8) + 1e-12
			lo[i] = rng.Float64() / float64(n)
			up[i] = lo[i] + rng.Float64()
		}
		if sum(up) < 1 {
			continue
		}
		fill(x, f, lo, up)
		if !near(sum(x), 1, 1e-9) {
			t.Fatalf("f %v lo %v up %v: %v sums to %v", f, lo, up, x, sum(x))
		}
		for i := range x {
			if x[i] < lo[i]-1e-12 || x[i] > up[i]+1e-12 {
				t.Fatalf("x %v outside [%v, %v]", x, lo, up)
			}
		}
	}
}

func BenchmarkTick(b *testing.B) { // budget: 10 us, 5 allocations at rest
	l, now, ms := New(Default()), t0, two()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Second)
		l.Tick(now, ms, nil)
	}
}

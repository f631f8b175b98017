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

func TestLaw_PanicsAtConfiguredWeightsAndRecovers(t *testing.T) { // P11
	l, now := New(Default()), t0
	ms := two()
	ms[0].slow(3)
	run(l, &now, 100, ms, nil)
	ms[0].State, ms[1].State = Down, Down
	d := run(l, &now, 1, ms, nil)
	if !d.Panic || !near(d.Weights[0], 0.75, 1e-9) {
		t.Fatalf("%+v", d)
	}
	ms = two()
	ms[1].State, ms[0].State, ms[1].RampLen = Ramp, Down, time.Minute
	if d = run(l, &now, 3, ms, nil); !d.Panic {
		t.Fatal("panic ended before its hold")
	}
	if d = run(l, &now, 10, ms, nil); d.Panic || d.Weights[1] != 1 {
		t.Fatalf("the one that recovers should have it all: %+v", d)
	}
}

func TestLaw_PanicLeavesOutWhoIsOut(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].State, ms[1].State = Out, Down
	if d := run(l, &now, 1, ms, nil); !d.Panic || d.Weights[0] != 0 || d.Weights[1] != 1 {
		t.Fatalf("%+v", d)
	}
	ms[1].State = Out
	if d := run(l, &now, 1, ms, nil); d.Panic || d.Weights[0] != 0 || d.Weights[1] != 0 {
		t.Fatalf("nobody may carry anything: %+v", d)
	}
	if d := run(l, &now, 1, two(), nil); !near(sum(d.Weights), 1, 1e-9) {
		t.Fatalf("%+v", d)
	}
}

func TestLaw_APinIsExactAndHealthBeatsItUnlessItOverrides(t *testing.T) { // P12
	pin := &Pin{Weights: map[string]float64{"lanyun": 0.6, "bailian": 0.4}}
	l, now, ms := New(Default()), t0, two()
	if d := run(l, &now, 1, ms, pin); d.Weights[0] != 0.6 || d.Targets[0] != 0.75 || d.Reasons[0] == "" {
		t.Fatalf("%+v", d)
	}
	ms[0].State = Down
	if d := run(l, &now, 1, ms, pin); d.Weights[0] != 0 || d.Weights[1] != 1 {
		t.Fatalf("%+v", d)
	}
	over := &Pin{Weights: pin.Weights, Override: true}
	if d := run(l, &now, 1, ms, over); d.Weights[0] != 0.6 {
		t.Fatalf("%+v", d)
	}
	if d := l.Drop("bailian"); d.Weights[1] != 0.4 {
		t.Fatalf("a drop broke an overriding pin: %+v", d)
	}
	none := &Pin{Weights: map[string]float64{"lanyun": 1}}
	if d := run(l, &now, 1, ms, none); d.Weights[1] != 1 {
		t.Fatalf("a pin onto a dead vendor alone: %+v", d)
	}
}

func TestLaw_AReleaseGoesOnFromThePinWithNormalSteps(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	run(l, &now, 5, ms, &Pin{Weights: map[string]float64{"lanyun": 0.2, "bailian": 0.8}})
	last := 0.2
	for range 60 {
		w := run(l, &now, 1, ms, nil).Weights[0]
		if w < last-1e-9 || w > last+0.02+1e-9 {
			t.Fatalf("from %v to %v", last, w)
		}
		last = w
	}
	if last < 0.70 {
		t.Fatalf("only at %v after a minute", last)
	}
}

func TestLaw_ResumesSavedWeightsUnlessTheyAreOld(t *testing.T) { // P17
	saved := map[string]float64{"lanyun": 0.78, "bailian": 0.22}
	l, now := New(Default()), t0
	if !l.Resume(saved, t0.Add(-4*time.Minute), t0) {
		t.Fatal("refused weights of 4 minutes ago")
	}
	if d := run(l, &now, 1, two(), nil); !near(d.Weights[0], 0.78, 1e-9) {
		t.Fatalf("%+v", d)
	}
	l = New(Default())
	if l.Resume(saved, t0.Add(-6*time.Minute), t0) {
		t.Fatal("took weights of 6 minutes ago")
	}
	if d := run(l, &now, 1, two(), nil); d.Weights[0] != 0.75 {
		t.Fatalf("%+v", d)
	}
}

func TestLaw_ARampGrowsAlongAndEndsAtTheTarget(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].State = Down
	run(l, &now, 20, ms, nil)
	ms[0].State, ms[0].RampLen = Ramp, time.Minute
	last := 0.0
	for s := range 60 {
		ms[0].RampFor = time.Duration(s) * time.Second
		w := run(l, &now, 1, ms, nil).Weights[0]
		if w < last-1e-9 || w > last+0.05+1e-9 {
			t.Fatalf("at %d s of the ramp from %v to %v", s, last, w)
		}
		if s == 20 && (w < 0.3 || w > 0.6) {
			t.Fatalf("%v a third along", w)
		}
		last = w
	}
	ms[0].State = Well
	if w := run(l, &now, 10, ms, nil).Weights[0]; w < 0.73 {
		t.Fatalf("%v after the ramp", w)
	}
}

func TestLaw_ErrorsFromBeforeAnEjectionDoNotHoldBackTheRamp(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	run(l, &now, 5, ms, nil)
	ms[0].State = Down
	run(l, &now, 12, ms, nil)
	ms[0].State, ms[0].RampLen, ms[0].RampFor = Ramp, time.Minute, 9*time.Second
	ms[0].Faults60 = 1500
	if got := run(l, &now, 1, ms, nil).Targets[0]; got < 0.25 {
		t.Fatalf("target %v", got)
	}
}

func TestLaw_AConfiguredWeightChangedAppliesAtOnce(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	run(l, &now, 5, ms, nil)
	ms[0].Base, ms[0].Band = 0.6, [2]float64{0.55, 0.65}
	ms[1].Base, ms[1].Band = 0.4, [2]float64{0.35, 0.45}
	if d := run(l, &now, 1, ms, nil); !near(d.Weights[0], 0.6, 1e-9) {
		t.Fatalf("%+v", d)
	}
	third := append(ms, vendorAt("third", 0.2, 0.5))
	third[0].Base, third[1].Base = 0.5, 0.3
	third[0].Band, third[1].Band = [2]float64{0.45, 0.55}, [2]float64{0.25, 0.35}
	if d := run(l, &now, 1, third, nil); !near(d.Weights[2], 0.2, 1e-9) || !near(d.Weights[0], 0.5, 1e-9) {
		t.Fatalf("%+v", d)
	}
	if d := run(l, &now, 1, ms[1:], nil); d.Weights[0] != 1 {
		t.Fatalf("%+v", d)
	}
}

func TestLaw_ARebasedSickVendorIsNotHandedItsFullWeight(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].fail(0.2)
	low := run(l, &now, 60, ms, nil).Weights[0]
	ms[0].Base, ms[1].Base = 0.7, 0.3
	if w := run(l, &now, 1, ms, nil).Weights[0]; w > low+0.05 {
		t.Fatalf("from %v to %v", low, w)
	}
}

func TestLaw_AVendorBeyondTheSLOForAMinuteSinksToItsFloor(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].slow(1.3)
	ms[1].slow(0.8)
	if w := run(l, &now, 55, ms, nil).Weights[0]; w < 0.5 {
		t.Fatalf("already at %v", w)
	}
	if w := run(l, &now, 90, ms, nil).Weights[0]; !near(w, 0.05, 0.011) {
		t.Fatalf("at %v, want its floor", w)
	}
}

func TestLaw_BeyondTheSLOTogetherNobodySinks(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].slow(1.6)
	ms[1].slow(1.5)
	if w := run(l, &now, 300, ms, nil).Weights[0]; w != 0.75 {
		t.Fatalf("at %v", w)
	}
}

func TestLaw_WithinTheSLOAFasterPeerCostsNoMoreThanTheBand(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].slow(0.9)
	ms[1].slow(0.2)
	if w := run(l, &now, 300, ms, nil).Weights[0]; w < 0.70 {
		t.Fatalf("at %v", w)
	}
}

func TestLaw_KindsAreNeverMixed(t *testing.T) {
	// The secondary does whole answers of 6 s and streams as fast as the primary; only streams compare.
	l, now, ms := New(Default()), t0, two()
	ms[1].Latency[Whole] = Latency{P90: [3]float64{6, 6, 6}, N: [3]int{400, 2000, 9000}, Requests60: 2000}
	if d := run(l, &now, 300, ms, nil); d.Weights[0] != 0.75 {
		t.Fatalf("%+v", d)
	}
}

func TestLaw_ACapIsFollowedFastAndSaysSo(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	run(l, &now, 5, ms, nil)
	ms[0].Cap, ms[0].Limited = 0.4, true
	d := run(l, &now, 1, ms, nil)
	if w := d.Weights[0]; w > 0.68 || d.Reasons[0] == "" {
		t.Fatalf("%+v", d)
	}
	if w := run(l, &now, 10, ms, nil).Weights[0]; !near(w, 0.4, 0.03) {
		t.Fatalf("at %v", w)
	}
	ms[1].Cap = 0.3
	if d := run(l, &now, 60, ms, nil); !near(d.Weights[0], 0.4/0.7, 0.05) {
		t.Fatalf("caps that cannot hold all give way in proportion: %v", d.Weights)
	}
}

func TestLaw_EveryMoveSaysWhy(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	run(l, &now, 5, ms, nil)
	ms[0].slow(1.9)
	ms[0].Latency[Stream].N[0] = 812
	moved := false
	for range 30 {
		d := run(l, &now, 1, ms, nil)
		if d.Moved {
			moved = true
			if d.Reasons[0] != "P90 1.90s against 0.50s; 10s window, n=812" || d.Reasons[1] != "lanyun: "+d.Reasons[0] {
				t.Fatalf("%q", d.Reasons)
			}
		}
	}
	if !moved {
		t.Fatal("nothing moved")
	}
}

func TestLaw_AHoldSaysWhenItEnds(t *testing.T) {
	l, now, ms := New(Default()), t0, two()
	ms[0].slow(1.4)
	run(l, &now, 20, ms, nil)
	ms[0].slow(0.5)
	for range 10 {
		if d := run(l, &now, 1, ms, nil); len(d.Reasons[0]) > 5 && d.Reasons[0][:5] == "held:" {
			return
		}
	}
	t.Fatal("turned round without a hold")
}

func TestLaw_ACandidateExplainsNobodysMove(t *testing.T) {
	l, now := New(Default()), t0
	ms := append(two(), vendorAt("candidate", 0, 0.5))
	ms[2].State = Out
	ms[0].slow(1.9)
	for range 20 {
		d := run(l, &now, 1, ms, nil)
		if d.Moved && d.Reasons[1] != "lanyun: "+d.Reasons[0] {
			t.Fatalf("%q", d.Reasons)
		}
	}
}

func TestLaw_APinnedVendorComesBackOverItsRamp(t *testing.T) {
	pin := &Pin{Weights: map[string]float64{"lanyun": 0.76, "bailian": 0.24}}
	l, now, ms := New(Default()), t0, two()
	ms[0].State = Down
	run(l, &now, 3, ms, pin)
	ms[0].State, ms[0].RampLen = Ramp, time.Minute
	before := 0.0
	for s := range 60 {
		ms[0].RampFor = time.Duration(s) * time.Second
		d := run(l, &now, 1, ms, pin)
		if d.Weights[0] < before || (s < 10 && d.Weights[0] > 0.4) {
			t.Fatalf("%d s into its ramp it has %.2f, after %.2f", s, d.Weights[0], before)
		}
		before = d.Weights[0]
	}
	ms[0].State = Well
	if d := run(l, &now, 1, ms, pin); d.Weights[0] != 0.76 {
		t.Fatalf("after the ramp the pin is exact: %+v", d)
	}
}

func TestLaw_WhatIsForgottenOfAVendorLetsItBackAtOnce(t *testing.T) {
	back := func(forget bool) (seconds int) {
		l, now := New(Default()), t0
		run(l, &now, 5, two(), nil)
		limited := two()
		limited[0].Cap = 0.3
		run(l, &now, 60, limited, nil)
		if forget {
			l.Forget("lanyun")
		}
		for seconds < 900 {
			seconds++
			if d := run(l, &now, 1, two(), nil); d.Weights[0] >= 0.70 {
				break
			}
		}
		return seconds
	}
	kept, forgotten := back(false), back(true)
	if forgotten > 60 || forgotten >= kept {
		t.Errorf("in its band after %d s where the limit was forgotten, after %d s where it had only ended", forgotten, kept)
	}
}

// Of a vendor whose limit was learned the memory of an overload says nothing any more; one whose ramp has ended is
// said to have recovered.
func TestLaw_ALearnedLimitIsInPlaceOfAnEdge(t *testing.T) {
	l := New(Default())
	ms := []Measure{
		{Name: "a", Base: 0.75, Band: [2]float64{0, 1}, Cap: math.Inf(1)},
		{Name: "b", Base: 0.25, Band: [2]float64{0, 1}, Cap: math.Inf(1)},
	}
	now := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)
	l.Tick(now, ms, nil)
	l.vendors[0].room.met(&l.p, l.clock, 15)
	l.vendors[0].room.edge = 15
	ms[0].Cap, ms[0].Measured = 0.6, true
	l.Tick(now.Add(time.Second), ms, nil)
	if r := l.vendors[0].room; r.edge != 0 || r.cap != 0.6 {
		t.Errorf("edge %v and cap %v, want none and 0.6", r.edge, r.cap)
	}
	ms[1].State = Ramp
	l.Tick(now.Add(2*time.Second), ms, nil)
	ms[1].State = Well
	if d := l.Tick(now.Add(3*time.Second), ms, nil); d.Reasons[1] != "recovered" {
		t.Errorf("after its ramp: %q", d.Reasons[1])
	}
}

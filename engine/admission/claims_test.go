package admission

import (
	"fmt"
	"testing"
)

// shapes are kinds of vendors that are full in different ways.
var shapes = map[string]func() *simVendor{
	"eight places of 200 ms":       func() *simVendor { return &simVendor{slots: 8, first: 0.2, sigma: 0.1} },
	"places of 300 ms, spread":     func() *simVendor { return &simVendor{slots: 30, first: 0.3, sigma: 0.35} },
	"streams, first token 0.3 s":   func() *simVendor { return &simVendor{slots: 80, first: 0.3, sigma: 0.3, rest: 0.7} },
	"one processor, shared by all": func() *simVendor { return &simVendor{slots: 60, first: 0.3, sigma: 0.35, rest: 0.3, shared: true} },
}

func elastic() *simVendor { return &simVendor{slots: 1e6, first: 0.3, sigma: 0.35, rest: 0.4} }

func each(t *testing.T, seeds uint64, f func(t *testing.T, seed uint64)) {
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { f(t, seed+1) })
	}
}

// At 1.3 times what both vendors can do, over 95 % of it is done and who is
// admitted waits little longer than without load; when the load has gone, all is
// as before within 30 s.
func TestOverload_GoodputStaysAndTheAdmittedAreServedWell(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			each(t, 2, func(t *testing.T, seed uint64) {
				s := newSim(seed, shape(), shape())
				capacity := 2 * s.v[0].capacity()
				s.rate = steps(0, 0.6*capacity, 60, 1.3*capacity, 180, 0.6*capacity)
				s.run(240)
				before, over, after := s.figures(20, 60), s.figures(75, 180), s.figures(190, 210)
				t.Logf("unloaded P99 %.0f ms; in overload %.1f %% of capacity, P50 %.0f P99 %.0f ms; after P99 %.0f ms", before.p99*1e3, 100*over.perSecond/capacity, over.p50*1e3, over.p99*1e3, after.p99*1e3)
				if before.shed != [Lanes]int{} {
					t.Errorf("%d refused at 0.6 of capacity", before.shed)
				}
				if over.perSecond < 0.95*capacity {
					t.Errorf("%.1f answers/s of %.1f", over.perSecond, capacity)
				}
				if over.p99 > 1.5*before.p99 {
					t.Errorf("P99 of the admitted %.0f ms, unloaded %.0f", over.p99*1e3, before.p99*1e3)
				}
				if after.shed != [Lanes]int{} || after.p99 > 1.1*before.p99 {
					t.Errorf("from 10 s after it: %d refused, P99 %.0f ms, before %.0f", after.shed, after.p99*1e3, before.p99*1e3)
				}
				if _, limiting := s.v[0].limit.Value(); limiting {
					t.Error("a minute after the overload the limit is still in force")
				}
			})
		})
	}
}

// The primary dies under a load of which the other vendor holds half.
func TestKilledPrimary_HalfIsServedWellAndTheRestRefusedAtOnce(t *testing.T) {
	each(t, 3, func(t *testing.T, seed uint64) {
		p, q := &simVendor{slots: 60, first: 0.3, sigma: 0.35}, &simVendor{slots: 32, first: 0.3, sigma: 0.35}
		s := newSim(seed, p, q)
		s.weights = []float64{0.75, 0.25}
		s.rate = flat(2 * q.capacity())
		s.change = func(t float64) { p.dead = t >= 60 && t < 120 }
		s.run(180)
		before, during, after := s.figures(20, 60), s.figures(70, 120), s.figures(130, 180)
		t.Logf("before P99 %.0f ms; during %.1f/s of %.1f, P99 %.0f ms; after P99 %.0f ms", before.p99*1e3, during.perSecond, q.capacity(), during.p99*1e3, after.p99*1e3)
		if during.perSecond < 0.95*q.capacity() {
			t.Errorf("the survivor answers %.1f/s of %.1f", during.perSecond, q.capacity())
		}
		if during.p99 > 1.5*before.p99 {
			t.Errorf("P99 of the admitted %.0f ms, before %.0f", during.p99*1e3, before.p99*1e3)
		}
		if after.shed != [Lanes]int{} || after.p99 > 1.1*before.p99 {
			t.Errorf("from 10 s after it: %d refused, P99 %.0f ms, before %.0f", after.shed, after.p99*1e3, before.p99*1e3)
		}
	})
}

// A vendor with spare room is not throttled, however fast the load comes.
func TestGrowth_OfAHealthyVendorIsNotThrottled(t *testing.T) {
	for name, rate := range map[string]func(float64) float64{
		"at once":   steps(0, 4, 60, 1600),
		"gradual":   func(t float64) float64 { return min(4+t*t/4, 1600) },
		"at rest":   flat(60),
		"a trickle": flat(0.5),
	} {
		t.Run(name, func(t *testing.T) {
			each(t, 1, func(t *testing.T, seed uint64) {
				s := newSim(seed, elastic(), elastic())
				s.rate = rate
				s.run(80)
				f := s.figures(0, 80)
				// 400 times the load within a second is the one thing that costs somebody a place.
				if most := f.arrived[Interactive] / 1000; f.shed[Interactive] > most {
					t.Errorf("%d of %d refused", f.shed[Interactive], f.arrived[Interactive])
				}
				for i, v := range s.v {
					if n, limiting := v.limit.Value(); limiting {
						t.Errorf("vendor %d is limited to %.0f", i, n)
					}
				}
			})
		})
	}
}

// Hours of steady load, up to 0.9 of capacity, limit nobody.
func TestRest_LimitsNobody(t *testing.T) {
	for _, load := range []float64{0.3, 0.8} {
		t.Run(fmt.Sprintf("%g of capacity", load), func(t *testing.T) {
			a, b := &simVendor{slots: 60, first: 0.3, sigma: 0.35}, &simVendor{slots: 60, first: 0.3, sigma: 0.5}
			s := newSim(6, a, b)
			s.rate = flat(load * (a.capacity() + b.capacity()))
			limited := 0
			s.change = func(float64) {
				for _, v := range s.v {
					if _, limiting := v.limit.Value(); limiting {
						limited++
					}
				}
			}
			s.run(1800)
			if f := s.figures(0, 1800); f.shed != [Lanes]int{} || limited > 36 {
				t.Errorf("%d of %d refused; limited for %d of 3600 s", f.shed, f.arrived, limited)
			}
		})
	}
}

// A vendor that became slower, and not because of us, is no reason to lose
// requests while the other has room; nor is it held back for ever.
func TestBrownout_LosesNothingWhileTheOtherVendorHasRoom(t *testing.T) {
	for _, slow := range []float64{1.6, 3, 10} {
		t.Run(fmt.Sprintf("%g times slower", slow), func(t *testing.T) {
			each(t, 3, func(t *testing.T, seed uint64) {
				a, b := elastic(), elastic()
				s := newSim(seed, a, b)
				s.rate = flat(100)
				s.change = func(t float64) {
					a.slow = 1
					if t >= 60 && t < 120 {
						a.slow = slow
					}
				}
				s.run(180)
				if f := s.figures(0, 180); f.shed != [Lanes]int{} {
					t.Errorf("%d of %d refused", f.shed, f.arrived)
				}
				if n, limiting := a.limit.Value(); limiting {
					t.Errorf("a minute after it the vendor is limited to %.0f", n)
				}
			})
		})
	}
}

// The only vendor becomes three times slower without being full: it is believed
// after a while that it is so.
func TestBrownout_OfTheOnlyVendorIsBelieved(t *testing.T) {
	each(t, 5, func(t *testing.T, seed uint64) {
		a := elastic()
		s := newSim(seed, a)
		s.rate = flat(100)
		s.change = func(t float64) {
			if t >= 60 {
				a.slow = 3
			}
		}
		s.run(150)
		if f := s.figures(85, 150); f.shed != [Lanes]int{} {
			t.Errorf("from 25 s after it %d of %d are refused", f.shed, f.arrived)
		}
	})
}

// With batch work in the load, it is what waits and what goes.
func TestOverload_BatchWaitsAndIsShedFirst(t *testing.T) {
	each(t, 3, func(t *testing.T, seed uint64) {
		p, q := &simVendor{slots: 60, first: 0.3, sigma: 0.35}, &simVendor{slots: 32, first: 0.3, sigma: 0.35}
		s := newSim(seed, p, q)
		s.batch, s.deadline = 0.5, 20
		capacity := p.capacity() + q.capacity()
		s.rate = steps(0, 0.6*capacity, 60, 1.3*capacity, 120, 0.6*capacity)
		s.run(180)
		over, after := s.figures(70, 120), s.figures(150, 180)
		t.Logf("arrived %d done %d refused %d, %.1f of %.1f/s", over.arrived, over.done, over.shed, over.perSecond, capacity)
		if over.shed[Interactive]*100 > over.arrived[Interactive] {
			t.Errorf("%d of %d interactive requests refused while batch work was done", over.shed[Interactive], over.arrived[Interactive])
		}
		if over.shed[Batch] == 0 || over.perSecond < 0.95*capacity {
			t.Errorf("%d batch requests refused, %.1f answers/s of %.1f", over.shed[Batch], over.perSecond, capacity)
		}
		if after.shed != [Lanes]int{} {
			t.Errorf("from 30 s after it %d are refused", after.shed)
		}
	})
}

// Whole answers are held against their own kind.
func TestOverload_OfWholeAnswers(t *testing.T) {
	each(t, 3, func(t *testing.T, seed uint64) {
		a := &simVendor{slots: 40, first: 3, sigma: 0.6}
		s := newSim(seed, a)
		s.whole = 1
		s.rate = steps(0, 0.5*a.capacity(), 200, 1.3*a.capacity())
		s.run(500)
		if f := s.figures(0, 200); f.shed != [Lanes]int{} {
			t.Errorf("%d refused at half of capacity", f.shed)
		}
		f := s.figures(230, 500)
		if f.perSecond < 0.95*a.capacity() {
			t.Errorf("%.2f answers/s of %.2f", f.perSecond, a.capacity())
		}
		if n, limiting := a.limit.Value(); !limiting || n > 70 {
			t.Errorf("limit %.0f (%v) before 40 places", n, limiting)
		}
	})
}

// Kinds are never mixed: many whole answers beside the streams, ten times as slow,
// change nothing for a healthy vendor, and an overload is seen all the same.
func TestKinds_AreNeverMixed(t *testing.T) {
	each(t, 3, func(t *testing.T, seed uint64) {
		a := elastic()
		s := newSim(seed, a)
		s.rate = flat(100)
		s.change = func(t float64) { s.whole = float64(int(t)%20) / 20 }
		s.run(200)
		if f := s.figures(0, 200); f.shed != [Lanes]int{} {
			t.Errorf("%d refused", f.shed)
		}
		if n, limiting := a.limit.Value(); limiting {
			t.Errorf("limited to %.0f", n)
		}
	})
}

package admission

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// An overload that is there from the first request on is seen within a few first tokens,
// though nothing is known of the time without it.
func TestCold_AnOverloadIsSeenAndServedWell(t *testing.T) {
	for _, c := range []struct {
		slots        int
		first, sigma float64
		rest         float64
	}{
		{16, 0.1, 0.35, 0},
		{16, 0.3, 0.2, 0},
		{32, 0.3, 0.35, 0},
		{32, 0.3, 0.35, 0.4},
		{64, 0.1, 0.2, 0.1},
		{64, 0.3, 0.35, 0},
		{64, 1, 0.35, 0},
		{200, 0.3, 0.2, 0},
		{200, 0.3, 0.35, 0.4},
		{200, 1, 0.35, 0},
	} {
		t.Run(fmt.Sprintf("%d places, first token %g s, spread %g, %g s more", c.slots, c.first, c.sigma, c.rest), func(t *testing.T) {
			vendor := func() *simVendor {
				return &simVendor{slots: c.slots, first: c.first, sigma: c.sigma, rest: c.rest}
			}
			s, alone := newSim(1, vendor(), vendor()), newSim(1, vendor(), vendor())
			capacity := 2 * s.v[0].capacity()
			alone.rate = flat(0.5 * capacity)
			alone.run(30)
			s.rate = flat(1.3 * capacity)
			s.run(60)
			unloaded, later := alone.figures(5, 30), s.figures(20, 60)
			seen := 60
			for i, sec := range s.seconds {
				if sec.shed[Interactive] > 0 {
					seen = min(seen, i)
				}
			}
			t.Logf("seen after %d s; %.1f %% of %.0f/s, P99 %.0f ms, unloaded %.0f", seen, 100*later.perSecond/capacity, capacity, later.p99*1e3, unloaded.p99*1e3)
			if most := 2 + int(7*c.first); seen > most {
				t.Errorf("somebody is refused after %d s, want within %d", seen, most)
			}
			if later.perSecond < 0.93*capacity || later.p99 > 1.7*unloaded.p99 {
				t.Errorf("%.1f answers/s of %.1f, P99 %.2f s, unloaded %.2f", later.perSecond, capacity, later.p99, unloaded.p99)
			}
		})
	}
}

// A vendor that is merely slow, or slow at first, is not full.
func TestCold_ASlowVendorIsNotLimited(t *testing.T) {
	for name, slow := range map[string]func(t float64) float64{
		"ten times slower":      func(float64) float64 { return 10 },
		"warms up in ten":       func(t float64) float64 { return max(1, 10-t) },
		"a slow first second":   func(t float64) float64 { return 1 + 4*max(0, 1-t) },
		"slower after a minute": func(t float64) float64 { return 1 + min(max(0, t-60)/120, 0.3) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := elastic(), elastic()
			s := newSim(2, a, b)
			s.rate = flat(100)
			a.slow, b.slow = slow(0), slow(0)
			s.change = func(t float64) { a.slow, b.slow = slow(t), slow(t) }
			s.run(200)
			if f := s.figures(0, 200); f.shed != [Lanes]int{} {
				t.Errorf("%d of %d refused", f.shed, f.arrived)
			}
		})
	}
}

func TestFirsts_KnowTheMedianBeforeTheSlowestAreBack(t *testing.T) {
	var f firsts
	for i := range firstOnes {
		f.begin(at(float64(i) * 0.01))
	}
	for i := range firstOnes - 4 { // four never come back
		begun := float64(i) * 0.01
		took := 0.3 + 0.01*float64(i)
		m, dev, n := f.add(at(begun+took), at(begun), took)
		if n > 0 {
			if doubt := 1.25 * dev / math.Sqrt(float64(n)); m < 0.39 || m > 0.40 || doubt <= 0 || doubt > 0.1 {
				t.Errorf("median %g, doubt %g", m, doubt)
			}
			return
		}
	}
	t.Error("they never say")
}

func TestFirsts_OthersAreAskedWhereTheFirstFailed(t *testing.T) {
	var l Limit
	for i := range 2 * firstMany {
		l.Began(at(float64(i)*0.01), Stream) // none comes back
	}
	now := feed(&l, 100, 20, 0.2, 10)
	if b := l.Base(Stream); b < 195*time.Millisecond || b > 205*time.Millisecond {
		t.Errorf("base %v at %g", b, now)
	}
}

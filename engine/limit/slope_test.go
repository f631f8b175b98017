package limit

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// guarded refuses while the last 10 s brought more than twice the rate of the
// 60 s before them and 5/s more. Some guards count what they refuse too.
type guarded struct {
	all  bool // refused arrivals count
	past []float64
}

func (v *guarded) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	for len(v.past) > 0 && v.past[0] < t-70 {
		v.past = v.past[1:]
	}
	late := 0
	for i := len(v.past) - 1; i >= 0 && v.past[i] > t-10; i-- {
		late++
	}
	refused := float64(late)/10 > 2*float64(len(v.past)-late)/60+5
	if !refused || v.all {
		v.past = append(v.past, t)
	}
	if refused {
		return t + 0.02, true, 0
	}
	return t + latency(r), false, 0
}

// Answered, in percent of what was offered in the first 45 s and 120 s at a cold
// vendor: by a limiter that stopped for 10, 20, 40 s at each refusal, by this one,
// and without any (refusals then cost nothing but an attempt; here they fail over).
//
//	            refused ones do not count       refused ones count too
//	offered/s   stopping  holding  without      stopping  holding  without
//	 8           33  30    86  95   92  97       33  30    85  94   73  90
//	12           34  20    62  85   68  89       34  20    63  86   45  79
//	40           12   6    20  57   27  61       12   7    20  56   25  72
//
// Attempts refused in 120 s: 4-8 by stopping, 6-34 by holding, 28-1893 without.
func TestSlope_IsRisenWithInsteadOfStopped(t *testing.T) {
	for _, all := range []bool{false, true} {
		for _, c := range []struct {
			rate       float64
			soon, late float64 // parts answered in 45 s and in 120 s, at least
			refused    int     // at most
		}{{8, 0.72, 0.90, 15}, {12, 0.56, 0.82, 20}, {40, 0.18, 0.53, 40}} {
			for seed := range uint64(4) {
				for n, least := range map[int]float64{45: c.soon, 120: c.late} {
					s := run{l: New(0, 1), offered: steady(c.rate), total: c.rate, up: &guarded{all: all}, seed: seed, class: Slope, even: seed == 0}
					s.do(n)
					if part := s.answered(); part < least || s.refused > c.refused {
						t.Errorf("%v/s for %d s, refused ones count %v, seed %d: %.0f %% answered, %d refused, want %.0f %% and at most %d",
							c.rate, n, all, seed, 100*part, s.refused, 100*least, c.refused)
					}
					t.Logf("%v/s for %d s, refused ones count %v, seed %d: %.0f %% answered, %d refused", c.rate, n, all, seed, 100*s.answered(), s.refused)
					if _, ok := s.l.Learned(); ok {
						t.Errorf("%v/s: a refusal for the slope taught a limit: %s", c.rate, s.l.Evidence())
					}
					if rps, ok := s.l.Held(); n == 120 && c.rate < 40 && ok {
						t.Errorf("%v/s, seed %d: still held at %.1f/s after 120 s", c.rate, seed, rps)
					}
				}
			}
		}
	}
}

// answered is the part of the offer that was answered.
func (s *run) answered() float64 {
	return float64(s.accepted) / float64(s.accepted+s.refused+s.turned)
}

// A vendor that calls a plain limit a slope is carried at about that limit.
func TestSlope_ThatNeverYieldsIsFollowed(t *testing.T) {
	for seed := range uint64(4) {
		s := run{l: New(0, 1), offered: steady(12), total: 12, up: &sliding{limit: 8}, seed: seed, class: Slope, even: seed == 0}
		s.do(120)
		t.Logf("seed %d: %.1f/s of 8/s carried, %d refused", seed, float64(s.accepted)/120, s.refused)
		if carried := float64(s.accepted) / 120; carried < 5.5 || s.refused*10 > s.accepted {
			t.Errorf("seed %d: %.1f/s of 8/s carried, %d refused", seed, carried, s.refused)
		}
	}
}

func TestSlope_IsShownAndNamed(t *testing.T) {
	l := New(0, 1)
	for i := range 60 {
		l.Take(sec(float64(i) / 10))
	}
	l.Ended(sec(6), time.Time{}, Ending{Refused: true, RetryAfter: 0, Class: Slope})
	rps, ok := l.Allowed()
	if want := "slope: rose too fast, 5.9/s accepted in 10 s"; !ok || math.Abs(rps-5.9) > 1e-9 || l.Evidence() != want || !l.Limited(sec(20)) {
		t.Errorf("allowed %v, %q, limited %v", rps, l.Evidence(), l.Limited(sec(20)))
	}
	if l.Take(sec(6.4)) || !l.Take(sec(6.5)) {
		t.Error("it is no breath")
	}
	for i := range 40 {
		l.Tick(sec(float64(6+i)), Offer{})
	}
	if _, ok := l.Allowed(); ok || l.Evidence() != "" || l.Limited(sec(46)) {
		t.Errorf("after 40 s without demand it is still held: %s", l.Evidence())
	}
}

// How fast a vendor may be sent more is no reason to move its weight.
func TestSlope_MovesNoWeight(t *testing.T) {
	l := New(0, 1)
	for i := range 60 {
		l.Take(sec(float64(i) / 10))
	}
	l.Ended(sec(6), time.Time{}, Ending{Refused: true, Class: Slope})
	if rps, ok := l.Held(); !ok || l.Cap(40) != 1 {
		t.Errorf("held at %v/s (%v), the weight is capped at %v", rps, ok, l.Cap(40))
	}
	l.Configure(20, 1)
	if want := 20 * margin / 40; math.Abs(l.Cap(40)-want) > 1e-9 {
		t.Errorf("a known limit of 20/s caps the weight at %v, want %v", l.Cap(40), want)
	}
}

package limit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// vendorOf makes a vendor that takes a rate and refuses or keeps waiting what is over it.
func vendorOf(kind string, limit int) upstream {
	rate := float64(limit)
	switch kind {
	case "bucket":
		return &bucketed{rate: rate, burst: rate, tokens: rate}
	case "bucket of 3":
		return &bucketed{rate: rate, burst: 3, tokens: 3}
	case "evenly spaced":
		return &bucketed{rate: rate, burst: 1, tokens: 1}
	case "fixed second":
		return &windowed{limit: limit}
	case "queue":
		return &queueing{rate: rate, most: 5}
	case "queue, bucket":
		return &queueing{rate: rate, most: 5, saves: 1}
	}
	return &sliding{limit: limit}
}

// truth is how far a learned limit is from the true one, in percent of it.
type truth struct {
	first           float64 // seconds until one is learned, on average
	mean, worst     float64 // errors after 30 s
	lowest, highest float64 // errors from then on to 120 s
	missed          int     // seeds in which nothing is learned after 30 s
	refused         float64 // part of what was sent after 30 s
}

func (x truth) String() string {
	return fmt.Sprintf("%.0f s | %+.1f | %.1f | %+.0f to %+.0f | %d | %.1f", x.first, x.mean, x.worst, x.lowest, x.highest, x.missed, 100*x.refused)
}

func truths(kind string, limit int, load float64) (x truth) {
	seeds := uint64(3)
	if testing.Verbose() {
		seeds = 8
	}
	x.lowest, x.highest = math.Inf(1), math.Inf(-1)
	refused, accepted, found := 0, 0, 0.0
	for seed := range seeds {
		s := run{
			l: New(0, 1), offered: steady(load * float64(limit)), total: load * float64(limit),
			up: vendorOf(kind, limit), seed: seed, even: seed < 2, measure: 30,
		}
		s.do(120)
		off := func(i int) float64 { return 100 * (s.limits[i]/float64(limit) - 1) }
		if i := slices.IndexFunc(s.limits, func(l float64) bool { return l > 0 }); i >= 0 {
			x.first += float64(i)
			found++
		}
		if s.limits[30] == 0 {
			x.missed++
		} else {
			x.mean += off(30)
			x.worst = max(x.worst, math.Abs(off(30)))
		}
		for i, l := range s.limits {
			if i >= 30 && l > 0 {
				x.lowest, x.highest = min(x.lowest, off(i)), max(x.highest, off(i))
			}
		}
		refused, accepted = refused+s.refused, accepted+s.accepted
	}
	x.first /= max(found, 1)
	x.mean /= max(float64(seeds)-float64(x.missed), 1)
	x.refused = float64(refused) / float64(max(refused+accepted, 1))
	return x
}

// The learned limit against the true one, over three seeds, with -v eight of which two offer evenly; -v
// prints the table. Within 5 % after 30 s is what is wanted from 20/s on, whatever the
// vendor counts. At 5 and 10/s 30 s hold too few requests for that in every run, and of a vendor
// that wants even distances arrivals at even distances show little.
func TestLimit_IsLearnedTruly(t *testing.T) {
	t.Log("| vendor | limit/s | offered | learned after | mean error % | worst % | 30-120 s % | not by 30 s | refused % |")
	for _, c := range []struct {
		kind   string
		worst  float64 // % after 30 s, from 20/s on
		low    float64 // % after 30 s, below that
		steady float64 // % from 30 to 120 s, from 20/s on
		misses int     // of eight
	}{
		{"bucket", 5, 12, 6, 0},
		{"bucket of 3", 6, 12, 7, 1},
		{"fixed second", 5, 11, 6, 0},
		{"sliding second", 5, 11, 6, 0},
		{"evenly spaced", 15, 25, 25, 2},
		{"queue", 3, 8, 4, 0},
		{"queue, bucket", 3, 8, 4, 0},
	} {
		for _, limit := range []int{5, 10, 20, 50} {
			for _, load := range []float64{1.25, 2.5, 5} {
				x := truths(c.kind, limit, load)
				t.Logf("| %s | %d | %.2fx | %s |", c.kind, limit, load, x)
				most := c.low
				if limit >= 20 {
					most = c.worst
				}
				if x.worst > most+0.01 || x.missed > c.misses || limit >= 20 && (x.lowest < -c.steady || x.highest > c.steady) {
					t.Errorf("%s, %d/s at %vx: %s", c.kind, limit, load, x)
				}
				if x.refused > 0.025 && c.kind != "evenly spaced" {
					t.Errorf("%s, %d/s at %vx: %.1f %% refused after 30 s", c.kind, limit, load, 100*x.refused)
				}
			}
		}
	}
}

// A limit that falls to half is found again within seconds.
func TestRefusingLimit_ThatFallsIsFollowed(t *testing.T) {
	for _, kind := range []string{"bucket", "fixed second", "sliding second"} {
		s := run{l: New(0, 1), offered: steady(60), total: 60, up: &falling{at: 60, before: vendorOf(kind, 20), after: vendorOf(kind, 8)}, seed: 3, measure: 80}
		s.do(120)
		if before, after := s.limits[55], s.limits[85]; before < 18 || after > 10 || after < 7 {
			t.Errorf("%s: learned %.1f of 20/s, and %.1f of 8/s 25 s after the fall", kind, before, after)
		}
		if part := float64(s.refused) / float64(s.refused+s.accepted); part > 0.03 {
			t.Errorf("%s: %.1f %% refused 20 s after the fall", kind, 100*part)
		}
	}
}

// falling is one vendor before a moment and another after.
type falling struct {
	at            float64
	before, after upstream
}

func (v *falling) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	if t < v.at {
		return v.before.serve(t, r)
	}
	return v.after.serve(t, r)
}

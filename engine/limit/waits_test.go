package limit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// queuedSends are attempts of random arrivals at a vendor that lets a rate through from so many seconds
// on, keeps up to most seconds waiting and saves up so much, with first tokens of 0.24 s.
func queuedSends(seed uint64, offered, rate, from, saves, most, seconds float64) (all []sent) {
	r := rand.New(rand.NewPCG(seed, 5))
	free := -saves
	for at := 0.0; at < seconds; at += r.ExpFloat64() / offered {
		free = max(free, at-saves)
		wait := max(free-at, 0)
		x := sent{at: at, refused: wait > most}
		if !x.refused {
			if at >= from {
				free += 1 / rate
			}
			if took := wait + latency(r); at+took < seconds {
				x.took = float32(took)
			}
		}
		all = append(all, x)
	}
	return all
}

func TestWait_TellsTheRateOfAQueue(t *testing.T) {
	for _, c := range []struct{ offered, rate, from, saves, most float64 }{
		{22, 20, 0, 0, 60},
		{22, 20, 0, 1, 4.5},
		{30, 20, 0, 0.5, 4.5},
		{60, 20, 0, 1, 4.5},
		{60, 50, 0, 2, 60},
		{22, 20, 15, 0, 60}, // the limit is younger than what is remembered
		{30, 20, 12, 1, 60},
		{60, 20, 17, 0, 4.5},
		{60, 50, 18, 0.3, 60},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			found := 0
			for seed := range uint64(10) {
				w, _ := wait(queuedSends(seed, c.offered, c.rate, c.from, c.saves, c.most, 25))
				if w.rps == 0 {
					continue
				}
				found++
				if off := w.rps/c.rate - 1; math.Abs(off) > 0.03 {
					t.Errorf("seed %d: %.2f/s: %+v", seed, w.rps, w)
				}
			}
			if found < 7 {
				t.Errorf("found in %d of 10", found)
			}
		})
	}
}

func TestWait_FindsNoQueueWhereNobodyWaitsForOthers(t *testing.T) {
	for _, c := range []struct {
		name string
		slow func(at float64) float64 // factor
	}{
		{"as ever", func(float64) float64 { return 1 }},
		{"slower at once", func(at float64) float64 { return 1 + 4*math.Round(at/25) }},
		{"slower and slower", func(at float64) float64 { return 1 + at/5 }},
		{"up and down", func(at float64) float64 { return 3 + 2*math.Sin(at) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(20) {
				all := queuedSends(seed, 40, 1e6, 0, 0, 1, 25)
				for i := range all {
					all[i].took *= float32(c.slow(all[i].at))
				}
				if w, _ := wait(all); w.rps > 0 {
					t.Errorf("seed %d: %+v", seed, w)
				}
			}
		})
	}
}

func TestWait_OfNothingIsNothing(t *testing.T) {
	same := make([]sent, 100)
	for i := range same {
		same[i].took = 0.5
	}
	for _, all := range [][]sent{nil, make([]sent, 100), same, queuedSends(1, 30, 20, 0, 0, 60, 25)[:30]} {
		if w, _ := wait(all); w.rps > 0 {
			t.Errorf("%d attempts: %+v", len(all), w)
		}
	}
}

func BenchmarkWait(b *testing.B) {
	for _, c := range []struct {
		name string
		rate float64
	}{{"queue", 20}, {"none", 1e6}} {
		all := queuedSends(1, 60, c.rate, 0, 1, 4.5, 25)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				wait(all)
			}
		})
	}
}

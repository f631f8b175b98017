package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// healthy is two vendors that are well and equally fast, asked through the engine by the clock: an attempt
// takes its first token and is over at once.
type healthy struct {
	*rig
	r        *rand.Rand
	requests int
	attempts int
}

// ask sends one request and lets its answer take a lognormal while.
func (h *healthy) ask(lane control.Lane) {
	h.requests++
	h.Begin(lane)
	var l Lease
	if err := h.Acquire(&l, Ask{Lane: lane, Kind: weights.Stream, First: true}); err != nil {
		h.Finish(Finished{Lane: lane, Outcome: outcome.VendorFault})
		return
	}
	h.attempts++
	took := time.Duration(0.28 * math.Exp(0.34*h.r.NormFloat64()) * float64(time.Second))
	time.AfterFunc(took, func() {
		now := time.Now()
		l.FirstToken(now)
		l.Done(now, outcome.Result{Outcome: outcome.OK}, outcome.Usage{Input: 100, Output: 60, Has: true})
		h.Finish(Finished{Lane: lane, Outcome: outcome.OK, Vendor: l.Vendor, FirstToken: took, Total: took})
	})
}

func (h *healthy) ejections() (n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, ev := range h.events {
		if ev.Kind == "health" && ev.Level == control.Crit {
			n++
		}
	}
	return n
}

// The secondary's share over every 60 s stays in its band whatever part of the requests is batch work.
func TestLanes_TheSecondaryStaysInItsBandWhateverTheBatchPart(t *testing.T) { // P18
	for _, batch := range []float64{0, 0.10, 0.25, 0.50, 1} {
		t.Run(fmt.Sprintf("%.0f %%", 100*batch), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &healthy{rig: newRig(t, nil), r: rand.New(rand.NewPCG(3, uint64(100*batch)))}
				lowest, highest := 100.0, 0.0
				for second := range 180 {
					for next := 0.0; ; {
						gap := h.r.ExpFloat64() / 60
						if next += gap; next > 1 {
							break
						}
						time.Sleep(time.Duration(gap * float64(time.Second)))
						lane := control.Interactive
						if h.r.Float64() < batch {
							lane = control.Batch
						}
						h.ask(lane)
					}
					h.Tick(time.Now())
					if second >= 60 {
						share := *h.snapshot().Vendors[1].Share60s
						lowest, highest = min(lowest, share), max(highest, share)
					}
				}
				t.Logf("%.1f to %.1f %%", lowest, highest)
				if lowest < 20 || highest > 30 {
					t.Errorf("the secondary carried %.1f to %.1f %% over 60 s", lowest, highest)
				}
				time.Sleep(10 * time.Second)
			})
		})
	}
}

// gammaGap draws a gap of mean 1 and that CV: exponential gaps for 1, and above it gamma ones, by the sum
// of Marsaglia and Tsang's method.
func gammaGap(r *rand.Rand, cv float64) float64 {
	shape := 1 / (cv * cv)
	d := shape + 1 - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v * math.Pow(1-r.Float64(), 1/shape) / shape
		}
	}
}

// The arrivals of public traces, made from their published figures, at vendors that are well: nobody is
// ejected, nothing is asked twice, no limit is learned. Azure LLM inference trace 2023 (github.com/Azure/AzurePublicDataset,
// CC-BY): conversations 5.53/s with gaps of CV 1.09, code 2.57/s of CV 13.2, an hour each, here 20
// minutes. BurstGPT (github.com/HPMLL/BurstGPT): gamma gaps, CV 1.1 when calm and up to 3 in bursts, here at 50/s.
func TestTraces_HealthyVendorsAreLeftInPeace(t *testing.T) {
	for _, c := range []struct {
		name     string
		rate, cv float64
		long     time.Duration
	}{
		{"Azure 2023, conversations", 5.53, 1.09, 20 * time.Minute},
		{"Azure 2023, code", 2.57, 13.2, 20 * time.Minute},
		{"BurstGPT, calm", 50, 1.1, 3 * time.Minute},
		{"BurstGPT, bursts", 50, 3, 3 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &healthy{rig: newRig(t, nil), r: rand.New(rand.NewPCG(7, uint64(c.cv)))}
				begun := time.Now()
				tick, farthest := begun.Add(time.Second), 0.0
				for at := 0.0; at < c.long.Seconds(); at += gammaGap(h.r, c.cv) / c.rate {
					when := begun.Add(time.Duration(at * float64(time.Second)))
					for ; tick.Before(when); tick = tick.Add(time.Second) {
						time.Sleep(time.Until(tick))
						h.Tick(tick)
						farthest = max(farthest, math.Abs(h.table.Load().weights[0]-0.75))
					}
					time.Sleep(time.Until(when))
					lane := control.Interactive
					if h.r.IntN(4) == 0 {
						lane = control.Batch
					}
					h.ask(lane)
				}
				time.Sleep(10 * time.Second)
				s := h.snapshot()
				t.Logf("%d requests, %d attempts, weights at most %.2f points away", h.requests, s.Totals.Attempts, 100*farthest)
				if n := h.ejections(); n > 0 || s.Totals.Attempts*100 > int64(101*h.requests) || h.attempts != h.requests {
					t.Errorf("%d ejections, %d attempts for %d requests of which %d were taken", n, s.Totals.Attempts, h.requests, h.attempts)
				}
				for _, v := range s.Vendors {
					if v.Limit.LearnedRPS != nil {
						t.Errorf("%s: a limit where there is none: %s", v.Name, v.Limit.Evidence)
					}
				}
				if farthest > 0.05 {
					t.Errorf("weights went %.1f points away", 100*farthest)
				}
			})
		})
	}
}

// A day at rest: a request every two seconds and more by day than by night, the law's tick each second of it,
// and no weight moves.
func TestDay_AtRestNothingMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &healthy{rig: newRig(t, nil), r: rand.New(rand.NewPCG(5, 5))}
		seconds := int(resting.Seconds()) // from midnight on; with -v the whole day
		if testing.Verbose() {
			seconds = 24 * 3600
		}
		for i := range seconds {
			time.Sleep(time.Second)
			// From 0.1/s at night to 1.1/s by day.
			if rate := 0.6 - 0.5*math.Cos(2*math.Pi*float64(i)/86400); h.r.Float64() < rate/1.1 {
				h.ask(control.Interactive)
			}
			now := time.Now()
			h.Tick(now)
			if w := h.table.Load().weights; w[0] != 0.75 || w[1] != 0.25 {
				t.Fatalf("after %s the weights are %v", time.Duration(i)*time.Second, w)
			}
		}
		time.Sleep(10 * time.Second)
		if n := h.ejections(); n > 0 {
			t.Errorf("%d ejections", n)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for _, ev := range h.events {
			if ev.Kind == "weights" || ev.Kind == "limit" {
				t.Errorf("the journal says %s", ev.Text)
			}
		}
	})
}

package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// conditions are what an answer's latency depends on.
type conditions struct {
	rng    *rand.Rand
	load   float64 // in flight over capacity, 0 to 1
	cached int     // prompt tokens found in the prefix cache
}

// The elastic model, for load in [0, 1]:
//
//	first token = LN(first_token, sigma)·(1 + 0.25·load), in 1.2 % of requests × LN(2.2, 0.25), - 0.08 ms per cached token
//	pace        = per_token·(1 + 0.4·load)·LN(1, 0.12) per request, × Gamma(8, 1/8) per token
//	stall       = 80 to 250 ms more with probability 8e-4 per token
//
// With the defaults and load 0.3 the first token's P50, P90 and P99 are 302, 471 and 718 ms. LN(m, s) is m·e^(s·Z).
const (
	firstLoad   = 0.25
	tailChance  = 0.012
	tailMedian  = 2.2
	tailSigma   = 0.25
	cachedGain  = 80 * time.Microsecond
	paceLoad    = 0.4
	paceSigma   = 0.12
	jitterShape = 8
	stallChance = 8e-4
	stallLeast  = 80 * time.Millisecond
	stallMax    = 250 * time.Millisecond
)

func drawElastic(o *Options, c conditions) timing {
	first := lognormal(c.rng, float64(o.FirstToken), o.Sigma) * (1 + firstLoad*c.load)
	if c.rng.Float64() < tailChance {
		first *= lognormal(c.rng, tailMedian, tailSigma)
	}
	// A cached prefix saves prefill, never the whole wait.
	first = max(first-float64(cachedGain)*float64(c.cached), 0.4*first)
	pace := float64(o.PerToken) * (1 + paceLoad*c.load) * lognormal(c.rng, 1, paceSigma)
	return timing{start: time.Duration(first * o.Scale), perToken: pace, rng: c.rng, scale: o.Scale}
}

// drawFixed is the timing of the profile "faults": always the same, so that what differs is the fault.
func drawFixed(o *Options, c conditions) timing {
	return timing{start: o.scaled(o.FirstToken), perToken: float64(o.PerToken), rng: c.rng, scale: o.Scale, fixed: true}
}

func lognormal(rng *rand.Rand, median, sigma float64) float64 {
	return median * math.Exp(sigma*rng.NormFloat64())
}

// gamma draws Gamma(k, 1/k), mean 1, as the mean of k exponentials: one logarithm for all of them.
func gamma(rng *rand.Rand, k int) float64 {
	product := 1.0
	for range k {
		product *= 1 - rng.Float64()
	}
	return -math.Log(product) / float64(k)
}

// requestRand is the random source of request number n: nothing but seed and number decides it.
func requestRand(seed, n uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, n*0x9e3779b97f4a7c15+1))
}

// elasticity is capacity that follows the load late: × 1.3 for each 30 s that the load stays over 0.8.
type elasticity struct {
	capacity float64
	hotSince time.Time
}

const (
	growFactor = 1.3
	growAfter  = 30 * time.Second
	growLoad   = 0.8
)

// observe returns the load, capped at 1, and grows the capacity when it has been hot for long enough.
func (e *elasticity) observe(now time.Time, inFlight int, growAfter time.Duration) float64 {
	load := float64(inFlight) / e.capacity
	switch {
	case load <= growLoad:
		e.hotSince = time.Time{}
	case e.hotSince.IsZero():
		e.hotSince = now
	case now.Sub(e.hotSince) >= growAfter:
		e.capacity *= growFactor
		e.hotSince = now
	}
	return min(load, 1)
}

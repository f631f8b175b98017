package load

import (
	"math"
	"math/rand/v2"
	"time"
)

// Pacer says when requests are due.
type Pacer interface {
	// Next returns the time from one request to the one after it.
	Next() time.Duration
}

// Constant is a Pacer of evenly spaced requests; RPS is over 0.
type Constant struct{ RPS float64 }

// Next is 1/RPS.
func (c Constant) Next() time.Duration { return time.Duration(float64(time.Second) / c.RPS) }

// Poisson is a Pacer of independent arrivals: exponential gaps of mean 1/RPS;
// RPS is over 0.
type Poisson struct {
	RPS  float64
	Rand *rand.Rand
}

// Next draws a gap.
func (p Poisson) Next() time.Duration {
	return time.Duration(p.Rand.ExpFloat64() * float64(time.Second) / p.RPS)
}

// Ramp is a Pacer of evenly spaced requests whose rate grows from From to To, by the
// same factor in each second, and stays there; both are over 0.
type Ramp struct {
	From, To float64
	Over     time.Duration
	gone     time.Duration
}

// Next is 1/rate at that moment of the plan.
func (r *Ramp) Next() time.Duration {
	rate := r.To
	if r.gone < r.Over {
		rate = r.From * math.Pow(r.To/r.From, float64(r.gone)/float64(r.Over))
	}
	gap := time.Duration(float64(time.Second) / rate)
	r.gone += gap
	return gap
}

package spike

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// Plan is a spike to come.
type Plan struct {
	URL    string  // base URL of the gateway, http://127.0.0.1:8080/v1
	Model  string  // what is asked for
	Key    string  // a client's key, "" where none is asked
	Agent  string  // the requests' User-Agent
	Batch  float64 // part of the requests that are batch work, 0-1
	Stream float64 // part of the interactive ones that are streamed, 0-1
	Tokens int     // asked for per answer: few, or 1,800 streams fill two cores by themselves
	Seed   uint64

	From     float64       // requests per second before and after
	To       float64       // requests per second of the spike
	Baseline time.Duration // before it
	Hold     time.Duration // of it
	Recovery time.Duration // after it
	Proof    time.Duration // how long good service proves that it has recovered; 0: 30 s
	Bound    int           // requests under way; 0: four seconds of To

	CPU       bool               // measure processor time by part during the spike
	Entered   func(phase string) // if not nil, told of each phase as it begins; it must not block
	Transport http.RoundTripper  // what requests are sent through; nil: connections of its own
}

// The phases of a spike.
const (
	Baseline = "baseline"
	Peak     = "peak"
	Recovery = "recovery"
)

// proof is how long good service proves that the gateway has recovered, where the
// plan says nothing else.
const proof = 30 * time.Second

// Least and most of what a plan may have.
const (
	LeastPhase = time.Second     // of the baseline and of the hold
	LongestAny = 5 * time.Minute // of any phase
	LeastProof = time.Second
	MostRPS    = 10_000
)

// Validate says what is wrong with the plan, all of it.
func (p *Plan) Validate() error {
	var errs []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(p.From <= 0, "from = %g has to be over 0 requests per second", p.From)
	wrong(p.To <= p.From, "to = %g has to be over from = %g", p.To, p.From)
	wrong(p.To > MostRPS, "to = %g is over %d requests per second", p.To, MostRPS)
	wrong(p.Baseline < LeastPhase || p.Baseline > LongestAny, "baseline = %s is not from %s to %s", p.Baseline, LeastPhase, LongestAny)
	wrong(p.Hold < LeastPhase || p.Hold > LongestAny, "hold = %s is not from %s to %s", p.Hold, LeastPhase, LongestAny)
	wrong(p.Proof != 0 && p.Proof < LeastProof, "proof = %s is under %s", p.Proof, LeastProof)
	least := p.proof() + time.Second
	wrong(p.Recovery < least || p.Recovery > LongestAny, "recovery = %s is not from %s, so that it can be proven, to %s", p.Recovery, least, LongestAny)
	wrong(p.Tokens < 1, "tokens = %d has to be at least 1", p.Tokens)
	wrong(p.Batch < 0 || p.Batch > 1, "batch = %g is not from 0 to 1", p.Batch)
	wrong(p.Stream < 0 || p.Stream > 1, "stream = %g is not from 0 to 1", p.Stream)
	return errors.Join(errs...)
}

func (p *Plan) proof() time.Duration {
	if p.Proof > 0 {
		return p.Proof
	}
	return proof
}

// Length is how long the whole takes.
func (p *Plan) Length() time.Duration { return p.Baseline + p.Hold + p.Recovery }

// rate is the requests per second at a moment of the plan, and when it changes
// next.
func (p *Plan) rate(at time.Duration) (rps float64, until time.Duration) {
	switch {
	case at < p.Baseline:
		return p.From, p.Baseline
	case at < p.Baseline+p.Hold:
		return p.To, p.Baseline + p.Hold
	}
	return p.From, 1<<63 - 1
}

// phase is the phase of a moment of the plan.
func (p *Plan) phase(at time.Duration) string {
	switch {
	case at < p.Baseline:
		return Baseline
	case at < p.Baseline+p.Hold:
		return Peak
	}
	return Recovery
}

// pacer draws Poisson arrivals whose rate follows the plan.
type pacer struct {
	plan *Plan
	rand *rand.Rand
	at   time.Duration // of the arrival before
}

// Next draws the gap to the next arrival. A gap that crosses a change of rate is
// drawn again from there, which is right because arrivals have no memory.
func (p *pacer) Next() time.Duration {
	from := p.at
	for {
		rps, until := p.plan.rate(p.at)
		next := p.at + time.Duration(p.rand.ExpFloat64()*float64(time.Second)/rps)
		if next <= until {
			p.at = next
			return p.at - from
		}
		p.at = until
	}
}

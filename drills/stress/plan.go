package stress

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"baton/engine/outcome"
	"baton/vendors"
)

// How requests arrive.
const (
	ClosedLoop = "closed"   // a fixed number is under way
	Constant   = "constant" // evenly spaced, whatever becomes of them
	Poisson    = "poisson"  // as of many independent users
)

// How answers come, and what the prompts' cache does.
const (
	Stream = "stream"
	Whole  = "whole"

	Cold = "cold" // every prompt begins with a word of its own
	Warm = "warm" // the same prompts come again as they are
)

// How the load rises from one level to the next.
const (
	Gentle = "gentle" // by 25 % in 10 s at most: guards against slopes fire below the limits
	Fast   = "fast"   // within the time of one answer
)

// Target is one vendor as it is stressed.
type Target struct {
	Vendor    *vendors.Vendor
	Label     string
	Model     string // as the vendor calls it
	Real      bool   // neither simulated nor on loopback
	Price     Price  // nil: unpriced
	Published []Benchmark
	// Spent is told of every request once it has ended, those apart that count in no
	// figure too: the probe's and the warm-up's. nil: nobody is. It is called by several
	// goroutines and must not block.
	Spent func(Spent)

	trip http.RoundTripper // in place of the vendor's connections; nil: those
}

// Spent is one request that was sent to a target, for whoever counts its money.
type Spent struct {
	Ended      time.Time
	Outcome    outcome.Outcome
	Reason     string
	Stream     bool
	FirstToken time.Duration // from its sending; 0 without one
	Took       time.Duration

	Input, Cached, Output int  // tokens; of one that failed, none
	Estimated             bool // the vendor did not say: they are ours
}

// SLO is what an answer has to keep. Zero bounds nothing. Of all requests, failed
// ones included, 90 % must have their first token within P90 and 99 % within P99.
type SLO struct {
	P90      time.Duration // first token; of a whole answer, all of it
	P99      time.Duration
	PerToken time.Duration // for goodput
	Total    time.Duration // for goodput
}

// Plan says what is done. The zero value of a field is its default; Targets and
// Prompts are needed.
type Plan struct {
	Targets  []Target
	Ladder   []int     // rising; default 1, 2, 4, ... 64, 100
	Rates    []float64 // requests per second, in place of the ladder: open loop only
	Arrivals string    // of the open loop; ClosedLoop: none; default Poisson

	Duration   time.Duration // of a level's measured window; default 30s
	Warmup     time.Duration // at least; default 10s, or half of a Duration under 20s
	Timeout    time.Duration // of one request; default 2m
	MinSamples int           // a window is prolonged for them, up to five times; default 50
	MaxSamples int           // a window ends with them; default 200,000

	Kind      string // Stream or Whole
	Prompts   []Prompt
	Cache     string // Cold or Warm
	MaxTokens int    // default 128
	Seed      uint64
	Keys      int // of a vendor's keys so many take turns; default 1
	Ramp      string

	NoProbe, GoOn bool
	KeyProbe      bool // also ask with a second key whose the limit is
	MaxErrors     float64
	Budget        float64 // in Currency; 0: none
	Currency      string
	SLO           SLO
	Version       string // of baton, for the report

	times probeTimes
}

// DefaultLadder is the concurrency of the levels.
func DefaultLadder() []int { return []int{1, 2, 4, 8, 16, 32, 64, 100} }

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// fill puts defaults where a field is zero, and returns every mistake at once.
func (p Plan) fill() (Plan, error) {
	if len(p.Ladder) == 0 {
		p.Ladder = DefaultLadder()
	}
	p.Ladder, p.Rates = slices.Clone(p.Ladder), slices.Clone(p.Rates)
	p.Arrivals = or(p.Arrivals, Poisson)
	p.Duration = or(p.Duration, 30*time.Second)
	p.Warmup = or(p.Warmup, min(10*time.Second, p.Duration/2))
	p.Timeout = or(p.Timeout, 2*time.Minute)
	p.MinSamples = or(p.MinSamples, 50)
	p.MaxSamples = or(p.MaxSamples, 200_000)
	p.Kind = or(p.Kind, Stream)
	p.Cache = or(p.Cache, Cold)
	p.MaxTokens = or(p.MaxTokens, 128)
	p.Seed = or(p.Seed, 1)
	p.Keys = or(p.Keys, 1)
	p.MaxErrors = or(p.MaxErrors, 0.5)
	p.times = or(p.times, usualTimes)
	return p, p.validate()
}

func (p *Plan) validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(len(p.Targets) > 0, "no vendor is named")
	names := map[string]bool{}
	for i := range p.Targets {
		t := &p.Targets[i]
		if t.Vendor == nil {
			bad(false, "target %d: has no vendor", i+1)
			continue
		}
		bad(!names[t.Vendor.Name], "vendor %q: is named twice", t.Vendor.Name)
		bad(t.Model != "", "vendor %q: no model is named", t.Vendor.Name)
		names[t.Vendor.Name] = true
	}
	bad(len(p.Prompts) > 0, "there are no prompts")
	for i, c := range p.Ladder {
		bad(c >= 1 && c <= 10_000, "concurrency %d: must be from 1 to 10000", c)
		bad(i == 0 || c > p.Ladder[i-1], "concurrency %d: the levels must rise", c)
	}
	for _, r := range p.Rates {
		bad(r > 0 && r <= 10_000, "rate %g: must be above 0 and at most 10000 requests per second", r)
	}
	bad(p.Arrivals == ClosedLoop || p.Arrivals == Constant || p.Arrivals == Poisson, "arrivals %q: must be constant, poisson or closed", p.Arrivals)
	bad(len(p.Rates) == 0 || p.Arrivals != ClosedLoop, "arrivals %q: a closed loop has no rate", p.Arrivals)
	bad(p.Duration >= time.Second && p.Duration <= time.Hour, "duration %s: must be from 1s to 1h", p.Duration)
	bad(p.Warmup >= 0 && p.Warmup <= time.Hour, "warm-up %s: must be from 0 to 1h", p.Warmup)
	bad(p.Timeout > 0, "timeout %s: must be above 0", p.Timeout)
	bad(p.MinSamples > 0 && p.MaxSamples >= p.MinSamples, "requests %d: must be above 0, and at most %d", p.MinSamples, p.MaxSamples)
	bad(p.Kind == Stream || p.Kind == Whole, "kind %q: must be stream or whole", p.Kind)
	bad(p.Cache == Cold || p.Cache == Warm, "cache %q: must be cold or warm", p.Cache)
	bad(p.Ramp == "" || p.Ramp == Gentle || p.Ramp == Fast, "ramp %q: must be gentle or fast", p.Ramp)
	bad(p.MaxTokens >= 1 && p.MaxTokens <= 100_000, "max tokens %d: must be from 1 to 100000", p.MaxTokens)
	bad(p.Keys >= 1, "keys %d: must be 1 or more", p.Keys)
	bad(p.MaxErrors > 0 && p.MaxErrors <= 1, "max errors %g: must be above 0 and at most 1", p.MaxErrors)
	bad(p.Budget >= 0, "budget %g: must not be below 0", p.Budget)
	return errors.Join(errs...)
}

// ramp is how the load rises towards a target.
func (p *Plan) ramp(t *Target) string {
	if p.Ramp != "" {
		return p.Ramp
	}
	if t.Real {
		return Gentle
	}
	return Fast
}

// top is the highest concurrency of the ladder.
func (p *Plan) top() int { return p.Ladder[len(p.Ladder)-1] }

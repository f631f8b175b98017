package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Options describe one simulated vendor. A zero field means its default.
type Options struct {
	Name    string // owner named in model lists; default "sim"
	Label   string // name in answers, for people; default Name
	Profile string // "elastic" (default) or "faults"
	Seed    uint64 // same seed and same order of arrival, same draws

	FirstToken time.Duration // median first token without load; default 280ms (faults: 50ms, not random)
	Sigma      float64       // spread of the first token, ln units; default 0.34
	PerToken   time.Duration // median time between tokens without load; default 14ms (faults: 5ms)
	Tokens     int           // median length of an answer in tokens; default 24, a short FAQ answer (faults: always 60)
	TokenSigma float64       // spread of the length, ln units; default 0.3
	Capacity   int           // requests in flight that count as load 1; default 400
	Limit      float64       // requests per second, bucket of one second; over it an instant 429 limit_requests; 0: none
	ErrorRate  float64       // share of requests answered with 503, 0 to 1
	Scale      float64       // multiplies every duration of the simulation, faults too; default 1

	Models []string // ids that exist, others get 404; none: every name is known
	Keys   []string // accepted bearer keys; none: no key is asked for
}

// Knobs are the options that Set changes while the vendor runs; nil leaves one as it is. Unlike in Options, zero is zero.
type Knobs struct {
	FirstToken *time.Duration
	Sigma      *float64
	PerToken   *time.Duration
	Tokens     *int
	TokenSigma *float64
	Capacity   *int // also forgets what elastic growth had added
	Limit      *float64
	ErrorRate  *float64
	Scale      *float64
}

// profile is one kind of behaviour: its defaults, how it times an answer, and whether the model's name picks a fault.
type profile struct {
	defaults Options
	draw     func(o *Options, c conditions) timing
	faulty   bool
}

// profiles are the known ones; a new profile is a row here and a draw function.
var profiles = map[string]profile{
	"elastic": {
		defaults: Options{FirstToken: 280 * time.Millisecond, Sigma: 0.34, PerToken: 14 * time.Millisecond, Tokens: 24, TokenSigma: 0.3, Capacity: 400},
		draw:     drawElastic,
	},
	"faults": {
		defaults: Options{FirstToken: 50 * time.Millisecond, Sigma: 0.34, PerToken: 5 * time.Millisecond, Tokens: faultWords, TokenSigma: 0.3, Capacity: 400},
		draw:     drawFixed,
		faulty:   true,
	},
}

// Profiles lists the known profiles, sorted.
func Profiles() []string {
	names := make([]string, 0, len(profiles))
	for name := range profiles {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// fill puts defaults where a field is zero.
func (o Options) fill() (Options, error) {
	o.Profile = or(o.Profile, "elastic")
	p, ok := profiles[o.Profile]
	if !ok {
		return o, fmt.Errorf("sim: profile %q: must be one of %s", o.Profile, strings.Join(Profiles(), ", "))
	}
	d := p.defaults
	o.Name = or(o.Name, "sim")
	o.Label = or(o.Label, o.Name)
	o.FirstToken = or(o.FirstToken, d.FirstToken)
	o.Sigma = or(o.Sigma, d.Sigma)
	o.PerToken = or(o.PerToken, d.PerToken)
	o.Tokens = or(o.Tokens, d.Tokens)
	o.TokenSigma = or(o.TokenSigma, d.TokenSigma)
	o.Capacity = or(o.Capacity, d.Capacity)
	o.Scale = or(o.Scale, 1)
	o.Models = slices.Clone(o.Models)
	o.Keys = slices.Clone(o.Keys)
	return o, o.validate()
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// validate reports every impossible value at once. The comparisons are written so that NaN fails them.
func (o Options) validate() error {
	var errs []error
	bad := func(ok bool, name string, value any, rule string) {
		if !ok {
			errs = append(errs, fmt.Errorf("sim: %s %v: %s", name, value, rule))
		}
	}
	bad(o.FirstToken >= 0 && o.FirstToken <= 10*time.Minute, "first_token", o.FirstToken, "must be from 0 to 10m")
	bad(o.PerToken >= 0 && o.PerToken <= time.Minute, "per_token", o.PerToken, "must be from 0 to 1m")
	bad(o.Sigma >= 0 && o.Sigma <= 2, "sigma", o.Sigma, "must be from 0 to 2")
	bad(o.Tokens >= 1 && o.Tokens <= 100_000, "tokens", o.Tokens, "must be from 1 to 100000")
	bad(o.TokenSigma >= 0 && o.TokenSigma <= 2, "token_sigma", o.TokenSigma, "must be from 0 to 2")
	bad(o.Capacity >= 1 && o.Capacity <= 1_000_000, "capacity", o.Capacity, "must be from 1 to 1000000")
	bad(o.Limit >= 0 && o.Limit <= 1e6, "limit", o.Limit, "must be from 0 (none) to 1000000 requests per second")
	bad(o.ErrorRate >= 0 && o.ErrorRate <= 1, "error_rate", o.ErrorRate, "must be from 0 to 1")
	bad(o.Scale > 0 && o.Scale <= 100, "scale", o.Scale, "must be above 0 and at most 100")
	for i, m := range o.Models {
		bad(m != "", fmt.Sprintf("models[%d]", i), `""`, "must not be empty")
	}
	for i, k := range o.Keys {
		bad(k != "", fmt.Sprintf("keys[%d]", i), `""`, "must not be empty")
	}
	return errors.Join(errs...)
}

// apply returns o with the knobs turned.
func (o Options) apply(k Knobs) (Options, error) {
	turn(&o.FirstToken, k.FirstToken)
	turn(&o.Sigma, k.Sigma)
	turn(&o.PerToken, k.PerToken)
	turn(&o.Tokens, k.Tokens)
	turn(&o.TokenSigma, k.TokenSigma)
	turn(&o.Capacity, k.Capacity)
	turn(&o.Limit, k.Limit)
	turn(&o.ErrorRate, k.ErrorRate)
	turn(&o.Scale, k.Scale)
	return o, o.validate()
}

func turn[T any](field, knob *T) {
	if knob != nil {
		*field = *knob
	}
}

// scaled is d in the simulation's time.
func (o *Options) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * o.Scale)
}

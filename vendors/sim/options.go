package sim

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Options describe one simulated vendor. A zero field means its default.
type Options struct {
	Name    string // owner named in model lists; default "sim"
	Label   string // name in answers, for people; default Name
	Profile string // one of Profiles; default "elastic"
	Seed    uint64 // same seed and same order of arrival, same draws

	FirstToken time.Duration // median first token without load; what it is on a GPU, see the profiles
	Sigma      float64       // spread of the first token, ln units; default 0.34; not on a GPU, where queues make it
	PerToken   time.Duration // median time between tokens without load
	Tokens     int           // median length of an answer in tokens (faults: always 60)
	TokenSigma float64       // spread of the length, ln units
	Capacity   int           // requests in flight that count as load 1; threads of naive-gpu; sequences of one replica of vllm-pool

	Limit       float64       // requests per second and model, bucket of one second; 0: none; limited: 20
	LimitMode   string        // what happens to those over Limit: "reject" (default), an instant 429, or "queue"
	LimitQueue  int           // most that wait in the mode "queue", more get 429; default 90
	LimitTokens int           // tokens per minute and model, then 429 insufficient_quota; 0: none
	LimitSlope  float64       // in the mode "reject": growth within ten seconds, then 429 limit_burst_rate; 0: the profile's, limited: 2; below 0: none
	KeepAlive   time.Duration // a comment to those that wait this often; 0: none

	Replicas    int     // servers of vllm-pool; default 1
	MaxReplicas int     // elastic up to this many; default Replicas
	KVTokens    int     // cache of one replica; default 400,000, a 24 GB card has 40,000
	Quantized   bool    // naive-gpu with 4-bit weights
	Crash       float64 // chance that naive-gpu dies of a failure for memory; 0: 0.002; below 0: none

	ErrorRate float64 // share of requests answered with 503, 0 to 1
	Scale     float64 // multiplies every duration of the simulation, faults too; default 1

	Models []string // ids that exist, others get 404; none: every name is known
	Keys   []string // accepted bearer keys; none: no key is asked for
}

// profile is one kind of behaviour: its defaults, how it times an answer or what its requests share, and whether the
// model's name picks a fault.
type profile struct {
	defaults Options
	draw     func(o *Options, c conditions) timing
	station  func(o *Options) station // in place of draw
	block    int                      // of the prefix cache, tokens
	faulty   bool
}

// station is what the requests of a profile share, driven by the clock.
type station interface {
	serve(in, cached, out int) pace // tokens
	set(o *Options)
	reading() reading
}

// reading is how full a station is.
type reading struct {
	working, waiting int
	capacity         float64
	replicas         int
	down             bool // every connection is reset
}

// profiles are the known ones; a new profile is a row here and a draw function or a station.
var profiles = map[string]profile{
	"elastic": {
		defaults: Options{FirstToken: 280 * time.Millisecond, Sigma: 0.34, PerToken: 14 * time.Millisecond, Tokens: 24, TokenSigma: 0.3, Capacity: 400},
		draw:     drawElastic,
	},
	"limited": {
		defaults: Options{FirstToken: 220 * time.Millisecond, Sigma: 0.34, PerToken: 14 * time.Millisecond, Tokens: 24, TokenSigma: 0.3, Capacity: 400, Limit: 20, LimitSlope: 2},
		draw:     drawElastic,
	},
	"naive-gpu": {
		defaults: Options{FirstToken: 168750 * time.Microsecond, Sigma: 0.34, PerToken: 12409 * time.Microsecond, Tokens: 28, TokenSigma: 0.5, Capacity: gpuThreads, Crash: 0.002},
		station:  newGPUStation,
	},
	"vllm-pool": {
		defaults: Options{FirstToken: 43500 * time.Microsecond, Sigma: 0.34, PerToken: 10500 * time.Microsecond, Tokens: 120, TokenSigma: 0.5, Capacity: 256, Replicas: 1, KVTokens: 400_000},
		station:  newPoolStation,
		block:    kvBlock,
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
	o.Limit = or(o.Limit, d.Limit)
	o.LimitMode = or(o.LimitMode, limitReject)
	o.LimitQueue = or(o.LimitQueue, 90)
	o.LimitSlope = max(or(o.LimitSlope, d.LimitSlope), 0)
	o.Replicas = or(o.Replicas, d.Replicas)
	o.MaxReplicas = or(o.MaxReplicas, o.Replicas)
	o.KVTokens = or(o.KVTokens, d.KVTokens)
	o.Crash = max(or(o.Crash, d.Crash), 0)
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
	bad(o.LimitMode == limitReject || o.LimitMode == limitQueue, "limit_mode", strconv.Quote(o.LimitMode), "must be reject or queue")
	bad(o.LimitQueue >= 1 && o.LimitQueue <= 100_000, "limit_queue", o.LimitQueue, "must be from 1 to 100000")
	bad(o.LimitTokens >= 0 && o.LimitTokens <= 1e9, "limit_tokens", o.LimitTokens, "must be from 0 (none) to 1000000000 per minute")
	bad(o.LimitSlope >= 0 && o.LimitSlope <= 1e6, "limit_slope", o.LimitSlope, "must be from 0 (none) to 1000000")
	bad(o.KeepAlive >= 0 && o.KeepAlive <= time.Minute, "keep_alive", o.KeepAlive, "must be from 0 (none) to 1m")
	o.validateGPU(bad)
	bad(o.ErrorRate >= 0 && o.ErrorRate <= 1, "errors", o.ErrorRate, "must be from 0 to 1")
	bad(o.Scale > 0 && o.Scale <= 100, "scale", o.Scale, "must be above 0 and at most 100")
	for i, m := range o.Models {
		bad(m != "", fmt.Sprintf("models[%d]", i), `""`, "must not be empty")
	}
	for i, k := range o.Keys {
		bad(k != "", fmt.Sprintf("keys[%d]", i), `""`, "must not be empty")
	}
	return errors.Join(errs...)
}

// validateGPU holds the options of the profiles that have a GPU.
func (o Options) validateGPU(bad func(ok bool, name string, value any, rule string)) {
	pool, naive := o.Profile == "vllm-pool", o.Profile == "naive-gpu"
	if pool {
		bad(o.Replicas >= 1 && o.Replicas <= 64, "replicas", o.Replicas, "must be from 1 to 64")
		bad(o.MaxReplicas >= o.Replicas && o.MaxReplicas <= 64, "max_replicas", o.MaxReplicas, "must be from replicas to 64")
		bad(o.KVTokens >= 1000 && o.KVTokens <= 100_000_000, "kv_tokens", o.KVTokens, "must be from 1000 to 100000000")
	} else {
		bad(o.Replicas == 0, "replicas", o.Replicas, "only the profile vllm-pool has any")
		bad(o.MaxReplicas == 0, "max_replicas", o.MaxReplicas, "only the profile vllm-pool has any")
		bad(o.KVTokens == 0, "kv_tokens", o.KVTokens, "only the profile vllm-pool has any")
	}
	bad(naive || !o.Quantized, "quantized", o.Quantized, "only the profile naive-gpu can be")
	bad(naive || o.Crash == 0, "crash", o.Crash, "only the profile naive-gpu does")
	bad(o.Crash >= 0 && o.Crash <= 1, "crash", o.Crash, "must be from 0 to 1")
}

// scaled is d in the simulation's time.
func (o *Options) scaled(d time.Duration) time.Duration {
	return time.Duration(float64(d) * o.Scale)
}

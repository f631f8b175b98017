package config

import (
	"slices"
	"time"
)

// Profiles are the behaviours of simulated vendors.
var Profiles = []string{"elastic", "limited", "naive-gpu", "vllm-pool", "faults"}

// Sim are the knobs of a simulated vendor; zero values are the profile's own.
type Sim struct {
	Seed       uint64        `toml:"seed"`
	FirstToken time.Duration `toml:"first_token"` // median
	Sigma      float64       `toml:"sigma"`       // its spread, ln units
	PerToken   time.Duration `toml:"per_token"`
	Tokens     int           `toml:"tokens"`      // median length of an answer
	TokenSigma float64       `toml:"token_sigma"` // its spread, ln units
	Capacity   int           `toml:"capacity"`    // requests in flight at full load; threads of naive-gpu, sequences of a replica of vllm-pool

	Limit       float64       `toml:"limit"`        // requests per second and model, 0 the profile's
	LimitMode   string        `toml:"limit_mode"`   // reject or queue, "" reject
	LimitQueue  int           `toml:"limit_queue"`  // most that wait
	LimitTokens int           `toml:"limit_tokens"` // tokens per minute and model, 0 none
	LimitSlope  *float64      `toml:"limit_slope"`  // growth within ten seconds that is refused, 0 none; nil the profile's
	KeepAlive   time.Duration `toml:"keep_alive"`   // comments to those that wait, 0 none

	Replicas    int      `toml:"replicas"`     // of vllm-pool
	MaxReplicas int      `toml:"max_replicas"` // elastic up to this many
	KVTokens    int      `toml:"kv_tokens"`    // cache of a replica
	Quantized   bool     `toml:"quantized"`    // naive-gpu with 4-bit weights
	Crash       *float64 `toml:"crash"`        // chance that naive-gpu dies of a failure for memory, 0-1; nil the profile's

	Errors float64  `toml:"errors"` // part of requests answered 503, 0-1
	Scale  float64  `toml:"scale"`  // multiplies every duration
	Models []string `toml:"models"`
}

// sim checks the knobs of a simulated vendor. A simulator made of what passes here never refuses it.
func (v *validation) sim(at, profile string, s *Sim) {
	v.want(s.FirstToken >= 0 && s.FirstToken <= 10*time.Minute, at+".first_token", s.FirstToken, "from 0 to 10m")
	v.want(s.PerToken >= 0 && s.PerToken <= time.Minute, at+".per_token", s.PerToken, "from 0 to 1m")
	v.want(s.Sigma >= 0 && s.Sigma <= 2, at+".sigma", s.Sigma, "from 0 to 2")
	v.want(s.Tokens >= 0 && s.Tokens <= 100_000, at+".tokens", s.Tokens, "from 0 to 100000")
	v.want(s.TokenSigma >= 0 && s.TokenSigma <= 2, at+".token_sigma", s.TokenSigma, "from 0 to 2")
	v.want(s.Capacity >= 0 && s.Capacity <= 1_000_000, at+".capacity", s.Capacity, "from 0 to 1000000")
	v.want(s.Limit >= 0 && s.Limit <= 1e6, at+".limit", s.Limit, "from 0 to 1000000 requests per second")
	v.want(profile != "limited" || s.Limit > 0 || !v.doc.Has(at+".limit"), at+".limit", s.Limit, "more than 0: elastic is the profile without a limit")
	if s.LimitMode != "" {
		v.oneOf(at+".limit_mode", s.LimitMode, "reject", "queue")
	}
	v.want(s.LimitQueue >= 0 && s.LimitQueue <= 100_000, at+".limit_queue", s.LimitQueue, "from 0 to 100000")
	v.want(s.LimitTokens >= 0 && s.LimitTokens <= 1e9, at+".limit_tokens", s.LimitTokens, "from 0 (none) to 1000000000 per minute")
	v.want(value(s.LimitSlope) >= 0 && value(s.LimitSlope) <= 1e6, at+".limit_slope", value(s.LimitSlope), "from 0 (none) to 1000000")
	v.want(s.KeepAlive >= 0 && s.KeepAlive <= time.Minute, at+".keep_alive", s.KeepAlive, "from 0 (none) to 1m")
	v.simGPU(at, profile, s)
	v.part(at+".errors", s.Errors)
	v.want((s.Scale > 0 || !v.doc.Has(at+".scale")) && s.Scale >= 0 && s.Scale <= 100, at+".scale", s.Scale, "above 0 and at most 100")
	for _, m := range s.Models {
		v.want(m != "", at+".models", m, "names that are not empty")
	}
}

// simGPU checks what only the profiles with a GPU have.
func (v *validation) simGPU(at, profile string, s *Sim) {
	if !slices.Contains(Profiles, profile) {
		return
	}
	only := func(set bool, key string, value any, of string) {
		v.want(!set || profile == of, at+key, value, "none: only "+of+" has this")
	}
	only(s.Replicas != 0, ".replicas", s.Replicas, "vllm-pool")
	only(s.MaxReplicas != 0, ".max_replicas", s.MaxReplicas, "vllm-pool")
	only(s.KVTokens != 0, ".kv_tokens", s.KVTokens, "vllm-pool")
	only(s.Quantized, ".quantized", s.Quantized, "naive-gpu")
	only(s.Crash != nil, ".crash", value(s.Crash), "naive-gpu")
	switch profile {
	case "vllm-pool":
		v.want(s.Replicas >= 0 && s.Replicas <= 64, at+".replicas", s.Replicas, "from 0 to 64")
		v.want(s.MaxReplicas == 0 || s.MaxReplicas >= max(s.Replicas, 1) && s.MaxReplicas <= 64, at+".max_replicas", s.MaxReplicas, "from replicas to 64")
		v.want(s.KVTokens == 0 || s.KVTokens >= 1000 && s.KVTokens <= 100_000_000, at+".kv_tokens", s.KVTokens, "from 1000 to 100000000")
	case "naive-gpu":
		v.part(at+".crash", value(s.Crash))
	}
}

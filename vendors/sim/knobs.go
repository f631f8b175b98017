package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Knobs are the options that Set changes while the vendor runs; nil leaves one as it is. Unlike in Options, zero is zero.
// As JSON they have the names of the configuration, see ParseKnobs.
type Knobs struct {
	FirstToken *time.Duration
	Sigma      *float64
	PerToken   *time.Duration
	Tokens     *int
	TokenSigma *float64
	Capacity   *int // also forgets what elastic growth had added

	Limit       *float64 // a changed one starts with a full bucket
	LimitMode   *string  // who waits already still waits
	LimitQueue  *int
	LimitTokens *int
	LimitSlope  *float64
	KeepAlive   *time.Duration

	Replicas    *int // also forgets what elastic growth had added, and sets MaxReplicas to it where that is less
	MaxReplicas *int
	Quantized   *bool
	Crash       *float64

	ErrorRate *float64
	Scale     *float64
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
	turn(&o.LimitMode, k.LimitMode)
	turn(&o.LimitQueue, k.LimitQueue)
	turn(&o.LimitTokens, k.LimitTokens)
	turn(&o.LimitSlope, k.LimitSlope)
	turn(&o.KeepAlive, k.KeepAlive)
	fixed := o.MaxReplicas == o.Replicas
	turn(&o.Replicas, k.Replicas)
	if k.MaxReplicas == nil && (fixed || o.MaxReplicas < o.Replicas) {
		o.MaxReplicas = o.Replicas // a pool that was not elastic stays so
	}
	turn(&o.MaxReplicas, k.MaxReplicas)
	turn(&o.Quantized, k.Quantized)
	turn(&o.Crash, k.Crash)
	turn(&o.ErrorRate, k.ErrorRate)
	turn(&o.Scale, k.Scale)
	return o, o.validate()
}

func turn[T any](field, knob *T) {
	if knob != nil {
		*field = *knob
	}
}

// settings are knobs as JSON.
type settings struct {
	FirstToken  *duration `json:"first_token,omitempty"`
	Sigma       *float64  `json:"sigma,omitempty"`
	PerToken    *duration `json:"per_token,omitempty"`
	Tokens      *int      `json:"tokens,omitempty"`
	TokenSigma  *float64  `json:"token_sigma,omitempty"`
	Capacity    *int      `json:"capacity,omitempty"`
	Limit       *float64  `json:"limit,omitempty"`
	LimitMode   *string   `json:"limit_mode,omitempty"`
	LimitQueue  *int      `json:"limit_queue,omitempty"`
	LimitTokens *int      `json:"limit_tokens,omitempty"`
	LimitSlope  *float64  `json:"limit_slope,omitempty"`
	KeepAlive   *duration `json:"keep_alive,omitempty"`
	Replicas    *int      `json:"replicas,omitempty"`
	MaxReplicas *int      `json:"max_replicas,omitempty"`
	Quantized   *bool     `json:"quantized,omitempty"`
	Crash       *float64  `json:"crash,omitempty"`
	Errors      *float64  `json:"errors,omitempty"`
	Scale       *float64  `json:"scale,omitempty"`
}

// KnobNames are the names of the knobs in JSON, in the order of the options.
func KnobNames() []string {
	t := reflect.TypeFor[settings]()
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// duration is one in JSON: "280ms".
type duration time.Duration

func (d *duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = duration(v)
	return err
}

func (d *duration) MarshalText() ([]byte, error) {
	return []byte(time.Duration(*d).String()), nil
}

// ParseKnobs reads a JSON object such as {"first_token":"1s","errors":0.2,"limit":15,"limit_mode":"queue"}. A name that
// is unknown is an error; whether a value is possible, Set says.
func ParseKnobs(body []byte) (Knobs, error) {
	var s settings
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Knobs{}, fmt.Errorf("sim: reading the knobs: %w", err)
	}
	if d.More() {
		return Knobs{}, fmt.Errorf("sim: reading the knobs: more than one JSON object")
	}
	return Knobs{
		FirstToken: (*time.Duration)(s.FirstToken), Sigma: s.Sigma, PerToken: (*time.Duration)(s.PerToken), Tokens: s.Tokens, TokenSigma: s.TokenSigma,
		Capacity: s.Capacity, Limit: s.Limit, LimitMode: s.LimitMode, LimitQueue: s.LimitQueue, LimitTokens: s.LimitTokens, LimitSlope: s.LimitSlope,
		KeepAlive: (*time.Duration)(s.KeepAlive), Replicas: s.Replicas, MaxReplicas: s.MaxReplicas, Quantized: s.Quantized, Crash: s.Crash,
		ErrorRate: s.Errors, Scale: s.Scale,
	}, nil
}

// settings are the options that can be changed, as they stand.
func (o Options) settings() settings {
	return settings{
		FirstToken: (*duration)(&o.FirstToken), Sigma: &o.Sigma, PerToken: (*duration)(&o.PerToken), Tokens: &o.Tokens, TokenSigma: &o.TokenSigma,
		Capacity: &o.Capacity, Limit: &o.Limit, LimitMode: &o.LimitMode, LimitQueue: &o.LimitQueue, LimitTokens: &o.LimitTokens, LimitSlope: &o.LimitSlope,
		KeepAlive: (*duration)(&o.KeepAlive), Replicas: &o.Replicas, MaxReplicas: &o.MaxReplicas, Quantized: &o.Quantized, Crash: &o.Crash,
		Errors: &o.ErrorRate, Scale: &o.Scale,
	}
}

package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kind is a kind of fault; its text is the word that people write.
type Kind string

// The kinds of faults.
const (
	Refuse         Kind = "refuse"           // connections are refused
	Blackhole      Kind = "blackhole"        // nothing ever answers
	Reset          Kind = "reset"            // connections are reset before the answer
	HTTP500        Kind = "http_500"         // answers 500, the vendor is not called
	HTTP503        Kind = "http_503"         // answers 503, the vendor is not called
	HTTP429        Kind = "http_429"         // answers 429 with Retry-After, the vendor is not called
	SlowFirstToken Kind = "slow_first_token" // the answer begins later, by Delay
	SlowDrip       Kind = "slow_drip"        // events come at Rate
	CutStream      Kind = "cut_stream"       // the connection closes after After events
	StallStream    Kind = "stall_stream"     // silence after After events
	Garbage        Kind = "garbage"          // what comes after After events is no JSON
	DNS            Kind = "dns"              // the name does not resolve
	TLS            Kind = "tls"              // the certificate has expired
	Auth           Kind = "auth"             // answers 401, the vendor is not called
)

// What a fault does to requests that are under way when it is injected.
const (
	Finish = "finish" // they end as they would
	Cut    = "cut"    // their connections are reset
)

// Limits and defaults of a Spec.
const (
	DefaultFor   = 15 * time.Minute
	MaxFor       = time.Hour
	DefaultDelay = 20 * time.Second
	DefaultRate  = 1.0 // events per second
	DefaultAfter = 10  // events
	minRate      = 0.001
	maxRate      = 1000
	maxAfter     = 1_000_000
)

// Spec is a fault to inject. Make it with Parse, which fills in the defaults.
type Spec struct {
	Kind     Kind
	Percent  float64       // of attempts, over 0 up to 100
	For      time.Duration // hard expiry, at most MaxFor
	Ramp     time.Duration // from 0 to Percent over this long
	Lane     string        // only attempts of this lane; "" all, and those of no lane (probes)
	Delay    time.Duration // slow_first_token
	Rate     float64       // slow_drip: events per second
	After    int           // cut_stream, stall_stream, garbage: events that pass
	InFlight string        // Finish or Cut
	Seed     uint64        // of the choice of attempts; 0: a random one
}

// entry is a kind of fault: what strikes, and the parameter beside the common
// ones that it takes.
type entry struct {
	kind  Kind
	make  func(Spec) failure
	takes string
}

// kinds is the only table of kinds. Its order is that of Kinds.
var kinds = []entry{
	{Refuse, func(Spec) failure { return refuse{} }, ""},
	{Blackhole, func(Spec) failure { return blackhole{} }, ""},
	{Reset, func(Spec) failure { return reset{} }, ""},
	{HTTP500, func(Spec) failure { return http500{} }, ""},
	{HTTP503, func(Spec) failure { return http503{} }, ""},
	{HTTP429, func(Spec) failure { return http429{} }, ""},
	{SlowFirstToken, func(s Spec) failure { return slowFirstToken{delay: s.Delay} }, "delay"},
	{SlowDrip, func(s Spec) failure { return slowDrip{rate: s.Rate} }, "rate"},
	{CutStream, func(s Spec) failure { return cutStream{after: s.After} }, "after"},
	{StallStream, func(s Spec) failure { return stallStream{after: s.After} }, "after"},
	{Garbage, func(s Spec) failure { return garbage{after: s.After} }, "after"},
	{DNS, func(Spec) failure { return dns{} }, ""},
	{TLS, func(Spec) failure { return expired{} }, ""},
	{Auth, func(Spec) failure { return auth{} }, ""},
}

// Kinds returns every kind.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range kinds {
		all[i] = kinds[i].kind
	}
	return all
}

// words lists the kinds for people.
func words() string {
	var b strings.Builder
	for i, k := range kinds {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(k.kind))
	}
	return b.String()
}

// Fields is a fault as people write it; zero and nil mean absent.
type Fields struct {
	Kind     string
	Percent  *float64
	For      time.Duration
	Ramp     time.Duration
	Lane     string
	Delay    time.Duration
	Rate     float64
	After    *int
	InFlight string
	Seed     uint64
}

// FieldError is a parameter of a fault that breaks a rule.
type FieldError struct {
	Field string // as people write it: kind, percent, for, ramp, lane, delay, rate, after, in_flight
	Value string
	Rule  string
}

// Error names field, value and rule.
func (e *FieldError) Error() string {
	return fmt.Sprintf("fault: %s %q: %s", e.Field, e.Value, e.Rule)
}

// Parse returns the Spec that f means, defaults filled in. Its error holds a
// *FieldError for every field that breaks a rule.
func Parse(f Fields) (Spec, error) {
	i := slices.IndexFunc(kinds, func(k entry) bool { return string(k.kind) == f.Kind })
	if i < 0 {
		return Spec{}, &FieldError{"kind", f.Kind, "must be one of " + words()}
	}
	if err := errors.Join(f.common(), f.particular(kinds[i].takes)); err != nil {
		return Spec{}, err
	}
	s := Spec{
		Kind: Kind(f.Kind), Percent: 100, For: f.For, Ramp: f.Ramp, Lane: f.Lane,
		Delay: f.Delay, Rate: f.Rate, After: DefaultAfter, InFlight: f.InFlight, Seed: f.Seed,
	}
	if f.Percent != nil {
		s.Percent = *f.Percent
	}
	if f.After != nil {
		s.After = *f.After
	}
	return s.fill(), nil
}

// fill puts defaults in place of zeros, and holds the hard limit of time.
func (s Spec) fill() Spec {
	if s.Percent == 0 {
		s.Percent = 100
	}
	if s.For <= 0 {
		s.For = DefaultFor
	}
	s.For = min(s.For, MaxFor)
	if s.Delay <= 0 {
		s.Delay = DefaultDelay
	}
	if s.Rate <= 0 {
		s.Rate = DefaultRate
	}
	if s.InFlight == "" {
		s.InFlight = Finish
		if s.Kind == Reset && s.Lane == "" {
			s.InFlight = Cut
		}
	}
	return s
}

// common checks the parameters that every kind takes.
func (f Fields) common() error {
	var errs []error
	rule := func(bad bool, field string, value any, text string) {
		if bad {
			errs = append(errs, &FieldError{field, fmt.Sprint(value), text})
		}
	}
	if p := f.Percent; p != nil {
		rule(!(*p > 0 && *p <= 100), "percent", *p, "must be over 0 and at most 100")
	}
	rule(f.For < 0 || f.For > MaxFor, "for", f.For, "must be over 0 and at most 1h")
	length := f.For
	if length == 0 {
		length = DefaultFor
	}
	rule(f.Ramp < 0 || f.Ramp > length, "ramp", f.Ramp, "must be from 0 to the fault's own length")
	rule(f.Lane != "" && f.Lane != interactive && f.Lane != batch, "lane", f.Lane, "must be interactive or batch")
	rule(f.InFlight != "" && f.InFlight != Finish && f.InFlight != Cut, "in_flight", f.InFlight, "must be finish or cut")
	rule(f.InFlight == Cut && f.Lane != "", "in_flight", f.InFlight, "cannot be cut for one lane: connections carry both")
	return errors.Join(errs...)
}

// particular checks the parameters that belong to some kinds only; takes is the
// one that this kind has.
func (f Fields) particular(takes string) error {
	var errs []error
	check := func(field string, given, good bool, value any, rule, of string) {
		switch {
		case !given:
		case takes != field:
			errs = append(errs, &FieldError{field, fmt.Sprint(value), fmt.Sprintf("belongs to %s, not to %s", of, f.Kind)})
		case !good:
			errs = append(errs, &FieldError{field, fmt.Sprint(value), rule})
		}
	}
	check("delay", f.Delay != 0, f.Delay > 0 && f.Delay <= MaxFor, f.Delay, "must be over 0 and at most 1h", "slow_first_token")
	check("rate", f.Rate != 0, f.Rate >= minRate && f.Rate <= maxRate, f.Rate,
		"must be from 0.001 to 1000 events per second", "slow_drip")
	after := 0
	if f.After != nil {
		after = *f.After
	}
	check("after", f.After != nil, after >= 0 && after <= maxAfter, after,
		"must be from 0 to 1000000 events", "cut_stream, stall_stream and garbage")
	return errors.Join(errs...)
}

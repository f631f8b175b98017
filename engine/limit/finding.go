package limit

import (
	"fmt"
	"math"
	"time"
)

// Finding is what is known of a learned limit, for people.
type Finding struct {
	Type       Class     // requests, tokens or concurrency; slope while a rate is held for one
	Scope      string    // key, account or unknown
	Value      float64   // in Unit
	Unit       string    // 1/s, tokens/min or in flight
	Confidence float64   // 0 to 1
	At         time.Time // when it was last found
	Refusals   int       // that it was found from
	Queueing   bool      // that it was found from
}

// Finding returns what was learned, false when there is nothing.
func (l *Limiter) Finding(now time.Time) (Finding, bool) {
	f := &l.learned
	if s := &l.slope; s.rps > 0 && (f.rps == 0 || s.rps < f.rps*margin) {
		return Finding{Type: Slope, Scope: l.scope.word(l.keys), Value: s.rps, Unit: "1/s", Confidence: 0.5, At: s.cut, Refusals: 1}, true
	}
	if f.rps == 0 {
		return Finding{}, false
	}
	out := Finding{Type: f.class, Scope: f.scope, Value: f.rps, Unit: "1/s", At: f.at, Refusals: f.refusals, Queueing: f.queued}
	if out.Scope == "" {
		out.Scope = "unknown"
	}
	switch {
	case f.flight > 0:
		out.Value, out.Unit = float64(f.flight), "in flight"
	case f.tokens > 0:
		out.Value, out.Unit = 60*f.tokens, "tokens/min"
	}
	age := min(max(now.Sub(f.at).Hours()/lifetime.Hours(), 0), 1)
	out.Confidence = math.Round(100*f.confidence()*(1-0.5*age)) / 100
	return out, true
}

// queuedTrust is how much a limit found by queueing is believed, one from refusals 1.
const queuedTrust = 0.9

// confidence grows with what a limit rests on, and shrinks with what contradicts it.
func (f *found) confidence() float64 {
	c := f.mass / (f.mass + 20) * (1 - min(max(f.cost, 0), 1))
	if f.queued {
		c *= queuedTrust
	}
	return c
}

// Text says it in a line: "~20/s per account, learned 3 min ago from 41 refusals".
func (f Finding) Text(now time.Time) string {
	per := " per " + f.Scope
	if f.Scope == "unknown" { // one key does not tell
		per = " per key or account"
	}
	from := ""
	switch {
	case f.Queueing:
		from = " from queueing"
	case f.Refusals > 0:
		from = fmt.Sprintf(" from %d refusals", f.Refusals)
	}
	return fmt.Sprintf("~%s%s, learned %s ago%s", f.amount(), per, ago(now.Sub(f.At)), from)
}

func (f Finding) amount() string {
	switch f.Unit {
	case "in flight":
		return fmt.Sprintf("%.0f in flight", f.Value)
	case "tokens/min":
		if f.Value >= 10000 {
			return fmt.Sprintf("%.0fk tokens/min", f.Value/1000)
		}
		return fmt.Sprintf("%.0f tokens/min", f.Value)
	}
	if f.Value < 10 {
		return fmt.Sprintf("%.1f/s", f.Value)
	}
	return fmt.Sprintf("%.0f/s", f.Value)
}

func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", max(d.Seconds(), 0))
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}

// Release says what would lift a cooldown or a learned limit: when it is tested upward,
// and when it is forgotten; "" when there is none.
func (l *Limiter) Release(now time.Time) string {
	f := &l.learned
	switch {
	case l.cool.until.Sub(now) > time.Second:
		return fmt.Sprintf("the end of its cooldown in %s", l.cool.until.Sub(now).Round(time.Second))
	case f.rps == 0 && l.slope.rps > 0:
		return fmt.Sprintf("%.0f s without a refusal for its slope (it rises by %.0f %%/s)", slopeEnd.Seconds(), 100*slopeGrowth)
	case f.rps == 0:
		return ""
	}
	forgotten := "forgotten at " + f.at.Add(lifetime).UTC().Format("15:04") + " UTC"
	if left := f.rested.Add(f.rest()).Sub(now); left > 0 {
		return fmt.Sprintf("a test of its learned limit in %s (%s)", left.Round(time.Second), forgotten)
	}
	return fmt.Sprintf("use of all that its learned limit lets through: tested upward by %.1f %%/s (%s)", 100*f.rate(now), forgotten)
}

// Saved is what a restart keeps of a learned limit.
type Saved struct {
	RPS      float64   `json:"rps"`
	At       time.Time `json:"at"` // when it was last found
	Evidence string    `json:"evidence"`

	Type       string  `json:"type,omitempty"`  // requests, tokens or concurrency
	Scope      string  `json:"scope,omitempty"` // key, account or unknown
	Unit       string  `json:"unit,omitempty"`
	Value      float64 `json:"value,omitempty"` // in Unit
	Confidence float64 `json:"confidence,omitempty"`
	Refusals   int     `json:"refusals,omitempty"`
}

// Save returns the learned limit, false when there is none.
func (l *Limiter) Save() (Saved, bool) {
	f := &l.learned
	if f.rps == 0 {
		return Saved{}, false
	}
	s := Saved{RPS: f.rps, At: f.at, Evidence: f.evidence, Type: f.class.String(), Scope: f.scope, Unit: "1/s", Value: f.rps, Confidence: f.confidence(), Refusals: f.refusals}
	switch {
	case f.flight > 0:
		s.Unit, s.Value = "in flight", float64(f.flight)
	case f.tokens > 0:
		s.Unit, s.Value = "tokens/min", 60*f.tokens
	}
	return s, true
}

// Resume takes a saved limit back, unless it is older than 6 hours or no rate.
func (l *Limiter) Resume(now time.Time, s Saved) {
	if !(s.RPS > 0) || math.IsInf(s.RPS, 1) || now.Sub(s.At) >= lifetime || s.At.After(now) {
		return
	}
	f := found{rps: s.RPS, at: s.At, evidence: s.Evidence, level: 1, times: 1, rested: now, scope: s.Scope, refusals: max(s.Refusals, 0)}
	f.queued = f.refusals == 0 && s.Confidence > 0
	c := min(max(s.Confidence, 0), 0.95)
	if f.queued {
		c = min(c/queuedTrust, 0.95)
	}
	if c > 0 {
		f.mass = 20 * c / (1 - c)
	}
	value := s.Value > 0 && !math.IsInf(s.Value, 1)
	switch {
	case s.Type == Tokens.String() && value:
		f.class, f.tokens = Tokens, s.Value/60
	case s.Type == Concurrency.String() && value && s.Value < 1e6:
		f.class, f.flight = Concurrency, max(int(s.Value), 1)
	}
	l.learned = f
}

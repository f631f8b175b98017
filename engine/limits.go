package engine

import (
	"math"
	"time"

	"baton/engine/control"
	"baton/engine/limit"
	"baton/engine/outcome"
)

// ending is what the limiter is told of an attempt's end.
func (l *Lease) ending(r outcome.Result, u outcome.Usage) limit.Ending {
	return limit.Ending{
		Trial:      l.Trial,
		Refused:    r.Outcome == outcome.RateLimited,
		Class:      limitClass(r),
		RetryAfter: r.RetryAfter,
		Key:        r.Scope == outcome.ScopeKey, // one key of several cools down by itself
		Answered:   r.Outcome == outcome.OK,
		Tokens:     u.Input + u.Output,
	}
}

// limitState is what is known of the vendor's limit. v.mu is held.
func (v *Vendor) limitState(keys int, now time.Time) control.Limit {
	l := control.Limit{Keys: keys, Evidence: v.limiter.Evidence()}
	if r, ok := v.limiter.Known(); ok {
		l.KnownRPS = control.Figure(r)
	}
	if r, ok := v.limiter.Learned(); ok {
		l.LearnedRPS = control.Figure(math.Round(10*r) / 10)
	}
	if r, ok := v.limiter.Allowed(); ok {
		l.AllowedRPS = control.Figure(math.Round(10*r) / 10)
	}
	f, ok := v.limiter.Finding(now)
	if !ok {
		return l
	}
	l.Type, l.Scope, l.Unit = f.Type.String(), f.Scope, f.Unit
	l.Value, l.Confidence = control.Figure(math.Round(10*f.Value)/10), control.Figure(f.Confidence)
	at := f.At.UTC()
	l.LearnedAt = &at
	if f.Type != limit.Slope && (f.Queueing || f.Refusals > 0) {
		l.Evidence = f.Text(now)
	}
	return l
}

// savedLimit is what a restart keeps of a limit, and limitOf what is taken back.
func savedLimit(l limit.Saved) control.SavedLimit {
	return control.SavedLimit{
		RPS: l.RPS, At: l.At.UTC(), Evidence: l.Evidence, Type: l.Type, Scope: l.Scope, Unit: l.Unit,
		Value: l.Value, Confidence: l.Confidence, Refusals: l.Refusals,
	}
}

func limitOf(l control.SavedLimit) limit.Saved {
	return limit.Saved{
		RPS: l.RPS, At: l.At, Evidence: l.Evidence, Type: l.Type, Scope: l.Scope, Unit: l.Unit,
		Value: l.Value, Confidence: l.Confidence, Refusals: l.Refusals,
	}
}

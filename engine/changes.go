package engine

import (
	"fmt"
	"time"

	"baton/engine/control"
	"baton/engine/health"
	"baton/engine/limit"
	"baton/engine/outcome"
)

// label is what people call v.
func (e *Engine) label(v *Vendor) string {
	if l := v.cfg.Load().Label; l != "" {
		return l
	}
	return v.Name
}

// healthChanged makes the weights follow a change of v's health at once.
func (e *Engine) healthChanged(v *Vendor, c health.Change, now time.Time) {
	if !c.Changed && !c.Alarm {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.healthChangedLocked(v, c, now)
}

// healthChangedLocked is healthChanged with e.mu held.
func (e *Engine) healthChangedLocked(v *Vendor, c health.Change, now time.Time) {
	if c.Alarm {
		e.log(control.Event{
			Time: now, Level: control.Crit, Kind: "health", Vendor: v.Name,
			Text: fmt.Sprintf("%s fails and is the last vendor: it is kept (%s)", e.label(v), c.Reason),
		})
	}
	if !c.Changed {
		return
	}
	ev := control.Event{
		Time: now, Kind: "health", Vendor: v.Name, Level: control.Info,
		Data: map[string]any{"from": c.From.String(), "to": c.To.String(), "reason": c.Reason},
	}
	t := e.table.Load()
	switch c.To {
	case health.Ejected:
		ev.Level = control.Crit
		ev.Text = fmt.Sprintf("%s ejected: %s", e.label(v), c.Reason)
		switch {
		case t.manual:
			ev.Text += " (failover is manual: its weight stays until somebody moves it)"
		case t.still:
			ev.Text += " (its weight stays: an overriding pin, or observing)"
		}
	case health.Recovering:
		ev.Text = fmt.Sprintf("%s is back: %s; its weight ramps", e.label(v), c.Reason)
	case health.Healthy:
		ev.Text = fmt.Sprintf("%s healthy again", e.label(v))
		v.mu.Lock()
		v.bad = badRun{}
		v.mu.Unlock()
	}
	e.log(ev)
	if c.To == health.Ejected && !t.still {
		e.publish(e.law.Drop(v.Name), now)
		return
	}
	v.mu.Lock()
	v.open.Store(v.takes())
	v.mu.Unlock()
}

// disable takes v out of service for an account fault, unless it is the last.
func (e *Engine) disable(v *Vendor, reason string, r outcome.Result) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	what := r.Account
	if what == "" {
		what = "account"
	}
	ev := control.Event{
		Time: now, Level: control.Crit, Kind: "account", Vendor: v.Name,
		Data: map[string]any{"reason": reason, "account": what},
	}
	if !e.othersOpen(v) {
		v.mu.Lock()
		again := v.lastErr == "account:"+reason
		v.lastErr = "account:" + reason
		v.mu.Unlock()
		if !again {
			ev.Text = fmt.Sprintf("%s refuses the account (%s: %s) and is the last vendor: it is kept", e.label(v), what, reason)
			e.log(ev)
		}
		return
	}
	v.mu.Lock()
	already := v.disabled != ""
	v.disabled, v.retest = reason, false
	v.mu.Unlock()
	if already {
		return
	}
	ev.Text = fmt.Sprintf("%s disabled, %s: %s. It is probed every minute; `baton enable %s` once it is mended", e.label(v), what, reason, v.Name)
	e.log(ev)
	e.publish(e.law.Tick(now, e.measures(e.table.Load(), now), e.lawPin()), now)
}

// enabled says that v is in service again.
func (e *Engine) enabled(v *Vendor, why string) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.log(control.Event{
		Time: now, Level: control.Info, Kind: "account", Vendor: v.Name,
		Text: fmt.Sprintf("%s enabled: %s", e.label(v), why),
	})
	e.publish(e.law.Tick(now, e.measures(e.table.Load(), now), e.lawPin()), now)
}

// limitClass says by which rule a refusal cools down.
func limitClass(r outcome.Result) limit.Class {
	switch r.Limit {
	case outcome.LimitSlope:
		return limit.Slope
	case outcome.LimitTokens:
		return limit.Tokens
	case outcome.LimitConcurrency:
		return limit.Concurrency
	}
	return limit.RPS
}

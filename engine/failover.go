package engine

import (
	"fmt"
	"time"

	"baton/engine/control"
)

const (
	manualDefault = 30 * time.Minute
	manualMax     = 4 * time.Hour
	// endsSoon is how long before its end people are told of something that ends by
	// itself.
	endsSoon = 2 * time.Minute
)

// manual is a lease by which people move the weights.
type manual struct {
	until  time.Time // zero: there is none
	by     string
	warned bool // of its end
}

// setFailover begins, prolongs or ends a lease of manual failover. e.mu is held.
func (e *Engine) setFailover(c *control.SetFailover, now time.Time) error {
	invalid := func(field, format string, args ...any) error {
		return &control.Error{Kind: control.Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
	}
	d := time.Duration(c.For)
	file := e.cfg.Load().Routing.Failover == "manual"
	switch c.Mode {
	case "manual":
		if d == 0 {
			d = manualDefault
		}
		if d < 0 || d > manualMax {
			return invalid("for", "for: %s is not between 0 and %s: manual failover is never for ever", c.For, control.Duration(manualMax))
		}
		e.lease(manual{until: now.Add(d), by: c.By, warned: d <= endsSoon}, now)
		e.tellAction(c, "operator", "", fmt.Sprintf("failover is manual for %s: breakers alarm, people move the weights", control.Duration(d)), now)
	case "auto":
		switch {
		case d != 0:
			return invalid("for", "for: only manual failover has a time")
		case file && e.manual.until.IsZero():
			return invalid("mode", "mode: routing.failover = \"manual\" stands in the file: change it there and reload")
		case e.manual.until.IsZero():
			return nil
		}
		e.lease(manual{}, now)
		text := "failover is automatic again"
		if file {
			text = "the lease of manual failover is over, but the file says manual: people still move the weights"
		}
		e.tellAction(c, "operator", "", text, now)
	default:
		return invalid("mode", "mode: %q is neither manual nor auto", c.Mode)
	}
	return nil
}

// SetManual makes failover manual until then, automatic for the zero time.
func (e *Engine) SetManual(until time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lease(manual{until: until}, time.Now())
}

// lease puts m in force now. e.mu is held.
func (e *Engine) lease(m manual, now time.Time) {
	e.manual = m
	e.setStill()
	e.settle(now)
}

// setStill puts into the table whether ejections move traffic, and remembers
// the weights when people begin to be the ones who move them. e.mu is held.
func (e *Engine) setStill() {
	c := e.cfg.Load()
	t := *e.table.Load()
	was := t.manual
	t.manual = c.Routing.Failover == "manual" || !e.manual.until.IsZero()
	t.still = t.manual || c.Routing.Mode == "observe" || e.pin != nil && e.pin.Override
	if t.manual && (!was || e.held == nil) {
		e.held = make(map[string]float64, len(t.vendors))
		for i, v := range t.vendors {
			e.held[v.Name] = v.cfg.Load().Weight / 100
			if len(t.weights) == len(t.vendors) {
				e.held[v.Name] = t.weights[i]
			}
		}
	}
	e.table.Store(&t)
}

// expire ends what ends by itself, and warns before. e.mu is held.
func (e *Engine) expire(now time.Time) {
	e.expireManual(now)
	e.expirePin(now)
}

func (e *Engine) expireManual(now time.Time) {
	m := &e.manual
	if m.until.IsZero() {
		return
	}
	left := m.until.Sub(now)
	switch {
	case left <= 0:
		*m = manual{}
		e.setStill()
		text := "failover is automatic again: its time as manual has run out"
		if e.table.Load().manual {
			text = "the lease of manual failover has run out, but the file says manual: people still move the weights"
		}
		e.log(control.Event{Time: now, Level: control.Warn, Kind: "operator", Text: text})
	case left <= endsSoon && !m.warned:
		m.warned = true
		extend := (&control.SetFailover{Mode: "manual", For: control.Duration(manualDefault)}).Line()
		e.log(control.Event{
			Time: now, Level: control.Warn, Kind: "operator", Data: map[string]any{"extend": extend},
			Text: fmt.Sprintf("manual failover ends in %s; `%s` extends it", control.Duration(left.Round(time.Second)), extend),
		})
	}
}

func (e *Engine) expirePin(now time.Time) {
	if e.pin == nil {
		return
	}
	left := e.pin.Until.Sub(now)
	switch {
	case left <= 0:
		text := "the pin has run out: weights are the controller's again"
		if e.table.Load().manual { // where people have left the weights they stay
			e.held = e.pin.fractions
			text = "the pin has run out: failover is manual, and the weights stay"
		}
		e.pin = nil
		e.setStill()
		e.log(control.Event{Time: now, Level: control.Warn, Kind: "weights", Text: text})
	case left <= endsSoon && !e.warned:
		e.warned = true
		e.log(control.Event{
			Time: now, Level: control.Warn, Kind: "weights", Data: map[string]any{"extend": extendPin},
			Text: fmt.Sprintf("the pin %s ends in %s; `%s` extends it", control.FormatWeights(e.pin.Weights), control.Duration(left.Round(time.Second)), extendPin),
		})
	}
}

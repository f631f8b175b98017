package engine

import (
	"fmt"
	"math"
	"time"

	"baton/engine/control"
)

const (
	pinDefault = 15 * time.Minute
	pinMax     = 4 * time.Hour
	textMax    = 500 // bytes of a reason
)

// Do carries out the commands that steer the engine itself. It reports false
// for those that are somebody else's.
func (e *Engine) Do(cmd control.Command) (bool, error) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	var err error
	switch c := cmd.(type) {
	case *control.SetWeights:
		err = e.setWeights(c, now)
	case *control.ReleaseWeights:
		e.release(c.Who(), now)
	case *control.Drain:
		err = e.drain(c, now)
	case *control.Undrain:
		err = e.undrain(c, now)
	case *control.Enable:
		err = e.enable(c, now)
	case *control.SetFailover:
		err = e.setFailover(c, now)
	case *control.SetLimit:
		err = e.setLimit(c, c.Vendor, c.RPS, now)
	case *control.ForgetLimit:
		err = e.setLimit(c, c.Vendor, 0, now)
	default:
		return false, nil
	}
	return true, err
}

// vendor returns the vendor of a command.
func (e *Engine) vendor(name string) (*Vendor, error) {
	if v := e.ByName(name); v != nil {
		return v, nil
	}
	return nil, control.Errorf(control.NotFound, "there is no vendor %q", name)
}

func (e *Engine) setWeights(c *control.SetWeights, now time.Time) error {
	invalid := func(field, format string, args ...any) error {
		return &control.Error{Kind: control.Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
	}
	sum := 0.0
	fractions := make(map[string]float64, len(c.Weights))
	for name, w := range c.Weights {
		if e.ByName(name) == nil {
			return invalid("weights", "weights: there is no vendor %q", name)
		}
		if math.IsNaN(w) || w < 0 || w > 100 {
			return invalid("weights", "weights: %s = %g is not between 0 and 100", name, w)
		}
		sum += w
		fractions[name] = w / 100
	}
	if math.Abs(sum-100) > 0.01 {
		return invalid("weights", "weights: they sum to %g, not to 100", math.Round(sum*100)/100)
	}
	d := time.Duration(c.For)
	if len(c.Reason) > textMax {
		return invalid("reason", "reason: %d bytes are more than %d", len(c.Reason), textMax)
	}
	switch {
	case d == 0:
		d = pinDefault
	case d < 0 || d > pinMax:
		return invalid("for", "for: %s is not between 0 and %s", c.For, control.Duration(pinMax))
	}
	e.pin = &pin{fractions: fractions, Pin: control.Pin{Weights: c.Weights, Until: now.Add(d).UTC(), By: c.By, Reason: c.Reason, Override: c.Override}}
	e.warned = d <= endsSoon // so short a pin needs no warning
	e.setStill()
	text := fmt.Sprintf("weights pinned to %s for %s", control.FormatWeights(c.Weights), control.Duration(d))
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	e.tellAction(c, "weights", "", text, now)
	e.settle(now)
	return nil
}

// release gives the weights back to the law.
func (e *Engine) release(who string, now time.Time) {
	if e.pin == nil {
		return
	}
	e.pin = nil
	e.setStill()
	e.log(control.Event{Time: now, Level: control.Info, Kind: "weights", Who: who, Text: "weights are the controller's again (baton weights auto)"})
	e.settle(now)
}

// settle makes what a person changed take effect now, not at the next tick.
func (e *Engine) settle(now time.Time) {
	e.said = true // in the person's own event
	e.publish(e.law.Tick(now, e.measures(e.table.Load(), now), e.lawPin()), now)
	e.said = false
}

func (e *Engine) drain(c *control.Drain, now time.Time) error {
	v, err := e.vendor(c.Vendor)
	if err != nil {
		return err
	}
	last := !e.othersOpen(v)
	v.mu.Lock()
	v.drained, v.drainedBy = true, c.Who()
	open := v.flight.n
	if c.Now {
		for l := v.flight.head; l != nil; l = l.next {
			if l.Cancel != nil {
				l.Cancel(ErrDrained)
			}
		}
	}
	v.mu.Unlock()
	text := fmt.Sprintf("%s drained; %d attempts under way end as they would", e.label(v), open)
	if c.Now {
		text = fmt.Sprintf("%s drained at once; %d attempts cut", e.label(v), open)
	}
	level := control.Info
	if last {
		level, text = control.Crit, text+". No vendor may take traffic now"
	}
	e.tellActionAt(c, level, "operator", v.Name, text, now)
	e.settle(now)
	return nil
}

func (e *Engine) undrain(c *control.Undrain, now time.Time) error {
	v, err := e.vendor(c.Vendor)
	if err != nil {
		return err
	}
	v.mu.Lock()
	was := v.drained
	v.drained = false
	v.mu.Unlock()
	if was {
		e.tellAction(c, "operator", v.Name, e.label(v)+" undrained", now)
		e.settle(now)
	}
	return nil
}

func (e *Engine) enable(c *control.Enable, now time.Time) error {
	v, err := e.vendor(c.Vendor)
	if err != nil {
		return err
	}
	v.mu.Lock()
	was := v.disabled != ""
	v.disabled, v.retest = "", false
	v.mu.Unlock()
	if was {
		e.tellAction(c, "account", v.Name, e.label(v)+" enabled", now)
		e.settle(now)
		e.welcome(v)
	}
	return nil
}

// setLimit sets a vendor's limit by hand; 0 forgets it.
func (e *Engine) setLimit(c control.Command, name string, rps float64, now time.Time) error {
	v, err := e.vendor(name)
	if err != nil {
		return err
	}
	if rps < 0 || math.IsNaN(rps) || math.IsInf(rps, 0) {
		return &control.Error{Kind: control.Invalid, Field: "rps", Message: fmt.Sprintf("rps: %g is not a rate of 0 or more", rps)}
	}
	v.mu.Lock()
	text := fmt.Sprintf("limit of %s set to %g requests/s", e.label(v), rps)
	v.limitBy = ""
	if rps > 0 {
		v.limiter.Set(rps)
		v.limitBy = control.WhoOf(c)
	} else {
		vc := v.cfg.Load()
		v.limiter.Configure(vc.LimitRPS, max(1, len(vc.APIKeys))) // one set by hand is forgotten too
		v.limiter.Forget()
		text = fmt.Sprintf("limit of %s forgotten", e.label(v))
	}
	v.mu.Unlock()
	if rps == 0 {
		e.law.Forget(v.Name)
	}
	e.tellAction(c, "limit", v.Name, text, now)
	return nil
}

// Restored ends v's ejection and forgets what a fault on its path has taught:
// it takes traffic again at once, over a ramp.
func (e *Engine) Restored(name string) {
	v := e.ByName(name)
	if v == nil {
		return
	}
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	v.mu.Lock()
	change := v.health.Restore(now)
	v.limiter.Forget()
	e.law.Forget(v.Name)
	v.disabled, v.retest, v.retesting = "", false, false
	v.mu.Unlock()
	e.healthChangedLocked(v, change, now)
	e.settle(now)
	e.welcome(v)
}

// welcome makes the next request try a vendor that a person has brought back, unless people
// hold its weight at 0. e.mu is held.
func (e *Engine) welcome(v *Vendor) {
	held := e.table.Load().exact && (e.pin == nil || e.pin.Weights[v.Name] == 0)
	v.welcome.Store(!held && v.cfg.Load().Weight > 0)
}

// tellAction puts what a person did into the journal, with the command for the shell.
func (e *Engine) tellAction(c control.Command, kind, vendor, text string, now time.Time) {
	e.tellActionAt(c, control.Info, kind, vendor, text, now)
}

func (e *Engine) tellActionAt(c control.Command, level, kind, vendor, text string, now time.Time) {
	e.log(control.Event{Time: now, Level: level, Kind: kind, Vendor: vendor, Who: control.WhoOf(c), Text: text, Data: map[string]any{"command": c.Line()}})
}

package engine

import (
	"fmt"
	"math"
	"strings"
	"time"

	"baton/engine/control"
)

// extendPin is the command that prolongs a pin.
const extendPin = "baton weights extend"

// overrides are what people have set over the controller, what concerns all
// vendors first. Faults and keys are not the engine's. e.mu is held.
func (e *Engine) overrides(now time.Time) []control.Override {
	out := []control.Override{}
	add := func(o control.Override) {
		o.By = strings.TrimPrefix(o.By, "operator:")
		o.Ending = o.Until != nil && o.Until.Sub(now) < endsSoon
		out = append(out, o)
	}
	c := e.cfg.Load()
	if c.Routing.Mode == "observe" {
		add(control.Override{Kind: "observe", Text: "weights stay as configured; the journal says what the law would do", Release: `routing.mode = "steer" in the file, and reload`})
	}
	switch {
	case !e.manual.until.IsZero():
		until := e.manual.until.UTC()
		add(control.Override{
			Kind: "manual", Text: "failover is manual: breakers alarm, people move the weights", By: e.manual.by, Until: &until,
			Release: (&control.SetFailover{Mode: "auto"}).Line(), Extend: (&control.SetFailover{Mode: "manual", For: control.Duration(manualDefault)}).Line(),
		})
	case c.Routing.Failover == "manual":
		add(control.Override{Kind: "manual", Text: "failover is manual: breakers alarm, people move the weights", Release: `routing.failover = "auto" in the file, and reload`})
	}
	if p := e.pin; p != nil {
		until := p.Until
		text := "pinned to " + control.FormatWeights(p.Weights)
		if p.Override {
			text += ", also against health"
		}
		if p.Reason != "" {
			text += ": " + p.Reason
		}
		add(control.Override{Kind: "pin", Text: text, By: p.By, Until: &until, Release: (&control.ReleaseWeights{}).Line(), Extend: extendPin})
	}
	for _, v := range e.table.Load().vendors {
		v.mu.Lock()
		if v.drained {
			add(control.Override{Kind: "drain", Vendor: v.Name, Text: e.label(v) + " drained", By: v.drainedBy, Release: (&control.Undrain{Vendor: v.Name}).Line()})
		}
		if v.disabled != "" {
			add(control.Override{Kind: "disabled", Vendor: v.Name, Text: fmt.Sprintf("%s disabled: %s", e.label(v), v.disabled), Release: (&control.Enable{Vendor: v.Name}).Line()})
		}
		if rps, ok := v.setByHand(); ok {
			text := fmt.Sprintf("limit of %s set to %g requests/s", e.label(v), rps)
			if n := v.keyCount(len(v.cfg.Load().APIKeys)); n > 1 {
				text += " and key"
			}
			add(control.Override{Kind: "limit", Vendor: v.Name, Text: text, By: v.limitBy, Release: (&control.ForgetLimit{Vendor: v.Name}).Line()})
		}
		v.mu.Unlock()
	}
	return out
}

// setByHand is v's limit in requests per second and key where it is not that of
// the file. v.mu is held.
func (v *Vendor) setByHand() (rps float64, ok bool) {
	known, ok := v.limiter.Known()
	vc := v.cfg.Load()
	keys := float64(max(1, v.keyCount(len(vc.APIKeys))))
	if rps = known / keys; !ok || math.Abs(rps-vc.LimitRPS) <= 1e-9 {
		return 0, false
	}
	return math.Round(1e6*rps) / 1e6, true
}

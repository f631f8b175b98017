package engine

import (
	"fmt"
	"math"
	"strings"
	"time"

	"baton/engine/control"
)

// Saved is what a restart keeps of the engine.
func (e *Engine) Saved() control.Saved {
	now := time.Now().UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	t := e.table.Load()
	s := control.Saved{
		Weights: &control.SavedWeights{At: now, Weights: map[string]float64{}, Configured: map[string]float64{}},
		Drained: map[string]string{}, Disabled: map[string]string{},
		Limits: map[string]control.SavedLimit{}, SetLimit: map[string]float64{}, LimitBy: map[string]string{},
	}
	for i, v := range t.vendors {
		vc := v.cfg.Load()
		s.Weights.Weights[v.Name] = 100 * t.weights[i]
		s.Weights.Configured[v.Name] = vc.Weight
		v.mu.Lock()
		if v.drained {
			s.Drained[v.Name] = v.drainedBy
		}
		if v.disabled != "" {
			s.Disabled[v.Name] = v.disabled
		}
		if l, ok := v.limiter.Save(); ok {
			s.Limits[v.Name] = savedLimit(l)
		}
		if rps, ok := v.setByHand(); ok {
			s.SetLimit[v.Name], s.LimitBy[v.Name] = rps, v.limitBy
		}
		v.mu.Unlock()
	}
	if e.pin != nil {
		p := e.pin.Pin
		s.Pin = &p
	}
	if !e.manual.until.IsZero() {
		s.Manual = &control.SavedManual{Until: e.manual.until.UTC(), By: e.manual.by, Held: scaled(e.held, 100)}
	}
	return s
}

// Resume puts in force what another run has saved, before Run: what people have
// set, pins and manual failover only until their time, what was learned, and the
// weights if they are not older than 5 minutes and the configuration has not
// changed them since. What cannot be is left out, and the journal says so.
func (e *Engine) Resume(s control.Saved) {
	now := time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	r := resumption{engine: e, now: now}
	r.vendors(s)
	fresh := r.weights(s.Weights)
	r.pin(s.Pin)
	held := r.manual(s.Manual)
	e.setStill() // a pin may override health
	switch {
	case len(held) > 0:
		e.held = held
	case fresh && e.table.Load().manual:
		e.held = scaled(s.Weights.Weights, 0.01) // failover is manual by the file: where people had moved them
	}
	e.settle(now)
	r.tell()
}

// resumption is what is put in force, and what is not. e.mu is held.
type resumption struct {
	engine      *Engine
	now         time.Time
	taken, left []string
}

// vendors drains, disables and limits as before. The last vendor that may take
// traffic is not disabled: it is for its next answers to say whether it is well.
func (r *resumption) vendors(s control.Saved) {
	e := r.engine
	for _, v := range e.Vendors() {
		v.mu.Lock()
		if who, ok := s.Drained[v.Name]; ok {
			v.drained, v.drainedBy = true, who
			r.taken = append(r.taken, fmt.Sprintf("%s drained by %s", e.label(v), who))
		}
		if rps, ok := s.SetLimit[v.Name]; ok && rps > 0 && !math.IsInf(rps, 1) {
			v.limiter.Set(rps)
			v.limitBy = s.LimitBy[v.Name]
			r.taken = append(r.taken, fmt.Sprintf("limit of %s set to %g requests/s", e.label(v), rps))
		}
		if l, ok := s.Limits[v.Name]; ok {
			v.limiter.Resume(r.now, limitOf(l))
			if rps, ok := v.limiter.Learned(); ok {
				r.taken = append(r.taken, fmt.Sprintf("%s takes about %.0f requests/s, learned %s ago", e.label(v), rps, r.now.Sub(l.At).Round(time.Second)))
			}
		}
		v.open.Store(v.takes())
		v.mu.Unlock()
	}
	for _, v := range e.Vendors() {
		why, ok := s.Disabled[v.Name]
		if !ok || why == "" {
			continue
		}
		if !e.othersOpen(v) {
			r.left = append(r.left, fmt.Sprintf("%s was disabled (%s) and is the last vendor: it is tried", e.label(v), why))
			continue
		}
		v.mu.Lock()
		v.disabled, v.retest = why, false
		v.open.Store(v.takes())
		v.mu.Unlock()
		r.taken = append(r.taken, fmt.Sprintf("%s disabled: %s", e.label(v), why))
	}
}

// weights lets the law go on from where it was.
func (r *resumption) weights(s *control.SavedWeights) bool {
	if s == nil {
		return false
	}
	e := r.engine
	names := []string{}
	for _, v := range e.Vendors() {
		c, ok := s.Configured[v.Name]
		if !ok || math.Abs(c-v.cfg.Load().Weight) > 1e-9 {
			return false // the file has been changed: it holds
		}
		names = append(names, fmt.Sprintf("%s=%.0f", v.Name, s.Weights[v.Name]))
	}
	if len(names) != len(s.Configured) || !e.law.Resume(scaled(s.Weights, 0.01), s.At, r.now) {
		return false
	}
	r.taken = append(r.taken, "weights "+strings.Join(names, " "))
	return true
}

// pin holds the weights that a person had pinned, until their time.
func (r *resumption) pin(p *control.Pin) {
	if p == nil {
		return
	}
	e := r.engine
	what := fmt.Sprintf("the pin %s of %s", control.FormatWeights(p.Weights), p.By)
	if !p.Until.After(r.now) {
		r.left = append(r.left, what+" ended while baton did not run")
		return
	}
	sum := 0.0
	for name, w := range p.Weights {
		if e.ByName(name) == nil {
			r.left = append(r.left, fmt.Sprintf("%s: there is no vendor %q any more", what, name))
			return
		}
		sum += w
	}
	if math.Abs(sum-100) > 0.01 {
		r.left = append(r.left, fmt.Sprintf("%s: it sums to %g, not to 100", what, sum))
		return
	}
	e.pin = &pin{Pin: *p, fractions: scaled(p.Weights, 0.01)}
	if latest := r.now.Add(pinMax); e.pin.Until.After(latest) { // the clock was set back
		e.pin.Until = latest.UTC()
	}
	e.warned = false
	r.taken = append(r.taken, fmt.Sprintf("%s until %s UTC", what, e.pin.Until.UTC().Format(time.TimeOnly)))
}

// manual gives the weights to people again, until their time, and returns where
// they held them.
func (r *resumption) manual(m *control.SavedManual) (held map[string]float64) {
	if m == nil || !m.Until.After(r.now) {
		return nil
	}
	until := m.Until
	if latest := r.now.Add(manualMax); until.After(latest) { // the clock was set back
		until = latest.UTC()
	}
	r.engine.manual = manual{until: until, by: m.By}
	held = map[string]float64{}
	for _, v := range r.engine.Vendors() {
		if w := m.Held[v.Name]; w > 0 {
			held[v.Name] = w / 100
		}
	}
	r.taken = append(r.taken, "failover is manual until "+until.UTC().Format(time.TimeOnly)+" UTC")
	return held
}

// tell puts into the journal what goes on and what does not.
func (r *resumption) tell() {
	if len(r.taken) > 0 {
		r.engine.log(control.Event{Time: r.now, Level: control.Info, Kind: "store", Text: "resumed: " + strings.Join(r.taken, "; ")})
	}
	if len(r.left) > 0 {
		r.engine.log(control.Event{Time: r.now, Level: control.Warn, Kind: "store", Text: "not resumed: " + strings.Join(r.left, "; ")})
	}
}

// scaled is m times by.
func scaled(m map[string]float64, by float64) map[string]float64 {
	out := make(map[string]float64, len(m))
	for name, x := range m {
		out[name] = by * x
	}
	return out
}

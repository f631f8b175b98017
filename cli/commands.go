package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/vendors"
	"baton/vendors/fault"
)

// do carries a command out for the Hub.
func (p *process) do(ctx context.Context, cmd control.Command) error {
	if done, err := p.engine.Do(cmd); done {
		if c, ok := cmd.(*control.Enable); ok && err == nil {
			p.enabled(c)
		}
		return err
	}
	if done, err := p.machine.Do(ctx, cmd); done {
		return err
	}
	switch c := cmd.(type) {
	case *control.SetFault:
		return p.inject(c)
	case *control.ClearFault:
		return p.restore(c)
	case *control.SetSim:
		return p.setSim(c)
	case *control.Reload:
		return p.reload(c)
	}
	return control.Errorf(control.Invalid, "%T is no command of this engine", cmd)
}

// ask answers questions for the Hub.
func (p *process) ask(ctx context.Context, q control.Query) (control.Answer, error) {
	if done, a, err := p.machine.Ask(q); done {
		return a, err
	}
	if done, a, err := p.askMoney(ctx, q); done {
		return a, err
	}
	switch q := q.(type) {
	case control.Counts:
		return p.engine.Tally(), nil
	case control.FailuresOf:
		if q.Vendor != "" && p.engine.ByName(q.Vendor) == nil {
			return nil, control.Errorf(control.NotFound, "there is no vendor %q", q.Vendor)
		}
		limit := q.Limit
		if limit <= 0 {
			limit = 100
		}
		return p.gateway.Failures(q.Vendor, limit), nil
	}
	return nil, control.Errorf(control.Invalid, "%T is no question for this engine", q)
}

// fill writes the state for the Hub.
func (p *process) fill(s *control.Snapshot) {
	p.engine.Fill(s)
	s.Version = version()
	s.Drill, s.Incident = p.machine.State(), p.machine.Incident()
	s.Schedule, s.Freshness = p.machine.Schedule(), p.machine.Freshness(s.Vendors, time.Now())
	s.Gateway.Address, s.Gateway.Dropped = p.gatewayL.Addr().String(), p.gateway.Dropped()
	if p.demoOn() {
		s.Demo = &control.DemoState{RPS: p.demo.RPS, Batch: p.demo.Batch}
	}
	if a := p.alert.Load(); a != nil {
		s.Alerts = append(s.Alerts, *a)
	}
	if a := p.store.Alert(); a != "" {
		s.Alerts = append(s.Alerts, a)
	}
	if a := p.machine.Alert(); a != "" {
		s.Alerts = append(s.Alerts, a)
	}
	p.overrides(s, time.Now())
	p.spent(s, time.Now())
}

// inject puts a fault into the path to a vendor. The engine is not told.
func (p *process) inject(c *control.SetFault) error {
	v := p.engine.ByName(c.Vendor)
	if v == nil {
		return control.Errorf(control.NotFound, "there is no vendor %q", c.Vendor)
	}
	drill := p.machine.Holds(c.Vendor)
	if drill != "" && c.Who() != "drill:"+drill {
		return control.Errorf(control.Conflict, "the drill %s holds a fault at %s: restore or abort it first", drill, c.Vendor)
	}
	spec, err := fault.Parse(fault.Fields{
		Kind: c.Kind, Percent: c.Percent, For: time.Duration(c.For), Ramp: time.Duration(c.Ramp), Lane: c.Lane,
		Delay: time.Duration(c.Delay), Rate: c.Rate, After: c.After, InFlight: c.InFlight,
	})
	if err != nil {
		field := ""
		if fe, ok := errors.AsType[*fault.FieldError](err); ok {
			field = fe.Field
		}
		return &control.Error{Kind: control.Invalid, Field: field, Message: err.Error()}
	}
	now := time.Now()
	p.faultBegins(c.Vendor, now)
	held := &heldFault{by: c.By, lease: p.faults.Point(c.Vendor).Inject(now, spec)}
	if before := p.held.swap(c.Vendor, held); before != nil {
		before.once.Do(func() {}) // this one takes its place: the vendor is not restored
	}
	if !p.machine.Sealed(c.Vendor) {
		p.hub.Log(control.Event{
			Time: now, Level: control.Warn, Kind: "fault", Vendor: c.Vendor, Who: c.Who(),
			Text: fmt.Sprintf("fault %s at %s for %s", spec.Kind, c.Vendor, control.Duration(spec.For)),
			Data: map[string]any{"on": true, "kind": string(spec.Kind), "percent": spec.Percent},
		})
	}
	if id, is := strings.CutPrefix(c.By, "drill:"); is {
		go p.standBy(held, id)
	}
	go func() {
		<-held.lease.Done()
		held.once.Do(func() { p.faultEnded(c.Vendor, control.Controller, "its time has run out") })
	}()
	return nil
}

// A drill's fault is gone so long after the drill has stopped to stand by it.
const (
	renewEvery = time.Second
	renewFor   = 5 * time.Second
)

// standBy renews a drill's fault for as long as the drill looks after it: one that
// stalls leaves no fault behind.
func (p *process) standBy(f *heldFault, drill string) {
	f.lease.Renew(time.Now(), renewFor)
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-f.lease.Done():
			return
		case now := <-tick.C:
			if p.machine.Alive(drill) {
				f.lease.Renew(now, renewFor)
			}
		}
	}
}

// movedListeners says that addresses which a reload changed stay until a restart.
func (p *process) movedListeners(old, next *config.Config) {
	var moved []string
	for _, l := range []struct{ key, from, to string }{{"gateway.listen", old.Gateway.Listen, next.Gateway.Listen}, {"control.listen", old.Control.Listen, next.Control.Listen}} {
		if l.from != l.to {
			moved = append(moved, fmt.Sprintf("%s = %q", l.key, l.to))
		}
	}
	if len(moved) == 0 {
		return
	}
	text := strings.Join(moved, " and ") + " needs a restart: the old address is still served"
	p.alert.Store(&text)
	p.hub.Log(control.Event{Level: control.Warn, Kind: "config", Text: text})
}

// heldFault is a fault in force; once ends it.
type heldFault struct {
	by    string
	lease *fault.Lease
	once  sync.Once
}

// heldFaults are the faults in force by vendor.
type heldFaults struct {
	mu sync.Mutex
	m  map[string]*heldFault
}

// swap puts f (nil: none) in force at a vendor and returns what was before.
func (h *heldFaults) swap(vendor string, f *heldFault) *heldFault {
	h.mu.Lock()
	defer h.mu.Unlock()
	before := h.m[vendor]
	if h.m == nil {
		h.m = map[string]*heldFault{}
	}
	h.m[vendor] = f
	return before
}

// who injected the fault at a vendor, "" if there is none.
func (h *heldFaults) who(vendor string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.m[vendor]; f != nil {
		return f.by
	}
	return ""
}

// restore ends a vendor's fault, its ejection, and what either has taught.
func (p *process) restore(c *control.ClearFault) error {
	if p.engine.ByName(c.Vendor) == nil {
		return control.Errorf(control.NotFound, "there is no vendor %q", c.Vendor)
	}
	held := p.held.swap(c.Vendor, nil)
	if held == nil {
		held = new(heldFault)
	}
	p.faults.Point(c.Vendor).Clear()
	held.once.Do(func() { p.faultEnded(c.Vendor, c.Who(), c.Line()) })
	return nil
}

// faultEnded says that a vendor's fault is over and lets it come back.
func (p *process) faultEnded(vendor, who, why string) {
	p.faultEnds(vendor, time.Now())
	p.hub.Log(control.Event{
		Level: control.Info, Kind: "fault", Vendor: vendor, Who: who,
		Text: fmt.Sprintf("%s restored (%s)", vendor, why), Data: map[string]any{"on": false},
	})
	p.forget(vendor)
}

// forget drops what a fault has taught about a vendor.
func (p *process) forget(vendor string) {
	p.reloading.Lock()
	v := p.set.Vendor(vendor)
	p.reloading.Unlock()
	if v != nil {
		v.Keys.Reset()
		v.CloseIdle()
	}
	p.engine.Restored(vendor)
}

// reload reads the configuration again. A bad one changes nothing.
func (p *process) reload(c *control.Reload) error {
	if p.load == nil {
		return control.Errorf(control.Invalid, "this engine has no configuration to read again")
	}
	p.reloading.Lock()
	defer p.reloading.Unlock()
	next, err := p.load()
	if err != nil {
		p.hub.Log(control.Event{Level: control.Crit, Kind: "config", Who: c.Who(), Text: "reload refused, the old configuration stays: " + err.Error()})
		return &control.Error{Kind: control.Invalid, Message: err.Error()}
	}
	old := p.cfg.Load()
	for i := range next.Vendors {
		if vc := &next.Vendors[i]; vc.Simulate != "" && p.sims.url(vc.Name) == "" {
			return control.Errorf(control.Invalid, "vendor %s: a simulated vendor cannot be added while baton runs", vc.Name)
		}
	}
	set, err := vendors.Open(next, vendors.Options{SimURL: p.sims.url, Faults: p.faults, Before: p.set})
	if err != nil {
		return &control.Error{Kind: control.Invalid, Message: err.Error()}
	}
	before := p.set
	p.cfg.Store(next)
	if old.Simulated() != next.Simulated() {
		p.turnDemo() // before a vendor that is real can be asked
	}
	p.set = set
	p.account(next)
	p.engine.Reload(next)
	p.gateway.Reload(next, set)
	p.machine.Reconfigure(next)
	before.Close()
	p.movedListeners(old, next)
	p.warnOf(next)
	text := "configuration reloaded: nothing changed"
	if d := old.Diff(next); len(d) > 0 {
		text = "configuration reloaded: " + strings.Join(afterRestart(d), ", ")
	}
	p.hub.Log(control.Event{Level: control.Info, Kind: "config", Who: c.Who(), Text: text, Data: map[string]any{"command": c.Line()}})
	return nil
}

// afterRestart marks those of the lines of a difference that only the next start
// follows.
func afterRestart(lines []string) []string {
	for i, l := range lines {
		for _, key := range []string{"gateway.listen ", "control.", "state.", "demo."} {
			if strings.HasPrefix(l, key) {
				lines[i] += " (after a restart)"
			}
		}
	}
	return lines
}

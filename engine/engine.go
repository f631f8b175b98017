package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"baton/engine/affinity"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/health"
	"baton/engine/weights"
)

// Engine is the routing engine of one gateway.
type Engine struct {
	cfg     atomic.Pointer[config.Config]
	log     func(control.Event)
	started time.Time
	table   atomic.Pointer[table]
	service *service

	pickMu  sync.Mutex
	pickers [control.Lanes][weights.Kinds]weights.Picker
	rescues weights.Picker
	lobby   lobby

	mu     sync.Mutex // guards what follows
	law    *weights.Law
	pin    *pin
	manual manual             // failover is manual meanwhile, whatever the configuration says
	held   map[string]float64 // the weights when failover became manual
	warned bool               // of the pin's end
	moved  time.Time          // when weights last moved
	said   bool               // the journal knows already of the move that is being published
}

// table is what attempts are routed by; it is never changed, only replaced.
type table struct {
	vendors []*Vendor
	seeds   []uint64 // of the vendors' names, for affinity
	primary int
	weights []float64                // of all traffic, sum 1
	split   [control.Lanes][]float64 // of each lane's
	panic   bool                     // every vendor is ejected: they take traffic all the same
	still   bool                     // ejections alarm, but do not move traffic: manual failover, an overriding pin, or observing
	manual  bool                     // people move the weights
	exact   bool                     // the weights are not the law's to bend: pinned, manual failover, or observing
}

// pin is weights that a person holds.
type pin struct {
	control.Pin
	fractions map[string]float64
}

// New makes the engine of a configuration. log gets what goes into the journal.
func New(cfg *config.Config, log func(control.Event)) *Engine {
	e := &Engine{log: log, started: time.Now(), service: newService()}
	e.law = weights.New(lawParams(cfg))
	e.apply(cfg, time.Now())
	return e
}

// lawParams are the law's constants with what the configuration says.
func lawParams(cfg *config.Config) weights.Params {
	p := weights.Default()
	p.SLOP90 = cfg.Routing.SLOP90
	return p
}

// apply puts a configuration in force; vendors that it names again keep their
// state. e.mu is held, or nobody else has e yet.
func (e *Engine) apply(cfg *config.Config, now time.Time) {
	t := &table{primary: -1}
	old := e.table.Load()
	if before := e.cfg.Swap(cfg); before != nil && before.Routing.Mode == "observe" && cfg.Routing.Mode != "observe" {
		e.steer(old)
	}
	for i := range cfg.Vendors {
		vc := &cfg.Vendors[i]
		if vc.Role == "candidate" {
			continue
		}
		v := old.byName(vc.Name)
		if v == nil {
			v = newVendor(cfg, vc, now)
		} else {
			v.reconfigure(cfg, vc)
		}
		if vc.Role == "primary" {
			t.primary = len(t.vendors)
		}
		t.vendors = append(t.vendors, v)
		t.seeds = append(t.seeds, affinity.Seed(v.Name))
	}
	if old != nil {
		t.panic, t.weights = old.panic, old.weights
	}
	e.table.Store(t)
	e.setStill()
	e.publish(e.law.Tick(now, e.measures(t, now), e.lawPin()), now)
}

// reconfigure gives the vendor its part of a new configuration.
func (v *Vendor) reconfigure(cfg *config.Config, vc *config.Vendor) {
	old := v.cfg.Swap(vc)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.health.Reconfigure(healthConfig(cfg))
	if old.LimitRPS == vc.LimitRPS {
		v.limiter.SetKeys(max(1, len(vc.APIKeys))) // one set by hand stays
		return
	}
	v.limiter.Configure(vc.LimitRPS, max(1, len(vc.APIKeys)))
}

// Reload puts a new configuration in force at once.
func (e *Engine) Reload(cfg *config.Config) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.apply(cfg, time.Now())
}

// Run moves the weights once a tick until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	tick := time.NewTicker(e.cfg.Load().Routing.Tick)
	defer tick.Stop()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-second.C:
			e.record(time.Now())
		case <-tick.C:
			e.Tick(time.Now())
		}
	}
}

func (t *table) byName(name string) *Vendor {
	if t == nil {
		return nil
	}
	for _, v := range t.vendors {
		if v.Name == name {
			return v
		}
	}
	return nil
}

// ByName returns the vendor of that name, nil if there is none.
func (e *Engine) ByName(name string) *Vendor { return e.table.Load().byName(name) }

// Vendors returns the vendors that may carry traffic, in the order of the file.
func (e *Engine) Vendors() []*Vendor { return e.table.Load().vendors }

// Primary returns the primary vendor.
func (e *Engine) Primary() *Vendor {
	t := e.table.Load()
	if t.primary < 0 {
		return nil
	}
	return t.vendors[t.primary]
}

// Ready says whether at least one vendor can take traffic.
func (e *Engine) Ready() bool {
	t := e.table.Load()
	for _, v := range t.vendors {
		if e.routable(t, v) {
			return true
		}
	}
	return false
}

// Log adds an event to the journal.
func (e *Engine) Log(ev control.Event) { e.log(ev) }

// ProbeEvery is how often v is to be probed now; 0: not at all.
func (e *Engine) ProbeEvery(v *Vendor) time.Duration {
	c := e.cfg.Load()
	if c.Probe.Path == "" || c.Probe.Every <= 0 {
		return 0
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.disabled != "":
		return time.Minute
	case v.health.State() == health.Ejected:
		return min(c.Probe.Every, 2*time.Second)
	}
	return c.Probe.Every
}

// Probed says how a probe went; why is the reason of a bad one.
func (e *Engine) Probed(v *Vendor, now time.Time, ok bool, why string) {
	alone := !e.othersOpen(v)
	v.mu.Lock()
	v.health.Keep(alone)
	change := v.health.Probe(now, ok)
	if ok && v.disabled != "" {
		v.retest = true
	}
	v.mu.Unlock()
	if why != "" && change.Reason != "" {
		change.Reason += ": " + why
	}
	e.healthChanged(v, change, now)
}

// lawPin is what holds the weights: a person's pin, or where they stood when
// failover became manual. People's own drains count against the latter.
func (e *Engine) lawPin() *weights.Pin {
	t := e.table.Load()
	switch {
	case e.pin != nil && !e.pin.Override && !t.manual:
		return &weights.Pin{Weights: e.pin.fractions}
	case e.pin != nil:
		return &weights.Pin{Weights: t.unbarred(e.pin.fractions), Override: true}
	case t.manual && e.held != nil:
		return &weights.Pin{Weights: t.unbarred(e.held), Override: true}
	}
	return nil
}

// unbarred is w without the vendors that people or their account keep out.
func (t *table) unbarred(w map[string]float64) map[string]float64 {
	out := make(map[string]float64, len(t.vendors))
	for _, v := range t.vendors {
		v.mu.Lock()
		if !v.barred() {
			out[v.Name] = w[v.Name]
		}
		v.mu.Unlock()
	}
	return out
}

// finite returns a pointer to v, nil for what is no figure.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

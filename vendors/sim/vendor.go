package sim

import (
	"sync"
	"sync/atomic"
	"time"
)

// Vendor is one simulated vendor: an http.Handler. Make it with New.
type Vendor struct {
	options  atomic.Pointer[Options]
	draw     func(*Options, conditions) timing
	station  station // in place of draw, or nil
	block    int     // of the prefix cache, tokens; 0: blockTokens
	faulty   bool
	limiting driver  // of limits
	limits   *limits // guarded by limiting
	log      attemptLog
	prefixes prefixCache
	states   faultStates

	mu      sync.Mutex // guards what follows, and changes of options
	working int        // admitted and not yet answered
	elastic elasticity
}

// New makes a vendor. Errors name the option and the rule that it breaks, all of them at once.
func New(o Options) (*Vendor, error) {
	o, err := o.fill()
	if err != nil {
		return nil, err
	}
	p := profiles[o.Profile]
	v := &Vendor{draw: p.draw, block: p.block, faulty: p.faulty, elastic: elasticity{capacity: float64(o.Capacity)}, limits: newLimits(&o)}
	v.limiting.m = v.limits
	if p.station != nil {
		v.station = p.station(&o)
	}
	v.prefixes.capacity = cacheSize
	v.options.Store(&o)
	return v, nil
}

// Options are the options as they now stand, defaults filled in. They hold the keys.
func (v *Vendor) Options() Options {
	return *v.options.Load()
}

// Set turns knobs of the running vendor. What a request has drawn for itself it keeps; what requests share, a line before
// a limit, a GPU, a pool, changes for those in it too. On an error nothing changes.
func (v *Vendor) Set(k Knobs) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	o, err := v.options.Load().apply(k)
	if err != nil {
		return err
	}
	if k.Capacity != nil {
		v.elastic = elasticity{capacity: float64(o.Capacity)}
	}
	v.options.Store(&o)
	v.limiting.do(func(now time.Time) {
		v.limits.o = &o
		v.limits.advance(now) // a line may have become free
	})
	if v.station != nil {
		v.station.set(&o)
	}
	return nil
}

// Stats are the totals as the vendor knows them.
func (v *Vendor) Stats() Stats {
	s := v.log.totals()
	v.mu.Lock()
	defer v.mu.Unlock()
	s.Capacity = v.elastic.capacity
	v.limiting.do(func(time.Time) { s.Queued = v.limits.queueing })
	if v.station != nil {
		r := v.station.reading()
		s.Capacity, s.Replicas, s.Queued = r.capacity, r.replicas, s.Queued+r.waiting
	}
	s.Load = float64(v.working) / s.Capacity
	return s
}

// Log is a copy of the last 10,000 arrivals, the oldest first, those that still run too.
func (v *Vendor) Log() []Entry {
	return v.log.snapshot()
}

// Clear empties the log and the totals, and puts stateful faults back to their beginning.
func (v *Vendor) Clear() {
	v.log.clear()
	v.states.clear()
}

// enter takes one request into work; the load is that which it finds.
func (v *Vendor) enter(now time.Time, o *Options) (load float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	load = v.elastic.observe(now, v.working, o.scaled(growAfter))
	v.working++
	return load
}

func (v *Vendor) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.working--
}

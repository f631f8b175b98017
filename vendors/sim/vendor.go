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
	faulty   bool
	log      attemptLog
	prefixes prefixCache
	states   faultStates

	mu       sync.Mutex // guards what follows
	working  int        // admitted and not yet answered
	elastic  elasticity
	admitted bucket
}

// New makes a vendor. Errors name the option and the rule that it breaks, all of them at once.
func New(o Options) (*Vendor, error) {
	o, err := o.fill()
	if err != nil {
		return nil, err
	}
	p := profiles[o.Profile]
	v := &Vendor{draw: p.draw, faulty: p.faulty, elastic: elasticity{capacity: float64(o.Capacity)}}
	v.prefixes.capacity = cacheSize
	v.options.Store(&o)
	return v, nil
}

// Options are the options as they now stand, defaults filled in. They hold the keys.
func (v *Vendor) Options() Options {
	return *v.options.Load()
}

// Set turns knobs of the running vendor; requests that have begun keep what they began with. On an error nothing changes.
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
	return nil
}

// Stats are the totals as the vendor knows them.
func (v *Vendor) Stats() Stats {
	s := v.log.totals()
	v.mu.Lock()
	defer v.mu.Unlock()
	s.Capacity = v.elastic.capacity
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

// admit takes one request into work unless it is over the limit; the load is that which it finds.
func (v *Vendor) admit(now time.Time, o *Options) (load float64, ok bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if o.Limit > 0 && !v.admitted.take(now, o.Limit) {
		return 0, false
	}
	load = v.elastic.observe(now, v.working, o.scaled(growAfter))
	v.working++
	return load, true
}

func (v *Vendor) release() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.working--
}

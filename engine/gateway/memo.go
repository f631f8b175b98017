package gateway

import (
	"sync"
	"sync/atomic"
	"time"
)

// memo remembers what vendors have been found not to know, so that not every
// request finds it out again: a model, for a while; stream_options, for an hour.
type memo struct {
	some  atomic.Bool // anything at all: the hot path looks no further
	mu    sync.RWMutex
	until map[fact]time.Time
	said  map[string]time.Time // by vendor: when people were last told of a missing endpoint
}

// fact is a vendor and a model, or, with an empty model, that it refuses stream_options.
type fact struct{ vendor, model string }

const (
	unknownFor = 5 * time.Minute
	refusesFor = time.Hour
	maxFacts   = 1024 // clients make up names
	saidFor    = 10 * time.Minute
)

func (m *memo) learn(f fact, d time.Duration) {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.until == nil {
		m.until = map[fact]time.Time{}
	}
	if len(m.until) >= maxFacts {
		for k, t := range m.until {
			if now.After(t) || k.model != "" {
				delete(m.until, k)
			}
		}
	}
	m.until[f] = now.Add(d)
	m.some.Store(true)
}

func (m *memo) holds(f fact) bool {
	if !m.some.Load() {
		return false
	}
	m.mu.RLock()
	t, ok := m.until[f]
	m.mu.RUnlock()
	return ok && time.Now().Before(t)
}

// unknown says whether the vendor did not know the model lately.
func (m *memo) unknown(vendor, model string) bool { return model != "" && m.holds(fact{vendor, model}) }

// refusesUsage says whether the vendor does not take stream_options.
func (m *memo) refusesUsage(vendor string) bool { return m.holds(fact{vendor: vendor}) }

// say says whether people are to be told of a vendor's missing endpoint: not again
// within ten minutes.
func (m *memo) say(vendor string) bool {
	now := time.Now()
	m.mu.Lock()
	defer m.mu.Unlock()
	if t, ok := m.said[vendor]; ok && now.Sub(t) < saidFor {
		return false
	}
	if m.said == nil {
		m.said = map[string]time.Time{}
	}
	m.said[vendor] = now
	return true
}

// forget is for another configuration, which may name models differently.
func (m *memo) forget() {
	m.mu.Lock()
	m.until, m.said = nil, nil
	m.some.Store(false)
	m.mu.Unlock()
}

// reach remembers which vendors could not be connected to the last time.
type reach struct {
	some atomic.Bool // any at all: the hot path looks no further
	mu   sync.Mutex
	not  map[string]bool
}

// saw says how the last connection to a vendor went.
func (r *reach) saw(vendor string, ok bool) {
	if ok && !r.some.Load() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.not == nil {
		r.not = map[string]bool{}
	}
	if ok {
		delete(r.not, vendor)
	} else {
		r.not[vendor] = true
	}
	r.some.Store(len(r.not) > 0)
}

// lost says whether the vendor could not be reached the last time.
func (r *reach) lost(vendor string) bool {
	if !r.some.Load() {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.not[vendor]
}

package speed

import (
	"errors"
	"sync"
	"time"
)

// tally is what the load saw.
type tally struct {
	answers int
	cut     int // began well and did not end so
	failed  int // everything else
	first   []time.Duration
	vendors map[string]int // who answered, as baton says
	fault   error          // the first
}

func (t *tally) add(k *client, begun, first time.Time, err error) {
	switch {
	case err == nil:
		t.answers++
		t.first = append(t.first, first.Sub(begun))
		if k.vendor != "" {
			t.vendors[k.vendor]++
		}
		return
	case errors.Is(err, errCut):
		t.cut++
	default:
		t.failed++
	}
	if t.fault == nil {
		t.fault = err
	}
}

func (t *tally) merge(o *tally) {
	t.answers, t.cut, t.failed = t.answers+o.answers, t.cut+o.cut, t.failed+o.failed
	t.first = append(t.first, o.first...)
	if t.vendors == nil {
		t.vendors = map[string]int{}
	}
	for name, n := range o.vendors {
		t.vendors[name] += n
	}
	if t.fault == nil {
		t.fault = o.fault
	}
}

// load is the connections of one case to one proxy. They stay open between its turns.
type load struct {
	testCase *testCase
	clients  []*client
}

func newLoad(addr string, c *testCase) *load {
	l := &load{testCase: c, clients: make([]*client, c.connections)}
	for i := range l.clients {
		l.clients[i] = newClient(addr, c)
	}
	return l
}

func (l *load) close() {
	for _, k := range l.clients {
		k.close()
	}
}

// run loads the proxy for d, and returns once every request has ended.
func (l *load) run(d time.Duration) *tally {
	due := l.closed(d)
	if l.testCase.open {
		due = l.paced(d)
	}
	var wg sync.WaitGroup
	tallies := make([]tally, len(l.clients))
	for i, k := range l.clients {
		wg.Go(func() {
			t := &tallies[i]
			t.vendors = map[string]int{}
			for {
				begun, ok := due()
				if !ok {
					return
				}
				first, err := k.ask()
				t.add(k, begun, first, err)
				if err != nil {
					time.Sleep(time.Millisecond) // a proxy that refuses everything is not to be hammered
				}
			}
		})
	}
	wg.Wait()
	all := new(tally)
	for i := range tallies {
		all.merge(&tallies[i])
	}
	return all
}

// closed has every client ask again as soon as it was answered.
func (l *load) closed(d time.Duration) func() (time.Time, bool) {
	end := time.Now().Add(d)
	return func() (time.Time, bool) {
		now := time.Now()
		return now, now.Before(end)
	}
}

// paced has requests due at even distances, whoever is free sends the next. Times
// count from when a request was due: one that had to wait for a free client, or for
// the load itself, has waited all the same.
func (l *load) paced(d time.Duration) func() (time.Time, bool) {
	begun := time.Now()
	every := time.Duration(float64(time.Second) / l.testCase.rate)
	n := int(d / every)
	next := 0
	var mu sync.Mutex
	return func() (time.Time, bool) {
		mu.Lock()
		i := next
		next++
		mu.Unlock()
		if i >= n {
			return time.Time{}, false
		}
		at := begun.Add(time.Duration(i) * every)
		time.Sleep(time.Until(at))
		return at, true
	}
}

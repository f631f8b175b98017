package sim

import (
	"sync"
	"time"
)

// machine is a model of something that requests share: a queue, a GPU, a pool of replicas. It is pure: it has no clock, no
// lock and no goroutine, and never looks beyond now, so that a test can run hours of it in a moment.
type machine interface {
	advance(now time.Time)           // does all that is due by now, in order
	next() (at time.Time, some bool) // when something is due, if anything is
}

// driver runs a machine by the wall clock: from the goroutines of the requests, and from one timer while the machine has
// something to do. An idle machine has no timer running.
type driver struct {
	mu    sync.Mutex
	m     machine
	timer *time.Timer
	armed time.Time // what the timer is set to; zero: not set
}

// do brings the machine up to date, lets f change it, and sets the timer to what comes next.
func (d *driver) do(f func(now time.Time)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.run(f)
}

func (d *driver) run(f func(now time.Time)) {
	now := time.Now()
	d.m.advance(now)
	f(now)
	at, some := d.m.next()
	switch {
	case !some:
		if d.timer != nil {
			d.timer.Stop()
		}
		d.armed = time.Time{}
		return
	case at.Equal(d.armed):
		return
	case d.timer == nil:
		d.timer = time.AfterFunc(at.Sub(now), d.tick)
	default:
		d.timer.Reset(at.Sub(now))
	}
	d.armed = at
}

func (d *driver) tick() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.armed = time.Time{}
	d.run(func(time.Time) {})
}

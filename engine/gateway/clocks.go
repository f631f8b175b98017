package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"baton/engine/outcome"
)

// A fired clock is the cause of an attempt's cancellation: which of our own
// clocks it was, as against a client that left.
type clockFired struct{ clock outcome.Clock }

func (c *clockFired) Error() string { return "the attempt's " + c.clock.String() + " clock fired" }

var fired = func() (all [outcome.DeadlineClock + 1]*clockFired) {
	for i := range all {
		all[i] = &clockFired{outcome.Clock(i)}
	}
	return all
}()

// clockOf returns the clock that a cancellation's cause names, NoClock if none.
func clockOf(cause error) outcome.Clock {
	if f, ok := errors.AsType[*clockFired](cause); ok {
		return f.clock
	}
	return outcome.NoClock
}

// clock is an attempt's clocks: of them one runs at a time, the phase's, and
// beneath it the request's deadline, on one timer.
//
// The timer runs no later than what is due, and often earlier: it then looks again
// and goes on for what is left. So progress and phases with more time than the last
// do not touch it. A callback that comes late finds that nothing is due, so that a
// clock may be used again for another attempt.
type clock struct {
	mu       sync.Mutex
	timer    *time.Timer
	at       time.Time // when the timer runs; zero: it does not
	gen      uint64    // counts attempts
	running  bool
	which    outcome.Clock
	limit    time.Duration
	since    time.Time
	due      time.Time
	deadline time.Time     // zero: none
	writing  bool          // an answer is on its way to the client, who may be slow
	wrote    time.Time     // since when
	patience time.Duration // with such a client: the longest limit so far, as the tails' are no measure for it
	stuck    func()        // called when the client has taken nothing for that long
	cancel   context.CancelCauseFunc
}

// start makes the clock ready for an attempt and returns its number. Nothing runs yet.
func (c *clock) start(cancel context.CancelCauseFunc, deadline time.Time, stuck func()) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gen++
	c.cancel, c.deadline, c.stuck = cancel, deadline, stuck
	c.running, c.writing, c.patience = false, false, 0
	return c.gen
}

// arm starts a phase's clock in place of the one that runs.
func (c *clock) arm(which outcome.Clock, limit time.Duration) { c.armSince(which, limit, time.Now()) }

// armSince is arm for a phase that began earlier.
func (c *clock) armSince(which outcome.Clock, limit time.Duration, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.which, c.limit, c.since = true, which, limit, since
	c.patience = max(c.patience, limit)
	c.due = since.Add(limit)
	c.wake(c.next())
}

// next is when something is due, a slow client's patience left out.
func (c *clock) next() time.Time { return earlier(c.due, c.deadline) }

// wake has the timer run at a time at the latest.
func (c *clock) wake(at time.Time) {
	if !c.at.IsZero() && !at.Before(c.at) {
		return
	}
	c.at = at
	d := time.Until(at)
	if c.timer == nil {
		c.timer = time.AfterFunc(d, c.fire)
		return
	}
	c.timer.Reset(d)
}

// progress starts the phase's time anew.
func (c *clock) progress(now time.Time) {
	c.mu.Lock()
	c.due = now.Add(c.limit)
	c.since = now
	c.mu.Unlock()
}

// sent is progress of the request's own body, in the phase in which the vendor's
// headers are awaited.
func (c *clock) sent(gen uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running && c.gen == gen && c.which == outcome.HeaderClock {
		now := time.Now()
		c.due = now.Add(c.limit)
		c.since = now
	}
}

// write says that an answer begins, or has ended, to be written to the client.
// Meanwhile the vendor is not to blame for silence.
func (c *clock) write(on bool, now time.Time) {
	c.mu.Lock()
	if on {
		c.wrote = now
	} else if c.writing {
		// Only what the client took is left out: a comment that is passed on arms nothing.
		d := now.Sub(c.wrote)
		c.due, c.since = c.due.Add(d), c.since.Add(d)
		if c.running {
			c.wake(c.next())
		}
	}
	c.writing = on
	c.mu.Unlock()
}

// stop ends the attempt's clocks.
func (c *clock) stop() {
	c.mu.Lock()
	c.running, c.cancel, c.stuck = false, nil, nil
	if c.timer != nil {
		c.timer.Stop()
		c.at = time.Time{}
	}
	c.mu.Unlock()
}

// started is when the phase began.
func (c *clock) started() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.since
}

// hadTime says whether the vendor has had all of its time in this phase.
func (c *clock) hadTime(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Sub(c.since) >= c.limit
}

func (c *clock) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = time.Time{}
	if !c.running {
		return
	}
	now := time.Now()
	switch {
	case !c.deadline.IsZero() && !now.Before(c.deadline):
		c.end(outcome.DeadlineClock)
	case c.writing && now.Sub(c.wrote) < c.patience:
		c.wake(earlier(c.wrote.Add(c.patience), c.deadline))
	case c.writing:
		c.stuck() // the client takes nothing at all: it is let go
		c.wrote = now
		c.wake(earlier(now.Add(c.patience), c.deadline))
	case now.Before(c.due):
		c.wake(c.next())
	default:
		c.end(c.which)
	}
}

func (c *clock) end(which outcome.Clock) {
	c.running = false
	if c.writing && c.stuck != nil {
		c.stuck()
	}
	c.cancel(fired[which])
}

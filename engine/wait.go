package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"baton/engine/admission"
	"baton/engine/control"
)

// lobby is where requests wait for a place at a vendor. Its lock is taken before
// the picker's and the vendors', and only while somebody waits.
type lobby struct {
	waiting [control.Lanes]atomic.Int32

	mu    sync.Mutex // guards what follows
	queue admission.Queue
	timer *time.Timer // serves when a rate lets somebody through again
	at    time.Time   // when it runs; zero: it does not
	spare *waiter     // for the next who waits
	kept  int
}

// waiter is a request that waits. Until it is woken only the lobby's lock holder
// touches it; the goroutine of the request sleeps.
type waiter struct {
	admission.Waiter
	ask   Ask
	lease *Lease
	woken chan struct{}
	timer *time.Timer
	done  bool // it has a place, or err says why it will not get one
	err   error
	next  *waiter
}

// spareMost is how many waiters are kept for use again.
const spareMost = 256

// ahead says whether others wait who come before a new request of a lane.
func (b *lobby) ahead(lane control.Lane) bool {
	return b.waiting[control.Interactive].Load() > 0 || lane == control.Batch && b.waiting[control.Batch].Load() > 0
}

// wait waits for a place. limit is why there is none.
func (e *Engine) wait(t *table, l *Lease, a *Ask, limit *Limited, now time.Time) error {
	b := &e.lobby
	b.mu.Lock()
	w := b.enter(t, l, a)
	patience := e.patience(&w.ask)
	end := now.Add(patience)
	if a.Lane == control.Batch {
		end = a.Deadline
	}
	if !limit.Full && !end.IsZero() && limit.Until.After(end) {
		b.leave(w)
		b.mu.Unlock()
		return limit // it would wait in vain
	}
	b.queue.MaxBatch = e.cfg.Load().Gateway.MaxInFlight / batchPart
	out, ok := b.queue.Push(&w.Waiter, e.placesPerSecond(&w.ask), patience)
	if !ok {
		b.leave(w)
		b.mu.Unlock()
		return e.take(t, l, a, now) // whoever waits may be waiting for another vendor
	}
	if out != nil {
		b.wake(out.Owner.(*waiter), &Limited{Until: now.Add(e.service.relief(now)), Full: true})
	}
	b.waiting[a.Lane].Store(int32(b.queue.Len(w.Lane)))
	e.serveLocked(now)
	b.mu.Unlock()
	return e.sleep(w, l, a, end, now)
}

// batchPart: the batch lane may wait with one in so many of gateway.max_in_flight,
// so that the others find the gateway open.
const batchPart = 4

// sleep sleeps until w is woken, its time is over or its client leaves.
func (e *Engine) sleep(w *waiter, l *Lease, a *Ask, end, now time.Time) error {
	b := &e.lobby
	var over <-chan time.Time
	if !end.IsZero() {
		over = w.over(end.Sub(now))
	}
	left := false
	select {
	case <-w.woken:
	case <-over:
	case <-a.Gone:
		left = true
	}
	woke := time.Now()
	if over != nil {
		w.timer.Stop()
	}
	b.mu.Lock()
	done, err := w.done, w.err
	b.leave(w)
	b.mu.Unlock()
	l.Waited = woke.Sub(now)
	switch {
	case done:
		return err
	case left:
		return ErrLeft
	case a.Lane == control.Batch:
		return ErrLate
	}
	return e.nobody(e.table.Load(), a, 0, woke)
}

// over is the channel of the waiter's timer, which runs for d.
func (w *waiter) over(d time.Duration) <-chan time.Time {
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	return w.timer.C
}

// enter makes a waiter. What Tried and Only say is asked once, here: they are
// the request's own, and it sleeps from now on. b.mu is held.
func (b *lobby) enter(t *table, l *Lease, a *Ask) *waiter {
	w := b.spare
	if w == nil {
		w = &waiter{woken: make(chan struct{}, 1)}
		w.Owner = w
	} else {
		b.spare, w.next = w.next, nil
		b.kept--
	}
	among := w.ask.among[:0]
	for _, v := range t.vendors {
		if a.allows(v) {
			among = append(among, v)
		}
	}
	w.ask, w.lease = *a, l
	w.ask.among, w.ask.Tried, w.ask.Only = among, nil, nil
	w.Lane, w.Deadline = admission.Lane(a.Lane), a.Deadline
	return w
}

// leave ends a wait and keeps the waiter for another. b.mu is held.
func (b *lobby) leave(w *waiter) {
	b.remove(w)
	select {
	case <-w.woken:
	default:
	}
	among := w.ask.among
	clear(among)
	w.ask, w.lease, w.done, w.err = Ask{among: among[:0]}, nil, false, nil
	if b.kept < spareMost {
		w.next, b.spare = b.spare, w
		b.kept++
	}
}

func (b *lobby) remove(w *waiter) {
	if w.Queued() {
		b.queue.Remove(&w.Waiter)
		b.waiting[w.Lane].Store(int32(b.queue.Len(w.Lane)))
	}
}

// wake ends w's wait: with a place if err is nil. b.mu is held.
func (b *lobby) wake(w *waiter, err error) {
	b.remove(w)
	w.done, w.err = true, err
	w.woken <- struct{}{}
}

// serve gives free places to those who wait.
func (e *Engine) serve(now time.Time) {
	b := &e.lobby
	if b.waiting[control.Interactive].Load() == 0 && b.waiting[control.Batch].Load() == 0 {
		return
	}
	b.mu.Lock()
	e.serveLocked(now)
	b.mu.Unlock()
}

// fruitless is how many of a lane are passed over at once because their vendors
// have no place while another has.
const fruitless = 64

// serveLocked is serve; lobby.mu is held.
func (e *Engine) serveLocked(now time.Time) {
	b := &e.lobby
	t := e.table.Load()
	for lane := range admission.Lane(admission.Lanes) {
		passed := 0
		for w := b.queue.First(lane); w != nil && passed < fruitless; {
			x := w.Owner.(*waiter)
			w = w.Next()
			if e.vacant(t, control.Lane(lane), now) == vacancyNone {
				e.alarm(t, now)
				return
			}
			err := e.take(t, x.lease, &x.ask, now)
			if _, limited := err.(*Limited); limited { //nolint:errorlint // never wrapped
				passed++
				continue
			}
			b.wake(x, err)
		}
	}
	e.alarm(t, now)
}

// vacancy says what there is to have.
type vacancy int

const (
	vacancyNone   vacancy = iota // no vendor takes one more
	vacancySome                  // one does
	vacancyNobody                // no vendor takes traffic at all
)

// vacant looks for a vendor that takes one more of a lane.
func (e *Engine) vacant(t *table, lane control.Lane, now time.Time) vacancy {
	some := false
	for _, v := range t.vendors {
		if !e.routable(t, v) {
			continue
		}
		some = true
		v.mu.Lock()
		ok := v.fits(lane) && v.limiter.Ready(now)
		v.mu.Unlock()
		if ok {
			return vacancySome
		}
	}
	if !some {
		return vacancyNobody
	}
	return vacancyNone
}

// alarm sets the timer to when a vendor that has room may be asked again for its
// rate. Where room is what lacks, an attempt's end serves. lobby.mu is held.
func (e *Engine) alarm(t *table, now time.Time) {
	b := &e.lobby
	if b.queue.First(admission.Interactive) == nil && b.queue.First(admission.Batch) == nil {
		return
	}
	var at time.Time
	for _, v := range t.vendors {
		if !e.routable(t, v) {
			continue
		}
		v.mu.Lock()
		u, ok := v.limiter.Until(now), v.fits(control.Interactive)
		v.mu.Unlock()
		if ok && u.After(now) && (at.IsZero() || u.Before(at)) {
			at = u
		}
	}
	if at.IsZero() || !b.at.IsZero() && !at.Before(b.at) && b.at.After(now) {
		return
	}
	b.at = at
	if b.timer == nil {
		b.timer = time.AfterFunc(at.Sub(now), e.ring)
		return
	}
	b.timer.Reset(at.Sub(now))
}

// ring is the timer's.
func (e *Engine) ring() {
	b := &e.lobby
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = time.Time{}
	e.serveLocked(time.Now())
}

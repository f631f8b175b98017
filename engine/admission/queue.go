package admission

import "time"

// Lane is who waits, in the order of package control.
type Lane uint8

// The lanes.
const (
	Interactive Lane = iota // a person waits: little, in the order of arrival
	Batch                   // waits to its deadline, the earliest deadline first
)

// Lanes is how many there are.
const Lanes = 2

// Waiter is one request that waits. Its owner owns the memory.
type Waiter struct {
	Lane     Lane
	Deadline time.Time // of the request; zero: none
	Owner    any

	prev, next *Waiter
	queued     bool
}

// Queue is the requests that wait for a place. The zero value is empty, and lets
// nobody of the batch lane wait.
type Queue struct {
	// MaxBatch is how many of the batch lane may wait.
	MaxBatch int
	lines    [Lanes]line
}

// line is one lane's waiters in the order of their turn.
type line struct {
	first, last *Waiter
	n           int
}

// least is how many interactive requests may wait whatever the rate: a place
// may always become free.
const least = 2

// Len is how many of a lane wait.
func (q *Queue) Len(lane Lane) int { return q.lines[lane].n }

// First is the one of a lane whose turn it is, nil if nobody waits; Next is who
// comes after.
func (q *Queue) First(lane Lane) *Waiter { return q.lines[lane].first }

// Next is who comes after w in its lane.
func (w *Waiter) Next() *Waiter { return w.next }

// Queued says whether w waits.
func (w *Waiter) Queued() bool { return w.queued }

// Push lets w wait, or refuses it: ok is false, and nothing has changed.
//
// Of the interactive lane only so many wait as get a place within their
// patience, at the rate per second at which places become free; the newest is
// refused. Of the batch lane MaxBatch wait; when there are more, the one with
// the latest deadline has to go: w itself, or out, who was waiting.
func (q *Queue) Push(w *Waiter, rate float64, patience time.Duration) (out *Waiter, ok bool) {
	l := &q.lines[w.Lane]
	if w.Lane == Interactive {
		if patience <= 0 || l.n >= least && float64(l.n+1) > rate*patience.Seconds() {
			return nil, false
		}
		l.insert(w, l.last)
		return nil, true
	}
	if q.MaxBatch <= 0 {
		return nil, false
	}
	if l.n >= q.MaxBatch {
		if !before(w, l.last) {
			return nil, false
		}
		out = l.last
		q.Remove(out)
	}
	after := l.last
	for after != nil && before(w, after) {
		after = after.prev
	}
	l.insert(w, after)
	return out, true
}

// before says whether a's deadline comes before b's; none is the last.
func before(a, b *Waiter) bool {
	switch {
	case a.Deadline.IsZero():
		return false
	case b.Deadline.IsZero():
		return true
	}
	return a.Deadline.Before(b.Deadline)
}

// insert puts w behind after, nil: in front.
func (l *line) insert(w, after *Waiter) {
	w.prev, w.queued = after, true
	if after != nil {
		w.next, after.next = after.next, w
	} else {
		w.next, l.first = l.first, w
	}
	if w.next != nil {
		w.next.prev = w
	} else {
		l.last = w
	}
	l.n++
}

// Remove takes w out: it has a place, or has gone. It may be out already.
func (q *Queue) Remove(w *Waiter) {
	if !w.queued {
		return
	}
	l := &q.lines[w.Lane]
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	l.n--
}

const (
	// share is the part of its first-token budget that an interactive request waits.
	share = 0.25
	// apart is the part of the unloaded first token that it waits at most: with what
	// a limited vendor adds, the P99 of those that are admitted stays within 1.5 of
	// the unloaded one even where all answers take the same time.
	// Where answers differ it may be more, at most apartMost.
	apart, apartMost = 0.1, 0.8
	// shortestWait is what it waits at least, if it waits at all.
	shortestWait = 10 * time.Millisecond
	// ahead is how many times longer it waits where batch work waits, too.
	ahead = 3
)

// Patience returns how long an interactive request waits for a place: a quarter
// of its budget, and before saturated vendors at most their slack (0: unknown, or
// none is). Where batch work waits the next places are its own, and it waits longer.
func Patience(budget, slack time.Duration, batch bool) time.Duration {
	p := time.Duration(share * float64(budget))
	if batch {
		slack *= ahead
	}
	if slack > 0 {
		p = min(p, max(slack, shortestWait))
	}
	return p
}

// longer is how many times what it takes without load an attempt must have left: what
// its deadline cuts short has taken a place for nothing.
const longer = 1.5

// Late says whether what begins now can no longer be done by its deadline, by
// what an attempt takes without load (0: unknown).
func Late(now, deadline time.Time, typical time.Duration) bool {
	return !deadline.IsZero() && typical > 0 && now.Add(time.Duration(longer*float64(typical))).After(deadline)
}

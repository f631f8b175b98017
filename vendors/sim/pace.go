package sim

import (
	"math/rand/v2"
	"time"
)

// pace is when an answer's tokens come. Each method waits, and is false when there is no more to say: the client left, or
// the request was refused.
type pace interface {
	first(x *exchange) bool                          // waits for the first token
	next(x *exchange, from, n int) (to int, ok bool) // waits for more than from of n tokens: there are to by then
	last(x *exchange, n int) bool                    // waits, in place of the others, for all of n tokens
}

// timing is the pace of a request by itself: its first token, and then a draw for each further one.
type timing struct {
	start    time.Duration // until the first token
	perToken float64       // nanoseconds; this request's mean pace
	rng      *rand.Rand
	scale    float64
	fixed    bool // no jitter, no stalls

	due   time.Time // of the token after those that were written
	wrote time.Time
}

// token draws the time from the last token to the next.
func (t *timing) token() time.Duration {
	if t.fixed {
		return time.Duration(t.perToken * t.scale)
	}
	d := t.perToken * gamma(t.rng, jitterShape)
	if t.rng.Float64() < stallChance {
		d += float64(stallLeast) + t.rng.Float64()*float64(stallMax-stallLeast)
	}
	return time.Duration(d * t.scale)
}

// rest is the time from the first token to the last of n.
func (t *timing) rest(n int) time.Duration {
	var sum time.Duration
	for range max(n-1, 0) {
		sum += t.token()
	}
	return sum
}

func (t *timing) first(x *exchange) bool {
	t.due = x.began.Add(t.start)
	return x.sleepUntil(t.due)
}

func (t *timing) last(x *exchange, n int) bool {
	return x.sleepUntil(x.began.Add(t.start + t.rest(n)))
}

// next goes on to the next token, and to those that are due before the next write may be, or overdue because this machine
// is busy.
func (t *timing) next(x *exchange, from, n int) (to int, ok bool) {
	due, next := t.due, t.due.Add(t.token())
	to = from + 1
	for now := time.Now(); to < n && !t.fixed && (due.Sub(t.wrote) < x.o.scaled(coalesce) || next.Before(now)); to++ {
		due, next = next, next.Add(t.token())
	}
	t.due, t.wrote = next, due
	return to, x.sleepUntil(due)
}

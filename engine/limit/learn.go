package limit

import (
	"fmt"
	"math"
	"time"
)

// Offer is what went to the vendor and came back, taken over complete seconds.
type Offer struct {
	Sent5       int // attempts sent in the last 5 s
	SentBefore5 int // and in the 5 s before those
	// Done5 are the attempts that came back in the last 5 s, in whatever way but
	// a 429: streams at their first token, the others, and what ended before
	// one, at the end. It must be the moment that Latency is measured to. Counted
	// at the end of streams, longer answers would look like a queue.
	Done5   int
	Faults5 int // of those, vendor_faults

	N10       int     // attempts that ended in the last 10 s, refusals too
	Refused10 int     // of those, 429s
	Accepted  float64 // attempts per second that were not refused, over those 10 s

	Latency time.Duration // P90 of the vendor's main kind, attempts that still wait among it; 0: unknown
	Base    time.Duration // its unloaded value; 0: the limiter's own running minimum

	Total float64 // requests per second over all vendors
}

// found is a limit that was learned.
type found struct {
	rps      float64
	height   float64   // as it was found, before it grew
	at       time.Time // when
	evidence string
	upper    float64 // the most accepted in a second meanwhile; the limit may be as high
	times    int     // how often in a row at the same height
	queued   bool    // found by queueing
}

const (
	growth     = 0.005 // of the limit per second
	search     = 0.02  // the same while it was found only once, which may be too low
	retest     = 0.002 // the same while it was found again and again
	searchTime = 5.0   // seconds in which it reaches what was accepted in the best second
	searchMost = 0.08  // of the limit per second, at most, then
	creep      = 0.001 // the same for one found by queueing, where too much shows late
	leastGrown = 0.02  // requests per second per second
	upperLeast = 1.2   // upper is at least
	upperMost  = 1.5   // and at most so many times what was accepted on average
	wellUsed   = 0.85  // of what admission lets through
	nearly     = 0.97  // of a limit that was found too high
	same       = 0.10  // two limits this near each other are one
)

// rest is how long a limit does not grow that was found again at the same
// height: not at all the first time, then 30 s, doubling, at most 480 s.
func (f *found) rest() time.Duration {
	if f.times < 2 {
		return 0
	}
	return 30 * time.Second << min(f.times-2, 4)
}

// take replaces what was learned.
func (f *found) take(now time.Time, rps float64, queued bool, evidence string) {
	rps = max(rps, least)
	times := 1
	if f.rps > 0 && math.Abs(rps-f.height) <= same*f.height {
		times = f.times + 1
	}
	*f = found{rps: rps, height: rps, at: now, evidence: evidence, times: times, queued: queued}
}

// Tick is called once a second: it learns, raises or forgets the limit.
func (l *Limiter) Tick(now time.Time, o Offer) {
	past := now.Sub(l.ticked).Seconds()
	if l.ticked.IsZero() || past < 0 {
		past = 0
	}
	past = min(past, 5)
	l.ticked = now
	base := l.lowest(o, past)
	l.settle(now, o, base)
	l.ease(now, past)
	if l.refusals(now, o) || l.queueing(now, o, base) {
		l.overed = time.Time{}
		return
	}
	l.grow(now, o, past, base)
}

// lowest keeps the running minimum of latency, which drifts up by 0.05 % a
// second so that a vendor that changed for good gets a new one, and returns the
// base in seconds, 0 when unknown.
func (l *Limiter) lowest(o Offer, past float64) float64 {
	if o.Base > 0 {
		return o.Base.Seconds()
	}
	l.base *= 1 + 0.0005*past
	if s := o.Latency.Seconds(); s > 0 && (l.base == 0 || s < l.base) {
		l.base = s
	}
	return l.base
}

// refusals learns from 429s. Those that were behind what was learned already
// are not evidence a second time: answers to what was sent before take a second.
func (l *Limiter) refusals(now time.Time, o Offer) bool {
	if o.N10 < 20 || o.Refused10 < 3 || o.Refused10*100 <= o.N10 || now.Sub(l.span.last) > spanGap {
		return false
	}
	rps, refused, ok := l.span.rate()
	if !ok || refused*100 <= 1 {
		return false
	}
	if l.span.takenLast == 0 {
		rps = finite(o.Accepted) // sent by somebody who did not ask
	}
	held := l.learned.rps
	if held > 0 {
		// It was too much, so the limit is lower. What was accepted says how much
		// lower if all was used that admission lets through; otherwise it is not
		// lower by more than was refused.
		if rps < held*margin*(1-refused)*wellUsed {
			rps = held * (1 - refused) * nearly
		}
		rps = min(rps, held*nearly)
	}
	most := min(l.recent.accepted(now, l.span.first), rps*upperMost)
	if most > 0 {
		most = max(most, rps*upperLeast)
	}
	l.learned.take(now, rps, false, fmt.Sprintf("429 on %d of %d in 10 s, %.1f/s accepted", o.Refused10, o.N10, rps))
	l.learned.upper = most
	if held > 0 {
		// Measured at the limit, without cooldowns.
		l.learned.times, l.learned.upper = max(l.learned.times, 2), 0
	}
	l.span = span{}
	l.queue = queue{doubt: l.queue.doubt, barred: l.queue.barred}
	return true
}

// grow raises the limit while it is used, and forgets it when it has been far
// above all traffic for long, or is old.
func (l *Limiter) grow(now time.Time, o Offer, past, base float64) {
	f := &l.learned
	if f.rps == 0 {
		return
	}
	if now.Sub(f.at) >= lifetime || l.known > 0 && f.rps >= l.known {
		l.unlearn()
		return
	}
	if total := finite(o.Total); total <= 0 || f.rps <= 2*total {
		l.overed = time.Time{}
	} else if l.overed.IsZero() || l.overed.After(now) {
		l.overed = now
	} else if now.Sub(l.overed) >= 300*time.Second {
		l.unlearn()
		return
	}
	if l.queue.draining || now.Sub(f.at) < f.rest() || !l.full(o) || queued(o, base) {
		return
	}
	rate := growth
	switch {
	case f.queued:
		rate = creep
	case f.times > 1:
		rate = retest
	case f.upper == 0:
		rate = search
	case f.rps < f.upper:
		rate = max(search, min(math.Log(f.upper/f.height)/searchTime, searchMost))
	}
	f.rps += max(f.rps*rate, leastGrown) * past
}

// queued reports whether answers take so much longer than usual that a queue
// may stand at the vendor; what is let through is not raised then.
func queued(o Offer, base float64) bool {
	return base > 0 && o.Latency.Seconds() > drained*base
}

// used reports whether at least that part of what is let through is sent. That
// admission turned something away would be a worse sign: arrivals come in bunches,
// and a bunch is cut at any limit.
func (l *Limiter) used(o Offer, part float64) bool {
	rps, ok := l.Allowed()
	return ok && float64(o.Sent5)/5 >= part*rps
}

// full reports whether about as much is sent as can be: of a low rate less,
// because there arrivals that come at random meet an empty bucket more often.
func (l *Limiter) full(o Offer) bool {
	rps, ok := l.Allowed()
	return ok && l.used(o, 1-0.7/math.Sqrt(max(rps, 1)))
}

func (l *Limiter) unlearn() {
	l.learned = found{}
	l.overed = time.Time{}
	l.queue.draining, l.queue.proving = false, false
}

// finite returns x, or 0 for what is no number.
func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return 0
	}
	return x
}

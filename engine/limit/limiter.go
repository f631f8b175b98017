// Package limit keeps traffic under what a vendor accepts: known limits, and
// hidden ones that it learns from refusals and from queueing.
//
// One [Limiter] is one vendor. Admission asks Take before each attempt; false
// means that the attempt goes to the next vendor at once, not after a 429. The
// owner reports each end with Ended and calls Tick once a second with what
// was offered and what came back. Weights read Cap.
//
// A limit is learned on evidence only:
//   - refusals: over 1 % of at least 20 attempts in 10 s, at least 3 of them
//     and over at least 3 s, so that a stray 429 or one burst teaches nothing.
//     The limit is that of the kind of limiter (token bucket, sliding or fixed
//     second, attempts in flight) which explains best what was accepted and what
//     refused (see fit.go). Refusals for tokens teach the tokens a minute that
//     were answered between them;
//   - waiting: the rate at which a queue explains how long first tokens take (Back; see
//     waits.go), 40 of them of which 20 waited, three seconds in a row;
//   - queueing where that is not seen: offered steadily, answers 2.5 times slower than usual, and
//     fewer coming back than going in, for 5 s and the time an answer takes
//     (a vendor that merely got slower also returns less, but only for as long
//     as one slower answer takes). The limit is what comes back while the queue
//     stands. It is put to the proof: if holding back does not make the vendor
//     faster, it was a brownout, and the limit is forgotten.
//
// A refusal because the rate rose too fast teaches no limit: the rate is held
// where it was accepted and rises by 3 % a second (see Held).
//
// Until a limit is learned a vendor that refuses is slowed down to where it refuses
// about one attempt in ten. Afterwards admission lets 0.95 of the limit through. It is
// tested again after 30 s, each time that the same is found later, up to 8 minutes:
// while all is used that is let through and no queue shows, that rises by 0.2 % a
// second and ever faster. What is then accepted without refusal for 20 s is proven,
// and the limit is that; refusals or a queue find the limit anew. Where other vendors
// have no room (Pressed) it rises at once.
//
// The figures are in the tests: go test -run 'Truly|Queue' -v ./engine/limit. What
// cannot be seen is a silent limit behind which nobody waits.
//
// It has no clock, lock or goroutine: every method is told the time, and the
// owner holds its lock. Take and Ended allocate nothing once they have run. It ejects nobody and
// moves no weights.
package limit

import (
	"math"
	"time"
)

// Class is what a 429 said is over its limit.
type Class uint8

// The classes.
const (
	RPS         Class = iota // requests per second or minute, and refusals that do not say
	Slope                    // the rate rose too fast
	Tokens                   // tokens per minute
	Concurrency              // requests at once
)

var classes = [...]string{"requests", "slope", "tokens", "concurrency"}

// String returns the word of the class in JSON.
func (c Class) String() string {
	if int(c) < len(classes) {
		return classes[c]
	}
	return "unknown"
}

const (
	// margin is how much of a limit admission lets through.
	margin = 0.95
	// Floor is the least part of all traffic that Cap leaves a vendor.
	Floor = 0.05
	// least is the lowest limit that is learned, in requests per second: with
	// less there would be nothing left to measure by.
	least = 1.0
	// lifetime is how long a learned limit is believed without new evidence.
	lifetime = 6 * time.Hour
)

// Limiter is the limit of one vendor. Use New.
type Limiter struct {
	known   float64 // requests per second over all keys; 0: unknown
	keys    int
	learned found
	bucket  bucket
	cool    cooldown
	recent  recent
	span    span
	sends   sends
	shape   shape
	meter   meter
	scope   scope
	said    [len(classes)]int // refusals by class since a limit was last learned
	queue   queue
	waits   waits
	slope   slope
	base    float64 // running minimum of latency, seconds
	ticked  time.Time
	overed  time.Time // since when the learned limit is above twice the total
	turned  time.Time // when the bucket last turned an attempt away
	testing bool      // a limit found by queueing, see Tests
	pressed time.Time // when an attempt last found room nowhere
	yields  bool      // see Yield
}

// New returns the limiter of a vendor with a known limit per key in requests
// per second (0: learn it) and that many keys.
func New(knownRPS float64, keys int) *Limiter {
	l := new(Limiter)
	l.Configure(knownRPS, keys)
	return l
}

// Configure replaces the known limit per key and the number of keys, as a
// reload does, and keeps what was learned.
func (l *Limiter) Configure(perKey float64, keys int) {
	l.keys = max(keys, 1)
	l.known = 0
	if known := perKey * float64(l.keys); known > 0 && !math.IsInf(known, 1) {
		l.known = known
	}
}

// SetKeys replaces the number of keys and keeps the limit per key, whoever set
// it, and what was learned.
func (l *Limiter) SetKeys(n int) { l.Configure(l.known/float64(l.keys), n) }

// Set replaces the known limit per key, in requests per second, and drops what
// was learned; 0, and what is no rate, mean that there is none.
func (l *Limiter) Set(perKey float64) {
	l.Configure(perKey, l.keys)
	l.Forget()
}

// Forget drops what was learned and every cooldown; a known limit stays.
func (l *Limiter) Forget() {
	flight := l.sends.flight
	*l = Limiter{known: l.known, keys: l.keys, base: l.base}
	l.sends.flight = flight
}

// Known returns the known limit over all keys, in requests per second.
func (l *Limiter) Known() (rps float64, ok bool) { return l.known, l.known > 0 }

// Learned returns the limit as learned, in requests per second.
func (l *Limiter) Learned() (rps float64, ok bool) { return l.learned.rps, l.learned.rps > 0 }

// Evidence returns what the learned limit rests on, or the rate held for a slope
// limiter while that is the lower one; "" when there is neither.
func (l *Limiter) Evidence() string {
	if l.slope.rps > 0 && (l.learned.rps == 0 || l.slope.rps < l.learned.rps*margin) {
		return l.slope.evidence
	}
	return l.learned.evidence
}

// Allowed returns what admission lets through, in requests per second: 0.95 of
// the lower one of the known and the learned limit (more while that is tested), less
// while a queue at the vendor drains, and at most what is held for a slope limiter. It
// is false when there is no limit. Where attempts in flight are limited, it is what
// so many come to.
func (l *Limiter) Allowed() (rps float64, ok bool) { return l.allowed(l.queue.draining, l.slope.rps) }

func (l *Limiter) allowed(draining bool, held float64) (rps float64, ok bool) {
	if l.inForce() {
		rps = l.learned.let()
		if draining {
			rps = l.learned.rps * drainTo
			if l.base > 0 && l.queue.latency > deep*l.base {
				rps = l.learned.rps * drainDeep
			}
		}
	}
	for _, other := range [...]float64{l.known * margin, held} {
		if other > 0 && (rps == 0 || other < rps) {
			rps = other
		}
	}
	return rps, rps > 0
}

// pace is the rate that the bucket fills by, and its depth.
func (l *Limiter) pace() (rps, most float64, ok bool) {
	rps, ok = l.Allowed()
	if ok && l.learned.flight > 0 && l.known == 0 && l.slope.rps == 0 {
		rps, ok = 0, false // counted in flight
	}
	if s := l.shape.rps; s > 0 && !l.shape.even.on() && (!ok || s < rps) {
		return s, l.shape.most(), true
	}
	return rps, l.burst(rps), ok
}

// full reports whether as many are in flight as the vendor takes.
func (l *Limiter) crowded() bool {
	f := &l.learned
	return f.flight > 0 && float64(l.sends.flight) >= max(math.Floor(float64(f.flight)*margin*f.level), 1)
}

// near reports whether the last attempt was too short ago for a vendor that wants them
// evenly spaced.
func (l *Limiter) near(now time.Time) bool {
	return l.shape.even.on() && l.sends.seconds(now) < l.shape.even.next(&l.sends)-1e-9
}

// Take admits one attempt at now, or says that the vendor is over its limit or
// cooling down.
func (l *Limiter) Take(now time.Time) bool {
	if l.cool.until.After(now) {
		return false
	}
	if l.crowded() || l.near(now) {
		l.turned = now
		return false
	}
	if rps, most, ok := l.pace(); ok && !l.bucket.take(now, rps, most) {
		l.turned = now
		return false
	}
	l.recent.at(now).taken++
	l.span.took()
	l.shape.took()
	l.sends.add(now)
	return true
}

// Ready reports whether Take would admit an attempt.
func (l *Limiter) Ready(now time.Time) bool {
	if l.cool.until.After(now) || l.crowded() || l.near(now) {
		return false
	}
	rps, most, ok := l.pace()
	return !ok || l.bucket.level(now, rps, most) >= whole
}

// Until returns the earliest moment at which Take may succeed, now if it would:
// for Retry-After.
func (l *Limiter) Until(now time.Time) time.Time {
	at := now
	if l.cool.until.After(at) {
		at = l.cool.until
	}
	if l.shape.even.on() {
		at = later(at, l.sends.start.Add(time.Duration(math.Ceil(1e9*l.shape.even.next(&l.sends)))))
	}
	if rps, most, ok := l.pace(); ok {
		if level := l.bucket.level(at, rps, most); level < whole {
			wait := min((1-level)/rps, lifetime.Seconds())
			at = at.Add(time.Duration(math.Ceil(wait * float64(time.Second))))
		}
	}
	if l.crowded() { // the next one ends about then
		each := l.meter.seconds / float64(l.learned.flight)
		at = at.Add(time.Duration(max(each, 0.01) * float64(time.Second)))
	}
	return at
}

// Pressed says that an attempt found no room anywhere: what was learned gives way,
// faster than it is tested otherwise.
func (l *Limiter) Pressed(now time.Time) { l.pressed = now }

// Limited reports whether the vendor takes less than it is offered: it cools
// down, a learned limit or a rate held is in force, or admission turned something away in the
// last 10 s.
func (l *Limiter) Limited(now time.Time) bool {
	return l.cool.until.After(now) || l.inForce() || l.slope.rps > 0 || !l.turned.IsZero() && now.Sub(l.turned) < 10*time.Second
}

// Cap returns the part of all traffic (totalRate, requests per second) that the
// vendor can take, between Floor and 1; 1 when no limit is known. That a queue drains
// is over in seconds, and no reason to move weights. Nor is a rate held for a slope
// limiter, which says how fast the vendor may be sent more, not how much it takes:
// weights that followed it down would come back far slower than it rises, so that the
// vendor were never sent enough to see what it takes. Take keeps to it meanwhile.
func (l *Limiter) Cap(totalRate float64) float64 {
	rps, ok := l.allowed(false, 0)
	if !ok || !(totalRate > 0) {
		return 1
	}
	return min(max(rps/totalRate, Floor), 1)
}

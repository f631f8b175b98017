// Package limit keeps traffic under what a vendor accepts: known limits, and
// hidden ones that it learns from refusals and from queueing.
//
// One [Limiter] is one vendor. Admission asks Take before each attempt; false
// means that the attempt goes to the next vendor at once, not after a 429. The
// owner reports each 429 with Refused and calls Tick once a second with what
// was offered and what came back. Weights read Cap.
//
// A limit is learned on evidence only:
//   - refusals: over 1 % of at least 20 attempts in 10 s, at least 3 of them
//     and over at least 3 s, so that a stray 429 or one burst teaches nothing.
//     The limit is what was accepted between the first and the last of them;
//   - queueing: offered steadily, answers 2.5 times slower than usual, and
//     fewer coming back than going in, for 5 s and the time an answer takes
//     (a vendor that merely got slower also returns less, but only for as long
//     as one slower answer takes). A limit learned this way is put to the proof:
//     if holding back does not make the vendor faster, it was a brownout, and
//     the limit is forgotten.
//
// A refusal because the rate rose too fast teaches no limit: the rate is held
// where it was accepted and rises by 3 % a second (see Held).
//
// What was learned grows while it is used and no queue shows: while refusals found
// it only once, within seconds to what was accepted in the best second, because
// cooldowns hide a part of what the vendor would take; then by 0.5 % a second,
// by 0.2 % when it has been found again, and by 0.1 % if it was found by queueing.
// Under a learned limit a refusal that names no time stops nothing: without stops
// what is accepted is the limit exactly. A limit found again at the same height
// is left alone for longer each time, because every growth beyond it costs the
// requests that run into it.
//
// Behind a silent 20 requests/s queue this gives, at 25, 30 and 50 offered, a
// P99 of 0.65, 0.8 and 1.1 s where 429s alone leave 5.6 s (see the tests). What it
// cannot see is an offer of exactly the limit: the queue then grows too slowly
// to tell from a slow vendor.
//
// It has no clock, lock or goroutine: every method is told the time, and the
// owner holds its lock. Take and Refused allocate nothing. It ejects nobody and
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
	queue   queue
	slope   slope
	base    float64 // running minimum of latency, seconds
	ticked  time.Time
	overed  time.Time // since when the learned limit is above twice the total
	turned  time.Time // when the bucket last turned an attempt away
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
	*l = Limiter{known: l.known, keys: l.keys, base: l.base}
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
// the lower one of the known and the learned limit, less while a queue at the
// vendor drains, and at most what is held for a slope limiter. It is false when
// there is no limit.
func (l *Limiter) Allowed() (rps float64, ok bool) {
	if l.learned.rps > 0 {
		rps = l.learned.rps * margin
		if l.queue.draining {
			rps = l.learned.rps * drainTo
		}
	}
	for _, other := range [...]float64{l.known * margin, l.slope.rps} {
		if other > 0 && (rps == 0 || other < rps) {
			rps = other
		}
	}
	return rps, rps > 0
}

// Take admits one attempt at now, or says that the vendor is over its limit or
// cooling down.
func (l *Limiter) Take(now time.Time) bool {
	if l.cool.until.After(now) {
		return false
	}
	if rps, ok := l.Allowed(); ok && !l.bucket.take(now, rps, l.burst(rps)) {
		l.turned = now
		return false
	}
	l.recent.at(now).taken++
	l.span.took()
	return true
}

// Ready reports whether Take would admit an attempt.
func (l *Limiter) Ready(now time.Time) bool {
	if l.cool.until.After(now) {
		return false
	}
	rps, ok := l.Allowed()
	return !ok || l.bucket.level(now, rps, l.burst(rps)) >= whole
}

// Until returns the earliest moment at which Take may succeed, now if it would:
// for Retry-After.
func (l *Limiter) Until(now time.Time) time.Time {
	at := now
	if l.cool.until.After(at) {
		at = l.cool.until
	}
	if rps, ok := l.Allowed(); ok {
		if level := l.bucket.level(at, rps, l.burst(rps)); level < whole {
			wait := min((1-level)/rps, lifetime.Seconds())
			at = at.Add(time.Duration(math.Ceil(wait * float64(time.Second))))
		}
	}
	return at
}

// Limited reports whether the vendor takes less than it is offered: it cools
// down, a learned limit or a rate held is in force, or admission turned something away in the
// last 10 s.
func (l *Limiter) Limited(now time.Time) bool {
	return l.cool.until.After(now) || l.learned.rps > 0 || l.slope.rps > 0 || !l.turned.IsZero() && now.Sub(l.turned) < 10*time.Second
}

// Cap returns the part of all traffic (totalRate, requests per second) that the
// vendor can take, between Floor and 1; 1 when no limit is known.
func (l *Limiter) Cap(totalRate float64) float64 {
	rps, ok := l.Allowed()
	if !ok || !(totalRate > 0) {
		return 1
	}
	return min(max(rps/totalRate, Floor), 1)
}

// Saved is what a restart keeps of a learned limit.
type Saved struct {
	RPS      float64   `json:"rps"`
	At       time.Time `json:"at"` // when it was last found
	Evidence string    `json:"evidence"`
}

// Save returns the learned limit, false when there is none.
func (l *Limiter) Save() (Saved, bool) {
	return Saved{RPS: l.learned.rps, At: l.learned.at, Evidence: l.learned.evidence}, l.learned.rps > 0
}

// Resume takes a saved limit back, unless it is older than 6 hours or no rate.
func (l *Limiter) Resume(now time.Time, s Saved) {
	if !(s.RPS > 0) || math.IsInf(s.RPS, 1) || now.Sub(s.At) >= lifetime || s.At.After(now) {
		return
	}
	l.learned = found{rps: s.RPS, height: s.RPS, at: s.At, evidence: s.Evidence, times: 1}
}

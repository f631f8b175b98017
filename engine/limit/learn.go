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
	Done10  int // the same over 10 s; 0: not counted
	Faults5 int // of those, vendor_faults

	N10       int     // attempts that ended in the last 10 s, refusals too
	Refused10 int     // of those, 429s
	Accepted  float64 // attempts per second that were not refused, over those 10 s

	Latency time.Duration // P90 of the vendor's main kind, attempts that still wait among it; 0: unknown
	Base    time.Duration // its unloaded value; 0: the limiter's own running minimum

	Total float64 // requests per second over all vendors

	Look Look // what was found of a queue; nothing is learned of it without
}

// found is a limit that was learned.
type found struct {
	rps      float64 // what the vendor takes
	level    float64 // what is let through, relative to margin of that: above 1 while it is tested
	class    Class
	flight   int       // it counts attempts in flight, so many; 0: it counts over time
	tokens   float64   // it counts tokens, so many a second; 0: it counts requests
	burst    float64   // what may be sent at once; 0: not known
	at       time.Time // when it was last found
	rested   time.Time // since when it is left alone
	rising   time.Time // since when it rises
	times    int       // how often in a row at about the same height
	queued   bool      // found by queueing
	mass     float64   // accepted attempts that it rests on
	cost     float64   // contradictions per refusal
	refusals int
	scope    string
	evidence string
}

const (
	restFirst = 30 * time.Second // a limit is left alone, the first time
	restSoon  = 5 * time.Second  // one that is only guessed
	restPress = 10 * time.Second // one that is needed now
	restLeast = 60 * time.Second // one that was found again, doubling
	retest    = 0.002            // of what is let through, per second, when it is tested
	retestTop = 0.01             // the same, at most
	creep     = 0.001            // the same for one found by queueing, where too much shows late
	testMost  = 1.08             // times the limit: what is refused beyond tells of another one
	yielding  = 0.03             // the same where other vendors have no room
	massMost  = 500
	explained = 6    // refusals after the first one
	proofLong = 20.0 // seconds without refusal by which what is let through is proven
	testUsed  = 0.5  // of what is let through, at least, for a vendor to be sent more for a test
	wellUsed  = 0.85 // of what admission lets through
	nearly    = 0.97 // of a limit that was found too high
	same      = 0.05 // two limits this near each other are one
)

// rest is how long a limit is left alone before it is tested.
func (f *found) rest() time.Duration {
	switch {
	case f.cost > fitGood:
		return restSoon
	case f.times < 2:
		return restFirst
	}
	return restLeast << min(f.times-2, 3)
}

// let is what is let through, in requests per second.
func (f *found) let() float64 { return f.rps * margin * f.level }

// rate is how fast that rises, relative and per second.
func (f *found) rate(now time.Time) float64 {
	minutes := 0.0
	if !f.rising.IsZero() {
		minutes = max(now.Sub(f.rising).Minutes(), 0)
	}
	slowest := retest
	if f.queued {
		slowest = creep
	}
	return min(slowest*(1+minutes*minutes), retestTop)
}

// take puts a new finding in the place of an old one. What is about the same is one
// measurement, the longer the better.
func (f *found) take(now time.Time, next found) {
	next.rps = max(next.rps, least)
	next.at, next.rested, next.level, next.times = now, now, 1, 1
	near := max(same, 2/max(next.mass, 1))
	if f.rps > 0 && f.class == next.class && f.flight == 0 && math.Abs(next.rps-f.rps) <= near*f.rps {
		if next.class == RPS && !next.queued && !f.queued && f.cost <= fitGood {
			next.rps = (f.rps*f.mass + next.rps*next.mass) / max(f.mass+next.mass, 1)
			next.mass = min(f.mass+next.mass, massMost)
		}
		next.times = f.times + 1
	}
	*f = next
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
	l.shape.tick(now)
	l.convert()
	if l.waited(now, o.Look) || l.waits.looks == 0 && l.refusals(now, o) || l.queueing(now, o, base) {
		l.overed = time.Time{}
		return
	}
	l.grow(now, o, past, base)
}

// convert keeps limits on other things in requests per second, by the answers of
// late.
func (l *Limiter) convert() {
	f := &l.learned
	switch {
	case f.flight > 0 && l.meter.n > 0 && l.meter.seconds > 0:
		f.rps = max(float64(f.flight)/l.meter.seconds, least)
	case f.tokens > 0 && l.meter.n > 0 && l.meter.tokens > 0:
		f.rps = max(f.tokens/l.meter.tokens, least/10)
	}
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
	if l.queue.draining {
		return false // of what was sent before
	}
	if l.tokens(now) {
		return true
	}
	if l.met(now) {
		return true
	}
	// What is sent evenly spaced is seldom refused.
	if !l.shape.even.on() && (!(o.N10 >= 20 && o.Refused10 >= 3 && o.Refused10*100 > o.N10 || l.often(now)) || now.Sub(l.span.last) > spanGap) || now.Sub(l.learned.at) < spanLeast {
		return false
	}
	if l.said[Tokens] > l.said[RPS]+l.said[Concurrency] {
		return false
	}
	base, standing := l.stands(now, o)
	var next found
	var ok bool
	if standing { // it refuses what its queue has no room for
		next, ok = l.overflows(now, o, base)
	} else if next, ok = l.explain(now); !ok {
		next, ok = l.between(o)
	}
	if !ok {
		return false
	}
	if held := l.learned; held.rps > 0 && held.flight == 0 && held.let() <= held.rps && next.flight == 0 {
		// It was too much though no more was let through, so the limit is lower. What was
		// accepted says how much lower if all was used that admission lets through;
		// otherwise it is not lower by more than was refused.
		if part := float64(o.Refused10) / float64(o.N10); next.cost > fitGood && next.rps < held.let()*(1-part)*wellUsed {
			next.rps = held.rps * (1 - part) * nearly
		}
		next.rps = min(next.rps, held.rps*nearly)
	}
	l.learn(now, next)
	if standing { // it refuses what its queue has no room for
		l.queue.draining, l.queue.since, l.queue.latency = true, now, o.Latency.Seconds()
	}
	return true
}

// met ends a test of the limit that met it: a few refusals at just above it confirm
// what was learned.
func (l *Limiter) met(now time.Time) bool {
	f := &l.learned
	if f.rps == 0 || f.let() <= f.rps || f.let() > f.rps*testMost || f.cost > fitGood || l.said[RPS]+l.said[Concurrency] < 3 {
		return false
	}
	f.at, f.rested, f.rising, f.level = now, now, time.Time{}, 1
	f.times++
	f.refusals += l.said[RPS] + l.said[Concurrency]
	l.span, l.shape, l.said = span{}, shape{}, [len(classes)]int{}
	return true
}

// often reports whether refusals are too frequent to be stray, of so little that
// ten seconds hold too few.
func (l *Limiter) often(now time.Time) bool {
	if len(l.sends.ring) == 0 {
		return false
	}
	from := l.sends.seconds(now) - fitLong
	if !l.learned.at.IsZero() {
		from = max(from, l.sends.seconds(l.learned.at))
	}
	all, refused := 0, 0
	for i := l.sends.from(from); i < len(l.sends.ring); i++ {
		if all++; l.sends.i(i).refused {
			refused++
		}
	}
	return refused > explained && refused*25 >= all
}

// learn puts a finding from refusals in force.
func (l *Limiter) learn(now time.Time, next found) {
	next.scope = l.scope.word(l.keys)
	l.learned.take(now, next)
	l.span, l.shape, l.said = span{}, shape{}, [len(classes)]int{}
	l.queue = queue{doubt: l.queue.doubt, barred: l.queue.barred}
}

// explain finds the limiter that explains best what was accepted and what refused.
func (l *Limiter) explain(now time.Time) (found, bool) {
	t := l.sends.seconds(now)
	from := t - fitLong
	if !l.learned.at.IsZero() {
		from = max(from, l.sends.seconds(l.learned.at))
	}
	if !l.shape.began.IsZero() {
		from = max(from, l.sends.seconds(l.shape.began.Add(time.Second))) // after its one stop
	}
	if l.shape.even.on() {
		from = l.shape.even.from
	}
	all := l.sends.since(from, t-fitSettled)
	f, even := fit(all, l.said[Concurrency] > l.said[RPS])
	if (even.refused >= 3 || l.shape.even.on()) && even.rps > 0 && even.cost <= gapCost && (f.single || even.cost <= f.cost+fitAlike) {
		return l.spacing(now, from, all, even)
	}
	l.shape.even = approach{}
	if f.rps > 0 && f.refused >= 3 && f.cost <= fitGood {
		l.shape.aim(now, f.rps)
	}
	if f.rps == 0 || f.cost > fitGood || f.cost > fitGood/2 && f.refused < 2*explained || f.refused < explained || f.long < spanLeast.Seconds() && f.accepted < massMost || f.long < fitShort && (f.accepted < spanSent || f.accepted < fitFew && f.cost <= fitGood/2) {
		return found{}, false
	}
	next := found{rps: f.rps, burst: f.burst, mass: float64(f.accepted), cost: f.cost, refusals: f.refused + 1}
	next.evidence = fmt.Sprintf("429 on %d of %d in %.0f s, %.1f/s accepted", f.refused+1, f.refused+1+f.accepted, f.long, f.rps)
	if f.flight > 0 {
		next.class, next.flight = Concurrency, f.flight
		next.evidence = fmt.Sprintf("429 on %d of %d in %.0f s, always with %d in flight", f.refused+1, f.refused+1+f.accepted, f.long, f.flight)
	}
	return next, true
}

// between is the mean of what was accepted between the first and the last refusal,
// where so much is sent that single attempts are not remembered for long enough.
func (l *Limiter) between(o Offer) (found, bool) {
	rps, refused, ok := l.span.rate()
	if !ok || refused*100 <= 1 || l.span.takenLast > 0 && l.sends.covers() {
		return found{}, false
	}
	if l.span.takenLast == 0 {
		rps = finite(o.Accepted) // sent by somebody who did not ask
	}
	return found{
		rps: rps, mass: 5, cost: 1, refusals: l.span.refusedLast + 1,
		evidence: fmt.Sprintf("429 on %d of %d in 10 s, %.1f/s accepted", o.Refused10, o.N10, rps),
	}, true
}

// tokens learns from refusals that the vendor says are for tokens.
func (l *Limiter) tokens(now time.Time) bool {
	m := &l.meter
	perSecond, ok := m.rate()
	if !ok || m.tokens <= 0 || now.Sub(m.last) > spanGap {
		return false
	}
	if f := &l.learned; f.tokens > 0 && f.let() <= f.rps {
		perSecond = min(perSecond, f.tokens*nearly)
	}
	long := m.last.Sub(m.first)
	l.learn(now, found{
		rps: perSecond / m.tokens, class: Tokens, tokens: perSecond, mass: m.spentAt / m.tokens, refusals: m.bursts,
		evidence: fmt.Sprintf("429 for tokens, %.0f tokens a minute answered in %.0f s", 60*perSecond, long.Seconds()),
	})
	m.first, m.bursts = time.Time{}, 0
	return true
}

// grow tests the limit while it is used, and forgets it when it has been far
// above all traffic for long, or is old.
func (l *Limiter) grow(now time.Time, o Offer, past, base float64) {
	f := &l.learned
	l.testing = false
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
	// Random arrivals use little of a limit that is met with a short line. What goes to
	// other vendors because of it is more than enough for a test.
	l.testing = f.queued && !l.queue.draining && !queued(o, base) && now.Sub(f.rested) >= f.rest() && l.used(o, testUsed) && now.Sub(l.turned) < spanGap
	if l.queue.draining || !l.full(o) {
		f.rising = time.Time{}
		return
	}
	if queued(o, base) {
		// A queue begins: the limit is about there.
		if f.level > 1/margin && f.queued {
			f.level, f.rested, f.rising, f.times = 1, now, time.Time{}, f.times+1
		}
		return
	}
	pressed := !l.pressed.IsZero() && now.Sub(l.pressed) < 3*time.Second
	rest := f.rest()
	if pressed {
		rest = min(rest, restPress)
	}
	if now.Sub(f.rested) < rest || now.Sub(l.span.last) < spanLeast {
		return
	}
	if f.rising.IsZero() {
		f.rising = now
	}
	rate := f.rate(now)
	if pressed {
		rate = yielding
	}
	f.level *= 1 + rate*past
	l.prove(now)
}

// prove raises the limit to what was accepted for long without any refusal, less
// what a limiter may have saved up for it.
func (l *Limiter) prove(now time.Time) {
	f := &l.learned
	if f.let() <= f.rps || now.Sub(l.span.last).Seconds() < proofLong || f.flight > 0 && f.level < 1+1/float64(f.flight) {
		return
	}
	t := l.sends.seconds(now)
	n := l.sends.answered(t-proofLong, t)
	if len(l.sends.ring) == 0 || l.sends.i(0).at > t-proofLong {
		return
	}
	proven := (float64(n) - f.rps) / proofLong
	if proven <= f.rps {
		return
	}
	by := proven / f.rps
	switch {
	case f.flight > 0:
		f.flight, f.level = f.flight+1, f.level*float64(f.flight)/float64(f.flight+1)
	case f.tokens > 0:
		f.tokens *= by
		fallthrough
	default:
		f.rps *= by
		f.level /= by
	}
	f.times = 1
}

// Tests reports whether a limit that was found by queueing is due to be tested, so that
// the vendor should be sent all that it lets through.
func (l *Limiter) Tests() bool { return l.testing }

// Drains reports whether a queue at the vendor drains of which a limit was learned.
func (l *Limiter) Drains() bool { return l.queue.draining }

// Raised reports whether more than the learned limit is let through, to test it.
func (l *Limiter) Raised() bool { return l.learned.rps > 0 && l.learned.let() > l.learned.rps }

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
	if l.learned.flight > 0 {
		return ok && !l.turned.IsZero() && l.ticked.Sub(l.turned) < 5*time.Second
	}
	return ok && l.used(o, 1-0.7/math.Sqrt(max(rps, 1)))
}

func (l *Limiter) unlearn() {
	l.learned = found{}
	l.shape = shape{}
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

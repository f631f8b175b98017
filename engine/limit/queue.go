package limit

import (
	"fmt"
	"math"
	"slices"
	"time"
)

const (
	slow      = 2.5  // times the base
	drained   = 1.5  // times the base
	drainTo   = 0.75 // of the learned limit, while the queue drains
	drainDeep = 0.4  // the same where it is long
	deep      = 5.0  // times the base
	// cappedBurst is the seconds' worth that may be sent at once to a vendor that lets
	// requests wait: so long do they wait then.
	cappedBurst = 0.15
	drainMost   = 20 * time.Second
	proofTime   = 30 * time.Second
	proofGain   = 0.90 // of the latency it had
	servedLong  = 10.0 // seconds of what comes back that are looked at
	servedLeast = 20   // that are enough
	servedOver  = 1.1  // times what is sent comes back while a queue drains
	servedLast  = 5    // of them, whose mean tells whether it stands
	servedAlike = 0.5  // autocorrelation
	servedNear  = 0.35 // of what was learned: further off it is something else
)

// queue is the state of learning from a vendor that queues instead of refusing.
type queue struct {
	ticks    int // in a row with all signs of queueing
	draining bool
	proving  bool
	since    time.Time // of drain and proof
	latency  float64   // at that time, seconds
	prior    found     // what was learned before
	doubt    int       // limits in a row that did not prove true
	barred   time.Time // nothing is learned by queueing before
}

// queueing learns from offered against completed rate.
func (l *Limiter) queueing(now time.Time, o Offer, base float64) bool {
	q := &l.queue
	latency := o.Latency.Seconds()
	if q.proving || now.Before(q.barred) || l.learned.rps > 0 && now.Sub(q.since) < proofTime || !(signs(o, latency, base) || l.again(o, latency, base)) {
		q.ticks = max(q.ticks-2, 0)
		return false
	}
	q.ticks++
	// A vendor that got slower for another reason returns less too, for as long
	// as its first slow answer takes; the 5 s windows carry that on for 5 s.
	if q.ticks < 5+int(math.Ceil(min(latency, 15))) {
		return false
	}
	rps, prior := float64(o.Done5)/5, l.learned
	if o.Done5 < 50 && o.Done10 > 0 { // so few that two windows tell more
		if q.ticks < 10 {
			return false
		}
		rps = float64(o.Done10) / 10
	}
	if prior.rps > 0 && prior.let() <= prior.rps {
		rps = min(rps, prior.rps*nearly)
	}
	l.learned.take(now, found{
		rps: rps, queued: true, mass: float64(o.Done5), scope: l.scope.word(l.keys),
		evidence: fmt.Sprintf("queueing: %d sent, %d done in 5 s, P90 %.1fs against %.1fs", o.Sent5, o.Done5, latency, base),
	})
	*q = queue{draining: true, proving: true, since: now, latency: latency, doubt: q.doubt, prior: prior}
	return true
}

// capped takes a limit of rps that n first tokens have shown by how long they waited; a
// first token took that long. It is put to the proof as other queues are.
func (l *Limiter) capped(now time.Time, rps float64, n int, latency time.Duration, evidence string) bool {
	if l.known > 0 && rps >= l.known {
		return false
	}
	prior := l.learned
	l.learned.take(now, found{rps: rps, queued: true, mass: float64(n), scope: l.scope.word(l.keys), evidence: evidence, burst: max(burst(rps), cappedBurst*rps)})
	l.queue = queue{draining: true, proving: true, since: now, latency: latency.Seconds(), doubt: l.queue.doubt, prior: prior}
	l.span, l.shape, l.said, l.waits, l.overed = span{}, shape{}, [len(classes)]int{}, waits{}, time.Time{}
	return true
}

// stands reports whether a queue stands at a vendor that refuses, and what a first token takes
// without: what answers took before, or, where nothing was seen before, the first ones of
// many that took longer and longer.
func (l *Limiter) stands(now time.Time, o Offer) (base float64, ok bool) {
	if l.base > 0 && o.Latency.Seconds() > slow*l.base {
		return l.base, true
	}
	t := l.sends.seconds(now)
	var took []float64
	for _, x := range l.sends.since(t-servedLong, t) {
		if x.took > 0 && !x.refused && x.at+float64(x.took) <= t {
			took = append(took, float64(x.took))
		}
	}
	n := len(took)
	if n < servedLeast {
		return 0, false
	}
	last, sum, square, next := 0.0, 0.0, 0.0, 0.0
	for i, d := range took {
		sum, square = sum+d, square+d*d
		next += d * took[max(i-1, 0)]
		if i >= n-servedLast {
			last += d / servedLast
		}
	}
	mean := sum / float64(n)
	alike := (next/float64(n) - mean*mean) / (square/float64(n) - mean*mean)
	slices.Sort(took)
	base = took[n/10]
	return base, alike > servedAlike && last > slow*base
}

// overflows learns from a queue that is full: what comes back is what the vendor takes, and it
// refuses the rest.
func (l *Limiter) overflows(now time.Time, o Offer, base float64) (found, bool) {
	rps, n := l.served(now, base)
	if n == 0 {
		return found{}, false
	}
	return found{
		rps: rps, queued: true, mass: float64(n), refusals: o.Refused10, burst: max(burst(rps), cappedBurst*rps),
		evidence: fmt.Sprintf("429 on %d of %d in 10 s while a queue stood, %d came back at %.1f/s", o.Refused10, o.N10, n, rps),
	}, true
}

// again reports whether a queue stands at a vendor that is known to have a
// limit and is sent about as much as that allows: then the limit is a little lower
// than thought, and what is missing is too little to see.
func (l *Limiter) again(o Offer, latency, base float64) bool {
	return l.learned.rps > 0 && l.used(o, 0.6) && base > 0 && latency > slow*base && o.Faults5*10 <= o.Done5 && o.Done5 > 0
}

// signs reports whether this tick looks like queueing: offered steadily, much
// slower than usual, and less comes back than goes in, but not nothing. Where
// answers fail, what is missing is no queue.
func signs(o Offer, latency, base float64) bool {
	sent, before, done := float64(o.Sent5), float64(o.SentBefore5), float64(o.Done5)
	return o.Sent5 >= 20 &&
		math.Abs(sent-before) <= 0.25*max(sent, before) &&
		base > 0 && latency > slow*base &&
		sent-done > 0.05*sent && done > 0.30*sent &&
		o.Faults5*10 <= o.Done5
}

// settle ends the drain of a queue, and judges after a while whether holding
// back made the vendor faster. If it did not, the vendor is slow for a reason
// of its own, and what was known before holds again.
func (l *Limiter) settle(now time.Time, o Offer, base float64) {
	q := &l.queue
	if !q.draining && !q.proving {
		return
	}
	past, latency := now.Sub(q.since), o.Latency.Seconds()
	l.refine(now, o, base)
	fast := latency > 0 && latency <= drained*base
	if q.draining && (fast || past >= drainMost) {
		q.draining, l.waits.from = false, now
	}
	switch {
	case !q.proving:
	case fast:
		q.proving, q.doubt = false, 0
	case past >= proofTime && latency > 0:
		if latency > slow*base && latency > proofGain*q.latency {
			doubt, prior := q.doubt+1, q.prior
			l.unlearn()
			l.learned = prior
			q.doubt = doubt
			q.barred = now.Add(time.Minute << min(doubt-1, 4))
			return
		}
		q.proving, q.doubt = false, 0
	}
}

// refine measures the limit on while the queue drains: what comes back then, more
// than is sent, is all that the vendor lets through.
func (l *Limiter) refine(now time.Time, o Offer, base float64) {
	f := &l.learned
	if !l.queue.draining || float64(o.Done5) < servedOver*float64(o.Sent5) || o.Faults5*10 > o.Done5 {
		return
	}
	if rps, n := l.served(now, base); n > 0 && float64(n) >= f.mass/2 && math.Abs(rps-f.rps) <= servedNear*f.rps {
		f.rps, f.mass = max(rps, least), max(float64(n), f.mass)
	}
}

// served is the rate at which a vendor lets through those who wait there, by n of them: what
// came back one after the other, lately and since nobody was back soon. It is 0 while those are too few. The
// slope of a line through their moments (least squares) is off by how much first tokens vary,
// which the first and the last one alone would show in full.
func (l *Limiter) served(now time.Time, base float64) (rps float64, n int) {
	t := l.sends.seconds(now)
	if base <= 0 {
		return 0, 0
	}
	var back []float64
	soon := t - servedLong
	for i := l.sends.from(t - 2*servedLong); i < len(l.sends.ring); i++ {
		x := l.sends.i(i)
		at := x.at + float64(x.took)
		if x.refused || x.took <= 0 || at > t {
			continue
		}
		if back = append(back, at); float64(x.took) < drained*base {
			soon = max(soon, at)
		}
	}
	slices.Sort(back)
	from, _ := slices.BinarySearch(back, soon)
	back = back[min(from+1, len(back)):]
	n = len(back)
	if n < servedLeast || back[n-1]-back[0] < spanLeast.Seconds() {
		return 0, 0
	}
	mean, middle := 0.0, float64(n-1)/2
	for _, at := range back {
		mean += at / float64(n)
	}
	num, den := 0.0, 0.0
	for i, at := range back {
		num += (float64(i) - middle) * (at - mean)
		den += (float64(i) - middle) * (float64(i) - middle)
	}
	return den / num, n
}

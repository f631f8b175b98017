package limit

import "time"

// longest is how long a Retry-After is believed, and how long the longest
// cooldown is.
const longest = 60 * time.Second

// cooldown is how long nothing is sent after a 429.
type cooldown struct {
	until time.Time
	rows  [len(classes)]row
}

// row are refusals of a class in a row, each after the cooldown of the one
// before had ended.
type row struct {
	n    int
	last time.Time // the end of the last cooldown
}

// first is the cooldown after the first refusal that names no time. It doubles
// for tokens with each further one in a row, because they are counted by the
// minute. A slope limiter is not waited for: see rose.
var first = [len(classes)]time.Duration{
	RPS: time.Second, Slope: slopeBreath, Tokens: 5 * time.Second, Concurrency: time.Second,
}

func (c Class) doubles() bool { return c == Tokens }

// Ending is how an attempt ended, as far as limits care.
type Ending struct {
	Trial      bool          // it went past admission
	Refused    bool          // by a 429
	Class      Class         // of the refusal, in the vendor's words
	RetryAfter time.Duration // the time that the refusal named, believed up to 60 s; 0 or less: none
	Key        bool          // the refusal means one key of several, and another one is ready: nothing stops
	Answered   bool          // whole
	Tokens     int           // in and out, of an answer
}

// Ended reports the end of an attempt that was let through at begun; once for each.
//
// After a 429 nothing is sent for the time it names, or else for one that fits its
// class; half a second for a slope, after which the rate is held. A second, longer
// time extends the first, a shorter one changes nothing. Refusals that follow the
// first one and name no time slow the vendor down to where it refuses about one in
// ten (see shape), instead of stopping it: how high its limit is shows only while it
// is met. A vendor that refuses now and then (up to 1 % of at least 100) goes on: to
// stop for a second after each of them would cost far more than they do. Nor does
// one stop whose limit is learned already and a little too high.
func (l *Limiter) Ended(now, begun time.Time, e Ending) {
	if !e.Trial {
		l.sends.flight = max(l.sends.flight-1, 0)
	}
	if !e.Refused {
		l.meter.answered(now.Sub(begun), &e)
		if e.Answered {
			l.back(begun, now.Sub(begun), true)
		}
		return
	}
	if int(e.Class) >= len(classes) {
		e.Class = RPS
	}
	if x := l.sends.find(begun); x != nil {
		x.refused = true
	}
	l.scope.refused(&l.sends, begun, e.Key)
	if e.Key {
		return
	}
	if e.Class == Slope {
		l.recent.at(now).rose++
		l.rose(now)
	} else {
		l.recent.at(now).refused++
		l.span.refuse(now)
		l.said[e.Class]++
		l.meter.refused(now, e.Class)
	}
	l.cooldown(now, begun, e)
}

// cooldown stops or slows the vendor after a refusal.
func (l *Limiter) cooldown(now, begun time.Time, e Ending) {
	wait := min(e.RetryAfter, longest)
	if e.RetryAfter <= 0 {
		if l.learned.rps > 0 && e.Class != Slope {
			l.shape.cut(now, begun, &l.sends)
			return
		}
		if e.Class != Slope && !e.Class.doubles() {
			if l.stray(now) {
				return
			}
			// The shorter the stops, the better is seen what it takes.
			if met := l.shape.rps > 0; l.shape.cut(now, begun, &l.sends) && met {
				return
			}
		}
		wait = l.cool.own(now, e.Class)
	}
	if until := now.Add(wait); until.After(l.cool.until) {
		l.cool.until = until
	}
	l.cool.rows[e.Class].last = l.cool.until
}

func (l *Limiter) stray(now time.Time) bool {
	taken, refused := l.recent.sums(now)
	return taken >= 100 && refused*100 <= taken
}

// own is the cooldown of a class. Refusals while it already cools down are of
// the same burst and do not lengthen it; a quiet minute ends the row.
func (c *cooldown) own(now time.Time, class Class) time.Duration {
	r := &c.rows[class]
	if !class.doubles() {
		return first[class]
	}
	if now.Sub(r.last) >= longest {
		r.n = 0
	}
	if r.n > 0 && r.last.After(now) {
		return 0
	}
	wait := min(first[class]<<min(r.n, 8), longest)
	r.n++
	return wait
}

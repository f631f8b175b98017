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

// Refused reports a 429 at now. Nothing is sent for the time it names
// (retryAfter, believed up to 60 s; 0 or less: it named none), or else for one
// that fits its class; half a second for a slope, after which the rate is held.
// A second, longer time extends the first, a shorter one
// changes nothing. A vendor that refuses now and then (up to 1 % of at least
// 100) and names no time goes on: to stop for a second after each of them would
// cost far more than they do. Nor does it stop where the limit is learned already
// and a little too high: what is accepted meanwhile says by how much.
func (l *Limiter) Refused(now time.Time, retryAfter time.Duration, class Class) {
	if int(class) >= len(classes) {
		class = RPS
	}
	if class == Slope {
		l.recent.at(now).rose++
		l.rose(now)
	} else {
		l.recent.at(now).refused++
		if l.learned.rps == 0 || now.Sub(l.learned.at) >= time.Second {
			l.span.refuse(now)
		}
	}
	wait := min(retryAfter, longest)
	if retryAfter <= 0 {
		if class == RPS && l.learned.rps > 0 && !l.span.mostly() {
			return
		}
		if class != Slope && !class.doubles() && l.stray(now) {
			return
		}
		wait = l.cool.own(now, class)
		if class == RPS && l.span.refused > 0 {
			wait /= 2 // the shorter the stops, the better is seen what it takes
		}
	}
	if until := now.Add(wait); until.After(l.cool.until) {
		l.cool.until = until
	}
	l.cool.rows[class].last = l.cool.until
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

package admission

import (
	"math"
	"time"
)

// A vendor with a silent limit of requests per second lets them wait. Held to so few
// that hardly any does, it shows no rate. So it is sounded now and then: for some
// seconds so many may wait for their first token that its line never ends. By how long
// each of them waits for those before it the owner knows the rate (package limit), and
// ends it (Quiet).
//
// A vendor that becomes no slower by that has no line: what it was held for was a base
// too low, and it is held no more.

const (
	// lineDeep and lineLow are how many standard errors of those in work, and how many
	// besides, await their first token while it is sounded: at most, and at least for
	// the line to stand.
	lineDeep, lineLow = 3.0, 1.0
	lineMore, lineOne = 3.0, 1.0
	// soundLong is how long the line has to stand, without a break. soundFill is after what
	// time it has to: then there is none, whatever is sent. soundOver ends any sounding.
	soundLong, soundFill, soundOver = 5 * time.Second, 5 * time.Second, 15 * time.Second
	// soundRest is the time before another, twice as long after each that was in vain, up
	// to soundRestMost.
	soundRest, soundRestMost = 10 * time.Second, 80 * time.Second
	// soundRoom is by what first tokens grow at least where there is a line, and soundMore
	// by what more must come back without one.
	soundRoom, soundMore = 1.15, 1.25
	// calmLeast is for how many seconds it must have been held to what it answers fast.
	calmLeast = 1.0
)

// sounding is one, or none.
type sounding struct {
	begun     time.Time // zero: none
	not       time.Time // none before
	vain      int       // in a row that were in vain
	most, low float64   // who await their first token
	before    calm
	from      time.Time // since when the line stands; zero: it does not
	stood     time.Time // when it last stood
	n         int       // who came back since from
	log       float64   // of their times to base
	logs      int
}

// calm is what came back while hardly anybody waited, though more was to be had.
type calm struct {
	seconds float64
	n       int
	log     float64 // of the times to base, times seconds
}

func (c *calm) add(past time.Duration, n int, log float64) {
	c.seconds += past.Seconds()
	c.n += n
	c.log += log * past.Seconds()
}

// took is how long first tokens took, to base.
func (c *calm) took() float64 { return math.Exp(c.log / c.seconds) }

// sound begins a sounding of a vendor that is held to what it answers fast, if it
// is time for one.
func (l *Limit) sound(now time.Time) {
	s := &l.sounding
	if !s.begun.IsZero() || now.Before(s.not) || now.Sub(l.crowded) < soundRest || now.Before(l.quiet) || l.calm.seconds < calmLeast {
		return
	}
	work := 0.0
	for k, r := range l.rates {
		work += r * l.base[k]
	}
	if work <= 0 {
		return
	}
	dev := math.Sqrt(work)
	*s = sounding{
		begun: now, vain: s.vain, before: l.calm,
		most: math.Ceil(work + lineDeep*dev + lineMore), low: work + lineLow*dev + lineOne,
	}
}

// sounded counts one whose first token, or whole answer, came, while so many more
// await theirs.
func (l *Limit) sounded(now, begun time.Time, k Kind, d float64, inFlight, awaiting int) {
	s := &l.sounding
	if s.begun.IsZero() {
		return
	}
	if l.base[k] > 0 && begun.After(s.begun) {
		s.log += math.Log(d / l.base[k])
		s.logs++
	}
	past := now.Sub(s.begun)
	switch {
	case past > soundOver:
		l.silent(now)
	case float64(awaiting) < s.low:
		if past > soundFill && now.Sub(s.stood) > soundFill && s.logs >= enough[Stream] {
			l.spacious(now, k, inFlight)
		}
		s.from = time.Time{}
	case s.from.IsZero():
		s.from, s.stood, s.n, s.log, s.logs = now, now, 0, 0, 0
	default:
		s.stood = now
		if s.n++; now.Sub(s.from) >= soundLong {
			l.conclude(now, k, inFlight)
		}
	}
}

// conclude ends a sounding in which the line has stood for long.
func (l *Limit) conclude(now time.Time, k Kind, inFlight int) {
	s := &l.sounding
	rate, before := float64(s.n)/now.Sub(s.from).Seconds(), float64(s.before.n)/s.before.seconds
	if s.took() < soundRoom*s.before.took() && rate > soundMore*before { // more goes in, and comes back as fast
		l.spacious(now, k, inFlight)
		return
	}
	l.silent(now)
}

// took is how long first tokens took while it was sounded, to base.
func (s *sounding) took() float64 { return math.Exp(s.log / float64(max(s.logs, 1))) }

// spacious ends a sounding in which no line came to stand: what was held for one was
// a base too low.
func (l *Limit) spacious(now time.Time, k Kind, inFlight int) {
	if took := l.sounding.took(); took < soundRoom*l.sounding.before.took() {
		l.base[k] *= min(max(took, 1), tolerance)
		l.free(max(2*float64(inFlight), guard/4))
	}
	l.silent(now)
}

// silent ends a sounding without a finding.
func (l *Limit) silent(now time.Time) {
	s := &l.sounding
	s.begun = time.Time{}
	s.not = now.Add(min(soundRest<<min(s.vain, 6), soundRestMost))
	s.vain++
	l.w.from, l.w.ripe = now, time.Time{}
	l.open(now)
}

// Crowded says that an attempt found no room at any vendor. Where all are full
// there is nobody to go to while one is sounded, and none is.
func (l *Limit) Crowded(now time.Time) {
	l.crowded = now
	if !l.sounding.begun.IsZero() {
		l.silent(now)
	}
}

// Quiet says that the owner's rate is known, from a line that drains now or until which
// it was let rise: for a while it needs no sounding to know why.
func (l *Limit) Quiet(now time.Time) {
	l.quiet = now.Add(soundRest)
	if !l.sounding.begun.IsZero() {
		l.silent(now)
	}
	l.sounding.vain = 0
}

// Wants says whether the vendor is sounded and too few await their first token there.
func (l *Limit) Wants(awaiting int) bool {
	s := &l.sounding
	return !s.begun.IsZero() && float64(awaiting) < (s.low+s.most)/2
}

package admission

import (
	"fmt"
	"math"
	"time"
)

// A vendor with a silent limit of requests per second lets them wait. Held to so
// few that hardly any does, it shows no rate: now and then nobody waits there, and
// what comes back is less than it would let through. So it is sounded: for some
// seconds so many may wait for their first token that its line never ends. If then
// no more come back though more go in, first tokens take longer, and what follows
// them does not, then what comes back is what it lets through.
//
// An engine that is slower is not sounded: its answers do not become as fast as
// they were under the limit in flight.

const (
	// lineDeep and lineLow are how many standard errors of those in work, and how many
	// besides, await their first token while it is sounded: at most, and at least for
	// the line to stand.
	lineDeep, lineLow = 3.0, 1.0
	lineMore, lineOne = 3.0, 1.0
	// soundLeast and soundMost is how long the line has to stand, and soundCount how
	// many must have come back in it unless that takes the most.
	soundLeast, soundMost = 6 * time.Second, 10 * time.Second
	soundCount            = 120
	// soundShort and soundFew are what must do where the line ends by itself.
	soundShort, soundFew = 4 * time.Second, 80
	// soundFill is after what time the line has to stand. Then there is none, whatever is
	// sent. soundOver ends a sounding in which it did not stand for long enough, and
	// soundRest is the time before another.
	soundFill = 5 * time.Second
	soundOver = 20 * time.Second
	soundRest = 10 * time.Second
	// soundGrown is by what first tokens must have grown. What follows them may for each
	// token by soundSame, and what comes back by soundMore: held short it was a little
	// less. Where first tokens grew by less than soundRoom there is no line.
	soundGrown, soundSame, soundMore, soundRoom = 1.25, 1.25, 1.4, 1.15
	// soundSteady is by what the two halves may differ, beside chance.
	soundSteady = 0.06
	// calmLeast is for how many seconds it must have been held to what it answers fast.
	calmLeast = 1.0
	// paceLeast is how many streams say how long a token takes, and paceDrift the
	// number of those by which what is usual rises.
	paceLeast, paceDrift = 10, 2000
)

// Capped is a limit of requests per second that a sounding has found.
type Capped struct {
	RPS   float64
	N     int           // who came back
	For   time.Duration // in which
	Base  time.Duration // of a first token, without load
	First time.Duration // the same while the line stood
	Pace  float64       // time per token to what is usual; 0: not known
}

// String says what was seen.
func (c Capped) String() string {
	s := fmt.Sprintf("queueing: %.1f/s came back for %.0f s whatever was sent; first token %.2fs against %.2fs", c.RPS, c.For.Seconds(), c.First.Seconds(), c.Base.Seconds())
	if c.Pace > 0 {
		s += fmt.Sprintf(", a token %.1f times as long as usual", c.Pace)
	}
	return s
}

// sounding is one, or none.
type sounding struct {
	begun     time.Time // zero: none
	not       time.Time // none before
	most, low float64   // who await their first token
	work      float64   // of them, those in work
	before    calm
	from      time.Time // since when the line stands; zero: it does not
	stood     time.Time // when it last stood
	half      time.Time // the end of its first half
	n         int       // who came back since from
	early     slope     // in the first half
	all       slope
	log       float64
	logs      int
	pace      pace
	found     Capped
	has       bool
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

func (c *calm) rate() float64 { return float64(c.n) / c.seconds }

// slope is the line of least squares through the moments at which one after the
// other came back. It is told less than half as much by those in work at both ends as
// the count over the time is.
type slope struct{ n, t, nt float64 }

func (s *slope) add(seconds float64) {
	s.t += seconds
	s.nt += s.n * seconds
	s.n++
}

// rate is how many came back per second, 0 if that is not known.
func (s *slope) rate() float64 {
	each := 12 * (s.nt - (s.n-1)/2*s.t) / (s.n * (s.n*s.n - 1)) // seconds
	if s.n < 3 || !(each > 0) {
		return 0
	}
	return 1 / each
}

// pace is the mean logarithm of the time per token of streams after the first one.
type pace struct {
	sum float64
	n   int
}

func (p *pace) add(log float64) { p.sum += log; p.n++ }

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
		begun: now, not: now.Add(soundOver + soundRest), before: l.calm, work: work,
		most: math.Ceil(work + lineDeep*dev + lineMore), low: work + lineLow*dev + lineOne,
		found: s.found, has: s.has,
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
	if float64(awaiting) < s.low {
		switch past, stood := now.Sub(s.begun), now.Sub(s.from); {
		case !s.from.IsZero() && stood >= soundShort && s.n >= soundFew:
			l.conclude(now, k, stood, inFlight, awaiting)
		case past > soundOver:
			l.silent(now)
		case past > soundFill && now.Sub(s.stood) > soundFill && s.logs >= enough[Stream]:
			l.spacious(now, k, inFlight)
		}
		s.from = time.Time{}
		return
	}
	s.stood = now
	if s.from.IsZero() {
		s.from, s.half, s.n, s.early, s.all, s.log, s.logs, s.pace = now, now.Add(soundLeast/2), 0, slope{}, slope{}, 0, 0, pace{}
		return
	}
	s.n++
	stood := now.Sub(s.from)
	s.all.add(stood.Seconds())
	if now.Before(s.half) {
		s.early.add(stood.Seconds())
	}
	if stood >= soundMost || stood >= soundLeast && s.n >= soundCount {
		l.conclude(now, k, stood, inFlight, awaiting)
	}
}

// conclude ends a sounding in which the line has stood for that long.
func (l *Limit) conclude(now time.Time, k Kind, stood time.Duration, inFlight, awaiting int) {
	s := &l.sounding
	rps, took := s.all.rate(), 1.0
	if s.logs > 0 {
		took = math.Exp(s.log / float64(s.logs))
	}
	grown, more := took/math.Exp(s.before.log/s.before.seconds), rps/s.before.rate()
	usual := s.pace.to(&l.usual)
	switch {
	case grown >= soundGrown && more <= soundMore && usual <= soundSame && s.n >= enough[Stream] && s.steady():
	case grown < soundRoom && more > soundGrown: // more goes in, and comes back as fast
		l.spacious(now, k, inFlight)
		return
	default:
		l.silent(now)
		return
	}
	s.found = Capped{
		RPS: rps, N: s.n, For: stood, Base: l.Base(k), First: seconds(l.base[k] * took), Pace: usual,
	}
	s.has, s.begun = true, time.Time{}
	// The owner's rate holds it now. Until the line has gone nothing tells of that.
	l.free(max(2*l.limit, 2*float64(inFlight), guard/4))
	l.w.from = now.Add(seconds(5 * max(float64(awaiting)-s.work, 0) / rps))
	l.open(now)
}

// spacious ends a sounding in which no line came to stand: what was held for one was
// a base too low.
func (l *Limit) spacious(now time.Time, k Kind, inFlight int) {
	s := &l.sounding
	took := math.Exp(s.log / float64(max(s.logs, 1)))
	if took < soundRoom*math.Exp(s.before.log/s.before.seconds) {
		l.base[k] *= min(max(took, 1), tolerance)
		l.free(max(2*float64(inFlight), guard/4))
	}
	l.silent(now)
}

// to is how many times as long a token took as usual, 0 if that is not known.
func (p *pace) to(usual *pace) float64 {
	if p.n < paceLeast || usual.n < paceLeast {
		return 0
	}
	return math.Exp(p.sum/float64(p.n) - usual.sum)
}

// steady says whether as many came back in the first half as in all of it.
func (s *sounding) steady() bool {
	all, early := s.all.rate(), s.early.rate()
	chance := 2 * math.Sqrt(12*s.work) / max(s.early.n, 1) // of those in work
	return all > 0 && math.Abs(early-all) <= (soundSteady+chance)*all
}

// silent ends a sounding without a finding.
func (l *Limit) silent(now time.Time) {
	s := &l.sounding
	s.begun = time.Time{}
	s.not = now.Add(soundRest)
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

// Quiet says that the owner's rate is known, and was let rise until a line began: for
// a while it needs no sounding to know why.
func (l *Limit) Quiet(now time.Time) { l.quiet = now.Add(soundRest) }

// Wants says whether the vendor is sounded and too few await their first token there.
func (l *Limit) Wants(awaiting int) bool {
	s := &l.sounding
	return !s.begun.IsZero() && float64(awaiting) < (s.low+s.most)/2
}

// Capped returns what a sounding has found, once.
func (l *Limit) Capped() (c Capped, ok bool) {
	s := &l.sounding
	c, ok = s.found, s.has
	s.has = false
	return c, ok
}

// Paced reports how long the tokens of a stream took after the first one, and how
// many they were.
func (l *Limit) Paced(d time.Duration, tokens int) {
	s := d.Seconds() / float64(max(tokens-1, 1))
	if tokens < 2 || !(s > 0) {
		return
	}
	log := math.Log(s)
	if !l.sounding.begun.IsZero() {
		l.sounding.pace.add(log)
	}
	// What is usual falls soon and rises late: an engine that has become slower is not
	// soon the usual one.
	u := &l.usual
	u.n = min(u.n+1, paceDrift)
	part := 1 / float64(u.n)
	if log < u.sum {
		part = max(part, 3.0/paceDrift)
	}
	u.sum += (log - u.sum) * part
}

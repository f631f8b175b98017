package admission

import (
	"math"
	"time"
)

// Kind is how an answer comes. The kinds are in the order of package weights.
type Kind uint8

// The kinds.
const (
	Stream Kind = iota // measured by its first token
	Whole              // measured by all of it
)

// Kinds is how many there are.
const Kinds = 2

const (
	// Floor is the least that a limit leaves, and how many may always await their
	// first token: with less there is nothing to measure.
	Floor = 2
	// guard is what a free vendor may always have in flight.
	guard = 128.0
	// tolerance is the q from which a free vendor counts as saturated.
	tolerance = 1.5
	// surely is what q must be over by twice its standard error, too.
	surely = 1.3
	// The q of a limited vendor is held near 1 + queued, between 1 + queued/2 and 1 + 2·queued,
	// for answers that all take the same time. Where they spread, so that the slowest
	// hundredth takes long without any line, it may be more, at most queuedMost.
	queued, queuedMost = 0.1, 0.25
	// room is what the line may add at most where answers spread no more under load than without:
	// the line adds its time to the slowest hundredth, too, which is to stay within 1.5.
	room = 1.2
	// kept is the part of its places that a saturated vendor keeps from batch work.
	kept = 0.07
	// hold is the part of what is off the target that a window corrects.
	hold = 0.25
	// proof is by how many standard errors of q cuts must have been meant to make
	// answers faster before they say anything, and misses how many it must have been
	// off, summed over windows, until it is believed that they did not.
	proof, misses = 1.4, 3.0
	// brown is how much over high the least q is that is one: a little above high a
	// limit is held, not doubted.
	brown = 0.15
	// ripen is after how many times base the answers to what began at a moment are
	// back but for the slowest hundredth.
	ripen = 2.5
	// young is for how many windows base is their mean.
	young = 20
	// rise is by how much base follows upward what it rests on, beside chance, and
	// slack the time constant of that: a line that grows slowly is not to be taken for usual.
	rise  = 1.1
	slack = 5 * time.Minute
	// settled is how long a limit is kept that nobody has run into.
	settled = 10 * time.Second
	// drift is the time constant with which base follows, and far the q under which
	// it follows at once.
	far   = 0.85
	drift = 30 * time.Second
	// shortest is the least time that a window takes, and longest the most.
	shortest, longest = 100 * time.Millisecond, 30 * time.Second
	// pause is after what time without any the first ones back say nothing.
	pause = 3 * time.Second
	// deepest is the part of what is in flight that a cut leaves at least, and
	// deepestLong the same where answers take lineLong times what they do without load:
	// the longer the line, the later the next look at it.
	deepest, deepestLong, lineLong = 0.5, 0.2, 5.0
)

// enough is how many samples of a kind make a window: the logarithms of first
// tokens spread by about 0.35, those of whole answers by about twice that.
var enough = [Kinds]int{20, 40}

// Limit is the limit of attempts in flight of one vendor. The zero value is
// that of one of which nothing is known.
type Limit struct {
	limit    float64
	limiting bool           // the vendor was seen saturated
	base     [Kinds]float64 // seconds, unloaded
	took     [Kinds]float64 // seconds, mean of whole attempts while free
	rate     float64        // answers begun or ended per second, of the last window
	grown    int            // windows in a row in which it grew
	turned   time.Time      // when somebody was last sent elsewhere
	heard    time.Time      // when the last one came back
	cut      cut
	probe    probe
	best     best
	firsts   [Kinds]firsts
	anchor   [Kinds]float64 // base may rise above it by so much only
	allow    [Kinds]float64
	spread   [Kinds]float64 // variance of the logarithms of times
	busy     [Kinds]float64 // the same while limited
	seen     [Kinds]int     // samples that base rests on
	w        window
	rates    [Kinds]float64 // rate by kind
	carried  [Kinds]float64 // the same while free, on average
	proven   bool           // an overload has shown, see Spare
	risen    bool           // in the last window clearly more began than it carried
	first    [Kinds]float64 // seconds, mean of the same attempts' samples
	calm     calm
	sounding sounding
	quiet    time.Time // no sounding before
	crowded  time.Time // when somebody last found no room anywhere
}

// window is what came in since the last look.
type window struct {
	opened time.Time
	from   time.Time     // attempts begun before do not tell of the present limit
	ripe   time.Time     // until then only the fastest of the others are back
	ripens time.Duration // after the first of them began
	n      [Kinds]int
	sum    [Kinds]float64 // of the logarithms of seconds
	square [Kinds]float64 // of their squares
	back   [Kinds]int
	begun  int
	peak   int
	turned bool
	lent   bool    // more than the limit were let in
	over   float64 // sum over samples of how many more were in flight
}

// cut is a row of cuts whose effect is awaited.
type cut struct {
	active bool
	q      float64
	flight float64 // before
	per    float64 // what one attempt less should take off q
	missed float64
}

// Room says whether one more attempt of a lane may begin beside so many in
// flight, of which so many await their first token. Before a saturated vendor the
// batch lane leaves a few places, so that an interactive request finds one at once
// while batch work fills all others. Where nobody waits for a first token there is
// room whatever the limit: streams that go on for long are no line, and one more
// shows how it stands.
func (l *Limit) Room(lane Lane, inFlight, awaiting int) bool {
	if !l.known() || awaiting < Floor-int(lane) {
		return true
	}
	most := max(l.limit, Floor)
	if s := &l.sounding; !s.begun.IsZero() {
		inFlight, most = awaiting, s.most
	}
	if lane == Batch && l.limiting {
		most = max(most-max(min(1, most/4), kept*most), 1)
	}
	return float64(inFlight+1) <= most
}

// known says whether there is a figure to go by.
func (l *Limit) known() bool { return l.base[Stream] > 0 || l.base[Whole] > 0 }

// Turned says that an attempt was sent elsewhere, or waits, for want of room.
func (l *Limit) Turned(now time.Time) { l.turned, l.w.turned = now, true }

// Value returns the limit in force; false while nobody is kept out by it.
func (l *Limit) Value() (limit float64, ok bool) {
	return math.Floor(max(l.limit, Floor)), l.limiting
}

// Base returns what a kind takes without load: a first token, or a whole
// answer; 0 unknown.
func (l *Limit) Base(k Kind) time.Duration { return seconds(l.base[k]) }

// Slack returns how much longer a kind may take from the request on so that the
// slowest hundredth stays within 1.5 times what it takes without load, beside what the
// line at the vendor adds; 0 unknown.
func (l *Limit) Slack(k Kind) time.Duration {
	return seconds(l.base[k] * min(max((0.5-l.queued(k))*l.tail(k)-0.4, apart), apartMost))
}

// Typical returns what an attempt of a kind takes from its beginning to its
// end, without load; 0 unknown.
func (l *Limit) Typical(k Kind) time.Duration { return seconds(l.took[k]) }

// Rate returns how many attempts per second get a place when all are taken; 0
// unknown.
func (l *Limit) Rate() float64 {
	if l.limiting {
		return l.rate
	}
	if s := max(l.took[Stream], l.took[Whole], l.base[Stream], l.base[Whole]); s > 0 {
		return l.limit / s
	}
	return 0
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// Took reports how long a good attempt was under way.
func (l *Limit) Took(k Kind, d time.Duration) {
	if !l.limiting {
		mean(&l.took[k], d.Seconds())
	}
}

// mean follows a time.
func mean(m *float64, s float64) {
	switch {
	case s <= 0:
	case *m == 0:
		*m = s
	default:
		*m += (s - *m) * 0.05
	}
}

// Sample reports the time of an attempt that began at begun: that of its first
// token or of its whole answer, or the age at which one of our clocks ended it. So
// many are in flight, and so many of them await their first token.
func (l *Limit) Sample(now, begun time.Time, k Kind, d time.Duration, inFlight, awaiting int) {
	w := &l.w
	if w.opened.IsZero() {
		w.opened = now
	}
	w.back[k]++
	s := d.Seconds()
	if !l.limiting {
		mean(&l.first[k], s)
	}
	l.sounded(now, begun, k, s, inFlight, awaiting)
	if now.Sub(l.heard) > pause { // as after a cut: the fastest are back first
		w.from, w.ripe, w.ripens = begun, time.Time{}, seconds(ripen*l.base[k])
	}
	l.heard = now
	if median, dev, n := l.firsts[k].add(now, begun, s); n > 0 {
		l.base[k], l.anchor[k] = median, median
		l.allow[k], l.seen[k] = rise*math.Exp(2.5*dev/math.Sqrt(float64(n))), n
		l.spread[k], l.busy[k] = dev*dev, dev*dev
		l.open(now)
		return
	}
	if !(s > 0) || begun.Before(w.from) {
		return
	}
	if w.ripe.IsZero() {
		w.ripe = begun.Add(w.ripens)
	}
	if now.Before(w.ripe) {
		return
	}
	w.n[k]++
	log := math.Log(s)
	w.sum[k] += log
	w.square[k] += log * log
	w.peak = max(w.peak, inFlight)
	w.over += max(float64(inFlight)-l.limit, 0)
	if !l.limiting {
		l.widen(k, s, inFlight)
	}
	l.look(now, inFlight)
}

// widen raises the guard of a free vendor whose answers are good.
func (l *Limit) widen(k Kind, s float64, inFlight int) {
	n := float64(inFlight)
	switch {
	case !l.known():
		l.limit = max(l.limit, guard, 2*n)
	case 2*n > l.limit && (l.base[k] == 0 || s < 2*l.base[k]):
		l.limit += 3
	}
}

// Tick ends what has become old; call it about once a second.
func (l *Limit) Tick(now time.Time, inFlight int) {
	l.w.peak = max(l.w.peak, inFlight)
	if s := &l.sounding; !s.begun.IsZero() && now.Sub(s.begun) > soundOver {
		l.silent(now)
	}
	if l.limiting && now.Sub(l.turned) >= settled {
		l.free(max(2*l.limit, guard))
	}
	if !l.w.opened.IsZero() && now.Sub(l.w.opened) > longest {
		l.open(now)
	}
}

// Reset forgets everything but how long answers take without load.
func (l *Limit) Reset() {
	before := *l
	*l = Limit{
		limit: guard, base: l.base, anchor: l.anchor, allow: l.allow, spread: l.spread, took: l.took, first: l.first, seen: l.seen,
		carried: l.carried, crowded: l.crowded,
	}
	for k, f := range before.firsts {
		if f.done {
			l.firsts[k] = f
		}
	}
}

func (l *Limit) free(limit float64) {
	l.limiting, l.limit, l.cut, l.grown, l.best = false, limit, cut{}, 0, best{}
	l.probe.active = false
	l.sounding.begun, l.calm, l.proven = time.Time{}, calm{}, false
}

func (l *Limit) open(now time.Time) {
	l.w = window{opened: now, from: l.w.from, ripe: l.w.ripe, ripens: l.w.ripens}
}

// look closes the window if it holds enough.
func (l *Limit) look(now time.Time, inFlight int) {
	if !l.sounding.begun.IsZero() {
		return
	}
	w := &l.w
	past := now.Sub(w.opened)
	if past < shortest {
		return
	}
	k := Stream
	if w.n[k] < enough[k] {
		k = Whole
	}
	if w.n[k] < enough[k] || l.probe.active && w.n[k] < 2*enough[k] || past.Seconds() < l.base[k] {
		return
	}
	l.rate = float64(w.back[Stream]+w.back[Whole]) / past.Seconds()
	for k, n := range w.back {
		l.rates[k] = float64(n) / past.Seconds()
	}
	l.risen = l.rises(past)
	x := math.Exp(w.sum[k] / float64(w.n[k]))
	switch {
	case l.base[k] == 0: // the first ones are not back
	case l.limiting:
		l.busy[k] += (l.w.variance(k) - l.busy[k]) * 0.1
		l.steer(now, k, x, inFlight)
	default:
		l.guard(now, k, x, inFlight)
	}
	l.open(now)
}

// doubt is the standard error of the mean logarithm of a kind.
func (w *window) doubt(k Kind) float64 {
	return math.Sqrt(w.variance(k) / float64(w.n[k]))
}

// variance is that of the logarithms of a kind.
func (w *window) variance(k Kind) float64 {
	n := float64(w.n[k])
	mean := w.sum[k] / n
	return max(w.square[k]/n-mean*mean, 0)
}

// tail is how many times its median the slowest hundredth of a kind takes.
func (l *Limit) tail(k Kind) float64 { return math.Exp(2.33 * math.Sqrt(l.spread[k])) }

func (l *Limit) queued(k Kind) float64 {
	wider := math.Sqrt(l.busy[k]) - math.Sqrt(l.spread[k])
	return min(max(room*math.Exp(-2.33*wider)-1, queued), queuedMost) + l.unsure(k)
}

// unsure is the standard error of base, as a logarithm.
func (l *Limit) unsure(k Kind) float64 {
	return 1.25 * math.Sqrt(l.spread[k]/float64(max(l.seen[k], 1)))
}
func (l *Limit) low(k Kind) float64    { return 1 + l.queued(k)/2 }
func (l *Limit) target(k Kind) float64 { return 1 + l.queued(k) }
func (l *Limit) high(k Kind) float64   { return 1 + 2*l.queued(k) }
func (l *Limit) brown(k Kind) float64  { return l.high(k) + brown }

// guard looks at a free vendor.
func (l *Limit) guard(now time.Time, k Kind, x float64, inFlight int) {
	q := x / l.base[k]
	if q >= tolerance && q >= surely*math.Exp(2*l.w.doubt(k)) {
		l.limiting = true
		for k := range l.base { // what it has risen by of late may have been the line
			l.base[k] = min(l.base[k], l.anchor[k])
		}
		room := l.room(k, x/l.base[k], inFlight)
		l.shrink(now, k, x, inFlight, room)
		return
	}
	l.follow(now, k, x)
	l.carry(now.Sub(l.w.opened).Seconds())
	if peak := float64(l.w.peak); l.limit > max(guard, 4*peak) {
		l.limit = max(guard, 4*peak, l.limit*0.98)
	}
}

// room is what a vendor holds that was just seen saturated: as much as it
// answers in the time that an attempt takes without load. That it is more than
// what Little's law leaves says only that the answers have become longer.
func (l *Limit) room(k Kind, q float64, inFlight int) float64 {
	left := float64(inFlight) - l.excess(k, q)
	sum, n := 0.0, 0
	for k, back := range l.w.back {
		if back > 0 && l.took[k] > 0 {
			sum += max(l.took[k]-max(l.first[k]-l.base[k], 0), l.base[k]) * float64(back)
			n += back
		}
	}
	if n == 0 {
		return left
	}
	return min(left, l.rate*sum/float64(n)*l.target(k))
}

// excess is how many wait at the vendor beyond the target, but for those that it was lent.
func (l *Limit) excess(k Kind, q float64) float64 {
	n := l.rate * l.base[k] * (q - l.target(k))
	if w := &l.w; w.lent && n > 0 {
		n = max(n-w.over/float64(w.n[k]), 0)
	}
	return n
}

// follow lets base follow x: slowly, because the noise of windows is no news,
// and at once by what its samples are worth where x is far below.
func (l *Limit) follow(now time.Time, k Kind, x float64) {
	past, n, sure := now.Sub(l.w.opened).Seconds(), float64(l.w.n[k]), l.w.doubt(k)
	part := past / drift.Seconds()
	if x < far*l.base[k]*math.Exp(-2*sure) {
		part = max(part, n/float64(5*enough[k]))
	}
	still := past / slack.Seconds()
	if math.Abs(math.Log(x/l.anchor[k])) < 2*math.Hypot(sure, l.unsure(k)) {
		l.seen[k] += l.w.n[k]
		if l.seen[k] < young*enough[k] {
			part = max(part, n/float64(l.seen[k]))
		}
		still = max(still, n/float64(l.seen[k]))
		l.spread[k] += (l.w.variance(k) - l.spread[k]) * 0.1
		l.busy[k] = l.spread[k]
	}
	l.anchor[k] += (x - l.anchor[k]) * min(still, 1)
	if x > l.base[k] {
		x = max(min(x, l.allow[k]*l.anchor[k]), l.base[k])
	}
	l.base[k] += (x - l.base[k]) * min(part, 1)
	l.anchor[k] = min(l.anchor[k], 1.1*l.base[k])
}

// steer looks at a limited vendor.
func (l *Limit) steer(now time.Time, k Kind, x float64, inFlight int) {
	if l.probe.active {
		l.probed(now, k, x)
		return
	}
	q, sure := x/l.base[k], l.w.doubt(k)
	if l.probes(now, k, x, q) {
		return
	}
	if l.slower(q, sure, k) {
		for k := range l.base {
			l.base[k] *= q
			l.anchor[k] = l.base[k]
		}
		l.free(max(2*l.cut.flight, guard))
		return
	}
	if l.starves(now.Sub(l.w.opened), k, q) {
		return
	}
	switch {
	case q > l.high(k) && q > l.target(k)*math.Exp(2*sure):
		l.shrink(now, k, x, inFlight, l.limit-l.excess(k, q))
	case q < l.low(k)*math.Exp(sure/2) && l.w.turned:
		l.cut = cut{}
		l.grown++
		if !l.w.lent {
			l.limit = max(l.limit, float64(inFlight))
		}
		step := max(0.5, -l.excess(k, q))
		l.limit += min(step*(1+float64(l.grown-1)/2), l.limit/12)
	case q < l.target(k) && l.w.turned:
		l.grown++
		l.limit -= hold * l.excess(k, q) * (1 + float64(l.grown-1)/2)
	case q >= l.target(k):
		l.grown = 0
		l.limit = max(l.limit-hold*l.excess(k, q), Floor)
	}
	if q < far*math.Exp(-2*sure) {
		l.follow(now, k, x)
	}
	if q > max(l.high(k), l.target(k)+1/max(l.rate*l.base[k], 1e-9)) { // one place more is that much where few are in work
		l.calm = calm{}
	} else if l.w.turned {
		l.calm.add(now.Sub(l.w.opened), l.w.back[Stream]+l.w.back[Whole], math.Log(q))
		l.sound(now)
	}
}

// slower says that cuts have made nothing faster: what takes longer is the
// vendor, not its queue. The first window under a limit is what the later ones
// are held against; the one before it told of a queue that was still growing.
func (l *Limit) slower(q, sure float64, k Kind) bool {
	c := &l.cut
	switch {
	case !c.active:
		return false
	case q <= l.high(k):
		*c = cut{}
		return false
	case c.q == 0:
		c.q, c.flight, c.per = q, l.limit, 1/max(l.rate*l.base[k], 1e-9)
		return false
	}
	gone := c.flight - l.limit
	due := min(gone*c.per, c.q*gone/c.flight, c.q-l.low(k)) // a line in front of the work, or work that is shared
	unit := q * max(sure, 0.01)
	if due < proof*unit {
		return false
	}
	c.missed = max(c.missed+(q-c.q+due/2)/unit, 0) // halfway tells no effect from all of it
	return c.missed >= misses && q >= l.brown(k)
}

// shrink cuts the limit. Attempts begun from now on tell of the new one,
// because none begins before there is room.
func (l *Limit) shrink(now time.Time, k Kind, x float64, inFlight int, to float64) {
	before := float64(inFlight)
	if l.cut.active {
		before = min(before, l.limit)
	} else {
		l.cut = cut{active: true}
	}
	l.grown = 0
	part := deepest
	if x > lineLong*l.base[k] {
		part = deepestLong
	}
	l.limit = max(to, part*before, Floor)
	l.turned, l.w.from, l.w.ripe = now, now, time.Time{}
	l.w.ripens = seconds(ripen * x * min(l.limit/max(before, 1), 1))
}

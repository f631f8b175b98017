package weights

import (
	"math"
	"time"
)

// room is what the law believes one vendor can take: the memory that keeps it from walking back into the same
// overload every time the queue has drained. It has two sources.
//
// The cap is what package limit measured; it is taken at once when it falls and followed slowly when it rises.
//
// The edge is an overload that the law saw itself. Overload is told from plain slowness by what relief does:
// latency that falls while the weight falls came from load, and what was completed meanwhile, in requests per
// second, is what the vendor can do. It is trusted with a part of that for EdgeHold, twice as long each time
// the same edge is met again, and then with more and more until the edge is forgotten. Where a limit was
// learned there is none: admission keeps under that, and it is measured.
type room struct {
	cap      float64 // share of all traffic; 1 none
	capSince float64 // seconds since it was last lowered

	edge  float64 // requests per second completed in the last overload, 0 none
	keep  float64 // part of the edge it is trusted with
	past  float64 // seconds since it was well past the edge
	until time.Duration
	hold  time.Duration

	open   bool          // an episode: much slower than its own baseline, and behind the best
	opened float64       // seconds since it began
	weight float64       // when it began
	peak   float64       // largest latency in it, seconds
	done   float64       // what was completed at its height, requests per second
	was    float64       // the weight at the last tick
	cut    time.Duration // when it last fell
	most   float64       // most that was completed in it: a stall catches up afterwards, an overload cannot
	proved bool          // it came from load

	recent  [5]float64 // latency, seconds
	falling bool
	patient time.Duration // until then relief is given time to work
	asOf    float64       // the latency when it was given
}

func (r *room) forget() { *r = room{cap: 1} }

// share is the room as a share of all traffic when rate requests per second are offered.
func (r *room) share(rate float64) float64 {
	s := r.cap
	if r.edge > 0 && rate > 0 {
		s = math.Min(s, r.keep*r.edge/rate)
	}
	return s
}

// relieved says whether the vendor's load was just cut and latency does not say that it was in vain.
func (r *room) relieved(clock time.Duration) bool {
	now := r.recent[len(r.recent)-1]
	return r.proved && r.falling || clock < r.patient && now < 1.3*r.asOf
}

func (r *room) wait(p *Params, clock time.Duration) {
	r.patient, r.asOf = clock+p.Patience, r.recent[len(r.recent)-1]
}

// feel updates every vendor's room from this tick's figures. It needs the vendors' r.
func (l *Law) feel(ms []Measure, dt float64) {
	total := 0
	for i := range ms {
		for k := range ms[i].Latency {
			total += max(ms[i].Latency[k].Requests60, 0)
		}
	}
	l.rate = float64(total) / 60
	for i := range ms {
		v, m := &l.vendors[i], &ms[i]
		if !m.State.living() {
			continue
		}
		v.room.grow(l, dt)
		if limit := math.Max(m.Cap, l.p.Floor); limit < v.room.cap {
			if limit < v.w-l.p.Exit {
				v.room.wait(&l.p, l.clock)
			}
			v.room.cap, v.room.capSince = limit, 0
		}
		switch {
		case m.Measured: // what it can take is known better than by an overload
			v.room.edge, v.room.hold, v.room.open, v.room.proved = 0, 0, false, false
		case dt > 0:
			l.episode(v, float64(m.Known10)/10, dt)
		}
	}
}

// quicken is a growth that starts at p.RoomRise a second and is ten times as fast after three minutes.
func quicken(p *Params, seconds float64) float64 {
	t := seconds / 60
	return p.RoomRise * (1 + t*t)
}

func (r *room) grow(l *Law, dt float64) {
	r.capSince += dt
	r.cap = math.Min(r.cap*(1+quicken(&l.p, r.capSince)*dt), 1)
	if r.edge == 0 {
		return
	}
	if l.clock < r.until {
		r.keep = math.Min(r.keep*(1+l.p.RoomRise*dt), math.Max(r.keep, l.p.EdgeNear))
		return
	}
	if r.keep < 1.05 {
		r.keep *= 1 + l.p.RoomRise*dt // past the edge as slowly as up to it, so that meeting it is gentle
		r.past = 0
		return
	}
	r.past += dt
	r.keep *= 1 + quicken(&l.p, r.past)*dt
	if r.keep > 1.5 {
		r.edge, r.hold = 0, 0
	}
}

// episode follows one spell of slowness; done is what the vendor completes, in requests per second.
func (l *Law) episode(v *vendor, done, dt float64) {
	r, now, base := &v.room, v.latency[Stream].value, v.baseline[Stream]
	if math.IsNaN(now) {
		now, base = v.latency[Whole].value, v.baseline[Whole]
	}
	if math.IsNaN(now) {
		return
	}
	before := r.recent[0]
	copy(r.recent[:], r.recent[1:])
	r.recent[len(r.recent)-1] = now
	r.falling = before > 0 && now < 0.95*before
	slow := now > l.p.Strain*base && v.r > 1.1
	switch {
	case !r.open && slow:
		r.open, r.opened, r.weight, r.peak, r.done, r.most, r.proved = true, 0, v.w, now, 0, 0, false
	case r.open && !slow && now < 1.2*base:
		r.open = false
	}
	if v.w < r.was-1e-4 {
		r.cut = l.clock
	}
	r.was = v.w
	if !r.open {
		return
	}
	r.opened += dt
	r.peak = math.Max(r.peak, now)
	switch {
	case r.opened >= 3 && r.done == 0:
		r.done = done
	case r.opened >= 3 && now >= 0.95*r.peak: // while it is saturated it completes what it can
		r.done += 0.2 * dt * (done - r.done)
	}
	if r.opened >= 6 {
		r.most = math.Max(r.most, done)
	}
	if r.proved || r.done == 0 {
		return
	}
	again := r.edge > 0 && v.w*l.rate > l.p.RoomKeep*r.edge
	// What becomes faster long after its load was cut has recovered by itself.
	eased := l.clock-r.cut <= l.p.CutShows && now < l.p.Eased*r.peak && v.w < 0.97*r.weight && r.most > 0 && r.most < 1.1*r.weight*l.rate
	if again || eased {
		r.proved = true
		r.met(&l.p, l.clock, r.weight*l.rate)
	}
}

// met remembers an edge; sent is what the vendor was sent when it became slow.
func (r *room) met(p *Params, clock time.Duration, sent float64) {
	r.hold = min(max(2*r.hold, p.EdgeHold), p.EdgeHoldMax)
	edge := r.done
	if sent > 0 {
		edge = math.Min(edge, sent)
	}
	// A burst at an edge that is known completes less than the vendor can: it must not teach much.
	r.edge = math.Max(edge, 0.97*r.edge)
	r.keep, r.until = p.RoomKeep, clock+r.hold
	r.wait(p, clock)
}

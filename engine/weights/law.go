package weights

import (
	"maps"
	"math"
	"time"
)

// vendor is what the law remembers of one vendor between ticks.
type vendor struct {
	name  string
	base  float64
	band  [2]float64
	state State
	w     float64 // the weight in force
	told  float64 // the weight when Decision.Moved was last true

	latency  [Kinds]figure
	baseline [Kinds]float64 // running minimum of each kind's P90, drifting up
	errors   figure

	beyond, late          bool // over the SLO now; for so long that it goes to its floor
	beyondSince, sloKnown time.Duration
	ceiling               float64       // what the SLO leaves it, 1 everything
	away                  time.Duration // when it was last out of service
	room                  room
	well                  bool
	sickAt                time.Duration

	// of this tick, for reasons
	ramped             bool // its ramp has just ended
	r, excess, against float64
	worst              int // the kind that is furthest behind, -1 none
	alone, capped      bool

	turn turning
}

// forget drops every measurement: a vendor that is out of service starts anew.
func (v *vendor) forget() {
	for k := range v.latency {
		v.latency[k].forget()
		v.baseline[k] = math.NaN()
	}
	v.errors.forget()
	v.beyond, v.late, v.well = false, false, false
	v.turn, v.ceiling = turning{}, 1
	v.room.forget()
	v.r, v.excess, v.worst, v.capped = 1, 0, -1, false
}

// Law is the weight loop of one gateway. It is not safe for concurrent use.
type Law struct {
	p       Params
	vendors []vendor
	known   bool // a tick has been seen
	last    time.Time
	clock   time.Duration // time that passed, as the law believes it: never backwards
	saved   map[string]float64
	rate    float64 // requests per second over 60 s, all vendors

	f, lo, up, yield, target, move, wish []float64 // scratch, one per vendor

	steady     bool // bands hold
	moving     bool // past the deadband
	panicking  bool
	panicSince time.Duration
	pinned     bool
	override   bool
}

// New returns a law that starts at the configured weights of the first measures it is shown.
func New(p Params) *Law { return &Law{p: p} }

// Set makes weights (fractions by name) the ones in force, from which the law goes on with its normal steps.
// Vendors that are not named get nothing until the law or the floor says otherwise. Before the first Tick it
// resumes a saved state.
func (l *Law) Set(weights map[string]float64) {
	if !l.known {
		l.saved = maps.Clone(weights)
		return
	}
	for i := range l.vendors {
		l.target[i] = clampFinite(weights[l.vendors[i].name], 0, 1)
	}
	l.adopt(l.target)
}

// adopt puts w in force unless it is empty, and forgets which way weights were moving.
func (l *Law) adopt(w []float64) {
	normalise(w)
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	if sum == 0 {
		return
	}
	for i := range l.vendors {
		l.vendors[i].w = w[i]
		l.vendors[i].turn = turning{}
	}
	l.moving = false
}

// Resume is Set for weights that were saved at a known time: older than 5 minutes they say nothing about now,
// and the law starts at the configured weights. It reports whether it took them.
func (l *Law) Resume(weights map[string]float64, saved, now time.Time) bool {
	if age := now.Sub(saved); age < -time.Minute || age > 5*time.Minute {
		return false
	}
	l.Set(weights)
	return true
}

// Tick moves the weights by what one second is worth of movement (less or more if less or more has passed
// since the last tick, at most two) and says why. A vendor that is Down or Out has no weight in the Decision
// of the same tick. A pin replaces the weights while it is given; afterwards the law goes on from them.
func (l *Law) Tick(now time.Time, ms []Measure, pin *Pin) Decision {
	dt := l.pass(now)
	ms = sane(ms)
	l.meet(ms)
	for i := range ms {
		l.observe(&l.vendors[i], &ms[i], dt)
	}
	l.score(ms)
	l.ceil(ms, dt)
	l.feel(ms, dt)
	l.aim(ms)
	d := Decision{Reasons: make([]string, len(ms))}
	l.pinned, l.override = pin != nil, pin != nil && pin.Override
	wasPanic := l.panicking
	l.alarm(ms)
	switch {
	case pin != nil && l.hold(ms, pin):
		l.explainPin(d.Reasons)
	case l.panicking:
		l.panicWeights(ms)
		l.explainPanic(d.Reasons)
	default:
		if wasPanic {
			l.adoptBase(ms)
		}
		l.pinned = false
		l.shed(ms)
		l.step(ms, dt, d.Reasons)
		l.explain(ms, d.Reasons)
	}
	l.known, l.saved = true, nil
	return l.publish(d)
}

// sane copies the measures, so that the law never writes into what its owner gave it.
func sane(ms []Measure) []Measure {
	out := make([]Measure, len(ms))
	for i := range ms {
		out[i] = ms[i].sane()
	}
	return out
}

// pass advances the law's own clock and returns the seconds that a tick may act for, at most two: after a
// suspended machine or a jump of the clock one tick must not make up for an hour.
func (l *Law) pass(now time.Time) float64 {
	if !l.known {
		l.last = now
		return 1
	}
	gone := max(now.Sub(l.last), 0)
	l.last = now
	l.clock += min(gone, time.Hour)
	return min(gone, 2*time.Second).Seconds()
}

// publish finishes a decision from the weights in force.
func (l *Law) publish(d Decision) Decision {
	d.Weights = make([]float64, len(l.vendors))
	d.Targets = append(make([]float64, 0, len(l.vendors)), l.target...)
	d.Panic = l.panicking && !l.pinned
	for i := range l.vendors {
		d.Weights[i] = l.vendors[i].w
		d.Moved = d.Moved || math.Abs(l.vendors[i].w-l.vendors[i].told) > 0.0005
	}
	if d.Moved {
		for i := range l.vendors {
			l.vendors[i].told = l.vendors[i].w
		}
	}
	return d
}

// Forget drops what the law believes a vendor can take: a fault or a limit that taught it is over, or people
// say so.
func (l *Law) Forget(name string) {
	for i := range l.vendors {
		if v := &l.vendors[i]; v.name == name {
			v.room.forget()
		}
	}
}

// Drop zeroes a vendor at once, between ticks, and spreads its weight pro rata over the living. If it was the
// last one the decision is panic. An overriding pin stays as it is. The next Tick must say Down too, or the
// vendor comes back.
func (l *Law) Drop(name string) Decision {
	d := Decision{Reasons: make([]string, len(l.vendors))}
	ms := make([]Measure, len(l.vendors))
	for i := range l.vendors {
		v := &l.vendors[i]
		if v.name == name && v.state != Out {
			v.state = Down
			v.forget()
			d.Reasons[i] = "ejected"
		}
		ms[i] = Measure{Name: v.name, Base: v.base, Band: v.band, State: v.state, Cap: math.Inf(1)}
	}
	if l.override {
		return l.publish(d)
	}
	l.alarm(ms)
	if l.panicking {
		l.pinned = false
		l.panicWeights(ms)
		l.explainPanic(d.Reasons)
	} else {
		l.shed(ms)
	}
	for i := range l.vendors {
		if ms[i].State == Down || ms[i].State == Out {
			l.target[i] = 0
		}
	}
	if normalise(l.target); l.panicking || sum(l.target) == 0 {
		for i := range l.vendors {
			l.target[i] = l.vendors[i].w
		}
	}
	return l.publish(d)
}

func sum(w []float64) (s float64) {
	for _, x := range w {
		s += x
	}
	return s
}

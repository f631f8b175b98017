package weights

import (
	"math"
	"time"
)

// turning is one vendor's memory of which way it moved, so that it cannot swing.
type turning struct {
	dir   int8          // of its last move; 0 none yet
	at    time.Duration // when it last moved that way
	turns [4]time.Duration
	n     int // turns remembered, newest last
}

// wait is how long after its last move a vendor may turn round: the hold, doubled for each turn it made
// lately.
func (t *turning) wait(p *Params, clock time.Duration) time.Duration {
	hold := p.RevHold
	for i := range t.n {
		if clock-t.turns[i] < p.RevMemory {
			hold *= 2
		}
	}
	return min(hold, p.RevHoldMax)
}

func (t *turning) note(dir int8, clock time.Duration) {
	if t.dir != 0 && t.dir != dir {
		if t.n == len(t.turns) {
			copy(t.turns[:], t.turns[1:])
			t.n--
		}
		t.turns[t.n] = clock
		t.n++
	}
	t.dir, t.at = dir, clock
}

func direction(move float64) int8 {
	switch {
	case move > 1e-4:
		return 1
	case move < -1e-4:
		return -1
	}
	return 0
}

// urgency is what a tick is allowed to do, decided by the most urgent vendor.
type urgency struct {
	ramp    bool // somebody recovers
	fast    bool // somebody sheds for errors or a cap
	overCap bool
	late    bool // somebody sinks for the SLO
	outside bool // some weight is outside its bounds
	largest float64
}

func (l *Law) urgency(ms []Measure) (u urgency) {
	for i := range ms {
		if !ms[i].State.living() {
			continue
		}
		v := &l.vendors[i]
		d := l.target[i] - v.w
		u.largest = math.Max(u.largest, math.Abs(d))
		u.ramp = u.ramp || ms[i].State == Ramp
		over := v.capped && v.w > ms[i].Cap*(1+l.p.CapSlack)
		u.overCap = u.overCap || over
		u.late = u.late || v.late && v.ceiling < v.w
		u.fast = u.fast || over || v.excess >= l.p.ErrorSick && d < -1e-4
		if ms[i].State == Well {
			u.outside = u.outside || v.w < l.lo[i]-1e-6 || v.w > l.up[i]+1e-6
		}
	}
	return u
}

// step moves the weights toward their targets: deadband, slew with one common factor, reversal hold, floors.
func (l *Law) step(ms []Measure, dt float64, reasons []string) {
	u := l.urgency(ms)
	if l.rest(u) {
		l.enforce(ms)
		return
	}
	alpha, step := l.p.Alpha, l.p.Step
	if u.late {
		alpha = math.Max(alpha, l.p.AlphaLate)
	}
	if u.ramp {
		alpha, step = l.p.AlphaRamp, l.p.StepRamp
	}
	if u.fast {
		alpha, step = math.Max(alpha, l.p.AlphaFast), math.Max(step, l.p.StepFast)
	}
	factor := math.Min(1-math.Pow(1-alpha, dt), step*dt/u.largest)
	if u.outside && u.largest < l.p.Exit {
		factor = 1 // a weight never rests just outside its band
	}
	for i := range ms {
		l.move[i] = 0
		if ms[i].State.living() {
			l.move[i] = factor * (l.target[i] - l.vendors[i].w)
		}
	}
	l.holdTurns(ms, u, reasons)
	for i := range ms {
		v := &l.vendors[i]
		v.w = clampFinite(v.w+l.move[i], 0, 1)
		if dir := direction(l.move[i]); u.ramp {
			v.turn = turning{}
		} else if dir != 0 {
			v.turn.note(dir, l.clock)
		}
	}
	l.enforce(ms)
}

// rest is the deadband: weights that are near enough stay where they are.
func (l *Law) rest(u urgency) bool {
	if u.largest < 1e-9 {
		l.moving = false
		return true
	}
	if u.ramp || u.overCap || u.outside {
		l.moving = true
		return false
	}
	if l.moving {
		l.moving = u.largest >= l.p.Exit
	} else {
		l.moving = u.largest >= l.p.Enter
	}
	return !l.moving
}

// holdTurns cancels the move of every vendor that would turn round inside its hold, and shrinks the larger
// side of the rest so that the moves sum to 0. Shedding for errors or a cap and ramps are free to turn, and so
// is then whoever takes the traffic. A vendor in need of relief is free to turn down, and the others are when
// nobody else could take what it gives.
func (l *Law) holdTurns(ms []Measure, u urgency, reasons []string) {
	if u.ramp || u.fast {
		return
	}
	copy(l.wish, l.move)
	held, relief, gain, loss := false, false, 0.0, 0.0
	for i := range ms {
		v := &l.vendors[i]
		eased := l.relief(v, l.move[i])
		relief = relief || eased
		if left := l.held(v, l.move[i], u); left > 0 && !eased {
			l.move[i], held = 0, true
			reasons[i] = explainHold(v.turn.dir, l.clock-v.turn.at, left)
		}
		gain += math.Max(l.move[i], 0)
		loss -= math.Min(l.move[i], 0)
	}
	if !held {
		return
	}
	if relief && gain == 0 {
		copy(l.move, l.wish)
		clear(reasons)
		return
	}
	both := math.Min(gain, loss)
	for i := range l.move {
		switch {
		case l.move[i] > 0:
			l.move[i] *= both / gain
		case l.move[i] < 0:
			l.move[i] *= both / loss
		}
	}
}

// held is for how long a vendor may not yet move this way, at most 0 if it may.
func (l *Law) held(v *vendor, move float64, u urgency) time.Duration {
	t, dir := &v.turn, direction(move)
	if dir == 0 || t.dir == 0 || dir == t.dir {
		return 0
	}
	wait := t.wait(&l.p, l.clock)
	if u.outside {
		wait = l.p.RevHold
	}
	return wait - (l.clock - t.at)
}

// relief says whether a vendor sheds because it is much slower than the best: that must not wait for a hold
// that was meant to stop swings, so only the way back up is held for long.
func (l *Law) relief(v *vendor, move float64) bool {
	return v.r >= l.p.ReliefAt && move < -1e-4 && (v.turn.dir <= 0 || l.clock-v.turn.at >= l.p.Relief)
}

// enforce lifts every vendor that is well to its floor at once, at the cost of those above theirs, and makes
// the sum exact.
func (l *Law) enforce(ms []Measure) {
	missing, spare := 0.0, 0.0
	for i := range ms {
		w, floor := l.vendors[i].w, l.floor(&ms[i], i)
		missing += math.Max(floor-w, 0)
		spare += math.Max(w-floor, 0)
	}
	for i := range ms {
		v, floor := &l.vendors[i], l.floor(&ms[i], i)
		l.move[i] = v.w
		if missing > 0 && spare > 0 {
			if v.w < floor {
				l.move[i] = floor
			} else {
				l.move[i] = v.w - (v.w-floor)*math.Min(missing/spare, 1)
			}
		}
	}
	normalise(l.move)
	for i := range ms {
		l.vendors[i].w = l.move[i]
	}
}

func (l *Law) floor(m *Measure, i int) float64 {
	if m.State != Well {
		return 0
	}
	return math.Min(l.lo[i], math.Min(l.p.Floor, m.Band[0]))
}

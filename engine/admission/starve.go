package admission

import (
	"math"
	"time"
)

// A base that is a little too low sees a line where none is, cuts, sees it still, and
// cuts again. What comes back tells: fewer in flight at a full vendor are a shorter
// line and no loss, fewer at one that is not full are fewer answers. So a cut that
// takes answers away in proportion is undone, and base is what they take then: without
// a line.

const (
	// starved is by how much what comes back must have fallen, beside chance, and
	// starvedPart relative to the limit. recent is the part of a window in what is
	// held against the best.
	starved, starvedPart = 0.05, 0.5
	recent               = 0.2
	// noise is that before it is known: what many do at once comes back in bursts.
	noise = 0.02
)

// best is what came back per second while all places were taken, and the least limit
// with which it did.
type best struct {
	rate, limit float64
	windows     float64 // that rate is worth
	now         float64 // per second, of the last few windows
	noise       float64 // variance of the logarithm of what a window says
}

// worth is how many windows their mean is, of which the last counts for recent.
const worth = (2 - recent) / recent

// starves looks at whether the limit takes answers away, and raises it then. What
// takes much longer than base is doubted otherwise.
func (l *Limit) starves(past time.Duration, k Kind, q float64) bool {
	b := &l.best
	if !l.w.turned || q >= l.brown(k) {
		return false
	}
	if b.rate == 0 {
		*b = best{rate: l.rate, limit: l.limit, windows: 1, now: l.rate, noise: noise}
		return false
	}
	off := math.Log(l.rate / b.now)
	b.noise += (off*off*worth/(worth+1) - b.noise) * recent / 2
	b.now += (l.rate - b.now) * recent
	chance := math.Sqrt(b.noise * (1/worth + 1/b.windows))
	lost, less := math.Log(b.rate/b.now), math.Log(b.limit/l.limit)
	switch {
	case lost > starved+2*chance && lost > starvedPart*less && less > 0:
		l.limit = min(l.limit*b.rate/b.now, b.limit)
		up := max(min(q/l.target(k), l.allow[k]*l.anchor[k]/l.base[k]), 1)
		for k := range l.base {
			l.base[k] *= up
		}
		*b, l.cut, l.grown = best{}, cut{}, 0
		return true
	case lost <= 0:
		b.rate, b.limit, b.windows = b.now, l.limit, worth
	default:
		b.rate += (b.now - b.rate) * min(past.Seconds()/drift.Seconds(), 1)
	}
	return false
}

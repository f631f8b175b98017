package limit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// gap is the least time since the last accepted attempt that a vendor wants.
type gap struct {
	low, high   float64 // seconds: the longest that was refused, and the shortest that was accepted
	under, over int     // attempts refused and accepted that came within gapNear of it
}

// off is what the rate may be off by, relative.
func (g gap) off() float64 { return (g.high - g.low) / (g.high + g.low) }

const (
	gapOff    = 0.025            // what a rate may be off by
	gapNear   = 0.15             // relative
	gapEdge   = 0.005            // of a number, for what is measured of it
	gapAside  = 1.14             // from the middle of what it may be
	gapCost   = 0.1              // the largest cost that is believed
	gapSides  = 3                // attempts on each side near it that are enough
	gapNearer = 0.92             // of the distance, to be refused by a vendor that wants all of it
	gapSafe   = 1.01             // of it, to be accepted
	gapCalm   = 2                // attempts that are accepted between two of those
	gapShort  = 3 * time.Second  // attempts are spaced at least
	gapWrong  = 0.125            // of those near it may contradict it
	gapLong   = 13 * time.Second // then it is what it is known to be
	gapEnd    = 25 * time.Second // without a refusal
)

// approach sends attempts at distances that tell better what a vendor wants: hardly more
// than what it refused while that is far from what it accepts, then at times a little less.
type approach struct {
	gap   gap // high 0: none
	began time.Time
	from  float64 // what was sent since then tells, in seconds since the start
	calm  int     // attempts since the last that was refused
}

func (a *approach) on() bool { return a.gap.high > 0 }

// aim takes what is known now.
func (a *approach) aim(now time.Time, from float64, g gap) {
	if !a.on() {
		a.began, a.from = now, from
	}
	a.gap = g
}

// apart is how many seconds after the last attempt that was not refused the next one
// may be sent; tried says that one was refused since.
func (a *approach) apart(tried bool) float64 {
	switch {
	case tried:
		return gapSafe * a.gap.high
	case a.gap.off() > gapOff:
		return a.gap.low + 0.02*(a.gap.high-a.gap.low)
	case a.calm < gapCalm:
		return gapSafe * a.gap.high
	}
	return gapNearer * a.gap.high
}

// next is the earliest moment, in seconds since the start.
func (a *approach) next(past *sends) float64 {
	last, tried := past.accepted(len(past.ring))
	if last == nil {
		return 0
	}
	return last.at + a.apart(tried)
}

// refused takes a distance that was too short.
func (a *approach) refused(begun time.Time, past *sends) {
	a.calm = 0
	t := past.seconds(begun)
	if last, _ := past.accepted(past.from(t - 1e-6)); last != nil && t-last.at < a.gap.high {
		a.gap.low = max(a.gap.low, t-last.at)
	}
}

// spacing finds the distance that a vendor wants between attempts. Whoever is flooded
// accepts at even distances: what counts is what was sent since they are spaced.
func (l *Limiter) spacing(now time.Time, from float64, all []sent, f fitted) (found, bool) {
	a := &l.shape.even
	a.aim(now, from, f.gap)
	began := l.sends.seconds(a.began)
	first, _ := slices.BinarySearchFunc(all, began, func(x sent, t float64) int { return cmp.Compare(x.at, t) })
	spaced := fitGap(all[first:])
	sure := spaced.cost <= gapWrong*float64(spaced.gap.under+spaced.gap.over) && spaced.gap.off() <= gapOff && spaced.gap.under >= gapSides && spaced.gap.over >= gapSides
	if long := now.Sub(a.began); long < gapShort || long < gapLong && !(sure && l.said[RPS]+l.said[Concurrency] > explained) {
		return found{}, false
	}
	next := found{rps: f.rps, burst: f.burst, mass: float64(f.accepted), cost: f.cost, refusals: f.refused + 1}
	next.evidence = fmt.Sprintf("429 on %d of %d in %.0f s, those that came sooner than 1/%.1f s after another", f.refused+1, f.refused+1+f.accepted, f.long, f.rps)
	if f.gap.off() > gapOff {
		next.evidence = fmt.Sprintf("429 on %d of %d in %.0f s: it wants attempts between 1/%.1f and 1/%.1f s apart, of which %.1f/s is the roundest", f.refused+1, f.refused+1+f.accepted, f.long, 1/f.gap.low, 1/f.gap.high, f.rps)
	}
	return next, true
}

// fitGap takes it for a least time since the last accepted attempt: those accepted came
// later than that, those refused sooner. The more there are on a side the nearer is the
// last one there to it.
func fitGap(all []sent) fitted {
	type apart struct {
		long    float64
		refused bool
	}
	var gaps []apart
	last, refused := math.NaN(), 0
	for _, x := range all {
		if long := x.at - last; long > 0 {
			gaps = append(gaps, apart{long, x.refused})
			if x.refused {
				refused++
			}
		}
		if !x.refused {
			last = x.at
		}
	}
	slices.SortFunc(gaps, func(a, b apart) int { return cmp.Compare(a.long, b.long) })
	best, at, wrong := refused, 0, refused // all accepted: the refused ones are wrong
	for i, g := range gaps {
		if g.refused {
			wrong--
		} else {
			wrong++
		}
		if wrong < best {
			best, at = wrong, i+1
		}
	}
	if at == 0 || at == len(gaps) {
		return fitted{cost: math.Inf(1)}
	}
	g := gap{low: gaps[at-1].long, high: gaps[at].long}
	wide := 0
	for i, x := range gaps {
		if i >= at && x.long < 2*g.high {
			wide++
		}
		switch {
		case i < at && x.refused && x.long > (1-gapNear)*g.low:
			g.under++
		case i >= at && !x.refused && x.long < (1+gapNear)*g.high:
			g.over++
		}
	}
	f := fitted{burst: 1, cost: float64(best), gap: g}
	if f.rps = roundest(1/g.high, 1/g.low); g.off() <= gapOff {
		part := float64(wide) / float64(at+wide)
		f.rps = 1 / (g.low*(1-part) + g.high*part)
	}
	return f
}

// roundest is the number that people would have chosen between two, not far from their
// middle: attempts that come at even distances themselves show only between which of
// their multiples a vendor's distance lies.
func roundest(low, high float64) float64 {
	middle := math.Sqrt(low * high)
	from, to := max(low*(1-gapEdge), middle/gapAside), min(high*(1+gapEdge), middle*gapAside)
	ten := math.Pow(10, math.Floor(math.Log10(to)))
	for _, x := range [...]float64{ten, 2 * ten, 5 * ten} {
		if from <= x && x <= to {
			return x
		}
	}
	for _, step := range [...]float64{ten, ten / 2, ten / 10} {
		if x := math.Round(middle/step) * step; from <= x && x <= to {
			return x
		}
	}
	return middle
}

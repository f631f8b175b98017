package limit

import (
	"math"
	"slices"
)

// A limiter is told from which attempts it accepted and which it refused. Each of
// the known kinds is replayed on the attempts as they were sent, with what really
// became of them; the kind and rate that contradict fewest are the vendor's:
//
//   - a token bucket of any depth: a refused attempt found no whole token, an
//     accepted one found one;
//   - a least time since the last one that was accepted, as of a vendor that wants its
//     requests evenly spaced;
//   - so many in any second, or in each second by the clock;
//   - so many in flight.
//
// Unlike a mean of what was accepted, this is not lowered by cooldowns and lulls,
// in which what a vendor would have taken is not seen, nor raised by what a bucket
// saved up in them.

// fitted is what the attempts say the vendor's limiter is.
type fitted struct {
	rps      float64 // 0: nothing
	single   bool    // a bucket of one
	burst    float64 // what may be sent at once while its rate is stayed under
	flight   int     // it counts attempts in flight, so many; 0: it counts over time
	cost     float64 // contradictions per refusal, 0 to 1
	accepted int     // what it rests on
	refused  int
	long     float64 // seconds
	gap      gap     // of what wants its requests evenly spaced
}

const (
	fitLong    = 20.0 // seconds that are looked at
	fitMost    = 2000 // attempts that are looked at
	fitSettled = 0.25 // seconds after which an attempt counts as accepted if it was not refused
	fitSlack   = 0.1  // of a token
	fitPause   = 0.5  // seconds without an attempt that are no stop
	fitShort   = 8.0  // seconds that are long enough, whatever was sent
	fitFew     = 40   // accepted attempts that are enough, however short, where a kind fits well: few fit well by chance
	fitUsed    = 1.4  // times what was accepted: the largest count that is believed
	fitAlike   = 0.02 // costs that are as good as each other
	fitGood    = 0.75 // the largest cost of a kind that is believed
)

// fit finds the limiter behind attempts, oldest first; the first refusal begins
// the evidence, because what a limiter had left before it is not known. inFlight says that the
// vendor's own words are of attempts in flight. What the least time between those it accepts would be is told beside it.
func fit(all []sent, inFlight bool) (best, even fitted) {
	if len(all) > fitMost {
		all = all[len(all)-fitMost:]
	}
	first := slices.IndexFunc(all, func(x sent) bool { return x.refused })
	if first < 0 {
		return best, even
	}
	all = all[first:]
	last := len(all) - 1
	for !all[last].refused {
		last--
	}
	base, busy, before := fitted{refused: -1}, 0.0, all[0].at
	for _, x := range all[:last+1] {
		busy += min(x.at-before, fitPause)
		before = x.at
		if x.refused {
			base.refused++
		} else {
			base.accepted++
		}
	}
	long := all[last].at - all[0].at
	if base.refused < 2 || base.accepted < 2 || long <= 0 {
		return best, even
	}
	mean := float64(base.accepted) / long
	rests := func(f fitted) fitted {
		f.cost /= float64(base.refused + 1)
		f.accepted, f.refused, f.long = base.accepted, base.refused, long
		return f
	}
	best.cost = math.Inf(1)
	try := func(f fitted) {
		// Of kinds as good as each other the first one is the simpler.
		if f = rests(f); f.cost < best.cost-fitAlike {
			best = f
		}
	}
	if f := fitFlight(all); f.flight > 0 && inFlight {
		f.rps = mean
		try(f)
		return best, even
	}
	even = rests(fitGap(all))
	for _, depth := range depths(mean) {
		try(fitBucket(all, depth, mean))
	}
	counts := []fitted{fitSliding(all)}
	for phase := range 20 {
		counts = append(counts, fitFixed(all, float64(phase)/20))
	}
	for _, f := range counts {
		if f.rps*busy <= fitUsed*float64(base.accepted) { // a count that is met so often is used more
			try(f)
		}
	}
	if f := fitFlight(all); f.flight > 0 && base.refused >= 2*explained { // fewer look so by chance
		f.rps = mean
		f.cost += 0.02 * float64(base.refused+1) // only where it is plainly better
		try(f)
	}
	return best, even
}

// depths are those of buckets that are tried, the deepest first.
func depths(mean float64) []float64 {
	out := []float64{1e6, 2 * mean, mean, mean / 2, mean / 4}
	for _, d := range [...]float64{8, 5, 3, 2, 1} {
		if d < 0.75*mean || d == 1 {
			out = append(out, d)
		}
	}
	return out
}

// fitBucket finds the rate of a bucket of that depth. Too high a rate finds tokens
// where it refused, too low a one finds none where it accepted: the rate is in the
// middle of where the two are equal.
func fitBucket(all []sent, depth, mean float64) fitted {
	bisect := func(tooHigh func(accepts, refuses float64) bool) float64 {
		low, high := 0.5*mean, 6*mean
		for range 16 {
			mid := math.Sqrt(low * high)
			if tooHigh(contradictions(all, depth, mid)) {
				high = mid
			} else {
				low = mid
			}
		}
		return math.Sqrt(low * high)
	}
	low := bisect(func(accepts, refuses float64) bool { return accepts <= refuses })
	high := bisect(func(accepts, refuses float64) bool { return accepts < refuses })
	rate := math.Sqrt(low * high)
	accepts, refuses := contradictions(all, depth, rate)
	return fitted{rps: rate, single: depth == 1, burst: max(min(depth, rate)/2, 1), cost: accepts + refuses}
}

// contradictions replays a bucket and sums how far accepted attempts lacked a token
// and refused ones found one. What comes within fitSlack of a token's edge counts in
// part both ways: what is sent evenly arrives less so.
func contradictions(all []sent, depth, rate float64) (accepts, refuses float64) {
	tokens, last := 0.5, all[0].at // somewhere below one: it has just refused
	for _, x := range all[1:] {
		tokens = min(tokens+(x.at-last)*rate, depth+fitSlack) // a full one that refuses is too full
		last = x.at
		if x.refused {
			if over := tokens - 1 + fitSlack; over > 0 {
				refuses += min(over/(2*fitSlack), 1)
				tokens = min(tokens, max(1, (tokens+1)/2)) // what it was believed to have it had not
			}
			continue
		}
		if lack := 1 + fitSlack - tokens; lack > 0 {
			accepts += min(lack/(2*fitSlack), 1)
		}
		if tokens = min(tokens, depth) - 1; tokens < 0 {
			tokens /= 2
		}
	}
	return accepts, refuses
}

// fitSliding takes it for so many in any second.
func fitSliding(all []sent) fitted {
	var past []float64
	var at []int
	counts := make([]int, len(all))
	for i, x := range all {
		for len(past) > 0 && past[0] <= x.at-1 {
			past = past[1:]
		}
		counts[i] = len(past)
		if x.at-all[0].at < 1 {
			counts[i] = -1 // it began before
		}
		if x.refused && counts[i] >= 0 {
			at = append(at, counts[i])
		}
		if !x.refused {
			past = append(past, x.at)
		}
	}
	return counted(all, counts, at)
}

// fitFixed takes it for so many in each second by a clock of that phase.
func fitFixed(all []sent, phase float64) fitted {
	var at []int
	counts := make([]int, len(all))
	second, n := math.Floor(all[0].at-phase), 0
	whole := false
	for i, x := range all {
		if s := math.Floor(x.at - phase); s != second {
			second, n, whole = s, 0, true
		}
		counts[i] = n
		if !whole {
			counts[i] = -1
		}
		if x.refused && whole {
			at = append(at, n)
		}
		if !x.refused {
			n++
		}
	}
	return counted(all, counts, at)
}

// counted is the limit on a count: what it mostly was at refusals. counts are what
// it was at each attempt, below 0 unknown.
func counted(all []sent, counts, at []int) fitted {
	if len(at) < 3 {
		return fitted{cost: math.Inf(1)}
	}
	slices.Sort(at)
	limit := at[len(at)*3/4] // of a phase that is a little off some are counted short
	if limit < 1 {
		return fitted{cost: math.Inf(1)}
	}
	cost := 0.0
	for i, x := range all {
		switch {
		case counts[i] < 0:
			if x.refused {
				cost += 0.05 // unexplained
			}
		case x.refused:
			cost += min(math.Max(float64(limit-counts[i]), 0), 1)
		default:
			cost += min(math.Max(float64(counts[i]+1-limit), 0), 1)
		}
	}
	return fitted{rps: float64(limit), burst: burst(float64(limit) * margin), cost: cost}
}

// fitFlight takes it for so many in flight.
func fitFlight(all []sent) fitted {
	var at []int
	for _, x := range all {
		if x.refused {
			at = append(at, int(x.flight))
		}
	}
	if len(at) < 5 {
		return fitted{cost: math.Inf(1)}
	}
	slices.Sort(at)
	best := fitted{cost: math.Inf(1)}
	for _, limit := range []int{at[0], at[len(at)/10], at[len(at)/4], at[len(at)/2]} {
		cost := 0.0
		for _, x := range all {
			if x.refused != (int(x.flight) >= limit) {
				cost++
			}
		}
		if cost < best.cost && limit > 0 {
			best = fitted{flight: limit, cost: cost}
		}
	}
	return best
}

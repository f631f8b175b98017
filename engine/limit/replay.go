package limit

import "math"

// replay is a queue that attempts are sent through: that of a vendor which lets so many
// a second through and saves up so much of that.
type replay struct {
	rps   float64
	saves float64 // seconds
	begin float64 // seconds that the first attempt waits; below 0 that are saved up
	opens float64 // when it began, seconds; nobody waited before
}

// tried is what became of an attempt: when it was sent, and how long its first token took,
// below 0 where that is not known.
type tried struct{ at, took float64 }

// through returns the variance and the mean of the times less what each would have waited.
func (r replay) through(all []tried) (variance, mean float64) {
	free := max(all[0].at, r.opens) + r.begin // the moment at which the next one is let through
	each := 1 / r.rps
	n, sum, square := 0.0, 0.0, 0.0
	for _, x := range all {
		e := x.took
		if x.at >= r.opens {
			free = max(free, x.at-r.saves)
			e -= max(free-x.at, 0)
			free += each
		}
		if x.took >= 0 {
			n, sum, square = n+1, sum+e, square+e*e
		}
	}
	mean = sum / n
	return square/n - mean*mean, mean
}

// waits writes what each would have waited into out, -1 for those whose time is not known.
func (r replay) waits(all []tried, out []float64) {
	free, each := max(all[0].at, r.opens)+r.begin, 1/r.rps
	for i, x := range all {
		out[i] = 0
		if x.at >= r.opens {
			free = max(free, x.at-r.saves)
			out[i] = max(free-x.at, 0)
			free += each
		}
		if x.took < 0 {
			out[i] = -1
		}
	}
}

// searchOpens are the parts of the time for which it may be there.
var searchOpens = [...]float64{0.7, 0.5, 0.35, 0.25}

const (
	searchLow  = 0.3 // of what is offered, the least rate that is tried
	searchHigh = 1.5 // and the highest
	searchMany = 22  // of them
	searchHead = 5   // times that tell whether a queue stood at the beginning
	// searchAlike is how much alike times that follow each other must be (autocorrelation)
	// for a queue to be searched for.
	searchAlike = 0.25
	// searchKeep is how much worse than the best a kind may be to be looked at closely, and
	// searchLess by how much less with each step.
	searchKeep, searchLess = 3.0, 2
	// searchStep is the first step of that, relative, and searchEnd the last.
	searchStep, searchEnd = 0.035, 0.002
	// searchBegin and searchLeast are those by which it begins earlier or later, in seconds,
	// and searchShift is the first one after a relative step.
	searchBegin, searchLeast, searchShift = 0.5, 0.01, 4.0
	searchMoves                           = 6 // of one length at most
	// searchOdds is the log likelihood ratio, times two, of three standard errors.
	searchOdds = 9
	// searchFast is the part of the fastest time that all take at least without a queue.
	searchFast = 0.7
)

// search is that for the queue behind attempts, by the least variance.
type search struct {
	all     []tried // accepted, oldest first
	seen    int     // times
	null    float64 // their variance
	low     float64 // the fastest
	head    float64 // mean of the first ones
	offered float64 // accepted per second
	best    replay
	score   float64
	kinds   []replay  // the best of each kind
	scores  []float64 // theirs
}

// look reports whether there is anything to search for: times that follow each other
// are alike where they waited in one queue.
func (s *search) look() bool {
	if len(s.all) < waitSamples {
		return false
	}
	sum, square, next, before := 0.0, 0.0, 0.0, 0.0
	s.low, s.score = math.Inf(1), math.Inf(1)
	for _, x := range s.all {
		d := x.took
		if d < 0 {
			continue
		}
		if s.seen++; s.seen <= searchHead {
			s.head += d / searchHead
		}
		s.low = min(s.low, d)
		sum, square, next = sum+d, square+d*d, next+d*before
		before = d
	}
	n, long := float64(s.seen), s.all[len(s.all)-1].at-s.all[0].at
	if s.seen < waitSamples || long <= 0 {
		return false
	}
	s.null = square/n - sum/n*sum/n
	s.offered = float64(len(s.all)) / long
	return s.null > 0 && next/(n-1)-sum/n*sum/n > searchAlike*s.null
}

func (s *search) try(r replay) float64 {
	v, mean := r.through(s.all)
	if mean < searchFast*s.low {
		return math.Inf(1)
	}
	if v < s.score {
		s.best, s.score = r, v
	}
	return v
}

// find tries vendors that save up nothing to much, that begin with all of it or a queue, or
// that had no limit before.
func (s *search) find() {
	line := max(s.head-2*s.low, 0)
	for _, saves := range [...]float64{0, 0.5, 1, 2} {
		s.kind(replay{saves: saves, begin: line})
		if line > 0 || saves > 0 {
			s.kind(replay{saves: saves, begin: -saves})
		}
		for _, part := range searchOpens {
			s.kind(replay{saves: saves, begin: -saves, opens: s.all[0].at*part + s.all[len(s.all)-1].at*(1-part)})
		}
	}
	for i, r := range s.kinds {
		s.kinds[i], s.scores[i] = s.along(r, searchBegin)
	}
	keep := searchKeep
	for step := searchStep; step > searchEnd; step /= 2 {
		for i := range s.kinds {
			if s.scores[i] < (1+keep)*s.score {
				s.refine(i, step)
			}
		}
		keep /= searchLess
	}
}

func (s *search) kind(r replay) {
	kind, score := replay{}, math.Inf(1)
	for i := range searchMany {
		r.rps = s.offered * searchLow * math.Pow(searchHigh/searchLow, float64(i)/(searchMany-1))
		if v := s.try(r); v < score {
			kind, score = r, v
		}
	}
	s.kinds, s.scores = append(s.kinds, kind), append(s.scores, score)
}

// refine goes downhill from a kind's best by rate, each with the best beginning: a queue
// that lets more through began earlier or with more in it, so that the valley is a narrow one.
func (s *search) refine(i int, step float64) {
	for better, n := true, 0; better && n < searchMoves; n++ {
		better = false
		for _, by := range [...]float64{1 - step, 1 + step} {
			r := s.kinds[i]
			r.rps *= by
			if r, v := s.along(r, searchShift*step); v < s.scores[i] {
				s.kinds[i], s.scores[i], better = r, v, true
				break
			}
		}
	}
}

// along is the least variance with a rate, whatever there was at the beginning, from steps
// of so many seconds on.
func (s *search) along(r replay, step float64) (replay, float64) {
	v := s.try(r)
	for ; step > searchLeast; step /= 2 {
		for _, by := range [...]float64{-step, step} {
			for range searchMoves {
				next := r.moved(by, s.all)
				x := s.try(next)
				if x >= v {
					break
				}
				r, v = next, x
			}
		}
	}
	return r, v
}

// moved begins so many seconds later, or with a queue longer by them.
func (r replay) moved(by float64, all []tried) replay {
	if r.opens > 0 {
		r.opens = max(r.opens+by, all[0].at)
	} else {
		r.begin = max(r.begin+by, -r.saves)
	}
	return r
}

// between is between which rates the vendor's is, by three standard errors. Where they
// are further apart than is of use they may be more so.
func (s *search) between() (lo, hi float64) {
	as := func(score float64) bool { return float64(s.seen)*math.Log(score/s.score) < searchOdds }
	lo, hi = s.best.rps, s.best.rps
	for i, r := range s.kinds {
		if !as(s.scores[i]) {
			continue
		}
		lo, hi = min(lo, r.rps), max(hi, r.rps)
		for _, step := range [...]float64{0.99, 1.01} {
			for x := r; hi-lo <= waitOff*(hi+lo); lo, hi = min(lo, x.rps), max(hi, x.rps) {
				x.rps *= step
				next, v := s.along(x, searchShift*searchStep/2)
				if !as(v) {
					break
				}
				x = next
			}
		}
	}
	return min(lo, s.best.rps), max(hi, s.best.rps)
}

package limit

import "math"

// replay is a queue that attempts are sent through: that of a vendor which lets so many
// a second through and saves up so much of that.
type replay struct {
	rps   float64
	saves float64 // seconds
	begin float64 // seconds that the first attempt waits; below 0 that are saved up
}

// through writes what each attempt waits into out, -1 for those whose time is not
// known, and returns the variance and the mean of the times less the waits.
func (r replay) through(all []sent, whole bool, out []float64) (variance, mean float64) {
	free := all[0].at + r.begin // the moment at which the next one is let through
	each := 1 / r.rps
	n, sum, square := 0.0, 0.0, 0.0
	for i := range all {
		x := &all[i]
		out[i] = -1
		if x.refused {
			continue
		}
		free = max(free, x.at-r.saves)
		w := max(free-x.at, 0)
		free += each
		if x.took > 0 && x.whole == whole {
			out[i] = w
			e := float64(x.took) - w
			n, sum, square = n+1, sum+e, square+e*e
		}
	}
	mean = sum / n
	return square/n - mean*mean, mean
}

const (
	searchLow  = 0.3 // of what is offered, the least rate that is tried
	searchHigh = 1.5 // and the highest
	searchMany = 22  // of them
	searchHead = 5   // times that tell whether a queue stood at the beginning
	// searchAlike is how much alike times that follow each other must be (autocorrelation)
	// for a queue to be searched for.
	searchAlike = 0.25
	// searchKeep is how much worse than the best a kind may be to be looked at closely.
	searchKeep = 1.5
	// searchStep is the first step of that, relative and in half seconds, and searchEnd the last.
	searchStep, searchEnd = 0.035, 0.002
	// searchOdds is the log likelihood ratio, times two, of three standard errors.
	searchOdds = 9
	// searchFast is the part of the fastest time that all take at least without a queue.
	searchFast = 0.7
)

// search is that for the queue behind attempts, by the least variance.
type search struct {
	all     []sent
	whole   bool
	out     []float64
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
	accepted, sum, square, next, before := 0, 0.0, 0.0, 0.0, 0.0
	s.low = math.Inf(1)
	for i := range s.all {
		x := &s.all[i]
		if x.refused {
			continue
		}
		accepted++
		if x.took <= 0 || x.whole != s.whole {
			continue
		}
		d := float64(x.took)
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
	s.offered = float64(accepted) / long
	return s.null > 0 && next/(n-1)-sum/n*sum/n > searchAlike*s.null
}

func (s *search) try(r replay) float64 {
	v, mean := r.through(s.all, s.whole, s.out)
	if mean < searchFast*s.low {
		return math.Inf(1)
	}
	if v < s.score {
		s.best, s.score = r, v
	}
	return v
}

// find tries vendors that save up nothing to much, and that begin with all of it, half
// of it or a queue.
func (s *search) find() {
	line := max(s.head-2*s.low, 0)
	for _, saves := range [...]float64{0, 0.5, 1, 2} {
		s.kind(saves, line)
		if line > 0 || saves > 0 {
			s.kind(saves, -saves)
		}
		if saves > 0 {
			s.kind(saves, -saves/2)
		}
	}
	for i := range s.kinds {
		if s.scores[i] < searchKeep*s.score {
			s.refine(i)
		}
	}
}

func (s *search) kind(saves, begin float64) {
	kind, score := replay{}, math.Inf(1)
	for i := range searchMany {
		r := replay{s.offered * searchLow * math.Pow(searchHigh/searchLow, float64(i)/(searchMany-1)), saves, begin}
		if v := s.try(r); v < score {
			kind, score = r, v
		}
	}
	s.kinds, s.scores = append(s.kinds, kind), append(s.scores, score)
}

// refine goes downhill from a kind's best, by rate and by what there was at the beginning.
func (s *search) refine(i int) {
	r, score := s.kinds[i], s.scores[i]
	for step := searchStep; step > searchEnd; step /= 2 {
		for better, n := true, 0; better && n < 4; n++ {
			better = false
			at := r
			for way := range 9 {
				by, on := float64(way/3-1)*step, float64(way%3-1)*2*step
				next := replay{at.rps * (1 + by), at.saves, max(at.begin+on, -at.saves)}
				if v := s.try(next); v < score {
					r, score, better = next, v, true
				}
			}
		}
	}
	s.kinds[i], s.scores[i] = r, score
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
				if x.rps *= step; !as(s.along(x)) {
					break
				}
			}
		}
	}
	return lo, hi
}

// along is the least variance with a rate, whatever there was at the beginning.
func (s *search) along(r replay) float64 {
	v, _ := r.through(s.all, s.whole, s.out)
	for step := 0.06; step > 0.01; step /= 2 {
		for _, on := range [...]float64{-step, step} {
			for {
				next := r
				next.begin = max(next.begin+on, -r.saves)
				x, _ := next.through(s.all, s.whole, s.out)
				if x >= v {
					break
				}
				v, r = x, next
			}
		}
	}
	return v
}

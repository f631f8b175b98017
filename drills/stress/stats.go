package stress

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

const (
	// leastP99 is the number of samples below which a P99 is not given: a one-sided 95 %
	// bound needs 299.
	leastP99 = 300
	// confidence of all intervals.
	confidence = 0.95
	// resamples of a bootstrap.
	resamples = 1000
)

// quantile returns the q-quantile of sorted values by the nearest rank: the smallest
// value that at least q of them do not exceed. It is the definition that order
// statistics' intervals belong to.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return sorted[min(max(int(math.Ceil(q*float64(len(sorted))-1e-9))-1, 0), len(sorted)-1)]
}

// ranks returns the ranks, from 1, of the order statistics between which the
// q-quantile lies with 95 %: BinomCDF(l-1; n, q) <= 0.025 and BinomCDF(u-1) >= 0.975.
// ok is false where n is too small for both to exist.
func ranks(n int, q float64) (l, u int, ok bool) {
	const tail = (1 - confidence) / 2
	if n == 0 || q <= 0 || q >= 1 {
		return 0, 0, false
	}
	lower := sort.Search(n+1, func(k int) bool { return binomCDF(k, n, q) > tail })
	upper := sort.Search(n+1, func(k int) bool { return binomCDF(k, n, q) >= 1-tail })
	l, u = lower, upper+1
	return l, u, l >= 1 && u <= n
}

// interval is the 95 % interval of the q-quantile of sorted values, nil where there
// are too few of them.
func interval(sorted []float64, q float64) *[2]float64 {
	l, u, ok := ranks(len(sorted), q)
	if !ok {
		return nil
	}
	return &[2]float64{sorted[l-1], sorted[u-1]}
}

// binomCDF is P(X <= k) of the binomial distribution, by the regularised incomplete
// beta function: I(1-p; n-k, k+1).
func binomCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return betaInc(float64(n-k), float64(k+1), 1-p)
}

// betaInc is the regularised incomplete beta function, by its continued fraction
// (modified Lentz; Numerical Recipes 6.4).
func betaInc(a, b, x float64) float64 {
	if x <= 0 {
		return 0
	}
	if x >= 1 {
		return 1
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	if x < (a+1)/(a+b+2) {
		return front * betaFraction(a, b, x) / a
	}
	return 1 - front*betaFraction(b, a, 1-x)/b
}

func betaFraction(a, b, x float64) float64 {
	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < 1000; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		step := d * c
		h *= step
		if math.Abs(step-1) < 1e-14 {
			break
		}
	}
	return h
}

// timed is a figure and the second in which it was due.
type timed struct {
	value float64
	block int
}

// blocked is a set of figures to be resampled by the second: latencies of one second
// resemble each other, so that single ones drawn at random would make intervals
// which are too narrow.
type blocked struct {
	sorted []timed
	blocks int
}

func newBlocked(values []timed) blocked {
	seen := map[int]int{}
	b := blocked{sorted: slices.Clone(values)}
	for i, v := range b.sorted {
		id, known := seen[v.block]
		if !known {
			id = len(seen)
			seen[v.block] = id
		}
		b.sorted[i].block = id
	}
	b.blocks = len(seen)
	slices.SortFunc(b.sorted, func(x, y timed) int {
		switch {
		case x.value < y.value:
			return -1
		case x.value > y.value:
			return 1
		}
		return x.block - y.block
	})
	return b
}

// draw fills weights with how often each block comes in one resample.
func (b *blocked) draw(rng *rand.Rand, weights []int) {
	clear(weights)
	for range b.blocks {
		weights[rng.IntN(b.blocks)]++
	}
}

// quantiles of a resample, for rising qs.
func (b *blocked) quantiles(weights []int, qs, out []float64) {
	total := 0
	for _, v := range b.sorted {
		total += weights[v.block]
	}
	seen, i := 0, 0
	for _, v := range b.sorted {
		seen += weights[v.block]
		for i < len(qs) && float64(seen) >= qs[i]*float64(total)-1e-9 {
			out[i] = v.value
			i++
		}
		if i == len(qs) {
			return
		}
	}
}

// ratios returns the 95 % bootstrap intervals of quantile(b)/quantile(a) for rising
// qs; nil where either has fewer than two seconds of samples. Blocks are of 1 s.
func ratios(a, b []timed, qs []float64, rng *rand.Rand) []*[2]float64 {
	out := make([]*[2]float64, len(qs))
	x, y := newBlocked(a), newBlocked(b)
	if x.blocks < 2 || y.blocks < 2 {
		return out
	}
	drawn := make([][]float64, len(qs))
	wx, wy := make([]int, x.blocks), make([]int, y.blocks)
	qx, qy := make([]float64, len(qs)), make([]float64, len(qs))
	for range resamples {
		x.draw(rng, wx)
		y.draw(rng, wy)
		x.quantiles(wx, qs, qx)
		y.quantiles(wy, qs, qy)
		for i := range qs {
			if qx[i] > 0 {
				drawn[i] = append(drawn[i], qy[i]/qx[i])
			}
		}
	}
	for i := range qs {
		out[i] = middle(drawn[i])
	}
	return out
}

// meanRatio is the bootstrap interval of mean(b)/mean(a) times factor, of figures one
// a second.
func meanRatio(a, b []float64, factor float64, rng *rand.Rand) *[2]float64 {
	if len(a) < 2 || len(b) < 2 {
		return nil
	}
	var drawn []float64
	for range resamples {
		if x := resampled(a, rng); x > 0 {
			drawn = append(drawn, factor*resampled(b, rng)/x)
		}
	}
	return middle(drawn)
}

func resampled(v []float64, rng *rand.Rand) float64 {
	sum := 0.0
	for range v {
		sum += v[rng.IntN(len(v))]
	}
	return sum / float64(len(v))
}

// middle is the middle 95 % of values, nil where there are too few.
func middle(values []float64) *[2]float64 {
	if len(values) < resamples/2 {
		return nil
	}
	slices.Sort(values)
	return &[2]float64{quantile(values, (1-confidence)/2), quantile(values, (1+confidence)/2)}
}

func mean(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// dispersion is the index of dispersion of counts: variance over mean. It is 1 of
// independent arrivals, and near 0 of what a clock lets through.
func dispersion(counts []float64) float64 {
	m := mean(counts)
	if len(counts) < 2 || m == 0 || math.IsNaN(m) {
		return math.NaN()
	}
	sum := 0.0
	for _, x := range counts {
		sum += (x - m) * (x - m)
	}
	return sum / float64(len(counts)-1) / m
}

// figure is v, or nil where it is none.
func figure(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// quantileOf sorts values and returns a quantile of them, NaN where there are none.
func quantileOf(values []float64, q float64) float64 {
	slices.Sort(values)
	return quantile(values, q)
}

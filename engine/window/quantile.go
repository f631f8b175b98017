package window

import "time"

// view is a tally to ask for quantiles: sum, with plus added and minus taken
// away where they are given. max is its largest sample, n > 0 their number.
type view struct {
	sum         *[buckets]uint32
	plus, minus *[buckets]uint16
	n           uint64
	max         time.Duration
}

// quantiles writes the quantile of each q into out, by nearest rank. Ascending
// qs are answered in one pass.
func (v *view) quantiles(qs []float64, out []time.Duration) {
	top := index(v.max)
	i, seen := 0, v.at(0)
	var before uint64
	for k, q := range qs {
		want := rank(q, v.n)
		if want < before {
			i, seen = 0, v.at(0)
		}
		before = want
		for seen < want && i < top {
			i++
			seen += v.at(i)
		}
		if i >= top {
			out[k] = v.max
			continue
		}
		out[k] = middle(i)
	}
}

func (v *view) at(i int) uint64 {
	c := uint64(v.sum[i])
	if v.plus != nil {
		c += uint64(v.plus[i])
	}
	if v.minus != nil {
		c -= uint64(v.minus[i])
	}
	return c
}

// Quantiles writes the quantile of each q of qs (ascending is fastest) over
// span s into the same place of into, and returns the number of samples they
// are of. waiting are the present ages of attempts that have not answered yet:
// those older than the span's completed P90 count as samples of their age
// (they will take at least that long), the rest say nothing yet; where nothing was
// completed in the span, all of them count. They are not
// kept. It returns 0 and writes nothing when there is no sample, or when into
// is shorter than qs.
func (r *Ring) Quantiles(now time.Time, s Span, waiting []time.Duration, qs []float64, into []time.Duration) int {
	if s < 0 || s >= spans || len(into) < len(qs) {
		return 0
	}
	sec := r.advance(now)
	return r.censored(sec, s, r.p90(sec, s), waiting, qs, into)
}

// Latency is the latency of a vendor on one kind, as weights are decided by.
type Latency struct {
	P90     time.Duration
	Span    Span // over which it was taken
	Count   int  // samples, Waiting among them
	Waiting int  // attempts that have not answered and are older than the usual P90
}

// Latency returns the P90 over the shortest span with at least atLeast samples
// (50 in the control law). Attempts that have not answered yet count at their
// present age in waiting once they are older than the completed P90: a vendor
// that stalls completes only its fast answers and would otherwise look fast.
// That P90 is the one of the shortest span with enough completed samples, or of
// the longest when none has. It is false when no span has enough, and when
// nothing was completed in 300 s: then ages alone, all of them young, would
// make an unknown vendor look fast.
func (r *Ring) Latency(now time.Time, atLeast int, waiting []time.Duration) (Latency, bool) {
	sec := r.advance(now)
	if r.sums[S300].n == 0 {
		return Latency{}, false
	}
	usual := r.p90(sec, r.shortest(atLeast))
	old := 0
	for _, age := range waiting {
		if age > usual {
			old++
		}
	}
	for s := range spans {
		if int(r.sums[s].n)+old < max(atLeast, 1) {
			continue
		}
		var p90 [1]time.Duration
		n := r.censored(sec, s, usual, waiting, []float64{0.9}, p90[:])
		return Latency{P90: p90[0], Span: s, Count: n, Waiting: old}, true
	}
	return Latency{}, false
}

// shortest is the shortest span with at least n completed samples, or the
// longest one.
func (r *Ring) shortest(n int) Span {
	for s := range spans {
		if r.sums[s].n > 0 && int(r.sums[s].n) >= n {
			return s
		}
	}
	return S300
}

// p90 is the completed P90 of a span, 0 when it is empty.
func (r *Ring) p90(sec int64, s Span) time.Duration {
	t := &r.sums[s]
	if t.n == 0 {
		return 0
	}
	var out [1]time.Duration
	v := view{sum: &t.counts, n: t.n, max: r.largest(sec, lengths[s])}
	v.quantiles([]float64{0.9}, out[:])
	return out[0]
}

// censored answers for a span with the ages above usual lent to its sum for
// the time of the question.
func (r *Ring) censored(sec int64, s Span, usual time.Duration, waiting []time.Duration, qs []float64, out []time.Duration) int {
	t := &r.sums[s]
	v := view{sum: &t.counts, n: t.n, max: r.largest(sec, lengths[s])}
	for _, age := range waiting {
		if age > usual {
			t.counts[index(age)]++
			v.n++
			v.max = max(v.max, age)
		}
	}
	if v.n > 0 {
		v.quantiles(qs, out)
	}
	for _, age := range waiting {
		if age > usual {
			t.counts[index(age)]--
		}
	}
	return int(v.n)
}

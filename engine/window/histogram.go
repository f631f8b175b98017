// Package window keeps the measurements that routing decides by: latency
// quantiles and counts over the last 10, 60 and 300 seconds.
//
// A [Ring] holds the successful latencies of one vendor and one kind (first
// token of streams, or whole answers); kinds are never mixed. A [Counter] holds
// how many attempts were sent, ended, refused. A [Histogram] is the plain tally
// behind both, and the form in which tallies cross a wire or are merged.
//
// Nothing here has a clock, a lock or a goroutine: every method is told the
// time, and the owner of a value holds its lock, for reading too, because a
// question about now first lets old seconds fall out. Adding and asking never
// allocate. Times with a monotonic reading (time.Now) are immune to the wall
// clock being set; without one, steps in either direction cost at most the
// window's contents, never a negative count.
//
// What it is not: it decides nothing. Which latency counts as slow and what
// follows from it is the business of health, limits and weights.
package window

import (
	"math"
	"time"
)

// Histogram is a log-linear tally of durations from a microsecond to 71
// minutes, 64 buckets to the octave (error at most 1.6 %). Its zero value is
// empty and ready. It takes 14 KB.
type Histogram struct {
	counts [buckets]uint64
	n      uint64
	max    time.Duration
}

// Add counts one duration. Negative ones count as 0, ones above the scale in
// its last bucket.
func (h *Histogram) Add(d time.Duration) {
	h.counts[index(d)]++
	h.n++
	h.max = max(h.max, d)
}

// Count returns the number of samples.
func (h *Histogram) Count() int { return int(min(h.n, math.MaxInt)) }

// Max returns the largest sample: exact after Add and Merge, to a bucket after
// Sub and FromSparse, 0 when empty.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns the q-quantile (0 to 1) by nearest rank: the middle of the
// bucket in which the sample of rank ceil(q*n) lies, or Max when that is the
// last bucket in use. It is false when the histogram is empty.
func (h *Histogram) Quantile(q float64) (time.Duration, bool) {
	if h.n == 0 {
		return 0, false
	}
	want := rank(q, h.n)
	top := index(h.max)
	var seen uint64
	for i := range top {
		if seen += h.counts[i]; seen >= want {
			return middle(i), true
		}
	}
	return h.max, true
}

// Merge adds all samples of o; o may be nil.
func (h *Histogram) Merge(o *Histogram) {
	if o == nil {
		return
	}
	for i, c := range o.counts {
		h.counts[i] = saturatingAdd(h.counts[i], c)
	}
	h.n = saturatingAdd(h.n, o.n)
	h.max = max(h.max, o.max)
}

// Sub takes the samples of an earlier state o of the same tally away, bucket
// by bucket and never below 0; o may be nil. Max is then known to a bucket
// only.
func (h *Histogram) Sub(o *Histogram) {
	if o == nil {
		return
	}
	h.n = 0
	last := -1
	for i := range h.counts {
		h.counts[i] -= min(o.counts[i], h.counts[i])
		if h.counts[i] > 0 {
			h.n = saturatingAdd(h.n, h.counts[i])
			last = i
		}
	}
	switch {
	case last < 0:
		h.max = 0
	case index(h.max) != last:
		h.max = middle(last)
	}
}

// Sparse returns the buckets in use, lowest first: the form for the wire.
func (h *Histogram) Sparse() []Bucket {
	var used []Bucket
	for i, c := range h.counts {
		if c > 0 {
			used = append(used, Bucket{Index: i, N: c})
		}
	}
	return used
}

// FromSparse makes a histogram of the buckets of Sparse, in any order; equal
// indices add up and indices off the scale are left out.
func FromSparse(used []Bucket) *Histogram {
	h := new(Histogram)
	last := -1
	for _, b := range used {
		if b.Index < 0 || b.Index >= buckets || b.N == 0 {
			continue
		}
		h.counts[b.Index] = saturatingAdd(h.counts[b.Index], b.N)
		h.n = saturatingAdd(h.n, b.N)
		last = max(last, b.Index)
	}
	if last >= 0 {
		h.max = middle(last)
	}
	return h
}

// rank is the nearest rank of quantile q among n > 0 samples, 1 to n. The
// tiny term keeps 0.07*100 = 7.000000000000001 at 7. A q that is no number
// counts as 1: to show the worst is the safe mistake.
func rank(q float64, n uint64) uint64 {
	if !(q < 1) {
		return n
	}
	r := math.Ceil(q*float64(n) - 1e-9)
	return uint64(min(max(r, 1), float64(n)))
}

func saturatingAdd(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

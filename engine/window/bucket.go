package window

import (
	"math/bits"
	"time"
)

// The scale: below 64 us every microsecond has its own bucket, above that each
// octave has 64 equal ones, so that a bucket is never wider than 1/64 (1.6 %)
// of the values in it. The last octave ends at 2^32 us (71 minutes 35 s).
const (
	perOctave = 64
	octaves   = 26
	buckets   = perOctave * (octaves + 1)
	topMicros = uint64(1)<<(6+octaves) - 1
)

// Bucket is one non-empty bucket of a histogram: its place on the scale and
// the number of samples in it.
type Bucket struct {
	Index int    `json:"i"`
	N     uint64 `json:"n"`
}

// Bounds returns the range of the bucket, from inclusive and to exclusive.
// Both are 0 for an index that is not on the scale.
func (b Bucket) Bounds() (from, to time.Duration) {
	if b.Index < 0 || b.Index >= buckets {
		return 0, 0
	}
	lower, width := edge(b.Index)
	return micros(lower), micros(lower + width)
}

// index returns the bucket of d; what lies outside the scale goes into its
// first or last bucket.
func index(d time.Duration) int {
	if d < 0 {
		return 0
	}
	v := uint64(d) / uint64(time.Microsecond)
	if v < perOctave {
		return int(v)
	}
	if v > topMicros {
		v = topMicros
	}
	e := bits.Len64(v) - 7
	return e<<6 + int(v>>uint(e))
}

// edge returns the lower edge and the width of bucket i in microseconds.
func edge(i int) (lower, width uint64) {
	if i < perOctave {
		return uint64(i), 1
	}
	e := uint(i>>6) - 1
	return uint64(i-int(e)<<6) << e, 1 << e
}

// middle returns the value that stands for bucket i.
func middle(i int) time.Duration {
	lower, width := edge(i)
	return micros(lower) + micros(width)/2
}

func micros(v uint64) time.Duration { return time.Duration(v) * time.Microsecond }

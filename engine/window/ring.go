package window

import (
	"math"
	"time"
)

// Span is one of the windows that a Ring answers for.
type Span int

// The spans, shortest first.
const (
	S10 Span = iota
	S60
	S300
	spans
)

const slots = 300

var lengths = [spans]int64{10, 60, slots}

// Duration returns the length of the span, and 0 for a value that is none.
func (s Span) Duration() time.Duration {
	if s < 0 || s >= spans {
		return 0
	}
	return time.Duration(lengths[s]) * time.Second
}

// String returns the span as the console shows it, "10s" for example.
func (s Span) String() string {
	switch s {
	case S10:
		return "10s"
	case S60:
		return "60s"
	case S300:
		return "300s"
	}
	return "no span"
}

// Stats are the quantiles of a span. With Count 0 the others mean nothing.
type Stats struct {
	Count              int
	P50, P90, P99, Max time.Duration
}

// Ring holds the latencies of the last 300 seconds in slots of a second, with
// running sums over 10, 60 and 300 s that are kept by adding what comes and
// subtracting the second that leaves. A span of k seconds is the second that
// runs and the k-1 before it. A Ring takes 1.1 MB, all of it at NewRing.
//
// More than 65,535 samples of one bucket in one second are not counted; they
// would change no quantile.
type Ring struct {
	clock seconds
	slots []slot
	sums  [spans]tally
}

type slot struct {
	n      uint32
	lo, hi uint16 // the buckets in use lie in lo..hi
	max    time.Duration
	counts [buckets]uint16
}

type tally struct {
	n      uint64
	counts [buckets]uint32
}

// NewRing returns an empty ring.
func NewRing() *Ring { return &Ring{slots: make([]slot, slots)} }

// Add counts the latency d of an attempt that ended well at now.
func (r *Ring) Add(now time.Time, d time.Duration) {
	sec := r.advance(now)
	s := &r.slots[sec%slots]
	i := index(d)
	if s.counts[i] == math.MaxUint16 {
		return
	}
	if s.n == 0 {
		s.lo, s.hi = uint16(i), uint16(i)
	} else {
		s.lo, s.hi = min(s.lo, uint16(i)), max(s.hi, uint16(i))
	}
	s.n++
	s.counts[i]++
	s.max = max(s.max, d)
	for k := range r.sums {
		r.sums[k].n++
		r.sums[k].counts[i]++
	}
}

// Window returns the statistics of a span that ends now.
func (r *Ring) Window(now time.Time, s Span) Stats {
	if s < 0 || s >= spans {
		return Stats{}
	}
	sec := r.advance(now)
	t := &r.sums[s]
	if t.n == 0 {
		return Stats{}
	}
	st := Stats{Count: int(t.n), Max: r.largest(sec, lengths[s])}
	var out [3]time.Duration
	v := view{sum: &t.counts, n: t.n, max: st.Max}
	v.quantiles([]float64{0.5, 0.9, 0.99}, out[:])
	st.P50, st.P90, st.P99 = out[0], out[1], out[2]
	return st
}

// Last returns P90 and P99 over the last 10 complete seconds, the running one
// left out, and the number of samples in them; both are 0 when n is. Asked once
// a second it gives a history whose points are comparable with each other,
// wherever in the second it is asked.
func (r *Ring) Last(now time.Time) (p90, p99 time.Duration, n int) {
	sec := r.advance(now)
	running, leaving := &r.slots[sec%slots], &empty
	if sec >= lengths[S10] {
		leaving = &r.slots[(sec-lengths[S10])%slots]
	}
	t := &r.sums[S10]
	v := view{
		sum: &t.counts, plus: &leaving.counts, minus: &running.counts,
		n: t.n + uint64(leaving.n) - uint64(running.n),
	}
	if v.n == 0 {
		return 0, 0, 0
	}
	v.max = max(r.largest(sec-1, lengths[S10]-1), leaving.max)
	var out [2]time.Duration
	v.quantiles([]float64{0.9, 0.99}, out[:])
	return out[0], out[1], int(v.n)
}

var empty slot

// largest returns the largest sample of the seconds seconds that end with sec.
func (r *Ring) largest(sec, seconds int64) time.Duration {
	var m time.Duration
	for t := max(sec-seconds+1, 0); t <= sec; t++ {
		m = max(m, r.slots[t%slots].max)
	}
	return m
}

// advance lets seconds fall out until now's second is the newest, and returns
// it.
func (r *Ring) advance(now time.Time) int64 {
	sec := r.clock.at(now)
	if sec == r.clock.newest {
		return sec
	}
	if sec-r.clock.newest >= slots {
		r.clear()
	}
	for t := max(r.clock.newest, sec-slots) + 1; t <= sec; t++ {
		for k, w := range lengths {
			if t >= w {
				r.sums[k].sub(&r.slots[(t-w)%slots])
			}
		}
		r.slots[t%slots].clear()
	}
	r.clock.newest = sec
	return sec
}

func (r *Ring) clear() {
	for i := range r.slots {
		r.slots[i].clear()
	}
	clear(r.sums[:])
}

func (s *slot) clear() {
	if s.n == 0 {
		return
	}
	clear(s.counts[s.lo : int(s.hi)+1])
	s.n, s.lo, s.hi, s.max = 0, 0, 0, 0
}

func (t *tally) sub(s *slot) {
	if s.n == 0 {
		return
	}
	for i := int(s.lo); i <= int(s.hi); i++ {
		t.counts[i] -= uint32(s.counts[i])
	}
	t.n -= uint64(s.n)
}

package window

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// t0 has no monotonic reading, so that tests may set the clock back.
var t0 = time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)

// sample is one Add of the model: everything ever added, kept whole.
type sample struct {
	sec int64
	d   time.Duration
}

func within(got, want time.Duration) bool {
	// One bucket of relative error, and a microsecond for the linear part.
	return math.Abs(float64(got-want)) <= float64(want)/64+float64(time.Microsecond)
}

func nearest(sorted []time.Duration, q float64) time.Duration {
	r := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return sorted[min(max(r, 1), len(sorted))-1]
}

func lognormal(r *rand.Rand, median time.Duration) time.Duration {
	return time.Duration(float64(median) * math.Exp(r.NormFloat64()*0.6))
}

func TestHistogram_QuantilesAgreeWithASortedSlice(t *testing.T) {
	for _, n := range []int{1, 2, 9, 10, 11, 100, 5000} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		var h Histogram
		var all []time.Duration
		for range n {
			d := lognormal(r, 400*time.Millisecond)
			h.Add(d)
			all = append(all, d)
		}
		slices.Sort(all)
		for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
			got, ok := h.Quantile(q)
			if want := nearest(all, q); !ok || !within(got, want) {
				t.Errorf("n=%d q=%v: got %v, want %v", n, q, got, want)
			}
		}
		if h.Max() != all[n-1] || h.Count() != n {
			t.Errorf("n=%d: max %v, count %d", n, h.Max(), h.Count())
		}
	}
}

func TestRing_AgreesWithASortedSliceAtEveryStep(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 2))
		ring := NewRing()
		now := t0
		ring.Window(now, S10)
		var log []sample
		for step := range 3000 {
			switch {
			case step%400 == 399:
				now = now.Add(time.Duration(r.IntN(400)) * time.Second)
			default:
				now = now.Add(time.Duration(r.IntN(700)) * time.Millisecond)
			}
			d := lognormal(r, 300*time.Millisecond)
			ring.Add(now, d)
			sec := int64(now.Sub(t0) / time.Second)
			log = append(log, sample{sec, d})
			if step%29 != 0 {
				continue
			}
			for s := range spans {
				check(t, ring.Window(now, s), in(log, sec-lengths[s]+1, sec))
			}
			p90, p99, n := ring.Last(now)
			want := in(log, sec-10, sec-1)
			if n != len(want) || n > 0 && (!within(p90, nearest(want, 0.9)) || !within(p99, nearest(want, 0.99))) {
				t.Fatalf("seed %d step %d: Last = %v, %v, n=%d, want n=%d", seed, step, p90, p99, n, len(want))
			}
		}
	}
}

func in(log []sample, from, to int64) []time.Duration {
	var ds []time.Duration
	for _, s := range log {
		if s.sec >= from && s.sec <= to {
			ds = append(ds, s.d)
		}
	}
	slices.Sort(ds)
	return ds
}

func check(t *testing.T, st Stats, want []time.Duration) {
	t.Helper()
	if st.Count != len(want) {
		t.Fatalf("count %d, want %d", st.Count, len(want))
	}
	if len(want) == 0 {
		return
	}
	for _, c := range []struct {
		got time.Duration
		q   float64
	}{{st.P50, 0.5}, {st.P90, 0.9}, {st.P99, 0.99}} {
		if !within(c.got, nearest(want, c.q)) {
			t.Fatalf("q %v: got %v, want %v of %d", c.q, c.got, nearest(want, c.q), len(want))
		}
	}
	if st.Max != want[len(want)-1] {
		t.Fatalf("max %v, want %v", st.Max, want[len(want)-1])
	}
}

func TestRing_WaitingCountsLikeSamplesOfItsAge(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for round := range 200 {
		ring := NewRing()
		var done, waiting []time.Duration
		for range 1 + r.IntN(200) {
			done = append(done, lognormal(r, 300*time.Millisecond))
			ring.Add(t0, done[len(done)-1])
		}
		for range r.IntN(100) {
			waiting = append(waiting, time.Duration(r.IntN(9000))*time.Millisecond)
		}
		before := ring.Window(t0, S10)
		var out [2]time.Duration
		n := ring.Quantiles(t0, S10, waiting, []float64{0.5, 0.9}, out[:])
		want := slices.Clone(done)
		for _, age := range waiting {
			if age > before.P90 {
				want = append(want, age)
			}
		}
		slices.Sort(want)
		if n != len(want) || !within(out[0], nearest(want, 0.5)) || !within(out[1], nearest(want, 0.9)) {
			t.Fatalf("round %d: n=%d %v, want n=%d %v %v", round, n, out, len(want), nearest(want, 0.5), nearest(want, 0.9))
		}
		if after := ring.Window(t0, S10); after != before {
			t.Fatalf("round %d: the question changed the answer: %v, then %v", round, before, after)
		}
	}
}

func TestCounter_AgreesWithAListOfEvents(t *testing.T) {
	type event struct {
		sec    int64
		cat, n int
	}
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 3))
		var c Counter
		now := t0
		c.Sum(now, 0, time.Second)
		// Totals that wrap around must not show: begin just below the end.
		for k := range c.total {
			c.total[k] = math.MaxUint32 - 50
		}
		c.starts[0] = c.total
		var log []event
		for step := range 4000 {
			now = now.Add(time.Duration(r.IntN(900)) * time.Millisecond)
			if step%700 == 699 {
				now = now.Add(time.Duration(r.IntN(500)) * time.Second)
			}
			sec := int64(now.Sub(t0) / time.Second)
			e := event{sec, r.IntN(Categories), 1 + r.IntN(3)}
			c.Add(now, e.cat, e.n)
			log = append(log, e)
			if step%17 != 0 {
				continue
			}
			k := int64(1 + r.IntN(300))
			span := time.Duration(k)*time.Second - time.Duration(r.IntN(1000))*time.Millisecond
			var want, complete [Categories]int
			for _, e := range log {
				if e.sec > sec-k {
					want[e.cat] += e.n
				}
				if e.sec >= sec-k && e.sec < sec {
					complete[e.cat] += e.n
				}
			}
			for cat := range Categories {
				if got := c.Sum(now, cat, span); got != want[cat] {
					t.Fatalf("seed %d step %d: %v of %d: %d, want %d", seed, step, span, cat, got, want[cat])
				}
				if got := c.SumComplete(now, cat, span); got != complete[cat] {
					t.Fatalf("seed %d step %d: complete %v of %d: %d, want %d", seed, step, span, cat, got, complete[cat])
				}
			}
		}
	}
}

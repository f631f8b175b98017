package window

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
	"unsafe"
)

func TestBucket_EveryDurationLiesInItsBucketAndNearItsMiddle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200_000 {
		us := uint64(math.Exp(r.Float64() * math.Log(float64(topMicros))))
		d := micros(us)
		b := Bucket{Index: index(d)}
		from, to := b.Bounds()
		if d < from || d >= to {
			t.Fatalf("%v is in bucket %d, which is %v to %v", d, b.Index, from, to)
		}
		if !within(middle(b.Index), d) {
			t.Fatalf("%v is shown as %v", d, middle(b.Index))
		}
	}
}

func TestBucket_TheScaleHasNoGapAndNoOverlap(t *testing.T) {
	for i := 1; i < buckets; i++ {
		_, before := Bucket{Index: i - 1}.Bounds()
		from, _ := Bucket{Index: i}.Bounds()
		if before != from {
			t.Fatalf("bucket %d ends at %v, the next begins at %v", i-1, before, from)
		}
	}
}

func TestHistogram_ExtremesNeverPanic(t *testing.T) {
	var h Histogram
	if _, ok := h.Quantile(0.9); ok {
		t.Error("an empty histogram has a quantile")
	}
	for _, d := range []time.Duration{math.MinInt64, -1, 0, 1, time.Hour, 48 * time.Hour, math.MaxInt64} {
		h.Add(d)
	}
	for _, q := range []float64{math.NaN(), math.Inf(-1), -1, 0, 0.5, 1, 2, math.Inf(1)} {
		if v, ok := h.Quantile(q); !ok || v < 0 {
			t.Errorf("quantile %v: %v, %v", q, v, ok)
		}
	}
	if v, _ := h.Quantile(1); v != math.MaxInt64 {
		t.Errorf("quantile 1 = %v, want the largest sample", v)
	}
}

func TestHistogram_SubUndoesMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var a, b Histogram
	for range 1000 {
		a.Add(lognormal(r, time.Second))
		b.Add(lognormal(r, 5*time.Second))
	}
	sum := a
	sum.Merge(&b)
	if sum.Count() != 2000 || sum.Max() != max(a.Max(), b.Max()) {
		t.Fatalf("merged: n=%d max %v", sum.Count(), sum.Max())
	}
	sum.Sub(&b)
	if sum.Count() != 1000 || sum.counts != a.counts || !within(sum.Max(), a.Max()) {
		t.Errorf("after taking b away: n=%d max %v, want 1000 and %v", sum.Count(), sum.Max(), a.Max())
	}
	sum.Sub(&b)
	if sum.n > 1000 {
		t.Errorf("taking away what is not there gave %d samples", sum.n)
	}
	sum.Merge(nil)
	sum.Sub(nil)
}

func TestHistogram_SurvivesTheWire(t *testing.T) {
	var h Histogram
	for _, d := range []time.Duration{0, time.Millisecond, time.Millisecond, 3 * time.Second} {
		h.Add(d)
	}
	back := FromSparse(h.Sparse())
	if !reflect.DeepEqual(back.Sparse(), h.Sparse()) || back.Count() != 4 || !within(back.Max(), h.Max()) {
		t.Errorf("got %v (n=%d, max %v), want %v", back.Sparse(), back.Count(), back.Max(), h.Sparse())
	}
}

func TestFromSparse_BadBucketsAreLeftOut(t *testing.T) {
	h := FromSparse([]Bucket{{-1, 5}, {buckets, 5}, {3, 0}, {3, 2}, {3, math.MaxUint64}})
	if h.counts[3] != math.MaxUint64 || h.Count() != math.MaxInt || len(h.Sparse()) != 1 {
		t.Errorf("got %v, count %d", h.Sparse(), h.Count())
	}
}

func TestRing_SlowShowsWithinTheSpan(t *testing.T) {
	r := NewRing()
	for range 10 {
		r.Add(t0, 100*time.Millisecond)
	}
	now := t0.Add(time.Second)
	for range 100 {
		r.Add(now, 5*time.Second)
	}
	if st := r.Window(now, S10); !within(st.P50, 5*time.Second) || st.Count != 110 {
		t.Errorf("after 10 fast and 100 slow: %+v", st)
	}
}

func TestRing_NoSamplesIsUnknown(t *testing.T) {
	r := NewRing()
	r.Add(t0, time.Second)
	for _, c := range []struct {
		after time.Duration
		want  [spans]int
	}{
		{9 * time.Second, [spans]int{1, 1, 1}},
		{10 * time.Second, [spans]int{0, 1, 1}},
		{60 * time.Second, [spans]int{0, 0, 1}},
		{300 * time.Second, [spans]int{0, 0, 0}},
	} {
		for s := range spans {
			if got := r.Window(t0.Add(c.after), s).Count; got != c.want[s] {
				t.Errorf("%v later, span %v: %d samples, want %d", c.after, s, got, c.want[s])
			}
		}
	}
	if r.Window(t0, Span(7)).Count != 0 || Span(-1).Duration() != 0 {
		t.Error("a span that does not exist has samples")
	}
}

func TestRing_AndCounterSurviveClockJumps(t *testing.T) {
	jumps := []time.Duration{
		-time.Second, -30 * time.Second, -5 * time.Minute, -1000 * time.Hour, 40 * time.Second,
		299 * time.Second, 300 * time.Second, 301 * time.Second, 302 * time.Second, 100000 * time.Hour, math.MaxInt64, math.MinInt64,
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 50 {
		ring, now := NewRing(), t0
		var c Counter
		for range 60 {
			now = now.Add(jumps[r.IntN(len(jumps))])
			for range 5 {
				ring.Add(now, time.Second)
				c.Add(now, 0, 1)
			}
			last := 0
			for s := range spans {
				n := ring.Window(now, s).Count
				if n < 5 || n < last || n > 300 {
					t.Fatalf("after a jump to %v: %d samples in %v", now, n, s)
				}
				last = n
				if sum := c.Sum(now, 0, s.Duration()); sum != n {
					t.Fatalf("after a jump to %v: counter %d, ring %d", now, sum, n)
				}
			}
			if _, _, n := ring.Last(now); n < 0 || n > 300 {
				t.Fatalf("after a jump to %v: %d samples in the last complete seconds", now, n)
			}
		}
	}
}

func TestRing_GoesOnAfterTheClockWasSetBack(t *testing.T) {
	r, now := NewRing(), t0.Add(-time.Hour)
	r.Add(t0, time.Second)
	r.Add(now, time.Second)
	if n := r.Window(now.Add(11*time.Second), S10).Count; n != 0 {
		t.Errorf("11 s after the clock was set back an hour the 10 s window still has %d samples", n)
	}
}

func TestLatency_AStallingVendorLooksSlow(t *testing.T) {
	r, now := NewRing(), t0
	for range 60 {
		for range 10 {
			r.Add(now, 300*time.Millisecond)
		}
		now = now.Add(time.Second)
	}
	waiting := make([]time.Duration, 0, 64)
	for i := range 60 {
		waiting = append(waiting, time.Duration(6000-i*50)*time.Millisecond)
	}
	now = now.Add(5 * time.Second)
	l, ok := r.Latency(now, 50, waiting)
	if !ok || l.Span != S10 || l.P90 < 3*time.Second || l.Waiting != 60 {
		t.Errorf("60 attempts waiting 3 to 6 s beside answers of 0.3 s: %+v, %v", l, ok)
	}
}

func TestLatency_YoungAttemptsSayNothing(t *testing.T) {
	r := NewRing()
	for range 50 {
		r.Add(t0, time.Second)
	}
	waiting := make([]time.Duration, 500)
	for i := range waiting {
		waiting[i] = 10 * time.Millisecond
	}
	l, ok := r.Latency(t0, 50, waiting)
	if !ok || l.Count != 50 || l.Waiting != 0 || !within(l.P90, time.Second) {
		t.Errorf("got %+v, %v", l, ok)
	}
	if l, ok := NewRing().Latency(t0, 50, waiting); ok {
		t.Errorf("a vendor that never answered has latency %+v", l)
	}
}

func TestLatency_TakesTheShortestSpanWithEnough(t *testing.T) {
	r, now := NewRing(), t0
	for range 300 {
		r.Add(now, time.Second)
		now = now.Add(time.Second)
	}
	for _, c := range []struct {
		atLeast int
		span    Span
		ok      bool
	}{{5, S10, true}, {50, S60, true}, {200, S300, true}, {301, S10, false}, {-1, S10, true}} {
		l, ok := r.Latency(now.Add(-time.Second), c.atLeast, nil)
		if ok != c.ok || ok && l.Span != c.span {
			t.Errorf("at least %d: %+v, %v", c.atLeast, l, ok)
		}
	}
}

func TestCounter_BadCategoriesAndAmountsCountNothing(t *testing.T) {
	var c Counter
	c.Add(t0, -1, 1)
	c.Add(t0, Categories, 1)
	c.Add(t0, 0, 0)
	c.Add(t0, 0, -3)
	for cat := -1; cat <= Categories; cat++ {
		if n := c.Sum(t0, cat, time.Minute) + c.SumComplete(t0, cat, time.Minute); n != 0 {
			t.Errorf("category %d counts %d", cat, n)
		}
	}
}

func TestCounter_CompleteLeavesTheRunningSecondOut(t *testing.T) {
	var c Counter
	for s := range 20 {
		c.Add(t0.Add(time.Duration(s)*time.Second), 1, 10)
	}
	now := t0.Add(19*time.Second + 300*time.Millisecond)
	c.Add(now, 1, 5)
	if got := c.Sum(now, 1, 5*time.Second); got != 55 {
		t.Errorf("5 s: %d, want 55", got)
	}
	if got := c.SumComplete(now, 1, 5*time.Second); got != 50 {
		t.Errorf("5 complete seconds: %d, want 50", got)
	}
	if got := c.SumComplete(now, 1, time.Hour); got != 190 {
		t.Errorf("all complete seconds: %d, want 190", got)
	}
}

func TestMemory_AVendorStaysUnderFourMegabytes(t *testing.T) {
	ring := int(unsafe.Sizeof(slot{}))*slots + int(unsafe.Sizeof(Ring{}))
	// Two kinds, a cumulative tally of each, and the counters of two lanes.
	vendor := 2*ring + 2*int(unsafe.Sizeof(Histogram{})) + 2*int(unsafe.Sizeof(Counter{}))
	if vendor > 4<<20 {
		t.Errorf("a vendor takes %d KB", vendor>>10)
	}
}

func TestHotPath_AllocatesNothing(t *testing.T) {
	r, now := NewRing(), t0
	var c Counter
	waiting := []time.Duration{time.Second, 2 * time.Second}
	qs, into := []float64{0.5, 0.9}, make([]time.Duration, 2)
	if n := testing.AllocsPerRun(500, func() {
		now = now.Add(200 * time.Millisecond)
		r.Add(now, 250*time.Millisecond)
		c.Add(now, 3, 1)
		r.Window(now, S60)
		r.Last(now)
		r.Quantiles(now, S10, waiting, qs, into)
		r.Latency(now, 5, waiting)
		c.Sum(now, 3, time.Minute)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRing_Add(b *testing.B) {
	b.ReportAllocs()
	r, now, d := NewRing(), t0, 10*time.Millisecond
	for b.Loop() {
		now = now.Add(50 * time.Microsecond)
		d = d*5/4 + 1
		if d > 10*time.Second {
			d = 10 * time.Millisecond
		}
		r.Add(now, d)
	}
}

func BenchmarkRing_Window(b *testing.B) {
	b.ReportAllocs()
	r, now := NewRing(), t0
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 100_000 {
		now = now.Add(time.Millisecond)
		r.Add(now, lognormal(rnd, 300*time.Millisecond))
	}
	for b.Loop() {
		r.Window(now, S60)
	}
}

func BenchmarkRing_SecondPasses(b *testing.B) {
	b.ReportAllocs()
	r, now := NewRing(), t0
	rnd := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		now = now.Add(time.Second)
		r.Add(now, lognormal(rnd, 300*time.Millisecond))
	}
}

func BenchmarkCounter_AddAndSum(b *testing.B) {
	b.ReportAllocs()
	var c Counter
	now := t0
	for b.Loop() {
		now = now.Add(50 * time.Microsecond)
		c.Add(now, 1, 1)
		c.Sum(now, 1, 10*time.Second)
	}
}

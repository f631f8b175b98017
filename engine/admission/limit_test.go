package admission

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

func TestLimit_OfNothingKnownLetsEverythingThrough(t *testing.T) {
	var l Limit
	if _, limiting := l.Value(); !l.Room(Interactive, 1e6, 1e6) || limiting || l.Base(Stream) != 0 || l.Rate() != 0 {
		t.Errorf("a vendor of which nothing is known is limited: %+v", l)
	}
}

// feed is n attempts in flight that each take d, for so long.
func feed(l *Limit, from float64, n int, d, length float64) float64 {
	rate := float64(n) / d
	now := from
	for ; now < from+length; now += 1 / rate {
		l.Began(at(now-d), Stream)
		l.Sample(at(now), at(now-d), Stream, seconds(d), n, n)
		l.Took(Stream, seconds(d))
	}
	l.Tick(at(now), n)
	return now
}

func TestLimit_FollowsWhatAVendorHoldsAndNotMore(t *testing.T) {
	var l Limit
	now := feed(&l, 0, 20, 0.2, 10) // 100/s
	if b := l.Base(Stream); b < 195*time.Millisecond || b > 205*time.Millisecond {
		t.Fatalf("base %v", b)
	}
	// 40 in flight take twice as long: the vendor is full at 20.
	feed(&l, now, 40, 0.4, 0.4)
	if n, limiting := l.Value(); !limiting || n < 20 || n > 24 {
		t.Fatalf("limit %.0f (%v), want little over 20", n, limiting)
	}
	if n, _ := l.Value(); l.Room(Interactive, int(n), 2) || !l.Room(Interactive, int(n)-1, 9) || l.Room(Batch, int(n)-1, 1) || !l.Room(Batch, int(n)-4, 9) {
		t.Error("Room does not go by the limit")
	}
	if !l.Room(Interactive, 1000, 1) || !l.Room(Batch, 1000, 0) || l.Room(Batch, 1000, 1) {
		t.Error("streams that go on keep everybody out although nobody waits for a first token")
	}
}

func TestLimit_IsForgottenWhenNobodyRunsIntoIt(t *testing.T) {
	var l Limit
	now := feed(&l, 0, 20, 0.2, 10)
	now = feed(&l, now, 40, 0.4, 0.4)
	l.Turned(at(now))
	l.Tick(at(now+9), 5)
	if _, limiting := l.Value(); !limiting {
		t.Fatal("it is forgotten before its time")
	}
	l.Tick(at(now+11), 5)
	if _, limiting := l.Value(); limiting || !l.Room(Interactive, 30, 30) {
		t.Error("it is still in force")
	}
}

func TestLimit_SaysNothingOfWhatBeganBeforeACut(t *testing.T) {
	var l Limit
	now := feed(&l, 0, 20, 0.2, 10)
	now = feed(&l, now, 40, 0.4, 0.4)
	n, _ := l.Value()
	for range 200 { // those that still wait from before
		l.Sample(at(now), at(now-5), Stream, 5*time.Second, 40, 40)
		now += 0.01
	}
	if after, _ := l.Value(); after != n {
		t.Errorf("answers to what began before the cut moved the limit from %.0f to %.0f", n, after)
	}
}

// Whatever comes: the limit is a number, at least the floor, and there is room for one.
func TestLimit_IsANumberWhateverComes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var l Limit
		now := 0.0
		for range 500 {
			now += rng.Float64() * math.Exp(rng.NormFloat64()*3)
			if rng.IntN(50) == 0 {
				now -= rng.Float64() * 100 // the clock is set back
			}
			d := seconds(math.Exp(rng.NormFloat64() * 5))
			if rng.IntN(20) == 0 {
				d = -d
			}
			n := rng.IntN(2000)
			switch rng.IntN(6) {
			case 0:
				l.Tick(at(now), n)
			case 1:
				l.Turned(at(now))
			case 2:
				l.Took(Kind(rng.IntN(Kinds)), d)
			default:
				l.Sample(at(now), at(now-d.Seconds()), Kind(rng.IntN(Kinds)), d, n, n)
			}
			v, _ := l.Value()
			if math.IsNaN(v) || math.IsInf(v, 0) || v < Floor || !l.Room(Batch, 0, 0) || !l.Room(Interactive, 1, 1) || math.IsNaN(l.Rate()) {
				t.Fatalf("limit %v, rate %v", v, l.Rate())
			}
		}
	}
}

func TestSample_AllocatesNothing(t *testing.T) {
	var l Limit
	now := at(0)
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(10 * time.Millisecond)
		l.Sample(now, now.Add(-time.Second), Stream, time.Second, 10, 10)
		l.Took(Stream, time.Second)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSample(b *testing.B) { // budget: 30 ns, 0 allocations
	var l Limit
	now := at(0)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(time.Millisecond)
		if l.Room(Batch, 10, 10) {
			l.Sample(now, now.Add(-time.Second), Stream, time.Second, 10, 10)
		}
	}
}

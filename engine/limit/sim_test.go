package limit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"baton/engine/window"
)

var t0 = time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)

func sec(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

// upstream is a made-up vendor: what becomes of an attempt that arrives at t.
type upstream interface {
	serve(t float64, r *rand.Rand) (ends float64, refused bool, retryAfter time.Duration)
}

func latency(r *rand.Rand) float64 { return 0.24 * math.Exp(r.NormFloat64()*0.4) }

// plain answers with a latency that a scenario may stretch, and refuses a part.
type plain struct {
	stretch func(t float64) float64
	refuses float64
}

func (v plain) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	if r.Float64() < v.refuses {
		return t + 0.02, true, 0
	}
	l := latency(r)
	if v.stretch != nil {
		l *= v.stretch(t)
	}
	return t + l, false, 0
}

// windowed refuses what is over a number in each second.
type windowed struct {
	limit      int
	retryAfter time.Duration
	second     int
	n          int
}

func (v *windowed) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	if s := int(t); s != v.second {
		v.second, v.n = s, 0
	}
	if v.n++; v.n > v.limit {
		return t + 0.02, true, v.retryAfter
	}
	return t + latency(r), false, 0
}

// sliding refuses what is over a number in any second.
type sliding struct {
	limit int
	past  []float64
}

func (v *sliding) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	for len(v.past) > 0 && v.past[0] <= t-1 {
		v.past = v.past[1:]
	}
	if len(v.past) >= v.limit {
		return t + 0.02, true, 0
	}
	v.past = append(v.past, t)
	return t + latency(r), false, 0
}

// bucketed refuses what a token bucket has no token for.
type bucketed struct{ rate, burst, tokens, last float64 }

func (v *bucketed) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	v.tokens = min(v.tokens+(t-v.last)*v.rate, v.burst)
	v.last = t
	if v.tokens < 1 {
		return t + 0.02, true, 0
	}
	v.tokens--
	return t + latency(r), false, 0
}

// queueing lets a rate through and keeps the rest waiting, up to most seconds. It saves up
// what was not used, so many seconds of it.
type queueing struct{ rate, most, saves, free float64 }

func (v *queueing) serve(t float64, r *rand.Rand) (float64, bool, time.Duration) {
	v.free = max(v.free, t-v.saves)
	begins := max(t, v.free)
	if begins-t > v.most {
		return t + 0.02, true, 0
	}
	v.free += 1 / v.rate
	return begins + latency(r), false, 0
}

// run offers Poisson traffic to a vendor through a limiter.
type run struct {
	l        *Limiter
	offered  func(t float64) float64
	total    float64
	up       upstream
	seed     uint64
	class    Class // of the refusals
	tokens   int   // of an answer
	even     bool  // offered at even distances
	bypass   bool  // admission is not asked: what a fail over on 429 alone gives
	limits   []float64
	learns   int
	turned   int
	latest   []float64 // latencies of answers that began after measure
	refused  int       // after measure
	accepted int       // after measure
	measure  float64
}

func (s *run) do(seconds int) {
	const step = 0.005
	r := rand.New(rand.NewPCG(s.seed, 11))
	ring := window.NewRing()
	var c window.Counter
	const sent, done, refusals = 0, 1, 2
	type flight struct {
		begun, ends float64
		refused     bool
		retryAfter  time.Duration
	}
	var flights []flight
	gap := func(t float64) float64 {
		if s.even {
			return 1 / s.offered(t)
		}
		return r.ExpFloat64() / s.offered(t)
	}
	next := gap(0)
	for i := range int(float64(seconds) / step) {
		t := float64(i) * step
		now := sec(t)
		kept := flights[:0]
		for _, f := range flights {
			switch {
			case f.ends > t:
				kept = append(kept, f)
			case f.refused:
				c.Add(now, refusals, 1)
				s.l.Ended(now, sec(f.begun), Ending{Refused: true, RetryAfter: f.retryAfter, Class: s.class})
				if t > s.measure {
					s.refused++
				}
			default:
				c.Add(now, done, 1)
				s.l.Ended(now, sec(f.begun), Ending{Answered: true, Tokens: s.tokens})
				ring.Add(now, time.Duration((f.ends-f.begun)*1e9))
				if f.begun > s.measure {
					s.accepted++
					s.latest = append(s.latest, f.ends-f.begun)
				}
			}
		}
		flights = kept
		for next <= t {
			at := next // exactly: a vendor that wants even distances is exact too
			next += gap(t)
			if !s.bypass && !s.l.Take(sec(at)) {
				s.turned++
				continue
			}
			c.Add(now, sent, 1)
			ends, refused, ra := s.up.serve(at, r)
			flights = append(flights, flight{at, ends, refused, ra})
		}
		if i%200 != 199 {
			continue
		}
		var ages []time.Duration
		for _, f := range flights {
			ages = append(ages, time.Duration((t-f.begun)*1e9))
		}
		lat, _ := ring.Latency(now, 50, ages)
		d10, r10 := c.SumComplete(now, done, 10*time.Second), c.SumComplete(now, refusals, 10*time.Second)
		s5 := c.SumComplete(now, sent, 5*time.Second)
		before, _ := s.l.Learned()
		look := s.l.Look(now)
		look.Find()
		s.l.Tick(now, Offer{
			Look:  look,
			Sent5: s5, SentBefore5: c.SumComplete(now, sent, 10*time.Second) - s5,
			Done5: c.SumComplete(now, done, 5*time.Second), Done10: d10,
			N10: d10 + r10, Refused10: r10, Accepted: float64(d10) / 10,
			Latency: lat.P90, Total: s.total,
		})
		after, _ := s.l.Learned()
		if after > 0 && (before == 0 || after < before) {
			s.learns++
		}
		s.limits = append(s.limits, after)
	}
	slices.Sort(s.latest)
}

func (s *run) quantile(q float64) time.Duration {
	if len(s.latest) == 0 {
		return 0
	}
	return time.Duration(s.latest[int(q*float64(len(s.latest)-1))] * 1e9).Round(time.Millisecond)
}

func steady(rate float64) func(float64) float64 { return func(float64) float64 { return rate } }

func TestRefusingLimit_IsLearnedAndStayedUnder(t *testing.T) {
	for _, c := range []struct {
		name    string
		up      func() upstream
		rate    float64
		carried float64 // requests per second, at least
	}{
		{"20 a second, 25 offered", func() upstream { return &windowed{limit: 20} }, 25, 15},
		{"20 a second, 50 offered", func() upstream { return &windowed{limit: 20} }, 50, 16},
		{"20 a second, 200 offered", func() upstream { return &windowed{limit: 20} }, 200, 17},
		{"20 a second with Retry-After, 50 offered", func() upstream { return &windowed{limit: 20, retryAfter: 2 * time.Second} }, 50, 13},
		{"bucket of 20 a second, 50 offered", func() upstream { return &bucketed{rate: 20, burst: 20} }, 50, 18},
		{"bucket of 200 a second, 400 offered", func() upstream { return &bucketed{rate: 200, burst: 50} }, 400, 150},
	} {
		for seed := range uint64(3) {
			s := run{l: New(0, 1), offered: steady(c.rate), total: 200, up: c.up(), seed: seed, measure: 15}
			s.do(120)
			share := float64(s.refused) / float64(s.refused+s.accepted)
			carried := float64(s.accepted) / 105
			if share >= 0.016 { // with the first tests of the limit, which are the most frequent
				t.Errorf("%s, seed %d: %.2f %% refused after 15 s, want under 1.6 %%", c.name, seed, share*100)
			}
			if carried < c.carried {
				t.Errorf("%s, seed %d: carried %.1f/s, want %v/s (learned %d times, %s)", c.name, seed, carried, c.carried, s.learns, s.l.Evidence())
			}
		}
	}
}

func TestQueueingLimit_IsLearnedAndStayedUnder(t *testing.T) {
	for _, rate := range []float64{25, 30, 50} {
		for seed := range uint64(3) {
			under := run{l: New(0, 1), offered: steady(rate), total: 200, up: &queueing{rate: 20, most: 5}, seed: seed, measure: 60}
			under.do(360)
			alone := run{l: New(0, 1), offered: steady(rate), total: 200, up: &queueing{rate: 20, most: 5}, seed: seed, measure: 60, bypass: true}
			alone.do(360)
			first := slices.IndexFunc(under.limits, func(l float64) bool { return l > 0 })
			carried := float64(under.accepted) / 300
			t.Logf("%v offered: P50 %v P99 %v (429s alone: %v %v), learned after %d s, carried %.1f/s",
				rate, under.quantile(0.5), under.quantile(0.99), alone.quantile(0.5), alone.quantile(0.99), first, carried)
			if p99 := under.quantile(0.99); p99 > 1500*time.Millisecond || p99*3 > alone.quantile(0.99) {
				t.Errorf("%v offered, seed %d: P99 %v, and %v with 429s alone", rate, seed, p99, alone.quantile(0.99))
			}
			if first < 0 || first > 40 || carried < 15 {
				t.Errorf("%v offered, seed %d: learned after %d s, carried %.1f/s", rate, seed, first, carried)
			}
		}
	}
}

func TestKnownLimit_IsStayedUnderFromTheFirstSecond(t *testing.T) {
	for _, rate := range []float64{20, 25, 50} {
		s := run{l: New(20, 1), offered: steady(rate), total: 200, up: &queueing{rate: 20, most: 5}, measure: 0}
		s.do(120)
		if p99 := s.quantile(0.99); p99 > 1200*time.Millisecond || s.refused > 0 {
			t.Errorf("%v offered: P99 %v, %d refused", rate, p99, s.refused)
		}
	}
}

func TestBrownout_LearnsNoLimit(t *testing.T) {
	step := func(f float64) func(float64) float64 {
		return func(t float64) float64 {
			if t > 60 && t < 180 {
				return f
			}
			return 1
		}
	}
	for _, c := range []struct {
		name    string
		stretch func(float64) float64
		most    int // seconds under a limit that is taken back
	}{
		{"well", step(1), 0},
		{"3 times slower", step(3), 0},
		{"5 times slower", step(5), 0},
		{"10 times slower", step(10), 0},
		{"20 times slower", step(20), 0},
		{"slowing to 10 times over a minute", func(t float64) float64 { return 1 + 9*min(max(t-60, 0)/60, 1) }, 0},
		{"slowing to 20 times over 20 s", func(t float64) float64 { return 1 + 19*min(max(t-60, 0)/20, 1) }, 31},
		{"1 % a minute", func(t float64) float64 { return 1 + t/6000 }, 0},
		{"waves", func(t float64) float64 { return 3 + 2*math.Sin(t/5) }, 0},
	} {
		rates := []float64{5, 50, 150}
		if testing.Short() {
			rates = rates[:2]
		}
		for _, rate := range rates {
			s := run{l: New(0, 1), offered: steady(rate), total: 2 * rate, up: plain{stretch: c.stretch}, seed: 1}
			s.do(300)
			longest, now := 0, 0
			for _, l := range s.limits {
				if now++; l == 0 {
					now = 0
				}
				longest = max(longest, now)
			}
			if c.most == 0 && s.learns > 0 {
				t.Errorf("%s at %v/s: a limit where there is none (%s)", c.name, rate, s.l.Evidence())
			}
			if at := s.limits[len(s.limits)-1]; longest > c.most || at > 0 {
				t.Errorf("%s at %v/s: limited for %d s, at the end to %v, want at most %d s and then not", c.name, rate, longest, at, c.most)
			}
		}
	}
}

func TestStrayRefusals_ThrottleNobody(t *testing.T) {
	for _, c := range []struct {
		rate, refuses float64
	}{{2, 0.005}, {20, 0.005}, {200, 0.005}, {1000, 0.002}} {
		s := run{l: New(0, 1), offered: steady(c.rate), total: 2 * c.rate, up: plain{refuses: c.refuses}, seed: 3}
		s.do(200)
		if part := float64(s.turned) / (c.rate * 200); part > 0.05 {
			t.Errorf("%v/s with %v %% stray refusals: %.1f %% turned away", c.rate, c.refuses*100, part*100)
		}
		if s.learns > 0 {
			t.Errorf("%v/s with %v %% stray refusals: learned %s", c.rate, c.refuses*100, s.l.Evidence())
		}
	}
}

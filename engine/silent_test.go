//go:build !race

// Minutes of fake time at up to 200 requests/s: the race detector makes them ten
// minutes of real time, and other tests of this package show it the same code.

package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// model is a made-up vendor: when an attempt that comes at a moment has its first
// token, and how long its answer goes on.
type model struct {
	first float64 // median seconds
	rest  float64 // seconds of the stream
	slow  float64 // factor of both, 1 is normal

	rate  float64 // silently queues what is over it, per second; 0: no limit
	saves float64 // seconds of it that a lull saves up
	most  float64 // seconds of queue, beyond which it refuses

	free time.Time // when the next one is let through
}

// answer is what becomes of an attempt.
func (m *model) answer(now time.Time, r *rand.Rand) (first, total time.Duration, refused bool) {
	wait := 0.0
	if m.rate > 0 {
		saved := now.Add(-time.Duration(m.saves * float64(time.Second)))
		if m.free.Before(saved) {
			m.free = saved
		}
		wait = max(m.free.Sub(now).Seconds(), 0)
		if wait > m.most {
			return 20 * time.Millisecond, 20 * time.Millisecond, true
		}
		m.free = m.free.Add(time.Duration(float64(time.Second) / m.rate))
	}
	f := wait + m.slow*m.first*math.Exp(0.34*r.NormFloat64())
	return time.Duration(f * 1e9), time.Duration((f + m.slow*m.rest*math.Exp(0.3*r.NormFloat64())) * 1e9), false
}

// scene is an engine before made-up vendors, offered random traffic by the clock of a bubble.
type scene struct {
	*rig
	rand    *rand.Rand
	gaps    *rand.Rand // of arrivals alone, which so are the same in every run
	mu      sync.Mutex // guards what follows
	models  map[string]*model
	offered float64 // per second
	cv      float64 // of the gaps
	whole   float64 // part of whole answers
	batch   float64
	late    func(r *rand.Rand) time.Duration // what a busy machine adds to everything
	seconds []sceneSecond
	all     sync.WaitGroup
}

type sceneSecond struct {
	first   []float64 // seconds from the arrival, of those that arrived in it
	failed  int
	learned float64 // of "a", 0: none
	kind    string
	flight  float64 // its limit in flight, 0: none
	weight  float64
}

func newScene(t *testing.T, seed uint64, weight float64, a, b *model) *scene {
	s := &scene{rand: rand.New(rand.NewPCG(seed, 77)), gaps: rand.New(rand.NewPCG(seed, 78)), models: map[string]*model{"a": a, "b": b}, cv: 1}
	s.rig = newRig(t, func(c *config.Config) {
		c.Vendors[0].Weight, c.Vendors[0].Band = weight, []float64{0, 100}
		c.Vendors[1].Weight, c.Vendors[1].Band = 100-weight, []float64{0, 100}
	})
	for _, m := range s.models {
		m.slow, m.most = 1, 5
	}
	return s
}

// run goes on for so many seconds.
func (s *scene) run(seconds int) {
	begin := time.Now()
	arrivals := 0.0
	for range seconds {
		s.mu.Lock()
		i := len(s.seconds)
		s.seconds = append(s.seconds, sceneSecond{})
		s.mu.Unlock()
		for ; arrivals < 1; arrivals += s.gap() {
			time.Sleep(time.Until(begin.Add(time.Duration(arrivals * 1e9))))
			s.all.Go(func() { s.ask(i) })
		}
		arrivals--
		begin = begin.Add(time.Second)
		time.Sleep(time.Until(begin))
		s.Tick(time.Now())
		snap := s.snapshot()
		s.mu.Lock()
		sec, l := &s.seconds[i], snap.Vendors[0].Limit
		if l.LearnedRPS != nil {
			sec.learned, sec.kind = *l.LearnedRPS, l.Type
		}
		sec.weight = snap.Vendors[0].Weight
		if f := snap.Vendors[0].InFlightLimit; f != nil {
			sec.flight = *f
		}
		s.mu.Unlock()
	}
}

// gap is the time to the next arrival in seconds.
func (s *scene) gap() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return gammaGap(s.gaps, s.cv) / s.offered
}

func (s *scene) delay() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late == nil {
		return 0
	}
	return s.late(s.rand)
}

// ask is one request through the engine, as the gateway does it: up to twice.
func (s *scene) ask(second int) {
	begun := time.Now()
	s.mu.Lock()
	lane, kind := control.Interactive, weights.Stream
	if s.rand.Float64() < s.batch {
		lane = control.Batch
	}
	if s.rand.Float64() < s.whole {
		kind = weights.Whole
	}
	s.mu.Unlock()
	s.Begin(lane)
	f := Finished{Lane: lane, Kind: kind, Outcome: outcome.RateLimited, Shed: true}
	gone := make(chan struct{})
	var tried []*Vendor
	for n := range 2 {
		var l Lease
		time.Sleep(s.delay())
		if err := s.Acquire(&l, Ask{Lane: lane, Kind: kind, First: n == 0, Tried: tried, Gone: gone, Deadline: begun.Add(time.Minute)}); err != nil {
			break
		}
		s.mu.Lock()
		first, total, refused := s.models[l.Vendor.Name].answer(time.Now(), s.rand)
		s.mu.Unlock()
		time.Sleep(first + s.delay())
		if refused {
			l.Done(time.Now(), outcome.Result{Outcome: outcome.RateLimited, Scope: outcome.ScopeVendor}, outcome.Usage{})
			tried = append(tried, l.Vendor)
			continue
		}
		f.FirstToken = time.Since(begun)
		if kind == weights.Stream {
			l.FirstToken(time.Now())
		}
		time.Sleep(total - first)
		l.Done(time.Now(), outcome.Result{Outcome: outcome.OK}, outcome.Usage{Input: 100, Output: 60, Has: true})
		f.Outcome, f.Shed, f.Vendor = outcome.OK, false, l.Vendor
		break
	}
	s.Finish(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Outcome == outcome.OK {
		s.seconds[second].first = append(s.seconds[second].first, f.FirstToken.Seconds())
	} else {
		s.seconds[second].failed++
	}
}

// figures are of those that arrived in the seconds from, to.
func (s *scene) figures(from, to int) (p50, p99 float64, failed, n int) {
	var all []float64
	for _, sec := range s.seconds[from:to] {
		all = append(all, sec.first...)
		failed += sec.failed
	}
	slices.Sort(all)
	if len(all) == 0 {
		return 0, 0, failed, failed
	}
	return all[len(all)/2], all[len(all)*99/100], failed, len(all) + failed
}

// learnedAt is the first second after which a limit within that part of truth stays learned.
func (s *scene) learnedAt(from int, truth, within float64) int {
	at := -1
	for i, sec := range s.seconds[from:] {
		switch good := sec.learned > 0 && math.Abs(sec.learned/truth-1) <= within; {
		case good && at < 0:
			at = i
		case !good:
			at = -1
		}
	}
	return at
}

func silent(rate, saves float64) *model {
	return &model{first: 0.24, rest: 0.35, rate: rate, saves: saves}
}

func elastic() *model { return &model{first: 0.30, rest: 0.35} }

// set changes a vendor on command.
func (s *scene) set(name string, f func(m *model)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.models[name])
}

func (s *scene) evidence() string { return s.snapshot().Vendors[0].Limit.Evidence }

// A vendor that lets 20/s through and keeps the rest waiting is known to within 5 % half a minute after it
// began to, from how long the first ones wait for each other; then nobody waits.
func TestSilentLimit_IsLearnedAndStayedUnder(t *testing.T) {
	for _, c := range []struct {
		offered, weight, saves float64
		most                   float64 // seconds of queue
		warm                   int     // seconds before the limit comes
		by                     int     // seconds after which it is known
	}{
		{25, 90, 0, 60, 20, 30}, // 22.5/s of its own: the line is long in the making
		{25, 90, 1, 5, 20, 30},
		{30, 90, 1, 60, 20, 30},
		{50, 90, 0, 5, 20, 30},
		{50, 75, 1, 60, 20, 30},
		{100, 75, 0, 60, 20, 30},
		{100, 25, 1, 60, 20, 30},
		{200, 50, 1, 60, 20, 30},
		{25, 90, 1, 5, 0, 30}, // there from the first request on
		{50, 90, 1, 5, 0, 30},
		{100, 75, 0, 5, 0, 30},
	} {
		t.Run(fmt.Sprintf("%g/s, weight %g, %g s saved, warm for %d s", c.offered, c.weight, c.saves, c.warm), func(t *testing.T) {
			for seed := range uint64(2) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t, seed, c.weight, silent(0, c.saves), elastic())
					s.offered = c.offered
					s.run(c.warm)
					s.set("a", func(m *model) { m.rate, m.most = 20, c.most })
					s.run(80)
					s.all.Wait()
					at := s.learnedAt(c.warm, 20, 0.05)
					p50, p99, failed, n := s.figures(c.warm+c.by+8, c.warm+80)
					t.Logf("known after %d s; P50 %.0f P99 %.0f ms; %d of %d failed; %s", at, p50*1e3, p99*1e3, failed, n, s.evidence())
					if at < 0 || at > c.by {
						t.Errorf("the limit is known after %d s, want within 5 %% after %d", at, c.by)
					}
					if p99 > 0.8 {
						t.Errorf("P99 %.2f s although it is known", p99)
					}
					if _, _, failed, n := s.figures(0, c.warm+80); failed > 0 {
						t.Errorf("%d of %d failed while the other vendor had room", failed, n)
					}
				})
			}
		})
	}
}

// A vendor that becomes slower has no limit of requests, whatever becomes slower, and how.
func TestSilentLimit_IsNoBrownout(t *testing.T) {
	for _, c := range []struct {
		name        string
		first, rest float64 // factors
		long        int     // seconds
		steps       int     // in which it comes
	}{
		{"1.6 times slower", 1.6, 1.6, 60, 1},
		{"3 times slower", 3, 3, 60, 1},
		{"10 times slower", 10, 10, 30, 1},
		{"first tokens 2 times slower", 2, 1, 60, 1},
		{"first tokens 5 times slower", 5, 1, 30, 1},
		{"a stall of 5 s", 20, 1, 5, 1},
		{"slower each second", 4, 1, 15, 15},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(2) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t, seed, 75, elastic(), elastic())
					s.offered, s.cv = 60, 1.5
					s.run(30)
					for range 2 {
						for i := range c.steps {
							part := float64(i+1) / float64(c.steps)
							s.set("a", func(m *model) {
								m.first, m.rest = math.Pow(c.first, part)*elastic().first, math.Pow(c.rest, part)*elastic().rest
							})
							s.run(c.long / c.steps)
						}
						s.set("a", func(m *model) { m.first, m.rest = elastic().first, elastic().rest })
						s.run(20)
					}
					s.all.Wait()
					for i, sec := range s.seconds {
						if sec.learned > 0 {
							t.Fatalf("a limit of %.1f/s (%s) in second %d: %s", sec.learned, sec.kind, i, s.evidence())
						}
					}
					if _, _, failed, n := s.figures(0, len(s.seconds)); failed > 0 {
						t.Errorf("%d of %d failed while the other vendor had room", failed, n)
					}
				})
			}
		})
	}
}

// A limit that changes is followed: down at once, up by gentle tests.
func TestSilentLimit_IsFollowed(t *testing.T) {
	for _, c := range []struct {
		name string
		to   float64
		by   int
	}{{"down to 10", 10, 30}, {"up to 40", 40, 420}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, 3, 75, silent(0, 1), elastic())
				s.offered = 70
				s.run(20)
				s.set("a", func(m *model) { m.rate, m.most = 20, 60 })
				s.run(60)
				s.set("a", func(m *model) { m.rate = c.to })
				s.run(c.by + 60)
				s.all.Wait()
				at := s.learnedAt(80, c.to, 0.05)
				t.Logf("known after %d s; %s", at, s.evidence())
				if at < 0 || at > c.by {
					for i := 80; i < len(s.seconds); i += 10 {
						t.Logf("%d s: %.1f/s", i-80, s.seconds[i].learned)
					}
					t.Errorf("the new limit is known after %d s, want within %d", at, c.by)
				}
				if _, p99, failed, _ := s.figures(80+c.by, len(s.seconds)); p99 > 0.8 || failed > 0 {
					t.Errorf("P99 %.2f s, %d failed", p99, failed)
				}
			})
		})
	}
}

// A machine that is starved makes all first tokens late alike, at both vendors at once. Nobody is overloaded, so
// nobody is refused.
func TestStarvedMachine_RefusesNobody(t *testing.T) {
	for _, c := range []struct {
		name    string
		offered float64
		late    time.Duration // on average, at each step
		long    int           // seconds of every 30
	}{
		{"20/s, timers 50 ms late", 20, 50 * time.Millisecond, 10},
		{"20/s, timers 50 ms late for good", 20, 50 * time.Millisecond, 30},
		{"20/s, timers 200 ms late", 20, 200 * time.Millisecond, 10},
		{"20/s, timers 400 ms late", 20, 400 * time.Millisecond, 15},
		{"60/s, timers 100 ms late", 60, 100 * time.Millisecond, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(2) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t, seed, 75, elastic(), elastic())
					s.offered, s.batch, s.whole = c.offered, 0.2, 0.2
					begin := time.Now()
					s.late = func(r *rand.Rand) time.Duration {
						if past := int(time.Since(begin).Seconds()); past < 20 || past%30 >= c.long {
							return 0
						}
						return time.Duration(r.ExpFloat64() * float64(c.late))
					}
					s.run(200)
					s.all.Wait()
					_, p99, failed, n := s.figures(0, len(s.seconds))
					least := 1e9
					for _, sec := range s.seconds {
						if sec.flight > 0 {
							least = min(least, sec.flight)
						}
					}
					t.Logf("%d of %d failed, P99 %.2f s, at least %.0f in flight", failed, n, p99, least)
					if failed > 0 {
						t.Errorf("%d of %d failed, with both vendors healthy", failed, n)
					}
				})
			}
		})
	}
}

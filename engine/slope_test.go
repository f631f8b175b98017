package engine

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

func TestSlope_SlowsTheVendorAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tooFast := true
		answer := func(v string) outcome.Result {
			if v == "b" && tooFast {
				tooFast = false
				return outcome.Result{Outcome: outcome.RateLimited, Limit: outcome.LimitSlope, Scope: outcome.ScopeVendor, Reason: "limit_burst_rate"}
			}
			return outcome.Result{Outcome: outcome.OK}
		}
		if n := r.traffic(40, 2*time.Second, answer); n["b"] < 5 {
			t.Fatalf("stopped instead of slowed: %v", n)
		}
		r.Tick(time.Now())
		b := r.snapshot().Vendors[1]
		if b.State != control.Degraded || !strings.Contains(b.Reason, "slope: ") || b.Limit.LearnedRPS != nil ||
			b.Limit.AllowedRPS == nil || *b.Limit.AllowedRPS < 5 || !strings.HasPrefix(b.Limit.Evidence, "slope: ") {
			t.Fatalf("%s (%s), %+v", b.State, b.Reason, b.Limit)
		}
		if !r.said("b is held at 5 requests/s and rises slowly: slope: ") {
			t.Error("the journal does not say that it is held")
		}
		r.traffic(4, 45*time.Second, answer)
		r.Tick(time.Now())
		if b := r.snapshot().Vendors[1]; b.State != control.Healthy || b.Limit.AllowedRPS != nil || !r.said("held no more") {
			t.Fatalf("45 s without a refusal later: %s (%s), %+v", b.State, b.Reason, b.Limit)
		}
	})
}

// guarded is a made-up vendor like the simulated profile "limited": a bucket of one second behind a guard that refuses
// while the last 10 s brought more than twice the rate of the 60 s before them and 5/s more. The guard counts what it
// refuses too.
type guarded struct {
	limit, tokens float64
	last          time.Time
	counts        map[int64]int
}

func (g *guarded) answer(now time.Time) outcome.Result {
	second, recent, before := now.Unix(), 0, 0
	g.counts[second]++
	for i := range int64(70) {
		if n := g.counts[second-i]; i < 10 {
			recent += n
		} else {
			before += n
		}
	}
	if float64(recent)/10 > 2*float64(before)/60+5 {
		return outcome.Result{Outcome: outcome.RateLimited, Limit: outcome.LimitSlope, Scope: outcome.ScopeVendor, Reason: "limit_burst_rate"}
	}
	g.tokens = min(g.tokens+now.Sub(g.last).Seconds()*g.limit, g.limit)
	g.last = now
	if g.tokens < 1 {
		return outcome.Result{Outcome: outcome.RateLimited, Scope: outcome.ScopeVendor}
	}
	g.tokens--
	return outcome.Result{Outcome: outcome.OK}
}

// guardedScene is an engine before a guarded vendor "a" and one without limit, "b".
type guardedScene struct {
	*rig
	rand   *rand.Rand
	all    sync.WaitGroup
	mu     sync.Mutex // guards what follows
	a      guarded
	by     map[string]int // answers
	failed int
}

func newGuardedScene(t *testing.T, seed uint64, limit float64, band []float64) *guardedScene {
	return &guardedScene{
		rig: newRig(t, func(c *config.Config) {
			if band != nil {
				c.Vendors[0].Band, c.Vendors[1].Band = band, band
			}
		}),
		rand: rand.New(rand.NewPCG(seed, 5)),
		a:    guarded{limit: limit, counts: map[int64]int{}},
		by:   map[string]int{},
	}
}

// run offers random traffic and returns the part of it that a answered.
func (s *guardedScene) run(rate float64, seconds int, each func(a *control.Vendor)) float64 {
	begin, next := time.Now(), 0.0
	s.mu.Lock()
	a, b := s.by["a"], s.by["b"]
	s.mu.Unlock()
	for i := range seconds {
		for ; next < float64(i+1); next += s.rand.ExpFloat64() / rate {
			time.Sleep(time.Until(begin.Add(time.Duration(next * 1e9))))
			first := time.Duration((0.2 + 0.1*s.rand.Float64()) * 1e9)
			s.all.Go(func() { s.ask(first) })
		}
		time.Sleep(time.Until(begin.Add(time.Duration(i+1) * time.Second)))
		s.Tick(time.Now())
		each(&s.snapshot().Vendors[0])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, b = s.by["a"]-a, s.by["b"]-b
	return float64(a) / float64(a+b)
}

func (s *guardedScene) attempt(vendor string) outcome.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	if vendor == "a" {
		return s.a.answer(time.Now())
	}
	return outcome.Result{Outcome: outcome.OK}
}

// ask is one request through the engine, as the gateway does it: up to twice.
func (s *guardedScene) ask(first time.Duration) {
	s.Begin(control.Interactive)
	begun := time.Now()
	f := Finished{Lane: control.Interactive, Kind: weights.Stream, Outcome: outcome.RateLimited, Shed: true}
	var tried []*Vendor
	for n := range 2 {
		var l Lease
		if s.Acquire(&l, Ask{Lane: control.Interactive, Kind: weights.Stream, First: n == 0, Tried: tried, Deadline: begun.Add(time.Minute)}) != nil {
			break
		}
		res := s.attempt(l.Vendor.Name)
		if res.Outcome != outcome.OK {
			time.Sleep(25 * time.Millisecond)
			l.Done(time.Now(), res, outcome.Usage{})
			tried = append(tried, l.Vendor)
			continue
		}
		time.Sleep(first)
		l.FirstToken(time.Now())
		f.FirstToken = time.Since(begun)
		time.Sleep(350 * time.Millisecond)
		l.Done(time.Now(), res, outcome.Usage{Input: 100, Output: 60, Has: true})
		f.Outcome, f.Shed, f.Vendor = outcome.OK, false, l.Vendor
		break
	}
	s.Finish(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.Shed {
		s.failed++
	} else {
		s.by[f.Vendor.Name]++
	}
}

// A guard against slopes that fires says how fast a vendor may be sent more, not how much it takes: within two minutes it
// carries what it takes again, and a limit that is met on the way is known.
func TestSlopeGuard_IsRisenThroughToWhatTheVendorTakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   float64
		band    []float64
		warm    float64 // offered for a minute before, per second
		part    float64 // of 40/s that it carries at the end, at least: of a limit of 20/s three quarters, because random arrivals meet a bucket that is taken for a short one
		learned bool
	}{
		{"a limit of 20", 20, nil, 0, 0.375, true},
		{"a limit of 20, any weight", 20, []float64{0, 100}, 0, 0.375, true},
		{"a limit of 20, a rise from 4", 20, nil, 4, 0.375, true},
		{"more than it is sent", 60, nil, 0, 0.7, false},
		{"more than it is sent, any weight", 60, []float64{0, 100}, 0, 0.7, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(3) {
				synctest.Test(t, func(t *testing.T) {
					s := newGuardedScene(t, seed, c.limit, c.band)
					if c.warm > 0 {
						s.run(c.warm, 60, func(*control.Vendor) {})
					}
					held := 0
					s.run(40, 120, func(a *control.Vendor) {
						if l := a.Limit; l.Type == "slope" && strings.HasPrefix(l.Evidence, "slope: rose too fast") && l.LearnedRPS == nil {
							held++
						}
					})
					var last control.Vendor
					part := s.run(40, 30, func(a *control.Vendor) { last = *a })
					s.all.Wait()
					l := last.Limit
					t.Logf("held for %d s, then %.1f %% carried; type %q, %s; weight %.1f", held, 100*part, l.Type, l.Evidence, last.Weight)
					if held < 20 {
						t.Errorf("shown as held for a slope for %d s only", held)
					}
					if part < c.part {
						t.Errorf("%.1f %% carried at the end, want at least %.1f %%", 100*part, 100*c.part)
					}
					if !c.learned && l.LearnedRPS != nil {
						t.Errorf("a limit of %.1f/s is learned that is nowhere: %s", *l.LearnedRPS, l.Evidence)
					}
					if c.learned && (l.LearnedRPS == nil || math.Abs(*l.LearnedRPS/c.limit-1) > 0.05 || l.Type != "requests" || !strings.Contains(l.Evidence, "refusals")) {
						t.Errorf("the limit of %.0f/s is not known to within 5 %%: %+v", c.limit, l)
					}
					if s.failed > 0 {
						t.Errorf("%d refusals reached clients", s.failed)
					}
				})
			}
		})
	}
}

//go:build !race

// A minute and a half of fake time at a hundred requests a second and more: the race
// detector sees the same code in other tests.

package surge

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
	"baton/vendors/sim"
)

// fake is the same without sockets and in fake time: engine and simulated vendors, of
// which only the time counts.
type fake struct {
	*testing.T
	*engine.Engine
	sims [2]*sim.Vendor
	rng  *rand.Rand
	stop func()
}

func newFake(t *testing.T, places int) *fake {
	t.Helper()
	f := &fake{T: t, rng: rand.New(rand.NewPCG(7, 7))}
	cfg := config.Default()
	cfg.Probe.Path = ""
	for i, name := range []string{"lanyun", "bailian"} {
		o := pool(name, uint64(i+1))
		o.Capacity = places
		v, err := sim.New(o)
		if err != nil {
			t.Fatal(err)
		}
		f.sims[i] = v
		cfg.Vendors = append(cfg.Vendors, config.Vendor{Name: name, BaseURL: "http://127.0.0.1:1/v1", Weight: float64(60 - 20*i), Band: []float64{20, 80}})
	}
	f.Engine = engine.New(cfg, func(control.Event) {})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = f.Engine.Run(ctx) })
	f.stop = func() { cancel(); running.Wait() }
	return f
}

// sink is a client that notes when the first byte came.
type sink struct {
	http.ResponseWriter
	header http.Header
	status int
	first  func()
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(n int)   { s.status = n }
func (s *sink) Flush()              {}
func (s *sink) Write(p []byte) (int, error) {
	if s.first != nil && s.status < 400 {
		s.first()
		s.first = nil
	}
	return len(p), nil
}

// ask is one request as the gateway makes it: up to two attempts.
func (f *fake) ask(lane control.Lane, deadline time.Duration) (x answer) {
	begun := time.Now()
	f.Begin(lane)
	fin := engine.Finished{Lane: lane, Outcome: outcome.RateLimited, Shed: true}
	x.lane, x.status, x.code = lane.String(), http.StatusTooManyRequests, "baton_admission"
	gone := make(chan struct{})
	a := engine.Ask{Lane: lane, Kind: weights.Stream, First: true, Gone: gone, Deadline: begun.Add(deadline)}
	for range 2 {
		var l engine.Lease
		if err := f.Acquire(&l, a); err != nil {
			x.retryAfter = "1"
			if errors.Is(err, engine.ErrLate) {
				x.code = "late"
			}
			break
		}
		i := 0
		if l.Vendor.Name == "bailian" {
			i = 1
		}
		s := &sink{header: http.Header{}, status: http.StatusOK, first: func() {
			x.first = time.Since(begun)
			l.FirstToken(time.Now())
		}}
		f.sims[i].ServeHTTP(s, question(context.Background(), "http://x", "interactive"))
		if s.status != http.StatusOK {
			l.Done(time.Now(), outcome.Result{Outcome: outcome.VendorFault, Reason: "http_503"}, outcome.Usage{})
			a.First, a.Tried = false, append(a.Tried, l.Vendor)
			continue
		}
		l.Done(time.Now(), outcome.Result{Outcome: outcome.OK}, outcome.Usage{Input: 10, Output: 6, Has: true})
		fin.Outcome, fin.Shed, fin.Vendor, fin.FirstToken = outcome.OK, false, l.Vendor, x.first
		x.status, x.code = http.StatusOK, ""
		break
	}
	f.Finish(fin)
	x.ended, x.all = time.Now(), time.Since(begun)
	return x
}

func (f *fake) load(rate, batch float64, length time.Duration) *results {
	r := &results{begun: time.Now(), length: length}
	for at := r.begun; at.Sub(r.begun) < length; at = at.Add(time.Duration(f.rng.ExpFloat64() / rate * float64(time.Second))) {
		time.Sleep(time.Until(at))
		lane, deadline := control.Interactive, 10*time.Minute
		if f.rng.Float64() < batch {
			lane, deadline = control.Batch, 3*time.Second
		}
		r.pending.Go(func() {
			begun := time.Since(r.begun)
			x := f.ask(lane, deadline)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.list = append(r.list, timed{begun, x})
		})
	}
	return r
}

// direct is what a vendor answers per second when it has always enough to do.
func (f *fake) direct(rate float64) float64 {
	const warm, length = time.Second, 10 * time.Second
	var done atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for at := begun; at.Sub(begun) < warm+length; at = at.Add(time.Duration(f.rng.ExpFloat64() / rate * float64(time.Second))) {
		time.Sleep(time.Until(at))
		all.Go(func() {
			f.sims[0].ServeHTTP(&sink{header: http.Header{}, status: http.StatusOK}, question(context.Background(), "http://alone", "interactive"))
			if t := time.Since(begun); t > warm && t <= warm+length {
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / length.Seconds()
}

// share logs what part of capacity came out and how the tail grew, and holds both.
func (f *fake) share(what string, x, before figures, capacity float64) {
	f.Helper()
	part, tail := x.perSecond/capacity, float64(x.p99)/float64(before.p99)
	f.Logf("%s: %.1f %% of %.1f/s, P99 %.2f times the unloaded %v; %v", what, 100*part, capacity, tail, before.p99.Round(time.Millisecond), x)
	if part < fakeLeast || tail > fakeTail {
		f.Errorf("%s: %.1f %% of capacity, P99 %.2f times the unloaded", what, 100*part, tail)
	}
}

// fakeLeast and fakeTail bound them with pools whose answers become slower the more
// are in work, and hardly differ otherwise. Package admission holds 0.95 and 1.5 for others.
const fakeLeast, fakeTail = 0.8, 2.3

func TestFake_OverloadOfPools(t *testing.T) {
	for _, places := range []int{16, 32, 64} {
		t.Run(strconv.Itoa(places)+" places", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, places)
				defer f.stop()
				one := f.direct(4 * float64(places))
				before := f.load(one, 0, 20*time.Second).figures(time.Second)
				over := f.load(2.6*one, 0, 24*time.Second).figures(4 * time.Second)
				mixed := f.load(2.6*one, 0.5, 24*time.Second).figures(4 * time.Second)
				f.share("1.3x", over, before, 2*one)
				f.share("1.3x, half batch", mixed, before, 2*one)
				if refused := mixed.refused["interactive"]; refused*12 > mixed.n["interactive"] {
					t.Errorf("%d of %d interactive requests refused while batch work waits", refused, mixed.n["interactive"])
				}
				time.Sleep(20 * time.Second)
				before = f.load(one, 0, 10*time.Second).figures(time.Second)
				f.fail(0, 1)
				killed := f.load(2*one, 0, 24*time.Second).figures(6 * time.Second)
				f.fail(0, 0)
				f.share("survivor with half", killed, before, one)
				after := f.load(0.5*one, 0, 10*time.Second).figures(2 * time.Second)
				if after.refused["interactive"] > 0 || after.p99 > before.p99*3/2 {
					t.Errorf("after it: %v", after)
				}
			})
			synctest.Test(t, func(t *testing.T) {
				f := newFake(t, places)
				one := f.direct(4 * float64(places))
				before := f.load(one, 0, 20*time.Second).figures(time.Second)
				f.stop()
				f = newFake(t, places)
				defer f.stop()
				f.share("1.3x from the first request on", f.load(2.6*one, 0, 24*time.Second).figures(6*time.Second), before, 2*one)
			})
		})
	}
}

func (f *fake) fail(i int, part float64) {
	if err := f.sims[i].Set(sim.Knobs{ErrorRate: &part}); err != nil {
		f.Fatal(err)
	}
}

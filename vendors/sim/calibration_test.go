package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The machines are calibrated by discrete-event simulation: no clock, no socket, no sleep.

// world plays events in the order of their times, beside one machine.
type world struct {
	now    time.Time
	events events
	m      machine
}

type event struct {
	at time.Time
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(a, b int) bool { return e[a].at.Before(e[b].at) }
func (e events) Swap(a, b int)      { e[a], e[b] = e[b], e[a] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (w *world) in(d time.Duration, do func()) { heap.Push(&w.events, event{w.now.Add(d), do}) }

// run plays until the time is over; settled is called after each step of the machine.
func (w *world) run(d time.Duration, settled func()) {
	for end := w.now.Add(d); w.now.Before(end); {
		at, some := w.m.next()
		if len(w.events) > 0 && (!some || w.events[0].at.Before(at)) {
			e := heap.Pop(&w.events).(event)
			w.now = e.at
			w.m.advance(w.now)
			e.do()
		} else if some {
			w.now = at
			w.m.advance(w.now)
		} else {
			return
		}
		settled()
	}
}

func seconds(d float64) time.Duration { return time.Duration(d * float64(time.Second)) }

// gammaAny draws Gamma(k, 1/k), mean 1, for any k below 1 (Ahrens and Dieter, by boosting from k+1).
func gammaAny(rng *rand.Rand, k float64) float64 {
	d := k + 1 - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		z := rng.NormFloat64()
		v := math.Pow(1+c*z, 3)
		if v > 0 && math.Log(rng.Float64()) < z*z/2+d-d*v+d*math.Log(v) {
			return d * v * math.Pow(rng.Float64(), 1/k) / k
		}
	}
}

// near says whether got is within a part or an absolute distance of want.
func near(got, want, part, abs float64) bool {
	return math.Abs(got-want) <= max(part*want, abs)
}

func percentile(xs []float64, q float64) float64 {
	slices.Sort(xs)
	if len(xs) == 0 {
		return math.NaN()
	}
	return xs[int(q*float64(len(xs)-1))]
}

// Refused: within 0.5 to 2 percentage points. First token: P50 within 3 %, 35 % at the critical load; P99 within 3 to 20 %.
func TestLimited_MatchesItsTable(t *testing.T) {
	for _, c := range []struct {
		rps                        float64
		reject, queue, p50, p99    float64 // percent, percent, ms, ms
		within, within50, within99 float64 // percentage points; parts
	}{
		{15, 0.3, 0, 237, 592, 0.5, 0.03, 0.20},
		{18, 1.7, 0, 260, 1851, 1, 0.10, 0.60}, // rare bursts make its P99: we measure 0.9 s over half an hour
		{20, 5.1, 1.2, 2537, 4742, 2, 0.35, 0.05},
		{25, 20, 20, 4573, 4947, 1.5, 0.03, 0.03},
		{30, 34, 33, 4650, 4996, 1.5, 0.03, 0.03},
	} {
		reject, _, _ := offer(t, limitReject, c.rps)
		queue, p50, p99 := offer(t, limitQueue, c.rps)
		t.Logf("%2.0f rps: reject %5.1f %% (%4.1f) · queue %5.1f %% (%4.1f) · first token P50 %4.0f (%4.0f) P99 %4.0f (%4.0f) ms", c.rps, reject, c.reject, queue, c.queue, p50, c.p50, p99, c.p99)
		if !near(reject, c.reject, 0, c.within) || !near(queue, c.queue, 0, c.within) || !near(p50, c.p50, c.within50, 0) || !near(p99, c.p99, c.within99, 0) {
			t.Errorf("%v rps: out of tolerance", c.rps)
		}
	}
}

// offer offers gamma arrivals of CV 1.5 to the limiter for half an hour after ten minutes: percent refused, first tokens in ms at
// load 0.3.
func offer(t *testing.T, mode string, rps float64) (refused, p50, p99 float64) {
	t.Helper()
	o, err := Options{Profile: "limited", LimitMode: mode}.fill()
	if err != nil {
		t.Fatal(err)
	}
	rng := requestRand(11, uint64(rps))
	l := newLimits(&o)
	w := &world{now: time.Unix(1e9, 0), m: l}
	warm := w.now.Add(10 * time.Minute)
	var first []float64
	all, no := 0, 0
	waiting := map[*ticket]time.Time{}
	count := func(arrived, admitted time.Time) {
		if arrived.After(warm) {
			tm := drawElastic(&o, conditions{rng: rng, load: 0.3})
			first = append(first, milliseconds(admitted.Sub(arrived)+tm.start))
		}
	}
	var arrive func()
	arrive = func() {
		w.in(seconds(gammaAny(rng, 1/2.25)/rps), arrive)
		tk, e := l.arrive(w.now, "m", 1)
		if w.now.After(warm) {
			all++
			if e != nil {
				no++
			}
		}
		switch {
		case tk != nil:
			waiting[tk] = w.now
		case e == nil:
			count(w.now, w.now)
		}
	}
	arrive()
	w.run(40*time.Minute, func() {
		for tk, arrived := range waiting {
			select {
			case <-tk.admitted:
				count(arrived, tk.at)
				delete(waiting, tk)
			default:
			}
		}
	})
	return 100 * float64(no) / float64(all), percentile(first, 0.5), percentile(first, 0.99)
}

// gpuResult is what closed-loop users of the naive GPU saw.
type gpuResult struct {
	p50, p99, oom, refused, rps float64 // s, s, %, %, served per second
}

// visit has users who think 30 s on average ask the GPU for an hour.
func visit(t *testing.T, o Options, users int) gpuResult {
	t.Helper()
	o.Profile = "naive-gpu"
	o, err := o.fill()
	if err != nil {
		t.Fatal(err)
	}
	rng := requestRand(5, uint64(users))
	g := newGPU(&o)
	w := &world{now: time.Unix(1e9, 0), m: g}
	warm := w.now.Add(2 * time.Minute)
	var took []float64
	all, oom, refused := 0, 0, 0
	type asked struct {
		at  time.Time
		ask func()
	}
	open := map[*job]asked{}
	for range users {
		var ask func()
		ask = func() {
			j, up := g.enter(w.now, int(lognormal(rng, 180, 0.8)), int(lognormal(rng, 28, 0.5)))
			if up {
				open[j] = asked{w.now, ask}
				return
			}
			all++
			refused++
			w.in(seconds(rng.ExpFloat64()*30), ask)
		}
		w.in(seconds(rng.ExpFloat64()*30), ask)
	}
	w.run(40*time.Minute, func() {
		for j, a := range open {
			select {
			case <-j.ended:
			default:
				continue
			}
			delete(open, j)
			w.in(seconds(rng.ExpFloat64()*30), a.ask)
			if w.now.Before(warm) {
				continue
			}
			all++
			switch j.end {
			case jobDone:
				took = append(took, w.now.Sub(a.at).Seconds())
			case jobOutOfMemory:
				oom++
			default:
				refused++
			}
		}
	})
	n := float64(all)
	return gpuResult{percentile(took, 0.5), percentile(took, 0.99), 100 * float64(oom) / n, 100 * float64(refused) / n, float64(len(took)) / (38 * 60)}
}

// Out of memory: within 2 percentage points. P99: within 10 % while nothing fails; beyond, the published model queues
// longer before a thread than ours, whose failures free their threads at once: from 14 to 38 % less.
func TestNaiveGPU_MatchesItsTable(t *testing.T) {
	for _, c := range []struct {
		users    int
		p99, oom float64
	}{{200, 2.4, 0}, {400, 6.9, 3.9}, {500, 7.1, 15.6}, {600, 12, 22}} {
		r := visit(t, Options{Crash: -1}, c.users)
		t.Logf("%d users: P50 %.1f s, P99 %.1f s (%.1f), out of memory %.1f %% (%.1f), %.1f served/s", c.users, r.p50, r.p99, c.p99, r.oom, c.oom, r.rps)
		within := 0.40
		if c.oom == 0 {
			within = 0.10
		}
		if !near(r.oom, c.oom, 0, 2) || !near(r.p99, c.p99, within, 0) {
			t.Errorf("%d users: out of tolerance", c.users)
		}
	}
	r := visit(t, Options{}, 500)
	t.Logf("500 users with crashes: P99 %.1f s, out of memory %.1f %%, refused %.1f %%", r.p99, r.oom, r.refused)
	if !near(r.refused, 10.6, 0, 4) {
		t.Errorf("refused %.1f %% with crashes, want 10.6 within 4 points", r.refused)
	}
	r = visit(t, Options{Quantized: true}, 500)
	t.Logf("500 users, quantized: P50 %.1f s, P99 %.1f s, out of memory %.1f %%, %.1f served/s", r.p50, r.p99, r.oom, r.rps)
	if r.oom > 0 || r.p99 < 10 {
		t.Errorf("quantized: %+v, want no failure for memory, and the wait that failures had hidden", r)
	}
}

// poolResult is what a closed loop without thinking saw of the pool.
type poolResult struct {
	ttft50, ttft99, steady99, tpot, e2e50, e2e99 float64 // ms, ms, ms, ms, s, s
}

// press keeps so many requests in flight for five minutes, all of which begin at once.
func press(t *testing.T, o Options, users int) poolResult {
	t.Helper()
	o.Profile = "vllm-pool"
	o, err := o.fill()
	if err != nil {
		t.Fatal(err)
	}
	rng := requestRand(3, uint64(users))
	p := newPool(&o)
	w := &world{now: time.Unix(1e9, 0), m: p}
	settled := w.now.Add(30 * time.Second)
	var ttft, steady, tpot, e2e []float64
	type live struct {
		s     *sequence
		asked time.Time
		first time.Time
	}
	open := make([]live, users)
	ask := func(i int) {
		asked := w.now
		w.in(o.FirstToken-poolStep, func() {
			s := newSequence(max(int(lognormal(rng, 300, 0.6)), 1), 0, max(int(lognormal(rng, 120, 0.5)), 1))
			open[i] = live{s: s, asked: asked}
			p.enter(w.now, w.now, s)
		})
	}
	for i := range open {
		ask(i)
	}
	w.run(5*time.Minute, func() {
		for i := range open {
			l := &open[i]
			if l.s == nil {
				continue
			}
			made := int(l.s.made.Load())
			if made > 0 && l.first.IsZero() {
				l.first = w.now
				ttft = append(ttft, milliseconds(w.now.Sub(l.asked)))
				if l.asked.After(settled) {
					steady = append(steady, milliseconds(w.now.Sub(l.asked)))
				}
			}
			if made < l.s.want {
				continue
			}
			e2e = append(e2e, w.now.Sub(l.asked).Seconds())
			if l.s.want > 1 {
				tpot = append(tpot, milliseconds(w.now.Sub(l.first))/float64(l.s.want-1))
			}
			l.s = nil
			ask(i)
		}
	})
	return poolResult{percentile(ttft, 0.5), percentile(ttft, 0.99), percentile(steady, 0.99), percentile(tpot, 0.5), percentile(e2e, 0.5), percentile(e2e, 0.99)}
}

// P50 of first token and token: within 8 %, of whole answers within 10 %; P99 of whole answers within 15 %. The first token's P99 depends
// on how much of the simultaneous start is counted: the table must lie between ours from the start and ours once settled,
// within 15 %.
func TestPool_MatchesItsTable(t *testing.T) {
	for _, c := range []struct {
		users, replicas          int
		p50, p99, tpot, e50, e99 float64
	}{
		{1, 1, 43, 72, 10.5, 1.25, 4.5},
		{32, 1, 52, 97, 15, 1.8, 5.3},
		{128, 1, 82, 300, 27, 3.3, 9.3},
		{256, 1, 103, 985, 44, 5.3, 15},
		{500, 1, 5771, 6895, 44, 10.7, 22},
		{500, 2, 104, 976, 43, 5.1, 15},
		{500, 4, 78, 159, 27, 3.2, 9.7},
	} {
		r := press(t, Options{Replicas: c.replicas}, c.users)
		t.Logf("%3d at once, R=%d: first token P50 %4.0f (%4.0f) P99 %4.0f (%4.0f; %4.0f once settled) ms · per token %4.1f (%4.1f) ms · whole P50 %.2f (%.2f) P99 %.1f (%.1f) s", c.users, c.replicas, r.ttft50, c.p50, r.ttft99, c.p99, r.steady99, r.tpot, c.tpot, r.e2e50, c.e50, r.e2e99, c.e99)
		if !near(r.ttft50, c.p50, 0.08, 0) || !near(r.tpot, c.tpot, 0.08, 0) || !near(r.e2e50, c.e50, 0.10, 0) || !near(r.e2e99, c.e99, 0.15, 0) ||
			c.p99 < 0.85*r.steady99 || c.p99 > 1.15*max(r.ttft99, r.steady99) {
			t.Errorf("%d at once, R=%d: out of tolerance", c.users, c.replicas)
		}
	}
	for _, users := range []int{128, 256} {
		r := press(t, Options{KVTokens: 40_000}, users)
		t.Logf("%d at once, 24 GB: first token P50 %.1f s", users, r.ttft50/1000)
	}
}

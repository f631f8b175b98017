package sim

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// The profile "naive-gpu" is one 24 GB GPU with a 7B model behind FastAPI and transformers: threads that share the
// processor, no stream, no queue that can be seen, no 429.
//
//	k requests at work together finish 16·k/(k+8) mean requests per second, each gets the same part
//	a mean request is 0.3 reading the prompt and 0.7 writing: alone it takes 9/16 s
//	memory = weights + Σ 1.2·(50 MB + 0.5 MB·(tokens in + tokens out)); what does not fit when a thread takes it up gets 500
//
// FirstToken is what a mean prompt takes alone and PerToken what a token takes alone, Capacity the threads: their
// defaults are the figures above. Quantized is assumed, not measured: 4-bit weights are 5.6 GB of a 7B model, and
// transformers unpacks them in every pass, which costs 15 % of the speed. After a failure for memory, with the chance
// Crash, the process dies: what is in it is reset, and for 40 s every connection too. A request with "stream" gets all of
// its events at once.
//
// Users who think 30 s on average, 38 minutes: 200 have P99 2.5 s and no failure; 400 5.2 s and 4 % out of memory; 500
// 6.1 s and 15 %; 600 7.5 s and 24 %; 500 with crashes 13 % and 11 % refused; 500 quantized P50 13 s, P99 20 s, none out
// of memory. The model that this one follows had 2.4, 6.9, 7.1 and 12 s with 0, 3.9, 15.6 and 22 %: here a failure for
// memory takes no time, and gives its thread to the next in line at once.
const (
	gpuHalf        = 8 // requests at work at which half of the GPU's top rate is reached
	gpuMemory      = 24_000.0
	gpuWeights     = 15_200.0
	gpuWeights4bit = 5_600.0
	gpuSpeed4bit   = 0.85
	gpuPerRequest  = 50.0 // MB, before the overhead
	gpuPerToken    = 0.5
	gpuOverhead    = 1.2
	gpuDown        = 40 * time.Second
	gpuThreads     = 40      // AnyIO's default
	gpuMeanIn      = 247.885 // of LN(180, 0.8)
)

// gpu is a machine.
type gpu struct {
	o       *Options
	rng     *rand.Rand
	at      time.Time
	shared  float64 // seconds of work that each request at work would have had from the beginning
	working jobs
	waiting []*job // for a thread
	used    float64
	down    time.Time // dead until then
}

// job is a request on the GPU; ended is closed when it has its end.
type job struct {
	ended  chan struct{}
	end    jobEnd
	in     int
	out    int
	until  float64 // what gpu.shared must reach; before it works, its length
	memory float64
	at     int // in the heap; -1: not there
}

type jobEnd int

const (
	jobDone jobEnd = iota + 1
	jobOutOfMemory
	jobCrashed
)

func newGPU(o *Options) *gpu {
	return &gpu{o: o, rng: rand.New(rand.NewPCG(o.Seed, 0x6770))}
}

// enter hands in a request; false while the process is dead.
func (g *gpu) enter(now time.Time, in, out int) (*job, bool) {
	if now.Before(g.down) {
		return nil, false
	}
	j := &job{
		ended: make(chan struct{}), in: in, out: out, at: -1,
		until:  g.o.FirstToken.Seconds()*float64(in)/gpuMeanIn + g.o.PerToken.Seconds()*float64(out),
		memory: gpuOverhead * (gpuPerRequest + gpuPerToken*float64(in+out)),
	}
	g.waiting = append(g.waiting, j)
	g.start(now)
	return j, true
}

// start gives waiting requests their threads.
func (g *gpu) start(now time.Time) {
	for len(g.waiting) > 0 && len(g.working) < g.o.Capacity {
		j := g.waiting[0]
		g.waiting = slices.Delete(g.waiting, 0, 1)
		if g.used+j.memory > g.memory() {
			j.finish(jobOutOfMemory)
			if g.rng.Float64() < g.o.Crash {
				g.crash(now)
			}
			continue
		}
		g.used += j.memory
		j.until += g.shared
		heap.Push(&g.working, j)
	}
}

func (g *gpu) memory() float64 {
	if g.o.Quantized {
		return gpuMemory - gpuWeights4bit
	}
	return gpuMemory - gpuWeights
}

func (g *gpu) crash(now time.Time) {
	g.down = now.Add(g.o.scaled(gpuDown))
	for _, j := range slices.Concat(g.working, g.waiting) {
		j.finish(jobCrashed)
	}
	g.working, g.waiting, g.used = nil, nil, 0
}

// pace is the share of a second's work that each request gets per second.
func (g *gpu) pace() float64 {
	pace := (1 + gpuHalf) / float64(len(g.working)+gpuHalf) / g.o.Scale
	if g.o.Quantized {
		pace *= gpuSpeed4bit
	}
	return pace
}

func (g *gpu) advance(now time.Time) {
	for {
		at, some := g.next()
		if !some || at.After(now) {
			break
		}
		j := heap.Pop(&g.working).(*job)
		g.shared, g.at = j.until, at
		g.used -= j.memory
		j.finish(jobDone)
		g.start(at)
	}
	if gone := now.Sub(g.at); gone > 0 {
		if len(g.working) > 0 {
			g.shared += gone.Seconds() * g.pace()
		} else {
			g.shared, g.used = 0, 0 // nothing is measured against them: rounding ends here
		}
		g.at = now
	}
}

func (g *gpu) next() (at time.Time, some bool) {
	if len(g.working) == 0 {
		return time.Time{}, false
	}
	left := max(g.working[0].until-g.shared, 0) / g.pace()
	return g.at.Add(time.Duration(math.Ceil(left * float64(time.Second)))), true
}

// leave frees what a request holds, if it holds anything.
func (g *gpu) leave(now time.Time, j *job) {
	if j.at >= 0 {
		heap.Remove(&g.working, j.at)
		g.used -= j.memory
		g.start(now)
		return
	}
	if i := slices.Index(g.waiting, j); i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
}

func (j *job) finish(end jobEnd) {
	j.end = end
	close(j.ended)
}

// jobs is a heap, the next to finish first.
type jobs []*job

func (h jobs) Len() int           { return len(h) }
func (h jobs) Less(a, b int) bool { return h[a].until < h[b].until }

func (h jobs) Swap(a, b int) {
	h[a], h[b] = h[b], h[a]
	h[a].at, h[b].at = a, b
}

func (h *jobs) Push(j any) {
	j.(*job).at = len(*h)
	*h = append(*h, j.(*job))
}

func (h *jobs) Pop() any {
	last := len(*h) - 1
	j := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	j.at = -1
	return j
}

// gpuStation is a GPU driven by the clock.
type gpuStation struct {
	driver
	gpu *gpu
}

func newGPUStation(o *Options) station {
	g := newGPU(o)
	return &gpuStation{driver: driver{m: g}, gpu: g}
}

func (s *gpuStation) set(o *Options) {
	s.do(func(now time.Time) {
		s.gpu.o = o
		s.gpu.start(now)
	})
}

func (s *gpuStation) reading() reading {
	var r reading
	s.do(func(now time.Time) {
		r = reading{working: len(s.gpu.working), waiting: len(s.gpu.waiting), capacity: float64(s.gpu.o.Capacity), replicas: 1, down: now.Before(s.gpu.down)}
	})
	return r
}

func (s *gpuStation) serve(in, _, out int) pace {
	return &burst{s: s, in: in, out: out}
}

// burst is the pace of an answer that comes all at once.
type burst struct {
	s       *gpuStation
	in, out int
}

func (b *burst) first(x *exchange) bool {
	var (
		j  *job
		up bool
	)
	b.s.do(func(now time.Time) { j, up = b.s.gpu.enter(now, b.in, b.out) })
	if !up {
		x.reset()
		return false
	}
	x.leave = func() { b.s.do(func(now time.Time) { b.s.gpu.leave(now, j) }) }
	select {
	case <-j.ended:
	case <-x.r.Context().Done():
		x.outcome = Left
		return false
	}
	switch j.end {
	case jobOutOfMemory:
		x.refuse(outOfMemory)
	case jobCrashed:
		x.reset()
	default:
		return true
	}
	return false
}

func (b *burst) next(_ *exchange, _, n int) (int, bool) { return n, true }

func (b *burst) last(x *exchange, _ int) bool { return b.first(x) }

// outOfMemory is what a plain FastAPI handler makes of torch's exception.
var outOfMemory = refusal{
	status: http.StatusInternalServerError,
	body:   []byte(`{"detail":"CUDA out of memory. Tried to allocate 228.00 MiB. GPU 0 has a total capacity of 23.65 GiB of which 64.00 MiB is free."}`),
}

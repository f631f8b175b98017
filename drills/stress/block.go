package stress

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"baton/drills/load"
	"baton/engine/outcome"
)

const (
	restAfter = 250 * time.Millisecond // a worker's, after a failure: a client would not ask again at once
	restMost  = 5 * time.Second        // of what Retry-After is believed
	prolong   = 5                      // times: how far a window and a warm-up are stretched for samples
	judgedAt  = 50                     // requests before failures end a block
)

// block is one stretch of load on one target: warm-up, measured window and the
// cool-down in which the load goes on until every request of the window has its end.
// Nothing is drained between them.
type block struct {
	a        *asker
	meter    *meter
	arrivals string
	workers  int     // of a closed loop
	rate     float64 // of an open one, per second
	from     float64 // of an open loop whose rate grows over stagger; 0: it is there at once
	stagger  time.Duration
	warm     time.Duration
	warmed   int // requests that must have ended before the window opens
	window   time.Duration
	least    int // requests measured; the window is prolonged for them
	most     int
	size     int // of answers in tokens; 0: the plan's
	keys     int // 0: the plan's
	failing  float64
	abrupt   bool // the window's end cuts what is under way
	seed     uint64

	mu      sync.Mutex // guards what follows
	phase   phase
	opened  time.Time
	closed  time.Time
	samples []sample
	gaps    *hdr.Histogram // of measured streams, µs
	begun   int            // requests that began in the window
	pending int            // of those, still under way
	ended   int            // requests of the warm-up that have ended
	bad     int            // measured ones that failed, refusals apart
	dropped int
	under   int // under way now
	cpu     [2]time.Duration
	why     string // why it ended before its time
	done    chan struct{}
	finish  sync.Once
}

type phase int

const (
	warming phase = iota
	measuring
	cooling
)

// newGaps makes a histogram of µs with three digits, up to ten minutes.
func newGaps() *hdr.Histogram { return hdr.New(1, 600_000_000, 3) }

// run loads the target and returns when the window's last request has ended.
func (b *block) run(ctx context.Context) {
	b.gaps, b.done = newGaps(), make(chan struct{})
	work, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	wg.Go(func() {
		defer stop()
		b.steer(work)
	})
	if b.arrivals == ClosedLoop {
		load.Closed{Workers: b.workers, Stagger: b.stagger}.Run(work, func(_ int, free time.Time) time.Duration {
			return b.rest(b.one(work, free, b.a.next(b.size, b.keys)))
		})
	} else {
		load.Open{Pacer: b.pacer(), Outstanding: max(1000, int(20*b.rate)), Dropped: b.drop}.Run(work, func(due time.Time) func() {
			q := b.a.next(b.size, b.keys)
			return func() { b.one(work, due, q) }
		})
	}
	wg.Wait()
	b.settle()
}

func (b *block) pacer() load.Pacer {
	if b.arrivals == Constant && b.from > 0 && b.from < b.rate {
		return &load.Ramp{From: b.from, To: b.rate, Over: b.stagger}
	}
	if b.arrivals == Constant {
		return load.Constant{RPS: b.rate}
	}
	return load.Poisson{RPS: b.rate, Rand: rand.New(rand.NewPCG(b.seed, 0x61727276))}
}

func (b *block) drop(time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.phase == measuring {
		b.dropped++
	}
}

// one makes one request, in whichever phase it is due.
func (b *block) one(ctx context.Context, due time.Time, q question) *sample {
	if !b.meter.reserve() {
		b.end("the budget is spent")
		return nil
	}
	b.mu.Lock()
	measured := b.phase == measuring && !due.Before(b.opened)
	second := 0
	if measured {
		b.begun++
		b.pending++
		second = int(due.Sub(b.opened).Seconds())
	}
	b.under++
	b.mu.Unlock()
	var gaps []float64
	s := b.a.ask(ctx, due, q, func(ms float64) {
		if measured {
			gaps = append(gaps, ms)
		}
	})
	s.measured, s.second = measured, second
	b.meter.spend(&s)
	b.take(s, gaps)
	return &s
}

// take keeps what became of a request.
func (b *block) take(s sample, gaps []float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under--
	if s.measured {
		b.pending--
	} else if b.phase == warming {
		b.ended++
	}
	if s.result == outcome.ClientCancel {
		s.measured = false // cut by the run's own end: it says nothing of the vendor
	}
	if s.measured && s.ok() {
		for _, g := range gaps {
			_ = b.gaps.RecordValue(int64(g * 1e3)) // what is over ten minutes is no gap
		}
	}
	if s.measured && !s.ok() && !s.refused() {
		b.bad++
	}
	b.samples = append(b.samples, s)
	if done := b.begun - b.pending; b.failing > 0 && b.why == "" && done >= judgedAt && float64(b.bad) > b.failing*float64(done) {
		b.why = "too many requests fail"
	}
}

// rest is how long a worker waits before its next request.
func (b *block) rest(s *sample) time.Duration {
	if s == nil || s.ok() {
		return 0
	}
	return max(restAfter, min(s.retry, restMost))
}

// end ends the block before its time.
func (b *block) end(why string) {
	b.mu.Lock()
	b.why = or(b.why, why)
	b.mu.Unlock()
	b.finish.Do(func() { close(b.done) })
}

// steer opens and closes the window and returns when all of its requests have ended.
func (b *block) steer(ctx context.Context) {
	start := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.done:
			return
		case now := <-tick.C:
			if b.step(start, now) {
				return
			}
		}
	}
}

// step moves from phase to phase; true at the end of the last.
func (b *block) step(start, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	warm := max(b.warm, b.stagger)
	switch b.phase {
	case warming:
		if gone := now.Sub(start); gone >= warm && (b.ended >= b.warmed || gone >= prolong*warm) {
			b.open(now)
		}
	case measuring:
		gone := now.Sub(b.opened)
		enough := gone >= b.window && (b.begun >= b.least || gone >= prolong*b.window)
		if enough || b.begun >= b.most || b.why != "" {
			b.close(now)
			return b.abrupt
		}
	case cooling:
		return b.pending == 0
	}
	return false
}

func (b *block) open(now time.Time) {
	b.phase, b.opened = measuring, now
	b.cpu[0], _ = cpuTime()
}

func (b *block) close(now time.Time) {
	b.phase, b.closed = cooling, now
	b.cpu[1], _ = cpuTime()
}

// settle closes what an early end left open.
func (b *block) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.phase == measuring {
		b.close(time.Now())
	}
	if b.phase == warming {
		b.opened = time.Now()
		b.closed = b.opened
	}
}

// load is the part of this process's CPUs that was busy in the window; false where
// that is not known.
func (b *block) load() (float64, bool) {
	wall := b.closed.Sub(b.opened).Seconds()
	if wall <= 0 || b.cpu[1] == 0 {
		return 0, false
	}
	return (b.cpu[1] - b.cpu[0]).Seconds() / wall / float64(runtime.GOMAXPROCS(0)), true
}

// live is what can be said of a block while it runs.
type live struct {
	phase          phase
	begun, ok, bad int
	refused        int
	under          int
	rps            float64
	p50, p99       float64 // total, ms; NaN: not yet
}

// look sums the block up as it is now.
func (b *block) look() live {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := live{phase: b.phase, begun: b.begun, bad: b.bad, under: b.under}
	recent := b.samples[max(0, len(b.samples)-2000):]
	values := make([]float64, 0, len(recent))
	from := b.a.since() - 5*time.Second
	for i := range recent {
		s := &recent[i]
		if s.ok() && s.end >= from {
			l.ok++
			if v, ok := total(s); ok {
				values = append(values, v)
			}
		}
		if s.refused() && s.end >= from {
			l.refused++
		}
	}
	l.rps = float64(l.ok) / 5
	l.p50, l.p99 = quantileOf(values, 0.5), quantileOf(values, 0.99)
	return l
}

package spike

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"baton/drills/cpu"
	"baton/drills/load"
)

// Generator is the part of the processor time that the requests take here.
const Generator = "generator"

// Connections are opened in the baseline, as clients that stay keep theirs: for
// what is under way where an answer takes 0.4 s. A spike of new clients, each with
// a handshake, would be another one.
const (
	warmPart = 0.4
	warmMost = 1024
)

// Run sends the plan's requests and returns what became of them. seen, if not
// nil, is told of each second once every request due in it has ended, or two
// seconds have passed; it must not block. When ctx ends early the Result is of
// what there was, with ctx's error.
func Run(ctx context.Context, p Plan, seen func(Second)) (*Result, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.Bound <= 0 {
		p.Bound = int(4 * p.To)
	}
	through, err := p.wire()
	if err != nil {
		return nil, err
	}
	defer through.close()
	defer context.AfterFunc(ctx, through.close)()
	book := newBook(&p, time.Now())

	// Requests that the end finds under way get their time: the last ones may wait.
	sending, stop := context.WithTimeout(ctx, p.Length())
	defer stop()
	telling, told := context.WithCancel(ctx)
	var wg sync.WaitGroup
	if seen != nil {
		wg.Go(func() { book.tell(telling, seen) })
	}
	if p.Entered != nil {
		wg.Go(func() { p.tellPhases(telling, book.begin) })
	}
	wg.Go(func() {
		if sleep(telling, p.Baseline/2) {
			cpu.As(telling, Generator, func(ctx context.Context) { through.warm(ctx, min(warmMost, int(warmPart*p.To))) })
		}
	})
	meter := &meter{plan: &p}
	if p.CPU {
		wg.Go(func() { meter.run(telling, book.begin) })
	}
	cpu.As(ctx, Generator, func(context.Context) {
		rng := rand.New(rand.NewPCG(p.Seed, 2))
		n := p.Seed
		open := load.Open{
			Pacer: &pacer{plan: &p, rand: rand.New(rand.NewPCG(p.Seed, 1))}, Outstanding: p.Bound,
			Dropped: func(due time.Time) { book.drop(due) },
		}
		open.Run(sending, func(due time.Time) func() {
			n++
			id := n
			batch := rng.Float64() < p.Batch
			q := question{batch: batch, stream: !batch && rng.Float64() < p.Stream, n: id}
			book.sent(due)
			return func() { book.end(ask(ctx, through, book.begin, due, q)) }
		})
	})
	told()
	wg.Wait()
	r := book.result()
	r.CPU, r.CPUSeconds = meter.parts, meter.took.Seconds()
	return r, ctx.Err()
}

// tellPhases tells of each phase as it begins, until ctx ends.
func (p *Plan) tellPhases(ctx context.Context, begin time.Time) {
	at := begin
	for _, phase := range []struct {
		name  string
		lasts time.Duration
	}{{Baseline, p.Baseline}, {Peak, p.Hold}, {Recovery, p.Recovery}} {
		if !sleep(ctx, time.Until(at)) {
			return
		}
		p.Entered(phase.name)
		at = at.Add(phase.lasts)
	}
}

// meter measures processor time by part while the spike holds.
type meter struct {
	plan  *Plan
	parts map[string]float64
	took  time.Duration
}

// run measures; it leaves nothing where somebody else does, or the spike was cut
// short.
func (m *meter) run(ctx context.Context, begin time.Time) {
	if !sleep(ctx, time.Until(begin.Add(m.plan.Baseline))) {
		return
	}
	measure, err := cpu.Start()
	if err != nil {
		return
	}
	whole := sleep(ctx, time.Until(begin.Add(m.plan.Baseline+m.plan.Hold)))
	took, parts, err := measure.Stop()
	if err == nil && whole {
		m.parts, m.took = parts, took
	}
}

// sleep waits, and says whether ctx has not ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

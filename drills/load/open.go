package load

import (
	"context"
	"sync"
	"time"
)

// Open is an open loop. Calls are due on an absolute plan: the first at once, each
// further one a [Pacer]'s gap after the one before it was due. One that is late is made
// at once and keeps its due moment, so that its caller can count from there.
type Open struct {
	Pacer Pacer
	// Outstanding bounds the calls under way: further ones are dropped. 0: 256.
	Outstanding int
	// Dropped is told of calls that were not made; nil: nobody is. It must not block.
	Dropped func(due time.Time)
}

// Run makes calls until ctx ends and returns after the last one has. next is asked
// for each call, in their order and by one goroutine; the call that it returns
// is made in a goroutine of its own.
func (o Open) Run(ctx context.Context, next func(due time.Time) (call func())) {
	bound := o.Outstanding
	if bound <= 0 {
		bound = outstanding
	}
	slots := make(chan struct{}, bound)
	var wg sync.WaitGroup
	defer wg.Wait()
	due := time.Now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		select {
		case slots <- struct{}{}:
			call := next(due)
			wg.Go(func() {
				defer func() { <-slots }()
				call()
			})
		default:
			if o.Dropped != nil {
				o.Dropped(due)
			}
		}
		due = due.Add(o.Pacer.Next()) // not from now: what is late is caught up with
		timer.Reset(time.Until(due))
	}
}

package load

import (
	"context"
	"sync"
	"time"
)

// Closed is a closed loop: Workers callers, each of which makes its next call when
// the last has returned.
type Closed struct {
	Workers int
	// Stagger is the time over which the workers begin, evenly, so that they do not
	// march in step.
	Stagger time.Duration
}

// Run calls until ctx ends, and returns after the last call has. free is the
// moment at which the worker became free to make this call. call returns how long
// its worker is to rest before the next one, as a client does that was refused; 0: not.
func (c Closed) Run(ctx context.Context, call func(worker int, free time.Time) time.Duration) {
	var wg sync.WaitGroup
	defer wg.Wait()
	begin := time.Now()
	for w := range c.Workers {
		start := begin.Add(c.Stagger * time.Duration(w) / time.Duration(c.Workers))
		wg.Go(func() {
			for rest(ctx, time.Until(start)) {
				pause := call(w, start)
				start = time.Now().Add(pause)
			}
		})
	}
}

// rest waits for d, and says whether ctx has not ended.
func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

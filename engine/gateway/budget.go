package gateway

import (
	"math/rand/v2"
	"sync"
	"time"
)

// retryBudget bounds further tries at vendors that were tried already: a part of
// the requests over 10 s, and never under 10 in that time. Moves to another vendor
// are not its business.
type retryBudget struct {
	mu    sync.Mutex
	slots [retrySpan]retrySlot
}

type retrySlot struct {
	second            int64
	requests, retries int
}

const (
	retrySpan  = 10 // seconds
	retryFloor = 10 // retries
)

// request counts a request in.
func (b *retryBudget) request(now time.Time) {
	b.mu.Lock()
	b.slot(now.Unix()).requests++
	b.mu.Unlock()
}

func (b *retryBudget) slot(second int64) *retrySlot {
	s := &b.slots[second%retrySpan]
	if s.second != second {
		s.second, s.requests, s.retries = second, 0, 0
	}
	return s
}

// take takes one retry; false if the budget, a part of all requests, is used up.
func (b *retryBudget) take(now time.Time, part float64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := now.Unix()
	requests, retries := 0, 0
	for i := range b.slots {
		if s := &b.slots[i]; s.second > at-retrySpan && s.second <= at {
			requests += s.requests
			retries += s.retries
		}
	}
	if float64(retries+1) > max(part*float64(requests), retryFloor) {
		return false
	}
	b.slot(at).retries++
	return true
}

const (
	backoffFirst = 100 * time.Millisecond
	backoffMost  = 2 * time.Second
)

// backoff is the pause before the nth repeat (from 0): doubling, and of random
// length between half and all, so that clients do not come back together.
func backoff(n int) time.Duration {
	d := min(backoffFirst<<min(n, 10), backoffMost)
	return d/2 + rand.N(d/2)
}

package load

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestOpen_KeepsThePlanOfALateCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
		defer cancel()
		begin := time.Now()
		n := 0
		Open{Pacer: Constant{RPS: 20}}.Run(ctx, func(due time.Time) func() {
			if want := begin.Add(time.Duration(n) * 50 * time.Millisecond); !due.Equal(want) {
				t.Fatalf("call %d is due after %s, want %s", n, due.Sub(begin), want.Sub(begin))
			}
			if n++; n == 60 {
				time.Sleep(3 * time.Second) // the client itself stalls
			}
			return func() {}
		})
		if n != 200 {
			t.Errorf("%d calls, want 200", n)
		}
	})
}

func TestOpen_DropsBeyondItsBoundAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second-time.Millisecond)
		defer cancel()
		made, dropped := 0, 0
		Open{Pacer: Constant{RPS: 10}, Outstanding: 5, Dropped: func(time.Time) { dropped++ }}.Run(ctx, func(time.Time) func() {
			made++
			return func() { time.Sleep(980 * time.Millisecond) } // ten would have to be under way
		})
		if made+dropped != 100 || made < 49 || made > 51 {
			t.Errorf("%d made, %d dropped", made, dropped)
		}
	})
}

func TestClosed_HoldsTheOccupancy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var now, most, calls atomic.Int64
		Closed{Workers: 8, Stagger: 500 * time.Millisecond}.Run(ctx, func(_ int, free time.Time) time.Duration {
			if !free.Equal(time.Now()) {
				t.Errorf("called %s after its worker became free", time.Since(free))
			}
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			calls.Add(1)
			time.Sleep(500 * time.Millisecond)
			return 0
		})
		// 8 workers of 2 calls a second; the last ones that began have also ended.
		if most.Load() != 8 || calls.Load() < 152 || calls.Load() > 168 {
			t.Errorf("%d at most, %d calls", most.Load(), calls.Load())
		}
	})
}

func TestClosed_StaggersItsWorkersAndRestsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3900*time.Millisecond)
		defer cancel()
		begin := time.Now()
		var mu sync.Mutex
		firsts := map[int]time.Duration{}
		calls := 0
		Closed{Workers: 4, Stagger: time.Second}.Run(ctx, func(w int, free time.Time) time.Duration {
			mu.Lock()
			defer mu.Unlock()
			calls++
			if _, known := firsts[w]; !known {
				firsts[w] = free.Sub(begin)
			}
			return time.Second
		})
		for w, at := range firsts {
			if want := time.Duration(w) * 250 * time.Millisecond; at != want {
				t.Errorf("worker %d begins after %s, want %s", w, at, want)
			}
		}
		if calls != 16 { // one a second for each, though a call takes no time
			t.Errorf("%d calls", calls)
		}
	})
}

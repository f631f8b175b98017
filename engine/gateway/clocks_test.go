package gateway

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/outcome"
)

// After a finish reason, usage and [DONE] a vendor has little time left; the client
// that takes them has as much as ever.
func TestClock_AClientIsNotHeldToTheTailsLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		begun := time.Now()
		var letGo atomic.Int64
		c.start(cancel, time.Time{}, func() { letGo.Store(int64(time.Since(begun))) })
		c.arm(outcome.FirstTokenClock, 10*time.Second)
		c.arm(outcome.IdleClock, 30*time.Second)
		c.arm(outcome.IdleClock, tailUsage)
		c.write(true, time.Now())
		time.Sleep(29 * time.Second)
		if stuck := time.Duration(letGo.Load()); stuck != 0 || ctx.Err() != nil {
			t.Fatalf("let go after %s (%v)", stuck, context.Cause(ctx))
		}
		time.Sleep(2 * time.Second)
		if stuck := time.Duration(letGo.Load()); stuck != 30*time.Second {
			t.Errorf("one that takes nothing was let go after %s, want 30s", stuck)
		}
		c.stop()
	})
}

// The timer may be left at an earlier time, never at a later one.
func TestClock_IsNeverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		for range 2 { // the second is another attempt on the same clock
			ctx, cancel := context.WithCancelCause(context.Background())
			c.start(cancel, time.Time{}, func() {})
			c.arm(outcome.ConnectClock, 3*time.Second)
			c.arm(outcome.HeaderClock, 10*time.Second)
			c.arm(outcome.IdleClock, 30*time.Second)
			time.Sleep(29 * time.Second)
			c.write(true, time.Now())
			time.Sleep(5 * time.Second)
			c.write(false, time.Now())
			begun := time.Now()
			<-ctx.Done()
			if d := time.Since(begun); d != time.Second || clockOf(context.Cause(ctx)) != outcome.IdleClock {
				t.Errorf("%v after %s; a second was left", context.Cause(ctx), d)
			}
			c.stop()
			ctx, cancel = context.WithCancelCause(context.Background())
			c.start(cancel, time.Time{}, func() {})
			c.arm(outcome.IdleClock, time.Minute)
			c.arm(outcome.IdleClock, tailDone)
			begun = time.Now()
			<-ctx.Done()
			if d := time.Since(begun); d != tailDone {
				t.Errorf("the shorter clock fired after %s", d)
			}
			c.stop()
			cancel(nil)
		}
	})
}

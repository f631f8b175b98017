package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/scan"
)

func TestSpool_HoldsWhatWasWrittenWhereverItIs(t *testing.T) {
	for _, limit := range []int64{0, 5000, 1 << 30} {
		for _, n := range []int{0, 1, 4095, 4096, 4097, 100_000} {
			t.Run(fmt.Sprintf("%d bytes, %d allowed", n, limit), func(t *testing.T) {
				var m budget
				m.limit.Store(limit)
				want := bytes.Repeat([]byte("0123456789"), n/10+1)[:n]
				s, err := newSpool(&m, 16)
				if err != nil {
					t.Fatal(err)
				}
				if err := s.readFrom(bytes.NewReader(want), 1<<20, nil); err != nil {
					t.Fatal(err)
				}
				if m.used.Load() > limit {
					t.Errorf("%d bytes used of %d", m.used.Load(), limit)
				}
				var out bytes.Buffer
				if _, err := s.WriteTo(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
					t.Errorf("got %d bytes, %v", out.Len(), err)
				}
				if err := s.look(func(b []byte) {
					if !bytes.Equal(b, want) {
						t.Errorf("look shows %d bytes", len(b))
					}
				}); err != nil {
					t.Error(err)
				}
				e := &edits{}
				if n > 0 {
					e.add(scan.Replace(n-1, 1, []byte("END")))
					e.add(scan.Edit{With: []byte("START")})
				}
				body := newUpstreamBody(s, e, nil, 0)
				got, err := io.ReadAll(body)
				edited := scan.Splice(nil, want, e.list[:e.n]...)
				if err != nil || !bytes.Equal(got, edited) || e.size(s.n) != int64(len(edited)) {
					t.Errorf("edited: %d bytes and size %d, want %d; %v", len(got), e.size(s.n), len(edited), err)
				}
				s.release()
				if err := body.Close(); err != nil || m.used.Load() != 0 {
					t.Errorf("%v, %d bytes are still used", err, m.used.Load())
				}
			})
		}
	}
}

func TestSpool_RefusesMoreThanItsLimit(t *testing.T) {
	var m budget
	m.limit.Store(1 << 20)
	s, err := newSpool(&m, 16)
	if err != nil {
		t.Fatal(err)
	}
	defer s.release()
	if err := s.readFrom(strings.NewReader(strings.Repeat("x", 101)), 100, nil); !errors.Is(err, errTooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestRetryBudget_IsAPartOfTheRequestsAndNeverUnderTen(t *testing.T) {
	tests := []struct{ requests, want int }{{0, 10}, {50, 10}, {100, 10}, {1000, 100}}
	for _, tt := range tests {
		var b retryBudget
		now := time.Unix(1000, 0)
		for i := range tt.requests {
			b.request(now.Add(time.Duration(i) * 9 * time.Second / time.Duration(max(tt.requests, 1))))
		}
		now = now.Add(9 * time.Second)
		got := 0
		for b.take(now, 0.10) {
			got++
		}
		if got != tt.want {
			t.Errorf("%d requests: %d retries, want %d", tt.requests, got, tt.want)
		}
		if later := now.Add(retrySpan * time.Second); !b.take(later, 0.10) {
			t.Error("the budget does not come back")
		}
	}
}

func TestBackoff_DoublesWithJitterUpToItsMost(t *testing.T) {
	for n, ms := range []int{100, 200, 400, 800, 1600, 2000, 2000} {
		want := time.Duration(ms) * time.Millisecond
		for range 100 {
			if d := backoff(n); d < want/2 || d > want {
				t.Fatalf("the %dth pause is %s, want %s to %s", n, d, want/2, want)
			}
		}
	}
}

func TestMemo_ForgetsAfterItsTimeAndStaysBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m memo
		m.learn(fact{"a", "x"}, unknownFor)
		m.learn(fact{vendor: "a"}, refusesFor)
		if !m.unknown("a", "x") || m.unknown("b", "x") || !m.refusesUsage("a") || m.refusesUsage("b") {
			t.Error("it does not know what it learnt")
		}
		time.Sleep(unknownFor)
		if m.unknown("a", "x") || !m.refusesUsage("a") {
			t.Error("a model is forgotten in its time, the other fact not yet")
		}
		for i := range 3 * maxFacts {
			m.learn(fact{"a", fmt.Sprint(i)}, unknownFor)
		}
		if len(m.until) > maxFacts || !m.refusesUsage("a") {
			t.Errorf("%d facts", len(m.until))
		}
	})
}

func TestFailures_AreNewestFirstAndBounded(t *testing.T) {
	var f failures
	for i := range 3 * kept {
		f.add(control.Failure{Vendor: []string{"a", "b"}[i%2], Attempt: i})
	}
	f.add(control.Failure{Vendor: "rare", Attempt: -1})
	for i := range 2 * kept {
		f.add(control.Failure{Vendor: "a", Attempt: i})
	}
	if list := f.last("rare", 0); len(list) != 1 || list[0].Attempt != -1 {
		t.Errorf("%d of the rare vendor", len(list))
	}
	list := f.last("", 3*kept)
	if len(list) != 2*kept+1 || list[0].Attempt != 2*kept-1 || list[0].Vendor != "a" {
		t.Errorf("%d failures, the first %+v", len(list), list[0])
	}
	if list = f.last("b", 5); len(list) != 5 || list[0].Attempt != 3*kept-1 || list[4].Attempt != 3*kept-9 {
		t.Errorf("failures of b: %+v", list)
	}
}

// The default times, in fake time.
func TestClock_FiresByItsCauseAndProgressPutsItOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		run := func(deadline time.Duration, f func()) (outcome.Clock, time.Duration) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			begun := time.Now()
			var end time.Time
			if deadline > 0 {
				end = begun.Add(deadline)
			}
			c.start(cancel, end, func() {})
			f()
			<-ctx.Done()
			c.stop()
			return clockOf(context.Cause(ctx)), time.Since(begun)
		}
		if which, d := run(0, func() { c.arm(outcome.HeaderClock, 10*time.Second) }); which != outcome.HeaderClock || d != 10*time.Second {
			t.Errorf("%s after %s", which, d)
		}
		if which, d := run(time.Minute, func() {
			c.arm(outcome.IdleClock, 30*time.Second)
			for range 3 {
				time.Sleep(15 * time.Second)
				c.progress(time.Now())
			}
		}); which != outcome.DeadlineClock || d != time.Minute {
			t.Errorf("%s after %s", which, d)
		}
		if which, d := run(0, func() {
			c.arm(outcome.IdleClock, 30*time.Second)
			time.Sleep(10 * time.Second)
			c.write(true, time.Now()) // a client that takes 20 s
			time.Sleep(20 * time.Second)
			c.write(false, time.Now())
		}); which != outcome.IdleClock || d != 50*time.Second {
			t.Errorf("%s after %s: the client's time is not the vendor's", which, d)
		}
		if which, d := run(0, func() {
			c.arm(outcome.ConnectClock, 3*time.Second)
			time.Sleep(time.Second)
			c.arm(outcome.HeaderClock, 10*time.Second)
		}); which != outcome.HeaderClock || d != 11*time.Second {
			t.Errorf("%s after %s", which, d)
		}
	})
}

func TestClock_ALateCallbackDoesNotTouchTheNextAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock
		_, cancel := context.WithCancelCause(t.Context())
		c.start(cancel, time.Time{}, func() {})
		c.arm(outcome.HeaderClock, time.Second)
		c.stop()
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		c.start(cancel, time.Time{}, func() {})
		c.fire() // the old one, late
		c.arm(outcome.HeaderClock, time.Hour)
		c.fire()
		if ctx.Err() != nil {
			t.Error("the next attempt was cancelled")
		}
		c.stop()
	})
}

func TestHeaders_NamedByConnectionStayOnTheirHop(t *testing.T) {
	dst := map[string][]string{}
	passDownstream(dst, map[string][]string{
		"Connection": {"close, x-one"}, "X-One": {"1"}, "Keep-Alive": {"5"}, "Transfer-Encoding": {"chunked"}, "Content-Length": {"5"},
		"X-Baton-Vendor": {"liar"}, "Content-Type": {"a/b"}, "X-Ratelimit-Remaining": {"3"},
	}, hider{})
	if len(dst) != 2 || dst["Content-Type"] == nil || dst["X-Ratelimit-Remaining"] == nil {
		t.Errorf("passed: %v", dst)
	}
}

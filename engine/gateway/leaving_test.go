package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Clients leave in every phase; their attempt ends within a second, and no vendor is to blame.
func TestLeaving_CancelsTheAttemptInEveryPhase(t *testing.T) {
	t.Parallel()
	hang := func(begin func(say)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			begin(say{w})
			<-r.Context().Done()
		}
	}
	phases := map[string]struct {
		body string
		does http.HandlerFunc
	}{
		"before the headers":     {askStream, hang(func(say) {})},
		"before the first token": {askStream, hang(func(s say) { s.begin(); s.role() })},
		"at token ten":           {askStream, hang(func(s say) { s.begin(); s.words("lanyun", 1, 10) })},
		"in a whole answer":      {askWhole, hang(func(say) {})},
	}
	for name, phase := range phases {
		for _, lane := range []string{"interactive", "batch"} {
			t.Run(name+" "+lane, func(t *testing.T) {
				t.Parallel()
				started := make(chan struct{}, 10)
				w := newWorld(t, nil)
				w.a.does(func(rw http.ResponseWriter, r *http.Request) {
					started <- struct{}{}
					phase.does(rw, r)
				})
				ctx, cancel := context.WithCancel(t.Context())
				r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+chatPath, strings.NewReader(phase.body))
				r.Header.Set(headerLane, lane)
				done := make(chan struct{})
				go func() {
					defer close(done)
					if res, err := w.client.Do(r); err == nil {
						buf := make([]byte, 1<<16)
						for err == nil {
							_, err = res.Body.Read(buf)
						}
						_ = res.Body.Close()
					}
				}()
				<-started
				time.Sleep(50 * time.Millisecond)
				cancel()
				select {
				case <-w.a.left:
				case <-time.After(slack * 900 * time.Millisecond): // before any clock
					t.Fatal("the vendor still works for a client that left")
				}
				<-done
				eventually(t, "the request ends", func() bool { return w.g.InFlight() == 0 })
				if n := w.b.tries(); n != 0 {
					t.Errorf("the other vendor was asked %d times", n)
				}
				if list := w.g.Failures("", 0); len(list) != 0 {
					t.Errorf("failures %+v", list)
				}
			})
		}
	}
}

func TestLeaving_WhileARequestWaitsForALimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	limit := refuses(http.StatusTooManyRequests, openAIError("rate_limit_exceeded"), "Retry-After", "30")
	w.a.does(limit)
	w.b.does(limit)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+chatPath, strings.NewReader(askWhole))
	r.Header.Set(headerLane, "batch")
	if res, err := w.client.Do(r); err == nil {
		_ = res.Body.Close()
		t.Fatalf("status %d: a batch request waits", res.StatusCode)
	}
	eventually(t, "the request ends", func() bool { return w.g.InFlight() == 0 })
}

func TestLeaving_AbortedStreamsLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		for r.Context().Err() == nil {
			s.words("lanyun", 1, 1)
			time.Sleep(time.Millisecond)
		}
	})
	const streams = 200
	for range streams / 20 {
		done := make(chan struct{}, 20)
		for range 20 {
			go func() {
				defer func() { done <- struct{}{} }()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+chatPath, strings.NewReader(askStream))
				res, err := w.client.Do(r)
				if err != nil {
					return
				}
				buf := make([]byte, 512)
				for err == nil {
					_, err = res.Body.Read(buf)
				}
				_ = res.Body.Close()
			}()
		}
		for range 20 {
			<-done
		}
	}
	eventually(t, "all requests end", func() bool { return w.g.InFlight() == 0 })
	if used := w.g.memory.used.Load(); used != 0 {
		t.Errorf("%d bytes of buffers are still held", used)
	}
}

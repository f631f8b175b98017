package load

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestPacer_KeepsItsMeanRate(t *testing.T) {
	const n = 100_000
	for name, p := range map[string]Pacer{
		"constant": Constant{RPS: 40},
		"poisson":  Poisson{RPS: 40, Rand: rand.New(rand.NewPCG(1, 2))},
	} {
		t.Run(name, func(t *testing.T) {
			var sum, squares float64
			for range n {
				gap := p.Next().Seconds()
				if gap < 0 {
					t.Fatalf("a gap of %g s", gap)
				}
				sum += gap
				squares += gap * gap
			}
			mean := sum / n
			if math.Abs(mean*40-1) > 0.02 {
				t.Errorf("mean gap %g s, want 0.025", mean)
			}
			// Exponential gaps deviate as much as they last, even ones not at all.
			want := 0.0
			if name == "poisson" {
				want = 1
			}
			if cv := math.Sqrt(max(squares/n-mean*mean, 0)) / mean; math.Abs(cv-want) > 0.02 {
				t.Errorf("coefficient of variation %g, want %g", cv, want)
			}
		})
	}
}

func TestRamp_GrowsByTheSameFactorAndStays(t *testing.T) {
	r := &Ramp{From: 2, To: 32, Over: 40 * time.Second}
	at, seen := time.Duration(0), map[int]int{}
	for at < 60*time.Second {
		seen[int(at.Seconds()/10)]++
		at += r.Next()
	}
	// The mean of 2·2^(t/10 s) over each ten seconds is 2·2^k/ln 2.
	for k, want := range []float64{28.9, 57.7, 115.4, 230.8, 320, 320} {
		if got := float64(seen[k]); math.Abs(got/want-1) > 0.06 {
			t.Errorf("from %d s: %g requests, want %g", 10*k, got, want)
		}
	}
}

// gateway is a RoundTripper that answers as its function does.
type gateway func(r *http.Request) (*http.Response, error)

func (g gateway) RoundTrip(r *http.Request) (*http.Response, error) { return g(r) }

func answer(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// run lets traffic run for d of fake time.
func run(t *testing.T, d time.Duration, tr *Traffic) Counts {
	t.Helper()
	var c Counts
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), d)
		defer cancel()
		if err := tr.Run(ctx); err != nil {
			t.Fatal(err)
		}
		c = tr.Counts()
	})
	return c
}

func TestTraffic_AHangingGatewayDoesNotSlowItDown(t *testing.T) {
	hang := gateway(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	c := run(t, 10*time.Second-time.Millisecond, &Traffic{URL: "http://gw/v1", RPS: 50, Pacer: Constant{RPS: 50}, Outstanding: 30, Transport: hang})
	if c.Sent != 30 || c.Sent+c.Dropped != 500 || c.OK != 0 || c.Failed != 0 {
		t.Errorf("%+v", c)
	}
}

func TestTraffic_SlowAnswersDoNotSlowItDown(t *testing.T) {
	slow := gateway(func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(1500 * time.Millisecond):
			return answer(http.StatusOK, "{}")
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	})
	c := run(t, 10*time.Second-time.Millisecond, &Traffic{URL: "http://gw/v1", RPS: 50, Pacer: Constant{RPS: 50}, Transport: slow})
	if c.Sent != 500 || c.Dropped != 0 || c.OK < 420 || c.OK > 430 {
		t.Errorf("%+v", c)
	}
}

func TestTraffic_CatchesUpWithWhatIsLate(t *testing.T) {
	// The pacer itself stalls once for 2 s: what was due then is sent after it.
	n := 0
	p := pacer(func() time.Duration {
		if n++; n == 50 {
			time.Sleep(2 * time.Second)
		}
		return 20 * time.Millisecond
	})
	ok := gateway(func(*http.Request) (*http.Response, error) { return answer(http.StatusOK, "{}") })
	if c := run(t, 10*time.Second-time.Millisecond, &Traffic{URL: "http://gw/v1", RPS: 50, Pacer: p, Transport: ok}); c.Sent != 500 {
		t.Errorf("%+v", c)
	}
}

type pacer func() time.Duration

func (p pacer) Next() time.Duration { return p() }

func TestTraffic_NoRateSendsNothing(t *testing.T) {
	if c := run(t, time.Second, &Traffic{URL: "http://gw/v1"}); c != (Counts{}) {
		t.Errorf("%+v", c)
	}
}

func TestTraffic_AsksAsItIsTold(t *testing.T) {
	var mu sync.Mutex
	var all, batch, streamed, batchStreamed int
	gw := gateway(func(r *http.Request) (*http.Response, error) {
		var body struct {
			Model    string
			Stream   bool
			Messages []struct{ Role, Content string }
		}
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err := json.Unmarshal(b, &body); err != nil || body.Model != "m" || len(body.Messages) != 1 || body.Messages[0].Content == "" {
			t.Errorf("body %s: %v", b, err)
		}
		h := r.Header
		if r.URL.String() != "http://gw/v1/chat/completions" || h.Get("Authorization") != "Bearer k" || h.Get("User-Agent") != "ua" || h.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v", r.URL, h)
		}
		all++
		isBatch := h.Get("X-Baton-Lane") == "batch"
		switch {
		case isBatch && body.Stream:
			batchStreamed++
			fallthrough
		case isBatch:
			batch++
		case body.Stream:
			streamed++
		}
		return answer(http.StatusOK, "data: [DONE]\n\n")
	})
	c := run(t, 100*time.Second, &Traffic{URL: "http://gw/v1", Model: "m", RPS: 50, Batch: 0.25, Stream: 0.9, Seed: 3, UserAgent: "ua", Key: "k", Transport: gw})
	if c.Sent != int64(all) || c.OK != c.Sent || all < 4700 || all > 5300 {
		t.Errorf("%+v, %d seen", c, all)
	}
	near := func(what string, got, of int, want float64) {
		if part := float64(got) / float64(of); math.Abs(part-want) > 0.03 {
			t.Errorf("%s are %g, want %g", what, part, want)
		}
	}
	near("batch", batch, all, 0.25)
	near("streams", streamed, all-batch, 0.9)
	near("streams of the batch", batchStreamed, batch, 0.5)
}

type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func TestAnswer_CountsOnlyWhole(t *testing.T) {
	const chunk = "data: {\"choices\":[]}\n\n"
	for name, c := range map[string]struct {
		status int
		body   string
		stream bool
		cut    bool
		ok     bool
	}{
		"a stream that is done":         {200, chunk + "data: [DONE]\n\n", true, false, true},
		"with other line ends":          {200, "data: {}\r\n\r\ndata: [DONE]\r\n\r\n", true, false, true},
		"with a long line":              {200, "data: " + strings.Repeat("x", 200_000) + "\n\ndata: [DONE]\n\n", true, false, true},
		"a stream without [DONE]":       {200, chunk, true, false, false},
		"[DONE] inside of an event":     {200, "data: {\"x\":\"data: [DONE]\"}\n\n", true, false, false},
		"a stream that says it is cut":  {200, chunk + "data: {\"error\":{\"code\":\"upstream_interrupted\"}}\n\n", true, false, false},
		"a stream that breaks":          {200, chunk, true, true, false},
		"a stream refused":              {503, "{}", true, false, false},
		"a whole answer":                {200, "{}", false, false, true},
		"a whole answer that breaks":    {200, "{", false, true, false},
		"an error for a whole answer":   {502, "{}", false, false, false},
		"an error that says it is done": {502, "data: [DONE]\n\n", true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := answer(c.status, c.body)
			if c.cut {
				r.Body = io.NopCloser(broken{strings.NewReader(c.body)})
			}
			if got := whole(r, c.stream); got != c.ok {
				t.Errorf("whole is %t", got)
			}
		})
	}
}

func TestTraffic_CountsWhatFails(t *testing.T) {
	n := 0
	var mu sync.Mutex
	gw := gateway(func(*http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		if n++; n%4 == 0 {
			return nil, errors.New("connection refused")
		}
		return answer(http.StatusOK, "{}")
	})
	c := run(t, 4*time.Second-time.Millisecond, &Traffic{URL: "http://gw/v1", RPS: 50, Pacer: Constant{RPS: 50}, Transport: gw})
	if c != (Counts{Sent: 200, OK: 150, Failed: 50}) {
		t.Errorf("%+v", c)
	}
}

package spike

import (
	"context"
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

// gateway is a RoundTripper that answers as its function does.
type gateway func(r *http.Request) (status int, after time.Duration, err error)

func (g gateway) RoundTrip(r *http.Request) (*http.Response, error) {
	status, after, err := g(r)
	if err != nil {
		return nil, err
	}
	select {
	case <-time.After(after):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"1"}}, Body: io.NopCloser(strings.NewReader("data: {}\n\ndata: [DONE]\n\n"))}, nil
}

// plan is a spike of 400 times.
func plan(g gateway) Plan {
	return Plan{
		URL: "http://gw/v1", Model: "m", Stream: 1, Tokens: 4, Seed: 7, From: 4.5, To: 1800,
		Baseline: 30 * time.Second, Hold: 20 * time.Second, Recovery: 60 * time.Second, Transport: g,
	}
}

// bound lets so many requests of each second through and refuses the rest at once.
func bound(perSecond int, status int) gateway {
	var mu sync.Mutex
	var second int64
	n := 0
	return func(*http.Request) (int, time.Duration, error) {
		mu.Lock()
		defer mu.Unlock()
		if s := time.Now().Unix(); s != second {
			second, n = s, 0
		}
		if n++; n > perSecond {
			return status, time.Millisecond, nil
		}
		return http.StatusOK, 300 * time.Millisecond, nil
	}
}

func TestRun_CountsASpikeAndTheRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Second
		p := plan(bound(1000, http.StatusTooManyRequests))
		r, err := Run(t.Context(), p, func(s Second) { told = append(told, s) })
		if err != nil {
			t.Fatal(err)
		}
		// The truth: 20 s of 1,800, of which 1,000 a second are let through.
		if s := r.Peak; math.Abs(float64(s.Sent)-36_000) > 1000 || math.Abs(float64(s.Admitted)-20_000) > 1200 || s.Limited != s.Sent-s.Admitted || s.Failed+s.Shed+s.Dropped != 0 {
			t.Errorf("peak %+v", s)
		}
		if r.Baseline.Goodput != 1 || r.Recovery.Goodput != 1 || r.Metastable || r.RecoverS == nil || *r.RecoverS != 0 {
			t.Errorf("baseline %+v, recovery %+v, recovered %v", r.Baseline, r.Recovery, r.RecoverS)
		}
		if r.Peak.P50ms != 300 || r.Peak.P99ms != 300 || r.Peak.Streams != r.Peak.Admitted {
			t.Errorf("first tokens %+v, want 300 ms", r.Peak)
		}
		if r.FirstShedS == nil || *r.FirstShedS < 0.3 || *r.FirstShedS > 1 {
			t.Errorf("first refused after %v, want within the first second", r.FirstShedS)
		}
		if r.LagP99ms != 0 || r.ClientLimited {
			t.Errorf("the generator was late by %g ms", r.LagP99ms)
		}
		if len(told) < 105 || told[35].Sent != r.Seconds[35].Sent || told[35].P99ms != 300 || told[35].Phase != Peak {
			t.Errorf("%d seconds told, the 36th %+v", len(told), told[35])
		}
	})
}

func TestRun_ABadStateThatOutlivesTheSpikeIsMetastable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r, err := Run(t.Context(), plan(func(*http.Request) (int, time.Duration, error) {
			if time.Since(begin) > 31*time.Second {
				return http.StatusServiceUnavailable, time.Millisecond, nil
			}
			return http.StatusOK, 100 * time.Millisecond, nil
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Metastable || r.RecoverS != nil || r.Peak.Shed == 0 || r.Recovery.Admitted != 0 {
			t.Errorf("%+v %+v", r.Peak, r.Recovery)
		}
	})
}

func TestRun_SaysWhenItRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		r, err := Run(t.Context(), plan(func(*http.Request) (int, time.Duration, error) {
			if at := time.Since(begin); at > 45*time.Second && at < 62*time.Second { // the spike ends at 50 s
				return 0, 0, errors.New("connection refused")
			}
			return http.StatusOK, 100 * time.Millisecond, nil
		}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if r.RecoverS == nil || *r.RecoverS < 11 || *r.RecoverS > 12 {
			t.Errorf("recovered after %v s, want 12", r.RecoverS)
		}
	})
}

func TestRun_AHangingGatewayMakesTheClientTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(func(*http.Request) (int, time.Duration, error) { return http.StatusOK, time.Hour, nil })
		p.Bound = 500
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		r, err := Run(ctx, p, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if !r.ClientLimited || r.Peak.Dropped == 0 || r.Peak.Admitted != 0 {
			t.Errorf("client limited %t, %+v", r.ClientLimited, r.Peak)
		}
	})
}

func TestPacer_FollowsThePlan(t *testing.T) {
	p := plan(nil)
	pace := &pacer{plan: &p, rand: rand.New(rand.NewPCG(3, 4))}
	counts := map[string]int{}
	for at := time.Duration(0); at < p.Length(); {
		counts[p.phase(at)]++
		at += pace.Next()
	}
	for phase, want := range map[string]float64{Baseline: 135, Peak: 36_000, Recovery: 270} {
		if got := float64(counts[phase]); math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("%s: %g arrivals, want %g", phase, got, want)
		}
	}
}

func TestPlan_SaysAllThatIsWrong(t *testing.T) {
	err := (&Plan{From: -1, To: -2, Stream: 2}).Validate()
	if err == nil {
		t.Fatal("a plan without anything is taken")
	}
	for _, want := range []string{"from = -1", "to = -2", "baseline", "hold", "recovery", "tokens", "stream = 2"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it does not name %q: %v", want, err)
		}
	}
}

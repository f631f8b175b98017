package stress

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// probed runs a plan's probe against a server and returns what it found.
func probed(t *testing.T, s *server, change func(*Plan)) (*RunReport, error) {
	p := planOf(t, targetOf(t, "outside", s, "sk-one-key-aaaa", "sk-two-key-bbbb"))
	p.NoProbe, p.Ladder = false, []int{1, 4, 16}
	if change != nil {
		change(&p)
	}
	rep, err := Run(t.Context(), p, nil)
	if err != nil {
		return nil, err
	}
	return &rep.Runs[0], nil
}

// crowded is a server that admits k at once.
func crowded(k int64, takes func(int) (time.Duration, time.Duration)) *server {
	s := &server{takes: takes}
	s.admit, s.leave = atOnce(k)
	return s
}

func TestProbe_FindsLimitersAndTellsThemFromEngines(t *testing.T) {
	type probing struct {
		s      *server
		change func(*Plan)
		typ    string // "": none is there
		value  float64
		within float64
		silent bool

		run *RunReport
		err error
	}
	cases := map[string]*probing{
		"20/s refused": {
			s: &server{takes: fixed(100*time.Millisecond, 2*time.Millisecond), admit: rejecting(20, 20)}, typ: "requests", value: 20, within: 0.05,
		},
		"20/s refused, no burst": {
			s: &server{takes: fixed(100*time.Millisecond, 2*time.Millisecond), admit: rejecting(20, 1)}, typ: "requests", value: 20, within: 0.08, // who comes a moment early is refused
		},
		"20/s queued": {
			s: &server{takes: fixed(100*time.Millisecond, 2*time.Millisecond), admit: queueing(20)}, typ: "requests", value: 20, within: 0.05, silent: true,
		},
		"tokens": {
			s: &server{takes: fixed(40*time.Millisecond, time.Millisecond), admit: byTokens(600, 600)}, typ: "tokens", value: 36_000, within: 0.15,
			change: func(p *Plan) { p.MaxTokens = 64 },
		},
		"6 at once": {
			s: crowded(6, fixed(80*time.Millisecond, 2*time.Millisecond)), typ: "concurrency", value: 6, within: 0.01,
		},
		"none": {
			s: &server{takes: fixed(100*time.Millisecond, 2*time.Millisecond)},
		},
		"an engine that slows down": {
			s: &server{takes: func(n int) (time.Duration, time.Duration) {
				return time.Duration(30+n*6) * time.Millisecond, time.Duration(n) * time.Millisecond
			}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { c.run, c.err = probed(t, c.s, c.change) })
			if c.err != nil {
				t.Fatal(c.err)
			}
			run, l := c.run, c.run.Limiter
			switch {
			case c.typ == "" && l != nil:
				t.Fatalf("found %s: %v", l, l.Evidence)
			case c.typ == "":
				if run.Verdict == Limited || len(run.Levels) == 0 {
					t.Errorf("verdict %s, %d levels", run.Verdict, len(run.Levels))
				}
				return
			case l == nil:
				t.Fatalf("found nothing; %s", run.Probe.Said)
			}
			t.Logf("%s %v", run.Ask, l.Evidence)
			if l.Type != c.typ || math.Abs(l.Value/c.value-1) > c.within || l.Silent != c.silent {
				t.Errorf("found %s %g, silent %t: %v", l.Type, l.Value, l.Silent, l.Evidence)
			}
			if run.Verdict != Limited || len(run.Levels) != 0 || !strings.HasPrefix(run.Ask, "Ask outside to raise the limit") {
				t.Errorf("verdict %s, %d levels, %q", run.Verdict, len(run.Levels), run.Ask)
			}
		})
	}
}

func TestProbe_ASecondKeySaysWhoseTheLimitIs(t *testing.T) {
	perKey := map[string]func(context.Context, int) bool{}
	var mu sync.Mutex
	account := rejecting(20, 20)
	for scope, admit := range map[string]func(key string) func(context.Context, int) bool{
		"account": func(string) func(context.Context, int) bool { return account },
		"key": func(key string) func(context.Context, int) bool {
			mu.Lock()
			defer mu.Unlock()
			if perKey[key] == nil {
				perKey[key] = rejecting(20, 20)
			}
			return perKey[key]
		},
	} {
		t.Run(scope, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run, err := probed(t, &server{takes: fixed(100*time.Millisecond, time.Millisecond), admitKey: admit}, func(p *Plan) { p.KeyProbe = true })
				if err != nil {
					t.Fatal(err)
				}
				if run.Limiter == nil || run.Limiter.Scope != scope || !strings.Contains(run.Ask, "of this "+scope+" from about 20/s") {
					t.Errorf("%+v: %s", run.Limiter, run.Ask)
				}
			})
		})
	}
}

func TestProbe_UsesOneKeyUnlessItIsTold(t *testing.T) {
	s := &server{takes: fixed(100*time.Millisecond, time.Millisecond), admit: rejecting(20, 20)}
	synctest.Test(t, func(t *testing.T) {
		if _, err := probed(t, s, nil); err != nil {
			t.Fatal(err)
		}
	})
	if len(s.keys) != 1 {
		t.Errorf("%d keys were used", len(s.keys))
	}
}

func TestProbe_PassesAGuardAgainstSlopesAndFindsTheLimitAboveIt(t *testing.T) {
	// The guard refuses what is over 2.5 times the rate of the minute before and 5/s more.
	var mu sync.Mutex
	var seen []time.Time
	limit := rejecting(20, 20)
	s := &server{takes: fixed(300*time.Millisecond, 2*time.Millisecond)}
	s.admitSaying = func(ctx context.Context) string {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		seen = append(seen, now)
		recent, before := 0, 0
		for _, at := range seen {
			switch gone := now.Sub(at); {
			case gone < 10*time.Second:
				recent++
			case gone < 70*time.Second:
				before++
			}
		}
		switch {
		case float64(recent)/10 > 2.5*float64(before)/60+5:
			return "Request rate increased too quickly"
		case !limit(ctx, 0):
			return "You have exceeded your request limit"
		}
		return ""
	}
	synctest.Test(t, func(t *testing.T) {
		run, err := probed(t, s, func(p *Plan) { p.Ladder = []int{1, 16} })
		if err != nil {
			t.Fatal(err)
		}
		if run.Limiter == nil || run.Limiter.Type != "requests" || math.Abs(run.Limiter.Value/20-1) > 0.05 || !strings.Contains(strings.Join(run.Limiter.Evidence, " "), "guard against slopes") {
			t.Errorf("%+v", run.Limiter)
		}
	})
}

func TestProbe_CountsByTheMinuteWhereNothingPassesAfterTheLimit(t *testing.T) {
	// 60 requests in each minute of the clock.
	var mu sync.Mutex
	counts := map[int64]int{}
	s := &server{takes: fixed(100*time.Millisecond, time.Millisecond), admit: func(context.Context, int) bool {
		mu.Lock()
		defer mu.Unlock()
		minute := time.Now().Unix() / 60
		counts[minute]++
		return counts[minute] <= 60
	}}
	synctest.Test(t, func(t *testing.T) {
		run, err := probed(t, s, nil)
		if err != nil {
			t.Fatal(err)
		}
		if run.Limiter == nil || run.Limiter.Unit != "1/min" || math.Abs(run.Limiter.Value/60-1) > 0.05 {
			t.Errorf("%+v", run.Limiter)
		}
	})
}

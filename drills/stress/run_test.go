package stress

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// inFakeTime runs a plan for one server, made by change from planOf's.
func inFakeTime(t *testing.T, s *server, change func(*Plan)) *Report {
	t.Helper()
	var rep *Report
	synctest.Test(t, func(t *testing.T) {
		p := planOf(t, targetOf(t, "outside", s))
		if change != nil {
			change(&p)
		}
		var err error
		if rep, err = Run(t.Context(), p, nil); err != nil {
			t.Error(err)
		}
	})
	if rep == nil {
		t.FailNow()
	}
	return rep
}

func TestRun_QuantilesOfAFixedServiceTimeAreTheTruth(t *testing.T) {
	rep := inFakeTime(t, &server{takes: fixed(200*time.Millisecond, 10*time.Millisecond)}, func(p *Plan) {
		p.Arrivals, p.Ladder, p.Duration = Poisson, []int{1, 8}, 12*time.Second
	})
	run := &rep.Runs[0]
	if len(run.Levels) != 4 || run.Verdict != OK || rep.Code() != 0 {
		t.Fatalf("%d levels, %s: %s", len(run.Levels), run.Verdict, run.Reason)
	}
	for i := range run.Levels {
		l := &run.Levels[i]
		for _, q := range []float64{0.5, 0.9} {
			near(t, l.where()+": first token", l.FirstToken.at(q), 200, 0.01)
			near(t, l.where()+": whole answer", l.Total.at(q), 200+31*10, 0.01)
			near(t, l.where()+": per token", l.PerToken.at(q), 10, 0.01)
		}
		near(t, l.where()+": rate", &l.RPS, float64(l.Concurrency)/0.51, 0.2)
		if l.Arrivals == ClosedLoop {
			near(t, l.where()+": in flight", &l.InFlight, float64(l.Concurrency), 0.02)
		}
		if l.Tokens.Estimated || l.Tokens.MeanOut != 32 || *l.Reused < 0.9 || len(l.Errors) != 0 {
			t.Errorf("%s: %+v, %v reused, %v", l.where(), l.Tokens, *l.Reused, l.Errors)
		}
	}
	d := run.Degradation
	near(t, "degradation of the first token", d.FirstP50, 1, 0.01)
	near(t, "efficiency", d.Efficiency, 1, 0.05)
}

func TestRun_DegradationOfAKnownSlowdownIsWithinFivePercent(t *testing.T) {
	// With n at work all of it takes 1 + (n-1)/10 times as long: 2.5 times with 16.
	s := &server{takes: func(n int) (time.Duration, time.Duration) {
		by := 1 + float64(n-1)/10
		return time.Duration(by * float64(100*time.Millisecond)), time.Duration(by * float64(5*time.Millisecond))
	}}
	rep := inFakeTime(t, s, func(p *Plan) { p.Ladder, p.Duration = []int{1, 16}, 15*time.Second })
	d := rep.Runs[0].Degradation
	near(t, "first token", d.FirstP50, 2.5, 0.05)
	near(t, "per token", d.PerTokenP50, 2.5, 0.05)
	near(t, "total", d.TotalP90, 2.5, 0.05)
	near(t, "efficiency", d.Efficiency, 1/2.5, 0.05)
	if ci := d.CI["total_p50"]; ci[0] > 2.5*1.02 || ci[1] < 2.5*0.98 {
		t.Errorf("the interval is %v", ci)
	}
}

func TestRun_AStallIsSeenByTheOpenLoopAndHiddenByTheClosedOne(t *testing.T) {
	// Every tenth second nothing begins: users who come then wait for its end.
	s := &server{takes: func(int) (time.Duration, time.Duration) {
		first := 50 * time.Millisecond
		if now := time.Now(); now.Second()%10 == 5 {
			first += time.Until(now.Truncate(time.Second).Add(time.Second))
		}
		return first, 0
	}}
	rep := inFakeTime(t, s, func(p *Plan) {
		p.Arrivals, p.Ladder, p.Duration = Constant, []int{1}, 40*time.Second
	})
	closed, open := &rep.Runs[0].Levels[0], &rep.Runs[0].Levels[1]
	if *closed.FirstToken.P95 > 60 || *open.FirstToken.P95 < 300 {
		t.Errorf("P95 is %s in the closed loop and %s in the open one", num(closed.FirstToken.P95), num(open.FirstToken.P95))
	}
	if *open.Rate != closed.RPS {
		t.Errorf("the open loop is at %g/s, the closed one achieved %g", *open.Rate, closed.RPS)
	}
}

func TestRun_WarmUpIsHandedOverAndCoolDownIsCounted(t *testing.T) {
	var most, under atomic.Int64
	s := &server{takes: func(int) (time.Duration, time.Duration) { return 3 * time.Second, 0 }}
	s.admit = func(context.Context, int) bool {
		most.Store(max(most.Load(), under.Add(1)))
		return true
	}
	s.leave = func() { under.Add(-1) }
	rep := inFakeTime(t, s, func(p *Plan) {
		p.Ladder, p.Duration, p.Warmup, p.MinSamples = []int{8}, 30*time.Second, 10*time.Second, 1
	})
	l := &rep.Runs[0].Levels[0]
	near(t, "in flight", &l.InFlight, 8, 0.001)
	if most.Load() != 8 || l.Requests < 79 || l.Requests > 81 || l.N != l.Requests || l.Partial {
		t.Errorf("%d at most, %d of %d answered", most.Load(), l.N, l.Requests)
	}
}

func TestRun_VendorsTakeTurns(t *testing.T) {
	var mu sync.Mutex
	var order []string
	seen := func(name string) *server {
		s := &server{takes: fixed(50*time.Millisecond, time.Millisecond)}
		s.admit = func(context.Context, int) bool {
			mu.Lock()
			defer mu.Unlock()
			if len(order) == 0 || order[len(order)-1] != name {
				order = append(order, name)
			}
			return true
		}
		return s
	}
	synctest.Test(t, func(t *testing.T) {
		p := planOf(t, targetOf(t, "a", seen("A")))
		p.Targets = append(p.Targets, targetOf(t, "b", seen("B")))
		p.Ladder = []int{1, 2}
		rep := ran(t, p)
		if rep.Plan.Order != "A B B A" || rep.Runs[0].Levels[0].N < 40 || rep.Runs[1].Levels[1].N < 40 {
			t.Errorf("order %s, %d and %d samples", rep.Plan.Order, rep.Runs[0].Levels[0].N, rep.Runs[1].Levels[1].N)
		}
	})
	// The first answers, then a level A B B A and one B A A B.
	if got := strings.Join(order, ""); got != "ABABABAB" {
		t.Errorf("they took turns %s", got)
	}
}

func TestRun_PromptsAreUniqueUnlessTheCacheIsToBeWarm(t *testing.T) {
	for _, cache := range []string{Cold, Warm} {
		s := &server{takes: fixed(20*time.Millisecond, 0)}
		inFakeTime(t, s, func(p *Plan) { p.Cache, p.Ladder = cache, []int{4} })
		repeated := 0
		for _, n := range s.prompts {
			repeated += n - 1
		}
		if cache == Cold && repeated != 0 || cache == Warm && len(s.prompts) > 8 {
			t.Errorf("%s: %d different prompts, %d repeated", cache, len(s.prompts), repeated)
		}
	}
}

func TestRun_WholeAnswersHaveNoTimePerToken(t *testing.T) {
	rep := inFakeTime(t, &server{takes: fixed(100*time.Millisecond, 5*time.Millisecond)}, func(p *Plan) { p.Kind = Whole })
	l := &rep.Runs[0].Levels[0]
	near(t, "total", l.Total.P50, 255, 0.01)
	if l.PerToken.N != 0 || l.PerToken.P50 != nil || l.StreamTPS != nil {
		t.Errorf("%+v", l.PerToken)
	}
}

func TestRun_TokensAreEstimatedWhereTheVendorDoesNotSay(t *testing.T) {
	rep := inFakeTime(t, &server{takes: fixed(50*time.Millisecond, time.Millisecond), noUsage: true}, nil)
	run := &rep.Runs[0]
	if !run.Levels[0].Tokens.Estimated || !strings.Contains(strings.Join(run.Notes, " "), "estimated") {
		t.Errorf("%+v %v", run.Levels[0].Tokens, run.Notes)
	}
}

func TestRun_AVendorThatDoesNotAnswerIsAnError(t *testing.T) {
	for status, want := range map[int]string{401: "does not answer", 500: "does not answer"} {
		synctest.Test(t, func(t *testing.T) {
			s := &server{status: status}
			p := planOf(t, targetOf(t, "outside", s, "sk-very-secret-key-1234"))
			_, err := Run(t.Context(), p, nil)
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "very-secret") {
				t.Errorf("status %d: %v", status, err)
			}
			if status == 401 && s.seen.Load() != 1 {
				t.Errorf("a wrong key was tried %d times", s.seen.Load())
			}
		})
	}
}

func TestRun_AnInterruptGivesWhatWasMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := planOf(t, targetOf(t, "outside", &server{takes: fixed(100*time.Millisecond, time.Millisecond)}))
		p.Ladder, p.Duration = []int{1, 2, 4, 8}, 30*time.Second
		ctx, cancel := context.WithTimeout(t.Context(), 75300*time.Millisecond) // between two tellings of progress
		defer cancel()
		var last Progress
		rep, err := Run(ctx, p, func(now Progress) { last = now })
		if err != nil {
			t.Fatal(err)
		}
		run := &rep.Runs[0]
		if rep.Stopped != "interrupted" || rep.Code() != 4 || len(run.Levels) < 2 || run.Levels[0].N < 200 || !run.Levels[len(run.Levels)-1].Partial {
			t.Errorf("%q, exit code %d, %d levels", rep.Stopped, rep.Code(), len(run.Levels))
		}
		if last.Levels != 4 || last.Vendor != "outside" || last.Total <= last.Done || last.Left <= 0 || last.RPS <= 0 || last.P50ms == nil {
			t.Errorf("progress was %+v", last)
		}
	})
}

func TestRun_TheBudgetIsNotOverspent(t *testing.T) {
	const one = 0.01
	rep := inFakeTime(t, &server{takes: fixed(50*time.Millisecond, time.Millisecond)}, func(p *Plan) {
		p.Targets[0].Price = func(int, int, int) (float64, bool) { return one, true }
		p.Budget, p.Currency = 1, "CNY"
	})
	if rep.Code() != 4 || !strings.Contains(rep.Stopped, "budget") || *rep.Cost > 1 || *rep.Cost < 0.9 {
		t.Errorf("%q, %g spent", rep.Stopped, *rep.Cost)
	}
}

func TestRun_ALadderEndsWhereHalfOfTheRequestsFail(t *testing.T) {
	s := &server{takes: fixed(50*time.Millisecond, time.Millisecond)}
	inner := s.takes
	var broken atomic.Bool
	s.takes = func(n int) (time.Duration, time.Duration) {
		if n > 3 {
			broken.Store(true)
			panic(http.ErrAbortHandler) // out of memory: the server cuts the connection
		}
		return inner(n)
	}
	rep := inFakeTime(t, s, func(p *Plan) { p.Ladder, p.Duration = []int{1, 2, 16, 32}, 10*time.Second })
	run := &rep.Runs[0]
	if !broken.Load() || len(run.Levels) != 3 || !strings.Contains(run.Stopped, "too many requests fail at 16") || run.Levels[2].Errors["vendor_fault"] == 0 {
		t.Errorf("%d levels, %q, %v", len(run.Levels), run.Stopped, run.Levels[2].Errors)
	}
	if run.Verdict == Limited {
		t.Errorf("failures are taken for a limiter: %s", run.Reason)
	}
}

func TestRun_GoingOnAboveALimitWithholdsTheFiguresAndMeasuresTheEngineBelow(t *testing.T) {
	rep := inFakeTime(t, &server{takes: fixed(200*time.Millisecond, 2*time.Millisecond), admit: rejecting(20, 20)}, func(p *Plan) {
		p.NoProbe, p.GoOn, p.Ladder, p.Duration = false, true, []int{1, 2, 16}, 10*time.Second
	})
	run := &rep.Runs[0]
	if run.Verdict != Limited || rep.Code() != 3 || len(run.Levels) != 3 || run.Levels[2].Verdict != Limited || run.Levels[1].Verdict != OK {
		t.Fatalf("%s: %s, %d levels", run.Verdict, run.Reason, len(run.Levels))
	}
	near(t, "limit", &run.Limiter.Value, 20, 0.05)
	near(t, "answers/s above it", &run.Levels[2].RPS, 20, 0.05)
	if run.Degradation.Withheld == "" || run.Clean == nil || run.Clean.To != 2 {
		t.Errorf("%+v", run.Degradation)
	}
	if run.AtLimit == nil || run.AtLimit.Verdict != OK || run.AtLimit.refused() != 0 {
		t.Fatalf("at 0.9 of the limit: %+v", run.AtLimit)
	}
	near(t, "rate at 0.9", &run.AtLimit.RPS, 18, 0.05)
	near(t, "first token at 0.9", run.AtLimit.FirstToken.P90, 200, 0.01)
}

func TestRun_FindsALimitThatOnlyTheLadderMeets(t *testing.T) {
	for name, c := range map[string]struct {
		admit  func(context.Context, int) bool
		silent bool
	}{"refusing": {rejecting(20, 20), false}, "queueing": {queueing(20), true}} {
		t.Run(name, func(t *testing.T) {
			rep := inFakeTime(t, &server{takes: fixed(100*time.Millisecond, 2*time.Millisecond), admit: c.admit}, func(p *Plan) {
				p.Ladder, p.Duration = []int{1, 2, 8, 16, 32}, 10*time.Second
			})
			run := &rep.Runs[0]
			if run.Verdict != Limited || run.Limiter == nil || run.Limiter.Silent != c.silent || run.Degradation.Withheld == "" {
				t.Fatalf("%s: %s; %+v", run.Verdict, run.Reason, run.Limiter)
			}
			near(t, "limit", &run.Limiter.Value, 20, 0.05)
			if !strings.Contains(run.Ask, "about 20/s") {
				t.Errorf("it asks %q", run.Ask)
			}
		})
	}
}

func TestRun_RatesAreAnOpenLoopAlone(t *testing.T) {
	rep := inFakeTime(t, &server{takes: fixed(100*time.Millisecond, time.Millisecond)}, func(p *Plan) {
		p.Rates, p.Arrivals, p.Duration = []float64{5, 20}, Constant, 20*time.Second
	})
	run := &rep.Runs[0]
	if len(run.Levels) != 2 || run.Levels[0].Arrivals != Constant || run.Levels[0].Concurrency != 0 || run.Degradation != nil {
		t.Fatalf("%+v", run.Levels)
	}
	near(t, "rps", &run.Levels[1].RPS, 20, 0.02)
}

func TestPlan_TellsAllMistakesAtOnce(t *testing.T) {
	_, err := Run(t.Context(), Plan{Ladder: []int{4, 2}, Arrivals: "sometimes", Kind: "half", Cache: "lukewarm", Duration: time.Millisecond, Ramp: "steep"}, nil)
	if err == nil {
		t.Fatal("it runs")
	}
	for _, part := range []string{"no vendor", "no prompts", "concurrency 2", `"sometimes"`, `"half"`, `"lukewarm"`, "1ms", `"steep"`} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("nothing of %s in: %v", part, err)
		}
	}
}

func TestPlan_APreviewIsWhatItCosts(t *testing.T) {
	p := planOf(t, targetAt(t, "outside", "http://outside.example"))
	p.Ladder, p.Duration, p.Warmup, p.Arrivals = []int{1, 10}, 30*time.Second, 10*time.Second, Poisson
	p.Targets[0].Price = func(in, _, out int) (float64, bool) { return float64(in+out) / 1e6, true }
	v, err := p.Preview()
	if err != nil {
		t.Fatal(err)
	}
	// 11 at once for 40 s, twice, of answers that are thought to take 0.3 s and 15 ms a token.
	if want := 2 * 11 * 40 / (0.3 + 32*0.015); math.Abs(float64(v.Requests)/want-1) > 0.01 || v.Seconds != 160 {
		t.Errorf("%+v, want %g requests", v, want)
	}
	near(t, "cost", v.Cost, float64(v.Input+v.Output)/1e6, 0.01)
	p.Targets[0].Price = nil
	if v, _ = p.Preview(); v.Cost != nil || !slices.Equal(v.Unpriced, []string{"outside"}) {
		t.Errorf("%+v", v)
	}
}

package stress

import (
	"math"
	"testing"
	"time"

	"baton/engine/outcome"
)

// made makes a closed loop's stretch of n answers, one after the other for each of c
// workers, that take as long as the function says.
func made(c int, seconds float64, takes func(i int) (first, total time.Duration, tokens int)) stretch {
	p := stretch{closed: time.Duration(seconds * float64(time.Second)), gaps: newGaps()}
	for w := range c {
		at := time.Duration(0)
		for i := w; at < p.closed; i += c {
			first, all, tokens := takes(i)
			s := sample{due: at, sent: at, head: at, first: at + first, answer: at + first, last: at + all, end: at + all, measured: true, in: 10, out: tokens, second: int(at.Seconds())}
			p.samples = append(p.samples, s)
			at = s.end
		}
	}
	return p
}

func near(t *testing.T, what string, got *float64, want, within float64) {
	t.Helper()
	if got == nil || math.Abs(*got/want-1) > within {
		t.Errorf("%s is %s, want %g within %g %%", what, num(got), want, within*100)
	}
}

func TestSummarize_FiguresAreTheirFormulas(t *testing.T) {
	l := summarize(ClosedLoop, 4, 0, []stretch{made(4, 20, func(int) (time.Duration, time.Duration, int) {
		return 100 * time.Millisecond, 500 * time.Millisecond, 41
	})}, SLO{P90: time.Second, P99: time.Second})
	l.judge()
	if l.N != 160 || l.Requests != 160 || l.Verdict != OK {
		t.Errorf("%d of %d, %s: %s", l.N, l.Requests, l.Verdict, l.Reason)
	}
	near(t, "first token P50", l.FirstToken.P50, 100, 1e-9)
	near(t, "per token", l.PerToken.P90, 10, 1e-9)
	near(t, "total", l.Total.P90, 500, 1e-9)
	near(t, "rps", &l.RPS, 8, 0.03) // the last of each worker ends at the window's end
	near(t, "tokens/s", &l.TokensPS, 8*41, 0.03)
	near(t, "in flight", &l.InFlight, 4, 0.01)
	near(t, "stream tokens/s", l.StreamTPS, 100, 1e-9)
	near(t, "goodput", l.Goodput, 1, 1e-9)
	if l.Total.P99 != nil || l.Total.p99() != "n/a (n=160)" {
		t.Errorf("P99 of 160 samples is %s", l.Total.p99())
	}
	if !*l.SLOMet {
		t.Error("the SLO is missed")
	}
}

func TestSummarize_CountsFromTheDueMomentAndKeepsTheServiceTime(t *testing.T) {
	p := made(1, 10, func(int) (time.Duration, time.Duration, int) {
		return 100 * time.Millisecond, 100 * time.Millisecond, 1
	})
	for i := range p.samples {
		p.samples[i].due -= 40 * time.Millisecond
	}
	l := summarize(Poisson, 0, 10, []stretch{p}, SLO{})
	near(t, "first token", l.FirstToken.P50, 140, 1e-9)
	near(t, "service", l.FirstService.P50, 100, 1e-9)
	near(t, "lag", l.Lag.P50, 40, 1e-9)
	if l.PerToken.N != 0 {
		t.Error("an answer of one token has a time per token")
	}
	if l.judge(); l.Verdict != ClientLimited {
		t.Errorf("sent 40 ms late of 140, and it is %s", l.Verdict)
	}
}

func TestSummarize_FailuresAreBadAndHaveNoLatency(t *testing.T) {
	p := made(2, 20, func(i int) (time.Duration, time.Duration, int) {
		return 100 * time.Millisecond, 100 * time.Millisecond, 1
	})
	for i := range p.samples {
		if i%4 == 0 { // fast failures must not make anything look fast
			s := &p.samples[i]
			s.result, s.reason, s.first, s.answer, s.last = outcome.VendorFault, "cuda", none, none, none
			s.end = s.sent + time.Millisecond
		}
	}
	l := summarize(ClosedLoop, 2, 0, []stretch{p}, SLO{P90: time.Second, P99: time.Second})
	if l.N != 300 || l.Errors["vendor_fault"] != 100 || l.Reasons["cuda"] != 100 {
		t.Errorf("%d well, %v %v", l.N, l.Errors, l.Reasons)
	}
	near(t, "first token", l.FirstToken.P50, 100, 1e-9)
	near(t, "goodput", l.Goodput, 0.75, 1e-9)
	near(t, "rps", &l.RPS, 15, 0.03)
	if *l.SLOMet {
		t.Error("a quarter fails, and the SLO is met")
	}
	if l.Total.P99 == nil || l.Total.p99() != "100*" {
		t.Errorf("P99 of 300 samples is %s", l.Total.p99())
	}
}

func TestLevel_Verdicts(t *testing.T) {
	steady := func(int) (time.Duration, time.Duration, int) {
		return 100 * time.Millisecond, 200 * time.Millisecond, 5
	}
	for name, c := range map[string]struct {
		p    stretch
		edit func(i int, s *sample)
		want string
	}{
		"steady":       {p: made(4, 10, steady), want: OK},
		"too few":      {p: made(1, 5, steady), want: TooFew},
		"one refused":  {p: made(4, 10, steady), edit: func(i int, s *sample) { refuse(s, i == 0) }, want: OK},
		"some refused": {p: made(4, 10, steady), edit: func(i int, s *sample) { refuse(s, i%20 == 0) }, want: Limited},
		"slower later": {p: made(4, 20, steady), edit: func(_ int, s *sample) {
			if s.second >= 10 {
				s.last += 100 * time.Millisecond
			}
		}, want: Unstable},
		"sent late": {p: made(4, 10, steady), edit: func(_ int, s *sample) { s.sent += 20 * time.Millisecond }, want: ClientLimited},
		"one hiccup": {p: made(4, 10, steady), edit: func(i int, s *sample) {
			if i == 7 {
				s.sent += 80 * time.Millisecond
			}
		}, want: OK},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range c.p.samples {
				if c.edit != nil {
					c.edit(i, &c.p.samples[i])
				}
			}
			l := summarize(ClosedLoop, 4, 0, []stretch{c.p}, SLO{})
			if l.judge(); l.Verdict != c.want {
				t.Errorf("%s: %s, want %s", l.Verdict, l.Reason, c.want)
			}
		})
	}
}

func refuse(s *sample, really bool) {
	if really {
		s.result, s.first, s.answer, s.last = outcome.RateLimited, none, none, none
	}
}

func TestLevel_ABusyClientIsNoVendor(t *testing.T) {
	p := made(4, 10, func(int) (time.Duration, time.Duration, int) { return time.Second / 10, time.Second / 5, 5 })
	p.cpu, p.cpuKnown = 0.93, true
	l := summarize(ClosedLoop, 4, 0, []stretch{p}, SLO{})
	if l.judge(); l.Verdict != ClientLimited {
		t.Errorf("%s", l.Verdict)
	}
	p.cpu = 0.5
	p.dropped = 1
	l = summarize(Poisson, 4, 20, []stretch{p}, SLO{})
	if l.judge(); l.Verdict != ClientLimited {
		t.Errorf("with an unsent request it is %s", l.Verdict)
	}
}

// ladder makes levels whose answers take as long as takes says at a concurrency.
func ladder(takes func(c int) (first, total time.Duration), levels ...int) RunReport {
	run := RunReport{}
	for _, c := range levels {
		first, all := takes(c)
		i := 0.0
		l := summarize(ClosedLoop, c, 0, []stretch{made(c, 40, func(int) (time.Duration, time.Duration, int) {
			i = math.Mod(i+0.618033988749895, 1) // spread evenly over 0.8 to 1.2
			by := 0.8 + 0.4*i
			return time.Duration(by * float64(first)), time.Duration(by * float64(all)), 11
		})}, SLO{})
		l.judge()
		run.Levels = append(run.Levels, l)
	}
	return run
}

func TestDegradation_IsTheKnownSlowdown(t *testing.T) {
	// Answers take 2.5 times as long at 16 as at 1, first tokens 4 times.
	run := ladder(func(c int) (time.Duration, time.Duration) {
		return time.Duration(100+20*(c-1)) * time.Millisecond, time.Duration(400+40*(c-1)) * time.Millisecond
	}, 1, 4, 16)
	run.degradation(1)
	d := run.Degradation
	if d == nil || d.From != 1 || d.To != 16 || d.Withheld != "" {
		t.Fatalf("%+v", d)
	}
	near(t, "first token P50", d.FirstP50, 4, 0.02)
	near(t, "first token P90", d.FirstP90, 4, 0.02)
	near(t, "total P50", d.TotalP50, 2.5, 0.02)
	near(t, "per token P50", d.PerTokenP50, 2, 0.02)
	near(t, "throughput", d.Throughput, 16/2.5, 0.02)
	near(t, "efficiency", d.Efficiency, 1/2.5, 0.02)
	near(t, "stream", d.Stream, 2, 0.02)
	if d.TotalP99 != nil { // there are about 100 samples at 1
		t.Errorf("P99 of the ratio is %g", *d.TotalP99)
	}
	for _, name := range []string{"first_token_p50", "total_p50", "efficiency"} {
		if ci, ok := d.CI[name]; !ok || ci[0] > ci[1] {
			t.Errorf("%s has the interval %v", name, ci)
		}
	}
	if d.Knee == nil || *d.Knee != 16 {
		t.Errorf("the knee is at %v: %s", d.Knee, d.KneeWhy)
	}
}

func TestDegradation_IsWithheldWhereALimiterWasMeasured(t *testing.T) {
	run := ladder(func(int) (time.Duration, time.Duration) { return 100 * time.Millisecond, 400 * time.Millisecond }, 1, 4, 16)
	top := &run.Levels[2]
	for i := range top.samples {
		refuse(&top.samples[i], i%2 == 0)
	}
	*top = Level{Arrivals: ClosedLoop, Concurrency: 16, samples: top.samples, Errors: map[string]int{}, Reasons: map[string]int{}, Histograms: map[string]string{}}
	top.count(SLO{})
	top.judge()
	run.degradation(1)
	d := run.Degradation
	if d.Withheld != "measures the limiter from 16 on" || d.FirstP50 != nil || d.Efficiency != nil || d.Struck["first_token_p50"] == 0 || len(d.CI) != 0 || d.Knee != nil {
		t.Errorf("%+v", d)
	}
	if run.Clean == nil || run.Clean.From != 1 || run.Clean.To != 4 || run.Clean.FirstP50 == nil {
		t.Errorf("below the limit it is %+v", run.Clean)
	}
}

package stress

import (
	"math"
	"strings"
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

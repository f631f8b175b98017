package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func ladder(n int) StressState {
	f := control.Figure
	all := []StressLevel{
		{Concurrency: 1, N: 120, RPS: 2.1, P50: f(310), P90: f(420), P99: f(510), TokensPerS: 90},
		{Concurrency: 10, N: 900, RPS: 19.4, P50: f(340), P90: f(510), P99: f(690), TokensPerS: 830},
		{Concurrency: 50, N: 1400, Errors: 12, RPS: 20, P50: f(1900), P90: f(2400), P99: f(2700), TokensPerS: 860, Verdict: "LIMITED"},
	}
	return StressState{Vendor: "lanyun", Levels: all[:n], Level: n, Of: 3, Doing: "50 concurrent", Part: float64(n) / 4, LeftS: 41}
}

func TestStress_AsksRunsShowsAndTellsTheVendor(t *testing.T) {
	c := rehearsed(made(2), Options{Embedded: true})
	seen := make(chan struct{})
	c.o.Stress = &Stress{
		Plan:   func(string) (string, string) { return "1, 10, 50 concurrent requests, 30 s each", "1:50" },
		Priced: func(string) bool { return true },
		Run: func(_ context.Context, vendor string, progress func(StressState)) (StressState, error) {
			progress(ladder(2))
			close(seen)
			s := ladder(3)
			s.Verdict, s.Limiter, s.Say = "LIMITED", "~20 requests/s per account", "Our account is held at 20 requests per second; we ask for 60."
			return s, nil
		},
	}
	c.press("S")
	if v := c.View(); !strings.Contains(v, "1, 10, 50 concurrent requests") || !strings.Contains(v, "has a price") {
		t.Errorf("the plan is not shown\n%s", v)
	}
	c.press("enter", "n")
	if c.stress.running {
		t.Fatal("n ran it")
	}
	c.press("enter")
	_, cmd := c.Update(keyMsg("y"))
	if !c.stress.running {
		t.Fatal("y did not run it")
	}
	c.press("enter")
	if c.mode != modeNormal {
		t.Error("a second test is asked about while one runs")
	}
	msg := cmd()
	<-seen
	c.now = c.now.Add(time.Second)
	c.Update(frameMsg(c.now))
	for _, want := range []string{"level 2 of 3", "50% · 0:41 left", "19.4", "690ms", "FIRST TOKEN BY CONCURRENCY"} {
		if v := c.View(); !strings.Contains(v, want) {
			t.Errorf("while it runs the screen does not say %q\n%s", want, v)
		}
	}
	golden(t, "page_stress_running_120x36", c.View())
	c.feed(msg)
	for _, z := range [][2]int{{120, 36}, {80, 24}} {
		c.resize(z[0], z[1])
		for _, want := range []string{"LIMITED", "measured the limiter, not the engine", "~20 requests/s per account", "we ask for 60", "2.70s"} {
			if v := c.View(); !strings.Contains(v, want) {
				t.Errorf("%v: the result does not say %q\n%s", z, want, v)
			}
		}
	}
	golden(t, "page_stress_result_80x24", c.View())
	for w := 1; w < 200; w += 9 {
		for h := 1; h < 60; h += 7 {
			c.resize(w, h)
			if err := whole(c.View(), w, h); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestStress_IsStoppedByAAndByLeaving(t *testing.T) {
	for name, stop := range map[string]func(c *console){
		"A": func(c *console) { c.press("A") }, "leaving": func(c *console) { c.leave(Left) },
	} {
		c := rehearsed(made(2), Options{Embedded: true})
		c.o.Stress = &Stress{
			Plan: func(string) (string, string) { return "", "" }, Priced: func(string) bool { return false },
			Run: func(ctx context.Context, _ string, _ func(StressState)) (StressState, error) {
				<-ctx.Done()
				return ladder(1), errors.New("stopped early")
			},
		}
		c.press("S", "enter")
		_, cmd := c.Update(keyMsg("y"))
		stop(c)
		c.feed(cmd())
		if c.stress.running || !strings.Contains(c.View(), "stopped early") {
			t.Errorf("%s did not stop it\n%s", name, c.View())
		}
	}
}

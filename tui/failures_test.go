package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func failedAttempts(n int) []control.Failure {
	status := 429
	var out []control.Failure
	for i := range n {
		out = append(out, control.Failure{
			Time: noon.Add(-time.Duration(i) * time.Second), RequestID: fmt.Sprintf("r%d", i), Vendor: "lanyun", Attempt: 1, Outcome: "overload", Reason: "limit_requests",
			Status: &status, VendorRequestID: fmt.Sprintf("req-%04d", i), Clock: "header", AfterMs: 1020, Message: "Requests rate limit exceeded", Rescued: i%2 == 0,
		})
	}
	return out
}

func TestEnter_OpensAVendorWithItsFailures(t *testing.T) {
	for _, z := range [][2]int{{180, 50}, {120, 36}, {100, 30}, {80, 24}, {60, 20}} {
		c := newConsole(made(2), Options{Embedded: true})
		c.f.failed = failedAttempts(40)
		c.resize(z[0], z[1])
		c.press("enter")
		v := c.View()
		for _, want := range []string{"12:00:00", "overload", "limit_requests", "429", "header", "1.02s", "rescued", "req-0000", "Requests rate", "└"} {
			if !strings.Contains(v, want) {
				t.Errorf("%v: the open vendor does not say %q\n%s", z, want, v)
			}
		}
		for range 60 {
			c.press("pgdown")
		}
		if v := c.View(); !strings.Contains(v, "req-0039") || strings.Contains(v, "req-0000") {
			t.Errorf("%v: PgDn does not come to the oldest\n%s", z, v)
		}
		c.press("esc")
		if strings.Contains(c.View(), "req-00") {
			t.Errorf("%v: esc leaves it open", z)
		}
	}
}

func TestOpenVendor_ShowsEverythingAndKeepsItsChartAt80x24(t *testing.T) {
	s := made(2)
	s.Vendors[0].Errors.ByOutcome60s["overload"] = 7
	s.Vendors[0].Limit = control.Limit{LearnedRPS: control.Figure(20), Keys: 2, Evidence: "429s"}
	s.Vendors[0].Tokens = control.Tokens{Input: 1200, Output: 3400}
	got := frame(s, 80, 24, Options{}, Frame{Zoom: true})
	for _, want := range []string{"10s", "60s", "5m", "P50", "max", "overload 7", "~20/s, learned", "1,200+3,400", "└-3:"} {
		if !strings.Contains(got, want) {
			t.Errorf("the open vendor does not say %q\n%s", want, got)
		}
	}
	for seconds := range 2 {
		drilled := killed(2, 6.4+20*float64(seconds))
		drilled.Alerts = []string{"蓝耘 is ejected: connection_refused"}
		if got := frame(drilled, 80, 24, Options{}, Frame{Zoom: true}); !strings.Contains(got, "└-3:") || !strings.Contains(got, "FAULT refuse") {
			t.Errorf("a drill takes the chart away\n%s", got)
		}
	}
	s.Vendors[0].Overrides = []string{"drained by operator:li.wei"}
	if got := frame(s, 80, 24, Options{}, Frame{Zoom: true}); !strings.Contains(got, "drained by operator:li.wei") || !strings.Contains(got, "└-3:") {
		t.Errorf("overrides or the chart are gone\n%s", got)
	}
}

func TestOpenVendor_ShowsFailuresOnTheSmallestScreens(t *testing.T) {
	for _, s := range []*control.Snapshot{made(2), killed(2, 6.4), killed(2, 20)} {
		for _, z := range [][2]int{{60, 20}, {40, 10}} {
			c := newConsole(s, Options{Embedded: true})
			c.f.failed = failedAttempts(40)
			c.resize(z[0], z[1])
			c.press("enter")
			if v := c.View(); !strings.Contains(v, "overload") {
				t.Errorf("%v: no failure\n%s", z, v)
			}
		}
	}
}

func TestFailures_OfAnotherVendorAreNotShown(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.f.failed = failedAttempts(3)
	c.press("enter", "2")
	if strings.Contains(c.View(), "req-0000") {
		t.Error("the first vendor's failures stand under the second's name")
	}
	c.failuresCame(failuresMsg{vendor: "lanyun", list: c.f.failed})
	if strings.Contains(c.View(), "req-0000") {
		t.Error("a late answer is shown under another vendor's name")
	}
}

func TestCommand_ShowsWhatChangesNothing(t *testing.T) {
	for _, x := range []struct{ line, want string }{
		{"status", "STATUS"},
		{"status", "127.0.0.1:8080"},
		{"limits", "LIMITS"},
		{"drill history", "▸HISTORY"},
		{"drill list", "▸SCENARIOS"},
		{"drill schedule", "▸SCHEDULE"},
		{"costs", "COSTS"},
		{"overrides", "OVERRIDES IN FORCE"},
		{"stress", "STRESS"},
		{"help", "KEYS"},
		{"failures bailian", "FAILED ATTEMPTS 百炼"},
	} {
		c := newConsole(made(2), Options{ReadOnly: true})
		c.press(":", x.line, "enter")
		if v := c.View(); !strings.Contains(v, x.want) {
			t.Errorf(":%s does not show %q (%q)\n%s", x.line, x.want, c.message.text, v)
		}
		if c.lines() != "" {
			t.Errorf(":%s sent %q", x.line, c.lines())
		}
	}
}

func TestPrompt_CompletesFiltersAndRemembers(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.press(":")
	if !strings.Contains(c.View(), "status") {
		t.Error("the list of commands is not shown")
	}
	c.press("d", "r", "a")
	if v := c.View(); !strings.Contains(v, "drain") || strings.Contains(v, "undrain") || strings.Contains(v, "status") {
		t.Errorf("the list does not follow what is typed: %q", c.prompt.hint)
	}
	c.press("tab", "b", "tab")
	if got := string(c.prompt.text); got != "drain bailian " {
		t.Errorf("completed to %q", got)
	}
	c.press("enter", "n", ":", "up")
	if got := string(c.prompt.text); got != "drain bailian" {
		t.Errorf("↑ brings back %q", got)
	}
	c.press("down")
	if len(c.prompt.text) != 0 {
		t.Error("↓ does not come back")
	}
}

func TestCandidates_FollowTheGrammar(t *testing.T) {
	s := made(2)
	for _, x := range []struct{ line, want string }{
		{"k", "kill"},
		{"kill ", "lanyun bailian"},
		{"kill 蓝", "lanyun"},
		{"kill lanyun --f", "--fault --for"},
		{"drill h", "history"},
		{"limits set b", "bailian"},
		{"weights ", "auto lanyun= bailian="},
		{"weights lanyun=70 ", "auto bailian="},
		{"baton res", "restore"},
		{"nonsense x", ""},
		{"", strings.Join(commandNames, " ")},
	} {
		if got := candidates(x.line, s, nil); !slices.Equal(got, strings.Fields(x.want)) {
			t.Errorf("%q may become %v, want %s", x.line, got, x.want)
		}
	}
}

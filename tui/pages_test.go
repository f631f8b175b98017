package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"baton/engine/control"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// pages are the screens of their own, each with the keys that open it.
var pages = []struct {
	name string
	snap func() *control.Snapshot
	keys []string
}{
	{"drill_scenarios", planned, []string{"d"}},
	{"drill_refused", planned, []string{"d", "down"}},
	{"drill_history", planned, []string{"d", "right", "down", "down", "down"}},
	{"drill_schedule", planned, []string{"d", "right", "right"}},
	{"drill_arm", func() *control.Snapshot { return made(2) }, []string{"d", "enter"}},
	{"drill_armed", armed, []string{"d"}},
	{"drill_running", running, []string{"d"}},
	{"drill_result", ended, []string{"d"}},
	{"drill_sealed", sealed, []string{"d"}},
	{"sealed", sealed, nil},
	{"armed", armed, nil},
	{"incident", incident, nil},
	{"incident_open", incident, []string{"d"}},
	{"presenter_drill", running, []string{"c"}},
	{"overrides", planned, []string{"o"}},
	{"costs", func() *control.Snapshot { return made(2) }, []string{"$"}},
	{"costs_moved", func() *control.Snapshot { return made(2) }, []string{"$", "shift+left", "shift+left", "shift+left"}},
	{"stress_none", func() *control.Snapshot { return made(2) }, []string{"S"}},
}

// opened is a console with a page open.
func opened(i int, w, h int, o Options) *console {
	x := pages[i]
	c := rehearsed(x.snap(), o)
	c.resize(w, h)
	if x.name == "drill_refused" {
		c.f.preflight.Refused, c.f.preflight.Scenario = "bailian is not well: degraded", "kill-primary"
		c.f.preflight.Checks[0] = control.Check{Name: "others are well", Want: "healthy for 30s", Got: "bailian degraded"}
	}
	c.press(x.keys...)
	c.run(c.askPages())
	return c
}

func TestPages_AreAsTheyWereLastLookedAt(t *testing.T) {
	for i, x := range pages {
		for _, z := range [][2]int{{120, 36}, {80, 24}} {
			t.Run(fmt.Sprintf("%s_%dx%d", x.name, z[0], z[1]), func(t *testing.T) {
				golden(t, fmt.Sprintf("page_%s_%dx%d", x.name, z[0], z[1]), opened(i, z[0], z[1], Options{Embedded: true}).View())
			})
		}
	}
	for _, i := range []int{0, 6, 13, 14, 15} {
		golden(t, "page_"+pages[i].name+"_60x20_ascii", opened(i, 60, 20, Options{Embedded: true, ASCII: true}).View())
	}
}

func TestPages_HaveExactlyTheTerminalsSize(t *testing.T) {
	step := 11
	if testing.Short() {
		step = 23
	}
	for i, x := range pages {
		c := opened(i, 80, 24, Options{ASCII: i%2 == 0})
		for w := 1; w <= 250; w += step {
			for h := 1 + w%3; h <= 80; h += 9 {
				c.resize(w, h)
				if err := whole(c.View(), w, h); err != nil {
					t.Fatalf("%s at %dx%d: %v", x.name, w, h, err)
				}
			}
		}
	}
}

func TestDrills_AreArmedWithACountdownThatCanBeCancelled(t *testing.T) {
	c := rehearsed(made(2), Options{Embedded: true})
	c.press("d")
	c.run(c.askPages())
	if v := c.View(); !strings.Contains(v, "others are well") || !strings.Contains(v, "ready; warnings: 1") || !strings.Contains(v, "0.42") {
		t.Fatalf("preflight is not shown\n%s", v)
	}
	c.press("enter", "enter")
	if c.lines() != "" {
		t.Fatalf("Enter twice sent %q", c.lines())
	}
	c.press("enter", "y")
	d, ok := c.f.did[0].(*control.StartDrill)
	if !ok || d.Scenario != "kill" || d.Vendor != "lanyun" || d.Countdown <= 0 || d.By != "li.wei" {
		t.Fatalf("sent %+v", c.f.did[0])
	}
	c.take(armed(), noon)
	c.now = noon.Add(2300 * 1e6)
	c.Update(frameMsg(c.now))
	if got := c.seconds(); got < 4.9 || got > 5.1 {
		t.Errorf("2.3 s after a snapshot with 7.3 s left, %v s are left", got)
	}
	c.press("esc")
	if got := c.lines(); got != "baton kill lanyun; baton drill abort" {
		t.Errorf("Esc in the countdown: %q", got)
	}
}

func TestDrills_InProductionTheVendorsNameIsTyped(t *testing.T) {
	s := made(2)
	s.Environment = "PROD-SH"
	c := rehearsed(s, Options{Embedded: true})
	c.press("W", "d")
	c.run(c.askPages())
	c.press("enter", "y", "enter")
	if c.lines() != "" {
		t.Fatalf("y armed a drill in production: %q", c.lines())
	}
	c.press("enter", "lanyun", "enter")
	if c.lines() != "baton kill lanyun" {
		t.Errorf("sent %q", c.lines())
	}
}

func TestDrills_WhatPreflightRefusesIsNotSent(t *testing.T) {
	c := rehearsed(made(2), Options{Embedded: true})
	c.f.preflight.Refused = "bailian is not well"
	c.press("d")
	c.run(c.askPages())
	c.press("enter", "y")
	if c.lines() != "" || !strings.Contains(c.View(), "would be refused") {
		t.Errorf("sent %q\n%s", c.lines(), c.View())
	}
}

func TestDrill_ASealedOneTellsNothing(t *testing.T) {
	for _, keys := range [][]string{nil, {"d"}, {"c"}, {"z"}} {
		c := rehearsed(sealed(), Options{Embedded: true})
		c.press(keys...)
		v := c.View()
		for _, secret := range []string{"· refuse", "0:06", "FAULT", "detected"} {
			if strings.Contains(v, secret) {
				t.Errorf("%v: a sealed drill tells %q\n%s", keys, secret, v)
			}
		}
		if !strings.Contains(v, "sealed drill runs") && keys != nil && keys[0] != "z" {
			t.Errorf("%v: it does not say that a drill runs\n%s", keys, v)
		}
	}
}

func TestDrill_TasksAreTickedAndTheWaitIsMarked(t *testing.T) {
	c := rehearsed(running(), Options{Embedded: true})
	c.press("d", "down", " ")
	if got := c.lines(); got != "baton drill mark 2" {
		t.Errorf("Space sent %q", got)
	}
	c = rehearsed(running(), Options{Embedded: true})
	c.press("d", "down", "x")
	if got := c.lines(); got != "baton drill mark 2" {
		t.Errorf("x, while the drill waits for nothing, sent %q", got)
	}
	s := running()
	s.Drill.Waits = "cut the endpoint of lanyun, and press x at the same moment"
	c = rehearsed(s, Options{Embedded: true})
	if v := c.View(); !strings.Contains(v, "waits for you") || !strings.Contains(v, "x marks it done") {
		t.Errorf("the screen does not say what the drill waits for\n%s", v)
	}
	c.press("x")
	if got := c.lines(); got != "baton drill mark" {
		t.Errorf("x sent %q", got)
	}
}

func TestIncident_IsShownLikeADrillAndDismissed(t *testing.T) {
	c := rehearsed(incident(), Options{Embedded: true})
	v := c.View()
	for _, want := range []string{"INCIDENT (nobody ordered it): 蓝耘", "nobody ordered it", "detected 0:01.2", "RUNNING"} {
		if !strings.Contains(v, want) {
			t.Errorf("the screen does not say %q\n%s", want, v)
		}
	}
	c.press("A")
	if c.lines() != "" {
		t.Errorf("A on an incident sent %q", c.lines())
	}
	s := incident()
	verdict := control.Passed
	s.Incident.Verdict, s.Incident.CutoverS = &verdict, control.Figure(2.6)
	c.take(s, noon)
	c.press("esc")
	if _, ok := c.f.did[0].(*control.DismissIncident); !ok {
		t.Errorf("Esc sent %q", c.lines())
	}
	c.take(s, noon)
	if v := c.View(); strings.Contains(v, "INCIDENT") {
		t.Errorf("it is shown after it was dismissed\n%s", v)
	}
}

func TestIncident_GivesWayToADrillThatRuns(t *testing.T) {
	s := killed(2, 6.4)
	s.Incident = incident().Incident
	c := rehearsed(s, Options{Embedded: true})
	if d := c.drill(); d == nil || d.Incident {
		t.Errorf("the drill that runs is not shown: %+v", d)
	}
}

func TestSchedule_TheNextDrillCanBeCancelled(t *testing.T) {
	c := rehearsed(planned(), Options{Embedded: true})
	if v := c.View(); !strings.Contains(v, "o:4") {
		t.Errorf("the header does not count the overrides\n%s", v)
	}
	c.press("d", "right", "right", "x", "down", "down", "x")
	if got := c.lines(); got != "baton drill cancel s1" {
		t.Errorf("sent %q", got)
	}
}

func TestOverrides_AreExtendedAndEndedByTheirOwnCommands(t *testing.T) {
	for _, x := range []struct {
		keys []string
		want string
	}{
		{[]string{"p"}, "baton weights lanyun=60 bailian=40 --for 15m --reason \"price\""},
		{[]string{"o", "p"}, "baton weights lanyun=60 bailian=40 --for 15m --reason \"price\""},
		{[]string{"o", "down", "p"}, "baton failover manual --for 30m"},
		{[]string{"o", "down", "enter"}, "baton failover auto"},
		{[]string{"o", "down", "down", "enter"}, "baton limits forget bailian"},
		{[]string{"o", "down", "down", "p"}, ""},
		{[]string{"o", "down", "down", "down", "enter"}, "baton undrain lanyun"},
	} {
		c := rehearsed(planned(), Options{Embedded: true})
		c.press(x.keys...)
		if got := c.lines(); got != x.want {
			t.Errorf("%v sent %q, want %q", x.keys, got, x.want)
		}
	}
}

func TestCosts_AWhatIfSendsNothingAndFollowsTheMouse(t *testing.T) {
	c := rehearsed(made(2), Options{Embedded: true})
	c.press("$", "shift+left", "left")
	if got := c.sharesNow(); got[0] != 69 || got[1] != 31 {
		t.Fatalf("the what-if stands at %v", got)
	}
	y := -1
	for i, l := range strings.Split(c.View(), "\n") {
		if strings.Contains(l, "○") {
			y = i
			break
		}
	}
	if y < 0 {
		t.Fatalf("no slider\n%s", c.View())
	}
	c.feed(tea.MouseMsg{X: 60, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	if got := c.sharesNow(); got[0] == 69 {
		t.Errorf("a press on the slider did nothing: %v", got)
	}
	if c.lines() != "" {
		t.Errorf("a what-if sent %q", c.lines())
	}
	c.press("esc")
	if c.place != placeCosts || c.costs.shares != nil {
		t.Error("Esc did not take the what-if back first")
	}
}

func TestHeader_TellsWhatEverythingCostsNow(t *testing.T) {
	s := made(2)
	s.Cost = control.Spend{Currency: "CNY", PerHour: control.Figure(176.1), OverS: 600}
	c := rehearsed(s, Options{Embedded: true})
	for w, want := range map[int]string{80: "¥176.10/h 10m", 120: "¥176.10/h 10m", 170: "176.10 CNY/h over 10m"} {
		c.resize(w, 36)
		if v, _, _ := strings.Cut(ansi.Strip(c.View()), "\n"); !strings.Contains(v, want) {
			t.Errorf("at %d cells the header does not say %q but %q", w, want, v)
		}
	}
}

func TestShedding_IsToldWhileItLasts(t *testing.T) {
	s := made(2)
	c := rehearsed(s, Options{Embedded: true})
	for i := range 4 {
		next := *s
		next.Lanes.Batch.Shed, next.Lanes.Interactive.Shed, next.Lanes.Batch.Waiting = int64(30*i), int64(4*i), 7
		c.take(&next, noon.Add(time.Duration(i)*time.Second))
	}
	if v := c.View(); !strings.Contains(v, "102 refused for want of room in the last 10 s (90 of them batch), 7 waiting") {
		t.Errorf("the banner does not tell of it\n%s", v)
	}
	last := *s
	last.Lanes.Batch.Shed, last.Lanes.Interactive.Shed = 90, 12
	for i := range 30 {
		c.take(&last, noon.Add(time.Duration(4+i)*time.Second))
	}
	if v := c.View(); strings.Contains(v, "refused for want of room") {
		t.Errorf("it is told after it has ended\n%s", v)
	}
}

package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"baton/engine/control"

	tea "github.com/charmbracelet/bubbletea"
)

func TestArrow_PointsWhereTheWeightGoesAndIsGoneWhenItIsThere(t *testing.T) {
	for _, x := range []struct {
		name           string
		weight, target float64
		want, never    string
	}{
		{"on its way", 50, 60, "50% → 60%", ""},
		{"there but for a fraction", 59.6, 60, "target 60%", "→ 60%"},
		{"there", 60, 60, "target 60%", "→ 60%"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := made(2)
			s.Pin, s.Control = &control.Pin{Weights: map[string]float64{"lanyun": 60, "bailian": 40}, Until: noon.Add(time.Hour)}, "pinned"
			for i, w := range []float64{x.weight, 100 - x.weight} {
				s.Vendors[i].Weight, s.Vendors[i].Pinned = w, true
			}
			s.Vendors[0].Target, s.Vendors[1].Target = x.target, 100-x.target
			got := frame(s, 120, 36, Options{}, Frame{})
			if !strings.Contains(got, x.want) || x.never != "" && strings.Contains(got, x.never) {
				t.Errorf("want %q, never %q\n%s", x.want, x.never, got)
			}
		})
	}
}

func TestShare_IsOfTheLastTenSeconds(t *testing.T) {
	s := made(2)
	s.Vendors[0].Share10s, s.Vendors[0].Share60s = control.Figure(41), control.Figure(66)
	s.Vendors[1].Share10s, s.Vendors[1].Share60s = control.Figure(59), control.Figure(34)
	if got := frame(s, 120, 36, Options{}, Frame{}); !strings.Contains(got, "share 41%") || strings.Contains(got, "share 66%") {
		t.Errorf("the share is not that of 10 s\n%s", got)
	}
}

func TestPercents_OfOneRowSumToAHundred(t *testing.T) {
	for _, w := range [][]float64{{33.4, 33.3, 33.3}, {74.5, 25.5}, {0.5, 0.5, 99}, {12.5, 12.5, 37.5, 37.5}, {16.6, 16.7, 16.7, 16.6, 16.7, 16.7}} {
		sum := 0.0
		for _, x := range together(w) {
			sum += x
		}
		if sum != 100 {
			t.Errorf("%v becomes %v", w, together(w))
		}
	}
	if got := together([]float64{0, 0}); got[0] != 0 || got[1] != 0 {
		t.Errorf("vendors that carry nothing get %v", got)
	}
}

func TestProduction_LocksAConsoleWhoseEngineBecomesIt(t *testing.T) {
	c := newConsole(made(2), Options{})
	s := made(2)
	s.Environment = "PROD"
	c.take(s, noon.Add(time.Second))
	if !c.readOnly {
		t.Fatal("a console onto production is not locked")
	}
	c.press("W")
	later := *s
	c.take(&later, noon.Add(2*time.Second))
	if c.readOnly {
		t.Error("the same environment locks again after W")
	}
}

func TestApply_BecomingEnterHoldsWhatIsStaged(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	c.press("right")
	s := made(2)
	s.Apply = "enter"
	c.take(s, noon.Add(time.Second))
	c.feed(nudgedMsg(c.burst.n))
	if c.lines() != "" || c.draft == nil {
		t.Fatalf("sent %q, draft %+v", c.lines(), c.draft)
	}
	c.press("enter")
	if c.lines() != "baton weights lanyun=76 bailian=24" {
		t.Errorf("sent %q", c.lines())
	}
}

func TestMoments_AreCutAsTheClockIs(t *testing.T) {
	s := killed(2, 20)
	s.Drill.CutoverS = control.Figure(3.09)
	for i := range s.Drill.Phases {
		if s.Drill.Phases[i].Name == control.PhaseShifted {
			s.Drill.Phases[i].TS = 3.09
		}
	}
	s.Drill.HurtS = 0.19
	for _, z := range [][2]int{{120, 36}, {80, 24}} {
		got := frame(s, z[0], z[1], Options{}, Frame{})
		if !strings.Contains(got, "cutover 0:03.0") || !strings.Contains(got, "shifted 0:03.0") && !strings.Contains(got, "shifted 3.0") {
			t.Errorf("%v: the cutover and its moment differ\n%s", z, got)
		}
		if strings.Contains(got, "hurt 0.2") {
			t.Errorf("%v: 0.19 s is rounded up", z)
		}
	}
}

func TestNudges_OfOneBurstAreOneChange(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	for range 3 {
		c.press("right")
		c.now = c.now.Add(100 * time.Millisecond)
	}
	if c.lines() != "" || c.draft == nil || c.draft.values[0] != 78 {
		t.Fatalf("within the burst: sent %q, draft %+v", c.lines(), c.draft)
	}
	if !strings.Contains(c.View(), "75% → 78%") {
		t.Error("the draft is not on the screen")
	}
	c.feed(nudgedMsg(1)) // of a nudge that others followed
	if c.lines() != "" {
		t.Fatalf("the first pause sent %q", c.lines())
	}
	c.feed(nudgedMsg(3))
	if c.lines() != "baton weights lanyun=78 bailian=22" || c.burst.on {
		t.Errorf("sent %q", c.lines())
	}
}

func TestNudges_OfAHeldKeyAreSentWithinASecond(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	for range 30 {
		c.press("left")
		c.now = c.now.Add(30 * time.Millisecond)
	}
	if len(c.f.did) == 0 {
		t.Error("a key held for 0.9 s has changed nothing")
	}
}

func TestNudges_ThatAreNotSentYetAreUndoneByU(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	c.press("right", "u")
	c.feed(nudgedMsg(c.burst.n))
	if c.lines() != "" || c.draft != nil {
		t.Errorf("sent %q, draft %+v", c.lines(), c.draft)
	}
}

func TestSilentKeys_SayWhy(t *testing.T) {
	empty := made(2)
	empty.Vendors[0].Weight, empty.Vendors[1].Weight = 0, 100
	for _, x := range []struct {
		name string
		snap *control.Snapshot
		keys []string
		want string
	}{
		{"equal beside a lock", made(2), []string{" ", "e"}, "nobody else can make room"},
		{"left at nothing", empty, []string{"left"}, "蓝耘 is at 0%"},
		{"a digit without a vendor", made(2), []string{"5"}, "no vendor 5"},
		{"a locked vendor by keys", made(2), []string{" ", "right"}, "蓝耘 is locked: Space unlocks"},
		{"space locks", made(2), []string{" "}, "蓝耘 locked"},
		{"space unlocks", made(2), []string{" ", " "}, "蓝耘 unlocked"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newConsole(x.snap, Options{Embedded: true})
			c.press(x.keys...)
			if c.lines() != "" || !strings.Contains(c.message.text, x.want) {
				t.Errorf("sent %q, the footer says %q, want %q", c.lines(), c.message.text, x.want)
			}
			if !strings.Contains(c.View(), x.want) {
				t.Error("the footer does not show it")
			}
		})
	}
}

func TestLock_IsOnTheCard(t *testing.T) {
	s := made(2)
	s.Pin, s.Control = &control.Pin{Weights: map[string]float64{"lanyun": 75, "bailian": 25}, Until: noon.Add(time.Hour)}, "pinned"
	s.Vendors[0].Pinned, s.Vendors[1].Pinned = true, true
	for _, z := range [][2]int{{120, 36}, {100, 30}, {80, 24}, {60, 20}, {40, 10}} {
		c := newConsole(s, Options{Embedded: true})
		c.resize(z[0], z[1])
		c.press(" ")
		c.message = message{}
		v := strings.SplitN(c.View(), "EVENTS", 2)[0]
		if !strings.Contains(v, "locked") {
			t.Errorf("%v: the card does not say that it is locked\n%s", z, v)
		}
	}
}

func TestWeight_OutsideItsBandIsMarkedInAWord(t *testing.T) {
	s := made(2)
	s.Vendors[0].Weight, s.Vendors[0].Target = 60, 60
	s.Vendors[1].Weight, s.Vendors[1].Target = 40, 40
	if got := frame(s, 120, 36, Options{}, Frame{}); !strings.Contains(got, "outside 70-80") || !strings.Contains(got, "outside 20-30") {
		t.Errorf("no mark\n%s", got)
	}
	if got := frame(made(2), 120, 36, Options{}, Frame{}); strings.Contains(got, "outside") {
		t.Error("a weight within its band is marked")
	}
}

func TestQuestions_TellTheVendorsOwnFiguresAndWhatIsLost(t *testing.T) {
	s := made(2)
	s.Vendors[0].State, s.Vendors[0].Weight, s.Vendors[0].RPS = control.Drained, 0, 0
	s.Vendors[1].Weight, s.Vendors[1].RPS = 100, 19.5
	c := newConsole(s, Options{Embedded: true})
	c.press("2", "D")
	if v := c.View(); !strings.Contains(v, "503") {
		t.Errorf("draining the last vendor does not say what happens\n%s", v)
	}
	c.press("n", "1", "K")
	if v := c.View(); strings.Contains(v, "19.5 requests/s") || !strings.Contains(v, "0.0 requests/s") {
		t.Errorf("the rate is not the vendor's own\n%s", v)
	}
}

func TestLostEngine_HasNoRates(t *testing.T) {
	c := newConsole(killed(2, 6.4), Options{Address: "http://127.0.0.1:8089"})
	c.inbox.lose(errors.New("connection refused"))
	c.feed(frameMsg{})
	v := c.View()
	for _, rate := range []string{"19.8 req/s", "15.0 req/s"} {
		if strings.Contains(v, rate) {
			t.Errorf("a rate of an engine that is gone: %q", rate)
		}
	}
	at := c.seconds()
	c.now = c.now.Add(5 * time.Second)
	c.feed(frameMsg{})
	if c.seconds() != at {
		t.Error("the clock runs on without the engine that measures")
	}
}

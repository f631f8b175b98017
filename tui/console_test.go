package tui

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
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

func TestArrow_IsNotDrawnWhileAPinWaitsForAVendorThatIsOut(t *testing.T) {
	s := killed(2, 6)
	s.Pin, s.Control = &control.Pin{Weights: map[string]float64{"lanyun": 75, "bailian": 25}, Until: noon.Add(time.Hour)}, "pinned"
	s.Vendors[0].Target, s.Vendors[1].Target = 75, 25
	if got := frame(s, 120, 36, Options{}, Frame{}); strings.Contains(got, "→") && strings.Contains(got, "100% → 25%") || !strings.Contains(got, "target 25%") {
		t.Errorf("the weight does not go there now\n%s", got)
	}
}

func TestCharts_OfAllVendorsHaveOneScale(t *testing.T) {
	for w := 80; w <= 200; w += 10 {
		for h := 20; h <= 60; h += 2 {
			for line := range strings.SplitSeq(frame(killed(2, 6.4), w, h, Options{}, Frame{}), "\n") {
				if f := strings.FieldsFunc(line, func(r rune) bool { return r == '│' }); strings.Count(line, "┤")+strings.Count(line, "┼") == 2 && len(f) == 2 {
					a, _, _ := strings.Cut(strings.Replace(f[0], "┼", "┤", 1), "┤")
					b, _, _ := strings.Cut(strings.Replace(f[1], "┼", "┤", 1), "┤")
					if a != b {
						t.Fatalf("%dx%d: one row is %q and %q", w, h, a, b)
					}
				}
			}
		}
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

func TestMoments_AreRoundedAsTheCutoverIs(t *testing.T) {
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
		if !strings.Contains(got, "cutover 0:03.1") || !strings.Contains(got, "shifted 0:03.1") && !strings.Contains(got, "shifted 3.1") {
			t.Errorf("%v: the cutover and its moment differ\n%s", z, got)
		}
		if strings.Contains(got, "hurt 0.1") {
			t.Errorf("%v: 0.19 s is cut", z)
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
		v, _, _ := strings.Cut(c.View(), "EVENTS")
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

func TestSmallScreen_LosesNothingOfAQuestion(t *testing.T) {
	last := made(2)
	last.Vendors[1].State = control.Drained
	prod := made(2)
	prod.Environment = "PROD"
	for _, c := range []struct {
		name string
		snap *control.Snapshot
		keys []string
		want []string
	}{
		{"kill", made(2), []string{"K"}, []string{"Drill: kill 蓝耘?", "baton must notice", "Ends with R or in 15m", "D: out of service now", "y kill it", "n no"}},
		{"kill in production", prod, []string{"W", "K"}, []string{"baton must notice", "in 15m", "D: out of service now", "type lanyun:", "Enter kill it", "Esc no"}},
		{"kill the last", last, []string{"K"}, []string{"in 15m", "D: out of service now", "refused", "y kill it", "n no"}},
		{"drain the last", last, []string{"D"}, []string{"no new traffic", "503", "y drain it", "n no"}},
		{"quit", made(2), []string{"q"}, []string{"127.0.0.1:8080", "y drain and stop", "k serve on without the console", "n no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newConsole(c.snap, Options{Embedded: true})
			x.resize(40, 10)
			x.press(c.keys...)
			v := x.View()
			if err := whole(v, 40, 10); err != nil {
				t.Error(err)
			}
			var inside []string
			for l := range strings.SplitSeq(ansi.Strip(v), "\n") {
				inside = append(inside, strings.Trim(l, "│ "))
			}
			text := strings.Join(inside, " ")
			for _, w := range c.want {
				if !strings.Contains(text, w) {
					t.Errorf("the question does not say %q\n%s", w, v)
				}
			}
		})
	}
	full := newConsole(made(2), Options{Embedded: true})
	full.resize(80, 24)
	full.press("K")
	if v := full.View(); !strings.Contains(v, "requests/s") || strings.Contains(v, "baton must notice") {
		t.Errorf("80x24 has room for the whole text\n%s", v)
	}
}

func TestHelp_ScrollsToEveryWordOnASmallScreen(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		for _, lang := range []string{"en", "zh"} {
			x := newConsole(made(2), Options{Embedded: true, ASCII: ascii})
			x.setTheme(x.look.Theme, draw.Language(lang, os.Getenv))
			x.resize(40, 10)
			x.press("?")
			seen, before := ansi.Strip(x.View()), ""
			for v := x.View(); v != before; v = x.View() {
				before = v
				x.press("down")
				seen += "\n" + ansi.Strip(x.View())
			}
			for _, h := range helpKeys {
				for word := range strings.FieldsSeq(x.look.Keys[h.text]) {
					if lang == "en" && !strings.Contains(seen, word) {
						t.Errorf("ascii %v: %q of %q cannot be read", ascii, word, x.look.Keys[h.text])
					}
				}
			}
			for _, l := range strings.Split(before, "\n")[1:9] {
				if strings.Contains(l, x.look.Ellipsis) {
					t.Errorf("%s: a text is cut: %s", lang, l)
				}
			}
			bottom := x.scrolled
			x.press("down", "down", "pgdown")
			if x.scrolled != bottom {
				t.Errorf("scrolled to %d, past the end at %d", x.scrolled, bottom)
			}
			x.press("pgup")
			if x.scrolled >= bottom {
				t.Error("PgUp does not go back")
			}
			x.resize(200, 60)
			x.press("down")
			if x.scrolled != 0 {
				t.Errorf("scrolled to %d where everything fits", x.scrolled)
			}
		}
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

func TestAlerts_AreARedBannerWhileTheyAre(t *testing.T) {
	s := made(2)
	s.Alerts = []string{"no vendor may take traffic: every request is answered 503", "蓝耘 is disabled: billing", "the state directory cannot be written"}
	s.Failover = "manual"
	got := strings.Split(frame(s, 80, 24, Options{}, Frame{}), "\n")[1]
	if !strings.Contains(got, "answered 503") || !strings.Contains(got, "(+3)") {
		t.Errorf("the banner is %q", got)
	}
	s.Alerts = []string{"failover is manual until 12:30: breakers alarm", "蓝耘 is disabled: billing"}
	if got := strings.Split(frame(s, 80, 24, Options{}, Frame{}), "\n")[1]; !strings.Contains(got, "billing (+1)") {
		t.Errorf("what is red is hidden by what is yellow: %q", got)
	}
	if got := frame(made(2), 80, 24, Options{}, Frame{}); strings.Contains(got, "(+") {
		t.Error("a banner without an alert")
	}
}

func TestEvents_ScrollNoFurtherThanTheOldestAndFilterByVendor(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.addEvents(many(20))
	for range 9 {
		c.press("pgdown")
	}
	v := c.View()
	if !strings.Contains(v, "serving on") || !strings.Contains(v, "number 0") {
		t.Errorf("PgDn goes past the oldest events\n%s", v)
	}
	for _, name := range []string{"百炼", "bailian"} {
		c.press("esc", "/", name, "enter")
		if v := c.View(); !strings.Contains(v, "number 19") || strings.Contains(v, "serving on") {
			t.Errorf("the filter does not know the vendor %s\n%s", name, v)
		}
		c.press("esc")
	}
}

func TestFault_IsSaidAfterItsDrillWasPutAway(t *testing.T) {
	s := killed(2, 20)
	failed := control.Failed
	s.Drill.Verdict = &failed
	c := newConsole(s, Options{Embedded: true})
	c.press("2", "esc")
	for _, z := range [][2]int{{120, 36}, {100, 30}, {80, 24}, {60, 20}, {40, 10}} {
		c.resize(z[0], z[1])
		c.message = message{}
		lines := strings.Split(c.View(), "\n")
		foot := lines[len(lines)-1]
		if !strings.Contains(foot, "FAULT 蓝耘") || !strings.Contains(foot, "· R") || !strings.Contains(foot, "q ") {
			t.Errorf("%v: the footer is %q", z, foot)
		}
		if z[0] >= 80 && !strings.Contains(foot, "ends in 14:00") {
			t.Errorf("%v: the footer does not say when: %q", z, foot)
		}
		if card := strings.Join(lines[:len(lines)-1], "\n"); !strings.Contains(card, "FAULT") {
			t.Errorf("%v: the card does not say it\n%s", z, c.View())
		}
	}
	c.press("R")
	if !strings.HasSuffix(c.lines(), "baton restore lanyun") {
		t.Errorf("R does not find it: %q", c.lines())
	}
}

func TestFooter_OffersUndrainOnADrainedVendor(t *testing.T) {
	s := made(2)
	s.Vendors[0].State = control.Drained
	if got := frame(s, 80, 24, Options{}, Frame{}); !strings.Contains(got, "D undrain") {
		t.Errorf("no way back\n%s", got)
	}
}

func TestPinned_SaysWhatItIsPinnedToWhileAnotherVendorIsOut(t *testing.T) {
	s := made(2)
	s.Pin, s.Control = &control.Pin{Weights: map[string]float64{"lanyun": 50, "bailian": 50}, Until: noon.Add(14*time.Minute + 58*time.Second)}, "pinned"
	for i, w := range []float64{0, 100} {
		v := &s.Vendors[i]
		v.Weight, v.Target, v.Pinned, v.Overrides = w, w, true, []string{"pinned to 50 until 12:14:58 UTC"}
	}
	s.Vendors[0].State, s.Vendors[0].Reason = control.Ejected, "5 vendor faults in a row"
	for _, z := range [][2]int{{80, 24}, {120, 36}} {
		got := frame(s, z[0], z[1], Options{}, Frame{})
		if !strings.Contains(got, "pinned to 50% until 12:14:58") || strings.Contains(got, "pinned to 100%") {
			t.Errorf("%dx%d: what the weight is now is told as the pin\n%s", z[0], z[1], got)
		}
	}
}

func TestPinned_CutsNoWordAt80Columns(t *testing.T) {
	s := made(2)
	s.Pin, s.Control = &control.Pin{Weights: map[string]float64{"lanyun": 75, "bailian": 25}, Until: noon.Add(14*time.Minute + 58*time.Second)}, "pinned"
	for i := range s.Vendors {
		s.Vendors[i].Pinned, s.Vendors[i].Overrides = true, []string{"pinned to 75 until 12:14:58 UTC"}
	}
	got := frame(s, 80, 24, Options{}, Frame{})
	for _, want := range []string{"pinned to 75% until 12:14:58", ":8080", "PINNED 14:58"} {
		if !strings.Contains(got, want) {
			t.Errorf("the screen does not say %q\n%s", want, got)
		}
	}
	got, _, _ = strings.Cut(got, "EVENTS") // the journal holds texts of any length
	if strings.Contains(got, "…") || strings.Contains(got, "UTC") {
		t.Errorf("something is cut, or not in local time\n%s", got)
	}
	zh, _, _ := strings.Cut(frame(s, 80, 24, Options{Lang: "zh"}, Frame{}), "事件")
	if strings.Contains(zh, "pinned") || strings.Contains(zh, "demo") || !strings.Contains(zh, "12:14:58") {
		t.Errorf("a Chinese screen speaks English\n%s", zh)
	}
}

func TestDrill_SaysItsWholeReasonAndItsPathInOnePiece(t *testing.T) {
	long := "/srv/baton/some/state/directory/drills/20261201-120000-4f2a.json"
	for _, x := range []struct {
		verdict, reason string
		cutover         *float64
	}{
		{control.Failed, "clients' success until the proof was 98.2%, the bound is 99.9%", control.Figure(2.6)},
		{control.Aborted, "restored by operator:root after 0:02.7, before the cutover was proven", nil},
		{control.Passed, "", control.Figure(2.6)},
	} {
		for _, z := range [][2]int{{120, 36}, {100, 30}, {80, 24}} {
			s := killed(2, 20)
			s.Drill.Verdict, s.Drill.Reason, s.Drill.CutoverS, s.Drill.Record = &x.verdict, x.reason, x.cutover, long
			got := frame(s, z[0], z[1], Options{}, Frame{})
			if !strings.Contains(got, long) {
				t.Errorf("%s at %v: the record's path is not whole\n%s", x.verdict, z, got)
			}
			for _, word := range append(strings.Fields(x.reason), "0 clients failed", "R restores") {
				if !strings.Contains(got, word) {
					t.Errorf("%s at %v: the screen does not say %q\n%s", x.verdict, z, word, got)
				}
			}
		}
	}
}

func TestASCII_LeavesNothingElse(t *testing.T) {
	plain := func(s *control.Snapshot) *control.Snapshot {
		for i := range s.Vendors {
			s.Vendors[i].Label = ""
		}
		return s
	}
	for name, s := range map[string]*control.Snapshot{"first": plain(made(2)), "killed": plain(killed(2, 6.4)), "cutover": plain(killed(3, 20))} {
		for _, z := range [][2]int{{120, 36}, {100, 30}, {80, 24}, {60, 20}, {40, 10}} {
			for _, f := range []Frame{{Welcome: true}, {Zoom: true}, {Presenter: true}, {Help: true}} {
				f.Location, f.Now = time.UTC, noon
				got := Preview(s, z[0], z[1], Options{ASCII: true, Embedded: true, Lang: "en"}, f)
				if i := strings.IndexFunc(got, func(r rune) bool { return r > 0x7e }); i >= 0 {
					t.Errorf("%s at %v, %+v: %q", name, z, f, got[i:min(len(got), i+12)])
				}
				if strings.Contains(got, "orestored") {
					t.Errorf("%s at %v: a mark runs into its word", name, z)
				}
			}
		}
	}
}

func TestLayout_IsOfOneClassWithAndWithoutADrill(t *testing.T) {
	for w := 40; w <= 220; w += 4 {
		for h := 16; h <= 60; h++ {
			for n := 1; n <= 6; n++ {
				var xs [2][]int
				for i, top := range []Top{TopNothing, TopDrill} {
					l := Compute(Shape{W: w, H: h, Vendors: n, Top: top})
					for _, r := range l.Panels {
						xs[i] = append(xs[i], r.X, r.W)
					}
				}
				for i := range min(len(xs[0]), len(xs[1])) {
					if xs[0][i] != xs[1][i] {
						t.Fatalf("%dx%d, %d vendors: panels lie at %v without a drill, at %v with one", w, h, n, xs[0], xs[1])
					}
				}
			}
		}
	}
}

package draw

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

func look(ascii bool, d theme.Depth) Look {
	return Look{theme.New("dark", ascii, d), &english}
}

func wantSize(t *testing.T, what string, lines []string, w, h int) {
	t.Helper()
	if len(lines) != h {
		t.Fatalf("%s: %d lines, want %d", what, len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			t.Fatalf("%s: line %d is %d cells wide, want %d: %q", what, i, n, w, l)
		}
	}
}

func TestWidth_AgreesWithTheTerminalLibrary(t *testing.T) {
	for _, s := range []string{"", "abc", "蓝耘 lanyun", "━━━●───", "●▲✖◐▼■○✔▸→…·┊", "⚠️ x", "e\u0301", "▁▂▃█▀▄", "全角：，。", "한국어"} {
		if got, want := Width(s), ansi.StringWidth(s); got != want {
			t.Errorf("%q is %d cells, the library says %d", s, got, want)
		}
	}
}

func TestGlyphs_AreOneCellEach(t *testing.T) {
	for _, ascii := range []bool{false, true} {
		g := look(ascii, theme.Plain).Glyphs
		for _, s := range append([]string{
			g.TopLeft, g.TopRight, g.BottomLeft, g.BottomRight, g.Horizontal, g.Vertical, g.Healthy, g.Degraded, g.Ejected, g.Recovering, g.Drained, g.Disabled,
			g.Filled, g.Knob, g.KnobStaged, g.Rail, g.Ghost, g.Bar, g.BarEnd, g.BarRail, g.Select, g.Done, g.Doing, g.Ahead, g.Bad, g.Fail, g.Over, g.Corner, g.Base,
			g.Arrow, g.Dot, g.Ellipsis, g.Left, g.Right, g.Full, g.Upper, g.Lower,
		}, g.Sparks[:]...) {
			if ansi.StringWidth(s) != 1 {
				t.Errorf("%q is not one cell", s)
			}
			if ascii && len(s) != 1 {
				t.Errorf("%q is not ASCII", s)
			}
		}
	}
}

func TestClean_LeavesNothingThatMovesTheCursor(t *testing.T) {
	if got := Clean("a\x1b[2Jb\r\nc\td\u202ee\u200bf\x9bg\x7f"); got != "a[2Jb  c def"+"g" && strings.ContainsAny(got, "\x1b\r\n\t\u202e\u200b") {
		t.Errorf("%q", got)
	}
	if got := Clean("plain"); got != "plain" {
		t.Errorf("%q", got)
	}
}

func TestSlider_IsDrawnAsAgreed(t *testing.T) {
	for _, c := range []struct {
		weight, draft float64
		staged, ascii bool
		want          string
	}{
		{50, 0, false, false, "━━━━━━●──────"},
		{50, 0, false, true, "======O------"},
		{0, 0, false, false, "●────────────"},
		{100, 0, false, false, "━━━━━━━━━━━━●"},
		{75, 25, true, false, "━━━○─────┊───"},
		{25, 75, true, false, "━━━┊━━━━━○───"},
		{math.NaN(), 0, false, true, "O------------"},
	} {
		p := Panel{V: &control.Vendor{State: control.Healthy}, Weight: c.weight, Staged: c.staged, Draft: c.draft}
		if got := Slider(&p, 13, look(c.ascii, theme.Plain)); got != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

func TestKnob_AndItsReverseAgree(t *testing.T) {
	for n := 2; n < 120; n++ {
		for x := range n {
			if got := Knob(AtKnob(x, n), n); n <= 101 && got != x {
				t.Fatalf("column %d of %d gives %g, which lies at %d", x, n, AtKnob(x, n), got)
			}
		}
	}
}

func TestFormats_StayNarrow(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{millis(0), "0ms"},
		{millis(471.4), "471ms"},
		{millis(999.6), "1.00s"},
		{millis(1840), "1.84s"},
		{millis(12400), "12.4s"},
		{millis(124000), "124s"},
		{millis(1e9), ">2h"},
		{millis(math.NaN()), "--"},
		{Millis(nil), "--"},
		{Percent(nil), "--"},
		{Percent(control.Figure(0)), "0.0%"},
		{Percent(control.Figure(0.0001)), "<0.1%"},
		{Percent(control.Figure(1)), "100%"},
		{Rate(0.44), "0.4"},
		{Rate(1800), "1,800"},
		{Rate(math.Inf(1)), "--"},
		{Count(20000000), "20,000,000"},
		{Count(-1234), "-1,234"},
		{short(1802), "1.8k"},
		{short(9960), "10k"},
		{short(20000000), "20M"},
		{Clock(4.2), "0:04.2"},
		{Clock(4.29), "0:04.2"},
		{Clock(59.99), "0:59.9"},
		{Clock(420), "7:00.0"},
		{Clock(-1), "0:00.0"},
		{Clock(5.481), "0:05.4"},
		{Took(5.481), "0:05.5"},
		{Took(2.76), "0:02.8"},
		{Took(2.25), "0:02.3"},
		{Took(2.749), "0:02.7"},
		{Took(59.95), "1:00.0"},
		{Took(math.NaN()), "0:00.0"},
		{tenths(2.76), "2.8"},
		{Clock(3661.5), "1:01:01.5"},
		{MinSec(420), "7:00"},
		{Whole(74.6), "75%"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func TestColumns_LoseNoSpikeAndDoNotShimmer(t *testing.T) {
	v := make([]float64, 90)
	for at := range v {
		for i := range v {
			v[i] = 100
		}
		v[at] = 2000
		found := false
		for _, x := range Columns(v, 30, 3, 1000) {
			found = found || x == 2000
		}
		if !found && at >= 3 { // the oldest may have left at the left edge
			t.Fatalf("the spike at %d is lost", at)
		}
	}
	long := make([]float64, 100)
	for i := range long {
		long[i] = float64(i * i % 37)
	}
	a := Columns(long[:99], 20, 4, 98)
	b := Columns(long, 20, 4, 99)
	if 98/4 == 99/4 {
		for i := range 19 {
			if a[i] != b[i] {
				t.Fatalf("column %d changed from %v to %v within its time", i, a[i], b[i])
			}
		}
	}
}

func FuzzGraph(f *testing.F) {
	f.Add([]byte{1, 2, 3, 250, 0, 255}, 40, 6, 1000.0, false)
	f.Add([]byte{}, 0, 0, 0.0, true)
	f.Add([]byte{255, 255}, 5, 1, math.Inf(1), false)
	f.Fuzz(func(t *testing.T, data []byte, w, h int, hi float64, ascii bool) {
		w, h = w&0xff, h&0x3f
		v := make([]float64, 0, len(data))
		for _, b := range data {
			switch b {
			case 255:
				v = append(v, math.Inf(1))
			case 254:
				v = append(v, math.NaN())
			case 253:
				v = append(v, -1e308)
			default:
				v = append(v, float64(b)*float64(b))
			}
		}
		for _, d := range []theme.Depth{theme.Plain, theme.Ansi256} {
			k := look(ascii, d)
			wantSize(t, "graph", Graph(v, v[:len(v)/2], w, h, hi, k), w, h)
			if ascii && d == theme.Plain {
				for _, l := range Graph(v, v, w, h, hi, k) {
					if strings.ContainsFunc(l, func(r rune) bool { return r > 0x7e }) {
						t.Fatalf("%q is not ASCII", l)
					}
				}
			}
		}
		if w > 0 {
			wantSize(t, "spark", []string{Spark("", v, v, w, hi, look(ascii, theme.True))}, w, 1)
			wantSize(t, "axis", []string{axis(v, w, hi, look(ascii, theme.True))}, w, 1)
		}
	})
}

func TestGraph_KeepsItsSizeForOrdinaryMonitoringData(t *testing.T) {
	nan := math.NaN()
	for name, v := range map[string][]float64{
		"nothing": nil, "one": {400}, "constant": {400, 400, 400, 400, 400, 400}, "gap": {400, 410, nan, nan, 420, 400}, "all gaps": {nan, nan, nan}, "over": {400, 99000, 400}, "infinite": {400, math.Inf(1), 300},
	} {
		for h := range 12 {
			wantSize(t, name, Graph(v, v, 50, h, 1000, look(false, theme.Plain)), 50, h)
		}
	}
}

func TestPanel_HasItsSizeInEveryState(t *testing.T) {
	for _, state := range []string{control.Healthy, control.Degraded, control.Ejected, control.Recovering, control.Drained, control.Disabled, ""} {
		v := &control.Vendor{Name: "lanyun", Label: "蓝耘", State: state, Simulated: true, Weight: 40, Target: 20, Pinned: true, Reason: "because", Fault: &control.FaultState{Kind: "refuse", Percent: 50, Until: time.Now()}}
		for w := 1; w < 130; w += 9 {
			for h := range 26 {
				p := Panel{N: 1, V: v, Selected: w%2 == 0, Staged: h%2 == 0, Draft: 33, Locked: true, Hi: 1000, Now: time.Now()}
				wantSize(t, "panel", p.Lines(w, h, look(h%3 == 0, theme.True)), w, h)
				wantSize(t, "detail", p.Detail(w, h, look(false, theme.Plain)), w, h)
			}
		}
	}
}

func TestWords_AreTheSameInBothLanguages(t *testing.T) {
	for name, pair := range map[string][2]map[string]string{
		"keys": {english.Keys, chinese.Keys}, "hints": {english.Hints, chinese.Hints}, "phases": {english.PhaseWords, chinese.PhaseWords},
	} {
		for k := range pair[0] {
			if pair[1][k] == "" {
				t.Errorf("%s: %q has no Chinese", name, k)
			}
		}
	}
	const most = 39 // two columns of keys at 120 cells
	for _, w := range []*Words{&english, &chinese} {
		for k, s := range w.Keys {
			if Width(s) > most {
				t.Errorf("%s: %q is %d cells wide, want at most %d", w.Lang, k, Width(s), most)
			}
		}
	}
	for k := range english.Say {
		if chinese.Say[k] == "" {
			t.Errorf("message %q has no Chinese", k)
		}
	}
	for k, en := range english.Say {
		zh, ok := chinese.Say[k]
		if ok && strings.Count(en, "%") != strings.Count(zh, "%") {
			t.Errorf("message %q takes other arguments in Chinese", k)
		}
	}
}

func TestAxis_HasRoundStepsAndFewLabels(t *testing.T) {
	for _, hi := range []float64{200, 500, 800, 1000, 1200, 1500, 2000, 3000, 5000, 8000, 10000, 30000, 120000} {
		for rows := 1; rows < 20; rows++ {
			top, step, every := axisScale(hi, rows)
			if top < hi || top > 3*hi && rows > 1 && hi > 200*float64(rows) {
				t.Errorf("%d rows for %g: the axis ends at %g", rows, hi, top)
			}
			seen, labels := map[string]bool{}, 0
			for i := 0; i <= rows; i += every {
				v := step * float64(i)
				l := axisLabel(v)
				if seen[l] {
					t.Errorf("%d rows for %g: the label %q stands twice", rows, hi, l)
				}
				seen[l] = true
				labels++
				if shown, _ := strconv.ParseFloat(strings.TrimSpace(l), 64); l != "100" && math.Abs(shown*1000-v) > 1e-6 && v < 99500 {
					t.Errorf("%d rows for %g: %g is labelled %q", rows, hi, v, l)
				}
			}
			if rows >= 4 && labels > rows/2+1 {
				t.Errorf("%d rows for %g have %d labels", rows, hi, labels)
			}
		}
	}
}

func TestPlace_KeepsTheWidthOfLinesItCutsThroughWideCharacters(t *testing.T) {
	for x := range 14 {
		lines := []string{"蓝耘百炼蓝耘百炼蓝耘"}
		Place(lines, []string{"[box]"}, x, 0, 20)
		wantSize(t, "line", lines, 20, 1)
		if !strings.Contains(lines[0], "[box]") {
			t.Errorf("%q", lines[0])
		}
	}
}

func TestWrap_BreaksTextWithoutSpaces(t *testing.T) {
	for _, l := range Wrap(strings.Repeat("很长的话", 20)+" and words", 21) {
		if Width(l) > 21 {
			t.Errorf("%q is too wide", l)
		}
	}
}

package tui

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got+"\n" != string(want) {
		t.Errorf("%s differs; look at it, then run go test -update\n%s", file, got)
	}
}

func frame(s *control.Snapshot, w, h int, o Options, f Frame) string {
	f.Location, f.Events = time.UTC, journal()
	if o.Lang == "" {
		o.Lang = "en"
	}
	return Preview(s, w, h, o, f)
}

func TestScreen_IsAsItWasLastLookedAt(t *testing.T) {
	sizes := [][2]int{{120, 36}, {80, 24}, {60, 20}, {40, 10}}
	for _, c := range []struct {
		name string
		snap *control.Snapshot
		f    Frame
	}{
		{"first", made(2), Frame{Welcome: true}},
		{"steady", made(2), Frame{Selected: 1}},
		{"killed", killed(2, 6.4), Frame{}},
		{"cutover", killed(2, 20), Frame{}},
		{"four", killed(4, 6.4), Frame{Selected: 2}},
	} {
		for _, z := range sizes {
			for _, ascii := range []bool{false, true} {
				name := fmt.Sprintf("%s_%dx%d", c.name, z[0], z[1])
				if ascii {
					name += "_ascii"
				}
				t.Run(name, func(t *testing.T) {
					golden(t, name, frame(c.snap, z[0], z[1], Options{ASCII: ascii, Embedded: true}, c.f))
				})
			}
		}
	}
	t.Run("others", func(t *testing.T) {
		o := Options{Embedded: true}
		golden(t, "zoom_120x36", frame(made(2), 120, 36, o, Frame{Zoom: true}))
		golden(t, "presenter_120x36", frame(killed(2, 6.4), 120, 36, o, Frame{Presenter: true}))
		golden(t, "help_80x24", frame(made(2), 80, 24, o, Frame{Help: true}))
		golden(t, "help_40x10", frame(made(2), 40, 10, o, Frame{Help: true}))
		golden(t, "help_readonly_40x10", frame(made(2), 40, 10, Options{ReadOnly: true}, Frame{Help: true}))
		golden(t, "readonly_80x24", frame(made(2), 80, 24, Options{ReadOnly: true}, Frame{}))
		golden(t, "zh_80x24", frame(killed(2, 6.4), 80, 24, Options{Lang: "zh", Embedded: true}, Frame{}))
		golden(t, "wide_180x50", frame(made(3), 180, 50, o, Frame{}))
		golden(t, "tall_60x50", frame(made(2), 60, 50, o, Frame{}))
		golden(t, "connecting_80x24", frame(nil, 80, 24, Options{Address: "http://127.0.0.1:8089"}, Frame{}))
		golden(t, "colour_80x24", frame(killed(2, 6.4), 80, 24, Options{Theme: "dark", Embedded: true}, Frame{Depth: theme.Ansi256}))
	})
}

// whole checks that a frame has exactly h lines of exactly w cells.
func whole(frame string, w, h int) error {
	lines := strings.Split(frame, "\n")
	if len(lines) != h {
		return fmt.Errorf("%d lines instead of %d", len(lines), h)
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n != w {
			return fmt.Errorf("line %d is %d cells wide instead of %d: %q", i, n, w, l)
		}
	}
	return nil
}

// nasty has texts and figures that nobody should send.
func nasty() *control.Snapshot {
	s := killed(5, 400)
	s.Environment = "PROD-上海\x1b[31m"
	s.Alerts = []string{"disk\tfull\r\n\x07 " + strings.Repeat("很长的", 40)}
	s.Gateway.RPS, s.Gateway.Address = math.NaN(), ""
	v := &s.Vendors[1]
	v.Label, v.Reason, v.State = "a\u200bb\u202e⚠️é\x1b]0;x\x07", strings.Repeat("字", 200), control.Degraded
	v.Weight, v.Target, v.RPS, v.InFlight = math.NaN(), math.Inf(1), math.Inf(-1), -5
	v.FirstToken = nil
	v.History = control.History{P90ms: control.Series{math.Inf(1), math.NaN(), 1e300, -1}, StepS: math.NaN()}
	v.Errors.Rate60s = control.Figure(math.NaN())
	s.Vendors[2].State = "something new"
	s.Vendors[3].History = control.History{}
	s.Drill.Reason = strings.Repeat("why ", 80)
	s.Drill.TargetS = 0
	s.Drill.Record = strings.Repeat("/很深", 60)
	return s
}

func TestScreen_HasExactlyTheTerminalsSize(t *testing.T) {
	states := []*control.Snapshot{nil, made(1), made(2), killed(2, 6.4), killed(4, 20), nasty(), {Time: noon}}
	frames := []Frame{{}, {Welcome: true}, {Zoom: true}, {Presenter: true}, {Help: true}, {Depth: theme.True}}
	step := 5
	if testing.Short() {
		step = 17
	}
	for w := 20; w <= 250; w += step {
		for h := 5; h <= 80; h += 3 {
			s := states[(w/step+h)%len(states)]
			f := frames[(w/step*7+h/3)%len(frames)]
			o := Options{ASCII: w%2 == 0, ReadOnly: h%2 == 0, Lang: []string{"en", "zh"}[h%2]}
			if err := whole(frame(s, w, h, o, f), w, h); err != nil {
				t.Fatalf("%dx%d, %+v: %v", w, h, f, err)
			}
		}
	}
	for _, z := range [][2]int{{1, 1}, {2, 3}, {7, 2}, {19, 4}, {39, 9}, {40, 10}, {55, 13}, {56, 14}, {79, 23}, {80, 24}, {109, 31}, {110, 32}, {159, 44}, {160, 45}} {
		for i, s := range states {
			for _, f := range frames {
				if err := whole(frame(s, z[0], z[1], Options{}, f), z[0], z[1]); err != nil {
					t.Fatalf("state %d at %dx%d, %+v: %v", i, z[0], z[1], f, err)
				}
			}
		}
	}
}

func TestScreen_SaysInWordsWhatItColours(t *testing.T) {
	got := frame(killed(2, 6.4), 120, 36, Options{}, Frame{})
	for _, want := range []string{"✖ ejected", "● healthy", "SIMULATED", "FAULT refuse", "RUNNING", "0:06.4", "cutover", "7:00", "0 clients failed", "DEMO", "demo", "detected 0:01.2", "verified 4/10s", "P90", "P99"} {
		if want == "0:06.4" {
			continue // in large digits
		}
		if !strings.Contains(got, want) {
			t.Errorf("the screen does not say %q", want)
		}
	}
	got = frame(killed(2, 20), 80, 24, Options{}, Frame{})
	for _, want := range []string{"cutover 0:02.6 ✔ PASSED", "0 clients failed", "R restores", "4f2a.json"} {
		if !strings.Contains(got, want) {
			t.Errorf("after the cutover the screen does not say %q\n%s", want, got)
		}
	}
	if n := strings.Count(got, "SIMULATED"); n != 2 {
		t.Errorf("SIMULATED stands %d times, want once for each vendor", n)
	}
}

func TestFirstScreen_NamesTheKeysAndTheActualPort(t *testing.T) {
	s := made(2)
	s.Gateway.Address = "127.0.0.1:8083"
	for _, z := range [][2]int{{120, 36}, {80, 24}} {
		got := frame(s, z[0], z[1], Options{}, Frame{Welcome: true})
		for _, want := range []string{"simulated", "no key", "no money", "nothing leaves this machine", "1 drag ● or ←→", "2 K kills 蓝耘", "3 R brings it back", "? more", "curl 127.0.0.1:8083/v1/chat/completions", `"content":"hi"}]}'`, "Vendors of your own: five lines of config.toml, see README", "P90", "75%"} {
			if !strings.Contains(got, want) {
				t.Errorf("%dx%d: the first screen does not say %q\n%s", z[0], z[1], want, got)
			}
		}
	}
	if got := frame(s, 80, 24, Options{ASCII: true}, Frame{Welcome: true}); !strings.Contains(got, "1 drag O or Left/Right") {
		t.Errorf("the slider's knob is not drawn as on the slider\n%s", got)
	}
	wide := strings.Split(frame(s, 120, 36, Options{}, Frame{Welcome: true}), "\n")
	for i, l := range wide[1:8] {
		if strings.Trim(l, "│ ") == "" {
			t.Errorf("row %d of the first screen is empty", i+1)
		}
	}
	small := frame(s, 40, 10, Options{}, Frame{Welcome: true})
	for _, want := range []string{"no key, no money", "1 ←→", "2 K kill 蓝耘", "3 R back", "? more", "curl 127.0.0.1:8083/v1/models"} {
		if !strings.Contains(small, want) {
			t.Errorf("40x10: the first screen does not say %q\n%s", want, small)
		}
	}
}

// The budget of a frame at 120x36 is 1 ms and 600 allocations with everything
// drawn anew.
const frameAllocs = 600

func benchmarked() *console {
	c := newConsole(killed(2, 6.4), Options{Embedded: true})
	c.depth = theme.Ansi256
	c.setTheme(theme.New("dark", false, theme.Ansi256), c.look.Words)
	return c
}

func TestFrame_KeepsItsBudgetOfAllocations(t *testing.T) {
	if raced {
		t.Skip("the race detector makes allocations of its own")
	}
	c := benchmarked()
	n := testing.AllocsPerRun(50, func() {
		c.panels, c.dirty = nil, true
		_ = c.View()
	})
	if n > frameAllocs {
		t.Errorf("a frame makes %.0f allocations, the budget is %d", n, frameAllocs)
	}
}

func BenchmarkFrame120x36(b *testing.B) {
	c := benchmarked()
	b.ReportAllocs()
	for b.Loop() {
		c.panels, c.dirty = nil, true
		_ = c.View()
	}
}

func BenchmarkFrame120x36_WhenOnlyTheClockMoves(b *testing.B) {
	c := benchmarked()
	b.ReportAllocs()
	for b.Loop() {
		c.dirty = true
		_ = c.View()
	}
}

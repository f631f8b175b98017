package tui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"baton/engine/control"

	tea "github.com/charmbracelet/bubbletea"
)

// press sends keys, runs the commands they make and feeds their messages back.
func (c *console) press(keys ...string) {
	for _, k := range keys {
		c.feed(keyMsg(k))
	}
}

func (c *console) feed(msg tea.Msg) {
	_, cmd := c.Update(msg)
	c.run(cmd)
}

func (c *console) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil, frameMsg:
	case tea.BatchMsg:
		for _, x := range msg {
			c.run(x)
		}
	case doneMsg, scenariosMsg, reportsMsg, preflightMsg, costsMsg, stressMsg, savedMsg, nudgedMsg, failuresMsg:
		c.feed(msg)
	default: // a sequence, whose type is not exported
		if v := reflect.ValueOf(msg); v.Kind() == reflect.Slice {
			for i := range v.Len() {
				if cmd, ok := reflect.TypeAssert[tea.Cmd](v.Index(i)); ok {
					c.run(cmd)
				}
			}
		}
	}
}

func keyMsg(k string) tea.KeyMsg {
	named := map[string]tea.KeyType{
		"left": tea.KeyLeft, "right": tea.KeyRight, "shift+left": tea.KeyShiftLeft, "shift+right": tea.KeyShiftRight, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab,
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "ctrl+r": tea.KeyCtrlR, "ctrl+s": tea.KeyCtrlS, "ctrl+c": tea.KeyCtrlC, "backspace": tea.KeyBackspace, "pgdown": tea.KeyPgDown, "pgup": tea.KeyPgUp, "up": tea.KeyUp, "down": tea.KeyDown,
	}
	if t, ok := named[k]; ok {
		return tea.KeyMsg{Type: t}
	}
	if k == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(k)}
}

// lines are the commands that were sent, as the shell would spell them.
func (c *console) lines() string {
	var out []string
	for _, d := range c.f.did {
		out = append(out, d.Line())
	}
	return strings.Join(out, "; ")
}

func TestEsc_HidesADrillUntilItIsOver(t *testing.T) {
	passed := control.Passed
	pending := func(phase string) *control.Snapshot {
		s := killed(2, 20)
		s.Drill.Verdict, s.Drill.Phase, s.Drill.Until = &passed, phase, nil
		return s
	}
	for _, phase := range []string{control.PhaseVerified, control.PhaseRestored, control.PhaseFailback} {
		c := newConsole(pending(phase), Options{Embedded: true})
		c.press("esc")
		if c.drill() != nil {
			t.Errorf("%s: Esc leaves it in sight", phase)
		}
		c.press("esc", "esc")
		if got := c.lines(); got != "" {
			t.Errorf("%s: Esc sent %q, which ends its record", phase, got)
		}
		c.take(pending(control.PhaseDone), noon.Add(time.Second))
		if c.drill() == nil {
			t.Errorf("%s: it is not shown once it is over", phase)
		}
		c.press("esc")
		if got, want := c.lines(), "DELETE /api/v1/drills/shown"; got != want {
			t.Errorf("%s: once it is over Esc sent %q, want %q", phase, got, want)
		}
	}
	s := killed(2, 20)
	s.Drill.Verdict = &passed
	c := newConsole(s, Options{Embedded: true})
	c.press("esc")
	if got := c.lines(); got != "" {
		t.Errorf("while the fault is in Esc sent %q", got)
	}
}

func TestManualFailover_LetsPeopleMoveTheWeightsOfWhoIsOut(t *testing.T) {
	out := func(state, failover string) *control.Snapshot {
		s := made(2)
		s.Failover, s.Vendors[0].State = failover, state
		return s
	}
	for _, x := range []struct {
		name string
		snap *control.Snapshot
		keys []string
		want string
	}{
		{"a typed 0", out(control.Ejected, "manual"), []string{"1", "=", "0", "enter"}, "baton weights bailian=100 lanyun=0"},
		{"left", out(control.Ejected, "manual"), []string{"left"}, "baton weights lanyun=74 bailian=26"},
		{"shift left", out(control.Ejected, "manual"), []string{"shift+left"}, "baton weights lanyun=70 bailian=30"},
		{"the other's typed 100", out(control.Ejected, "manual"), []string{"2", "=", "1", "0", "0", "enter"}, "baton weights bailian=100 lanyun=0"},
		{"the other's shift right", out(control.Ejected, "manual"), []string{"2", "shift+right"}, "baton weights lanyun=70 bailian=30"},
		{"equal", out(control.Ejected, "manual"), []string{"e"}, "baton weights bailian=50 lanyun=50"},
		{"not of a drained one", out(control.Drained, "manual"), []string{"left"}, ""},
		{"not by automatic failover", out(control.Ejected, "auto"), []string{"left"}, ""},
		{"nor the other", out(control.Ejected, "auto"), []string{"2", "shift+right"}, ""},
	} {
		c := newConsole(x.snap, Options{Embedded: true})
		c.press(x.keys...)
		if got := c.lines(); got != x.want {
			t.Errorf("%s: sent %q, want %q", x.name, got, x.want)
		}
	}
	pinned := out(control.Ejected, "manual")
	pinned.Pin = &control.Pin{Weights: map[string]float64{"lanyun": 75, "bailian": 25}}
	if held(pinned) {
		t.Error("a pin counts as kept back by an ejection that moves nothing")
	}
	if pinned.Failover = "auto"; !held(pinned) {
		t.Error("a pin does not count as kept back by an ejection")
	}
	c := newConsole(made(2), Options{Embedded: true})
	s := made(2)
	s.Failover = "manual"
	c.take(s, noon)
	c.press("=", "6")
	s = out(control.Ejected, "manual")
	c.take(s, noon)
	c.press("0", "enter")
	if got, want := c.lines(), "baton weights lanyun=60 bailian=40"; got != want {
		t.Errorf("a vendor that fell while its weight was typed: sent %q, want %q", got, want)
	}
}

func TestKeys_SendWhatTheySay(t *testing.T) {
	drained := made(2)
	drained.Vendors[0].State = control.Drained
	pinned := made(2)
	pinned.Pin = &control.Pin{Weights: map[string]float64{"lanyun": 60, "bailian": 40}, Until: noon.Add(time.Minute)}
	ended := killed(2, 20)
	passed := control.Passed
	ended.Drill.Verdict, ended.Drill.Phase, ended.Drill.Until = &passed, control.PhaseDone, nil
	for _, x := range []struct {
		name string
		snap *control.Snapshot
		keys []string
		want string
	}{
		{"right moves by one at once", made(2), []string{"right"}, "baton weights lanyun=76 bailian=24"},
		{"h moves down", made(2), []string{"h"}, "baton weights lanyun=74 bailian=26"},
		{"shift moves by five", made(2), []string{"shift+left"}, "baton weights lanyun=70 bailian=30"},
		{"L moves up by five", made(2), []string{"L"}, "baton weights lanyun=80 bailian=20"},
		{"the second vendor", made(2), []string{"2", "right"}, "baton weights lanyun=74 bailian=26"},
		{"tab selects too", made(2), []string{"tab", "l"}, "baton weights lanyun=74 bailian=26"},
		{"a number is typed", made(2), []string{"=", "6", "0", "enter"}, "baton weights lanyun=60 bailian=40"},
		{"a number that is none", made(2), []string{"=", "x", "enter"}, ""},
		{"a weight over 100", made(2), []string{"=", "1", "0", "1", "enter"}, ""},
		{"equal", made(2), []string{"e"}, "baton weights bailian=50 lanyun=50"},
		{"a locked vendor gives nothing", made(3), []string{"2", " ", "1", "right"}, "baton weights lanyun=35 bailian=33 volc=32"},
		{"nobody can give", made(2), []string{"2", " ", "1", "right"}, ""},
		{"auto", pinned, []string{"a"}, "baton weights auto"},
		{"kill asks", made(2), []string{"K"}, ""},
		{"kill and no", made(2), []string{"K", "n"}, ""},
		{"enter alone means no", made(2), []string{"K", "enter"}, ""},
		{"esc means no", made(2), []string{"K", "esc"}, ""},
		{"kill and yes", made(2), []string{"K", "y"}, "baton kill lanyun"},
		{"kill the other", made(2), []string{"2", "K", "y"}, "baton kill bailian"},
		{"kill what is killed", killed(2, 6), []string{"K", "y"}, ""},
		{"kill while a drill runs", killed(2, 6), []string{"2", "K", "y"}, ""},
		{"restore", killed(2, 6), []string{"R"}, "baton restore lanyun"},
		{"restore finds the drill's vendor", killed(2, 6), []string{"2", "R"}, "baton restore lanyun"},
		{"restore a drained one", drained, []string{"R"}, "baton undrain lanyun"},
		{"restore what is well", made(2), []string{"R"}, ""},
		{"drain asks", made(2), []string{"D", "y"}, "baton drain lanyun"},
		{"drain again lets back", drained, []string{"D"}, "baton undrain lanyun"},
		{"abort asks nothing", killed(2, 6), []string{"A"}, "baton drill abort"},
		{"abort without a drill", made(2), []string{"A"}, ""},
		{"extend a pin", pinned, []string{"p"}, "baton weights lanyun=60 bailian=40 --for 15m"},
		{"esc puts an ended drill away", ended, []string{"esc"}, "DELETE /api/v1/drills/shown"},
		{"esc leaves a running drill", killed(2, 6), []string{"esc"}, ""},
		{"a command", made(2), []string{":", "drain bailian", "enter", "y"}, "baton drain bailian"},
		{"a command in two words", made(2), []string{":", "weights", " ", "lanyun=60", " ", "bailian=40", "enter"}, "baton weights lanyun=60 bailian=40"},
		{"drills list runs the first", made(2), []string{"d", "enter", "y"}, "baton kill lanyun"},
		{"a dead vendor takes no weight", killed(2, 6), []string{"right"}, ""},
		{"keys of a split mouse sequence", made(2), []string{"<32;39;55M", "1;5M", ";3M"}, ""},
		{"a terminal's late answer", made(2), []string{"11;rgb:1e1e/1e1e/2e2e"}, ""},
		{"keys that came in one read are one change", made(2), []string{"ll"}, "baton weights lanyun=77 bailian=23"},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newConsole(x.snap, Options{Embedded: true})
			c.press(x.keys...)
			if got := c.lines(); got != x.want {
				t.Errorf("sent %q, want %q (message %q)", got, x.want, c.message.text)
			}
		})
	}
}

func TestReadOnly_ChangesNothingAndSaysWhy(t *testing.T) {
	for _, forced := range []bool{false, true} {
		c := newConsole(killed(2, 6), Options{ReadOnly: forced})
		c.readOnly = true
		c.press("right", "L", "e", "K", "R", "D", "A", "a", "u", "p", "enter", ":", "drain bailian", "enter")
		if c.lines() != "" {
			t.Errorf("forced %v: sent %q", forced, c.lines())
		}
		if !strings.Contains(c.message.text, "read-only") {
			t.Errorf("forced %v: the console says %q", forced, c.message.text)
		}
		c.press("W")
		if c.readOnly != forced {
			t.Errorf("forced %v: after W read-only is %v", forced, c.readOnly)
		}
	}
}

func TestProduction_StartsLockedAndAsksForTheName(t *testing.T) {
	s := made(2)
	s.Environment, s.Simulated, s.Apply = "PROD", false, "enter"
	c := newConsole(s, Options{Embedded: true})
	if !c.readOnly {
		t.Fatal("production starts unlocked")
	}
	c.press("W", "K", "y")
	if c.mode != modeQuestion || c.lines() != "" {
		t.Fatal("y was enough in production")
	}
	c.press("backspace", "lanyum", "enter")
	if c.lines() != "" {
		t.Fatal("the wrong name was enough")
	}
	c.press("K", "lanyun", "enter")
	if c.lines() != "baton kill lanyun" {
		t.Fatalf("sent %q", c.lines())
	}
}

func TestStaging_WaitsForEnterAndRevertsWithEsc(t *testing.T) {
	s := made(2)
	s.Apply = "enter"
	c := newConsole(s, Options{Embedded: true})
	c.press("L")
	if c.lines() != "" || c.draft == nil || c.draft.values[0] != 80 {
		t.Fatalf("draft %+v, sent %q", c.draft, c.lines())
	}
	if !strings.Contains(c.View(), "75% → 80%") {
		t.Error("the screen does not show what is staged")
	}
	c.press("esc")
	if c.draft != nil || c.exit != Lost {
		t.Fatal("esc did not revert")
	}
	c.press("L", "h", "enter")
	if c.lines() != "baton weights lanyun=79 bailian=21" || c.draft != nil {
		t.Errorf("sent %q, draft %+v", c.lines(), c.draft)
	}
}

func TestStale_KeepsTheDraftAndEnterAppliesItAgain(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	other := *c.f.snap
	other.Revision++
	c.f.snap = &other // somebody else was faster; this console has not heard of it
	c.press("L")
	if c.draft == nil || c.draft.values[0] != 80 || c.draft.sending {
		t.Fatalf("the draft is %+v", c.draft)
	}
	if !strings.Contains(c.message.text, "the draft is kept") {
		t.Errorf("the console says %q", c.message.text)
	}
	c.press("enter")
	if c.draft != nil || c.f.snap.Pin == nil || c.f.snap.Pin.Weights["lanyun"] != 80 {
		t.Errorf("enter did not apply it: %+v", c.draft)
	}
}

func TestUndo_GoesBackToAutoAndRedoForthAgain(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.press("L")
	c.now = c.now.Add(time.Minute)
	c.feed(frameMsg{})
	c.press("L")
	c.press("u", "u", "u", "ctrl+r", "ctrl+r", "ctrl+r")
	want := "baton weights lanyun=80 bailian=20; baton weights lanyun=85 bailian=15; baton weights lanyun=80 bailian=20 --reason \"undo\"; baton weights auto; " +
		"baton weights lanyun=80 bailian=20 --reason \"redo\"; baton weights lanyun=85 bailian=15 --reason \"redo\""
	if got := c.lines(); got != want {
		t.Errorf("sent\n%q, want\n%q", got, want)
	}
}

func TestUndo_TakesQuickNudgesAsOne(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.press("right", "right", "right", "u")
	if !strings.HasSuffix(c.lines(), "lanyun=78 bailian=22; baton weights auto") {
		t.Errorf("sent %q", c.lines())
	}
}

func TestBusyCommit_SendsTheLastOfManyNudges(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.later = func(time.Duration, tea.Msg) tea.Cmd { return nil }
	c.Update(keyMsg("right"))
	_, first := c.Update(nudgedMsg(c.burst.n))
	for range 5 {
		if _, cmd := c.Update(keyMsg("right")); cmd != nil {
			t.Fatal("a second commit was sent while the first was on its way")
		}
	}
	c.run(first)
	if got := c.lines(); got != "baton weights lanyun=76 bailian=24; baton weights lanyun=81 bailian=19" {
		t.Errorf("sent %q", got)
	}
}

func TestFirstScreen_GoesWithTheKeyThatDoesItsWorkToo(t *testing.T) {
	first := made(2)
	first.UptimeS = 120
	c := newConsole(first, Options{Embedded: true})
	if !strings.Contains(c.View(), "no money") {
		t.Fatal("no first screen")
	}
	c.press("right")
	if c.lines() != "baton weights lanyun=76 bailian=24" {
		t.Errorf("the key was swallowed: sent %q", c.lines())
	}
	if strings.Contains(c.View(), "no money") {
		t.Error("the first screen stays")
	}
	real := made(2)
	real.Simulated = false
	if c := newConsole(real, Options{Embedded: true}); strings.Contains(c.View(), "no money") {
		t.Error("a real vendor is called simulated")
	}
}

func TestQuit_AsksEmbeddedAndLeavesAttached(t *testing.T) {
	for _, x := range []struct {
		name     string
		embedded bool
		keys     []string
		want     Exit
		leaves   bool
	}{
		{"q then n stays", true, []string{"q", "n"}, Lost, false},
		{"q then enter stays", true, []string{"q", "enter"}, Lost, false},
		{"q then y stops", true, []string{"q", "y"}, Stopped, true},
		{"q then k keeps", true, []string{"q", "k"}, Kept, true},
		{"ctrl+c is q", true, []string{"ctrl+c", "n"}, Lost, false},
		{"ctrl+c twice stops", true, []string{"ctrl+c", "ctrl+c"}, Stopped, true},
		{"esc never quits", true, []string{"esc", "esc", "esc"}, Lost, false},
		{"attached q leaves", false, []string{"q"}, Left, true},
		{"a command", true, []string{":", "quit", "enter", "y"}, Stopped, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			c := newConsole(made(2), Options{Embedded: x.embedded})
			left := false
			for _, k := range x.keys {
				_, cmd := c.Update(keyMsg(k))
				if cmd != nil {
					_, left = cmd().(tea.QuitMsg)
				}
			}
			if c.exit != x.want || left != x.leaves {
				t.Errorf("exit %v, left %v", c.exit, left)
			}
		})
	}
}

func TestFreeze_SaysSoAndHoldsStill(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.press("f")
	later := made(2)
	later.Time, later.Vendors[0].Weight = noon.Add(time.Minute), 33
	c.take(later, noon.Add(time.Minute))
	if v := c.View(); !strings.Contains(v, "FROZEN") || strings.Contains(v, "33%") {
		t.Errorf("frozen screen:\n%s", v)
	}
	c.press("right")
	if c.lines() != "" {
		t.Error("a weight moved while the screen was frozen")
	}
	c.press("f")
	if v := c.View(); strings.Contains(v, "FROZEN") || !strings.Contains(v, "33%") {
		t.Error("the screen stays frozen")
	}
}

func TestUnreachable_IsShownAndNothingIsSent(t *testing.T) {
	c := newConsole(made(2), Options{Address: "http://127.0.0.1:8089"})
	c.inbox.lose(errors.New("connection refused"))
	c.feed(frameMsg{})
	if v := c.View(); !strings.Contains(v, "unreachable") || !strings.Contains(v, "75%") {
		t.Errorf("screen without an engine:\n%s", v)
	}
	c.press("right", "K", "y")
	if c.lines() != "" {
		t.Errorf("sent %q", c.lines())
	}
	c.inbox.put(control.Update{Snapshot: made(2)}, noon)
	c.feed(frameMsg{})
	if strings.Contains(c.View(), "unreachable") {
		t.Error("the banner stays after the engine is back")
	}
}

func TestWatch_CoalescesAndConnectsAgain(t *testing.T) {
	f := newFake(made(2))
	b := &inbox{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { b.watch(ctx, f, time.Millisecond); close(done) }()
	for range 5 {
		f.send <- control.Update{Snapshot: made(2), Events: []control.Event{{Seq: 9}}}
	}
	f.send <- control.Update{} // the connection is lost
	f.send <- control.Update{Snapshot: made(3)}
	cancel()
	<-done
	m, ok := b.take()
	if !ok || m.snap == nil || m.err != nil && len(m.events) == 0 {
		t.Errorf("mail %+v, %v", m, ok)
	}
	if _, ok := b.take(); ok {
		t.Error("the same mail twice")
	}
}

func TestEvents_AreFilteredScrolledAndNeverTwice(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true})
	c.addEvents(journal()) // the same again, after a reconnection
	if len(c.events) != 3 {
		t.Fatalf("%d events", len(c.events))
	}
	c.press("/", "l", "i", "m", "i", "t", "enter")
	if v := c.View(); !strings.Contains(v, "learned") || strings.Contains(v, "serving on") {
		t.Error("the filter lets the wrong ones through")
	}
	c.press("esc")
	if c.filter != "" {
		t.Error("esc keeps the filter")
	}
	c.addEvents(many(40))
	c.press("pgdown")
	if c.scroll == 0 {
		t.Error("PgDn does not scroll")
	}
	c.press("pgup", "pgup")
	if c.scroll != 0 {
		t.Error("PgUp does not come back")
	}
}

func TestBell_RingsOncePerCriticalEventAndNotForTheFirstJournal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := newConsole(made(2), Options{})
	c.out = w
	crit := []control.Event{{Seq: 4, Level: control.Crit}, {Seq: 5, Level: control.Crit}}
	c.run(c.addEvents(crit))
	c.run(c.addEvents(crit))
	c.run(c.addEvents([]control.Event{{Seq: 6, Level: control.Warn}}))
	_ = w.Close()
	b := make([]byte, 8)
	n, _ := r.Read(b)
	if string(b[:n]) != "\a" {
		t.Errorf("the terminal got %q", b[:n])
	}
}

func TestSnapshotFiles_HoldTheScreenAndAreTheOperatorsAlone(t *testing.T) {
	dir := t.TempDir()
	c := newConsole(killed(2, 20), Options{SnapshotDir: dir})
	c.press("ctrl+s")
	for _, ext := range []string{".txt", ".ans", ".json"} {
		file := filepath.Join(dir, "baton-snap-20261201T120000Z"+ext)
		st, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", ext, st.Mode())
		}
		if b, _ := os.ReadFile(file); !strings.Contains(string(b), "蓝耘") {
			t.Errorf("%s does not hold the screen", ext)
		}
	}
	for _, x := range []struct {
		dir, home string
		w         int
		want      string
	}{
		{dir, "", 250, "saved " + dir + "/baton-snap-20261201T120000Z.txt .ans .json"},
		{dir, dir, 80, "saved ~/baton-snap-20261201T120000Z.txt .ans .json"},
		{dir, dir, 45, "saved ~/baton-snap-20261201T120000Z.txt"},
		{dir, filepath.Dir(dir), 40, "saved ~/" + filepath.Base(dir) + "/baton-snap-*"},
	} {
		c.o.SnapshotDir, c.home = x.dir, x.home
		c.resize(x.w, 24)
		c.press("ctrl+s")
		if c.message.text != x.want {
			t.Errorf("%d columns: said %q, want %q", x.w, c.message.text, x.want)
		}
	}
	t.Chdir(dir)
	here, _ := os.Getwd()
	c.o.SnapshotDir, c.home = ".", ""
	c.resize(250, 24)
	if c.press("ctrl+s"); !strings.Contains(c.message.text, here+"/baton-snap-") {
		t.Errorf("a directory relative to the process is told as %q", c.message.text)
	}
	c.o.SnapshotDir = filepath.Join(dir, "made", "anew")
	if c.press("ctrl+s"); !strings.Contains(c.message.text, "made/anew/baton-snap-") {
		t.Errorf("a directory that is missing is not made: %q", c.message.text)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c.o.SnapshotDir = filepath.Join(dir, "file", "in")
	c.press("ctrl+s")
	if !strings.Contains(c.message.text, "snapshot:") {
		t.Errorf("a failure is not told: %q", c.message.text)
	}
}

func TestSize_OfNothingIs80x24(t *testing.T) {
	c := newConsole(made(2), Options{})
	c.feed(tea.WindowSizeMsg{})
	if err := whole(c.View(), 80, 24); err != nil {
		t.Error(err)
	}
	c.feed(tea.WindowSizeMsg{Width: 33, Height: 7})
	if err := whole(c.View(), 33, 7); err != nil {
		t.Error(err)
	}
}

func TestBoxes_FitEveryScreen(t *testing.T) {
	for _, keys := range [][]string{{"K"}, {"D"}, {"q"}, {"?"}, {"d"}, {":", "weights"}, {"="}, {"/", "limit"}, {"c"}, {"z"}} {
		for _, z := range [][2]int{{20, 5}, {40, 10}, {60, 20}, {80, 24}, {200, 60}} {
			c := newConsole(killed(2, 20), Options{Embedded: true})
			c.f.snap.Drill = nil
			c.resize(z[0], z[1])
			c.press(keys...)
			if err := whole(c.View(), z[0], z[1]); err != nil {
				t.Errorf("%v at %v: %v", keys, z, err)
			}
		}
	}
}

package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine/control"

	"github.com/creack/pty"
)

// Bubbletea asks the terminal for its background when it is initialised, and
// waits five seconds where nobody answers; package theme keeps it from that.
func TestStart_DoesNotAskAMuteTerminal(t *testing.T) {
	if os.Getenv("BATON_TUI_STARTED") != "" {
		return
	}
	if testing.Short() {
		t.Skip("starts a process")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStart_DoesNotAskAMuteTerminal$")
	cmd.Env = append(os.Environ(), "BATON_TUI_STARTED=1", "TERM=xterm-256color", "CI=", "NO_COLOR=")
	f, err := pty.Start(cmd)
	if err != nil {
		unavailable(t, "a pseudo-terminal", err)
	}
	defer f.Close()
	out, _ := io.ReadAll(f) // ends with EIO
	_ = cmd.Wait()
	// Whoever asks waits for five seconds; how long a loaded machine takes to start says nothing.
	if strings.Contains(string(out), "\x1b]11;?") {
		t.Errorf("the terminal was asked for its background: %q", out)
	}
}

// transcript is what a terminal was sent so far.
type transcript struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(b)
}

func (t *transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// started runs a console on a pseudo-terminal of 100x30 and gives the terminal.
func started(t *testing.T, o Options) (*os.File, context.CancelFunc, func() (Exit, string)) {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		unavailable(t, "a pseudo-terminal", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 100, Rows: 30}); err != nil {
		t.Fatal(err)
	}
	o.Control, o.In, o.Out, o.Lang = newFake(made(2)), slave, slave, "en"
	ctx, cancel := context.WithCancel(t.Context())
	text := &transcript{}
	go func() { _, _ = io.Copy(text, master) }()
	ended := make(chan Exit, 1)
	go func() {
		e, err := Run(ctx, o)
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		ended <- e
	}()
	return master, cancel, func() (Exit, string) {
		select {
		case e := <-ended:
			// The slave stays open: a console that was killed does not wait for its reader, and to
			// close the file under it would be a race. So the text has no end that could be read.
			time.Sleep(200 * time.Millisecond)
			return e, text.String()
		case <-time.After(10 * time.Second):
			t.Fatal("the console does not end")
			return Lost, ""
		}
	}
}

func TestRun_ShowsItselfAndRestoresTheTerminal(t *testing.T) {
	stopped := false
	term, cancel, end := started(t, Options{Embedded: true, Stop: func() { stopped = true }})
	defer cancel()
	time.Sleep(700 * time.Millisecond)
	_, _ = term.WriteString("q")
	time.Sleep(300 * time.Millisecond)
	_, _ = term.WriteString("y")
	e, out := end()
	if e != Stopped || !stopped {
		t.Errorf("exit %v, stopped %v", e, stopped)
	}
	for _, want := range []string{"\x1b[?1049h", "SIMULATED", "蓝耘", "drain and stop", "\x1b[?1049l", "\x1b[?25h"} {
		if !strings.Contains(out, want) {
			t.Errorf("the terminal did not get %q", want)
		}
	}
}

func TestRun_EndsWithItsContextAsOneThatLostItsTerminal(t *testing.T) {
	_, cancel, end := started(t, Options{Embedded: true})
	time.Sleep(400 * time.Millisecond)
	cancel()
	if e, _ := end(); e != Lost {
		t.Errorf("exit %v", e)
	}
}

func TestRun_RefusesWhatIsNoTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	_, err = Run(t.Context(), Options{Control: newFake(&control.Snapshot{}), In: r, Out: w})
	if !errors.Is(err, ErrNoTerminal) {
		t.Errorf("error %v", err)
	}
}

func TestImports_AreControlDrawThemeAndTheTerminalAlone(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		unavailable(t, "go", err)
	}
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for p := range strings.FieldsSeq(string(out)) {
		if p == "net/http" || strings.HasPrefix(p, "baton/") && p != "baton/tui" && p != "baton/tui/draw" && p != "baton/tui/theme" && p != "baton/engine/control" {
			t.Errorf("the console depends on %s", p)
		}
	}
}

// unavailable skips a test whose means are absent, or fails it where skipping is
// forbidden.
func unavailable(t *testing.T, what string, err error) {
	t.Helper()
	if os.Getenv("BATON_NO_SKIP") == "1" {
		t.Fatalf("%s is not to be had, and BATON_NO_SKIP=1 forbids to skip: %v", what, err)
	}
	t.Skipf("%s is not to be had: %v", what, err)
}

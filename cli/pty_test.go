package cli

import (
	"bytes"
	"io"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestVersion_DoesNotWaitForTheTerminal holds the program's start: a library
// that asks the terminal for its colours when it is loaded, and waits for an
// answer that does not come, delays every command by seconds.
func TestVersion_DoesNotWaitForTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("builds baton")
	}
	path := binary(t)
	best := time.Hour
	for range 5 { // the machine may be busy: one quick start proves that nothing waits
		took, out := onMutePTY(t, path, "version")
		if !regexp.MustCompile(`baton \d+\.\d+\.\d+`).Match(out) {
			t.Fatalf("it says %q", out)
		}
		if bytes.ContainsRune(out, '\x1b') {
			t.Fatalf("it asks the terminal something: %q", out)
		}
		if best = min(best, took); best < 2*time.Second {
			return
		}
	}
	t.Errorf("baton version took %s at best on a terminal that answers nothing", best)
}

// onMutePTY runs a program on a terminal that answers no question.
func onMutePTY(t *testing.T, path string, args ...string) (time.Duration, []byte) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + t.TempDir(), "COLORTERM=truecolor"}
	begun := time.Now()
	f, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(f) // ends with EIO, as terminals do
		out <- b
	}()
	stop := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer stop.Stop()
	err = cmd.Wait()
	took := time.Since(begun)
	if err != nil {
		t.Fatalf("%v after %s", err, took)
	}
	return took, <-out
}

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for something that takes a moment: a busy
// machine is no failure.
const patience = 40 * time.Second

// runTests runs the tests of the package, and ends the process.
var runTests = func(m cleaning) { os.Exit(m.Run()) }

func TestMain(m *testing.M) { runTests(cleaning{m}) }

// cleaning removes what the tests share after the last one.
type cleaning struct{ *testing.M }

func (c cleaning) Run() int {
	defer func() {
		if built.dir != "" {
			_ = os.RemoveAll(built.dir)
		}
	}()
	return c.M.Run()
}

// built is the program as users run it, made once for all tests.
var built struct {
	once sync.Once
	dir  string
	err  error
	out  []byte
}

// binary is the path of baton, built as it is shipped.
func binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "baton-test-"); built.err == nil {
			built.out, built.err = exec.Command("go", "build", "-o", filepath.Join(built.dir, "baton"), "baton").CombinedOutput()
		}
	})
	if built.err != nil {
		t.Fatalf("go build: %v\n%s", built.err, built.out)
	}
	return filepath.Join(built.dir, "baton")
}

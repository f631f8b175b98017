package cli

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine/api"
	"baton/engine/control"
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
		if built.dir, built.err = os.MkdirTemp("", "baton-test-"); built.err == nil { //nolint:usetesting // it outlives the test that builds it
			built.out, built.err = exec.Command("go", "build", "-o", filepath.Join(built.dir, "baton"), "baton").CombinedOutput()
		}
	})
	if built.err != nil {
		t.Fatalf("go build: %v\n%s", built.err, built.out)
	}
	return filepath.Join(built.dir, "baton")
}

// served is a `baton serve` in a process of its own.
type served struct {
	t                *testing.T
	cmd              *exec.Cmd
	state, config    string // paths
	gateway, control string // URLs, without a path
	token            string
	out, err         *os.File
	done             chan struct{} // closed when it has ended
}

// serve starts baton on the configuration text, "" for the built-in one, and
// waits until it serves.
func serve(t *testing.T, configuration string, env ...string) *served {
	t.Helper()
	dir := t.TempDir()
	s := &served{t: t, state: filepath.Join(dir, "state"), done: make(chan struct{})}
	args := []string{"serve", "--state", s.state, "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}
	if configuration != "" {
		s.config = filepath.Join(dir, "config.toml")
		if err := os.WriteFile(s.config, []byte(configuration), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", s.config)
	}
	s.cmd = exec.Command(binary(t), args...)
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append([]string{"HOME=" + dir, "TMPDIR=" + dir, "PATH=" + os.Getenv("PATH")}, env...)
	for name, f := range map[string]**os.File{"out": &s.out, "err": &s.err} {
		var err error
		if *f, err = os.Create(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.cmd.Stdout, s.cmd.Stderr = s.out, s.err
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.done)
		_ = s.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		<-s.done
		if t.Failed() {
			t.Logf("the log:\n%s", s.log())
		}
	})
	line := regexp.MustCompile(`msg=serving gateway=(\S+)/v1 control=(\S+)`)
	until(t, patience, "it serves", func() bool {
		if m := line.FindStringSubmatch(s.log()); m != nil {
			s.gateway, s.control = m[1], m[2]
		}
		select {
		case <-s.done:
			t.Fatalf("it ended:\n%s", s.log())
		default:
		}
		return s.gateway != ""
	})
	token, err := os.ReadFile(filepath.Join(s.state, "control.token"))
	if err != nil {
		t.Fatal(err)
	}
	s.token = strings.TrimSpace(string(token))
	return s
}

// log is what it has written to stderr.
func (s *served) log() string {
	b, _ := os.ReadFile(s.err.Name())
	return string(b)
}

func (s *served) client() *api.Client { return api.NewClient(s.control, s.token) }

func (s *served) snapshot() *control.Snapshot {
	s.t.Helper()
	snap, err := control.Get[*control.Snapshot](s.t.Context(), s.client(), control.State{})
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

// do carries a command out.
func (s *served) do(cmd control.Command) {
	s.t.Helper()
	if err := s.client().Do(s.t.Context(), cmd); err != nil {
		s.t.Fatal(err)
	}
}

// get reads a path of the control API, /metrics for example.
func (s *served) get(path string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.control+path, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %v: %s", path, resp.StatusCode, err, b)
	}
	return string(b)
}

// end sends signals and waits for the end.
func (s *served) end(signals ...os.Signal) int {
	s.t.Helper()
	for _, x := range signals {
		if err := s.cmd.Process.Signal(x); err != nil {
			s.t.Fatal(err)
		}
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Fatalf("it has not ended after %v", signals)
	}
	return s.cmd.ProcessState.ExitCode()
}

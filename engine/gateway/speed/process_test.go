package speed

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a server beside this one: where it listens, and what it uses.
type process struct {
	name string
	addr string
	cmd  *exec.Cmd
	idle int64 // bytes resident before any load
}

// startRole starts this binary in a role.
func startRole(t *testing.T, role string, args ...string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{name: role, cmd: exec.Command(self, args...)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = p.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("starting the %s: it said %q: %v", role, line, err)
	}
	p.addr = strings.TrimSpace(line)
	return p
}

// build makes baton from this module.
func build(t *testing.T) string {
	t.Helper()
	if *program != "" {
		return *program
	}
	path := filepath.Join(t.TempDir(), "baton")
	if out, err := exec.Command("go", "build", "-o", path, "baton").CombinedOutput(); err != nil {
		t.Fatalf("building baton: %v\n%s", err, out)
	}
	return path
}

// configuration is baton's: two vendors at one mock, and everything else as it
// comes. Known prices, several keys and so on would change nothing that is measured.
const configuration = `
[gateway]
listen = %q
[control]
listen = "127.0.0.1:0"
[demo]
rps = 0
[[vendors]]
name     = "first"
base_url = "http://%[2]s/v1"
api_keys = ["env:BATON_SPEED_KEY"]
weight   = 75
band     = [70, 80]
[[vendors]]
name     = "second"
base_url = "http://%[2]s/v1"
api_keys = ["env:BATON_SPEED_KEY"]
weight   = 25
band     = [20, 30]
`

// startBaton starts `baton serve` with a state of its own and waits until it is ready.
func startBaton(t *testing.T, path, mock string) *process {
	t.Helper()
	dir := t.TempDir()
	addr := freeAddr(t)
	file := filepath.Join(dir, "config.toml")
	if err := os.WriteFile(file, fmt.Appendf(nil, configuration, addr, mock), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &process{name: "baton", addr: addr}
	p.cmd = exec.Command(path, "serve", "--config", file, "--state", filepath.Join(dir, "state"))
	p.cmd.Env = append(os.Environ(), "BATON_SPEED_KEY=sk-speed-0123456789")
	log := new(bytes.Buffer)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = endsWithUs()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended: //nolint:errcheck // how it ended is no part of the measurement
		case <-time.After(5 * time.Second):
			_ = p.cmd.Process.Kill()
			<-ended //nolint:errcheck // as above
		}
		if t.Failed() {
			t.Logf("baton's log:\n%s", log)
		}
	})
	for range 100 {
		if answer, err := http.Get("http://" + addr + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return p
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("baton was not ready after 5 s")
	return nil
}

// freeAddr is an address that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	return ln.Addr().String()
}

// tick is the unit of CPU times in /proc: USER_HZ, 100 on every architecture that Go has.
const tick = 10 * time.Millisecond

// cpu is the CPU time that the process has used so far, its own and the kernel's
// for it (proc_pid_stat(5): utime and stime, fields 14 and 15).
func (p *process) cpu(t *testing.T) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	// The second field is the name in brackets, which may hold spaces.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	var sum time.Duration
	for _, i := range [...]int{14, 15} {
		n, err := strconv.ParseInt(fields[i-3], 10, 64)
		if err != nil {
			t.Fatalf("reading the CPU time of %s: %v", p.name, err)
		}
		sum += time.Duration(n) * tick
	}
	return sum
}

// rss is the memory resident now, in bytes (proc_pid_statm(5), field 2); 0 if unknown.
func (p *process) rss() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

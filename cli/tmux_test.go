package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"baton/engine/api"
	"baton/engine/control"
)

// need skips a test whose program is absent, or fails it where skipping is
// forbidden.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("BATON_NO_SKIP") == "1" {
			t.Fatalf("%s is not installed, and BATON_NO_SKIP=1 forbids to skip", program)
		}
		t.Skipf("%s is not installed", program)
	}
}

// pane is baton in a real tmux.
type pane struct {
	t      *testing.T
	socket string
	state  string
}

func openPane(t *testing.T, w, h int, args ...string) *pane {
	t.Helper()
	need(t, "tmux")
	p := &pane{t: t, socket: fmt.Sprintf("baton-test-%d-%d", os.Getpid(), time.Now().UnixNano()), state: t.TempDir()}
	command := []string{"env", "-u", "BATON_CONFIG", "HOME=" + p.state, "TERM=tmux-256color", binary(t), "--state", p.state, "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}
	command = append(command, args...)
	p.tmux("-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), strings.Join(command, " ")+"; echo EXIT $?; sleep 600")
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", strings.Join(p.screen(), "\n"))
			if b, err := os.ReadFile(filepath.Join(p.state, "baton.log")); err == nil {
				t.Logf("the log:\n%s", b)
			}
		}
		_ = exec.Command("tmux", "-L", p.socket, "kill-server").Run()
		if pid := p.pid(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return p
}

func (p *pane) tmux(args ...string) string {
	p.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("tmux %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// screen is what stands in the pane, line by line.
func (p *pane) screen() []string {
	out, err := exec.Command("tmux", "-L", p.socket, "capture-pane", "-p").Output()
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

func (p *pane) shows(texts ...string) bool {
	all := strings.Join(p.screen(), "\n")
	for _, s := range texts {
		if !strings.Contains(all, s) {
			return false
		}
	}
	return true
}

// await waits until the screen shows all the texts.
func (p *pane) await(limit time.Duration, texts ...string) {
	p.t.Helper()
	until(p.t, limit, fmt.Sprintf("the screen shows %q", texts), func() bool { return p.shows(texts...) })
}

func until(t *testing.T, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	if !within(limit, ok) {
		t.Fatalf("not within %s: %s", limit, what)
	}
}

// within asks until ok says yes, or the time is up.
func within(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return false
}

func (p *pane) keys(keys ...string) { p.tmux(append([]string{"send-keys"}, keys...)...) }

// mouse sends an SGR mouse sequence; cells count from 1.
func (p *pane) mouse(button, x, y int, end byte) {
	args := []string{"send-keys", "-H"}
	for _, b := range fmt.Appendf(nil, "\x1b[<%d;%d;%d%c", button, x, y, end) {
		args = append(args, fmt.Sprintf("%02x", b))
	}
	p.tmux(args...)
}

func (p *pane) client() *api.Client {
	p.t.Helper()
	var addr string
	until(p.t, 15*time.Second, "the control API's address is known", func() bool { addr = address(p.state); return addr != "" })
	token, err := os.ReadFile(filepath.Join(p.state, "control.token"))
	if err != nil {
		p.t.Fatal(err)
	}
	return api.NewClient(addr, strings.TrimSpace(string(token)))
}

func (p *pane) snapshot() *control.Snapshot {
	p.t.Helper()
	s, err := control.Get[*control.Snapshot](context.Background(), p.client(), control.State{})
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// pid is the process that holds the state, 0 if none does.
func (p *pane) pid() int {
	out, err := exec.Command("pgrep", "-f", "--", "--state "+p.state).Output()
	if err != nil {
		return 0
	}
	for f := range strings.FieldsSeq(string(out)) {
		var pid int
		if _, err := fmt.Sscan(f, &pid); err == nil {
			if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && filepath.Base(exe) == "baton" {
				return pid
			}
		}
	}
	return 0
}

// fits says that no line is wider than the pane.
func (p *pane) fits(w, h int) {
	p.t.Helper()
	lines := p.screen()
	if len(lines) > h {
		p.t.Errorf("%d lines in a pane of %d", len(lines), h)
	}
	for _, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			p.t.Errorf("a line of %d cells in a pane of %d: %q", n, w, l)
		}
	}
}

// slider finds the row and the column of the first knob on the screen, once what
// was staged has been applied: until then it is hollow.
func (p *pane) slider() (y, knob int) {
	p.t.Helper()
	until(p.t, patience, "there is a slider on the screen", func() bool {
		for i, l := range p.screen() {
			if before, _, ok := strings.Cut(l, "●─"); ok && strings.Contains(before, "━━") {
				y, knob = i+1, ansi.StringWidth(before)+1
				return true
			}
		}
		return false
	})
	return y, knob
}

// drag moves the first knob some cells with the mouse.
func (p *pane) drag(cells int) {
	p.t.Helper()
	y, knob := p.slider()
	p.mouse(0, knob, y, 'M')
	for x := range cells / 3 {
		p.mouse(32, knob-3*x, y, 'M')
	}
	p.mouse(0, knob-cells, y, 'm')
}

// TestConsole_TheMainJobInARealTmux does what the README's first drill says.
func TestConsole_TheMainJobInARealTmux(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute in a real tmux")
	}
	p := openPane(t, 120, 36)
	p.await(20*time.Second, "simulated", "no key", "no money", "K kills", "R brings it back", "curl", "蓝耘", "百炼", "SIMULATED")
	until(t, 10*time.Second, "the curl line has the port that is served", func() bool { return p.shows(p.snapshot().Gateway.Address) })
	p.fits(120, 36)

	p.keys("Right")
	until(t, 5*time.Second, "→ moved the primary to 76", func() bool { return p.snapshot().Vendor("lanyun").Weight == 76 })
	p.keys("S-Left")
	until(t, 5*time.Second, "Shift+← moved it to 71", func() bool { return p.snapshot().Vendor("lanyun").Weight == 71 })
	p.keys("a")
	until(t, 5*time.Second, "a gave the weights back", func() bool { return p.snapshot().Control == "auto" })

	for try := 1; ; try++ { // the knob may move away while the mouse is on its way
		p.drag(15)
		dragged := func() bool {
			s := p.snapshot()
			w := s.Vendor("lanyun").Weight
			return w < 60 && w > 20 && s.Control == "pinned"
		}
		if within(5*time.Second, dragged) {
			break
		}
		if try == 3 {
			t.Fatal("no drag took effect")
		}
	}
	p.keys("a")

	p.keys("K")
	p.await(5*time.Second, "drill", "D")
	p.keys("Enter")
	time.Sleep(300 * time.Millisecond)
	if s := p.snapshot(); s.Drill != nil || s.Vendor("lanyun").Fault != nil {
		t.Fatal("Enter alone killed a vendor")
	}
	p.keys("K")
	p.await(5*time.Second, "y ")
	p.keys("y")
	p.await(60*time.Second, "cutover", "PASSED", "ejected")
	s := p.snapshot()
	if s.Drill == nil || s.Drill.CutoverS == nil || *s.Drill.CutoverS > 30 || s.Drill.Verdict == nil || *s.Drill.Verdict != control.Passed {
		t.Fatalf("the drill is %+v", s.Drill)
	}
	if s.Totals.Failed != 0 || s.Drill.Requests.FailedOver == 0 {
		t.Fatalf("clients failed: %d; moved to the other vendor: %d", s.Totals.Failed, s.Drill.Requests.FailedOver)
	}
	if _, err := os.Stat(s.Drill.Record); err != nil {
		t.Fatalf("the record: %v", err)
	}
	p.fits(120, 36)

	p.keys("R")
	until(t, 10*time.Second, "R brings it back over a ramp", func() bool {
		v := p.snapshot().Vendor("lanyun")
		return v.State == control.Recovering && v.Weight < 50 && v.Fault == nil
	})
	for _, size := range [][2]int{{80, 24}, {40, 10}, {100, 50}, {120, 36}} {
		p.tmux("resize-window", "-x", fmt.Sprint(size[0]), "-y", fmt.Sprint(size[1]))
		time.Sleep(700 * time.Millisecond)
		p.fits(size[0], size[1])
		if !p.shows("蓝耘", "百炼") {
			t.Errorf("at %dx%d a vendor is missing:\n%s", size[0], size[1], strings.Join(p.screen(), "\n"))
		}
	}
	p.keys("?")
	p.await(3*time.Second, "Esc")
	p.keys("Escape")
	time.Sleep(time.Second)
	if p.pid() == 0 {
		t.Fatal("Esc ended baton")
	}

	// Losing the terminal leaves the engine serving.
	addr := p.snapshot().Gateway.Address
	if err := syscall.Kill(p.pid(), syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.await(10*time.Second, "serving on without a console")
	resp, err := http.Get("http://" + addr + "/readyz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("after SIGHUP: %v %v", resp, err)
	}
	resp.Body.Close()
	if err := syscall.Kill(p.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.await(20*time.Second, "EXIT 0")
}

func TestConsole_QAsksAndYStops(t *testing.T) {
	if testing.Short() {
		t.Skip("a real tmux")
	}
	p := openPane(t, 80, 24)
	p.await(20*time.Second, "蓝耘", "百炼")
	p.fits(80, 24)
	p.keys("q")
	p.await(5*time.Second, "y", "k", "n")
	p.keys("n")
	time.Sleep(500 * time.Millisecond)
	if p.pid() == 0 {
		t.Fatal("n ended baton")
	}
	p.keys("q")
	p.await(5*time.Second, "k")
	p.keys("y")
	p.await(30*time.Second, "EXIT 0")
}

// quickDrills is the built-in configuration with drills that a test can wait for.
func quickDrills(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for _, r := range [][2]string{{`baseline     = "15s"`, `baseline     = "3s"`}, {`settle       = "30s"`, `settle       = "3s"`}, {`hold         = "10s"`, `hold         = "5s"`}, {`min_requests = 100`, `min_requests = 30`}} {
		if !strings.Contains(text, r[0]) {
			t.Fatalf("config.toml has no %s", r[0])
		}
		text = strings.Replace(text, r[0], r[1], 1)
	}
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConsole_ADrillIsArmedCancelledAndRun does from the drills' screen what a
// facilitator does.
func TestConsole_ADrillIsArmedCancelledAndRun(t *testing.T) {
	if testing.Short() {
		t.Skip("a minute in a real tmux")
	}
	p := openPane(t, 120, 36, "--config", quickDrills(t))
	p.await(20*time.Second, "蓝耘", "百炼")
	p.keys("d")
	p.await(10*time.Second, "SCENARIOS", "kill-primary", "PREFLIGHT")
	p.keys("Home")
	until(t, 20*time.Second, "kill-primary can be chosen", func() bool {
		if p.shows("▸ kill-primary") {
			return true
		}
		p.keys("Down")
		time.Sleep(300 * time.Millisecond)
		return false
	})
	p.await(60*time.Second, "Enter arms it")
	p.keys("Enter")
	p.await(5*time.Second, "Arm the drill kill-primary?")
	p.keys("y")
	p.await(10*time.Second, "ARMED", "when this reaches 0")
	p.fits(120, 36)
	p.keys("A")
	p.await(15*time.Second, "ABORTED")
	s := p.snapshot()
	if v := s.Vendor("lanyun"); v.Fault != nil || v.State != control.Healthy || s.Totals.FailedOver > 0 {
		t.Fatalf("a countdown that was cancelled did something: %+v", v)
	}
	p.keys("Escape")
	p.await(5*time.Second, "▸SCENARIOS")
	p.keys(":")
	p.tmux("send-keys", "-l", "drill run kill-primary --countdown 1s")
	p.keys("Enter")
	p.await(5*time.Second, "Arm the drill kill-primary?")
	p.keys("y")
	p.await(120*time.Second, "PASSED", "REPORT", ".html")
	s = p.snapshot()
	if d := s.Drill; d == nil || d.Scenario != "kill-primary" || d.CutoverS == nil || *d.CutoverS > 30 || d.Requests.Failed > 0 {
		t.Fatalf("the drill is %+v", s.Drill)
	}
	p.keys("Right", "Right")
	p.await(20*time.Second, "▸HISTORY", "ABORTED", "TREND")
	p.tmux("resize-window", "-x", "80", "-y", "24")
	time.Sleep(700 * time.Millisecond)
	p.fits(80, 24)
	p.keys("c")
	p.await(5*time.Second, "kill-primary", "success")
	p.fits(80, 24)
}

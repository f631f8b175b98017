package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// builtInPath names the file that stands for the embedded configuration in the
// baton that is this test binary.
const builtInPath = "BATON_TEST_BUILT_IN"

func init() {
	runTests = func(m cleaning) {
		testscript.Main(m, map[string]func(){"baton": func() {
			builtin, err := os.ReadFile(os.Getenv(builtInPath))
			if err != nil {
				fmt.Fprintln(os.Stderr, "the built-in configuration:", err)
				os.Exit(99)
			}
			os.Exit(Main(builtin))
		}})
	}
}

// TestScripts runs baton as a user does: testdata/script has a file for each
// subject. Beside testscript's own, the scripts know these commands:
//
//	code N baton ARG...            it ends with exit code N
//	start NAME ARG...              runs `baton ARG...` in the background, output in NAME.out and NAME.err
//	serving NAME                   waits until that engine serves; sets $NAME_gateway, $NAME_control (URLs)
//	selling NAME                   waits until that simulated vendor sells; sets $NAME_url
//	send NAME SIGNAL               sends TERM, HUP, INT or KILL
//	ended NAME N                   waits until it has ended, with exit code N
//	until PATTERN baton ARG...     repeats until the standard output matches
//	logs NAME PATTERN              waits until its standard error matches
//	json FILE                      FILE (or stdout) is one JSON document and nothing else
//	field FILE PATH VALUE          a member of it, such as vendors.0.state, is VALUE
//	http METHOD URL STATUS [BODY]  asks, with the token of $token if there is one; the answer is in the file body
//	taken NAME                     takes a port; sets $NAME
//	fill FILE                      puts the environment's values where FILE has $NAME
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireUniqueNames: true, Deadline: time.Now().Add(3 * time.Minute),
		Setup: func(e *testscript.Env) error {
			b := &background{running: map[string]*program{}}
			e.Values[programs{}] = b
			e.Defer(b.kill)
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("USER", "ops")
			e.Setenv("NO_PROXY", "*")
			e.Setenv(builtInPath, root)
			return os.MkdirAll(home, 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    runCode,
			"start":   startProgram,
			"serving": awaitServing,
			"selling": awaitSelling,
			"send":    sendSignal,
			"ended":   awaitEnd,
			"until":   awaitOutput,
			"logs":    awaitLog,
			"json":    checkJSON,
			"field":   checkField,
			"http":    askHTTP,
			"taken":   takePort,
			"fill":    fillFile,
		},
	})
}

// program is a baton in the background.
type program struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// programs is the key of a script's background.
type programs struct{}

// background are the programs of one script.
type background struct{ running map[string]*program }

func of(ts *testscript.TestScript, name string) (*background, *program) {
	b := ts.Value(programs{}).(*background)
	p := b.running[name]
	if p == nil {
		ts.Fatalf("there is no program %s", name)
	}
	return b, p
}

func (b *background) kill() {
	for _, p := range b.running {
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

func want(ts *testscript.TestScript, neg bool, args []string, least int, usage string) {
	if neg || len(args) < least {
		ts.Fatalf("usage: %s", usage)
	}
}

// runCode wants one of the exit codes N: "0,3" where a verdict depends on the machine.
func runCode(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "code N[,N] program args...")
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v: %v", args[1:], err)
	}
	if !slices.Contains(strings.Split(args[0], ","), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, not %s", got, args[0])
	}
}

func startProgram(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "start NAME args...")
	b := ts.Value(programs{}).(*background)
	name := args[0]
	if b.running[name] != nil {
		ts.Fatalf("%s runs already", name)
	}
	path, err := exec.LookPath("baton")
	ts.Check(err)
	out, err := os.Create(ts.MkAbs(name + ".out"))
	ts.Check(err)
	errs, err := os.Create(ts.MkAbs(name + ".err"))
	ts.Check(err)
	cmd := exec.Command(path, args[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, errs
	for _, k := range []string{"HOME", "USER", "NO_PROXY", "TMPDIR", "PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "BATON_CONFIG", "SECRET_KEY", builtInPath} {
		if v := ts.Getenv(k); v != "" {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	ts.Check(cmd.Start())
	p := &program{cmd: cmd, done: make(chan struct{})}
	b.running[name] = p
	go func() {
		defer close(p.done)
		_ = cmd.Wait()
		_, _ = out.Close(), errs.Close()
	}()
}

// match waits until a background program has written what pattern says.
func match(ts *testscript.TestScript, name, file, pattern string) []string {
	_, p := of(ts, name)
	re, err := regexp.Compile("(?m)" + pattern)
	ts.Check(err)
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		gone := false
		select {
		case <-p.done:
			gone = true
		default:
		}
		text, err := os.ReadFile(ts.MkAbs(file))
		ts.Check(err)
		if m := re.FindStringSubmatch(string(text)); m != nil {
			return m
		}
		if gone || time.Now().After(end) {
			ts.Fatalf("%s (ended: %v) did not write %q, but:\n%s", name, gone, pattern, text)
		}
	}
}

func awaitServing(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "serving NAME")
	m := match(ts, args[0], args[0]+".err", `msg=serving gateway=(\S+)/v1 control=(\S+)`)
	ts.Setenv(args[0]+"_gateway", m[1])
	ts.Setenv(args[0]+"_control", m[2])
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		resp, err := http.Get(m[1] + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			ts.Fatalf("%s/readyz: %v", m[1], err)
		}
	}
}

func awaitSelling(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "selling NAME")
	ts.Setenv(args[0]+"_url", match(ts, args[0], args[0]+".out", `on (http://\S+)`)[1])
}

func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "send NAME SIGNAL")
	_, p := of(ts, args[0])
	known := map[string]os.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}
	if known[args[1]] == nil {
		ts.Fatalf("no signal %s", args[1])
	}
	ts.Check(p.cmd.Process.Signal(known[args[1]]))
}

func awaitEnd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "ended NAME N")
	b, p := of(ts, args[0])
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s has not ended", args[0])
	}
	delete(b.running, args[0])
	if got := p.cmd.ProcessState.ExitCode(); strconv.Itoa(got) != args[1] {
		ts.Fatalf("exit code %d, not %s; it said:\n%s", got, args[1], ts.ReadFile(args[0]+".err"))
	}
}

func awaitOutput(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "until PATTERN program args...")
	re, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		_ = ts.Exec(args[1], args[2:]...)
		text := ts.ReadFile("stdout")
		if re.MatchString(text) {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("%v does not print %q, but:\n%s", args[1:], args[0], text)
		}
	}
}

func awaitLog(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "logs NAME PATTERN")
	match(ts, args[0], args[0]+".err", args[1])
}

func document(ts *testscript.TestScript, file string) any {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(file)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is no JSON: %v\n%s", file, err, ts.ReadFile(file))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		ts.Fatalf("%s has more than one JSON document:\n%s", file, ts.ReadFile(file))
	}
	return v
}

func checkJSON(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "json FILE")
	document(ts, args[0])
}

func checkField(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, false, args, 3, "field FILE PATH VALUE")
	v := document(ts, args[0])
	for step := range strings.SplitSeq(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			member, ok := x[step]
			if !ok {
				ts.Fatalf("%s: no member %q", args[1], step)
			}
			v = member
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(x) {
				ts.Fatalf("%s: no element %q of %d", args[1], step, len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: nothing inside %v", args[1], v)
		}
	}
	got := fmt.Sprint(v)
	if v == nil {
		got = "null"
	}
	if list, ok := v.([]any); ok {
		got = fmt.Sprintf("%d elements", len(list))
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s is %q (wanted %q, negated: %v)", args[1], got, args[2], neg)
	}
}

func askHTTP(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "http METHOD URL STATUS [BODY]")
	body := ""
	if len(args) > 3 {
		body = args[3]
	}
	req, err := http.NewRequest(args[0], args[1], strings.NewReader(body))
	ts.Check(err)
	req.Header.Set("Content-Type", "application/json")
	if t := ts.Getenv("token"); t != "" {
		req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(ts.ReadFile(t)))
	}
	resp, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("body"), text.Bytes(), 0o600))
	if strconv.Itoa(resp.StatusCode) != args[2] {
		ts.Fatalf("%s %s: status %d, not %s: %s", args[0], args[1], resp.StatusCode, args[2], text.String())
	}
}

func takePort(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "taken NAME")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { _ = ln.Close() })
	ts.Setenv(args[0], ln.Addr().String())
}

func fillFile(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "fill FILE")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(os.Expand(ts.ReadFile(args[0]), ts.Getenv)), 0o600))
}

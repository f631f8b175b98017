package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"

	"baton/drills/recording"
	"baton/drills/witness"
	"baton/engine/control"
)

// answering is a gateway that answers every request of a witness well, or none.
func answering(t *testing.T, well bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Baton-Vendor", "bailian")
		w.Header().Set("X-Baton-Attempts", "2")
		switch {
		case r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer k-1":
			w.WriteHeader(http.StatusUnauthorized)
		case !well:
			w.WriteHeader(http.StatusBadGateway)
			_, _ = io.WriteString(w, `{"error":{"message":"nobody answers","code":"baton_no_vendor"}}`)
		default:
			_, _ = io.WriteString(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// in runs a command with an environment.
func in(t *testing.T, env map[string]string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	env["HOME"] = t.TempDir()
	a := &app{in: strings.NewReader(""), out: &o, err: &e, env: func(name string) string { return env[name] }}
	code = a.run(args)
	return o.String(), e.String(), code
}

func TestWitness_ObservesLogsAndSumsUp(t *testing.T) {
	log := filepath.Join(t.TempDir(), "w.jsonl")
	args := []string{"witness", answering(t, true), "--rps", "5", "--for", "700ms", "--model", "m", "--key-env", "THE_KEY", "--log", log}
	out, errs, code := in(t, map[string]string{"THE_KEY": "k-1"}, args...)
	if code != exitOK || !strings.Contains(out, " 0 failed") || !strings.Contains(out, "bailian") || !strings.Contains(errs, "rescued") || !strings.Contains(errs, log) {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	first, err := witness.Read(log)
	if err != nil || len(first.Entries) == 0 {
		t.Fatalf("%+v %v", first, err)
	}
	out, errs, code = in(t, map[string]string{"THE_KEY": "k-1"}, append(args, "--json", "-q")...)
	var doc struct {
		Log     string
		Summary witness.Summary
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitOK || doc.Log != log || doc.Summary.Requests == 0 || strings.Contains(errs, "rescued") {
		t.Errorf("%d %v\n%s\n%s", code, err, out, errs)
	}
	if both, err := witness.Read(log); err != nil || len(both.Entries) <= len(first.Entries) {
		t.Errorf("the second run was not appended: %v", err)
	}
	if b, _ := os.ReadFile(log); bytes.Contains(b, []byte("k-1")) {
		t.Error("the key is in the log")
	}
}

func TestWitness_NothingAnsweredIsExitOne(t *testing.T) {
	log := filepath.Join(t.TempDir(), "w.jsonl")
	out, errs, code := in(t, map[string]string{"THE_KEY": "k-1"}, "witness", answering(t, false), "--for", "100ms", "--model", "m", "--key-env", "THE_KEY", "--log", log)
	if code != exitNo || !strings.Contains(errs, "failed") || !strings.Contains(errs, "baton_no_vendor: nobody answers") || !strings.Contains(out, "0 answered") {
		t.Errorf("%d\n%s\n%s", code, out, errs)
	}
}

func TestWitness_RefusesWhatItCannotDo(t *testing.T) {
	other := filepath.Join(t.TempDir(), "other.log")
	if err := os.WriteFile(other, []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := answering(t, true)
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"a load", "--rps = 50", []string{url, "--rps", "50"}},
		{"no time", "--for = -1s", []string{url, "--for", "-1s"}},
		{"no key", "has no NO_SUCH_KEY", []string{url, "--key-env", "NO_SUCH_KEY"}},
		{"no URL", "is no URL", []string{"ftp://x"}},
		{"another log", "no log of a witness", []string{url, "--model", "m", "--log", other}},
		{"no place for a log", "--log", []string{url, "--model", "m", "--log", filepath.Join(other, "w")}},
		{"a gateway that asks for a key", "401", []string{url, "--log", filepath.Join(t.TempDir(), "w")}},
		{"no engine", "no engine runs", []string{"--state", t.TempDir()}},
	} {
		out, errs, code := in(t, map[string]string{}, append([]string{"witness"}, c.args...)...)
		if code != exitError || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s: %d %q %q, want %q", c.name, code, out, errs, c.want)
		}
	}
	if b, _ := os.ReadFile(other); string(b) != "precious\n" {
		t.Errorf("the other log is %q", b)
	}
}

func TestGatewayURL_TakesAnAddress(t *testing.T) {
	for from, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080": "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1": "http://127.0.0.1:8080/v1",
		"https://gateway.example/llm/v1": "https://gateway.example/llm/v1",
	} {
		if got, err := new(app).gatewayURL([]string{from}); err != nil || got != want {
			t.Errorf("%s: %s %v, want %s", from, got, err, want)
		}
	}
}

func TestWitness_SeesWhatClientsOfAnEngineSee(t *testing.T) {
	if testing.Short() {
		t.Skip("builds baton")
	}
	s := serve(t, "")
	log := filepath.Join(t.TempDir(), "w.jsonl")
	out, errs, code := in(t, map[string]string{}, "witness", "--state", s.state, "--rps", "5", "--for", "2s", "--log", log)
	if code != exitOK {
		t.Fatalf("%d\n%s\n%s", code, out, errs)
	}
	l, err := witness.Read(log)
	if err != nil {
		t.Fatal(err)
	}
	well := 0
	for _, e := range l.Entries {
		if e.OK && e.Attempts == 1 && (e.Vendor == "lanyun" || e.Vendor == "bailian") && strings.HasPrefix(e.ID, witness.Prefix) {
			well++
		}
	}
	if well == 0 {
		t.Errorf("of %d requests none was answered well: %+v", len(l.Entries), l.Entries)
	}
}

func TestReplay_FindsItsRecordingWithoutAnEngine(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "drills")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	const id, unrecorded = "20261201-100000-4f2a", "20261201-110000-4f2b"
	for _, name := range []string{id, unrecorded} {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(`{"id":"`+name+`","scenario":"kill","vendor":"lanyun","started":"2026-12-01T10:00:00Z"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w, err := recording.Create(recording.Path(dir, id), id)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(&control.Update{Snapshot: &control.Snapshot{Version: "7"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	a := &app{statePath: state, env: func(string) string { return "" }}
	p, err := a.openRecording(id)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := control.Get[*control.Snapshot](t.Context(), p, control.State{}); err != nil || s.Version != "7" {
		t.Errorf("%+v %v", s, err)
	}
	if r, err := control.Get[*control.Report](t.Context(), p, control.DrillByID{ID: id}); err != nil || r.Vendor != "lanyun" {
		t.Errorf("%+v %v", r, err)
	}
	if _, err := a.openRecording(recording.Path(dir, id)); err != nil {
		t.Errorf("by its path: %v", err)
	}
	for _, c := range []struct {
		name, want string
		args       []string
	}{
		{"unknown", "there is no drill", []string{"20261201-100000-0000"}},
		{"not recorded", "was not recorded", []string{unrecorded}},
		{"a path that is none", "there is no recording", []string{"./none.rec.gz"}},
		{"too fast", "--speed = 21", []string{id, "--speed", "21"}},
		{"no terminal", "needs a terminal", []string{id}},
	} {
		out, errs, code := in(t, map[string]string{}, append([]string{"replay", "--state", state}, c.args...)...)
		if code != exitError || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%s: %d %q %q, want %q", c.name, code, out, errs, c.want)
		}
	}
}

func TestReplay_PlaysInTheConsole(t *testing.T) {
	if testing.Short() {
		t.Skip("builds baton")
	}
	home := t.TempDir()
	path := filepath.Join(home, "x.rec.gz")
	w, err := recording.Create(path, "20261201-100000-4f2a")
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for i := range 240 {
		s := &control.Snapshot{Time: begun.Add(time.Duration(i) * time.Second / 4), Environment: "DEMO", Vendors: []control.Vendor{{Name: "lanyun", State: control.Healthy, Weight: 100}}}
		if err := w.Add(&control.Update{Snapshot: s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary(t), "replay", path, "--speed", "20", "--theme", "dark", "--lang", "en")
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + home}
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 36, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var mu sync.Mutex
	var seen bytes.Buffer
	go func() {
		b := make([]byte, 32<<10)
		for {
			n, err := f.Read(b)
			mu.Lock()
			seen.Write(b[:n])
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	until(t, patience, "the recording plays to its end", func() bool {
		mu.Lock()
		defer mu.Unlock()
		all := ansi.Strip(seen.String())
		return strings.Contains(all, "REPLAY") && strings.Contains(all, "20261201-100000-4f2a") && strings.Contains(all, "lanyun") && strings.Contains(all, "0:59/0:59")
	})
	if _, err := f.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(patience):
		t.Error("q does not end it")
	}
}

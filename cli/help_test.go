package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// run is a command in this process: what it prints, and its exit code.
func run(t *testing.T, args ...string) (out, errs string, code int) {
	t.Helper()
	builtin, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	var o, e bytes.Buffer
	home := t.TempDir()
	a := &app{builtin: builtin, in: strings.NewReader(""), out: &o, err: &e, env: func(name string) string {
		return map[string]string{"HOME": home, "USER": "ops"}[name]
	}}
	code = a.run(args)
	return o.String(), e.String(), code
}

func TestHelp_OfEveryCommandHasAnExample(t *testing.T) {
	root := new(app).root()
	var paths [][]string
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		paths = append(paths, path)
		for _, sub := range c.Commands() {
			walk(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	walk(root, nil)
	known := map[string]bool{}
	for _, path := range paths {
		name := strings.Join(append([]string{"baton"}, path...), " ")
		known[name] = true
		out, errs, code := run(t, append(path, "--help")...)
		if code != exitOK || errs != "" {
			t.Errorf("%s --help: exit code %d, stderr %q", name, code, errs)
		}
		if !strings.Contains(out, "Examples:\n  "+name) {
			t.Errorf("%s --help has no example of itself:\n%s", name, out)
		}
		for _, flag := range []string{"--config", "--state", "--control "} {
			if !strings.Contains(out, flag) {
				t.Errorf("%s --help does not know %s", name, flag)
			}
		}
	}
	for _, name := range []string{"serve", "attach", "status", "weights", "kill", "restore", "drain", "undrain", "enable", "failures", "drill list", "drill history", "drill show", "drill abort", "drill run", "drill verify", "failover", "limits", "check", "init", "witness", "replay", "stress", "benchmarks", "costs", "leverage", "bill", "db", "sim", "version"} {
		if !known["baton "+name] {
			t.Errorf("there is no baton %s", name)
		}
	}
}

func TestFlags_StateConfigAndControlAreTakenByEveryCommand(t *testing.T) {
	for _, args := range [][]string{
		{"status"},
		{"weights"},
		{"weights", "auto"},
		{"kill", "a"},
		{"restore", "a"},
		{"drain", "a"},
		{"undrain", "a"},
		{"enable", "a"},
		{"failures"},
		{"drill", "list"},
		{"drill", "history"},
		{"drill", "show", "x"},
		{"drill", "abort"},
	} {
		state := t.TempDir()
		reads := len(args) > 1 && slices.Contains([]string{"list", "history", "show"}, args[1]) // files need no engine
		if out, errs, code := run(t, append(args, "--state", state)...); !reads && (code != exitError || out != "" || !strings.Contains(errs, state)) {
			t.Errorf("%v --state: exit code %d, %q, %q", args, code, out, errs)
		}
		token := state + "/token"
		if err := os.WriteFile(token, []byte("t"), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs, code := run(t, append(args, "--control", "http://127.0.0.1:1", "--token-file", token)...); code != exitError || out != "" || !strings.Contains(errs, "http://127.0.0.1:1") {
			t.Errorf("%v --control: exit code %d, %q, %q", args, code, out, errs)
		}
	}
	for _, args := range [][]string{{"version"}, {"sim", "--list"}} {
		if _, errs, code := run(t, append(args, "--state", t.TempDir(), "--control", "http://127.0.0.1:1", "--config", "nosuch")...); code != exitOK {
			t.Errorf("%v: exit code %d, %q", args, code, errs)
		}
	}
}

func TestDrill_RecordsAreReadWithoutAnEngine(t *testing.T) {
	state := t.TempDir()
	if out, errs, code := run(t, "drill", "history", "--state", state); code != exitOK || out != "no drills are recorded\n" {
		t.Errorf("an empty history: %d, %q, %q", code, out, errs)
	}
	if err := os.MkdirAll(state+"/drills", 0o700); err != nil {
		t.Fatal(err)
	}
	record := `{"id":"20261201-100000-4f2a","scenario":"kill","vendor":"lanyun","verdict":"passed","cutover_s":2.75,"started":"2026-12-01T10:00:00Z","ended":"2026-12-01T10:02:00Z"}`
	if err := os.WriteFile(state+"/drills/20261201-100000-4f2a.json", []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := run(t, "drill", "history", "--state", state); code != exitOK || !strings.Contains(out, "0:02.8") {
		t.Errorf("history: %d, %q, %q", code, out, errs)
	}
	if out, errs, code := run(t, "drill", "show", "20261201-100000-4f2a", "--state", state); code != exitOK || !strings.Contains(out, "**passed**") {
		t.Errorf("show: %d, %q, %q", code, out, errs)
	}
	if _, errs, code := run(t, "drill", "show", "../x", "--state", state); code != exitError {
		t.Errorf("a path as an id: %d, %q", code, errs)
	}
}

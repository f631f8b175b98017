package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton/engine/config"
)

func TestInit_ChangesNothingButTheVendors(t *testing.T) {
	builtin, err := os.ReadFile("../config.toml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := newConfig(string(builtin))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "c.toml")
	if err := writeNew(file, text); err != nil {
		t.Fatal(err)
	}
	environ := func(name string) string {
		return map[string]string{"LANYUN_API_KEY": "one", "DASHSCOPE_API_KEY": "two"}[name]
	}
	made, err := config.Load(config.Options{Flag: file, BuiltIn: builtin, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	before, err := config.Load(config.Options{BuiltIn: builtin, Environ: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range before.Diff(made) {
		if !strings.HasPrefix(line, "vendors") && !strings.HasPrefix(line, "model ") && !strings.HasPrefix(line, "vendor ") &&
			!strings.HasPrefix(line, "console.environment") && !strings.HasPrefix(line, "console.apply") && !strings.HasPrefix(line, "drill.hold") {
			t.Errorf("a new configuration differs in %s", line)
		}
	}
	if w := warnings(made); len(w) > 0 {
		t.Errorf("a new configuration is warned of: %q", w)
	}
	if err := writeNew(file, "other"); err == nil {
		t.Error("a file that was there was written over")
	}
}

package cli

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed is which of our own packages each package may import: the arrows of
// docs/architecture.md, which point down only.
var allowed = map[string][]string{
	"baton":                       {"cli"},
	"baton/cli":                   {"tui", "drills", "drills/cpu", "drills/story", "drills/chain", "drills/load", "drills/stress", "drills/recording", "drills/witness", "engine", "engine/api", "engine/config", "engine/control", "engine/gateway", "engine/ledger", "engine/ledger/report", "engine/outcome", "engine/sse", "engine/store", "vendors", "vendors/fault", "vendors/sim"},
	"baton/tui":                   {"engine/control", "tui/draw", "tui/theme"},
	"baton/tui/draw":              {"engine/control", "tui/theme"},
	"baton/tui/theme":             {},
	"baton/drills":                {"drills/chain", "drills/load", "drills/page", "drills/recording", "drills/spike", "drills/witness", "engine/config", "engine/config/strict", "engine/control", "engine/window"},
	"baton/drills/chain":          {"engine/control"},
	"baton/drills/chart":          {},
	"baton/drills/load":           {},
	"baton/drills/page":           {"drills/chart", "engine/control"},
	"baton/drills/stress":         {"drills/chart", "drills/load", "engine/config", "engine/outcome", "engine/sse", "vendors"},
	"baton/drills/recording":      {"engine/control"},
	"baton/drills/witness":        {"drills/load", "engine/control"},
	"baton/drills/cpu":            {},
	"baton/drills/spike":          {"drills/cpu", "drills/load"},
	"baton/drills/story":          {"drills/chart", "drills/load", "engine/control", "engine/sse"},
	"baton/engine":                {"engine/affinity", "engine/admission", "engine/config", "engine/control", "engine/health", "engine/limit", "engine/outcome", "engine/weights", "engine/window"},
	"baton/engine/admission":      {},
	"baton/engine/affinity":       {},
	"baton/engine/api":            {"engine/control", "engine/window"},
	"baton/engine/config":         {"engine/config/strict"},
	"baton/engine/config/strict":  {},
	"baton/engine/control":        {},
	"baton/engine/gateway":        {"engine", "engine/affinity", "engine/config", "engine/control", "engine/ledger", "engine/outcome", "engine/scan", "engine/sse", "engine/weights", "vendors", "vendors/fault"},
	"baton/engine/gateway/surge":  {},
	"baton/engine/gateway/hidden": {},
	"baton/engine/gateway/speed":  {},
	"baton/engine/health":         {"engine/outcome"},
	"baton/engine/limit":          {},
	"baton/engine/outcome":        {"engine/scan"},
	"baton/engine/scan":           {},
	"baton/engine/sse":            {},
	"baton/engine/ledger":         {"engine/config", "engine/control"},
	"baton/engine/ledger/report":  {"engine/control"},
	"baton/engine/store":          {"engine/config", "engine/control", "engine/ledger"},
	"baton/engine/weights":        {},
	"baton/engine/window":         {},
	"baton/vendors":               {"engine/config", "engine/outcome", "vendors/fault"},
	"baton/vendors/fault":         {},
	"baton/vendors/sim":           {},
}

// pure packages import the standard library and each other only.
var pure = []string{"admission", "affinity", "health", "limit", "outcome", "scan", "sse", "weights", "window"}

func TestArrows_PointDownOnly(t *testing.T) {
	need(t, "go")
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "baton/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ":")
		may, known := allowed[pkg]
		if !known {
			t.Errorf("%s is not in the list of packages and what they may import", pkg)
			continue
		}
		seen++
		for imp := range strings.FieldsSeq(imports) {
			own, isOwn := strings.CutPrefix(imp, "baton/")
			if isOwn && !slices.Contains(may, own) {
				t.Errorf("%s imports %s: that arrow does not exist", pkg, imp)
			}
			if !isOwn && strings.Contains(imp, ".") && slices.Contains(pure, strings.TrimPrefix(pkg, "baton/engine/")) {
				t.Errorf("%s imports %s: it is pure, standard library only", pkg, imp)
			}
			if imp == "net/http" && (pkg == "baton/engine" || strings.HasPrefix(pkg, "baton/tui")) {
				t.Errorf("%s imports net/http: it is memory and screen only", pkg)
			}
		}
	}
	if seen != len(allowed) {
		t.Errorf("go list knows %d of the %d packages of the list", seen, len(allowed))
	}
}

func TestTheme_ImportsLipglossAndNothingElse(t *testing.T) {
	need(t, "go")
	out, err := exec.Command("go", "list", "-f", "{{join .Imports \" \"}}", "baton/tui/theme").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for imp := range strings.FieldsSeq(string(out)) {
		if strings.Contains(imp, ".") && imp != "github.com/charmbracelet/lipgloss" {
			t.Errorf("theme imports %s: its init would run after bubbletea's, which waits for the terminal", imp)
		}
	}
}

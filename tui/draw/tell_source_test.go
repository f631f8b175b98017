package draw

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// saying are the files whose sentences reach a console.
var saying = []string{
	"engine/changes.go", "engine/command.go", "engine/failover.go", "engine/observe.go", "engine/override.go", "engine/release.go", "engine/saved.go", "engine/snapshot.go", "engine/tick.go",
	"engine/health/rules.go", "engine/health/recovery.go", "engine/health/machine.go", "engine/weights/reason.go", "engine/weights/release.go", "engine/limit/finding.go", "engine/limit/learn.go", "engine/limit/queue.go", "engine/admission/sound.go",
	"drills/explain.go", "drills/judge.go", "drills/preflight.go", "drills/restore.go", "drills/run.go", "drills/spike.go", "drills/spike_scenario.go", "drills/steady.go", "drills/checklist.go", "drills/compare.go",
	"cli/commands.go", "cli/override.go",
}

// unheard is which part of the sentences may be unknown: those that have just come
// into the source, and are shown in English until somebody tells them here too.
const unheard = 0.06

// parts are pieces of longer sentences, which are known whole, and what has no
// words.
var parts = []string{
	"`baton undrain %s`", "the pin %s of %s", "%s: there is no vendor %q any more", "%s: it sums to %g, not to 100", "%s until %s UTC", "%s is %s: %s", "held: moved %s %s ago, may turn in %s",
	"~%s%s, learned %s ago%s", "%.0f in flight", "a test of its learned limit in %s (%s)", "use of all that its learned limit lets through: tested upward by %.1f %%/s (%s)",
	"%s after %s, before the target of %s: %s", "in its band of %.4g to %.4g", "the %.4g that it is pinned to", "its weight is %.4g, not %s", "%s: %d requests/s, %d admitted, %d limited, %d shed, %d failed",
	"%.4g (%.0f of %.0f)", "%.0f ms (n=%d)", "%s = %q",
}

var verb = regexp.MustCompile(`%[-+#0-9.]*[a-zA-Z]`)

// asSaid is a format with something in its verbs.
func asSaid(format string) string {
	n := 0
	s := verb.ReplaceAllStringFunc(format, func(v string) string {
		n++
		switch v[len(v)-1] {
		case 's', 'q', 'v':
			return "5m" + strconv.Itoa(n)
		}
		return strconv.Itoa(10 + n)
	})
	return strings.ReplaceAll(s, "%%", "%")
}

// sentences are the formats of a file that make sentences for people.
func sentences(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	take := func(e ast.Expr) {
		if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if s, err := strconv.Unquote(l.Value); err == nil && len(strings.Fields(s)) > 2 {
				out = append(out, s)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.KeyValueExpr:
			if k, ok := x.Key.(*ast.Ident); ok && (k.Name == "Message" || k.Name == "Data") {
				return false // an answer to a command, in its sender's words
			}
			if k, ok := x.Key.(*ast.Ident); ok && k.Name == "Text" {
				take(x.Value)
			}
		case *ast.CallExpr:
			switch f := x.Fun.(type) {
			case *ast.SelectorExpr:
				if f.Sel.Name == "Errorf" {
					return false
				}
				if f.Sel.Name == "Sprintf" {
					take(x.Args[0])
				}
			case *ast.Ident:
				if f.Name == "invalid" {
					return false
				}
				if f.Name == "add" && len(x.Args) > 0 {
					take(x.Args[0])
				}
			}
		}
		return true
	})
	return out
}

func TestTell_KnowsWhatTheSourceSays(t *testing.T) {
	all := 0
	var unknown []string
	for _, f := range saying {
		path := filepath.Join("..", "..", filepath.FromSlash(f))
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not there any more", f)
			continue
		}
		for _, s := range sentences(t, path) {
			if all++; slices.Contains(parts, s) || strings.HasPrefix(s, ", ") || strings.HasPrefix(s, " ") {
				continue
			}
			if !strings.ContainsFunc(chinese.Tell(asSaid(s)), func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
				unknown = append(unknown, f+": "+s)
			}
		}
	}
	t.Logf("%d of %d sentences are not known:\n%s", len(unknown), all, strings.Join(unknown, "\n"))
	if all < 100 {
		t.Errorf("only %d sentences were found: does this test still look where they are?", all)
	}
	if part := float64(len(unknown)) / float64(all); part > unheard {
		t.Errorf("%.0f %% of the sentences are shown in English on a Chinese console: tell them in the tell_*_zh.go", 100*part)
	}
}

// said are the sentences that a file of failures or of stress tests makes: what is
// given to settle, say, stage and said, and what is set as a reason.
func said(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(path)), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{"settle": 3, "say": 1, "stage": 1, "said": 0}
	set := []string{"Reason", "Message", "Stopped", "Stage"}
	var out []string
	take := func(e ast.Expr) {
		if s := spelt(e); len(strings.Fields(s)) > 1 && !strings.Contains(s, "not known here") {
			out = append(out, s)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch f := x.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if i, ok := at[name]; ok && i < len(x.Args) {
				take(x.Args[i])
			}
		case *ast.AssignStmt:
			for i, l := range x.Lhs {
				if s, ok := l.(*ast.SelectorExpr); ok && i < len(x.Rhs) && slices.Contains(set, s.Sel.Name) {
					take(x.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			if len(x.Values) != 1 || !strings.HasSuffix(x.Names[0].Name, "Messages") {
				return true
			}
			if m, ok := x.Values[0].(*ast.CompositeLit); ok {
				for _, e := range m.Elts {
					take(e.(*ast.KeyValueExpr).Value)
				}
			}
		}
		return true
	})
	if len(out) < 3 {
		t.Errorf("only %d sentences were found in %s: does this test still look where they are?", len(out), path)
	}
	return out
}

// spelt is a sentence as the source spells it, with something in its holes.
func spelt(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(x.Value)
		return asSaid(s)
	case *ast.BinaryExpr:
		a, b := spelt(x.X), spelt(x.Y)
		if strings.Contains(a+b, "not known here") && len(strings.Fields(strings.ReplaceAll(a+b, "not known here", ""))) < 2 {
			return "not known here"
		}
		return strings.ReplaceAll(a+b, "not known here", "header")
	case *ast.CallExpr:
		if f, ok := x.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Sprintf" {
			return spelt(x.Args[0])
		}
	}
	return "not known here"
}

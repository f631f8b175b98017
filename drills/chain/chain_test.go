package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine/control"
)

func report(id string) *control.Report {
	now := time.Now().UTC()
	return &control.Report{ID: id, Scenario: "kill-primary", Vendor: "lanyun", Verdict: control.Passed, Started: now, Ended: &now, CutoverS: control.Figure(4.25), Reason: "<ok> & 蓝耘"}
}

func render(r *control.Report) (map[string][]byte, error) {
	b, err := json.MarshalIndent(r, "", " ")
	return map[string][]byte{r.ID + ".json": append(b, '\n'), r.ID + ".md": []byte("# " + r.ID), r.ID + ".html": []byte("<p>" + r.ID)}, err
}

// chained makes a directory with records a, b, c, d.
func chained(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, id := range []string{"a", "b", "c", "d"} {
		if err := Append(dir, report(id), render); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func edit(t *testing.T, dir, name string, f func(string) string) {
	t.Helper()
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(f(string(b))), 0o600); err != nil {
		t.Fatal(err)
	}
}

func swap(from, to string) func(string) string {
	return func(s string) string { return strings.ReplaceAll(s, from, to) }
}

// lineOf edits the lines of the chain.
func linesOf(f func([]string) []string) func(string) string {
	return func(s string) string {
		all := strings.SplitAfter(strings.TrimSuffix(s, "\n"), "\n")
		all[len(all)-1] += "\n"
		return strings.Join(f(all), "")
	}
}

func TestVerify_FindsWhatWasDone(t *testing.T) {
	stranger := func(t *testing.T, dir string) {
		r := report("x")
		r.Chain.SHA256 = strings.Repeat("0", 64)
		files, _ := render(r)
		if err := os.WriteFile(filepath.Join(dir, "x.json"), files["x.json"], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, dir string)
		want []string // kind and id
	}{
		{"nothing", func(*testing.T, string) {}, nil},
		{"a figure of a record", func(t *testing.T, dir string) { edit(t, dir, "b.json", swap("4.25", "3.25")) }, []string{"changed b"}},
		{"the white space of a record", func(t *testing.T, dir string) { edit(t, dir, "b.json", swap("\n ", "\n  ")) }, []string{"changed b"}},
		{"a word of the text", func(t *testing.T, dir string) { edit(t, dir, "c.md", swap("#", "##")) }, []string{"changed c"}},
		{"the page", func(t *testing.T, dir string) { edit(t, dir, "d.html", swap("d", "e")) }, []string{"changed d"}},
		{"a record's file removed", func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, "a.json")) }, []string{"removed a"}},
		{"a record inserted", stranger, []string{"inserted x"}},
		{"a line removed", func(t *testing.T, dir string) {
			edit(t, dir, File, linesOf(func(l []string) []string { return append(l[:1:1], l[2:]...) }))
		}, []string{"removed ", "inserted b"}},
		{"a line doubled", func(t *testing.T, dir string) {
			edit(t, dir, File, linesOf(func(l []string) []string { return append(l[:2:2], l[1:]...) }))
		}, []string{"inserted b"}},
		{"lines in another order", func(t *testing.T, dir string) {
			edit(t, dir, File, linesOf(func(l []string) []string { return []string{l[0], l[2], l[1], l[3]} }))
		}, []string{"removed ", "inserted b", "removed "}},
		{"a line changed", func(t *testing.T, dir string) { edit(t, dir, File, swap(`"id":"c"`, `"id":"k"`)) }, []string{"broken k", "inserted c"}},
		{"a line that is no JSON", func(t *testing.T, dir string) {
			edit(t, dir, File, linesOf(func(l []string) []string { l[3] = "{\n"; return l }))
		}, []string{"broken ", "inserted d"}},
		{"a record and its line changed together", func(t *testing.T, dir string) {
			edit(t, dir, "b.json", swap("4.25", "3.25"))
			doc, err := os.ReadFile(filepath.Join(dir, "b.json"))
			if err != nil {
				t.Fatal(err)
			}
			edit(t, dir, File, linesOf(func(l []string) []string {
				var k Link
				if err := json.Unmarshal([]byte(l[1]), &k); err != nil {
					t.Fatal(err)
				}
				k.Files["b.json"] = sum(doc)
				k.Record, _ = Digest(doc)
				k.Link = k.digest()
				b, _ := json.Marshal(k)
				l[1] = string(b) + "\n"
				return l
			}))
		}, []string{"inserted c", "changed b", "changed c"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := chained(t)
			c.do(t, dir)
			r, err := Verify(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range r.Problems {
				got = append(got, string(p.Kind)+" "+p.ID)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %q, want %q\n%v", got, c.want, r.Problems)
			}
		})
	}
}

func TestVerify_AHeadThatWasKeptTellsThatTheEndIsGone(t *testing.T) {
	dir := chained(t)
	before, err := Verify(dir)
	if err != nil || before.Head == "" || !before.Knows(before.Head) {
		t.Fatalf("head %q: %v", before.Head, err)
	}
	edit(t, dir, File, linesOf(func(l []string) []string { return l[:3] }))
	for _, ext := range []string{".json", ".md", ".html"} {
		if err := os.Remove(filepath.Join(dir, "d"+ext)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := Verify(dir)
	if err != nil || len(after.Problems) != 0 {
		t.Fatalf("a chain whose end was cut off cleanly has no problem that it could show: %v %v", after, err)
	}
	if after.Knows(before.Head) {
		t.Error("the head that was kept is gone, and the chain says that it is there")
	}
}

func TestVerify_WhatIsOlderThanTheChainIsSaidApart(t *testing.T) {
	dir := t.TempDir()
	old := report("old")
	files, _ := render(old)
	if err := os.WriteFile(filepath.Join(dir, "old.json"), files["old.json"], 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // with no chain, and with one
		r, err := Verify(dir)
		if err != nil || len(r.Problems) != 0 || len(r.Older) != 1 || r.Older[0] != "old" {
			t.Fatalf("%+v %v", r, err)
		}
		if err := Append(dir, report("new"), render); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVerify_ARecordThatIsOpenIsNoStranger(t *testing.T) {
	dir := chained(t)
	open := report("e")
	open.Ended = nil
	files, _ := render(open)
	if err := os.WriteFile(filepath.Join(dir, "e.json"), files["e.json"], 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(dir); err != nil || len(r.Problems) != 0 {
		t.Errorf("%v %v", r.Problems, err)
	}
}

func TestAppend_RecordsPointAtEachOther(t *testing.T) {
	dir := t.TempDir()
	a, b := report("a"), report("b")
	for _, r := range []*control.Report{a, b} {
		if err := Append(dir, r, render); err != nil {
			t.Fatal(err)
		}
	}
	if a.Chain.Previous != "" || len(a.Chain.SHA256) != 64 || b.Chain.Previous != a.Chain.SHA256 || b.Chain.SHA256 == a.Chain.SHA256 {
		t.Errorf("a %+v, b %+v", a.Chain, b.Chain)
	}
	r, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	if l, problems := r.Of("b"); l == nil || l.N != 2 || l.Record != b.Chain.SHA256 || len(problems) != 0 {
		t.Errorf("%+v %v", l, problems)
	}
	if l, _ := r.Of("z"); l != nil {
		t.Errorf("z is in the chain: %+v", l)
	}
}

func TestAppend_ARecordAppendedAgainReplacesItself(t *testing.T) {
	dir := chained(t)
	r := report("b")
	r.Note = "seen again"
	if err := Append(dir, r, render); err != nil {
		t.Fatal(err)
	}
	v, err := Verify(dir)
	if err != nil || len(v.Problems) != 0 || len(v.Links) != 5 {
		t.Fatalf("%d links, %v, %v", len(v.Links), v.Problems, err)
	}
	if l, _ := v.Of("b"); l.N != 5 {
		t.Errorf("the last line of b is %d", l.N)
	}
}

func TestAppend_APartOfALineThatACrashLeftIsOverwritten(t *testing.T) {
	dir := chained(t)
	edit(t, dir, File, func(s string) string { return s + `{"n":5,"id":"e","ti` + strings.Repeat("x", 2000) })
	if v, err := Verify(dir); err != nil || len(v.Problems) != 0 {
		t.Errorf("before: %v %v", v.Problems, err)
	}
	if err := Append(dir, report("e"), render); err != nil {
		t.Fatal(err)
	}
	if v, err := Verify(dir); err != nil || len(v.Problems) != 0 || len(v.Links) != 5 {
		t.Errorf("after: %d links, %v %v", len(v.Links), v.Problems, err)
	}
}

func TestAppend_AnErrorLeavesTheChainAsItWas(t *testing.T) {
	dir := chained(t)
	before, _ := os.ReadFile(filepath.Join(dir, File))
	for name, f := range map[string]func(*control.Report) (map[string][]byte, error){
		"rendering fails":    func(*control.Report) (map[string][]byte, error) { return nil, errors.New("no") },
		"no record":          func(*control.Report) (map[string][]byte, error) { return map[string][]byte{"e.md": nil}, nil },
		"another record":     func(*control.Report) (map[string][]byte, error) { return render2("e", report("f")) },
		"a file elsewhere":   func(r *control.Report) (map[string][]byte, error) { return with(r, "../e.md") },
		"the chain itself":   func(r *control.Report) (map[string][]byte, error) { return with(r, File) },
		"a file over a path": func(r *control.Report) (map[string][]byte, error) { return with(r, "dir") },
	} {
		if err := os.MkdirAll(filepath.Join(dir, "dir", "full"), 0o700); err != nil {
			t.Fatal(err)
		}
		r := report("e")
		if err := Append(dir, r, f); err == nil {
			t.Errorf("%s: no error", name)
		}
		if r.Chain != (control.Chain{}) {
			t.Errorf("%s: the record says that it is in the chain", name)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, File)); !bytes.Equal(before, after) {
			t.Errorf("%s: the chain has changed", name)
		}
	}
}

func render2(id string, r *control.Report) (map[string][]byte, error) {
	b, err := json.Marshal(r)
	return map[string][]byte{id + ".json": b}, err
}

func with(r *control.Report, name string) (map[string][]byte, error) {
	files, err := render(r)
	files[name] = nil
	return files, err
}

func TestAppend_ManyAtOnceMakeOneChain(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			if err := Append(dir, report(fmt.Sprintf("r%02d", i)), render); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if v, err := Verify(dir); err != nil || len(v.Problems) != 0 || len(v.Links) != 20 {
		t.Errorf("%d links, %v %v", len(v.Links), v.Problems, err)
	}
}

func TestVerify_ADirectoryThatIsNotThereHasAnEmptyChain(t *testing.T) {
	r, err := Verify(filepath.Join(t.TempDir(), "none"))
	if err != nil || len(r.Links)+len(r.Problems) != 0 || r.Head != "" {
		t.Errorf("%+v %v", r, err)
	}
}

func FuzzVerify_ReadsAnything(f *testing.F) {
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"n":1,"id":"../a","files":{"../../x":"0"}}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, File), b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Verify(dir); err != nil {
			t.Error(err)
		}
	})
}

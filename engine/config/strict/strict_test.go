package strict

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
)

type part struct {
	Name  string            `toml:"name"`
	N     int               `toml:"n"`
	Half  *float64          `toml:"half"`
	Key   string            `toml:"key,secret"`
	Keys  []string          `toml:"keys,secret"`
	Day   string            `toml:"day,date"`
	Inner inner             `toml:"inner"`
	Rest  map[string]string `toml:",rest"`
}

type inner struct {
	For time.Duration `toml:"for"`
	U   uint64        `toml:"u"`
}

type whole struct {
	Listen string         `toml:"listen"`
	On     bool           `toml:"on"`
	Sizes  map[string]int `toml:"sizes"`
	Band   []float64      `toml:"band"`
	Parts  []part         `toml:"parts"`
	Table  inner          `toml:"table"`
	Hidden string         `toml:"-"`
}

func TestDecode_ReportsEveryMistakeWithItsLine(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"unknown key, near":      {"lissen = 1", `f.toml:1: lissen: unknown key (did you mean "listen"?)`},
		"unknown key, elsewhere": {"\nhalf = \"1s\"\n[zebra]", "f.toml:2: half: unknown key (did you mean \"parts.half\"?)\nf.toml:3: zebra: unknown key (known here: band, listen, on, parts, sizes, table)"},
		"the wrong case":         {"Listen = \"x\"", `f.toml:1: Listen: unknown key (did you mean "listen"?)`},
		"both cases":             {"listen = \"x\"\nLISTEN = \"y\"", `f.toml:2: LISTEN: unknown key (did you mean "listen"?)`},
		"a key for another table": {
			"[table]\nsizes = 3\n[[parts]]\ninner.on = true",
			"f.toml:2: table.sizes: unknown key (known here: for, u)\nf.toml:4: parts[0].inner.on: unknown key (known here: for, u)",
		},
		"a hidden field is no key": {"Hidden = \"x\"", "f.toml:1: Hidden: unknown key (known here: band, listen, on, parts, sizes, table)"},
		"types": {
			"listen = 1\non = \"yes\"\nband = [1,\n  \"2\",\n nan]\nsizes = 3\ntable = []\nparts = 1",
			"f.toml:1: listen: got 1, want a string in quotes\n" +
				"f.toml:2: on: got \"yes\", want true or false\n" +
				"f.toml:4: band[1]: got \"2\", want a finite number\n" +
				"f.toml:5: band[2]: got NaN, want a finite number\n" +
				"f.toml:6: sizes: got 3, want a table\n" +
				"f.toml:7: table: got an array, want a table\n" +
				"f.toml:8: parts: got 1, want an array of tables, [[parts]]",
		},
		"one table where an array is due": {"[parts]\nname = \"a\"", "f.toml:1: parts: got a table, want an array of tables, [[parts]]"},
		"in the right element": {
			"[[parts]]\nn = 1\n[[parts]]\nname = \"b\"\n[parts.inner]\nfor = 10\nu = -1\n[[parts]]\nn = 1.0",
			"f.toml:6: parts[b].inner.for: got 10, want a duration in quotes, such as \"10s\"\n" +
				"f.toml:7: parts[b].inner.u: got -1, want a whole number, 0 or more\n" +
				"f.toml:9: parts[2].n: got 1, want a whole number",
		},
		"secret values are not shown": {
			"[[parts]]\nkey = 12345\nkeys = [1, true]",
			"f.toml:2: parts[0].key: want a string in quotes; the value is secret and not shown\n" +
				"f.toml:3: parts[0].keys[0]: want a string in quotes; the value is secret and not shown\n" +
				"f.toml:3: parts[0].keys[1]: want a string in quotes; the value is secret and not shown",
		},
		"a date with a time":      {"[[parts]]\nday = 2026-08-16T10:00:00Z", "f.toml:2: parts[0].day: got 2026-08-16T10:00:00Z, want a date such as \"2026-12-31\""},
		"a date where none is":    {"listen = 2026-08-16", "f.toml:1: listen: got 2026-08-16, want a string in quotes"},
		"syntax":                  {"listen = \"x\"\non = maybe\n", "f.toml:2: not TOML: expected value but found \"maybe\" instead"},
		"syntax at a secret":      {"[[parts]]\nkey = 99sekret", "f.toml:2: not TOML: this value cannot be read; it may be secret and is not shown"},
		"syntax after secrets":    {"[[parts]]\nkeys = [\n\"a\",\n99sekret]", "f.toml:4: not TOML: this value cannot be read; it may be secret and is not shown"},
		"the rest takes its type": {"[[parts]]\nother = 3", "f.toml:2: parts[0].other: got 3, want a string in quotes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := Decode("f.toml", []byte(tc.text), new(whole))
			if got := errs.Error(); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestDecode_ElementsNeverInheritFromWhatWasThere(t *testing.T) {
	half := 0.5
	w := whole{Listen: "kept", Band: []float64{7, 8, 9}, Parts: []part{{Name: "old", N: 9, Half: &half}}}
	doc, errs := Decode("f", []byte("band = [1]\n[[parts]]\nname = \"new\"\nday = 2026-08-16\nother = \"x\"\n[[parts]]\nhalf = 0"), &w)
	if errs != nil {
		t.Fatal(errs)
	}
	zero := 0.0
	want := whole{Listen: "kept", Band: []float64{1}, Parts: []part{
		{Name: "new", Day: "2026-08-16", Rest: map[string]string{"other": "x"}},
		{Half: &zero},
	}}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("got %+v, want %+v", w, want)
	}
	for path, want := range map[string]bool{"parts[1].half": true, "parts[0].half": false, "parts[0].name": true, "listen": false} {
		if doc.Has(path) != want {
			t.Errorf("Has(%q) = %v", path, !want)
		}
	}
	if n := doc.Line("parts[1].inner.for"); n != 6 {
		t.Errorf("an absent key is blamed on line %d, want that of its table, 6", n)
	}
}

func TestLocate_FindsKeysInEverySpelling(t *testing.T) {
	text := "\ufeff# [no] = 'table'\r\n" + // 1
		"a.b = '''\nx = 1\n[y]\n'''\r\n" + // 2-5
		"\"q \\\" \\u0041.\" = \"\"\"\\\"\"\" \"\"\"\"\" # c\n" + // 6
		"'l]' = [ # [\n 1, { z = { deep = 1 } },\n [2,\n3], ]\n" + // 7-10
		"  [ t . \"u\" ] # ]\n" + // 11
		"k = 1\n" + // 12
		"[[arr]]\n[arr.sub]\nx = 1\n[[arr]]\n[[arr.in]]\n[[arr.in]]\nlast = {a.b = 1, c = [{}, {d = 1}]}\n" // 13-19
	want := map[string]int{
		"a": 2, "a.b": 2, `"q \" A."`: 6, `"l]"`: 7, `"l]"[0]`: 8, `"l]"[1]`: 8, `"l]"[1].z`: 8, `"l]"[1].z.deep`: 8, `"l]"[2]`: 9, `"l]"[2][0]`: 9, `"l]"[2][1]`: 10,
		"t": 11, "t.u": 11, "t.u.k": 12,
		"arr": 13, "arr[0]": 13, "arr[0].sub": 14, "arr[0].sub.x": 15, "arr[1]": 16, "arr[1].in": 17, "arr[1].in[0]": 17, "arr[1].in[1]": 18,
		"arr[1].in[1].last": 19, "arr[1].in[1].last.a": 19, "arr[1].in[1].last.a.b": 19, "arr[1].in[1].last.c": 19,
		"arr[1].in[1].last.c[0]": 19, "arr[1].in[1].last.c[1]": 19, "arr[1].in[1].last.c[1].d": 19,
	}
	if err := toml.Unmarshal([]byte(text), new(map[string]any)); err != nil {
		t.Fatal(err)
	}
	if got := locate(text); !maps.Equal(got, want) {
		for path := range want {
			if got[path] != want[path] {
				t.Errorf("%s: line %d, want %d", path, got[path], want[path])
			}
		}
		for path := range got {
			if _, ok := want[path]; !ok {
				t.Errorf("%s: found where nothing is", path)
			}
		}
	}
}

func TestNearest_MeansTypingMistakes(t *testing.T) {
	known := []string{"listen", "base_url", "api_keys", "weight", "band", "rps", "first_token"}
	for word, want := range map[string]string{
		"lissen": "listen", "LISTEN": "listen", "weigth": "weight", "api_key": "api_keys", "url": "base_url",
		"token": "first_token", "bands": "band", "zebra": "", "x": "", "": "", strings.Repeat("listen", 30): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// FuzzLocate: whatever the library reads, the locator has a line for, and for
// nothing else.
func FuzzLocate(f *testing.F) {
	for _, s := range []string{
		"a = 1", "[a]\nb.c = [1, 2]", "[[a]]\n[[a.b]]\n[a.b.c]\nd = '''\n'''", "a = {b = 1,\n c = 2,\n}", "\"\\x41\\e\" = 1", "''=1\n\"\"\"a\"\"\"", "a = [{b=1},{b=2}]",
		"a = 1979-05-27 07:32:00", "a = [\"]\", ']', \"\"\"\n]\"\"\"]\n", "\"\\U0001F600\" = 1\n\"\\n\" = 2", "a=\"\\\\\"\nb=1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := locate(text) // of anything: no panic, no endless loop
		var tree map[string]any
		if _, err := toml.Decode(text, &tree); err != nil {
			return
		}
		want := paths(nil, "", tree)
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(lines)); !slices.Equal(got, want) {
			t.Errorf("found %q, want %q in %q", got, want, text)
		}
		for path, n := range lines {
			if n < 1 || n > 1+strings.Count(text, "\n") {
				t.Errorf("%s on line %d of %q", path, n, text)
			}
		}
	})
}

func paths(to []string, at string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for k, below := range v {
			path := Key(at, k)
			to = paths(append(to, path), path, below)
		}
	case []any:
		for i, below := range v {
			path := Element(at, i)
			to = paths(append(to, path), path, below)
		}
	case []map[string]any:
		for i, below := range v {
			path := Element(at, i)
			to = paths(append(to, path), path, below)
		}
	}
	return to
}

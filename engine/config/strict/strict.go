// Package strict reads TOML into Go structs and forgives nothing: an unknown
// key, a key in the wrong case, a wrong type or a number that is none is a
// [Mistake] with its file, line, key and rule, and all mistakes of a file come
// back together as [Errors].
//
// Use: give [Decode] the file's name, its bytes and a pointer to a struct whose
// fields carry `toml` tags. Values are laid over what the struct holds, but
// elements of arrays always start from zero. The [Document] that comes back
// knows which keys the file has, so that "absent" and "zero" can be told apart
// also inside arrays of tables, and makes mistakes for rules checked later.
//
// Tag options: `secret` (its value is never quoted), `date` (a TOML date is
// accepted for the string), `rest` (a map that takes all keys without a field).
//
// The package holds no state and knows nothing of baton's keys.
package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Mistake is one thing wrong in a file.
type Mistake struct {
	File    string
	Line    int    // from 1; 0 where no line is to blame
	Key     string // as in `vendors[lanyun].weight`
	Value   string // as written, quoted and shortened; "" where it must not or need not be shown
	Rule    string // what is wanted; a whole sentence where Value is ""
	Nearest string // the known word that comes closest, "" if none does
}

// Error is one line: file:line: key: what is wrong.
func (m Mistake) Error() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		b.WriteString(":" + strconv.Itoa(m.Line))
	}
	if m.Key != "" {
		b.WriteString(": " + m.Key)
	}
	b.WriteString(": ")
	if m.Value != "" {
		fmt.Fprintf(&b, "got %s, want ", m.Value)
	}
	b.WriteString(m.Rule)
	if m.Nearest != "" {
		fmt.Fprintf(&b, " (did you mean %q?)", m.Nearest)
	}
	return b.String()
}

// Errors are all mistakes of a file, in the order of its lines.
type Errors []Mistake

// Error has one line a mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, m := range e {
		lines[i] = m.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is nil where there is no mistake.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	return e
}

// Sort puts the mistakes in the order of their lines.
func (e Errors) Sort() {
	slices.SortStableFunc(e, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Key, b.Key))
	})
}

// Document is where things stand in a decoded file. The zero Document has no
// keys and blames no line.
type Document struct {
	File  string
	lines map[string]int
	names map[string]string // path of an array's element: its name
	wrong map[string]bool   // paths whose value could not be decoded
}

// Has says whether the file has the key: `vendors[1].weight`, from 0.
func (d *Document) Has(path string) bool {
	_, ok := d.lines[path]
	return ok
}

// Wrong says whether Decode has already found a mistake at the key.
func (d *Document) Wrong(path string) bool { return d.wrong[path] }

// Line is the line of the key, or of the nearest table around it that the file
// has, or 1; it is 0 in a document without a file.
func (d *Document) Line(path string) int {
	if d.lines == nil {
		return 0
	}
	for path != "" {
		if n, ok := d.lines[path]; ok {
			return n
		}
		path = parent(path)
	}
	return 1
}

// Mistake blames a key. The value is shown as it is; give "" for a secret one.
func (d *Document) Mistake(path, value, rule string) Mistake {
	return Mistake{File: d.File, Line: d.Line(path), Key: d.show(path), Value: value, Rule: rule}
}

// show writes a path for people: elements by name where they have one.
func (d *Document) show(path string) string {
	var b strings.Builder
	for i := 0; i < len(path); {
		end := strings.IndexByte(path[i:], ']')
		if end < 0 {
			b.WriteString(path[i:])
			break
		}
		end += i + 1
		name, ok := d.names[path[:end]]
		if open := strings.LastIndexByte(path[i:end], '['); ok && open >= 0 {
			b.WriteString(path[i:i+open] + "[" + name + "]")
		} else {
			b.WriteString(path[i:end])
		}
		i = end
	}
	return b.String()
}

// Key makes the path of a key inside a table; the top table is "".
func Key(table, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !bare(r) }) {
		key = strconv.Quote(key)
	}
	if table == "" {
		return key
	}
	return table + "." + key
}

// Element makes the path of an array's element, from 0.
func Element(array string, i int) string {
	return array + "[" + strconv.Itoa(i) + "]"
}

func parent(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// bare says whether TOML lets a rune stand in a key without quotes.
func bare(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

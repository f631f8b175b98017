package strict

import (
	"reflect"
	"strings"
)

// options are what follows the name in a `toml` tag.
type options struct{ secret, date bool }

type field struct {
	index int
	options
}

// fieldsOf lists a struct's keys and the field that takes all other keys.
func fieldsOf(t reflect.Type) (fields map[string]field, rest *field) {
	fields = make(map[string]field, t.NumField())
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("toml"), ",")
		f := field{index: i}
		takesRest := false
		for opt := range strings.SplitSeq(opts, ",") {
			switch opt {
			case "secret":
				f.secret = true
			case "date":
				f.date = true
			case "rest":
				takesRest = true
			}
		}
		switch {
		case takesRest:
			rest = &f
		case name != "" && name != "-":
			fields[name] = f
		}
	}
	return fields, rest
}

const deepest = 8 // tables inside tables: a bound for recursive types

// children are the types of the tables below a table, by key.
func children(t reflect.Type) map[string]reflect.Type {
	fields, _ := fieldsOf(t)
	below := map[string]reflect.Type{}
	for name, f := range fields {
		ft := t.Field(f.index).Type
		for ft.Kind() == reflect.Slice || ft.Kind() == reflect.Pointer {
			ft = ft.Elem()
		}
		if ft.Kind() == reflect.Struct && !reflect.PointerTo(ft).Implements(setterType) {
			below[name] = ft
		}
	}
	return below
}

// elsewhere finds the key in another table of the file: routing.slo_p90 for an
// slo_p90 under [gateway]. With several such tables it names none.
func elsewhere(t reflect.Type, path, key string, depth int) string {
	if depth > deepest {
		return ""
	}
	var found []string
	if fields, _ := fieldsOf(t); path != "" {
		if _, ok := fields[key]; ok {
			found = append(found, Key(path, key))
		}
	}
	for name, below := range children(t) {
		if at := elsewhere(below, Key(path, name), key, depth+1); at != "" {
			found = append(found, at)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// secretsOf lists the names of secret keys.
func secretsOf(t reflect.Type, names []string, depth int) []string {
	if depth > deepest {
		return names
	}
	fields, _ := fieldsOf(t)
	for name, f := range fields {
		if f.secret {
			names = append(names, name)
		}
	}
	for _, below := range children(t) {
		names = secretsOf(below, names, depth+1)
	}
	return names
}

// Nearest finds the known word that a mistyped one was meant to be, or "".
// Letter case does not count; one of them may contain the other.
func Nearest(word string, known []string) string {
	w := strings.ToLower(word)
	best, least := "", 1+max(2, len(word)/3)
	if len(word) <= 3 {
		least = 2 // two changes make any short word of any other
	}
	for _, k := range known {
		n := distance(w, strings.ToLower(k))
		if len(w) >= 3 && len(k) >= 3 && n < longest && (strings.Contains(k, w) || strings.Contains(w, k)) {
			n = min(n, least-1)
		}
		if n < least && n < max(len(w), len(k)) { // not a word that shares no letter
			best, least = k, n
		}
	}
	return best
}

const longest = 64 // bytes of a word that is compared

// distance counts insertions, deletions, replacements and swaps of neighbours
// (optimal string alignment).
func distance(a, b string) int {
	if len(a) > longest || len(b) > longest {
		return longest
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := 1
			if a[i] == b[j] {
				change = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

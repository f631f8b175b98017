package strict

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Setter is a value that reads itself from a TOML string, integer, float or
// boolean. Its error says what it wants, as in `a size such as "64MiB"`.
type Setter interface {
	SetTOML(v any) error
}

var (
	setterType   = reflect.TypeFor[Setter]()
	durationType = reflect.TypeFor[time.Duration]()
	plainName    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,40}$`)
)

// Decode lays a TOML text over the struct that into points to. A text that is
// not TOML gives one mistake and no Document, and changes nothing.
func Decode(file string, data []byte, into any) (*Document, Errors) {
	doc := &Document{File: file, names: map[string]string{}, wrong: map[string]bool{}}
	root := reflect.ValueOf(into).Elem()
	var tree map[string]any
	if _, err := toml.Decode(string(data), &tree); err != nil {
		return nil, Errors{syntax(file, string(data), err, root.Type())}
	}
	doc.lines = locate(string(data))
	d := &decoder{doc: doc, root: root.Type()}
	d.table("", tree, root)
	d.errs.Sort()
	return doc, d.errs
}

type decoder struct {
	doc  *Document
	root reflect.Type
	errs Errors
}

func (d *decoder) fault(path, value, rule, nearest string) {
	d.doc.wrong[path] = true
	m := d.doc.Mistake(path, value, rule)
	m.Nearest = nearest
	d.errs = append(d.errs, m)
}

// wrong reports a value of the wrong type or spelling.
func (d *decoder) wrong(path string, v any, tag options, want string) {
	if tag.secret {
		d.fault(path, "", "want "+want+"; the value is secret and not shown", "")
		return
	}
	d.fault(path, Show(v), want, "")
}

// table decodes the keys of a table into the fields of a struct.
func (d *decoder) table(path string, tree map[string]any, into reflect.Value) {
	fields, rest := fieldsOf(into.Type())
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		at := Key(path, key)
		if f, ok := fields[key]; ok {
			d.value(at, tree[key], into.Field(f.index), f.options)
		} else if rest != nil {
			d.entry(at, key, tree[key], into.Field(rest.index), rest.options)
		} else {
			d.unknown(at, key, slices.Sorted(maps.Keys(fields)))
		}
	}
}

func (d *decoder) unknown(path, key string, known []string) {
	near := Nearest(key, known)
	if near == "" {
		near = elsewhere(d.root, "", key, 0)
	}
	rule := "unknown key"
	if near == "" {
		rule += " (known here: " + strings.Join(known, ", ") + ")"
	}
	d.fault(path, "", rule, near)
}

// entry decodes one key of a map.
func (d *decoder) entry(path, key string, v any, into reflect.Value, tag options) {
	if into.IsNil() {
		into.Set(reflect.MakeMap(into.Type()))
	}
	element := reflect.New(into.Type().Elem()).Elem()
	d.value(path, v, element, tag)
	into.SetMapIndex(reflect.ValueOf(key), element)
}

func (d *decoder) value(path string, v any, into reflect.Value, tag options) {
	if into.CanAddr() && into.Addr().Type().Implements(setterType) {
		if err := into.Addr().Interface().(Setter).SetTOML(v); err != nil {
			d.wrong(path, v, tag, err.Error())
		}
		return
	}
	switch into.Kind() {
	case reflect.Pointer:
		element := reflect.New(into.Type().Elem())
		d.value(path, v, element.Elem(), tag)
		into.Set(element)
	case reflect.Struct:
		if tree, ok := v.(map[string]any); ok {
			d.table(path, tree, into)
		} else {
			d.wrong(path, v, tag, "a table")
		}
	case reflect.Map:
		tree, ok := v.(map[string]any)
		if !ok {
			d.wrong(path, v, tag, "a table")
			return
		}
		for _, key := range slices.Sorted(maps.Keys(tree)) {
			d.entry(Key(path, key), key, tree[key], into, tag)
		}
	case reflect.Slice:
		d.array(path, v, into, tag)
	default:
		d.scalar(path, v, into, tag)
	}
}

// array always makes a new slice: what the struct held before must not shine
// through into the file's elements.
func (d *decoder) array(path string, v any, into reflect.Value, tag options) {
	items := reflect.ValueOf(v)
	if items.Kind() != reflect.Slice {
		want := "an array"
		if into.Type().Elem().Kind() == reflect.Struct && !reflect.PointerTo(into.Type().Elem()).Implements(setterType) {
			want = "an array of tables, [[" + path + "]]"
		}
		d.wrong(path, v, tag, want)
		return
	}
	out := reflect.MakeSlice(into.Type(), items.Len(), items.Len())
	for i := range items.Len() {
		at := Element(path, i)
		item := items.Index(i).Interface()
		if tree, ok := item.(map[string]any); ok {
			if name, ok := tree["name"].(string); ok && plainName.MatchString(name) {
				d.doc.names[at] = name
			}
		}
		d.value(at, item, out.Index(i), tag)
	}
	into.Set(out)
}

func (d *decoder) scalar(path string, v any, into reflect.Value, tag options) {
	if into.Type() == durationType {
		s, _ := v.(string)
		if dur, err := time.ParseDuration(s); err == nil {
			into.SetInt(int64(dur))
		} else {
			d.wrong(path, v, tag, `a duration in quotes, such as "10s"`)
		}
		return
	}
	switch v := v.(type) {
	case string:
		if into.Kind() == reflect.String {
			into.SetString(v)
			return
		}
	case time.Time:
		if into.Kind() == reflect.String && tag.date && isLocalDate(v) {
			into.SetString(v.Format(time.DateOnly))
			return
		}
	case bool:
		if into.Kind() == reflect.Bool {
			into.SetBool(v)
			return
		}
	case int64:
		switch {
		case into.CanInt() && !into.OverflowInt(v):
			into.SetInt(v)
			return
		case into.CanUint() && v >= 0 && !into.OverflowUint(uint64(v)):
			into.SetUint(uint64(v))
			return
		case into.CanFloat():
			into.SetFloat(float64(v))
			return
		}
	case float64:
		if into.CanFloat() && !math.IsNaN(v) && !math.IsInf(v, 0) {
			into.SetFloat(v)
			return
		}
	}
	d.wrong(path, v, tag, wanted(into.Kind(), tag))
}

// isLocalDate says whether the file had a date without a time.
func isLocalDate(t time.Time) bool { return t.Location().String() == "date-local" }

func wanted(k reflect.Kind, tag options) string {
	switch k {
	case reflect.String:
		if tag.date {
			return `a date such as "2026-12-31"`
		}
		return "a string in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64, reflect.Float32:
		return "a finite number"
	case reflect.Uint, reflect.Uint64, reflect.Uint32:
		return "a whole number, 0 or more"
	default:
		return "a whole number"
	}
}

// Show writes a value as a mistake quotes it.
func Show(v any) string {
	switch v := v.(type) {
	case string:
		if r := []rune(v); len(r) > 60 {
			v = string(r[:60]) + "…"
		}
		return strconv.Quote(v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	case time.Time:
		if isLocalDate(v) {
			return v.Format(time.DateOnly)
		}
		return v.Format(time.RFC3339)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// syntax makes the mistake of a text that is not TOML. The library quotes what
// it could not read; where that may be a secret only the line is given.
func syntax(file, text string, err error, root reflect.Type) Mistake {
	m := Mistake{File: file, Line: 1, Rule: "not TOML: " + err.Error()}
	var parse toml.ParseError
	if !errors.As(err, &parse) {
		return m
	}
	m.Line = max(1, parse.Position.Line)
	m.Rule = "not TOML: " + parse.Message
	line := ""
	if lines := strings.Split(text, "\n"); m.Line <= len(lines) {
		line = lines[m.Line-1]
	}
	for _, name := range secretsOf(root, nil, 0) {
		if strings.Contains(line, name) || strings.Contains(parse.LastKey, name) {
			m.Rule = "not TOML: this value cannot be read; it may be secret and is not shown"
		}
	}
	return m
}

package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

// Diff says in short lines what is different in o, the newer one: "routing.attempts
// 3 -> 2", "vendor lanyun: weight 75 -> 70". Vendors, clients and models are told
// apart by name. Secrets only ever "changed".
func (c *Config) Diff(o *Config) []string {
	var lines []string
	a, b := reflect.ValueOf(c).Elem(), reflect.ValueOf(o).Elem()
	for i := range a.NumField() {
		key := keyOf(a.Type().Field(i))
		if a.Field(i).Kind() == reflect.Struct {
			lines = diffStruct(lines, key+".", a.Field(i), b.Field(i))
		}
	}
	lines = diffNamed(lines, "client", c.Clients, o.Clients, func(x Client) string { return x.Name })
	lines = diffNamed(lines, "model", c.Models, o.Models, func(x Model) string { return x.Name })
	return diffNamed(lines, "vendor", c.Vendors, o.Vendors, func(x Vendor) string { return x.Name })
}

func keyOf(f reflect.StructField) string {
	key, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	if key == "" {
		return "name at vendors"
	}
	return key
}

// diffNamed compares two lists whose elements are known by name.
func diffNamed[T any](lines []string, what string, from, to []T, name func(T) string) []string {
	find := func(list []T, n string) int {
		return slices.IndexFunc(list, func(x T) bool { return name(x) == n })
	}
	for _, old := range from {
		if find(to, name(old)) < 0 {
			lines = append(lines, what+" "+name(old)+" removed")
		}
	}
	for _, next := range to {
		i := find(from, name(next))
		if i < 0 {
			lines = append(lines, what+" "+name(next)+" added")
			continue
		}
		lines = diffStruct(lines, what+" "+name(next)+": ", reflect.ValueOf(from[i]), reflect.ValueOf(next))
	}
	return lines
}

func diffStruct(lines []string, prefix string, a, b reflect.Value) []string {
	for i := range a.NumField() {
		f, x, y := a.Type().Field(i), a.Field(i), b.Field(i)
		if reflect.DeepEqual(x.Interface(), y.Interface()) || both(x, y, 0) {
			continue
		}
		line := prefix + keyOf(f)
		switch f.Type.Kind() {
		case reflect.Struct, reflect.Map, reflect.Slice, reflect.Pointer:
			if keyOf(f) == "band" {
				line += fmt.Sprintf(" %v -> %v", x.Interface(), y.Interface())
			} else {
				line += " changed"
			}
		case reflect.String:
			line += fmt.Sprintf(" %q -> %q", shownURL(x.String()), shownURL(y.String()))
		default:
			line += fmt.Sprintf(" %v -> %v", x.Interface(), y.Interface())
		}
		lines = append(lines, line)
	}
	return lines
}

// both says whether two lists or maps have the same length, n: an empty one and
// none are the same.
func both(x, y reflect.Value, n int) bool {
	switch x.Kind() {
	case reflect.Slice, reflect.Map:
		return x.Len() == n && y.Len() == n
	}
	return false
}

// shownURL leaves out of a URL what may hold a key.
func shownURL(s string) string {
	if u, err := url.Parse(s); err == nil && u.Host != "" {
		u.RawQuery = ""
		u.User = nil
		return u.String()
	}
	return s
}

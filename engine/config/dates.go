package config

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// isBlackout accepts a date, or two of them in order with ".." between.
func isBlackout(s string) bool {
	from, to, ranged := strings.Cut(s, "..")
	return isDate(from) && (!ranged || isDate(to) && from <= to)
}

var hours = regexp.MustCompile(`^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$`)

// isHours accepts a span of the day; one that ends before it begins goes over
// midnight.
func isHours(s string) bool {
	from, to, _ := strings.Cut(s, "-")
	return hours.MatchString(s) && from != to
}

// cronFields are the bounds of a schedule's five fields and the names that may
// stand for numbers (crontab(5)).
var cronFields = []struct {
	low, high int
	names     []string
}{
	{0, 59, nil},
	{0, 23, nil},
	{1, 31, nil},
	{1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

// isCron accepts five fields of lists, ranges and steps: "0,30 9-18/2 * * mon-fri".
func isCron(s string) bool {
	fields := strings.Fields(s)
	if len(fields) != len(cronFields) || hasControl(s) {
		return false
	}
	for i, f := range fields {
		for item := range strings.SplitSeq(f, ",") {
			if !isCronItem(i, item) {
				return false
			}
		}
	}
	return true
}

func isCronItem(field int, item string) bool {
	span, step, stepped := strings.Cut(item, "/")
	if stepped {
		if n, err := strconv.ParseUint(step, 10, 8); err != nil || n == 0 {
			return false
		}
	}
	if span == "*" {
		return true
	}
	from, to, ranged := strings.Cut(span, "-")
	low, ok := cronValue(field, from)
	if !ok || !ranged {
		return ok && !stepped
	}
	high, ok := cronValue(field, to)
	return ok && low <= high
}

func cronValue(field int, s string) (int, bool) {
	f := cronFields[field]
	if i := slices.Index(f.names, strings.ToLower(s)); i >= 0 {
		return f.low + i, true
	}
	n, err := strconv.ParseUint(s, 10, 8)
	return int(n), err == nil && int(n) >= f.low && int(n) <= f.high
}

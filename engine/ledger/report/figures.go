package report

import (
	"strconv"
	"strings"
)

const unknown = "-"

// decimals writes a figure; - is not known.
func decimals(v *float64, n int) string {
	if v == nil {
		return unknown
	}
	return group(strconv.FormatFloat(*v, 'f', n, 64))
}

// group sets thousands apart.
func group(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	whole, frac, dotted := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dotted {
		whole += "." + frac
	}
	return sign + whole
}

// Money is a sum: two decimals, more where it is small.
func Money(v *float64) string {
	switch {
	case v == nil:
		return "unpriced"
	case *v != 0 && *v < 1 && *v > -1:
		return decimals(v, 4)
	}
	return decimals(v, 2)
}

// money is one that need not have a price.
func money(v *float64) string {
	if v == nil {
		return unknown
	}
	return Money(v)
}

func small(v *float64) string { return decimals(v, 6) }

func percent(v *float64) string {
	if v == nil {
		return unknown
	}
	return decimals(v, 1) + " %"
}

// part is a part of 1, in percent.
func part(v *float64, n int) string {
	if v == nil {
		return unknown
	}
	p := 100 * *v
	return decimals(&p, n) + " %"
}

func whole(v float64) string { return decimals(&v, 0) }

func count(n int64) string { return group(strconv.FormatInt(n, 10)) }

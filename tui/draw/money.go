package draw

import (
	"math"
	"strconv"
	"strings"
)

// sign is a currency's sign where it has one that is known and no other's, else
// its code.
func sign(currency string, k Look) string {
	if s := map[string]string{"CNY": "¥", "USD": "$", "EUR": "€"}[currency]; s != "" && (!k.ASCII || s == "$") {
		return s
	}
	if currency == "" {
		return ""
	}
	return currency + " "
}

// window writes of how long a time a rate is: 10m, 40s.
func window(s float64) string {
	if s < 120 && s != 60 {
		return strconv.FormatFloat(s, 'f', 0, 64) + "s"
	}
	return strconv.FormatFloat(math.Round(s/60), 'f', 0, 64) + "m"
}

// Money writes an amount in the ledger's currency: two decimals, below 1 three
// figures that matter, commas from a thousand on.
func Money(v *float64) string {
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return unknown
	}
	a := math.Abs(*v)
	switch {
	case a >= 999.995:
		return Count(int64(math.Round(*v)))
	case a >= 1 || a == 0:
		return strconv.FormatFloat(*v, 'f', 2, 64)
	case a < 0.000005:
		return "<0.00001"
	}
	s := strconv.FormatFloat(*v, 'f', 2-int(math.Floor(math.Log10(a))), 64)
	for strings.HasSuffix(s, "0") && len(s)-strings.IndexByte(s, '.') > 3 {
		s = s[:len(s)-1]
	}
	return s
}

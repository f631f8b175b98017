package draw

import (
	"math"
	"strconv"
	"strings"
)

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

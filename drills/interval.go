package drills

import (
	"fmt"
	"math"

	"baton/engine/window"
)

// z is the 0.975 quantile of the normal distribution.
const z = 1.959964

// wilson is the 95 % interval of a part of which ok of n were seen (Wilson 1927,
// without continuity correction).
func wilson(ok, n int64) (low, high float64) {
	if n <= 0 {
		return 0, 1
	}
	p, m := float64(ok)/float64(n), float64(n)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max(0, middle-half), min(1, middle+half)
}

// share is a part with its count and its interval, in words.
func share(ok, n int64) string {
	low, high := wilson(ok, n)
	return fmt.Sprintf("%.5f: %d of %d failed (95 %%: %.5f to %.5f)", float64(ok)/float64(n), n-ok, n, low, high)
}

// ranks are those of the ordered samples between which the q-quantile of what
// they are drawn from lies, with 95 %: the largest l with P(B < l) <= 0.025 and the
// smallest u with P(B < u) >= 0.975, where B is binomial of n and q. l is 0 and u is
// n+1 where there is no such sample.
func ranks(n int, q float64) (l, u int) {
	below := 0.0 // P(B <= k)
	lq, lp := math.Log(q), math.Log1p(-q)
	top, _ := math.Lgamma(float64(n) + 1)
	u = n + 1
	for k := range n + 1 {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(float64(n-k) + 1)
		below += math.Exp(top - a - b + float64(k)*lq + float64(n-k)*lp)
		if below <= 0.025 {
			l = k + 1
		}
		if below >= 0.975 {
			u = k + 1
			break
		}
	}
	return l, u
}

// ranked is the sample of a rank from 1, in milliseconds.
func ranked(h *window.Histogram, rank int) float64 {
	d, _ := h.Quantile(float64(rank) / float64(h.Count()))
	return millis(d)
}

// p99Text is the P99 with its count and its interval, in words.
func p99Text(h *window.Histogram) string {
	n := h.Count()
	if n == 0 {
		return "no first token"
	}
	l, u := ranks(n, 0.99)
	from, to := "", ""
	if l >= 1 {
		from = fmt.Sprintf("%.0f", ranked(h, l))
	}
	if u <= n {
		to = fmt.Sprintf("%.0f", ranked(h, u))
	}
	between := from + " to " + to + " ms"
	switch {
	case from == "":
		between = "not known"
	case to == "":
		between = "over " + from + " ms"
	}
	return fmt.Sprintf("%s ms (n=%d, 95 %%: %s)", figure(quantile(h, 0.99)), n, between)
}

package tui

import (
	"math"
	"sort"
)

// toHundred rounds weights to whole percents that sum to 100, by the largest
// remainder. Weights that are not numbers count as 0; if all are 0 they become
// equal.
func toHundred(w []float64) []float64 {
	return share(100, w)
}

// share divides total, a whole number, into whole parts in proportion to w.
func share(total float64, w []float64) []float64 {
	out := make([]float64, len(w))
	if len(w) == 0 || total <= 0 {
		return out
	}
	sum := 0.0
	part := func(i int) float64 {
		if x := w[i]; x > 0 && !math.IsInf(x, 0) {
			return x
		}
		return 0
	}
	for i := range w {
		sum += part(i)
	}
	type remainder struct {
		i int
		r float64
	}
	rest := total
	rs := make([]remainder, len(w))
	for i := range w {
		x := total / float64(len(w))
		if sum > 0 {
			x = total * part(i) / sum
		}
		out[i] = math.Floor(x + 1e-9)
		rest -= out[i]
		rs[i] = remainder{i, x - out[i]}
	}
	sort.SliceStable(rs, func(a, b int) bool { return rs[a].r > rs[b].r })
	for i := 0; rest >= 1 && i < len(rs); i++ {
		out[rs[i].i]++
		rest--
	}
	return out
}

// spread sets weight i of w to v and lets the others, except the fixed ones,
// make room in proportion to what they have. w holds whole percents that sum to
// 100. It gives false when nobody can make room.
func spread(w []float64, i int, v float64, fixed []bool) ([]float64, bool) {
	room := 100.0
	var free []int
	var have []float64
	for j := range w {
		switch {
		case j == i:
		case fixed[j]:
			room -= w[j]
		default:
			free = append(free, j)
			have = append(have, w[j])
		}
	}
	if len(free) == 0 {
		return w, false
	}
	v = min(max(math.Round(v), 0), max(room, 0))
	out := append([]float64(nil), w...)
	out[i] = v
	for k, x := range share(room-v, have) {
		out[free[k]] = x
	}
	return out, true
}

// equalise gives all but the fixed ones the same.
func equalise(w []float64, fixed []bool) []float64 {
	out := append([]float64(nil), w...)
	room := 100.0
	var free []int
	for j := range w {
		if fixed[j] {
			room -= w[j]
		} else {
			free = append(free, j)
		}
	}
	for k, x := range share(max(room, 0), make([]float64, len(free))) {
		out[free[k]] = x
	}
	return out
}

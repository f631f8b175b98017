package tui

import (
	"math"
	"sort"

	"baton/engine/control"
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

// percents are the whole percents of all vendors, each row rounded together so
// that it sums to 100. A share that is not known is -1.
type percents struct {
	of                    *control.Snapshot
	weight, target, share []float64
}

func percentsOf(s *control.Snapshot) percents {
	n := len(s.Vendors)
	p := percents{s, make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range s.Vendors {
		v := &s.Vendors[i]
		p.weight[i], p.target[i] = v.Weight, v.Target
		if v.Share10s != nil {
			p.share[i] = *v.Share10s
		}
	}
	p.weight, p.target, p.share = together(p.weight), together(p.target), together(p.share)
	for i := range s.Vendors {
		if s.Vendors[i].Share10s == nil {
			p.share[i] = -1
		}
	}
	return p
}

// together rounds percents to whole ones that sum to 100, if they do so before;
// others are rounded one by one.
func together(w []float64) []float64 {
	sum := 0.0
	out := make([]float64, len(w))
	for i, x := range w {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			x = 0
		}
		out[i] = math.Round(x)
		sum += x
	}
	if math.Abs(sum-100) > 0.5 {
		return out
	}
	return toHundred(w)
}

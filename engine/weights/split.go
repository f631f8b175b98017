package weights

import "math"

// interactiveMin is the part of interactive traffic that every vendor with weight keeps, so that its
// interactive latency is known.
const interactiveMin = 0.05

// Split divides weights, which are of all traffic, into the fractions by which interactive and batch requests
// are spread; batch is the batch part of what is offered, 0 to 1. Batch work fills the vendors other than
// primary first, pro rata to their weights, and then the primary; interactive work takes what remains, with at
// least 5 % of it on every vendor that has weight, never more than the weight. Together the lanes carry
// exactly the weights.
//
// Vendors whose may is false get nothing and leave their part to the others; nil means everybody may. Each
// result sums to 1; both are all zeros when nobody may. A primary out of range means there is none.
func Split(weights []float64, primary int, batch float64, may []bool) (interactive, batchSplit []float64) {
	n := len(weights)
	w, reserve, room := make([]float64, n), make([]float64, n), make([]float64, n)
	interactive, batchSplit = make([]float64, n), make([]float64, n)
	allowed(w, weights, may)
	// At either end one lane is empty; its split is the limit, so that the first request of it goes right.
	b := clampFinite(batch, 1e-6, 1-1e-6)
	i := 1 - b
	least := math.Min(interactiveMin, 1/float64(max(n, 1)))
	for k := range w {
		reserve[k] = math.Min(least*i, w[k])
		room[k] = w[k] - reserve[k]
	}
	left := pour(batchSplit, w, room, b, func(k int) bool { return k != primary })
	pour(batchSplit, w, room, left, func(k int) bool { return k == primary || primary < 0 || primary >= n })
	for k := range w {
		interactive[k] = math.Max(w[k]-batchSplit[k], 0)
	}
	normalise(interactive)
	normalise(batchSplit)
	return interactive, batchSplit
}

// allowed writes the weights of those that may, summing to 1; in equal parts if they have none.
func allowed(w, weights []float64, may []bool) {
	total := 0.0
	can := func(k int) bool { return may == nil || k < len(may) && may[k] }
	for k := range w {
		if can(k) {
			w[k] = clampFinite(weights[k], 0, 1e6)
			total += w[k]
		}
	}
	for k := range w {
		if total == 0 && can(k) {
			w[k] = 1
		}
	}
	normalise(w)
}

// pour adds amount to the chosen ones of into, pro rata to weights and never above room, and returns what found
// no room.
func pour(into, weights, room []float64, amount float64, chosen func(int) bool) float64 {
	for range weights {
		open := 0.0
		for k := range weights {
			if chosen(k) && room[k]-into[k] > 1e-12 {
				open += weights[k]
			}
		}
		if open == 0 || amount < 1e-12 {
			break
		}
		spread := amount
		for k := range weights {
			if chosen(k) && room[k]-into[k] > 1e-12 {
				part := math.Min(spread*weights[k]/open, room[k]-into[k])
				into[k] += part
				amount -= part
			}
		}
	}
	return math.Max(amount, 0)
}

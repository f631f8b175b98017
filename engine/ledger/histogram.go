package ledger

import (
	"maps"
	"math"
	"slices"

	"baton/engine/control"
)

// histogram is weighted latencies by bucket.
type histogram struct {
	by map[int]float64
	n  float64
}

func (h *histogram) add(bucket int, n float64) {
	if h.by == nil {
		h.by = map[int]float64{}
	}
	h.by[bucket] += n
	h.n += n
}

// merge adds o, each of its samples with a weight.
func (h *histogram) merge(o *histogram, weight float64) {
	for b, n := range o.by {
		h.add(b, n*weight)
	}
}

// quantile is the nearest rank, in milliseconds; nil of nothing.
func (h *histogram) quantile(q float64) *float64 {
	if h.n <= 0 {
		return nil
	}
	seen, last := 0.0, 0
	for _, b := range slices.Sorted(maps.Keys(h.by)) {
		last = b
		if seen += h.by[b]; seen >= q*h.n-1e-9 {
			break
		}
	}
	return control.Figure(math.Round(10*milliseconds(last)) / 10)
}

func (h *histogram) latency() control.Latency {
	return control.Latency{Count: int(h.n), P50ms: h.quantile(0.5), P90ms: h.quantile(0.9), P99ms: h.quantile(0.99), Maxms: h.quantile(1)}
}

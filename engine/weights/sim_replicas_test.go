package weights

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// replicas are gateways that act alone on the same vendors.
type replicas struct {
	v       []*simVendor   // the vendors as they are
	seen    [][]*simVendor // what each gateway has seen of them: only windows are used
	laws    []*Law
	w       [][]float64
	history [][][]float64
	rate    float64
	rng     *rand.Rand
	events  simEvents
	next    float64
	owner   map[*simRequest]int
}

func newReplicas(n int, rate float64, start []simConditions, seed uint64) *replicas {
	r := &replicas{rate: rate, rng: rand.New(rand.NewPCG(seed, 31)), owner: map[*simRequest]int{}}
	for _, c := range start {
		r.v = append(r.v, newSimVendor(c))
	}
	for range n {
		var seen []*simVendor
		for _, c := range start {
			seen = append(seen, newSimVendor(c))
		}
		r.seen = append(r.seen, seen)
		r.laws = append(r.laws, New(Default()))
		r.w = append(r.w, []float64{0.75, 0.25})
		r.history = append(r.history, nil)
	}
	r.next = r.rng.ExpFloat64() / rate
	return r
}

func (r *replicas) second(at float64) {
	for r.next < at || len(r.events) > 0 && r.events[0].at < at {
		if len(r.events) > 0 && r.events[0].at < r.next {
			r.end(heap.Pop(&r.events).(simEvent))
			continue
		}
		r.arrive(r.next)
		r.next += r.rng.ExpFloat64() / r.rate
	}
	for g := range r.laws {
		ms := make([]Measure, len(r.v))
		for i, v := range r.seen[g] {
			v.turn()
			ms[i] = r.measure(v, i, at)
		}
		r.w[g] = r.laws[g].Tick(simTime(at), ms, nil).Weights
		r.history[g] = append(r.history[g], slices.Clone(r.w[g]))
	}
}

func (r *replicas) arrive(now float64) {
	g := r.rng.IntN(len(r.laws))
	i := 0
	if r.rng.Float64() >= r.w[g][0] {
		i = 1
	}
	v, seen := r.v[i], r.seen[g][i]
	seen.second().sent++
	seen.second().requests[Stream]++
	q := &simRequest{at: now, vendor: i, slot: len(seen.inFlight)}
	seen.inFlight = append(seen.inFlight, q)
	r.owner[q] = g
	if v.busy < v.slots() {
		v.start(&r.events, now, q, r.rng)
	} else {
		v.queue = append(v.queue, q)
	}
}

func (r *replicas) end(e simEvent) {
	q, v := e.req, r.v[e.req.vendor]
	v.busy--
	for v.busy < v.slots() && len(v.queue) > 0 {
		head := v.queue[0]
		v.queue = v.queue[1:]
		v.start(&r.events, e.at, head, r.rng)
	}
	seen := r.seen[r.owner[q]][q.vendor]
	delete(r.owner, q)
	seen.leave(q)
	seen.second().ok++
	seen.record(Stream, e.at-q.at)
}

func (r *replicas) measure(v *simVendor, i int, now float64) Measure {
	base := []float64{0.75, 0.25}[i]
	m := Measure{Name: fmt.Sprint("v", i), Base: base, Band: [2]float64{base - 0.05, base + 0.05}, Cap: math.Inf(1)}
	for k := range m.Latency {
		for w := range m.Latency[k].P90 {
			m.Latency[k].P90[w], m.Latency[k].N[w] = v.p90(w, Kind(k), now, nil)
		}
	}
	m.Latency[Stream].Requests60 = v.over(60, func(x *simSecond) int { return x.sent })
	m.FirstTokenP90 = m.Latency[Stream].P90[1]
	m.Known10, m.Known60 = v.over(10, knownOf), v.over(60, knownOf)
	return m
}

// mean is the weights of all traffic.
func (r *replicas) mean() (out [][]float64) {
	for at := range r.history[0] {
		w := make([]float64, len(r.v))
		for g := range r.laws {
			for i := range w {
				w[i] += r.history[g][at][i] / float64(len(r.laws))
			}
		}
		out = append(out, w)
	}
	return out
}

package weights

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"time"
)

// This file simulates a vendor request by request: a pool of slots with a queue in front, lognormal service
// times, an error rate, a limiter, and what its clients see of it.

// simConditions are what a scenario changes while it runs.
type simConditions struct {
	factor    float64 // service time relative to normal
	capacity  float64 // requests per second
	errors    float64 // part of answers that are faults
	blackhole bool    // takes requests and never answers
	limit     float64 // requests per second before 429, 0 none
	elastic   bool    // service slows with load, as on a shared accelerator
}

type simRequest struct {
	at     float64
	vendor int
	kind   Kind
	fate   int8 // 0 open, 1 ended
	slot   int  // in the vendor's in-flight list
	trial  bool
}

type simEvent struct {
	at  float64
	req *simRequest
	end int8 // 0 finish of service, 1 timeout
}

type simEvents []simEvent

func (h simEvents) Len() int           { return len(h) }
func (h simEvents) Less(i, j int) bool { return h[i].at < h[j].at }
func (h simEvents) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *simEvents) Push(x any)        { *h = append(*h, x.(simEvent)) }
func (h *simEvents) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

const (
	simMedian = 0.300 // seconds to the first token, unloaded
	simSigma  = 0.35
	simOctave = 16
	simBins   = 16 * simOctave // from 1 ms up
)

var simMean = simMedian * math.Exp(simSigma*simSigma/2)

func simBin(x float64) int {
	return min(max(int(math.Log2(x/0.001)*simOctave), 0), simBins-1)
}

func simValue(bin int) float64 { return 0.001 * math.Exp2((float64(bin)+0.5)/simOctave) }

// simSecond is what one vendor did in one second.
type simSecond struct {
	bins                [Kinds][]uint32
	requests            [Kinds]int
	ok, faults, limited int
	sent                int
}

// simVendor is one vendor and what is measured of it.
type simVendor struct {
	c        simConditions
	busy     int
	queue    []*simRequest
	inFlight []*simRequest
	refill   float64 // the vendor's own limiter
	tokens   float64

	seconds [301]simSecond
	now     int
	sums    [3][Kinds][]uint32
	count   [3][Kinds]int
	lastOK  float64
	inARow  int
	health  simHealth
	cap     simCap
	admit   float64 // tokens of the admission bucket
}

func newSimVendor(c simConditions) *simVendor {
	v := &simVendor{c: c}
	v.cap.base = math.NaN()
	for i := range v.seconds {
		for k := range v.seconds[i].bins {
			v.seconds[i].bins[k] = make([]uint32, simBins)
		}
	}
	for w := range v.sums {
		for k := range v.sums[w] {
			v.sums[w][k] = make([]uint32, simBins)
		}
	}
	return v
}

func (v *simVendor) slots() int {
	n := v.c.capacity * simMean * v.c.factor
	if v.c.elastic {
		n *= 3
	}
	return max(int(n+0.5), 1)
}

func (v *simVendor) second() *simSecond { return &v.seconds[v.now%len(v.seconds)] }

// turn begins a new second: windows lose their oldest and the ring its oldest entry.
func (v *simVendor) turn() {
	for w, length := range [3]int{10, 60, 300} {
		if v.now-length >= 0 {
			old := &v.seconds[(v.now-length)%len(v.seconds)]
			for k := range old.bins {
				for b, n := range old.bins[k] {
					v.sums[w][k][b] -= n
					v.count[w][k] -= int(n)
				}
			}
		}
	}
	v.now++
	s := v.second()
	for k := range s.bins {
		clear(s.bins[k])
	}
	bins := s.bins
	*s = simSecond{bins: bins}
}

func (v *simVendor) record(k Kind, latency float64) {
	b := simBin(latency)
	v.second().bins[k][b]++
	for w := range v.sums {
		v.sums[w][k][b]++
		v.count[w][k]++
	}
}

// p90 of a window, with every request in flight that is older than it added at its age.
func (v *simVendor) p90(w int, k Kind, now float64, scratch []float64) (float64, int) {
	n := v.count[w][k]
	if n == 0 {
		return math.NaN(), 0
	}
	plain := v.rank(w, k, n, nil)
	older := scratch[:0]
	for _, r := range v.inFlight {
		if r.kind == k && now-r.at > plain {
			older = append(older, now-r.at)
		}
	}
	if len(older) == 0 {
		return plain, n
	}
	return v.rank(w, k, n+len(older), older), n + len(older)
}

func (v *simVendor) rank(w int, k Kind, n int, older []float64) float64 {
	var extra [simBins]uint32
	for _, age := range older {
		extra[simBin(age)]++
	}
	above := n - int(math.Ceil(0.9*float64(n)))
	for b := simBins - 1; b >= 0; b-- {
		above -= int(v.sums[w][k][b] + extra[b])
		if above < 0 {
			return simValue(b)
		}
	}
	return math.NaN()
}

// over sums the last n whole seconds.
func (v *simVendor) over(n int, f func(*simSecond) int) (total int) {
	for i := 1; i <= n && v.now-i >= 0; i++ {
		total += f(&v.seconds[(v.now-i)%len(v.seconds)])
	}
	return total
}

func faultsOf(s *simSecond) int { return s.faults }
func knownOf(s *simSecond) int  { return s.ok + s.faults }

// simHealth holds the simple rules of ejection, trial and ramp.
type simHealth struct {
	state     State
	since     float64
	trialAt   float64
	n         int // times the ramp is longer for falling in it
	calm      float64
	ejections int
	good      bool // a trial succeeded
	probes    int  // good in a row
}

const simTimeout = 10.0

func (v *simVendor) watch(now float64) {
	h := &v.health
	switch h.state {
	case Well, Ramp:
		n10, bad := v.over(10, knownOf), v.over(10, faultsOf)
		late := 0
		for _, r := range v.inFlight {
			if now-r.at > simTimeout-1 {
				late++
			}
		}
		if n10 >= 20 && bad*2 >= n10 || late >= 10 && now-v.lastOK > 5 || n10 < 20 && v.inARow >= 5 {
			if h.state == Ramp {
				h.n = min(h.n+1, 5)
			}
			*h = simHealth{state: Down, since: now, trialAt: now + 10, n: max(h.n, 1), ejections: h.ejections + 1}
			v.cap = simCap{base: math.NaN()}
			return
		}
		if h.state == Ramp && now-h.since >= h.length() {
			h.state, h.since, h.calm = Well, now, now
		}
		if h.state == Well && now-h.calm > 300 {
			h.n, h.calm = max(h.n-1, 1), now
		}
	case Down:
		if int(now)%2 == 0 {
			h.probes++
			if v.c.blackhole || v.c.errors > 0.5 {
				h.probes = 0
			}
		}
		if h.good && h.probes >= 2 {
			h.state, h.since, h.good = Ramp, now, false
			v.inARow = 0
		}
	}
}

func (h *simHealth) length() float64 { return 60 * float64(max(h.n, 1)) }

// simCap learns what a vendor takes, from refusals and from offered against completed.
type simCap struct {
	limit     float64 // allowed per second, 0 none
	base      float64 // least latency seen
	saturated int
	refused   bool
}

func (v *simVendor) learn(total float64, l float64) {
	c := &v.cap
	if !math.IsNaN(l) {
		if math.IsNaN(c.base) {
			c.base = l
		}
		c.base = math.Min(c.base*1.0005, l)
	}
	n10 := v.over(10, func(s *simSecond) int { return s.ok + s.faults + s.limited })
	refused := v.over(10, func(s *simSecond) int { return s.limited })
	sent5, done5 := v.over(5, func(s *simSecond) int { return s.sent }), v.over(5, knownOf)
	sent10 := v.over(10, func(s *simSecond) int { return s.sent })
	before := sent10 - sent5
	steady := math.Abs(float64(sent5-before)) <= 0.25*float64(max(before, 1))
	queueing := steady && sent5 >= 20 && l > 2.5*c.base && float64(sent5-done5) > 0.05*float64(sent5) && float64(done5) > 0.3*float64(sent5)
	if queueing {
		c.saturated++
	} else {
		c.saturated = 0
	}
	c.refused = n10 >= 20 && float64(refused) > 0.01*float64(n10)
	switch {
	case c.refused:
		accepted := v.over(5, func(s *simSecond) int { return s.ok + s.faults })
		if learned := 0.95 * float64(accepted) / 5; c.limit == 0 || learned < c.limit {
			c.limit = math.Max(learned, 1)
		}
	case c.saturated >= 8: // a brownout is not a limit: a step in latency passes in 5 + a few
		c.limit, c.saturated = math.Max(0.95*float64(done5)/5, 1), 0
	case c.limit > 0:
		c.limit *= 1.005
		if c.limit > 2*total {
			c.limit = 0
		}
	}
}

func (v *simVendor) start(e *simEvents, now float64, r *simRequest, rng *rand.Rand) {
	v.busy++
	factor := v.c.factor
	if v.c.elastic {
		u := float64(v.busy) / float64(v.slots())
		factor *= 1 + 2*u*u
	}
	service := factor * simMedian * math.Exp(simSigma*rng.NormFloat64())
	heap.Push(e, simEvent{at: now + service, req: r})
}

func (v *simVendor) leave(r *simRequest) {
	last := v.inFlight[len(v.inFlight)-1]
	v.inFlight[r.slot], last.slot = last, r.slot
	v.inFlight = v.inFlight[:len(v.inFlight)-1]
}

func simTime(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

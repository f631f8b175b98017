package weights

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// simScenario is one row of the table.
type simScenario struct {
	name     string
	length   float64
	rate     func(t float64) float64
	base     []float64
	start    []simConditions
	change   func(t float64, v []*simVendor) // once a second, before the tick
	event    float64                         // when things happen, to count settling from; 0 none
	wellAt   float64                         // when they are over, to count the way back from
	batch    float64                         // part of requests that are whole answers in the batch lane
	tune     func(*Params)
	tick     func(s *sim, t float64)
	limited  bool    // a cap moves weights at once, so more turns are allowed
	settleIn float64 // points around the final weight that count as settled
}

// sim is one run of a scenario.
type sim struct {
	sc      simScenario
	naive   bool
	rng     *rand.Rand
	v       []*simVendor
	events  simEvents
	law     *Law
	pick    [2]Picker
	split   [2][]float64
	w       []float64
	history [][]float64
	carried [][]int // requests per second and vendor
	scratch []float64

	requests, faults, limited int
	all                       []uint32
	afterEarly, afterRequests int // faults and refusals, requests, later than 15 s after the event
}

func newSim(sc simScenario, naive bool, seed uint64) *sim {
	s := &sim{sc: sc, naive: naive, rng: rand.New(rand.NewPCG(seed, 77)), scratch: make([]float64, 0, 4096), all: make([]uint32, simBins)}
	for _, c := range sc.start {
		s.v = append(s.v, newSimVendor(c))
	}
	p := Default()
	if sc.tune != nil {
		sc.tune(&p)
	}
	s.law = New(p)
	s.w = slices.Clone(sc.base)
	s.resplit()
	return s
}

func (s *sim) resplit() {
	may := make([]bool, len(s.v))
	for i, v := range s.v {
		may[i] = v.health.state.living() || sum(s.w) > 0 && s.w[i] > 0
	}
	s.split[0], s.split[1] = Split(s.w, 0, s.sc.batch, may)
}

func (s *sim) run() *sim {
	next := s.rng.ExpFloat64() / s.sc.rate(0)
	s.carried = append(s.carried, make([]int, len(s.v)))
	for second := 1.0; second <= s.sc.length; second++ {
		for next < second || len(s.events) > 0 && s.events[0].at < second {
			if len(s.events) > 0 && s.events[0].at < next {
				s.end(heap.Pop(&s.events).(simEvent))
				continue
			}
			s.arrive(next)
			next += s.rng.ExpFloat64() / s.sc.rate(next)
		}
		s.second(second)
	}
	return s
}

// arrive sends one request where the picker says, or to another vendor when admission has no token.
func (s *sim) arrive(now float64) {
	lane, kind := 0, Stream
	if s.sc.batch > 0 && s.rng.Float64() < s.sc.batch {
		lane, kind = 1, Whole
	}
	s.requests++
	if now > s.sc.event+15 {
		s.afterRequests++
	}
	i := s.trial(now)
	trial := i >= 0
	if !trial {
		i = s.pick[lane].Pick(s.split[lane], func(i int) bool { return s.naive || s.v[i].cap.limit == 0 || s.v[i].admit >= 1 })
		if i < 0 {
			i = s.pick[lane].Pick(s.split[lane], all)
		}
	}
	v := s.v[i]
	v.admit = math.Max(v.admit-1, 0)
	s.carried[len(s.carried)-1][i]++
	sec := v.second()
	sec.sent++
	sec.requests[kind]++
	if v.c.limit > 0 {
		v.tokens = math.Min(v.tokens+(now-v.refill)*v.c.limit, math.Max(v.c.limit/10, 2))
		v.refill = now
		if v.tokens < 1 {
			sec.limited++
			s.limited++
			s.hurt(now)
			return
		}
		v.tokens--
	}
	r := &simRequest{at: now, vendor: i, kind: kind, slot: len(v.inFlight), trial: trial}
	v.inFlight = append(v.inFlight, r)
	if !v.c.blackhole {
		if v.busy < v.slots() {
			v.start(&s.events, now, r, s.rng)
		} else {
			v.queue = append(v.queue, r)
		}
	}
	heap.Push(&s.events, simEvent{at: now + simTimeout, req: r, end: 1})
}

func (s *sim) trial(now float64) int {
	for i, v := range s.v {
		if h := &v.health; h.state == Down && now >= h.trialAt {
			h.trialAt = now + 10
			return i
		}
	}
	return -1
}

func (s *sim) hurt(now float64) {
	if s.sc.event > 0 && now > s.sc.event+15 {
		s.afterEarly++
	}
}

func (s *sim) end(e simEvent) {
	r, v := e.req, s.v[e.req.vendor]
	if e.end == 0 {
		v.busy--
		for v.busy < v.slots() && len(v.queue) > 0 {
			head := v.queue[0]
			v.queue = v.queue[1:]
			if head.fate == 0 {
				v.start(&s.events, e.at, head, s.rng)
			}
		}
	}
	if r.fate != 0 {
		return
	}
	r.fate = 1
	v.leave(r)
	latency := e.at - r.at
	s.all[simBin(latency)]++
	ok := e.end == 0 && s.rng.Float64() >= v.c.errors
	if ok {
		v.second().ok++
		v.record(r.kind, latency)
		v.lastOK, v.inARow = e.at, 0
		v.health.good = v.health.good || r.trial
		return
	}
	v.second().faults++
	v.inARow++
	s.faults++
	s.hurt(e.at)
}

// second closes a second: conditions, health, caps, the law.
func (s *sim) second(now float64) {
	if s.carried == nil {
		s.carried = append(s.carried, make([]int, len(s.v)))
	}
	for _, v := range s.v {
		v.turn()
	}
	if s.sc.change != nil {
		s.sc.change(now, s.v)
	}
	total := 0
	for _, v := range s.v {
		total += v.over(5, func(x *simSecond) int { return x.sent })
	}
	rate := float64(total) / 5
	ms := make([]Measure, len(s.v))
	for i, v := range s.v {
		v.watch(now)
		ms[i] = s.measure(i, now, rate)
		if !s.naive {
			v.admit = math.Min(v.admit+v.cap.limit, math.Max(v.cap.limit*1.1, 2))
		}
	}
	if s.naive {
		s.w = naiveLaw(s.w, ms)
	} else {
		s.w = s.law.Tick(simTime(now), ms, nil).Weights
	}
	s.resplit()
	s.history = append(s.history, slices.Clone(s.w))
	s.carried = append(s.carried, make([]int, len(s.v)))
	if s.sc.tick != nil {
		s.sc.tick(s, now)
	}
}

func (s *sim) measure(i int, now, rate float64) Measure {
	v := s.v[i]
	m := Measure{Name: fmt.Sprint("v", i), Base: s.sc.base[i], State: v.health.state, Cap: math.Inf(1)}
	m.Band = [2]float64{math.Max(m.Base-0.05, 0), math.Min(m.Base+0.05, 1)}
	m.RampFor = time.Duration((now - v.health.since) * float64(time.Second))
	m.RampLen = time.Duration(v.health.length() * float64(time.Second))
	for k := range m.Latency {
		for w := range m.Latency[k].P90 {
			m.Latency[k].P90[w], m.Latency[k].N[w] = v.p90(w, Kind(k), now, s.scratch)
		}
		m.Latency[k].Requests60 = v.over(60, func(x *simSecond) int { return x.requests[k] })
	}
	m.FirstTokenP90 = m.Latency[Stream].P90[1]
	m.Faults10, m.Known10 = v.over(10, faultsOf), v.over(10, knownOf)
	m.Faults60, m.Known60 = v.over(60, faultsOf), v.over(60, knownOf)
	if s.naive || !v.health.state.living() {
		return m
	}
	l := math.NaN()
	if m.Latency[Stream].N[0] >= 50 {
		l = m.Latency[Stream].P90[0]
	}
	v.learn(rate, l)
	if v.cap.limit > 0 && rate > 0 {
		m.Cap = math.Max(math.Min(v.cap.limit/rate, 1), 0.05)
		m.Limited = v.cap.refused || v.cap.saturated > 0
	}
	return m
}

// naiveLaw is what most people would write: weight in proportion to 1/P90 over 10 s, undamped.
func naiveLaw(w []float64, ms []Measure) []float64 {
	out := make([]float64, len(ms))
	for i := range ms {
		p := ms[i].Latency[Stream].P90[0]
		if !ms[i].State.living() {
			continue
		}
		out[i] = w[i]
		if p > 0 {
			out[i] = ms[i].Base / p
		}
		out[i] = math.Max(out[i], 1e-6)
	}
	if sum(out) == 0 {
		for i := range ms {
			out[i] = ms[i].Base
		}
	}
	normalise(out)
	for i := range ms {
		if ms[i].State.living() {
			out[i] = math.Max(out[i], 0.05)
		}
	}
	normalise(out)
	return out
}

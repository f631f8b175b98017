package admission

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

var t0 = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

func at(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

// This file simulates a gateway in front of vendors a request at a time: Poisson
// arrivals, lognormal first tokens, and nothing known of a vendor but its Limit.

// simVendor is a vendor with places and a line in front of them. A request has its
// first token after first seconds of work and holds its place for rest more.
type simVendor struct {
	slots  int
	first  float64 // median seconds
	sigma  float64
	rest   float64 // seconds of the stream
	slow   float64 // factor, 1 is normal
	shared bool    // no line: all get a part, and each is slower by 1 + load
	dead   bool

	busy     int
	line     []*simRequest
	inFlight int
	batch    int // of them
	awaiting int // of them, those without a first token
	limit    Limit
}

type simRequest struct {
	lane    Lane
	kind    Kind
	arrived float64
	begun   float64
	vendor  int
	gone    bool // refused, or the client has left
	w       Waiter
}

const (
	evArrive = iota
	evFirst
	evDone
	evPatience
)

type simEvent struct {
	at   float64
	kind int
	r    *simRequest
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

// sim is a gateway in front of vendors, a request at a time. It knows the vendors
// by their limits only, as the engine does.
type sim struct {
	rng      *rand.Rand
	v        []*simVendor
	weights  []float64
	q        Queue
	events   simEvents
	rate     func(t float64) float64
	batch    float64
	whole    float64 // part of whole answers
	budget   time.Duration
	deadline float64
	change   func(t float64)
	turn     []float64

	seconds []simSecond
}

// simSecond is what became of what happened in a second.
type simSecond struct {
	arrived, done, shed [Lanes]int
	first               []float64 // from the arrival, of interactive streams begun in it
	limit               []float64
}

func newSim(seed uint64, v ...*simVendor) *sim {
	s := &sim{rng: rand.New(rand.NewPCG(seed, 5)), v: v, budget: time.Second, deadline: 600, q: Queue{MaxBatch: 1000}}
	for _, x := range v {
		x.slow = 1
		s.weights = append(s.weights, 1/float64(len(v)))
	}
	s.turn = make([]float64, len(v))
	return s
}

func (s *sim) second(t float64) *simSecond {
	for int(t) >= len(s.seconds) {
		s.seconds = append(s.seconds, simSecond{limit: make([]float64, len(s.v))})
	}
	return &s.seconds[int(t)]
}

// capacity is answers per second of a vendor that is well.
func (v *simVendor) capacity() float64 {
	return float64(v.slots) / ((v.first + v.rest) * math.Exp(v.sigma*v.sigma/2))
}

func (s *sim) run(length float64) {
	heap.Push(&s.events, simEvent{at: 0.001, kind: evArrive})
	tick := 1.0
	for len(s.events) > 0 {
		e := heap.Pop(&s.events).(simEvent)
		if e.at > length {
			return
		}
		for e.at > tick {
			if s.change != nil {
				s.change(tick)
			}
			for i, v := range s.v {
				v.limit.Tick(at(tick), v.inFlight)
				s.second(tick).limit[i], _ = v.limit.Value()
			}
			s.serve(tick)
			tick++
		}
		s.handle(e)
	}
}

func (s *sim) handle(e simEvent) {
	now := e.at
	switch e.kind {
	case evArrive:
		heap.Push(&s.events, simEvent{at: now + s.rng.ExpFloat64()/s.rate(now), kind: evArrive})
		r := &simRequest{arrived: now}
		if s.rng.Float64() < s.batch {
			r.lane = Batch
		}
		if s.rng.Float64() < s.whole {
			r.kind = Whole
		}
		s.second(now).arrived[r.lane]++
		s.ask(now, r)
	case evPatience:
		if e.r.w.Queued() {
			s.q.Remove(&e.r.w)
			s.shed(now, e.r)
		}
	case evFirst:
		v := s.v[e.r.vendor]
		if e.r.kind == Stream {
			v.awaiting--
			v.limit.Sample(at(now), at(e.r.begun), Stream, seconds(now-e.r.begun), v.inFlight, v.awaiting)
			if sec := s.second(e.r.arrived); e.r.lane == Interactive {
				sec.first = append(sec.first, now-e.r.arrived)
			}
			s.serve(now)
		}
	case evDone:
		v := s.v[e.r.vendor]
		v.busy--
		v.inFlight--
		v.batch -= int(e.r.lane)
		if e.r.kind == Whole {
			v.awaiting--
			v.limit.Sample(at(now), at(e.r.begun), Whole, seconds(now-e.r.begun), v.inFlight, v.awaiting)
		}
		v.limit.Took(e.r.kind, seconds(now-e.r.begun))
		s.second(now).done[e.r.lane]++
		if len(v.line) > 0 {
			next := v.line[0]
			v.line = v.line[1:]
			s.work(now, v, next)
		}
		s.serve(now)
	}
}

// ask finds a place for r or lets it wait.
func (s *sim) ask(now float64, r *simRequest) {
	waits := s.q.Len(Interactive) > 0 || r.lane == Batch && s.q.Len(Batch) > 0
	if !waits && s.take(now, r) {
		return
	}
	base, rate := 0.0, 0.0
	for _, v := range s.v {
		if _, limiting := v.limit.Value(); limiting {
			base = max(base, v.limit.Slack(Stream).Seconds())
		}
		rate += v.limit.Rate()
	}
	patience := Patience(s.budget, seconds(base), s.q.Len(Batch) > 0)
	r.w = Waiter{Lane: r.lane, Deadline: at(r.arrived + s.deadline), Owner: r}
	out, ok := s.q.Push(&r.w, rate, patience)
	if !ok {
		s.shed(now, r)
		return
	}
	if out != nil {
		s.shed(now, out.Owner.(*simRequest))
	}
	end := now + patience.Seconds()
	if r.lane == Batch {
		end = r.arrived + s.deadline
	}
	heap.Push(&s.events, simEvent{at: end, kind: evPatience, r: r})
	s.serve(now)
}

func (s *sim) shed(now float64, r *simRequest) {
	r.gone = true
	s.second(now).shed[r.lane]++
}

func (s *sim) serve(now float64) {
	for lane := range Lane(Lanes) {
		for w := s.q.First(lane); w != nil; w = s.q.First(lane) {
			if !s.take(now, w.Owner.(*simRequest)) {
				return
			}
			s.q.Remove(w)
		}
	}
}

// best is the vendor whose turn it is among those with room, or to spare; -1: none.
func (s *sim) best(now float64, r *simRequest, spare bool) int {
	best := -1
	for i, v := range s.v {
		if v.dead || s.weights[i] == 0 {
			continue
		}
		if !v.limit.Room(r.lane, v.inFlight, v.awaiting) && (!spare || !v.limit.Spare(at(now), r.lane, v.inFlight, v.awaiting, v.batch)) {
			v.limit.Turned(at(now))
			continue
		}
		if best < 0 || s.turn[i]/s.weights[i] < s.turn[best]/s.weights[best] {
			best = i
		}
	}
	return best
}

// take gives r a place at the vendor whose turn it is, or at another with room.
func (s *sim) take(now float64, r *simRequest) bool {
	best := s.best(now, r, false)
	if best < 0 {
		best = s.best(now, r, true)
	}
	if best < 0 {
		return false
	}
	s.turn[best]++
	for i := range s.turn { // forget the past
		s.turn[i] *= 0.99
	}
	v := s.v[best]
	r.vendor, r.begun = best, now
	v.inFlight++
	v.batch += int(r.lane)
	v.awaiting++
	v.limit.Began(at(now), r.kind)
	if v.busy < v.slots || v.shared {
		s.work(now, v, r)
	} else {
		v.line = append(v.line, r)
	}
	return true
}

func (s *sim) work(now float64, v *simVendor, r *simRequest) {
	v.busy++
	slow := v.slow
	if v.shared {
		slow *= 1 + max(0, float64(v.busy)/float64(v.slots)-1)
	}
	first := now + v.first*slow*math.Exp(v.sigma*s.rng.NormFloat64())
	heap.Push(&s.events, simEvent{at: first, kind: evFirst, r: r})
	heap.Push(&s.events, simEvent{at: first + v.rest*slow*math.Exp(v.sigma*s.rng.NormFloat64()), kind: evDone, r: r})
}

// figures are of the seconds from, to.
type figures struct {
	arrived, done, shed [Lanes]int
	p50, p99            float64 // seconds
	perSecond           float64 // answers
}

func (s *sim) figures(from, to int) (f figures) {
	var all []float64
	for _, sec := range s.seconds[from:min(to, len(s.seconds))] {
		for l := range Lanes {
			f.arrived[l] += sec.arrived[l]
			f.done[l] += sec.done[l]
			f.shed[l] += sec.shed[l]
		}
		all = append(all, sec.first...)
	}
	slices.Sort(all)
	if len(all) > 0 {
		f.p50, f.p99 = all[len(all)/2], all[len(all)*99/100]
	}
	f.perSecond = float64(f.done[0]+f.done[1]) / float64(to-from)
	return f
}

func flat(rps float64) func(float64) float64 { return func(float64) float64 { return rps } }

func steps(pairs ...float64) func(float64) float64 {
	return func(t float64) float64 {
		rps := pairs[1]
		for i := 0; i < len(pairs); i += 2 {
			if t >= pairs[i] {
				rps = pairs[i+1]
			}
		}
		return rps
	}
}

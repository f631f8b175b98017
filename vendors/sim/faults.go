package sim

import (
	"strings"
	"sync"
	"time"
)

// Fault is one way to misbehave, picked by the model's name: exactly, or followed by a dash and anything, in any case,
// after the last slash. "s03-a" and "s03-b" are the fault s03 with a state each.
type Fault struct {
	Name string `json:"name"`
	Does string `json:"does"`
}

// Faults lists the faults that the profile "faults" knows.
func Faults() []Fault {
	list := make([]Fault, len(faultTable))
	for i := range faultTable {
		list[i] = faultTable[i].Fault
	}
	return list
}

// fault is a row of the table: what refuses the request before any answer, or is odd about the answer.
type fault struct {
	Fault
	refuse func(x *exchange, st faultState) (refusal, bool)
	silent time.Duration // never answers: silence, then closed
	reset  bool          // RST before the headers
	quirk  quirk
}

// faultState is what a stateful fault remembers of a model's name.
type faultState struct {
	count int       // arrivals, this one too
	since time.Time // the first of them
}

// faultStates are bounded: past maxStates names, the state starts over.
type faultStates struct {
	mu     sync.Mutex
	states map[string]faultState
}

const maxStates = 10_000

func (s *faultStates) arrive(model string, now time.Time) faultState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.states == nil || len(s.states) >= maxStates {
		s.states = make(map[string]faultState)
	}
	st := s.states[model]
	if st.count == 0 {
		st.since = now
	}
	st.count++
	s.states[model] = st
	return st
}

func (s *faultStates) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = nil
}

// findFault returns the fault that a model's name picks, the longest match, or nil.
func findFault(model string) *fault {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	var best *fault
	for i := range faultTable {
		f := &faultTable[i]
		rest, ok := strings.CutPrefix(name, f.Name)
		if ok && (rest == "" || rest[0] == '-') && (best == nil || len(f.Name) > len(best.Name)) {
			best = f
		}
	}
	return best
}

// serveFault answers as the model's name says.
func (x *exchange) serveFault(ep *endpoint) {
	f := findFault(x.req.Model)
	if f == nil {
		x.work(ep)
		return
	}
	x.v.log.update(func() { x.entry.Fault = f.Name })
	st := x.v.states.arrive(x.req.Model, x.start)
	if f.refuse != nil {
		if e, refused := f.refuse(x, st); refused {
			x.refuse(e)
			return
		}
	}
	switch {
	case f.reset:
		x.reset()
	case f.silent > 0:
		if x.sleep(x.o.scaled(f.silent)) {
			x.cut()
		}
	default:
		m := x.req.measure(x.v.block)
		x.answer(ep, &m, 0, &f.quirk)
	}
}

// always refuses every request.
func always(e refusal) func(*exchange, faultState) (refusal, bool) {
	return func(*exchange, faultState) (refusal, bool) { return e, true }
}

// once refuses a model's first request.
func once(e refusal) func(*exchange, faultState) (refusal, bool) {
	return func(_ *exchange, st faultState) (refusal, bool) { return e, st.count == 1 }
}

// during refuses a model's requests for a time from the first.
func during(e refusal, d time.Duration) func(*exchange, faultState) (refusal, bool) {
	return func(x *exchange, st faultState) (refusal, bool) { return e, x.start.Sub(st.since) < x.o.scaled(d) }
}

// prefill refuses requests whose last message is the assistant's.
func prefill(x *exchange, _ faultState) (refusal, bool) {
	return prefillRefused, x.req.lastRole() == "assistant"
}

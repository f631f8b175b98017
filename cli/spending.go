package cli

import (
	"fmt"
	"sync"

	"baton/drills/stress"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/store"
)

// spending is what a stress test has sent past the engine, for the ledger. Its
// methods may be called from several goroutines.
type spending struct {
	mu  sync.Mutex
	all []ledger.Attempt
}

// of counts what is sent to a target.
func (s *spending) of(t *stress.Target, model string) {
	vendor, at := t.Vendor.Name, t.Model
	t.Spent = func(v stress.Spent) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all = append(s.all, ledger.Attempt{
			Ended: v.Ended, N: 1, Vendor: vendor, Model: model, At: at, Lane: control.Interactive, Endpoint: "/chat/completions", Source: ledger.Stress,
			Request: fmt.Sprintf("stress-%d", len(s.all)+1), Stream: v.Stream, Outcome: v.Outcome.String(), Reason: v.Reason, Took: v.Took, FirstToken: v.FirstToken,
			Input: v.Input, Cached: v.Cached, Output: v.Output, Estimated: v.Estimated,
		})
	}
}

// keep leaves it for the ledger, under the name of the test.
func (s *spending) keep(stateDir, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return nil
	}
	return store.WriteSpending(stateDir, "stress-"+id, s.all)
}

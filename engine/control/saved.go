package control

import "time"

// Saved is what outlives a restart: what people have set, what was learned, and
// where the journal stood. Nothing in it is secret. The maps are by vendor.
type Saved struct {
	Revision int64 // counts changes made by people
	Seq      int64 // of the last event
	Weights  *SavedWeights
	Pin      *Pin
	Manual   *SavedManual
	Drained  map[string]string     // who drained it
	Disabled map[string]string     // why its account is out of service
	Limits   map[string]SavedLimit // as learned
	SetLimit map[string]float64    // by hand, in requests per second and key
	LimitBy  map[string]string     // who did

	Journal []Event // the last events; given back, never taken
}

// SavedWeights are the weights as they stood, in percent.
type SavedWeights struct {
	At      time.Time          `json:"at"`
	Weights map[string]float64 `json:"weights"`
	// Configured are the weights of the file that they moved from. Where the file
	// says something else after a restart, it is the file that holds.
	Configured map[string]float64 `json:"configured"`
}

// SavedManual is a lease by which people move the weights.
type SavedManual struct {
	Until time.Time          `json:"until"`
	By    string             `json:"by"`
	Held  map[string]float64 `json:"held"` // percent: where they stand meanwhile
}

// SavedLimit is a limit that was learned.
type SavedLimit struct {
	RPS      float64   `json:"rps"`
	At       time.Time `json:"at"` // when it was last found
	Evidence string    `json:"evidence"`

	Type       string  `json:"type,omitempty"` // as in Limit, as are those that follow
	Scope      string  `json:"scope,omitempty"`
	Unit       string  `json:"unit,omitempty"`
	Value      float64 `json:"value,omitempty"`
	Confidence float64 `json:"confidence,omitempty"`
	Refusals   int     `json:"refusals,omitempty"` // that it was learned from; 0: from queueing
}

// eventsAtOnce bounds one answer from beyond the journal in memory.
const eventsAtOnce = 10000

// Resume makes the Hub go on where another run stopped. It must come before the
// first event and the first command.
func (h *Hub) Resume(s Saved) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision, h.seq = s.Revision, s.Seq
	h.journal = append([]Event{}, s.Journal[max(0, len(s.Journal)-journalKept):]...)
	h.last = nil
}

// reach returns the events after seq. Those that memory has let go come from
// the Backend, oldest first and so many at once: whoever wants the rest asks
// again after the last of them. After 0 is no place in the journal: that is
// what memory holds.
func (h *Hub) reach(seq int64) ([]Event, error) {
	events := h.after(seq)
	if seq <= 0 || h.backend.Older == nil || len(events) == 0 || events[0].Seq <= seq+1 {
		return events, nil
	}
	older, err := h.backend.Older(seq, eventsAtOnce)
	if err != nil || len(older) == 0 {
		return events, nil //nolint:nilerr // what memory holds is an answer, and the store says what ails it by its alert
	}
	if len(older) == eventsAtOnce {
		return older, nil
	}
	for _, e := range events { // what came after the Backend was asked
		if e.Seq > older[len(older)-1].Seq {
			older = append(older, e)
		}
	}
	return older, nil
}

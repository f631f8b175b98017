package control

import (
	"context"
	"iter"
	"sync"
	"time"
)

// Backend is what a Hub steers.
type Backend struct {
	// Do carries a command out and returns once it has taken effect.
	Do func(ctx context.Context, cmd Command) error
	// Ask answers what the Hub cannot answer by itself.
	Ask func(ctx context.Context, q Query) (Answer, error)
	// Fill writes the present state; the Hub adds the revision.
	Fill func(s *Snapshot)
	// Older returns the first events after seq, at most so many, from beyond the
	// journal in memory; nil: there are none.
	Older func(seq int64, limit int) ([]Event, error)
}

const (
	journalKept = 1000                  // events in memory
	firstEvents = 200                   // of the journal that a new watcher gets
	reuse       = 40 * time.Millisecond // a snapshot so young serves again
)

// Hub is the Control of the engine in this process: it orders commands, counts
// the changes that people make, keeps the journal and serves watchers.
//
// Any method may be called from any goroutine. Commands are carried out one
// after the other.
type Hub struct {
	backend Backend
	doing   sync.Mutex // held while a command is carried out

	mu       sync.Mutex // guards what follows
	revision int64
	seq      int64
	journal  []Event
	last     *Snapshot
	lastAt   time.Time
	turn     uint64        // counts events and commands: what was filled in before one is old after it
	changed  chan struct{} // closed and replaced at every event and command
	onEvent  func(Event)
}

// NewHub returns a Hub over b. onEvent, if not nil, sees every event in order
// (it must not call the Hub).
func NewHub(b Backend, onEvent func(Event)) *Hub {
	return &Hub{backend: b, changed: make(chan struct{}), onEvent: onEvent}
}

// Log adds an event to the journal; Seq and, if zero, Time are the Hub's.
func (h *Hub) Log(e Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.seq++
	e.Seq = h.seq
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	if e.Who == "" {
		e.Who = Controller
	}
	if e.Data == nil {
		e.Data = map[string]any{}
	}
	if len(h.journal) == journalKept {
		h.journal = append(h.journal[:0:0], h.journal[journalKept/10:]...)
	}
	h.journal = append(h.journal, e)
	if h.onEvent != nil {
		h.onEvent(e)
	}
	h.wake()
}

// wake makes watchers look again, and at a state of its own. h.mu is held.
func (h *Hub) wake() {
	h.last = nil
	h.turn++
	close(h.changed)
	h.changed = make(chan struct{})
}

// Do carries cmd out.
func (h *Hub) Do(ctx context.Context, cmd Command) error {
	tidy(cmd)
	h.doing.Lock()
	defer h.doing.Unlock()
	if err := h.fresh(cmd); err != nil {
		return err
	}
	if err := h.backend.Do(ctx, cmd); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if changes(cmd) {
		h.revision++
	}
	Made(cmd, h.revision)
	h.wake()
	return nil
}

// fresh refuses a command that was made against an older revision.
func (h *Hub) fresh(cmd Command) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := cmd.meta().Revision; r != nil && *r != h.revision {
		return &Error{Kind: Stale, Field: "revision", Message: "somebody changed something since: this was made against revision " +
			itoa(*r) + ", now it is " + itoa(h.revision)}
	}
	return nil
}

// changes says whether cmd is one of the changes that the revision counts.
func changes(cmd Command) bool {
	switch cmd.(type) {
	case *StartDrill, *AbortDrill, *DismissDrill, *MarkDrill, *CancelScheduled, *DismissIncident, *SetSim:
		return false // what a drill does comes as commands of its own
	}
	return true
}

// Ask answers q.
func (h *Hub) Ask(ctx context.Context, q Query) (Answer, error) {
	switch q := q.(type) {
	case State:
		return h.snapshot(), nil
	case EventsAfter:
		return h.reach(q.Seq)
	}
	return h.backend.Ask(ctx, q)
}

// Revision counts the changes made by people.
func (h *Hub) Revision() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.revision
}

// snapshot returns the state now, or one made a moment ago.
func (h *Hub) snapshot() *Snapshot {
	h.mu.Lock()
	if h.last != nil && time.Since(h.lastAt) < reuse {
		defer h.mu.Unlock()
		return h.last
	}
	revision, turn := h.revision, h.turn
	h.mu.Unlock()

	s := &Snapshot{Overrides: []Override{}, Schedule: []Scheduled{}, Freshness: []Freshness{}}
	h.backend.Fill(s)
	s.Revision = revision

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turn == turn {
		h.last, h.lastAt = s, time.Now()
	}
	return s
}

// after returns the events of the journal after seq.
func (h *Hub) after(seq int64) []Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.afterLocked(seq)
}

func (h *Hub) afterLocked(seq int64) []Event {
	i := len(h.journal)
	for i > 0 && h.journal[i-1].Seq > seq {
		i--
	}
	return append([]Event{}, h.journal[i:]...)
}

// Watch yields the state at once, then every so often and as events happen,
// until ctx ends or the loop is left.
func (h *Hub) Watch(ctx context.Context, every time.Duration) iter.Seq2[Update, error] {
	if every <= 0 {
		every = 250 * time.Millisecond
	}
	return func(yield func(Update, error) bool) {
		timer := time.NewTicker(every)
		defer timer.Stop()
		h.mu.Lock()
		seen := max(0, h.seq-firstEvents)
		h.mu.Unlock()
		for {
			h.mu.Lock()
			changed := h.changed
			events := h.afterLocked(seen)
			h.mu.Unlock()
			if n := len(events); n > 0 {
				seen = events[n-1].Seq
			}
			if !yield(Update{Snapshot: h.snapshot(), Events: events}, nil) {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
			case <-changed:
			}
			if ctx.Err() != nil {
				return // a slow reader finds all of them ready
			}
		}
	}
}

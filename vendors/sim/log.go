package sim

import (
	"sync"
	"time"
)

// How an exchange ended, as the vendor knows it.
const (
	Answered = "answered" // the whole answer was written
	Refused  = "refused"  // an error answer was written
	Broken   = "broken"   // broken off by a fault
	Left     = "left"     // the client was gone before the end
)

// Entry is one arrival in the attempt log. Times are milliseconds since the arrival; 0: not yet, or never.
type Entry struct {
	Seq           uint64    `json:"seq"` // from 1, in order of arrival
	Time          time.Time `json:"time"`
	Method        string    `json:"method"`
	Path          string    `json:"path"`
	Model         string    `json:"model"`
	Key           string    `json:"key"` // its last four characters only
	RequestID     string    `json:"request_id"`
	Stream        bool      `json:"stream"`
	StreamOptions bool      `json:"stream_options"` // whether the body had any
	Messages      int       `json:"messages"`
	Roles         []string  `json:"roles"`
	Fault         string    `json:"fault"`  // "" when well
	Status        int       `json:"status"` // as sent; 0: none
	Events        int       `json:"events"` // server-sent events written
	TokensIn      int       `json:"tokens_in"`
	TokensOut     int       `json:"tokens_out"` // written so far
	FirstTokenMS  float64   `json:"first_token_ms"`
	TotalMS       float64   `json:"total_ms"`
	QueuedMS      float64   `json:"queued_ms"` // in the line before a limit
	ClientLeft    bool      `json:"client_left"`
	Outcome       string    `json:"outcome"` // "" while it runs
}

// Stats are totals since the start or the last Clear: Arrivals = Answered + Refused + Broken + Cancelled + InFlight.
type Stats struct {
	Arrivals  uint64  `json:"arrivals"` // of requests for answers
	Answered  uint64  `json:"answered"`
	Refused   uint64  `json:"refused"`
	Broken    uint64  `json:"broken"`
	Cancelled uint64  `json:"cancelled"` // by the client
	InFlight  int     `json:"in_flight"`
	Probes    uint64  `json:"probes"` // GETs, of models as a rule; not in Arrivals
	TokensIn  uint64  `json:"tokens_in"`
	TokensOut uint64  `json:"tokens_out"`
	Load      float64 `json:"load"`     // in flight over capacity
	Capacity  float64 `json:"capacity"` // with what elastic growth added; at a pool that of all replicas
	Queued    int     `json:"queued"`   // of those in flight, in the line before a limit, or for a place on a GPU
	Replicas  int     `json:"replicas"` // at work; 0 where a profile has none
}

const logSize = 10_000

// attemptLog keeps the last logSize arrivals and counts all of them.
type attemptLog struct {
	mu      sync.Mutex
	entries []*Entry // a ring once it is full
	next    int
	stats   Stats
	seq     uint64 // never starts over
	epoch   int    // arrivals from before a clear no longer count
}

// add numbers and records an arrival, whose number numbered gets to know before anyone sees the entry; probe tells a GET
// of models from a request for an answer.
func (l *attemptLog) add(e *Entry, probe bool, numbered func(seq uint64)) (epoch int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seq++
	e.Seq = l.seq
	numbered(l.seq)
	if len(l.entries) < logSize {
		l.entries = append(l.entries, e)
	} else {
		l.entries[l.next] = e
		l.next = (l.next + 1) % logSize
	}
	if probe {
		l.stats.Probes++
	} else {
		l.stats.Arrivals++
		l.stats.InFlight++
	}
	return l.epoch
}

// update changes an entry that others may be reading.
func (l *attemptLog) update(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// finish completes an entry and counts its end.
func (l *attemptLog) finish(e *Entry, epoch int, probe bool, complete func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	complete()
	if probe || epoch != l.epoch {
		return
	}
	l.stats.InFlight--
	l.stats.TokensIn += uint64(e.TokensIn)
	l.stats.TokensOut += uint64(e.TokensOut)
	switch e.Outcome {
	case Answered:
		l.stats.Answered++
	case Refused:
		l.stats.Refused++
	case Left:
		l.stats.Cancelled++
	default:
		l.stats.Broken++
	}
}

func (l *attemptLog) snapshot() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Entry, 0, len(l.entries))
	for i := range l.entries {
		out = append(out, *l.entries[(l.next+i)%len(l.entries)])
	}
	return out
}

func (l *attemptLog) totals() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stats
}

func (l *attemptLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.next, l.stats = nil, 0, Stats{}
	l.epoch++
}

// lastFour keeps enough of a key to tell two apart, and nothing of a short one.
func lastFour(key string) string {
	if len(key) < 8 {
		return ""
	}
	return key[len(key)-4:]
}

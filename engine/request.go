package engine

import (
	"sync"
	"time"

	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
	"baton/engine/window"
)

// Finished is how a client's request ended.
type Finished struct {
	Lane       control.Lane
	Kind       weights.Kind
	Outcome    outcome.Outcome // ok, client_fault, content_filter, client_cancel; all else is failed
	FirstToken time.Duration   // from the request's arrival; 0 without one
	Total      time.Duration
	FailedOver bool    // more than one vendor was asked
	Shed       bool    // refused by admission
	Cut        bool    // an interactive stream broken after its commit point
	Vendor     *Vendor // who answered, nil if nobody did
	ID         string
}

// Categories of service.counts: requests begun by lane, and how they ended.
const (
	svcBegun  = 0 // + lane
	svcOK     = control.Lanes
	svcFailed = control.Lanes + 1
	svcShed   = control.Lanes + 2
)

const lostKept = 200

// service is what clients asked and got.
type service struct {
	mu         sync.Mutex
	counts     window.Counter
	firstToken *window.Ring     // streams
	all        window.Histogram // the same since the start
	totals     control.Totals   // Attempts is the vendors' sum
	cut        int64
	shed       [control.Lanes]int64
	inFlight   int
	lost       []string // ids of the last failed requests
}

func newService() *service {
	return &service{firstToken: window.NewRing()}
}

// Begin counts a client's request in.
func (e *Engine) Begin(lane control.Lane) {
	s := e.service
	now := time.Now()
	s.mu.Lock()
	s.counts.Add(now, svcBegun+int(lane), 1)
	s.inFlight++
	s.mu.Unlock()
}

// Finish counts a client's request out; once per Begin.
func (e *Engine) Finish(f Finished) {
	s := e.service
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
	s.totals.Requests++
	if f.FailedOver {
		s.totals.FailedOver++
	}
	switch f.Outcome {
	case outcome.OK:
		s.totals.OK++
		s.counts.Add(now, svcOK, 1)
		if f.Kind == weights.Stream && f.FirstToken > 0 {
			s.firstToken.Add(now, f.FirstToken)
			s.all.Add(f.FirstToken)
		}
	case outcome.ClientFault, outcome.ContentFilter:
		s.totals.ClientFault++
	case outcome.ClientCancel:
		s.totals.ClientCancel++
	default:
		s.totals.Failed++
		s.counts.Add(now, svcFailed, 1)
		if f.Shed {
			s.shed[f.Lane]++
			s.counts.Add(now, svcShed, 1)
		}
		if f.Cut {
			s.cut++
		}
		if len(s.lost) == lostKept {
			s.lost = append(s.lost[:0], s.lost[1:]...)
		}
		s.lost = append(s.lost, f.ID)
	}
}

// batchPart is the batch part of the requests offered over 60 s. s.mu is held.
func (s *service) batchPart(now time.Time) float64 {
	b := s.counts.Sum(now, svcBegun+int(control.Batch), time.Minute)
	i := s.counts.Sum(now, svcBegun+int(control.Interactive), time.Minute)
	if b+i == 0 {
		return 0
	}
	return float64(b) / float64(b+i)
}

// relief is when one who was refused for want of room should come again: the
// more were refused of late, the later.
func (s *service) relief(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	shed := s.counts.Sum(now, svcShed, 10*time.Second)
	begun := s.counts.Sum(now, svcBegun, 10*time.Second) + s.counts.Sum(now, svcBegun+1, 10*time.Second)
	if begun <= shed {
		return reliefMost
	}
	return min(time.Second*time.Duration(begun)/time.Duration(begun-shed), reliefMost)
}

// reliefMost is the longest of them.
const reliefMost = 10 * time.Second

// batchFlows says whether batch requests come often enough to carry the trials.
func (e *Engine) batchFlows(now time.Time) bool {
	s := e.service
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts.Sum(now, svcBegun+int(control.Batch), 10*time.Second) >= 10
}

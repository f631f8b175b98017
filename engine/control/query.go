package control

import (
	"context"
	"time"
)

// Query is a question. The set is closed: the types below.
type Query interface{ query() }

// Answer is what a Query gets; which type stands at each Query.
type Answer any

// The questions.
type (
	// State asks for the Snapshot now: *Snapshot.
	State struct{}
	// EventsAfter asks for the journal after Seq: []Event.
	EventsAfter struct{ Seq int64 }
	// Counts asks for the Tally now: *Tally.
	Counts struct{}
	// FailuresOf asks for the last failed attempts, newest first: []Failure.
	FailuresOf struct {
		Vendor string // "": of all
		Limit  int    // 0: 100
	}
	// Drills asks for the records of past drills, newest first: []Report.
	Drills struct{}
	// DrillByID asks for one record: *Report.
	DrillByID struct{ ID string }
	// Scenarios asks what drills there are: []Scenario.
	Scenarios struct{}
	// PreflightOf asks what would happen if a drill were started now: *Preflight.
	PreflightOf struct {
		Scenario string
		Vendor   string // "": as the scenario says
		Fault    string // "": as the scenario says
	}
)

func (State) query()       {}
func (EventsAfter) query() {}
func (Counts) query()      {}
func (FailuresOf) query()  {}
func (Drills) query()      {}
func (DrillByID) query()   {}
func (Scenarios) query()   {}
func (PreflightOf) query() {}

// Get asks c and gives the answer in its type.
func Get[T any](ctx context.Context, c Control, q Query) (T, error) {
	var zero T
	a, err := c.Ask(ctx, q)
	if err != nil {
		return zero, err
	}
	v, ok := a.(T)
	if !ok {
		return zero, Errorf(Internal, "the answer to %T is a %T", q, a)
	}
	return v, nil
}

// Failure is one failed attempt, without anything of the request's contents.
type Failure struct {
	Time            time.Time `json:"time"`
	RequestID       string    `json:"request_id"`
	Vendor          string    `json:"vendor"`
	Attempt         int       `json:"attempt"` // 1 is the request's first
	Lane            string    `json:"lane"`
	Endpoint        string    `json:"endpoint"`
	Outcome         string    `json:"outcome"`
	Reason          string    `json:"reason"` // the code: limit_requests, header_timeout, connection_refused
	Status          *int      `json:"status"` // the vendor's, null where none came
	VendorRequestID string    `json:"vendor_request_id"`
	Clock           string    `json:"clock"`    // which of our clocks fired, "" none
	AfterMs         float64   `json:"after_ms"` // how long the attempt took
	Message         string    `json:"message"`  // scrubbed of prompts and keys
	Rescued         bool      `json:"rescued"`  // the client got an answer all the same
}

// Scenario is a drill that can be run.
type Scenario struct {
	Name  string    `json:"name"`
	Claim string    `json:"claim"`
	Judge string    `json:"judge"`
	Fault FaultSpec `json:"fault"`

	BoundS   float64  `json:"bound_s,omitempty"` // the scenario's own, where it is tighter than the target
	Target   string   `json:"target"`            // given, primary, secondary, random, none or a vendor's name
	Failover string   `json:"failover"`          // auto or manual
	Explain  []string `json:"explain"`           // what happens, in sentences
	File     string   `json:"file"`              // "" for one that comes with baton
}

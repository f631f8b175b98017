package ledger

import (
	"time"

	"baton/engine/control"
)

// Source is whose attempt it was.
type Source uint8

// The sources.
const (
	Client Source = iota // a client's request
	Probe                // a health probe
	Stress               // a stress test, which goes straight to the vendor
)

// Attempt is one try at one vendor as it ended, with what it used. One without a
// Vendor stands for a request that no vendor was asked.
type Attempt struct {
	Ended      time.Time
	Request    string // its id
	N          int    // 1 is the request's first
	Vendor     string
	Model      string // as the client called it
	At         string // as the vendor calls it
	Lane       control.Lane
	Client     string // its name; "" without [[clients]]
	Endpoint   string
	Source     Source
	Stream     bool
	Trial      bool
	Outcome    string // the outcome's word; "ok": it answered
	Reason     string
	Status     int
	VendorID   string        // the vendor's id of the request
	Took       time.Duration // from its begin
	FirstToken time.Duration // from its begin; 0 without one

	Input, Cached, Output, Reasoning int  // tokens
	Estimated                        bool // the vendor did not say: they are ours
	ExpectedIn, ExpectedOut          int  // our estimate, of attempts whose tokens the vendor said
}

// Answered says whether it answered.
func (a *Attempt) Answered() bool { return a.Outcome == "ok" }

// Cost is what an attempt cost, in pico-units of the ledger's currency.
type Cost struct {
	Known                 bool // a price was known
	Input, Cached, Output int64
}

// Sum is the whole of it.
func (c Cost) Sum() int64 { return plus(plus(c.Input, c.Cached), c.Output) }

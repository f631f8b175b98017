package engine

import (
	"time"

	"baton/engine/outcome"
)

// goodRun is how many answers in a row say that what was bad before them is
// over: a vendor that fails every other attempt has no such run, one that fails
// one in a hundred has many.
const goodRun = 20

// badRun finds the first bad attempt of an outage, whatever the vendor's health
// makes of it and when.
type badRun struct {
	since time.Time // zero: nothing is bad
	good  int       // answers in a row
}

// add counts an attempt that has ended. One that a clock ended or that was answered
// with an error was bad from its beginning. One whose connection was lost was until
// then good, however long it had waited: the line was cut then.
func (b *badRun) add(l *Lease, now time.Time, r *outcome.Result) {
	switch r.Outcome {
	case outcome.OK:
		if b.good++; b.good >= goodRun {
			b.since = time.Time{}
		}
	case outcome.VendorFault, outcome.AccountFault:
		at := now
		answered := r.Status != 0 && r.Class != outcome.Connection // with headers and then no more is no answer
		if l.firstToken == 0 && (r.Clock != outcome.NoClock || answered || r.Connect) {
			at = l.begun
		}
		if b.since.IsZero() || at.Before(b.since) {
			b.since = at
		}
		b.good = 0
	}
}

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

// add counts an attempt that has ended. One that got nothing was bad from its
// beginning, a stream that broke was until then good.
func (b *badRun) add(l *Lease, now time.Time, o outcome.Outcome) {
	switch o {
	case outcome.OK:
		if b.good++; b.good >= goodRun {
			b.since = time.Time{}
		}
	case outcome.VendorFault, outcome.AccountFault:
		at := now
		if l.firstToken == 0 {
			at = l.begun
		}
		if b.since.IsZero() || at.Before(b.since) {
			b.since = at
		}
		b.good = 0
	}
}

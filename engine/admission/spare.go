package admission

import (
	"math"
	"time"
)

// First tokens that take longer are mostly no overload: the vendor has become slower,
// or the machine is busy and everything comes late alike. To send what is over the
// limit to another vendor costs nothing then, but to refuse it does. So where no vendor
// has room, a limit keeps nobody out until an overload shows: so many await their first
// token as no slowness explains. From then on it holds.

const (
	// spareLeast is how many may always await theirs before that shows, and spareTimes
	// the same relative to how many do without load.
	spareLeast, spareTimes = 32, 3.0
	// spareRisen is the same where spareRise times as much comes as the vendor carried
	// before, beside chance, or nothing is known of before: that is a reason for an
	// overload, where the machine is none. The window that is open tells of it after spareOpen.
	spareRisen, spareRise = 14, 1.5
	spareOpen             = time.Second / 2
	// borrowed is how many more than its limit may begin, relative to it, while batch work is
	// in flight: that pays them back.
	borrowed = 0.15
	// spareBatch is the part of them that batch work may fill.
	spareBatch = 0.75
)

// Spare says whether one more attempt of a lane may begin although there is no room,
// here or at any other vendor, beside so many that await their first token.
func (l *Limit) Spare(now time.Time, lane Lane, inFlight, awaiting, batch int) bool {
	l.Crowded(now)
	if l.proven {
		if lane == Batch || float64(inFlight+1) > l.limit+min(float64(batch), borrowed*l.limit) {
			return false
		}
		l.w.lent = true
		return true
	}
	usual := l.carried
	if usual == [Kinds]float64{} {
		usual = l.rates
	}
	work := 0.0
	for k, r := range usual {
		work += r * l.base[k]
	}
	least := float64(spareLeast)
	if past := now.Sub(l.w.opened); l.risen || past >= spareOpen && l.rises(past) {
		least = spareRisen
	}
	most := max(least, spareTimes*work)
	if float64(awaiting+1) > most {
		l.proven = true
		if l.limiting { // what began beside the limit does not tell of it
			l.w.from, l.w.ripe = now, time.Time{}
			l.open(now)
		}
		return false
	}
	if lane == Batch && float64(awaiting+1) > spareBatch*most {
		return false
	}
	l.cut = cut{} // it is none
	return true
}

// Overloaded says whether more comes than all vendors can do: the limit is in force,
// and of late somebody found room nowhere.
func (l *Limit) Overloaded(now time.Time) bool {
	return l.limiting && !l.crowded.IsZero() && now.Sub(l.crowded) < soundRest
}

// rises says whether clearly more begins in the open window than the vendor carried.
func (l *Limit) rises(past time.Duration) bool {
	usual := (l.carried[Stream] + l.carried[Whole]) * past.Seconds()
	return float64(l.w.begun) > spareRise*usual+4*math.Sqrt(usual)
}

// carry remembers what a free vendor carries.
func (l *Limit) carry(past float64) {
	part := min(past/drift.Seconds(), 1)
	for k, r := range l.rates {
		if l.carried[k] == 0 {
			l.carried[k] = r
		}
		l.carried[k] += (r - l.carried[k]) * part
	}
}

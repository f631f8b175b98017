package admission

import "time"

// First tokens that take longer are mostly no overload: the vendor has become slower,
// or the machine is busy and everything comes late alike. To send what is over the
// limit to another vendor costs nothing then, but to refuse it does. So where no vendor
// has room, a limit keeps nobody out until an overload shows: so many await their first
// token as no slowness explains. From then on it holds.

const (
	// spareLeast is how many may always await theirs before that shows, and spareTimes
	// the same relative to how many do without load.
	spareLeast, spareTimes = 24, 3.0
	// spareRisen is the same where spareRise times as much comes as the vendor carried
	// before: that is a reason for an overload, where the machine is none.
	// The window that is open tells of it after spareBack.
	spareRisen, spareRise, spareBack = 14, 1.5, 15
	// spareBatch is the part of them that batch work may fill.
	spareBatch = 0.75
)

// Spare says whether one more attempt of a lane may begin although there is no room,
// here or at any other vendor, beside so many that await their first token.
func (l *Limit) Spare(now time.Time, lane Lane, awaiting int) bool {
	l.Crowded(now)
	if l.proven {
		return false
	}
	work, carried, comes := 0.0, 0.0, 0.0
	for k, r := range l.carried {
		work += r * l.base[k]
		carried, comes = carried+r, comes+l.rates[k]
	}
	if past := now.Sub(l.w.opened).Seconds(); past > 0.5 && l.w.back[Stream]+l.w.back[Whole] >= spareBack {
		comes = max(comes, float64(l.w.back[Stream]+l.w.back[Whole])/past)
	}
	least := float64(spareLeast)
	if comes > spareRise*carried {
		least = spareRisen
	}
	most := max(least, spareTimes*work)
	if float64(awaiting+1) > most {
		l.proven = true
		return false
	}
	if lane == Batch && float64(awaiting+1) > spareBatch*most {
		return false
	}
	l.cut = cut{} // it is none
	return true
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

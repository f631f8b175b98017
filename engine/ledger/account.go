package ledger

import "time"

// Account is what the ledger holds of a time.
type Account struct {
	Period
	Rows      []Row // minutes folded into quarters
	Minutes   []Minute
	Spent     []Spent // the last hours by minute
	Latencies map[LatencyKey]int64
}

// Spent is what one vendor's minute cost, probes apart.
type Spent struct {
	Minute int64 // unix seconds
	Vendor string
	Cost   int64 // pico-units
	Priced bool
}

// SpentFor is how far back an account has single minutes.
const SpentFor = 3 * time.Hour

// Minute is one vendor's minute of client traffic; but for Asked, attempts while
// a drill's fault was in are left out: what failed then was our own doing. Of a minute that is older
// than ledger.minute_days only its quarter is known, and it is left out.
type Minute struct {
	Minute                                     int64 // unix seconds
	Vendor                                     string
	Asked, Attempts, Answered, Faults, Limited int64
}

// Time is its begin.
func (m *Minute) Time() time.Time { return time.Unix(m.Minute, 0) }

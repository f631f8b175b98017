package window

import "time"

// seconds numbers the seconds since the first moment it saw. Its number never
// falls: a moment a little before the newest one belongs to the newest second
// (the caller took the time before it got the lock), and a clock that was set
// back further goes on from where it stood.
type seconds struct {
	start   time.Time
	newest  int64
	started bool
}

// setBack is from when on an earlier moment is a clock set back, not a caller
// that came late.
const setBack = 60

// at returns the second of now, at least the newest one so far. It does not
// become the newest by that; the owner moves on with its slots.
func (s *seconds) at(now time.Time) int64 {
	if !s.started {
		s.start, s.started = now, true
		return 0
	}
	since := now.Sub(s.start)
	sec := int64(since / time.Second)
	if sec >= s.newest {
		return sec
	}
	if s.newest-sec >= setBack {
		s.start = now.Add(-time.Duration(s.newest) * time.Second)
	}
	return s.newest
}

package limit

import "time"

// span is what was sent between the first and the last of refusals that follow
// each other within ten seconds. At both ends the vendor had no room, so that
// what it accepted in between is what it takes, whether it counts by a bucket, by
// fixed seconds or by sliding ones; less only by what cooldowns and lulls left
// unused. The most in any one second would be too much: a bucket saves up.
type span struct {
	first, last    time.Time
	taken, refused int // since first
	// The same as they were at last.
	takenLast, refusedLast int
}

const (
	spanGap   = 10 * time.Second // between two refusals of one span
	spanLeast = 3 * time.Second
	spanLong  = 5 * time.Second // long enough, whatever was sent
	spanSent  = 20              // attempts that make a shorter one exact enough
)

func (s *span) took() {
	if !s.first.IsZero() {
		s.taken++
	}
}

func (s *span) refuse(now time.Time) {
	if s.first.IsZero() || now.Before(s.last) || now.Sub(s.last) > spanGap {
		*s = span{first: now, last: now}
		return
	}
	s.refused++
	s.last = now
	s.takenLast, s.refusedLast = s.taken, s.refused
}

// rate returns the accepted attempts per second and the part that was refused; not
// ok when the span is too short to tell.
func (s *span) rate() (rps, refused float64, ok bool) {
	long := s.last.Sub(s.first)
	if s.refusedLast < 2 || long < spanLeast || long < spanLong && s.takenLast > 0 && s.takenLast < spanSent {
		return 0, 0, false
	}
	accepted := max(s.takenLast-s.refusedLast, 0)
	return float64(accepted) / long.Seconds(), float64(s.refusedLast) / float64(max(s.takenLast, 1)), true
}

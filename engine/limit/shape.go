package limit

import "time"

// shape is a rate by which a vendor that refuses is approached until its limit is
// known: down with each refusal, up with each attempt, so that about one in ten is
// refused.
type shape struct {
	rps     float64  // 0: none
	even    approach // a vendor that wants its attempts evenly spaced
	guess   bool     // it began with hardly anything to go by
	began   time.Time
	cutAt   time.Time
	refused time.Time
}

const (
	shapeCut   = 0.9
	shapeFast  = 0.5  // at most, where far more is sent than is accepted
	shapeOver  = 1.25 // times what was accepted in the last second
	shapeAim   = 1.1
	shapeRise  = 1.015                  // with each attempt
	shapeWait  = 150 * time.Millisecond // between two cuts: refusals come in bunches
	shapeBurst = 0.5                    // seconds worth of attempts at once: random arrivals sent evenly would not meet the limit
	shapeFew   = 3                      // accepted
	shapeIdle  = 2 * time.Second        // without refusal
	shapeQuick = 1.2                    // with each second then
	shapeEnd   = spanGap
)

// cut lowers the rate after a refusal, once for all attempts that were under way
// together, and reports true unless it cannot tell what to begin with.
func (s *shape) cut(now, begun time.Time, past *sends) bool {
	if s.over(now) {
		*s = shape{}
	}
	s.refused = now
	if s.even.on() {
		s.even.refused(begun, past)
		return true
	}
	if s.rps == 0 {
		t := past.seconds(now)
		n, over := past.answered(t-1, t), 1.0
		if n == 0 {
			return false
		}
		if n < shapeFew {
			s.guess, over = true, min(max(t, shapeWait.Seconds()), 1) // it may have been the first ones
		}
		s.rps, s.cutAt, s.began = max(float64(n)/over, least), now, now
		return true
	}
	if !begun.IsZero() && !begun.After(s.cutAt) || now.Sub(s.cutAt) < shapeWait {
		return true
	}
	rps := s.rps * shapeCut
	if over := min(now.Sub(s.began)-time.Second, time.Second).Seconds(); over >= 0.4 { // since its one stop
		t := past.seconds(now)
		accepted := float64(past.answered(t-over, t)) / over
		rps = min(rps, max(shapeOver*accepted, shapeFast*s.rps))
	}
	s.rps, s.cutAt = max(rps, least/2), now
	return true
}

// aim raises the rate to a little above what the limit seems to be, so that it is
// met.
func (s *shape) aim(now time.Time, rps float64) {
	if s.rps > 0 && now.Sub(s.cutAt) >= shapeWait {
		s.rps = max(s.rps, shapeAim*rps)
	}
}

// most is what it lets through at once.
func (s *shape) most() float64 { return max(s.rps*shapeBurst, 1) }

func (s *shape) took() {
	if s.even.calm++; s.rps > 0 && !s.even.on() {
		s.rps = min(s.rps*shapeRise, 1e6)
	}
}

// over reports whether nothing was refused for long.
func (s *shape) over(now time.Time) bool {
	end := shapeEnd
	if s.even.on() {
		end = gapEnd
	}
	return s.rps > 0 && (now.Sub(s.refused) > end || now.Before(s.refused))
}

// tick lets it rise faster where it was a guess and nothing is refused for seconds, and
// ends it when nothing was for long.
func (s *shape) tick(now time.Time) {
	if s.rps > 0 && !s.even.on() && now.Sub(s.refused) > shapeIdle {
		s.rps = min(s.rps*shapeQuick, 1e6)
	}
	if s.over(now) {
		*s = shape{}
	}
}

package limit

import (
	"fmt"
	"time"
)

// A vendor with a slope limiter refuses because the rate rose too fast, not
// because it is too high. To stop makes that worse: what comes after the stop is
// a rise from nothing. So the rate is held at about what was accepted before, and
// rises gently from there.
const (
	slopeLeast  = 5.0  // requests per second that are held at least
	slopeGrowth = 0.03 // of the rate held, per second: a third in 10 s
	slopeAdds   = 0.25 // requests per second per second that it grows at least
	slopeBreath = 500 * time.Millisecond
	slopeSettle = 10 * time.Second // between two cuts: what was sent before counts for so long
	slopeCut    = 0.9              // of the rate held, at a further refusal
	slopeCalm   = 3 * time.Second  // without a refusal before it grows
	slopeSpare  = 1.5              // times what is sent: then the rate held is needed no more
	slopeEnd    = 30 * time.Second // without a refusal before it ends
)

// slope is the rate that is held for a slope limiter.
type slope struct {
	rps      float64 // 0: none
	cut      time.Time
	refused  time.Time
	evidence string
}

// rose holds the rate after a refusal that says it rose too fast.
func (l *Limiter) rose(now time.Time) {
	s := &l.slope
	_, accepted := l.recent.rates(now)
	s.refused = now
	switch {
	case s.rps == 0:
		s.rps = max(accepted, slopeLeast)
	case now.Sub(s.cut) >= slopeSettle || s.cut.After(now):
		s.rps = max(min(s.rps, max(slopeCut*s.rps, accepted)), slopeLeast)
	default:
		return
	}
	s.cut = now
	s.evidence = fmt.Sprintf("slope: rose too fast, %.1f/s accepted in 10 s", accepted)
}

// ease lets the rate held rise, and ends it when more is let through than is
// sent.
func (l *Limiter) ease(now time.Time, past float64) {
	s := &l.slope
	if s.rps == 0 {
		return
	}
	calm := now.Sub(s.refused)
	if taken, _ := l.recent.rates(now); calm < 0 || calm >= slopeEnd && s.rps >= slopeSpare*taken {
		l.slope = slope{}
		return
	}
	if calm >= slopeCalm {
		s.rps += max(slopeGrowth*s.rps, slopeAdds) * past
	}
}

// burst is how much is let through at once at a rate. A slope is judged over
// seconds, so that a rate held for one may bunch within one.
func (l *Limiter) burst(rps float64) float64 {
	if rps == l.slope.rps {
		return max(2, rps)
	}
	if most := l.learned.burst; most > 0 && rps == l.learned.let() {
		return most
	}
	return burst(rps)
}

// Held returns the rate that a slope limiter is approached with, in requests per
// second, while it is.
func (l *Limiter) Held() (rps float64, ok bool) { return l.slope.rps, l.slope.rps > 0 }

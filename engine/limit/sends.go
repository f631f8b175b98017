package limit

import "time"

// sent is one attempt that admission let through, and what became of it.
type sent struct {
	at      float64 // seconds since the first one
	flight  int32   // attempts in flight when it was sent, itself not among them
	refused bool
	whole   bool    // took is of a whole answer, not of a first token
	took    float32 // seconds to its first token, or to a whole answer; 0: not back
}

// sendsKept bounds what is remembered: twenty seconds of 200 attempts a second.
const sendsKept = 4096

// sends are the last attempts, oldest first. The vendor's limiter can be told from
// them, because they say at which moments it had room and at which it had none.
type sends struct {
	start  time.Time
	ring   []sent
	next   int // where the next one goes once the ring is full
	flight int32
	passed int // let through since the start
}

func (s *sends) seconds(now time.Time) float64 { return now.Sub(s.start).Seconds() }

func (s *sends) add(now time.Time) {
	if s.start.IsZero() {
		s.start = now
		s.ring = make([]sent, 0, sendsKept)
	}
	x := sent{at: s.seconds(now), flight: s.flight}
	s.flight++
	s.passed++
	if len(s.ring) < sendsKept {
		s.ring = append(s.ring, x)
		return
	}
	s.ring[s.next] = x
	s.next = (s.next + 1) % sendsKept
}

// i is the i-th oldest.
func (s *sends) i(i int) *sent {
	if len(s.ring) == sendsKept {
		i = (s.next + i) % sendsKept
	}
	return &s.ring[i]
}

// find returns the attempt that was sent at a moment, nil when it is not remembered.
func (s *sends) find(at time.Time) *sent {
	if len(s.ring) == 0 {
		return nil
	}
	t := s.seconds(at)
	for i := s.from(t - 1e-6); i < len(s.ring) && s.i(i).at <= t+1e-6; i++ {
		if x := s.i(i); !x.refused {
			return x
		}
	}
	return nil
}

// from is the index of the first one at or after t.
func (s *sends) from(t float64) int {
	lo, hi := 0, len(s.ring)
	for lo < hi {
		if mid := (lo + hi) / 2; s.i(mid).at < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// accepted is the last one of the first n that was not refused, nil where there is none, and
// whether one was since.
func (s *sends) accepted(n int) (last *sent, refused bool) {
	for i := n - 1; i >= 0; i-- {
		if x := s.i(i); !x.refused {
			return x, refused
		}
		refused = true
	}
	return nil, refused
}

// since copies those that were sent between two moments, oldest first.
func (s *sends) since(from, to float64) []sent {
	out := make([]sent, 0, 256)
	for i := s.from(from); i < len(s.ring) && s.i(i).at <= to; i++ {
		out = append(out, *s.i(i))
	}
	return out
}

// covers reports whether what is remembered reaches back far enough to explain refusals.
func (s *sends) covers() bool {
	n := len(s.ring)
	return n < sendsKept || s.i(n-1).at-s.i(max(n-fitMost, 0)).at >= 2.5
}

// answered counts those between two moments that were not refused.
func (s *sends) answered(from, to float64) (n int) {
	for i := s.from(from); i < len(s.ring) && s.i(i).at <= to; i++ {
		if !s.i(i).refused {
			n++
		}
	}
	return n
}

package tui

import (
	"time"

	"baton/engine/control"
	"baton/tui/draw"
)

// shedding is how many requests admission has refused lately.
type shedding struct {
	seen    []shedAt // oldest first, of the last ten seconds and one before
	waiting int
}

type shedAt struct {
	at         time.Time
	all, batch int64
}

const shedWindow = 10 * time.Second

func (s *shedding) see(snap *control.Snapshot, at time.Time) {
	l := &snap.Lanes
	s.waiting = l.Interactive.Waiting + l.Batch.Waiting
	now := shedAt{at, l.Interactive.Shed + l.Batch.Shed, l.Batch.Shed}
	if n := len(s.seen); n > 0 && now.all < s.seen[n-1].all {
		s.seen = nil // another engine, or a step back in a replay
	}
	s.seen = append(s.seen, now)
	for len(s.seen) > 2 && at.Sub(s.seen[1].at) >= shedWindow {
		s.seen = s.seen[1:]
	}
}

// notice says what was refused, "" while nothing is.
func (s *shedding) notice(k draw.Look) string {
	if len(s.seen) < 2 {
		return ""
	}
	first, last := s.seen[0], s.seen[len(s.seen)-1]
	if last.all == first.all {
		return ""
	}
	return k.Sayf("shedding", draw.Count(last.all-first.all), draw.Count(last.batch-first.batch), s.waiting)
}

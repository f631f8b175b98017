package tui

import (
	"math"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
)

// scale is the upper end of all graphs: it grows at once and shrinks only after
// everything has been under the smaller one for a while, so that graphs do not
// jump about.
type scale struct {
	hi    float64 // milliseconds
	lower time.Time
}

const scaleHold = 10 * time.Second

func (s *scale) see(snap *control.Snapshot, at time.Time) {
	most := 0.0
	for i := range snap.Vendors {
		for _, series := range [...]control.Series{snap.Vendors[i].History.P99ms, snap.Vendors[i].History.P90ms} {
			for _, v := range series {
				if v > most && !math.IsInf(v, 0) {
					most = v
				}
			}
		}
	}
	want := draw.ScaleFor(most)
	if most == 0 {
		want = max(s.hi, 1000)
	}
	switch {
	case s.hi == 0 || want > s.hi:
		s.hi, s.lower = want, time.Time{}
	case want == s.hi:
		s.lower = time.Time{}
	case s.lower.IsZero():
		s.lower = at
	case at.Sub(s.lower) >= scaleHold:
		s.hi, s.lower = want, time.Time{}
	}
}

package tui

import (
	"testing"
	"time"

	"baton/engine/control"
)

func see(x *timer, s *control.Snapshot, at time.Time) { x.see(s.Drill, s.Time, at) }

func TestTimer_RunsSmoothlyAndNeverBackwards(t *testing.T) {
	var x timer
	t0 := noon
	see(&x, killed(2, 1), t0.Add(time.Second))
	if got := x.at(t0.Add(1300 * time.Millisecond)); got != 1.3 {
		t.Errorf("between snapshots the clock shows %v, want 1.3", got)
	}
	before := x.at(t0.Add(2 * time.Second))
	see(&x, killed(2, 1.8), t0.Add(2*time.Second)) // this one was under way for 200 ms
	if after := x.at(t0.Add(2 * time.Second)); after < before {
		t.Errorf("the clock ran back from %v to %v", before, after)
	}
	if !x.running() {
		t.Error("the clock does not run")
	}
}

func TestTimer_StopsExactlyAtTheEnginesCutover(t *testing.T) {
	var x timer
	see(&x, killed(2, 10), noon)
	see(&x, killed(2, 20), noon.Add(10*time.Second))
	for _, d := range []time.Duration{0, time.Second, time.Hour} {
		if got := x.at(noon.Add(d)); got != 2.6 {
			t.Errorf("after %v the clock shows %v, want the cutover 2.6", d, got)
		}
	}
	if x.running() {
		t.Error("the clock runs on")
	}
}

func TestTimer_WaitsForTheFaultAndForgetsAnOlderDrill(t *testing.T) {
	var x timer
	s := killed(2, 0)
	s.Drill.Phases, s.Drill.Phase = nil, control.PhaseSteady
	see(&x, s, noon)
	if x.running() || x.at(noon.Add(time.Minute)) != 0 {
		t.Error("the clock runs in the baseline")
	}
	see(&x, killed(2, 20), noon)
	next := killed(2, 1)
	next.Drill.ID = "another"
	see(&x, next, noon)
	if got := x.at(noon.Add(time.Second)); got != 2 {
		t.Errorf("the next drill's clock shows %v", got)
	}
	see(&x, made(2), noon)
	if x.running() || x.id != "" {
		t.Error("a clock without a drill")
	}
}

func TestScale_GrowsAtOnceAndShrinksLate(t *testing.T) {
	var s scale
	high, low := made(1), made(1)
	high.Vendors[0].History.P99ms[3] = 4000
	s.see(low, noon)
	first := s.hi
	s.see(high, noon.Add(time.Second))
	if s.hi != 5000 {
		t.Fatalf("scale %v, want 5000", s.hi)
	}
	s.see(low, noon.Add(2*time.Second))
	s.see(low, noon.Add(8*time.Second))
	if s.hi != 5000 {
		t.Error("the scale shrank too soon")
	}
	s.see(low, noon.Add(13*time.Second))
	if s.hi != first {
		t.Errorf("scale %v, want %v again", s.hi, first)
	}
}

package limit

import (
	"math"
	"strings"
	"testing"
)

// Most limits that people choose are round; those that are not are learned, too.
func TestEvenlySpaced_LimitThatIsNotRound(t *testing.T) {
	for _, limit := range []int{7, 17, 33} {
		for _, load := range []float64{1.5, 4} {
			for seed := range uint64(3) {
				s := run{
					l: New(0, 1), offered: steady(load * float64(limit)), total: load * float64(limit),
					up: vendorOf("evenly spaced", limit), seed: 2 + seed, measure: 30,
				}
				s.do(60)
				if off := s.limits[30]/float64(limit) - 1; math.Abs(off) > 0.05 {
					t.Errorf("%d/s at %vx, seed %d: %.1f/s after 30 s (%s)", limit, load, seed, s.limits[30], s.l.Evidence())
				}
				if part := float64(s.refused) / float64(s.refused+s.accepted); part > 0.025 {
					t.Errorf("%d/s at %vx, seed %d: %.1f %% refused after 30 s", limit, load, seed, 100*part)
				}
			}
		}
	}
}

// Arrivals at even distances themselves leave it open between which multiples of theirs a vendor's
// distance lies, and the evidence says so.
func TestEvenlySpaced_WhatCannotBeToldIsSaid(t *testing.T) {
	s := run{l: New(0, 1), offered: steady(85), total: 85, up: vendorOf("evenly spaced", 17), seed: 1, even: true, measure: 30}
	s.do(60)
	if off := s.limits[30]/17 - 1; math.Abs(off) > 0.25 {
		t.Errorf("%.1f/s of 17", s.limits[30])
	}
	if e := s.l.Evidence(); !strings.Contains(e, "the roundest") {
		t.Errorf("it is not said how sure: %s", e)
	}
}

func TestRoundest(t *testing.T) {
	for _, c := range []struct{ low, high, want float64 }{
		{18, 23, 20},
		{12.5, 25, 20},
		{9.7, 10.4, 10},
		{41.7, 50, 50}, // at the edge, and near the middle
		{17.2, 17.4, 17.3},
		{3, 3.3, 3},
	} {
		if got := roundest(c.low, c.high); math.Abs(got-c.want) > 0.06 {
			t.Errorf("between %v and %v: %v, want %v", c.low, c.high, got, c.want)
		}
	}
}

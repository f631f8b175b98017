package limit

import (
	"testing"
	"time"
)

func TestYield_WhatAQueueTaughtGivesWayInAnOverload(t *testing.T) {
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	l := New(0, 1)
	l.learned = found{rps: 20, queued: true, at: now.Add(-time.Hour), level: 1}
	if _, ok := l.Allowed(); !ok {
		t.Fatal("it does not hold")
	}
	l.Yield(now, true)
	if rps, ok := l.Allowed(); ok || l.Limited(now) || l.Cap(100) != 1 {
		t.Errorf("%.1f/s are let through, cap %g", rps, l.Cap(100))
	}
	l.Yield(now.Add(time.Second), false)
	if rps, ok := l.Allowed(); !ok || rps < 18 {
		t.Errorf("after it %.1f/s", rps)
	}
	l.learned.at = now
	l.Yield(now.Add(2*time.Second), true)
	if _, ok := l.Learned(); ok {
		t.Error("what the line of the overload taught is kept")
	}
	l.learned = found{rps: 20, refusals: 40, at: now, level: 1}
	if rps, ok := l.Allowed(); !ok || rps != 19 {
		t.Errorf("a limit from refusals: %.1f/s", rps)
	}
}

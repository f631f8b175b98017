package engine

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// refused carries out a command that is to be refused, and returns the error.
func (r *rig) refused(t *testing.T, cmd control.Command) *control.Error {
	t.Helper()
	_, err := r.Do(cmd)
	e, ok := errors.AsType[*control.Error](err)
	if !ok {
		t.Fatalf("%s: %v, and it should have been refused", cmd.Line(), err)
	}
	return e
}

// times counts the events whose text contains s.
func (r *rig) times(s string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if strings.Contains(e.Text, s) {
			n++
		}
	}
	return n
}

func TestSetFailover_IsALeaseOfHalfAnHourAndAtMostFour(t *testing.T) {
	for _, c := range []struct {
		name string
		cmd  control.SetFailover
		want time.Duration
		bad  string // field
	}{
		{"no time", control.SetFailover{Mode: "manual"}, 30 * time.Minute, ""},
		{"a time", control.SetFailover{Mode: "manual", For: control.Duration(5 * time.Minute)}, 5 * time.Minute, ""},
		{"the longest", control.SetFailover{Mode: "manual", For: control.Duration(4 * time.Hour)}, 4 * time.Hour, ""},
		{"automatic", control.SetFailover{Mode: "auto"}, 0, ""},
		{"too long", control.SetFailover{Mode: "manual", For: control.Duration(4*time.Hour + 1)}, time.Hour, "for"},
		{"below nought", control.SetFailover{Mode: "manual", For: -1}, time.Hour, "for"},
		{"automatic has no time", control.SetFailover{Mode: "auto", For: 1}, time.Hour, "for"},
		{"a word that is none", control.SetFailover{Mode: "manuel"}, time.Hour, "mode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.do(t, &control.SetFailover{Mode: "manual", For: control.Duration(time.Hour)})
				if c.bad == "" {
					r.do(t, &c.cmd)
				} else if e := r.refused(t, &c.cmd); e.Kind != control.Invalid || e.Field != c.bad {
					t.Fatalf("kind %d of %q: %s", e.Kind, e.Field, e.Message)
				}
				s := r.snapshot()
				if c.want == 0 {
					if s.Failover != "auto" || s.FailoverUntil != nil || !r.said("failover is automatic again") {
						t.Fatalf("failover %s until %v", s.Failover, s.FailoverUntil)
					}
					return
				}
				if s.Failover != "manual" || s.FailoverUntil == nil || !s.FailoverUntil.Equal(time.Now().Add(c.want)) {
					t.Fatalf("failover %s until %v", s.Failover, s.FailoverUntil)
				}
			})
		})
	}
}

func TestSetFailover_EndsByItselfAndWarnsOnceBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetFailover{Mode: "manual", For: control.Duration(10 * time.Minute)})
		tick := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); r.Tick(time.Now()) {
				time.Sleep(10 * time.Second)
			}
		}
		tick(7*time.Minute + 50*time.Second)
		if n := r.times("manual failover ends in"); n != 0 {
			t.Fatalf("it warned %d times with more than two minutes left", n)
		}
		tick(2 * time.Minute)
		if n := r.times("`baton failover manual --for 30m` extends it"); n != 1 {
			t.Fatalf("in its last two minutes it warned %d times", n)
		}
		if o := r.snapshot().Overrides; len(o) != 1 || !o[0].Ending {
			t.Fatalf("overrides: %+v", o)
		}
		r.do(t, &control.SetFailover{Mode: "manual", For: control.Duration(10 * time.Minute)})
		tick(9 * time.Minute)
		if n := r.times("manual failover ends in"); n != 2 {
			t.Fatalf("extended, it has warned %d times, want 2", n)
		}
		tick(2 * time.Minute)
		if s := r.snapshot(); s.Failover != "auto" || r.times("failover is automatic again: its time as manual has run out") != 1 {
			t.Fatalf("after its end failover is %s", s.Failover)
		}
	})
}

func TestSetFailover_SaysWhoSetItAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetFailover{Meta: control.Meta{By: "li"}, Mode: "manual"})
		next := r.restart(t, 10*time.Minute, nil)
		o := next.snapshot().Overrides
		if len(o) != 1 || o[0].Kind != "manual" || o[0].By != "li" || o[0].Until == nil || time.Until(*o[0].Until) != 20*time.Minute {
			t.Fatalf("overrides: %+v", o)
		}
	})
}

func TestSetFailover_WhatTheFileSaysStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *config.Config) { c.Routing.Failover = "manual" })
		if e := r.refused(t, &control.SetFailover{Mode: "auto"}); e.Kind != control.Invalid || !strings.Contains(e.Message, "the file") {
			t.Fatalf("%+v", e)
		}
		r.do(t, &control.SetFailover{Mode: "manual", For: control.Duration(time.Minute)})
		r.do(t, &control.SetFailover{Mode: "auto"}) // ends the lease
		if s := r.snapshot(); s.Failover != "manual" || s.FailoverUntil != nil || !r.said("the file says manual") {
			t.Fatalf("failover %s until %v", s.Failover, s.FailoverUntil)
		}
	})
}

func TestManualFailover_APinThatRunsOutLeavesTheWeightsWhereTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetFailover{Mode: "manual"})
		r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 0, "b": 100}, For: control.Duration(time.Minute)})
		time.Sleep(61 * time.Second)
		r.Tick(time.Now())
		if s := r.snapshot(); s.Pin != nil || s.Vendors[0].Weight != 0 {
			t.Fatalf("pin %v, weight %v: traffic went back to the vendor that a person had emptied", s.Pin, s.Vendors[0].Weight)
		}
	})
}

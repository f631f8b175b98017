package engine

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/limit"
	"baton/engine/outcome"
)

// restart saves r, lets time pass and makes another engine of it.
func (r *rig) restart(t *testing.T, down time.Duration, change func(*config.Config)) *rig {
	t.Helper()
	b, err := json.Marshal(r.Saved())
	if err != nil {
		t.Fatal(err)
	}
	var s control.Saved
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	time.Sleep(down)
	next := newRig(t, change)
	next.Resume(s)
	return next
}

func (r *rig) snapshot() *control.Snapshot {
	s := new(control.Snapshot)
	r.Fill(s)
	return s
}

func (r *rig) do(t *testing.T, cmd control.Command) {
	t.Helper()
	if _, err := r.Do(cmd); err != nil {
		t.Fatal(err)
	}
}

// said says whether the journal has an event with those words.
func (r *rig) said(words string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if strings.Contains(e.Text, words) {
			return true
		}
	}
	return false
}

func TestResume_APinLastsUntilItsEndAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetWeights{Meta: control.Meta{By: "li"}, Weights: map[string]float64{"a": 40, "b": 60}, For: control.Duration(10 * time.Minute), Reason: "test"})
		until := r.snapshot().Pin.Until
		next := r.restart(t, 9*time.Minute, nil)
		s := next.snapshot()
		if s.Control != "pinned" || !s.Pin.Until.Equal(until) || s.Pin.By != "li" || s.Pin.Reason != "test" || s.Vendors[0].Weight != 40 {
			t.Fatalf("after 9 of 10 minutes: %s, %+v, weight %v", s.Control, s.Pin, s.Vendors[0].Weight)
		}
		if n := next.traffic(20, 5*time.Second, good); n["a"] != 40 {
			t.Fatalf("100 requests at 40/60 went %v", n)
		}
		next.Tick(time.Now())
		if !next.said("`baton weights extend` extends it") {
			t.Error("nothing is said in its last two minutes")
		}
		time.Sleep(time.Minute)
		next.Tick(time.Now())
		if s := next.snapshot(); s.Pin != nil {
			t.Fatalf("after its end it still is %+v", s.Pin)
		}
		late := r.restart(t, 6*time.Minute, nil)
		if s := late.snapshot(); s.Pin != nil || s.Vendors[0].Weight != 75 {
			t.Fatalf("a pin that ended meanwhile: %+v, weight %v", s.Pin, s.Vendors[0].Weight)
		}
		if !late.said("ended while baton did not run") {
			t.Error("the journal does not say that it ended")
		}
	})
}

func TestResume_APinOverHealthIsStillOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}, Override: true})
		next := r.restart(t, time.Second, nil)
		if !next.snapshot().Pin.Override || !next.table.Load().still {
			t.Fatal("the pin no longer overrides health")
		}
	})
}

func TestResume_APinOnAVendorThatIsGoneIsLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}})
		next := r.restart(t, time.Second, func(c *config.Config) { c.Vendors[1].Name = "c" })
		if next.snapshot().Pin != nil || !next.said(`no vendor "b" any more`) {
			t.Fatalf("%+v", next.events)
		}
	})
}

func TestResume_ADrainLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.Drain{Meta: control.Meta{By: "li"}, Vendor: "a"})
		next := r.restart(t, 48*time.Hour, nil)
		if n := next.traffic(20, 5*time.Second, good); n["a"] != 0 || n["b"] != 100 {
			t.Fatalf("the requests went %v", n)
		}
		if v := next.snapshot().Vendors[0]; v.State != control.Drained || v.Reason != "drained by operator:li" {
			t.Fatalf("a is %s, %s", v.State, v.Reason)
		}
		next.do(t, &control.Undrain{Vendor: "a"})
		if n := next.traffic(20, 60*time.Second, good); n["a"] == 0 {
			t.Fatal("undrained, and still nothing")
		}
		if again := next.restart(t, time.Second, nil); again.snapshot().Vendors[0].State == control.Drained {
			t.Fatal("the drain came back")
		}
	})
}

func TestResume_ADisablingLastsButNeverOfTheLastVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.traffic(20, 2*time.Second, func(v string) outcome.Result {
			if v == "a" {
				return outcome.Result{Outcome: outcome.AccountFault, Scope: outcome.ScopeVendor, Reason: "arrears", Account: "bill"}
			}
			return good(v)
		})
		if s := r.snapshot(); s.Vendors[0].State != control.Disabled {
			t.Fatalf("a is %s", s.Vendors[0].State)
		}
		next := r.restart(t, time.Hour, nil)
		if v := next.snapshot().Vendors[0]; v.State != control.Disabled || v.Reason != "arrears" {
			t.Fatalf("a is %s, %s", v.State, v.Reason)
		}
		if n := next.traffic(20, 5*time.Second, good); n["a"] != 0 {
			t.Fatalf("the requests went %v", n)
		}
		next.Probed(next.ByName("a"), time.Now(), true, "")
		next.traffic(20, 5*time.Second, good)
		if v := next.snapshot().Vendors[0]; v.State == control.Disabled {
			t.Fatal("a good probe and a good trial do not enable it")
		}

		r.do(t, &control.Drain{Vendor: "b"})
		alone := r.restart(t, time.Second, nil)
		if v := alone.snapshot().Vendors[0]; v.State == control.Disabled || !alone.said("is the last vendor") {
			t.Fatalf("the last vendor is %s", v.State)
		}
	})
}

func TestResume_ALimitLastsSixHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.ByName("a").limiter.Resume(time.Now(), limit.Saved{RPS: 20, At: time.Now(), Evidence: "429 on 41 of 200"})
		time.Sleep(time.Second)
		r.do(t, &control.SetLimit{Vendor: "b", RPS: 7})
		next := r.restart(t, 5*time.Hour, nil)
		a, b := next.snapshot().Vendors[0].Limit, next.snapshot().Vendors[1].Limit
		if a.LearnedRPS == nil || *a.LearnedRPS != 20 || a.Evidence != "429 on 41 of 200" {
			t.Fatalf("after 5 h: %+v", a)
		}
		if b.KnownRPS == nil || *b.KnownRPS != 7 {
			t.Fatalf("the limit set by hand: %+v", b)
		}
		next.do(t, &control.ForgetLimit{Vendor: "b"})
		late := next.restart(t, 61*time.Minute, nil)
		if b := late.snapshot().Vendors[1].Limit; b.KnownRPS != nil {
			t.Fatalf("a limit set by hand and forgotten: %+v", b)
		}
		if a := late.snapshot().Vendors[0].Limit; a.LearnedRPS != nil {
			t.Fatalf("after 6 h: %+v", a)
		}
	})
}

func TestResume_WeightsLastFiveMinutesAndOneConfiguration(t *testing.T) {
	for _, c := range []struct {
		name   string
		down   time.Duration
		change func(*config.Config)
		want   float64
	}{
		{"young", 4 * time.Minute, nil, 71},
		{"old", 6 * time.Minute, nil, 75},
		{"another weight in the file", time.Second, func(c *config.Config) { c.Vendors[0].Weight, c.Vendors[1].Weight = 80, 20 }, 80},
		{"another vendor in the file", time.Second, func(c *config.Config) { c.Vendors[1].Name = "c" }, 75},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.mu.Lock()
				r.events = nil
				r.mu.Unlock()
				r.Engine.mu.Lock()
				r.law.Set(map[string]float64{"a": 0.71, "b": 0.29})
				r.settle(time.Now())
				r.Engine.mu.Unlock()
				next := r.restart(t, c.down, c.change)
				if w := next.snapshot().Vendors[0].Weight; math.Abs(w-c.want) > 1 {
					t.Fatalf("weight %v, not about %v", w, c.want)
				}
				if c.want != 71 && next.said("resumed") {
					t.Fatalf("it says that something goes on: %+v", next.events)
				}
			})
		})
	}
}

func TestResume_ManualFailoverLastsUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 50, "b": 50}, For: control.Duration(time.Minute)})
		r.SetManual(time.Now().Add(30 * time.Minute))
		next := r.restart(t, 10*time.Minute, nil)
		s := next.snapshot()
		if s.Failover != "manual" || s.Vendors[0].Weight != 50 {
			t.Fatalf("failover %s, weight %v", s.Failover, s.Vendors[0].Weight)
		}
		time.Sleep(21 * time.Minute)
		next.Tick(time.Now())
		if s := next.snapshot(); s.Failover != "auto" {
			t.Fatalf("after its end failover is %s", s.Failover)
		}
		if s := r.restart(t, 0, nil).snapshot(); s.Failover != "auto" {
			t.Fatalf("a lease that ended meanwhile: failover %s", s.Failover)
		}
	})
}

func TestResume_OfNothingSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.Resume(control.Saved{})
		if len(r.events) > 0 || r.snapshot().Vendors[0].Weight != 75 {
			t.Fatalf("%+v", r.events)
		}
	})
}

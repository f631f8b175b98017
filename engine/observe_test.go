package engine

import (
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
)

// flaky fails one in five of a's attempts.
func flaky(rng *rand.Rand) func(string) outcome.Result {
	return func(v string) outcome.Result {
		if v == "a" && rng.IntN(5) == 0 {
			return outcome.Result{Outcome: outcome.VendorFault, Reason: "http_500"}
		}
		return good(v)
	}
}

func observing20(c *config.Config) { c.Routing.Mode = "observe" }

func TestObserve_SaysWhereTheLawWouldGoAtMostOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, observing20)
		rng := rand.New(rand.NewPCG(1, 1))
		r.traffic(20, 2*time.Minute, good)
		if n := r.times("the law would move"); n != 0 {
			t.Fatalf("while all is well it said %d times what it would do", n)
		}
		n := r.traffic(20, 5*time.Minute, flaky(rng))
		if n["a"] != 4500 {
			t.Errorf("a took %d of 6000 first attempts, and its weight is 75", n["a"])
		}
		if n := r.times("the law would move"); n < 1 || n > 5 {
			t.Errorf("in 5 minutes it said %d times what it would do", n)
		}
		if !r.said("observe: the law would move a 75→") || !r.said("errors at least") {
			t.Errorf("%+v", r.events)
		}
		v := r.snapshot().Vendors[0]
		if v.Weight != 75 || v.Target > 40 || v.Why != "" && !strings.HasPrefix(v.Why, "observe: ") {
			t.Errorf("weight %v, target %v, why %q", v.Weight, v.Target, v.Why)
		}
		r.traffic(20, 5*time.Minute, good)
		if v := r.snapshot().Vendors[0]; v.Target < 70 || r.times("→75") < 1 {
			t.Errorf("well again, the target is %v", v.Target)
		}
	})
}

func TestObserve_ItsLinesAreAMinuteApartAlsoWhenTheVendorFlaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, observing20)
		rng := rand.New(rand.NewPCG(2, 2))
		for range 15 {
			r.traffic(20, 20*time.Second, flaky(rng))
			r.traffic(20, 20*time.Second, good)
		}
		last, n := time.Time{}, 0
		for _, e := range r.events {
			if !strings.HasPrefix(e.Text, "observe:") {
				continue
			}
			if n++; !last.IsZero() && e.Time.Sub(last) < time.Minute {
				t.Fatalf("two lines within %s", e.Time.Sub(last))
			}
			last = e.Time
		}
		if n == 0 {
			t.Fatal("it said nothing")
		}
	})
}

func TestObserve_SteeringBeginsWhereTheWeightsAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, observing20)
		rng := rand.New(rand.NewPCG(3, 3))
		r.traffic(20, 2*time.Minute, flaky(rng)) // the law by itself would be far below
		cfg := *r.cfg.Load()
		cfg.Routing.Mode = "steer"
		r.Reload(&cfg)
		if w := r.snapshot().Vendors[0].Weight; w < 60 {
			t.Fatalf("with the reload the weight jumped from 75 to %v", w)
		}
		r.traffic(20, time.Minute, flaky(rng))
		if w := r.snapshot().Vendors[0].Weight; w > 50 {
			t.Fatalf("after a minute of steering the weight is %v", w)
		}
	})
}

func TestObserve_DrainsAndPinsOfPeopleStillHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, observing20)
		r.do(t, &control.Drain{Vendor: "a"})
		if n := r.traffic(20, 5*time.Second, good); n["a"] != 0 {
			t.Fatalf("drained, a took %d", n["a"])
		}
		r.do(t, &control.Undrain{Vendor: "a"})
		r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}})
		if n := r.traffic(20, 5*time.Second, good); n["a"] != 40 {
			t.Fatalf("pinned to 40, a took %d of 100", n["a"])
		}
	})
}

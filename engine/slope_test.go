package engine

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/control"
	"baton/engine/outcome"
)

func TestSlope_SlowsTheVendorAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		tooFast := true
		answer := func(v string) outcome.Result {
			if v == "b" && tooFast {
				tooFast = false
				return outcome.Result{Outcome: outcome.RateLimited, Limit: outcome.LimitSlope, Scope: outcome.ScopeVendor, Reason: "limit_burst_rate"}
			}
			return outcome.Result{Outcome: outcome.OK}
		}
		if n := r.traffic(40, 2*time.Second, answer); n["b"] < 5 {
			t.Fatalf("stopped instead of slowed: %v", n)
		}
		r.Tick(time.Now())
		b := r.snapshot().Vendors[1]
		if b.State != control.Degraded || !strings.Contains(b.Reason, "slope: ") || b.Limit.LearnedRPS != nil ||
			b.Limit.AllowedRPS == nil || *b.Limit.AllowedRPS < 5 || !strings.HasPrefix(b.Limit.Evidence, "slope: ") {
			t.Fatalf("%s (%s), %+v", b.State, b.Reason, b.Limit)
		}
		if !r.said("b is held at 5 requests/s and rises slowly: slope: ") {
			t.Error("the journal does not say that it is held")
		}
		r.traffic(4, 45*time.Second, answer)
		r.Tick(time.Now())
		if b := r.snapshot().Vendors[1]; b.State != control.Healthy || b.Limit.AllowedRPS != nil || !r.said("held no more") {
			t.Fatalf("45 s without a refusal later: %s (%s), %+v", b.State, b.Reason, b.Limit)
		}
	})
}

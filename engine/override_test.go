package engine

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
)

// lines are the overrides in force, a line each.
func lines(s *control.Snapshot) string {
	var b strings.Builder
	for _, o := range s.Overrides {
		left := "-"
		if o.Until != nil {
			left = o.Until.Sub(s.Time).Round(time.Second).String()
		}
		fmt.Fprintf(&b, "%s|%s|%s|%s|%s|%s|%s|%v\n", o.Kind, o.Vendor, o.Text, o.By, left, o.Release, o.Extend, o.Ending)
	}
	return b.String()
}

func TestOverrides_ListEverythingThatPeopleHaveSetWithItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *config.Config) { c.Routing.Mode = "observe" })
		by := control.Meta{By: "li"}
		r.do(t, &control.SetWeights{Meta: by, Weights: map[string]float64{"a": 40, "b": 60}, For: control.Duration(time.Minute), Reason: "talks", Override: true})
		r.do(t, &control.SetFailover{Meta: by, Mode: "manual"})
		r.do(t, &control.Drain{Meta: by, Vendor: "a"})
		r.do(t, &control.SetLimit{Meta: by, Vendor: "b", RPS: 20})
		want := `observe||weights stay as configured; the journal says what the law would do||-|routing.mode = "steer" in the file, and reload||false
manual||failover is manual: breakers alarm, people move the weights|li|30m0s|baton failover auto|baton failover manual --for 30m|false
pin||pinned to b=60 a=40, also against health: talks|li|1m0s|baton weights auto|baton weights extend|true
drain|a|a drained|li|-|baton undrain a||false
limit|b|limit of b set to 20 requests/s|li|-|baton limits forget b||false
`
		if got := lines(r.snapshot()); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
		next := r.restart(t, 0, func(c *config.Config) { c.Routing.Mode = "observe" })
		if got := lines(next.snapshot()); got != want {
			t.Errorf("after a restart\n%swant\n%s", got, want)
		}
		for _, cmd := range []control.Command{
			&control.ReleaseWeights{}, &control.SetFailover{Mode: "auto"}, &control.Undrain{Vendor: "a"}, &control.ForgetLimit{Vendor: "b"},
		} {
			next.do(t, cmd)
		}
		if o := next.snapshot().Overrides; len(o) != 1 || o[0].Kind != "observe" {
			t.Errorf("after each was ended there are %+v", o)
		}
	})
}

func TestOverrides_NoneIsAnEmptyList(t *testing.T) {
	if o := newRig(t, nil).snapshot().Overrides; o == nil || len(o) > 0 {
		t.Fatalf("%#v", o)
	}
}

func TestOverrides_AKnownLimitOfTheFileIsNoneAlsoWhenAKeyIsRevoked(t *testing.T) {
	r := newRig(t, func(c *config.Config) {
		c.Vendors[0].LimitRPS = 20
		c.Vendors[0].APIKeys = []config.Secret{config.NewSecret("k1"), config.NewSecret("k2")}
	})
	r.Keys(r.ByName("a"), 1)
	if s := r.Saved(); len(s.SetLimit) > 0 || len(r.snapshot().Overrides) > 0 {
		t.Fatalf("saved %v, overrides %v", s.SetLimit, r.snapshot().Overrides)
	}
}

func TestPin_WarnsOnceTwoMinutesBeforeItsEndAndOffersToExtend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}, For: control.Duration(5 * time.Minute)})
		for range 240 {
			time.Sleep(time.Second)
			r.Tick(time.Now())
		}
		if n := r.times("`baton weights extend` extends it"); n != 1 {
			t.Fatalf("it warned %d times", n)
		}
	})
}

func TestRelease_SaysWhatWouldEndWhatHoldsAVendor(t *testing.T) {
	account := func(v string) outcome.Result {
		if v == "a" {
			return outcome.Result{Outcome: outcome.AccountFault, Scope: outcome.ScopeVendor, Reason: "arrears", Account: "bill"}
		}
		return good(v)
	}
	limited := func(v string) outcome.Result {
		if v == "a" {
			return outcome.Result{Outcome: outcome.RateLimited, HasRetryAfter: true, RetryAfter: 30 * time.Second}
		}
		return good(v)
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, r *rig)
		want string
	}{
		{"nothing holds it", func(*testing.T, *rig) {}, ""},
		{"drained", func(t *testing.T, r *rig) { r.do(t, &control.Drain{Vendor: "a"}) }, "`baton undrain a`"},
		{"a limit by hand", func(t *testing.T, r *rig) { r.do(t, &control.SetLimit{Vendor: "a", RPS: 20}) }, "`baton limits forget a` (its limit is set by hand)"},
		{"pinned", func(t *testing.T, r *rig) {
			r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}})
		}, "`baton weights auto`, or the end of the pin at 00:15:00 UTC"},
		{"manual failover", func(t *testing.T, r *rig) { r.do(t, &control.SetFailover{Mode: "manual"}) }, "`baton failover auto`, or the end of manual failover at 00:30:00 UTC"},
		{"drained and pinned", func(t *testing.T, r *rig) {
			r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}})
			r.do(t, &control.Drain{Vendor: "a"})
		}, "`baton undrain a`; `baton weights auto`, or the end of the pin at 00:15:00 UTC"},
		{"ejected", func(_ *testing.T, r *rig) { r.traffic(20, 10*time.Second, failing("a")) }, "an answered trial (one every 10s), or `baton restore a`"},
		{"disabled", func(_ *testing.T, r *rig) { r.traffic(20, time.Second, account) }, "a good probe (one a minute) and then an answered request, or `baton enable a`"},
		{"disabled and well again", func(_ *testing.T, r *rig) {
			r.traffic(20, time.Second, account)
			r.Probed(r.ByName("a"), time.Now(), true, "")
		}, "its next request, if it is answered, or `baton enable a`"},
		{"cooling down", func(_ *testing.T, r *rig) { r.traffic(20, time.Second, limited) }, "the end of its cooldown in 29s"},
		{"in its ramp", func(_ *testing.T, r *rig) {
			r.traffic(20, 10*time.Second, failing("a"))
			r.Restored("a")
			time.Sleep(20 * time.Second)
		}, "the end of its ramp in 40s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				c.do(t, r)
				if got := r.snapshot().Vendor("a").Release; got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestPin_ADrainedVendorHasNoWeightWhateverThePinSays(t *testing.T) {
	for _, override := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 40, "b": 60}, Override: override})
			r.do(t, &control.Drain{Vendor: "a"})
			v := r.snapshot().Vendors
			if v[0].Weight != 0 || v[0].Target != 0 || v[1].Weight != 100 || v[1].Target != 100 {
				t.Fatalf("override %v: %v of %v, %v of %v", override, v[0].Weight, v[0].Target, v[1].Weight, v[1].Target)
			}
		})
	}
}

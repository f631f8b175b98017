package cli

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"baton/engine/config"
	"baton/vendors/sim"
)

func TestSimProfiles_ThoseOfTheConfigurationExist(t *testing.T) {
	if known := slices.Sorted(slices.Values(config.Profiles)); !slices.Equal(known, sim.Profiles()) {
		t.Errorf("the configuration knows %v, the simulator %v", known, sim.Profiles())
	}
}

// What the configuration lets pass, to its bounds, the simulator takes.
func TestSimOptions_EveryKeyArrivesAndNoneIsRefused(t *testing.T) {
	some, none := 1.0, 0.0
	all := config.Sim{
		Seed: 1, FirstToken: 10 * time.Minute, Sigma: 2, PerToken: time.Minute, Tokens: 100_000, TokenSigma: 2, Capacity: 1_000_000, Limit: 1e6,
		LimitMode: "queue", LimitQueue: 100_000, LimitTokens: 1e9, LimitSlope: &some, KeepAlive: time.Minute, Errors: 1, Scale: 100, Models: []string{"m"},
	}
	pool, naive, zero := all, all, all
	pool.Replicas, pool.MaxReplicas, pool.KVTokens = 1, 64, 100_000_000
	naive.Quantized, naive.Crash = true, &some
	zero.LimitSlope, zero.Crash = &none, &none
	for _, c := range []struct {
		profile string
		sim     config.Sim
	}{{"elastic", config.Sim{}}, {"limited", all}, {"vllm-pool", pool}, {"naive-gpu", naive}, {"naive-gpu", zero}, {"faults", all}} {
		cfg := &config.Config{}
		*cfg = *config.Default()
		cfg.Vendors = []config.Vendor{{Name: "a", Simulate: c.profile, Sim: c.sim}}
		if err := cfg.Complete(); err != nil {
			t.Fatalf("%s: %v", c.profile, err)
		}
		v, err := sim.New(simOptions(&cfg.Vendors[0]))
		if err != nil {
			t.Errorf("%s: %v", c.profile, err)
			continue
		}
		if o := v.Options(); c.sim.Crash == &none && (o.Crash != 0 || o.LimitSlope != 0) {
			t.Errorf("%s: a written 0 became crash %v, limit_slope %v", c.profile, o.Crash, o.LimitSlope)
		}
	}
	// A field that nobody copies would stay zero.
	naive.Replicas, naive.MaxReplicas, naive.KVTokens = 1, 1, 1000
	o := reflect.ValueOf(simOptions(&config.Vendor{Name: "n", Label: "l", Simulate: "p", Sim: naive}))
	for i := range o.NumField() {
		if name := o.Type().Field(i).Name; o.Field(i).IsZero() && name != "Keys" {
			t.Errorf("%s does not arrive", name)
		}
	}
}

package engine

import (
	"testing"
	"testing/synctest"

	"baton/engine/config"
	"baton/engine/control"
)

func TestReload_KeepsALimitSetByHandUntilTheFileNamesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := func(rps float64, keys ...config.Secret) *config.Config {
			var c *config.Config
			newRig(t, func(cfg *config.Config) {
				cfg.Vendors[0].LimitRPS, cfg.Vendors[0].APIKeys = rps, keys
				c = cfg
			})
			return c
		}
		r := newRig(t, func(c *config.Config) { *c = *file(10) })
		r.do(t, &control.SetLimit{Vendor: "a", RPS: 7})
		for _, step := range []struct {
			name string
			file *config.Config
			want float64
		}{
			{"the file as it was", file(10), 7},
			{"a second key", file(10, config.NewSecret("k1"), config.NewSecret("k2")), 14},
			{"one key again", file(10, config.NewSecret("k1")), 7},
			{"another limit in the file", file(12), 12},
			{"none in the file", file(0), 0},
		} {
			r.Reload(step.file)
			got := 0.0
			if k := r.snapshot().Vendors[0].Limit.KnownRPS; k != nil {
				got = float64(*k)
			}
			if got != step.want {
				t.Fatalf("%s: %v requests/s, want %v", step.name, got, step.want)
			}
		}
	})
}

package engine

import (
	"fmt"
	"strings"
	"time"

	"baton/engine/health"
)

// wouldRelease says what would end what holds v: what people have set, its account,
// its health, its limits, and what the law holds it by. "" where nothing holds
// it. e.mu and v.mu are held.
func (e *Engine) wouldRelease(v *Vendor, now time.Time) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	c := e.cfg.Load()
	switch {
	case v.drained:
		add("`baton undrain %s`", v.Name)
	case v.disabled != "" && v.retest:
		add("its next request, if it is answered, or `baton enable %s`", v.Name)
	case v.disabled != "":
		add("a good probe (one a minute) and then an answered request, or `baton enable %s`", v.Name)
	case v.health.State() == health.Ejected:
		hc := healthConfig(c)
		if hc.Probes {
			add("%d good probes and an answered trial (one every %s), or `baton restore %s`", hc.HealthyAfter, hc.TrialEvery, v.Name)
		} else {
			add("an answered trial (one every %s), or `baton restore %s`", hc.TrialEvery, v.Name)
		}
	case v.health.State() == health.Recovering:
		if age, length := v.health.RampAge(now); length > age {
			add("the end of its ramp in %s", (length - age).Round(time.Second))
		}
	}
	if s := v.limiter.Release(now); s != "" {
		add("%s", s)
	}
	if s := e.law.Release(v.Name); s != "" {
		add("%s", s)
	}
	if _, ok := v.setByHand(); ok {
		add("`baton limits forget %s` (its limit is set by hand)", v.Name)
	}
	switch {
	case e.pin != nil:
		add("`baton weights auto`, or the end of the pin at %s UTC", e.pin.Until.UTC().Format(time.TimeOnly))
	case !e.manual.until.IsZero():
		add("`baton failover auto`, or the end of manual failover at %s UTC", e.manual.until.UTC().Format(time.TimeOnly))
	}
	return strings.Join(parts, "; ")
}

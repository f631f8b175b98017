package tui

import (
	"strings"
	"time"

	"baton/engine/control"
)

// targetS is what the clock of a drill that is not begun would run against, in
// seconds: the scenario's own bound where it has a stricter one than general,
// else that. Before it runs a bound is told in sentences only: a plan's "against
// a target of 1m", a scenario's "in time (1m)".
func (m *Model) targetS(scenario string, p *control.Preflight, general float64) float64 {
	own, ok := 0.0, false
	if p != nil && p.Scenario == scenario {
		own, ok = toldIn(p.Plan, "against a target of ", "")
	}
	if s := m.scenarioNamed(scenario); !ok && s != nil {
		own, ok = toldIn(s.Explain, "in time (", ")")
	}
	if ok && own > 0 && (general <= 0 || own < general) {
		return own
	}
	return general
}

// toldIn is the duration that a sentence names between two texts, in seconds.
func toldIn(sentences []string, before, after string) (float64, bool) {
	for _, s := range sentences {
		_, rest, ok := strings.Cut(s, before)
		if !ok {
			continue
		}
		if after != "" {
			rest, _, _ = strings.Cut(rest, after)
		}
		if d, err := time.ParseDuration(strings.TrimSpace(rest)); err == nil {
			return d.Seconds(), true
		}
	}
	return 0, false
}

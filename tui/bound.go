package tui

import "baton/engine/control"

// targetS is what the clock of a drill that is not begun would run against, in
// seconds: the scenario's own bound where it has a stricter one than general,
// else that.
func (m *Model) targetS(scenario string, p *control.Preflight, general float64) float64 {
	own := 0.0
	if s := m.scenarioNamed(scenario); s != nil {
		own = s.BoundS
	}
	if p != nil && p.Scenario == scenario {
		own = p.BoundS
	}
	if own > 0 && (general <= 0 || own < general) {
		return own
	}
	return general
}

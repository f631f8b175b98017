package tui

import (
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// arm asks before a drill's countdown begins. What is known of the scenario and
// of its preflight stands in the question.
func (m *Model) arm(c *control.StartDrill) {
	if !m.mayWrite() {
		return
	}
	if d := m.live.Drill; d != nil && d.Verdict == nil {
		m.say(control.Warn, "drill-runs")
		return
	}
	s := m.scenarioNamed(c.Scenario)
	p := m.drills.preflight.value
	if p != nil && (p.Scenario != c.Scenario || c.Vendor != "" && p.Vendor != c.Vendor) {
		p = nil // of another one
	}
	if p != nil && p.Refused != "" && !c.Force {
		m.say(control.Warn, "arm-refused", m.look.Tell(p.Refused))
		return
	}
	if s != nil && given(s) && c.Vendor == "" {
		if v := m.vendor(); v != nil {
			c.Vendor = v.Name
		}
	}
	if c.Countdown == 0 {
		c.Countdown = control.Duration(countdown)
	}
	q := m.armQuestion(c, s, p)
	c.By = m.o.Operator
	q.yes = func() tea.Cmd {
		m.dismissed = ""
		m.place, m.drills.tab, m.drills.at[tabRun] = placeDrills, tabRun, 0
		m.relayout()
		return m.send(c, tagPlain)
	}
	q.Crit = true
	if production(m.live) {
		q.Typed, q.Word = true, m.target(c, s, p)
	}
	m.ask(q)
}

// target is the name of the vendor that a drill hits; the scenario's where that
// is drawn by lot.
func (m *Model) target(c *control.StartDrill, s *control.Scenario, p *control.Preflight) string {
	switch {
	case c.Vendor != "":
		return c.Vendor
	case p != nil && p.Vendor != "":
		return p.Vendor
	case s == nil:
		return c.Scenario
	}
	for i := range m.live.Vendors {
		if v := &m.live.Vendors[i]; v.Role == s.Target || v.Name == s.Target {
			return v.Name
		}
	}
	return c.Scenario
}

func (m *Model) armQuestion(c *control.StartDrill, s *control.Scenario, p *control.Preflight) question {
	k := m.look
	wait := draw.MinSec(time.Duration(c.Countdown).Seconds())
	var text []string
	if s != nil {
		text = append(text, k.Tell(s.Claim))
	}
	name, fault := m.target(c, s, p), c.Fault
	if v := m.live.Vendor(name); v != nil {
		name = label(v)
	}
	switch {
	case fault != "":
	case p != nil && p.Fault.Kind != "":
		fault = draw.FaultText(p.Fault)
	case s != nil:
		fault = draw.FaultText(s.Fault)
	}
	external := c.Scenario == "external"
	switch {
	case external:
		text = append(text, k.Sayf("arm-external"))
	case s != nil && s.Target == "none":
		text = append(text, k.Sayf("arm-none", wait))
	case name == c.Scenario || fault == "":
		text = append(text, k.Sayf("arm-lot"))
	default:
		text = append(text, k.Sayf("arm-1", fault, name, wait, draw.MinSec(m.targetS(c.Scenario, p, m.live.Target.CutoverS))))
	}
	if s != nil && s.Failover == "manual" {
		text = append(text, k.Sayf("arm-people"))
	}
	if warned := warnings(p, k); warned != "" {
		text = append(text, k.Sayf("arm-warn", warned))
	}
	return question{Question: draw.Question{
		Title: k.Sayf("arm-title", c.Scenario), Text: text, Short: []string{k.Sayf("arm-short", fault, name, wait)}, Yes: k.Sayf("arm-yes"),
	}}
}

// warnings are what preflight warns of, in words.
func warnings(p *control.Preflight, k draw.Look) string {
	if p == nil {
		return ""
	}
	var out []string
	for i := range p.Checks {
		if c := &p.Checks[i]; c.Warn {
			out = append(out, strings.TrimSpace(k.Tell(c.Name)+" "+k.Tell(c.Got)))
		}
	}
	return strings.Join(out, "; ")
}

// scenarioNamed is what is known of a scenario, nil when nothing is.
func (m *Model) scenarioNamed(name string) *control.Scenario {
	for i := range m.drills.scenarios.value {
		if s := &m.drills.scenarios.value[i]; s.Name == name {
			return s
		}
	}
	return nil
}

package tui

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
)

// failover reads who moves traffic away from a vendor that is down.
func (p *parser) failover() (control.Command, error) {
	switch {
	case len(p.args) == 1 && p.args[0] == "auto":
		return &control.SetFailover{Mode: "auto"}, p.only(nil, 1)
	case p.has("for") && p.dur <= 0, len(p.args) == 0, p.args[0] != "manual":
		return nil, errors.New(p.w.Sayf("need-failover"))
	}
	c := &control.SetFailover{Mode: "manual", For: p.dur}
	if len(p.args) == 2 { // failover manual 30m
		d, err := time.ParseDuration(p.args[1])
		if err != nil || d <= 0 {
			return nil, errors.New(p.w.Sayf("bad-for", "for", p.args[1]))
		}
		c.For = control.Duration(d)
	}
	return c, p.only(nil, 2, "for")
}

// sim reads what a simulated vendor is to change: NAME=VALUE, where a value is a
// number, true, false, null or a word.
func (p *parser) sim() (control.Command, error) {
	args := p.args
	if len(args) > 0 && args[0] == "set" {
		p.args = args[1:]
	}
	vendor, err := p.vendor(0)
	if err != nil {
		return nil, err
	}
	if len(p.args) < 2 {
		return nil, errors.New(p.w.Sayf("sim-knobs"))
	}
	knobs := map[string]any{}
	for _, a := range p.args[1:] {
		name, value, ok := strings.Cut(a, "=")
		if !ok || name == "" {
			return nil, errors.New(p.w.Sayf("bad-knob", a))
		}
		knobs[name] = knob(value)
	}
	body, err := json.Marshal(knobs)
	if err != nil {
		return nil, errors.New(p.w.Sayf("sim-knobs"))
	}
	return &control.SetSim{Vendor: vendor, Knobs: body}, p.only(nil, len(p.args))
}

func knob(s string) any {
	if v, err := strconv.ParseFloat(s, 64); err == nil {
		return v
	}
	switch s {
	case "true":
		return true
	case "false":
		return false
	case "null", "":
		return nil
	}
	return s
}

// drill reads what is to be done about drills.
func (p *parser) drill() (control.Command, error) {
	verb := ""
	if len(p.args) > 0 {
		verb = p.args[0]
	}
	switch {
	case verb == "abort" && len(p.args) == 1:
		return &control.AbortDrill{}, p.only(nil, 1)
	case verb == "run" && len(p.args) >= 2:
		return p.drillRun()
	case verb == "mark" && len(p.args) <= 2:
		c := &control.MarkDrill{}
		if len(p.args) == 2 {
			n, err := strconv.Atoi(p.args[1])
			if err != nil || n < 1 {
				return nil, errors.New(p.w.Sayf("bad-task", p.args[1]))
			}
			c.Task = n
		}
		return c, p.only(nil, 2)
	case verb == "cancel" && len(p.args) == 2:
		return &control.CancelScheduled{ID: p.args[1]}, p.only(nil, 2)
	case len(p.args) == 1 && (verb == "list" || verb == "history" || verb == "schedule"):
		what := verb
		if what == "list" {
			what = "drills"
		}
		return p.look(lookAt{what: what}, 1)
	}
	all := []string{"drill list", "drill history", "drill schedule", "drill run", "drill abort", "drill mark", "drill cancel"}
	return nil, p.unknown(strings.TrimSpace("drill "+strings.Join(p.args, " ")), all)
}

func (p *parser) drillRun() (control.Command, error) {
	wait, err := p.duration("countdown")
	if err != nil {
		return nil, err
	}
	c := &control.StartDrill{
		Scenario: p.args[1], Fault: p.given["fault"], For: p.dur, Note: p.given["note"], Ticket: p.given["ticket"], Witness: p.given["witness"],
		Countdown: wait, Force: p.has("force"),
	}
	if len(p.args) > 2 {
		if c.Vendor, err = p.vendor(2); err != nil {
			return nil, err
		}
	}
	return c, p.only(nil, 3, "for", "fault", "note", "ticket", "countdown", "force", "witness")
}

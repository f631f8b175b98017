package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/control"
	"baton/vendors/sim"
)

func (a *app) simSetCommand() *cobra.Command {
	return &cobra.Command{
		Use: "set VENDOR KNOB=VALUE...", Short: "Change a simulated vendor of a running engine, in DEMO only",
		Long: "Change how a simulated vendor of the engine that runs behaves, from its next request on; all of the knobs or, if one is wrong, none. It lasts until baton ends.\n" +
			"The knobs are those of [vendors.sim]: " + strings.Join(sim.KnobNames(), ", ") + ".",
		Example: "  baton sim set bailian first_token=2s errors=0.2\n  baton sim set bailian limit=20 limit_mode=queue\n  baton sim set lanyun capacity=5",
		Args:    cobra.MinimumNArgs(2),
		RunE: a.sends(func(args []string) (control.Command, error) {
			knobs, err := parseKnobs(args[1:])
			if err != nil {
				return nil, err
			}
			return &control.SetSim{Meta: a.meta(), Vendor: args[0], Knobs: knobs}, nil
		}, func(args []string) string { return args[0] + ": " + strings.Join(args[1:], " ") }),
	}
}

// parseKnobs makes KNOB=VALUE arguments the JSON that a simulated vendor reads.
func parseKnobs(args []string) (json.RawMessage, error) {
	knobs := map[string]json.RawMessage{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("sim set: %q is not KNOB=VALUE", arg)
		}
		if _, twice := knobs[name]; twice {
			return nil, fmt.Errorf("sim set: %s is named twice", name)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("sim set: %s: %w", name, err)
		}
		knobs[name] = text
		if json.Valid([]byte(value)) && wrongKnob(name, text) != nil { // a number, true or false
			knobs[name] = json.RawMessage(value)
		}
	}
	return json.Marshal(knobs)
}

// wrongKnob says why a knob cannot be read, naming it; nil if it can.
func wrongKnob(name string, value json.RawMessage) error {
	one, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err = sim.ParseKnobs(one)
	typed, isTyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
		return nil
	case !slices.Contains(sim.KnobNames(), name):
		return fmt.Errorf("there is no knob %q; there are %s", name, strings.Join(sim.KnobNames(), ", "))
	case isTyped:
		return fmt.Errorf("%s: %s has to be %s", name, value, wordOf(typed.Type.Kind()))
	}
	return fmt.Errorf("%s: %s is no duration such as \"280ms\"", name, value)
}

// wordOf is what JSON calls a value of a kind.
func wordOf(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	}
	return "a string"
}

// setSim turns knobs of a simulated vendor: all of them or none.
func (p *process) setSim(c *control.SetSim) error {
	v := p.engine.ByName(c.Vendor)
	if v == nil {
		return control.Errorf(control.NotFound, "there is no vendor %q", c.Vendor)
	}
	if env := p.cfg.Load().Console.Environment; env != "DEMO" {
		return control.Errorf(control.Forbidden, "simulated vendors are changed in DEMO only, and this is %s", env)
	}
	s := p.sims.servers[c.Vendor]
	if s == nil {
		return control.Errorf(control.Invalid, "%s is not simulated by this engine: it cannot be changed from here", c.Vendor)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(c.Knobs, &fields); err != nil && len(c.Knobs) > 0 {
		return control.Errorf(control.Invalid, "the knobs are no JSON object: %v", err)
	}
	if len(fields) == 0 {
		return control.Errorf(control.Invalid, "no knob is named; there are %s", strings.Join(sim.KnobNames(), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := wrongKnob(name, fields[name]); err != nil {
			return &control.Error{Kind: control.Invalid, Field: name, Message: err.Error()}
		}
	}
	knobs, err := sim.ParseKnobs(c.Knobs)
	if err == nil {
		err = s.vendor.Set(knobs)
	}
	if err != nil {
		return impossible(err, fields)
	}
	p.hub.Log(control.Event{
		Time: time.Now(), Level: control.Info, Kind: "operator", Vendor: c.Vendor, Who: c.Who(),
		Text: "simulated vendor changed: " + strings.TrimPrefix(c.Line(), "baton sim set "), Data: map[string]any{"command": c.Line()},
	})
	return nil
}

// impossible is the refusal of values that a simulated vendor cannot have.
func impossible(err error, fields map[string]json.RawMessage) error {
	text := strings.ReplaceAll(strings.ReplaceAll(err.Error(), "sim: ", ""), "\n", "; ")
	field, _, _ := strings.Cut(text, " ")
	if _, named := fields[field]; !named {
		field = ""
	}
	return &control.Error{Kind: control.Invalid, Field: field, Message: text}
}

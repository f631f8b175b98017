package drills

import (
	"embed"
	"fmt"
	"sort"
	"time"

	"github.com/BurntSushi/toml"

	"baton/engine/control"
)

//go:embed scenarios/*.toml
var builtin embed.FS

// Scenario is a drill that can be run, as its file describes it.
type Scenario struct {
	Name     string        `toml:"name"`
	Claim    string        `toml:"claim"`    // the hypothesis in words
	Judge    string        `toml:"judge"`    // cutover
	Target   string        `toml:"target"`   // given (by who starts it), primary, secondary or a vendor's name
	Fault    ScenarioFault `toml:"fault"`    // what is injected
	Bounds   Bounds        `toml:"bounds"`   // what it asks for beside drill.target
	Failover string        `toml:"failover"` // auto
	Restore  string        `toml:"restore"`  // by-hand
}

// ScenarioFault is the fault of a scenario.
type ScenarioFault struct {
	Kind     string        `toml:"kind"`
	Percent  float64       `toml:"percent"`
	InFlight string        `toml:"in_flight"`
	For      time.Duration `toml:"for"`
}

// Bounds are what a scenario asks for; 0: not asked.
type Bounds struct {
	Cutover time.Duration `toml:"cutover"`
	Success float64       `toml:"success"` // of clients' requests, from T0 to the proof, 0-1
}

// Builtin returns the scenarios that come with baton, by name.
func Builtin() (map[string]*Scenario, error) {
	files, err := builtin.ReadDir("scenarios")
	if err != nil {
		return nil, err
	}
	all := make(map[string]*Scenario, len(files))
	for _, f := range files {
		data, err := builtin.ReadFile("scenarios/" + f.Name())
		if err != nil {
			return nil, err
		}
		s, err := parse(f.Name(), data)
		if err != nil {
			return nil, err
		}
		all[s.Name] = s
	}
	return all, nil
}

// parse reads one scenario file.
func parse(file string, data []byte) (*Scenario, error) {
	s := new(Scenario)
	meta, err := toml.Decode(string(data), s)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", file, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("scenario %s: unknown key %q", file, unknown[0].String())
	}
	switch {
	case s.Name == "":
		return nil, fmt.Errorf("scenario %s: name is missing", file)
	case s.Judge != "cutover":
		return nil, fmt.Errorf("scenario %s: judge = %q is not cutover", file, s.Judge)
	case s.Fault.Kind == "":
		return nil, fmt.Errorf("scenario %s: fault.kind is missing", file)
	case s.Bounds.Success < 0 || s.Bounds.Success > 1:
		return nil, fmt.Errorf("scenario %s: bounds.success = %g is not between 0 and 1", file, s.Bounds.Success)
	}
	return s, nil
}

// Scenarios lists what drills there are.
func (m *Machine) Scenarios() []control.Scenario {
	out := make([]control.Scenario, 0, len(m.scenarios))
	for _, s := range m.scenarios {
		out = append(out, control.Scenario{Name: s.Name, Claim: s.Claim, Judge: s.Judge, Fault: s.spec()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// spec is the scenario's fault as a command takes it.
func (s *Scenario) spec() control.FaultSpec {
	f := control.FaultSpec{Kind: s.Fault.Kind, InFlight: s.Fault.InFlight, For: control.Duration(s.Fault.For)}
	if s.Fault.Percent > 0 {
		f.Percent = control.Figure(s.Fault.Percent)
	}
	return f
}

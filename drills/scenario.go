package drills

import (
	"embed"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/config/strict"
	"baton/engine/control"
)

//go:embed scenarios/*.toml
var builtin embed.FS

// faultKinds are the words for faults, as baton/vendors/fault knows them.
var faultKinds = []string{
	"refuse", "blackhole", "reset", "http_500", "http_503", "http_429", "slow_first_token", "slow_drip",
	"cut_stream", "stall_stream", "garbage", "dns", "tls", "auth",
}

var scenarioName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// Scenario is a drill that can be run, as its file describes it.
type Scenario struct {
	Name     string        `toml:"name"`     // as the file's, without .toml
	Claim    string        `toml:"claim"`    // the hypothesis in words
	Judge    string        `toml:"judge"`    // cutover
	Target   string        `toml:"target"`   // given: by who starts it
	Fault    ScenarioFault `toml:"fault"`    // what is injected
	Bounds   Bounds        `toml:"bounds"`   // what it asks for beside drill.target
	Failover string        `toml:"failover"` // auto
	Restore  string        `toml:"restore"`  // by-hand
}

// ScenarioFault is the fault of a scenario. What is left out is as in a fault
// that people inject.
type ScenarioFault struct {
	Kind     string        `toml:"kind"`
	Percent  *float64      `toml:"percent"` // of attempts, over 0 up to 100
	For      time.Duration `toml:"for"`     // at most 1h
	Ramp     time.Duration `toml:"ramp"`
	Lane     string        `toml:"lane"`
	Delay    time.Duration `toml:"delay"`
	Rate     float64       `toml:"rate"` // events per second
	After    *int          `toml:"after"`
	InFlight string        `toml:"in_flight"`
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
		return nil, fmt.Errorf("read the built-in scenarios: %w", err)
	}
	all := make(map[string]*Scenario, len(files))
	for _, f := range files {
		data, err := builtin.ReadFile("scenarios/" + f.Name())
		if err != nil {
			return nil, fmt.Errorf("read the built-in scenario %s: %w", f.Name(), err)
		}
		s, err := Parse(f.Name(), data)
		if err != nil {
			return nil, fmt.Errorf("built-in scenario: %w", err)
		}
		all[s.Name] = s
	}
	return all, nil
}

// Parse reads a scenario's file. Its error is of type strict.Errors and names
// every mistake with its line.
func Parse(file string, data []byte) (*Scenario, error) {
	s := &Scenario{Judge: "cutover", Target: "given", Failover: "auto", Restore: "by-hand"}
	s.Fault.For = 15 * time.Minute
	doc, errs := strict.Decode(file, data, s)
	if doc == nil {
		return nil, errs
	}
	c := &check{doc: doc, errs: errs}
	c.scenario(strings.TrimSuffix(path.Base(file), ".toml"), s)
	c.errs.Sort()
	if err := c.errs.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// check collects the mistakes of a scenario.
type check struct {
	doc  *strict.Document
	errs strict.Errors
}

// want blames a value that breaks its rule, once.
func (c *check) want(ok bool, key string, value any, rule string) {
	if ok || c.doc.Wrong(key) {
		return
	}
	c.errs = append(c.errs, c.doc.Mistake(key, strict.Show(value), rule))
}

// given blames a key that has to be there.
func (c *check) given(key, value string) bool {
	if value == "" && !c.doc.Wrong(key) {
		c.errs = append(c.errs, c.doc.Mistake(key, "", "is missing"))
	}
	return value != ""
}

func (c *check) oneOf(key, word string, known ...string) {
	if slices.Contains(known, word) || c.doc.Wrong(key) {
		return
	}
	m := c.doc.Mistake(key, strict.Show(word), known[0])
	if len(known) > 1 {
		m.Rule = "one of " + strings.Join(known, ", ")
	}
	m.Nearest = strict.Nearest(word, known)
	c.errs = append(c.errs, m)
}

func (c *check) scenario(name string, s *Scenario) {
	if c.given("name", s.Name) {
		c.want(scenarioName.MatchString(s.Name), "name", s.Name, "lower-case letters, digits and dashes")
		c.want(s.Name == name, "name", s.Name, "the file's name, "+strconv.Quote(name))
	}
	c.given("claim", s.Claim)
	c.oneOf("judge", s.Judge, "cutover")
	c.oneOf("target", s.Target, "given")
	c.oneOf("failover", s.Failover, "auto")
	c.oneOf("restore", s.Restore, "by-hand")
	c.want(s.Bounds.Cutover >= 0, "bounds.cutover", s.Bounds.Cutover, "0 or more")
	c.want(s.Bounds.Success >= 0 && s.Bounds.Success <= 1, "bounds.success", s.Bounds.Success, "a part from 0 to 1")
	c.fault(&s.Fault)
}

func (c *check) fault(f *ScenarioFault) {
	if c.given("fault.kind", f.Kind) {
		c.oneOf("fault.kind", f.Kind, faultKinds...)
	}
	if f.Percent != nil {
		c.want(*f.Percent > 0 && *f.Percent <= 100, "fault.percent", *f.Percent, "over 0 and at most 100")
	}
	c.want(f.For > 0 && f.For <= faultMax, "fault.for", f.For, "over 0 and at most "+control.Duration(faultMax).String())
	c.want(f.Ramp >= 0 && f.Ramp <= f.For, "fault.ramp", f.Ramp, "from 0 to fault.for")
	if f.Lane != "" {
		c.oneOf("fault.lane", f.Lane, "interactive", "batch")
	}
	c.want(f.Delay >= 0, "fault.delay", f.Delay, "0 or more")
	c.want(f.Rate >= 0, "fault.rate", f.Rate, "0 or more")
	if f.After != nil {
		c.want(*f.After >= 0, "fault.after", *f.After, "0 or more")
	}
	if f.InFlight != "" {
		c.oneOf("fault.in_flight", f.InFlight, "finish", "cut")
	}
}

// Scenarios lists what drills there are, by name.
func (m *Machine) Scenarios() []control.Scenario {
	out := make([]control.Scenario, 0, len(m.scenarios))
	for _, s := range m.scenarios {
		out = append(out, control.Scenario{Name: s.Name, Claim: s.Claim, Judge: s.Judge, Fault: s.spec()})
	}
	slices.SortFunc(out, func(a, b control.Scenario) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// spec is the scenario's fault as a command takes it.
func (s *Scenario) spec() control.FaultSpec {
	f := &s.Fault
	return control.FaultSpec{
		Kind: f.Kind, Percent: f.Percent, For: control.Duration(f.For), Ramp: control.Duration(f.Ramp), Lane: f.Lane,
		Delay: control.Duration(f.Delay), Rate: f.Rate, After: f.After, InFlight: f.InFlight,
	}
}

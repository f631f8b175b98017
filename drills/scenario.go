package drills

import (
	"maps"
	"slices"
	"strings"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// faultKinds are the words for faults, as baton/vendors/fault knows them.
var faultKinds = []string{
	"refuse", "blackhole", "reset", "http_500", "http_503", "http_429", "slow_first_token", "slow_drip",
	"cut_stream", "stall_stream", "garbage", "dns", "tls", "auth",
}

// The words that may stand in place of a fault.
const (
	kindRandom   = "random"   // drawn from outages
	kindExternal = "external" // people cut the vendor themselves
	kindOutage   = "outage"   // of an incident: whatever it was
	kindSpike    = "spike"    // the drill sends a load spike, and hits no vendor
	kindShow     = "show"     // nothing of this engine is touched
)

// outages are the faults after which nothing comes of a vendor: what a random one
// is drawn from.
var outages = []string{"refuse", "blackhole", "reset", "http_500", "http_503", "dns", "tls"}

// What a scenario can ask for.
const (
	judgeCutover   = "cutover"   // good service without the vendor
	judgeContained = "contained" // good service although it is half broken
	judgeRecovered = "recovered" // good service after it, and as before
)

const (
	targetGiven     = "given" // by who starts it
	targetPrimary   = "primary"
	targetSecondary = "secondary"
	targetRandom    = "random"
	targetNone      = "none" // no vendor is hit

	failoverAuto   = "auto"
	failoverManual = "manual"

	restoreAfterHold = "after-hold"
	restoreByHand    = "by-hand"
)

// Scenario is a drill that can be run, as its file describes it.
type Scenario struct {
	Name     string        `toml:"name"`     // as the file's, without .toml
	Claim    string        `toml:"claim"`    // the hypothesis in words
	Judge    string        `toml:"judge"`    // cutover, contained or recovered
	Target   string        `toml:"target"`   // given, primary, secondary, random or a vendor's name
	Fault    ScenarioFault `toml:"fault"`    // what is injected
	Spike    *Spike        `toml:"spike"`    // a load spike, in place of a fault
	Steps    []Step        `toml:"steps"`    // further commands, from T0
	Load     Load          `toml:"load"`     // traffic of its own
	Bounds   Bounds        `toml:"bounds"`   // what it asks for beside drill.target
	Failover string        `toml:"failover"` // auto, or manual: people move the weights
	Restore  string        `toml:"restore"`  // after-hold or by-hand
	Steady   bool          `toml:"steady"`   // preflight and a baseline before the fault; default true
	Window   time.Duration `toml:"window"`   // the fault comes at a random moment of it
	Sealed   bool          `toml:"sealed"`   // vendor, fault and moment are not told until the fault has ended

	file   string // of the user's own
	digest string // sha256 of the file's text
	show   *Show  // what is played in place of a fault
}

// ScenarioFault is the fault of a scenario. What is left out is as in a fault
// that people inject.
type ScenarioFault struct {
	Kind     string        `toml:"kind"`    // a fault's word, random or external
	Percent  *float64      `toml:"percent"` // of attempts, over 0 up to 100
	For      time.Duration `toml:"for"`     // at most 1h
	Ramp     time.Duration `toml:"ramp"`
	Lane     string        `toml:"lane"`
	Delay    time.Duration `toml:"delay"`
	Rate     float64       `toml:"rate"` // events per second
	After    *int          `toml:"after"`
	InFlight string        `toml:"in_flight"`
}

// Step is a further command at a time after T0: exactly one of restore, fault,
// weights and mark.
type Step struct {
	At      time.Duration      `toml:"at"`
	Restore bool               `toml:"restore"` // the fault ends
	Fault   *ScenarioFault     `toml:"fault"`   // another one, in place of the one in force
	Weights map[string]float64 `toml:"weights"` // by vendor, or primary and secondary; percent
	Mark    string             `toml:"mark"`    // a line for the journal and the report
}

// Load is the traffic that a drill sends through the gateway by itself.
type Load struct {
	RPS    float64 `toml:"rps"`    // 0: whatever traffic there is
	Batch  float64 `toml:"batch"`  // part of it that is batch work, 0-1
	Stream float64 `toml:"stream"` // part of the interactive that is streamed, 0-1
}

// Bounds are what a scenario asks for; 0: not asked.
type Bounds struct {
	Cutover   time.Duration `toml:"cutover"`
	Contained time.Duration `toml:"contained"` // until clients are unhurt and the vendor's share is down
	Recovered time.Duration `toml:"recovered"` // from the last restore until clients are served well
	Success   float64       `toml:"success"`   // of clients' requests, from T0 to the proof, 0-1
	P99       time.Duration `toml:"p99"`       // first token, in the window that proves; else by drill's own rule
	Hurt      time.Duration `toml:"hurt"`      // seconds in which clients may be hurt
	Share     float64       `toml:"share"`     // percent of attempts that the vendor may still get, contained
	Ejections *int          `toml:"ejections"` // of the vendor, at most

	Amplification float64 `toml:"amplification"` // of a spike: attempts at vendors per request, at most
}

// hits says whether a vendor is hit, by a fault of ours or by people.
func (s *Scenario) hits() bool { return s.Spike == nil && s.show == nil }

// spec is the scenario's fault as a command takes it.
func (s *Scenario) spec() control.FaultSpec { return s.Fault.spec() }

func (f *ScenarioFault) spec() control.FaultSpec {
	return control.FaultSpec{
		Kind: f.Kind, Percent: f.Percent, For: control.Duration(f.For), Ramp: control.Duration(f.Ramp), Lane: f.Lane,
		Delay: control.Duration(f.Delay), Rate: f.Rate, After: f.After, InFlight: f.InFlight,
	}
}

// external says whether people cut the vendor, not baton.
func (s *Scenario) external() bool { return s.Fault.Kind == kindExternal }

// Scenarios lists what drills there are, by name.
func (m *Machine) Scenarios() []control.Scenario {
	all, _ := m.library()
	m.mu.Lock()
	rules := m.terms.rules
	m.mu.Unlock()
	out := make([]control.Scenario, 0, len(all))
	for _, s := range all {
		out = append(out, control.Scenario{
			Name: s.Name, Claim: s.Claim, Judge: s.Judge, Fault: s.spec(), Target: s.Target, Failover: s.Failover, Explain: s.Explain(), File: s.file,
			BoundS: s.tighter(&rules),
		})
	}
	slices.SortFunc(out, func(a, b control.Scenario) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// text is a step in words.
func (st *Step) text() string {
	switch {
	case st.Restore:
		return "the fault ends"
	case st.Fault != nil:
		f := st.Fault.spec()
		return inWords(&f)
	case st.Weights != nil:
		return "weights " + control.FormatWeights(st.Weights)
	}
	return st.Mark
}

// lasting is how long a scenario's faults and steps go on at most.
func (s *Scenario) lasting(spec control.FaultSpec) time.Duration {
	d := time.Duration(spec.For)
	for i := range s.Steps {
		st := &s.Steps[i]
		d = max(d, st.At)
		if st.Fault != nil {
			d = max(d, st.At+st.Fault.For)
		}
	}
	return d
}

// lastFault is the last step that injects, -1: none does.
func (s *Scenario) lastFault() int {
	for i := len(s.Steps) - 1; i >= 0; i-- {
		if s.Steps[i].Fault != nil {
			return i
		}
	}
	return -1
}

// bound is the time within which what the scenario judges has to be proven, 0:
// drill.target alone.
func (s *Scenario) bound() time.Duration {
	switch s.Judge {
	case judgeContained:
		return s.Bounds.Contained
	case judgeRecovered:
		return s.Bounds.Recovered
	}
	return s.Bounds.Cutover
}

// tighter is the scenario's own bound in seconds where it is tighter than the target,
// else 0.
func (s *Scenario) tighter(rules *config.Drill) float64 {
	if b := s.bound(); b > 0 && b < s.target(rules) {
		return b.Seconds()
	}
	return 0
}

func noScenario(name string, all map[string]*Scenario) error {
	return invalid("scenario", "there is no scenario %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
}

package drills

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

const (
	faultMax     = time.Hour
	failbackTime = 5 * time.Minute // judged apart: how long a vendor may take to be back in its band
)

// Options are what a Machine needs.
type Options struct {
	Control     control.Control
	Dir         string        // where records are kept; made when needed
	Rules       config.Drill  // target, hold, success and the stop conditions
	SLOP99      time.Duration // first token
	Environment string
	Digest      string // of the configuration
	Log         func(control.Event)
}

// terms are what a drill is held to; they stay as they were when it began.
type terms struct {
	rules       config.Drill
	sloP99      time.Duration
	environment string
	digest      string
}

// Machine runs drills, one at a time. Its methods may be called from any
// goroutine.
type Machine struct {
	control   control.Control
	log       func(control.Event)
	records   records
	scenarios map[string]*Scenario

	mu      sync.Mutex
	terms   terms
	ctx     context.Context // of Run; nil while it does not run
	current *run            // the drill that runs or the last one; nil: none or dismissed
	runs    sync.WaitGroup
}

// New returns a machine. Drills can be started while Run runs.
func New(o Options) (*Machine, error) {
	all, err := Builtin()
	if err != nil {
		return nil, err
	}
	m := &Machine{control: o.Control, log: o.Log, records: records{dir: o.Dir}, scenarios: all}
	m.Reconfigure(o.Rules, o.SLOP99, o.Environment, o.Digest)
	return m, nil
}

// Reconfigure sets what drills that begin from now on are held to.
func (m *Machine) Reconfigure(rules config.Drill, sloP99 time.Duration, environment, digest string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.terms = terms{rules: rules, sloP99: sloP99, environment: environment, digest: digest}
}

// Run lets drills run until ctx ends; then the one that runs is ended and its
// vendor restored. Records that a crash left open are closed as aborted.
func (m *Machine) Run(ctx context.Context) error {
	m.closeOpen()
	m.mu.Lock()
	m.ctx = ctx
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	m.ctx = nil // no drill starts any more
	m.mu.Unlock()
	m.runs.Wait()
	return nil
}

// Do carries out the commands about drills. It reports false for others.
//
// It returns when a drill has been started or told to end; the fault goes in
// and out right after, by commands of its own.
func (m *Machine) Do(ctx context.Context, cmd control.Command) (bool, error) {
	switch c := cmd.(type) {
	case *control.StartDrill:
		return true, m.start(ctx, c)
	case *control.AbortDrill:
		return true, m.abort(c.Who())
	case *control.DismissDrill:
		return true, m.dismiss()
	}
	return false, nil
}

// Ask answers the questions about drills. It reports false for others. The
// list of drills comes without their series; each record has its own.
func (m *Machine) Ask(q control.Query) (bool, control.Answer, error) {
	switch q := q.(type) {
	case control.Drills:
		r, err := m.records.history()
		return true, r, err
	case control.DrillByID:
		r, err := m.records.read(q.ID)
		return true, r, err
	case control.Scenarios:
		return true, m.Scenarios(), nil
	}
	return false, nil, nil
}

// State is the drill that runs, or the last one until it is dismissed.
func (m *Machine) State() *control.DrillState {
	m.mu.Lock()
	r := m.current
	m.mu.Unlock()
	if r == nil {
		return nil
	}
	return r.state()
}

// Alert says why records cannot be written, "" if they can.
func (m *Machine) Alert() string { return m.records.alert() }

func invalid(field, format string, args ...any) error {
	return &control.Error{Kind: control.Invalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...)}
}

// drillID is what an id may look like: it becomes a file's name.
var drillID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

// fault is what c wants injected.
func (m *Machine) fault(c *control.StartDrill) (*Scenario, control.FaultSpec, error) {
	s := m.scenarios[c.Scenario]
	if s == nil {
		return nil, control.FaultSpec{}, invalid("scenario", "there is no scenario %q", c.Scenario)
	}
	spec := s.spec()
	if c.Fault != "" && c.Fault != spec.Kind {
		if !slices.Contains(faultKinds, c.Fault) {
			return nil, spec, invalid("fault", "there is no fault %q; there are %s", c.Fault, strings.Join(faultKinds, ", "))
		}
		spec.Kind = c.Fault // with that kind's own parameters
		spec.InFlight, spec.Delay, spec.Rate, spec.After = "", 0, 0, nil
	}
	if c.For != 0 {
		spec.For = c.For
	}
	if d := time.Duration(spec.For); d <= 0 || d > faultMax {
		return nil, spec, invalid("for", "%s is not over 0 and at most %s", spec.For, control.Duration(faultMax))
	}
	return s, spec, nil
}

func (m *Machine) start(ctx context.Context, c *control.StartDrill) error {
	s, spec, err := m.fault(c)
	if err != nil {
		return err
	}
	if c.Vendor == "" {
		return invalid("vendor", "the scenario %s wants one", s.Name)
	}
	if c.ID == "" {
		c.ID = control.NewDrillID(time.Now())
	}
	if !drillID.MatchString(c.ID) {
		return invalid("id", "%q is not 1 to 64 letters, digits and dashes", c.ID)
	}
	if m.records.has(c.ID) {
		return control.Errorf(control.Conflict, "there is a drill %q already", c.ID)
	}
	snap, err := control.Get[*control.Snapshot](ctx, m.control, control.State{})
	if err != nil {
		return err
	}
	if snap.Vendor(c.Vendor) == nil {
		return invalid("vendor", "there is no vendor %q", c.Vendor)
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	switch cur := m.current; {
	case m.ctx == nil || m.ctx.Err() != nil:
		return control.Errorf(control.Conflict, "no drill can start: baton is starting or stopping")
	case cur != nil && !cur.replaceable():
		return control.Errorf(control.Conflict, "the drill %s (%s %s) still runs: restore or abort it first", cur.id, cur.scenario.Name, cur.vendor)
	case cur != nil && cur.id == c.ID:
		return control.Errorf(control.Conflict, "there is a drill %q already", c.ID)
	case cur != nil:
		cur.leave("another drill began")
	}
	r := newRun(m, s, c, spec, snap)
	m.current = r
	life := m.ctx
	m.runs.Go(func() { r.drill(life) })
	return nil
}

func (m *Machine) abort(who string) error {
	m.mu.Lock()
	r := m.current
	m.mu.Unlock()
	if r == nil || r.replaceable() {
		return control.Errorf(control.Conflict, "no drill runs")
	}
	r.stop("aborted by "+who, false)
	return nil
}

func (m *Machine) dismiss() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.current == nil:
		return nil
	case !m.current.replaceable():
		return control.Errorf(control.Conflict, "the drill %s still runs", m.current.id)
	}
	m.current.leave("it was dismissed")
	m.current = nil
	return nil
}

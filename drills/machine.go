package drills

import (
	"context"
	"fmt"
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

// Machine runs drills, one at a time.
type Machine struct {
	o         Options
	scenarios map[string]*Scenario

	mu      sync.Mutex
	ctx     context.Context // of Run; nil before it
	current *run            // the drill that runs or the last one; nil: none or dismissed
	runs    sync.WaitGroup
}

// New returns a machine. Drills can be started while Run runs.
func New(o Options) (*Machine, error) {
	all, err := Builtin()
	if err != nil {
		return nil, err
	}
	return &Machine{o: o, scenarios: all}, nil
}

// Run lets drills run until ctx ends; then the one that runs is aborted and
// its vendor restored. Records that a crash left open are closed as aborted.
func (m *Machine) Run(ctx context.Context) error {
	m.mu.Lock()
	m.ctx = ctx
	m.mu.Unlock()
	m.closeOpenRecords()
	<-ctx.Done()
	m.runs.Wait()
	return nil
}

// Do carries out the commands about drills. It reports false for others.
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

// Ask answers the questions about drills. It reports false for others.
func (m *Machine) Ask(q control.Query) (bool, control.Answer, error) {
	switch q := q.(type) {
	case control.Drills:
		r, err := m.history()
		return true, r, err
	case control.DrillByID:
		r, err := m.report(q.ID)
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

func (m *Machine) start(ctx context.Context, c *control.StartDrill) error {
	invalid := func(field, format string, args ...any) error {
		return &control.Error{Kind: control.Invalid, Field: field, Message: fmt.Sprintf(format, args...)}
	}
	s := m.scenarios[c.Scenario]
	if s == nil {
		return invalid("scenario", "scenario: there is no scenario %q", c.Scenario)
	}
	spec := s.spec()
	if c.Fault != "" {
		spec.Kind, spec.InFlight = c.Fault, ""
	}
	if c.For != 0 {
		spec.For = c.For
	}
	if d := time.Duration(spec.For); d <= 0 || d > faultMax {
		return invalid("for", "for: %s is not between 1ns and %s", spec.For, control.Duration(faultMax))
	}
	snap, err := control.Get[*control.Snapshot](ctx, m.o.Control, control.State{})
	if err != nil {
		return err
	}
	if c.Vendor == "" {
		return invalid("vendor", "vendor: the scenario %s wants one", s.Name)
	}
	if snap.Vendor(c.Vendor) == nil {
		return invalid("vendor", "vendor: there is no vendor %q", c.Vendor)
	}

	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.ctx == nil || m.ctx.Err() != nil:
		return control.Errorf(control.Conflict, "baton is stopping: no drill can start")
	case m.current != nil && !m.current.replaceable():
		return control.Errorf(control.Conflict, "the drill %s (%s %s) still runs: restore or abort it first", m.current.id, m.current.scenario.Name, m.current.vendor)
	}
	if m.current != nil {
		m.current.leave()
	}
	if c.ID == "" {
		c.ID = control.NewDrillID(time.Now())
	}
	r := newRun(m, s, c, spec, snap)
	m.current = r
	m.runs.Add(1)
	go func() {
		defer m.runs.Done()
		r.drill(m.ctx)
	}()
	return nil
}

func (m *Machine) abort(who string) error {
	m.mu.Lock()
	r := m.current
	m.mu.Unlock()
	if r == nil || r.over() {
		return control.Errorf(control.Conflict, "no drill runs")
	}
	r.stop("aborted by " + who)
	return nil
}

func (m *Machine) dismiss() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil && !m.current.replaceable() {
		return control.Errorf(control.Conflict, "the drill %s still runs", m.current.id)
	}
	if m.current != nil {
		m.current.leave()
	}
	m.current = nil
	return nil
}

package drills

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"baton/drills/recording"
	"baton/engine/config"
	"baton/engine/control"
)

const (
	faultMax     = time.Hour
	countdownMax = 10 * time.Minute
	failbackTime = 5 * time.Minute // judged apart: how long a vendor may take to be back in its band
)

// Options are what a Machine needs.
type Options struct {
	Control control.Control
	Dir     string // where records are kept; made when needed
	Config  *config.Config
	Version string // of baton
	Log     func(control.Event)
	Shows   []Show        // drills that bring their own vendors
	Quiet   func() func() // stops traffic of our own for a while, and returns what begins it again; nil: there is none
}

// terms are what a drill is held to; they stay as they were when it began.
type terms struct {
	cfg         *config.Config
	rules       config.Drill
	sloP99      time.Duration
	environment string
	digest      string
	zone        *time.Location // of drill.timezone
}

// Machine runs drills, one at a time. Its methods may be called from any
// goroutine.
type Machine struct {
	control control.Control
	log     func(control.Event)
	version string
	records records
	builtin map[string]*Scenario
	quiet   func() func()
	spikes  http.RoundTripper // what spikes are sent through; nil: the network
	tape    *recording.Recorder
	watcher watcher
	plan    plan
	fresh   struct {
		mu   sync.Mutex
		at   time.Time
		list []control.Freshness
	}

	cleared sync.Once // of what a crash left

	mu        sync.Mutex
	terms     terms
	ctx       context.Context // of Run; nil while it does not run
	current   *run            // the drill that runs or the last one; nil: none
	dismissed bool            // current is off the screen: it goes on to its end all the same
	incidents []*run          // outages that are not dismissed, oldest first
	runs      sync.WaitGroup
}

// New returns a machine. Drills can be started while Run runs.
func New(o Options) (*Machine, error) {
	all, err := Builtin()
	if err != nil {
		return nil, err
	}
	for i := range o.Shows {
		all[o.Shows[i].Name] = o.Shows[i].scenario()
	}
	m := &Machine{control: o.Control, log: o.Log, version: o.Version, records: records{dir: o.Dir}, builtin: all, quiet: o.Quiet}
	m.plan.file = o.Dir
	m.tape = recording.NewRecorder(o.Control, o.Dir, func(err error) { m.warn("a recording is not whole: " + err.Error()) })
	m.Reconfigure(o.Config)
	return m, nil
}

// Reconfigure sets what drills that begin from now on are held to.
func (m *Machine) Reconfigure(cfg *config.Config) {
	m.mu.Lock()
	m.terms = terms{cfg: cfg, rules: cfg.Drill, sloP99: cfg.Routing.SLOP99, environment: cfg.Console.Environment, digest: cfg.Digest, zone: zone(&cfg.Drill)}
	running := m.ctx != nil
	m.mu.Unlock()
	m.plan.configure(cfg)
	if running {
		m.tellLibrary()
	}
}

// Clear closes the records that a crash left open, as aborted. Whoever answers
// questions about drills calls it before, so that nobody is told that one of them
// runs.
func (m *Machine) Clear() { m.cleared.Do(m.closeOpen) }

// Run lets drills run, watches for outages and keeps the schedule until ctx
// ends; then the drill that runs is ended and its vendor restored. It begins with
// Clear, if nobody has called it.
func (m *Machine) Run(ctx context.Context) error {
	m.Clear()
	m.tellLibrary()
	m.mu.Lock()
	m.ctx = ctx
	m.mu.Unlock()
	taping, stopTape := context.WithCancel(context.WithoutCancel(ctx))
	var tape sync.WaitGroup
	tape.Go(func() { m.tape.Run(taping) })
	m.watch(ctx)
	m.mu.Lock()
	m.ctx = nil // no drill starts any more
	m.mu.Unlock()
	m.runs.Wait()
	stopTape()
	tape.Wait()
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
	case *control.MarkDrill:
		return true, m.mark(c)
	case *control.DismissDrill:
		return true, m.dismiss()
	case *control.DismissIncident:
		return true, m.dismissIncident()
	case *control.CancelScheduled:
		return true, m.cancel(c)
	}
	return false, nil
}

// Ask answers the questions about drills. It reports false for others. The
// list of drills comes without their series; each record has its own.
func (m *Machine) Ask(q control.Query) (bool, control.Answer, error) {
	switch q := q.(type) {
	case control.Drills:
		all, err := m.records.history()
		for i := range all {
			m.veil(&all[i])
		}
		return true, all, err
	case control.DrillByID:
		r, err := m.records.read(q.ID)
		if err == nil {
			m.veil(r)
		}
		return true, r, err
	case control.Scenarios:
		return true, m.Scenarios(), nil
	case control.PreflightOf:
		p, err := m.preflightOf(q)
		return true, p, err
	}
	return false, nil, nil
}

// State is the drill that runs, or the last one until it is dismissed.
func (m *Machine) State() *control.DrillState {
	m.mu.Lock()
	r, shown := m.current, !m.dismissed
	m.mu.Unlock()
	if r == nil || !shown {
		return nil
	}
	return r.state()
}

func (m *Machine) drill() *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current
}

// Holds is the id of the drill whose fault is in force at a vendor, "" if none
// is: nobody else injects there meanwhile.
func (m *Machine) Holds(vendor string) string {
	if r := m.drill(); r != nil && r.vendor == vendor && r.inForce() {
		return r.id
	}
	return ""
}

// stalledAfter is how long a drill may do nothing until it is called stalled.
const stalledAfter = 3 * time.Second

// Alive says whether a drill looks after its fault.
func (m *Machine) Alive(id string) bool {
	r := m.drill()
	return r != nil && r.id == id && !r.over() && time.Since(time.Unix(0, r.beat.Load())) < stalledAfter
}

// Sealed says whether a vendor's fault is a secret: it belongs to a blind drill
// whose fault is still in force. It then stands neither in the snapshot nor in the
// journal.
func (m *Machine) Sealed(vendor string) bool {
	r := m.drill()
	return r != nil && r.vendor == vendor && r.sealed()
}

// underSeal is the reason that a record gives out while it is sealed.
const underSeal = "sealed until the fault has ended"

// veil takes out of a record what is sealed.
func (m *Machine) veil(rep *control.Report) {
	if r := m.drill(); r != nil && r.id == rep.ID && r.sealed() {
		*rep = control.Report{
			ID: rep.ID, Scenario: rep.Scenario, Who: rep.Who, Environment: rep.Environment, Started: rep.Started, ConfigDigest: rep.ConfigDigest,
			TargetS: rep.TargetS, Judge: rep.Judge, Reason: underSeal, Note: rep.Note, Ticket: rep.Ticket,
			Phases: []control.Moment{}, Hypothesis: []control.Bound{}, Latency: map[string]control.Latency{}, Series: []control.Point{},
			Weights: []control.WeightsAt{}, Files: map[string]string{}, Requests: control.DrillRequests{Lost: []string{}},
		}
	}
}

// Alert says why records cannot be written, "" if they can.
func (m *Machine) Alert() string { return m.records.alert() }

// warn puts something that is wrong with drills as such into the journal.
func (m *Machine) warn(text string) {
	m.log(control.Event{Level: control.Warn, Kind: "drill", Text: text})
}

func invalid(field, format string, args ...any) error {
	return &control.Error{Kind: control.Invalid, Field: field, Message: field + ": " + fmt.Sprintf(format, args...)}
}

// drillID is what an id may look like: it becomes a file's name.
var drillID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,63}$`)

// fault is what c wants injected.
func (s *Scenario) fault(kind string, lasts control.Duration) (control.FaultSpec, error) {
	spec := s.spec()
	if kind != "" && kind != spec.Kind {
		switch {
		case s.external():
			return spec, invalid("fault", "in %s people cut the vendor: no fault is injected", s.Name)
		case !s.hits():
			return spec, invalid("fault", "in %s no fault is injected", s.Name)
		case !slices.Contains(faultKinds, kind):
			return spec, invalid("fault", "there is no fault %q; there are %s", kind, strings.Join(faultKinds, ", "))
		}
		spec.Kind = kind // with that kind's own parameters
		spec.InFlight, spec.Delay, spec.Rate, spec.After = "", 0, 0, nil
	}
	if lasts != 0 && !s.hits() {
		return spec, invalid("for", "in %s no fault is injected: its times stand in the scenario", s.Name)
	}
	if lasts != 0 {
		spec.For = lasts
	}
	if d := time.Duration(spec.For); d <= 0 || d > faultMax {
		return spec, invalid("for", "%s is not over 0 and at most %s", spec.For, control.Duration(faultMax))
	}
	spec.Ramp = min(spec.Ramp, spec.For)
	return spec, nil
}

func (m *Machine) start(ctx context.Context, c *control.StartDrill) error {
	if c.ID == "" {
		c.ID = control.NewDrillID(time.Now())
	}
	if !drillID.MatchString(c.ID) {
		return invalid("id", "%q is not 1 to 64 letters, digits and dashes", c.ID)
	}
	if d := time.Duration(c.Countdown); d < 0 || d > countdownMax {
		return invalid("countdown", "%s is not from 0 to %s", c.Countdown, control.Duration(countdownMax))
	}
	s, err := m.scenario(c.Scenario)
	if err != nil {
		return err
	}
	spec, err := s.fault(c.Fault, c.For)
	if err != nil {
		return err
	}
	if m.records.has(c.ID) {
		return control.Errorf(control.Conflict, "there is a drill %q already", c.ID)
	}
	snap, err := control.Get[*control.Snapshot](ctx, m.control, control.State{})
	if err != nil {
		return err
	}
	vendor, err := target(s, c.Vendor, snap)
	if err != nil {
		return err
	}
	if vendor == "" && s.hits() {
		vendor = drawVendor(snap)
	}
	spec = drawFault(spec)
	if err := m.known(s, snap); err != nil {
		return err
	}
	checks := m.checks(s, vendor, snap, c.Force, c.Who())

	m.mu.Lock()
	defer m.mu.Unlock()
	switch cur := m.current; {
	case m.ctx == nil || m.ctx.Err() != nil:
		return control.Errorf(control.Conflict, "no drill can start: baton is starting or stopping")
	case cur != nil && !cur.replaceable():
		return control.Errorf(control.Conflict, "the drill %s still runs: restore or abort it first", cur.named())
	case cur != nil && cur.id == c.ID:
		return control.Errorf(control.Conflict, "there is a drill %q already", c.ID)
	case cur != nil:
		cur.leave("another drill began: " + c.ID)
	}
	r := newRun(m, s, c, vendor, spec, snap)
	r.st.Preflight = checks
	m.current, m.dismissed = r, false
	life := m.ctx
	m.runs.Go(func() { r.drill(life) })
	return nil
}

func (m *Machine) abort(who string) error {
	r := m.drill()
	if r == nil || r.replaceable() {
		return control.Errorf(control.Conflict, "no drill runs")
	}
	r.stop("aborted by "+who, false)
	return nil
}

func (m *Machine) mark(c *control.MarkDrill) error {
	r := m.drill()
	if r == nil || r.over() {
		return control.Errorf(control.Conflict, "no drill runs")
	}
	return r.mark(c.Task, c.Who())
}

// dismiss takes a drill that has its verdict off the screen. One whose failback is
// waited for goes on to its end: what is looked at must not change what is measured.
func (m *Machine) dismiss() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current != nil && !m.current.replaceable() {
		return control.Errorf(control.Conflict, "the drill %s still runs", m.current.id)
	}
	m.dismissed = true
	return nil
}

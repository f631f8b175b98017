package drills

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"baton/engine/control"
)

const (
	pace     = 100 * time.Millisecond // how often counts are read
	answerIn = 2 * time.Second        // how long one question to the engine may take
	silence  = 5 * time.Second        // how long the engine may not answer before the drill ends
	overdue  = 2 * time.Second        // after its time, when a fault that has not ended is ended
)

// Moments that are no phases of their own.
const (
	momentPressed  = "pressed"  // external: a person's keypress
	momentAffected = "affected" // external: the first bad attempt
)

// run is one drill, or one outage that nobody ordered. One goroutine does
// everything that is not asked from outside.
type run struct {
	m        *Machine
	id       string
	scenario *Scenario
	vendor   string
	label    string
	spec     control.FaultSpec
	start    *control.StartDrill
	terms    terms
	incident bool

	beat    atomic.Int64 // unix nanoseconds of the last step
	settled atomic.Bool  // of an incident: the vendor has been healthy for a while, and out again is another outage

	stopping chan struct{} // closed by stop
	left     chan struct{} // closed by leave
	once     sync.Once
	leaving  sync.Once
	tidied   sync.Once

	// Of the goroutine alone.
	seq       int64     // of the journal, read so far
	answered  time.Time // when the engine last did, by our clock
	nextBack  time.Time // when to look for the failback again
	nextCost  time.Time
	nextStep  int       // of the scenario
	restoreAt time.Time // when the proven drill ends its fault; zero: not proven
	expiry    time.Time // of the fault in force
	traffic   *traffic  // of its own; nil: none
	leased    bool      // failover is manual for this drill
	kept      int       // phases in the record on the disk
	keptAt    time.Time // when it was written, by our clock
	calm      time.Time // of an incident: since when the vendor is back where it belongs

	mu     sync.Mutex // guards what follows; only the goroutine writes it, stop, leave and mark apart
	before *control.Snapshot
	why    ending    // of stop
	gone   string    // of leave
	ended  bool      // and its record written
	t0     time.Time // as the engine stamped it
	zero   time.Time // the same by our clock
	st     control.DrillState
	report control.Report
	counts
	noticed   time.Time // the first sign in the journal that the vendor's loss was noticed
	shifted   time.Duration
	from      int // the first second from which no whole hold has been looked at
	looked    int // the second at which verify last looked
	late      bool
	proof     *float64 // what the scenario judges by, in seconds; nil: not proven
	restored  restoration
	spoiled   string // what somebody did that makes the drill worthless
	ejections int
	faults    int                // steps that inject and are still to come
	keypress  restoration        // a person's mark that has not been looked at
	waiting   time.Time          // external: since when people were to cut
	own       map[string]float64 // the scenario's own figures
	shown     *control.Report    // of a show that has ended
	surge     *surge             // of a load spike
	ticks     []phaseOfTask      // beside st.Checklist: by what a task ticks itself
}

// ending is why a drill is to end.
type ending struct {
	text    string
	orderly bool // a verdict that was given before stands
}

// restoration is when something was ended, and by whom; the zero value: it was
// not.
type restoration struct {
	at time.Time
	by string
}

func newRun(m *Machine, s *Scenario, c *control.StartDrill, vendor string, spec control.FaultSpec, snap *control.Snapshot) *run {
	r := &run{
		m: m, id: c.ID, scenario: s, vendor: vendor, label: vendor, spec: spec, start: c, terms: m.terms, before: snap,
		stopping: make(chan struct{}), left: make(chan struct{}),
	}
	switch {
	case s.Spike != nil:
		r.label = "the gateway"
	case s.show != nil:
		r.label = "vendors of its own"
	}
	if v := snap.Vendor(vendor); v != nil && v.Label != "" {
		r.label = v.Label
	}
	for i := range s.Steps {
		if s.Steps[i].Fault != nil {
			r.faults++
		}
	}
	r.st = control.DrillState{
		ID: c.ID, Scenario: s.Name, Vendor: vendor, Fault: spec, Who: c.Who(), Phase: control.PhaseSteady,
		TargetS: s.target(&r.terms.rules).Seconds(), Phases: []control.Moment{}, Started: time.Now().UTC(),
		Requests: control.DrillRequests{Lost: []string{}}, Judge: s.Judge, Preflight: []control.Check{}, Steps: []control.StepState{}, Checklist: []control.Task{},
		Budget: &control.DrillRisk{MaxFailed: int64(r.terms.rules.MaxFailed)},
	}
	r.st.BoundS = s.tighter(&r.terms.rules)
	if c := r.terms.rules.MaxCost; c > 0 {
		r.st.Budget.MaxCost = &c
	}
	for i := range s.Steps {
		r.st.Steps = append(r.st.Steps, control.StepState{AtS: s.Steps[i].At.Seconds(), Text: s.Steps[i].text()})
	}
	r.checklist()
	r.report = r.newReport()
	return r
}

// drill runs it from preflight to the end.
func (r *run) drill(ctx context.Context) {
	defer r.leaveAsFound()
	if why := refusal(r.st.Preflight); why != "" {
		r.finish(control.Refused, why)
		return
	}
	r.record()
	r.keep()
	switch {
	case r.scenario.Spike != nil:
		r.spike(ctx)
		return
	case r.scenario.show != nil:
		r.play(ctx)
		return
	}
	if err := r.prepare(ctx); err != nil {
		r.finish(control.Refused, err.Error())
		return
	}
	if !r.steady(ctx) {
		return
	}
	begin := r.inject
	if r.scenario.external() {
		begin = r.await
	}
	if err := begin(ctx); err != nil {
		if end, ok := errors.AsType[*unbegun](err); ok {
			r.finish(end.verdict, end.reason)
		} else {
			r.finish(control.Refused, "the fault could not be injected: "+err.Error())
		}
		return
	}
	r.opening()
	r.keep() // with its T0
	r.loop(ctx, r.step)
}

// record has what a console would show recorded.
func (r *run) record() {
	path, err := r.m.tape.Begin(r.id)
	if err != nil {
		r.m.warn("the drill is not recorded: " + err.Error())
		return
	}
	r.mu.Lock()
	r.report.Recording = path
	r.mu.Unlock()
}

// unbegun ends a drill before its T0.
type unbegun struct{ verdict, reason string }

func (u *unbegun) Error() string { return u.reason }

// loop steps until one says that it was the last.
func (r *run) loop(ctx context.Context, step func(context.Context) bool) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		r.beat.Store(time.Now().UnixNano())
		select {
		case <-ctx.Done():
			r.stop("baton stopped", true)
		case <-r.stopping:
		case <-tick.C:
		}
		if step(ctx) {
			return
		}
		r.keepUp()
	}
}

// inject injects the fault: T0 is the engine's stamp of it, because the
// command may have to wait for another one.
func (r *run) inject(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*silence)
	defer cancel()
	base, err := r.tally(ctx)
	if err != nil {
		return err
	}
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	r.m.handOver(r.vendor)
	sent := time.Now()
	r.beat.Store(sent.UnixNano())
	t0, err := r.strike(ctx, r.spec)
	if err != nil {
		return err
	}
	done := time.Now()
	base.Time = t0
	until := t0.Add(time.Duration(r.spec.For)).UTC()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t0, r.zero = t0, t0
	if t0.Before(sent) || t0.After(done) {
		r.zero = done // the engine's clock is another one
	}
	r.answered = done
	if len(r.early.tallies) == 0 { // no baseline was held: the watch has the minute before
		r.past = r.m.watcher.recent()
	}
	r.counts.begin(base)
	r.st.Until = &until
	r.st.Armed = nil
	r.reach(control.PhaseFault, t0)
	return nil
}

// catchUp reads the journal up to now.
func (r *run) catchUp(ctx context.Context) error {
	events, err := control.Get[[]control.Event](ctx, r.m.control, control.EventsAfter{Seq: r.seq})
	if n := len(events); err == nil && n > 0 {
		r.seq = events[n-1].Seq
	}
	return err
}

// strike puts a fault into the path to the vendor, and returns when, by the
// engine's own stamp where the journal has it: of a sealed drill it has not.
func (r *run) strike(ctx context.Context, spec control.FaultSpec) (time.Time, error) {
	by := control.Meta{By: r.me()}
	seq, sent := r.seq, time.Now()
	if err := r.m.control.Do(ctx, &control.SetFault{Meta: by, Vendor: r.vendor, FaultSpec: spec}); err != nil {
		if lost(err) {
			_ = r.restore() // it may have taken effect: said by restore where it fails
		}
		return time.Time{}, err
	}
	at := sent
	if events, err := control.Get[[]control.Event](ctx, r.m.control, control.EventsAfter{Seq: seq}); err == nil {
		for i := range events {
			if e := &events[i]; e.Kind == "fault" && e.Vendor == r.vendor && e.Who == by.Who() && e.Data["on"] == true {
				at = e.Time
			}
		}
	}
	r.expiry = at.Add(time.Duration(spec.For))
	return at, nil
}

// lost says whether a command that failed may have taken effect all the same.
func lost(err error) bool {
	var e *control.Error
	return !errors.As(err, &e) || e.Kind == control.Unreachable || e.Kind == control.Internal
}

// opening says in the journal what has begun, and gives the verdict at once where
// nothing can be measured.
func (r *run) opening() {
	r.mu.Lock()
	was := r.of(r.seconds[0]).State
	idle := !takes(was)
	if idle {
		r.judged(control.Inconclusive, fmt.Sprintf("%s was %s already: it took no traffic whose loss could be noticed", r.label, was))
	}
	reason := r.st.Reason
	r.mu.Unlock()
	ends := "It ends once its verdict is given, with A, or in " + r.spec.For.String()
	if r.scenario.Restore == restoreByHand {
		ends = "It ends with R, or in " + r.spec.For.String()
	}
	text := fmt.Sprintf("drill %s: %s killed (%s); the engine has to notice. %s", r.scenario.Name, r.label, r.spec.Kind, ends)
	switch {
	case r.scenario.Sealed:
		return // the moment is a secret, too
	case idle:
		text = fmt.Sprintf("drill %s: %s, and %s. %s", r.scenario.Name, r.spec.Kind, reason, ends)
	case r.scenario.external():
		text = fmt.Sprintf("drill %s: %s was cut; the engine has to notice", r.scenario.Name, r.label)
	case r.scenario.Judge != judgeCutover:
		text = fmt.Sprintf("drill %s: %s at %s; the engine has to notice. %s", r.scenario.Name, r.spec.Kind, r.label, ends)
	}
	r.say(control.Warn, r.start.Who(), text, map[string]any{"phase": control.PhaseFault, "command": r.start.Line()})
}

// step looks at what has happened since the last one, and reports whether the
// drill is over.
func (r *run) step(ctx context.Context) bool {
	if r.stopped() {
		return r.halt()
	}
	t, err := r.look(ctx)
	if err != nil {
		if time.Since(r.answered) > silence {
			r.stop("the engine does not answer: "+err.Error(), false)
		}
		return false
	}
	r.answered = time.Now()
	r.reckon(ctx, t.Time)

	r.mu.Lock()
	at := t.Time.Sub(r.t0)
	over := r.isRestored()
	r.take(t, at)
	var proven bool
	var breach string
	if !over {
		r.outside(t)
		breach = r.breached(t)
	}
	if !over || r.scenario.Judge == judgeRecovered {
		proven = r.progress(t)
	}
	r.tickTasks()
	ended := !r.restored.at.IsZero()
	r.mu.Unlock()

	if proven {
		r.announce()
	}
	switch {
	case over:
		return r.aftermath(ctx, t)
	case ended:
		return r.afterRestore(t)
	case breach != "":
		r.stop(breach, false)
	case r.restoreDue(proven):
		if r.restore() != nil {
			r.restoreAt = time.Now().Add(time.Second)
			return false
		}
		r.mu.Lock()
		r.noteRestored()
		r.mu.Unlock()
		return r.afterRestore(r.last)
	case r.unattended(at):
		r.stop(fmt.Sprintf("the target of %s has passed", clock(r.terms.rules.Target.Seconds())), true)
	case at > r.scenario.lasting(r.spec)+overdue:
		r.stop("the fault was in force beyond its time", true)
	default:
		r.overtime(at)
		r.dueSteps(ctx, at)
	}
	return false
}

// witnessSlack is how much longer a fault that a witness watches stays: it sees the
// cutover no sooner than by its next request.
const witnessSlack = 3 * time.Second

// restoreDue says whether it is time to end the fault by itself: once its proof is
// given.
func (r *run) restoreDue(proven bool) bool {
	if r.scenario.Restore != restoreAfterHold {
		return false
	}
	if proven {
		r.restoreAt = time.Now()
		if r.start.Witness != "" {
			r.restoreAt = r.restoreAt.Add(witnessSlack)
		}
	}
	return !r.restoreAt.IsZero() && !time.Now().Before(r.restoreAt)
}

// unattended says whether a drill that restores by itself has nothing to gain from
// going on: it has failed.
func (r *run) unattended(at time.Duration) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.scenario.Restore == restoreAfterHold && r.scenario.Judge != judgeRecovered && r.st.Verdict == nil &&
		at > r.terms.rules.Target && r.tooLate(at)
}

// look reads the journal, then the counts: what the journal does not have yet
// happened after them.
func (r *run) look(ctx context.Context) (*control.Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	events, err := control.Get[[]control.Event](ctx, r.m.control, control.EventsAfter{Seq: r.seq})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	for i := range events {
		r.seq = max(r.seq, events[i].Seq)
		r.read(&events[i])
	}
	r.mu.Unlock()
	return control.Get[*control.Tally](ctx, r.m.control, control.Counts{})
}

func (r *run) tally(ctx context.Context) (*control.Tally, error) {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	return control.Get[*control.Tally](ctx, r.m.control, control.Counts{})
}

// reach stamps a phase. r.mu is held.
func (r *run) reach(phase string, at time.Time) {
	r.st.Phase = phase
	if n := len(r.st.Phases); n > 0 { // what was rounded must not turn their order round
		if last := r.st.Phases[n-1].Time; at.Before(last) && last.Sub(at) < time.Millisecond {
			at = last
		}
	}
	r.stamp(phase, at)
}

// stamp keeps a moment, in the order of the time. Before T0 is known it has no
// time from there. r.mu is held.
func (r *run) stamp(name string, at time.Time) {
	m := control.Moment{Name: name, Time: at.UTC()}
	if !r.t0.IsZero() {
		m.TS = milli(at.Sub(r.t0).Seconds())
	}
	i := len(r.st.Phases)
	for i > 0 && r.st.Phases[i-1].Time.After(m.Time) {
		i--
	}
	r.st.Phases = slices.Insert(r.st.Phases, i, m)
	if name == control.PhaseFault { // now the ones before have a time, too
		for k := range r.st.Phases {
			r.st.Phases[k].TS = milli(r.st.Phases[k].Time.Sub(r.t0).Seconds())
		}
	}
}

// reached says how long after T0 a phase was reached. r.mu is held.
func (r *run) reached(phase string) (time.Duration, bool) {
	for i := range r.st.Phases {
		if p := &r.st.Phases[i]; p.Name == phase {
			return time.Duration(p.TS * float64(time.Second)), true
		}
	}
	return 0, false
}

// isRestored says whether the fault has ended for good. r.mu is held.
func (r *run) isRestored() bool {
	_, is := r.reached(control.PhaseRestored)
	return is
}

// judged gives the verdict. r.mu is held.
func (r *run) judged(verdict, reason string) {
	r.st.Verdict, r.st.Reason = &verdict, reason
}

// stop tells the drill to end.
func (r *run) stop(why string, orderly bool) {
	r.once.Do(func() {
		r.mu.Lock()
		r.why = ending{why, orderly}
		r.mu.Unlock()
		close(r.stopping)
	})
}

func (r *run) stopped() bool {
	select {
	case <-r.stopping:
		return true
	default:
		return false
	}
}

// leave says why nobody waits for the failback any more.
func (r *run) leave(why string) {
	r.leaving.Do(func() {
		r.mu.Lock()
		r.gone = why
		r.mu.Unlock()
		close(r.left)
	})
}

// replaceable says whether another drill may start: its fault is gone, and its
// verdict given.
func (r *run) replaceable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended || r.isRestored() && r.st.Verdict != nil
}

// over says whether it has ended altogether.
func (r *run) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// inForce says whether its fault may be in the path to the vendor.
func (r *run) inForce() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.ended && !r.t0.IsZero() && !r.isRestored() && !r.scenario.external()
}

// say puts something about the drill into the journal.
func (r *run) say(level, who, text string, data map[string]any) {
	data["id"] = r.id
	vendor := r.vendor
	if r.sealed() {
		vendor = ""
	}
	r.m.log(control.Event{Level: level, Kind: "drill", Vendor: vendor, Who: who, Text: text, Data: data})
}

// me is the Who of what the drill does by itself.
func (r *run) me() string { return "drill:" + r.id }

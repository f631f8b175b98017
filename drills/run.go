package drills

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"baton/engine/control"
)

const (
	pace     = 100 * time.Millisecond // how often counts are read
	answerIn = 2 * time.Second        // how long one question to the engine may take
	silence  = 5 * time.Second        // how long the engine may not answer before the drill ends
	overdue  = 2 * time.Second        // after its time, when a fault that has not ended is ended
)

// run is one drill. One goroutine, in drill, does everything that is not asked
// from outside.
type run struct {
	m        *Machine
	id       string
	scenario *Scenario
	vendor   string
	label    string
	spec     control.FaultSpec
	start    *control.StartDrill
	terms    terms
	before   *control.Snapshot

	stopping chan struct{} // closed by stop
	left     chan struct{} // closed by leave
	once     sync.Once
	leaving  sync.Once

	// Of the goroutine alone.
	seq      int64     // of the journal, read so far
	answered time.Time // when the engine last did, by our clock
	nextBack time.Time // when to look for the failback again

	mu     sync.Mutex // guards what follows; only the goroutine writes it, stop and leave apart
	why    ending     // of stop
	gone   string     // of leave
	ended  bool
	t0     time.Time // as the engine stamped it
	zero   time.Time // the same by our clock
	st     control.DrillState
	report control.Report
	counts
	noticed  time.Time // the first sign in the journal that the vendor's loss was noticed
	shifted  time.Duration
	from     int // the first second from which no whole hold has been looked at
	looked   int // the second at which verify last looked
	late     bool
	restored restoration
	spoiled  string // what somebody did that makes the drill worthless
}

// ending is why a drill is to end.
type ending struct {
	text    string
	orderly bool // a verdict that was given before stands
}

// restoration is the end of the fault; the zero value: it has not ended.
type restoration struct {
	at time.Time
	by string
}

func newRun(m *Machine, s *Scenario, c *control.StartDrill, spec control.FaultSpec, snap *control.Snapshot) *run {
	r := &run{
		m: m, id: c.ID, scenario: s, vendor: c.Vendor, label: c.Vendor, spec: spec, start: c, terms: m.terms, before: snap,
		stopping: make(chan struct{}), left: make(chan struct{}),
	}
	if l := snap.Vendor(c.Vendor).Label; l != "" {
		r.label = l
	}
	r.st = control.DrillState{
		ID: c.ID, Scenario: s.Name, Vendor: c.Vendor, Fault: spec, Who: c.Who(), Phase: control.PhaseSteady,
		TargetS: r.terms.rules.Target.Seconds(), Phases: []control.Moment{}, Started: time.Now().UTC(),
		Requests: control.DrillRequests{Lost: []string{}},
	}
	r.report = r.newReport()
	return r
}

// drill runs it from preflight to the end.
func (r *run) drill(ctx context.Context) {
	if reason := r.preflight(); reason != "" {
		r.finish(control.Refused, reason)
		return
	}
	r.keep()
	if err := r.inject(ctx); err != nil {
		r.finish(control.Refused, "the fault could not be injected: "+err.Error())
		return
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	r.opening()
	for {
		select {
		case <-ctx.Done():
			r.stop("baton stopped", true)
		case <-r.stopping:
		case <-tick.C:
		}
		if r.step(ctx) {
			return
		}
	}
}

// preflight says why the drill must not run, "" if it may: a kill is refused
// only when nobody else may take traffic.
func (r *run) preflight() string {
	for i := range r.before.Vendors {
		v := &r.before.Vendors[i]
		if v.Name != r.vendor && takes(v.State) {
			return ""
		}
	}
	return "no other vendor may take traffic"
}

// takes says whether a vendor in that state may take traffic.
func takes(state string) bool {
	switch state {
	case control.Ejected, control.Drained, control.Disabled:
		return false
	}
	return true
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
	events, err := control.Get[[]control.Event](ctx, r.m.control, control.EventsAfter{})
	if err != nil {
		return err
	}
	if n := len(events); n > 0 {
		r.seq = events[n-1].Seq
	}
	by := control.Meta{By: "drill:" + r.id}
	sent := time.Now()
	if err := r.m.control.Do(ctx, &control.SetFault{Meta: by, Vendor: r.vendor, FaultSpec: r.spec}); err != nil {
		if lost(err) {
			_ = r.restore() // it may have taken effect: said by restore where it fails
		}
		return err
	}
	done := time.Now()
	t0 := sent
	if events, err = control.Get[[]control.Event](ctx, r.m.control, control.EventsAfter{Seq: r.seq}); err == nil {
		for _, e := range events {
			if e.Kind == "fault" && e.Vendor == r.vendor && e.Who == by.Who() && e.Data["on"] == true {
				t0 = e.Time
			}
		}
	}
	base.Time = t0
	until := t0.Add(time.Duration(r.spec.For)).UTC()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t0, r.zero = t0, t0
	if t0.Before(sent) || t0.After(done) {
		r.zero = done // the engine's clock is another one
	}
	r.answered = done
	r.counts.begin(base)
	r.st.Until = &until
	r.reach(control.PhaseFault, t0)
	return nil
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
	text := fmt.Sprintf("drill %s: %s killed (%s); the engine has to notice. It ends with R, or in %s", r.scenario.Name, r.label, r.spec.Kind, r.spec.For)
	if idle {
		text = fmt.Sprintf("drill %s: %s, and %s. It ends with R, or in %s", r.scenario.Name, r.spec.Kind, reason, r.spec.For)
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

	r.mu.Lock()
	at := t.Time.Sub(r.t0)
	over := r.st.Phase == control.PhaseRestored
	r.take(t, at)
	var proven bool
	var breach string
	if !over {
		proven = r.progress(t)
		breach = r.breached(t)
	}
	ended := !r.restored.at.IsZero()
	r.mu.Unlock()

	switch {
	case over:
		return r.failback(ctx, t)
	case proven:
		r.announce()
	}
	switch {
	case ended:
		return r.afterRestore(t)
	case breach != "":
		r.stop(breach, false)
	case at > time.Duration(r.spec.For)+overdue:
		r.stop("the fault was in force beyond its time", true)
	default:
		r.overtime(at)
	}
	return false
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
	r.st.Phases = append(r.st.Phases, control.Moment{Name: phase, TS: milli(at.Sub(r.t0).Seconds()), Time: at.UTC()})
}

// reached says how long after T0 a phase was reached. r.mu is held.
func (r *run) reached(phase string) (time.Duration, bool) {
	for i := range r.st.Phases {
		if p := &r.st.Phases[i]; p.Name == phase {
			return p.Time.Sub(r.t0), true
		}
	}
	return 0, false
}

// judged gives a verdict. r.mu is held.
func (r *run) judged(verdict, reason string) { r.st.Verdict, r.st.Reason = &verdict, reason }

// stop asks the run to end and restore, for the first reason given. A verdict
// that was given before stands if the end is an orderly one.
func (r *run) stop(why string, orderly bool) {
	r.once.Do(func() {
		r.mu.Lock()
		r.why = ending{text: why, orderly: orderly}
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

// replaceable says whether another drill may start: its fault is gone.
func (r *run) replaceable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, over := r.reached(control.PhaseRestored)
	return r.ended || over
}

// state is a copy for the snapshot.
func (r *run) state() *control.DrillState {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.st
	st.Phases = append([]control.Moment{}, r.st.Phases...)
	st.Requests.Lost = append([]string{}, r.st.Requests.Lost...)
	st.ClockS = r.clock()
	return &st
}

// clock is what the large clock shows, in seconds: it runs from T0, and stands
// still at the cutover, or where the fault ended without one. r.mu is held.
func (r *run) clock() float64 {
	restored, over := r.reached(control.PhaseRestored)
	switch {
	case r.st.CutoverS != nil:
		return *r.st.CutoverS
	case r.zero.IsZero():
		return 0 // refused, or not begun
	case over:
		return milli(restored.Seconds())
	case r.st.Verdict != nil:
		return 0 // there was nothing to time
	}
	return milli(time.Since(r.zero).Seconds())
}

// say puts something about the drill into the journal.
func (r *run) say(level, who, text string, data map[string]any) {
	data["id"] = r.id
	r.m.log(control.Event{Level: level, Kind: "drill", Vendor: r.vendor, Who: who, Text: text, Data: data})
}

// me is the Who of what the drill does by itself.
func (r *run) me() string { return "drill:" + r.id }

package drills

import (
	"context"
	"fmt"
	"sync"
	"time"

	"baton/engine/control"
)

const (
	pace       = 100 * time.Millisecond // how often counts are read
	perSecond  = int(time.Second / pace)
	shiftSpan  = time.Second // over which the vendor's part of attempts is taken
	shiftPart  = 0.01
	shiftCount = 20
	hurtBelow  = 0.99
)

// run is one drill.
type run struct {
	m        *Machine
	id       string
	scenario *Scenario
	vendor   string
	label    string
	spec     control.FaultSpec
	start    *control.StartDrill
	before   *control.Snapshot

	stopping chan struct{} // closed by stop
	left     chan struct{} // closed when nobody waits for the failback any more
	once     sync.Once
	leaving  sync.Once

	mu     sync.Mutex // guards what follows; one goroutine writes
	why    string     // of stop
	ended  bool
	t0     time.Time
	st     control.DrillState
	report control.Report

	samples []*control.Tally // at T0 + k x pace
	seq     int64            // of the journal, read so far
	shifted time.Time
}

func newRun(m *Machine, s *Scenario, c *control.StartDrill, spec control.FaultSpec, snap *control.Snapshot) *run {
	now := time.Now().UTC()
	r := &run{m: m, id: c.ID, scenario: s, vendor: c.Vendor, spec: spec, start: c, before: snap,
		stopping: make(chan struct{}), left: make(chan struct{})}
	r.label = snap.Vendor(c.Vendor).Label
	r.st = control.DrillState{ID: c.ID, Scenario: s.Name, Vendor: c.Vendor, Fault: spec, Who: c.Who(), Phase: control.PhaseSteady,
		TargetS: m.o.Rules.Target.Seconds(), Phases: []control.Moment{}, Started: now,
		Requests: control.DrillRequests{Lost: []string{}}}
	r.report = newReport(m, r, now)
	return r
}

// drill runs it from preflight to the end.
func (r *run) drill(ctx context.Context) {
	if reason := r.preflight(); reason != "" {
		r.finish(control.Refused, reason, false)
		return
	}
	if err := r.inject(ctx); err != nil {
		r.finish(control.Refused, err.Error(), false)
		return
	}
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.stop("baton stopped")
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
	for _, v := range r.before.Vendors {
		if v.Name != r.vendor && (v.State == control.Healthy || v.State == control.Degraded || v.State == control.Recovering) {
			return ""
		}
	}
	return "no other vendor may take traffic"
}

// inject writes the record, then injects the fault: T0.
func (r *run) inject(ctx context.Context) error {
	if err := r.save(); err != nil {
		r.m.o.Log(control.Event{Level: control.Warn, Kind: "store", Vendor: r.vendor, Who: "drill:" + r.id, Text: "the drill's record cannot be written: " + err.Error()})
	}
	base, err := r.counts(ctx)
	if err != nil {
		return err
	}
	r.seq = r.lastSeq(ctx)
	t0 := time.Now()
	err = r.m.o.Control.Do(ctx, &control.SetFault{Meta: control.Meta{By: "drill:" + r.id}, Vendor: r.vendor, FaultSpec: r.spec})
	if err != nil {
		return err
	}
	base.Time = t0.UTC()
	r.mu.Lock()
	r.t0 = t0
	r.samples = append(r.samples, base)
	until := t0.Add(time.Duration(r.spec.For)).UTC()
	r.st.Until = &until
	r.reach(control.PhaseFault, t0)
	r.mu.Unlock()
	r.m.o.Log(control.Event{Level: control.Warn, Kind: "drill", Vendor: r.vendor, Who: r.start.Who(),
		Text: fmt.Sprintf("drill %s: %s killed (%s); the engine has to notice. It ends with R, or in %s", r.scenario.Name, r.label, r.spec.Kind, r.spec.For),
		Data: map[string]any{"id": r.id, "phase": control.PhaseFault, "command": r.start.Line()}})
	return nil
}

// step looks at what has happened since the last one, and reports whether the
// drill is over.
func (r *run) step(ctx context.Context) bool {
	now := time.Now()
	if r.stopped() {
		r.restore()
		r.finish(control.Aborted, r.stopReason(), true)
		return true
	}
	t, err := r.counts(ctx)
	if err != nil {
		r.stop("the engine does not answer: " + err.Error())
		return false
	}
	restored, by := r.restoredAt(ctx)
	r.mu.Lock()
	r.sample(t, now)
	r.detect(t)
	r.shift()
	proven := r.verify()
	reason := r.breached(now)
	phase := r.st.Phase
	r.mu.Unlock()

	if proven {
		r.announce()
	}
	if reason != "" && phase != control.PhaseRestored {
		r.stop(reason)
	}
	if !restored.IsZero() {
		return r.afterRestore(ctx, restored, by)
	}
	if phase == control.PhaseRestored {
		return r.failback(t, now)
	}
	return false
}

// sample keeps the counts for every pace that has passed since T0. r.mu is held.
func (r *run) sample(t *control.Tally, now time.Time) {
	due := int(now.Sub(r.t0)/pace) + 1
	if r.st.CutoverS != nil && len(r.samples) > 0 {
		due = min(due, len(r.samples)) // proven: the series needs no more
	}
	for len(r.samples) < due {
		r.samples = append(r.samples, t)
	}
	base := r.samples[0]
	q := &r.st.Requests
	q.Total = t.Totals.Requests - base.Totals.Requests
	q.OK = t.Totals.OK - base.Totals.OK
	q.Failed = t.Totals.Failed - base.Totals.Failed
	q.FailedOver = t.Totals.FailedOver - base.Totals.FailedOver
	q.Attempts = t.Totals.Attempts - base.Totals.Attempts
	q.CutStreams = t.CutStreams - base.CutStreams
	if n := int(q.Failed); n > 0 {
		q.Lost = t.Lost[max(0, len(t.Lost)-n):]
	}
}

// reach stamps a phase. r.mu is held.
func (r *run) reach(phase string, at time.Time) {
	r.st.Phase = phase
	r.st.Phases = append(r.st.Phases, control.Moment{Name: phase, TS: round1000(at.Sub(r.t0).Seconds()), Time: at.UTC()})
}

// reached says when a phase was reached. r.mu is held.
func (r *run) reached(phase string) (time.Time, bool) {
	for _, p := range r.st.Phases {
		if p.Name == phase {
			return p.Time, true
		}
	}
	return time.Time{}, false
}

// restoredAt says when somebody or its expiry ended the fault, from the journal.
func (r *run) restoredAt(ctx context.Context) (at time.Time, by string) {
	events, err := control.Get[[]control.Event](ctx, r.m.o.Control, control.EventsAfter{Seq: r.seq})
	if err != nil {
		return time.Time{}, ""
	}
	for _, e := range events {
		r.seq = e.Seq
		if e.Kind == "fault" && e.Vendor == r.vendor && e.Data["on"] == false {
			at, by = e.Time, e.Who
		}
	}
	return at, by
}

func (r *run) lastSeq(ctx context.Context) int64 {
	events, err := control.Get[[]control.Event](ctx, r.m.o.Control, control.EventsAfter{})
	if err != nil || len(events) == 0 {
		return 0
	}
	return events[len(events)-1].Seq
}

// afterRestore goes on once the fault has ended.
func (r *run) afterRestore(ctx context.Context, at time.Time, by string) bool {
	r.mu.Lock()
	if r.st.Phase == control.PhaseRestored {
		r.mu.Unlock()
		return false
	}
	r.st.Until = nil
	r.reach(control.PhaseRestored, at)
	proven := r.st.CutoverS != nil
	enough := r.st.Requests.OK+r.st.Requests.Failed >= int64(r.m.o.Rules.MinRequests)
	r.mu.Unlock()
	r.m.o.Log(control.Event{Level: control.Info, Kind: "drill", Vendor: r.vendor, Who: by,
		Text: fmt.Sprintf("drill %s: %s restored; it is tried at once and comes back over a ramp", r.scenario.Name, r.label), Data: map[string]any{"id": r.id, "phase": control.PhaseRestored}})
	if proven {
		r.keep()
		return false
	}
	if enough {
		r.finish(control.Aborted, "restored by "+by+" before the cutover was proven", false)
	} else {
		r.finish(control.Inconclusive, fmt.Sprintf("%d requests were answered or lost before it was restored: fewer than %d prove nothing", r.st.Requests.OK+r.st.Requests.Failed, r.m.o.Rules.MinRequests), false)
	}
	return true
}

// failback waits until the vendor is back in its band, judged apart.
func (r *run) failback(t *control.Tally, now time.Time) bool {
	v := r.before.Vendor(r.vendor)
	for _, x := range t.Vendors {
		if x.Name == r.vendor && x.State == control.Healthy && x.Weight >= v.Band[0]-0.05 && x.Weight <= v.Band[1]+0.05 {
			r.mu.Lock()
			r.reach(control.PhaseFailback, now)
			r.mu.Unlock()
			r.finish("", "", false)
			return true
		}
	}
	r.mu.Lock()
	at, _ := r.reached(control.PhaseRestored)
	r.mu.Unlock()
	late := now.Sub(at) > failbackTime
	select {
	case <-r.left:
		late = true
	default:
	}
	if late {
		r.finish("", "", false)
	}
	return late
}

// restore ends the fault whatever else happens.
func (r *run) restore() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := r.m.o.Control.Do(ctx, &control.ClearFault{Meta: control.Meta{By: "drill:" + r.id}, Vendor: r.vendor}); err != nil {
		r.m.o.Log(control.Event{Level: control.Crit, Kind: "drill", Vendor: r.vendor, Who: "drill:" + r.id, Text: "the fault could not be ended: " + err.Error() + "; it expires by itself"})
		return
	}
	r.mu.Lock()
	r.st.Until = nil
	r.reach(control.PhaseRestored, time.Now())
	r.mu.Unlock()
}

func (r *run) counts(ctx context.Context) (*control.Tally, error) {
	return control.Get[*control.Tally](ctx, r.m.o.Control, control.Counts{})
}

// stop asks the run to end and restore, for the first reason given.
func (r *run) stop(why string) {
	r.once.Do(func() {
		r.mu.Lock()
		r.why = why
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

func (r *run) stopReason() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// leave says that nobody waits for the failback any more.
func (r *run) leave() { r.leaving.Do(func() { close(r.left) }) }

// over says whether the drill has ended.
func (r *run) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// replaceable says whether another drill may start: its fault is gone.
func (r *run) replaceable() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended || r.st.Phase == control.PhaseRestored
}

// state is a copy for the snapshot.
func (r *run) state() *control.DrillState {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.st
	st.Phases = append([]control.Moment{}, r.st.Phases...)
	st.Requests.Lost = append([]string{}, r.st.Requests.Lost...)
	switch {
	case st.CutoverS != nil:
		st.ClockS = *st.CutoverS
	case r.t0.IsZero():
	case r.ended && len(st.Phases) > 0:
		st.ClockS = st.Phases[len(st.Phases)-1].TS
	default:
		st.ClockS = round1000(time.Since(r.t0).Seconds())
	}
	return &st
}

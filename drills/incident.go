package drills

import (
	"context"
	"fmt"
	"slices"
	"time"

	"baton/engine/control"
)

const (
	// quietFor is how long a vendor has to be back where it belongs for its outage to
	// be over: one that flaps has one outage, not many.
	quietFor = time.Minute
	// incidentsKept bounds the outages that nobody has dismissed.
	incidentsKept = 8
	another       = "it was out again after that, which is another outage"
)

// outage is the scenario of an incident.
func outageScenario() *Scenario {
	return &Scenario{
		Name: "incident", Claim: "losing a vendor when nobody ordered it", Judge: judgeCutover, Target: targetGiven,
		Fault: ScenarioFault{Kind: kindOutage, For: faultMax}, Failover: failoverAuto, Restore: restoreByHand, Bounds: Bounds{Success: 0.999},
	}
}

// open begins the record of an ejection that nobody ordered. One that is open for
// the vendor goes on.
func (m *Machine) open(ctx context.Context, e *control.Event) {
	switch r := m.openAt(e.Vendor); {
	case r == nil || r.stopped():
	case r.settled.Load():
		r.stop(another, true)
	default:
		return
	}
	snap, err := control.Get[*control.Snapshot](ctx, m.control, control.State{})
	if err != nil || snap.Vendor(e.Vendor) == nil {
		return
	}
	s := outageScenario()
	c := &control.StartDrill{Meta: control.Meta{By: control.Controller}, ID: control.NewDrillID(time.Now()), Scenario: s.Name, Vendor: e.Vendor}
	past := m.watcher.recent()

	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx == nil || m.ctx.Err() != nil {
		return
	}
	s.Bounds.Success = m.terms.rules.Success
	r := newRun(m, s, c, e.Vendor, s.spec(), snap)
	r.incident, r.st.Incident, r.st.Budget = true, true, &control.DrillRisk{}
	r.report = r.newReport()
	m.incidents = append(m.incidents[max(0, len(m.incidents)-incidentsKept+1):], r)
	life := m.ctx
	why := fmt.Sprint(e.Data["reason"])
	m.runs.Go(func() { r.outage(life, past, e, why) })
}

// outage follows an incident to its end.
func (r *run) outage(ctx context.Context, past []*control.Tally, e *control.Event, why string) {
	r.mu.Lock()
	r.since(past, e)
	r.mu.Unlock()
	r.record()
	r.keep()
	r.say(control.Crit, r.me(), fmt.Sprintf("nobody ordered this: %s is out (%s). An incident is open, the clock runs from its first bad attempt", r.label, why),
		map[string]any{"phase": control.PhaseFault})
	r.answered = time.Now()
	r.loop(ctx, r.follow)
}

// since begins the clock at the first bad attempt before the ejection e, from the
// counts of the time before it. r.mu is held.
func (r *run) since(past []*control.Tally, e *control.Event) {
	now := past[len(past)-1]
	t0 := e.Time
	if bad := of(now, r.vendor).FirstFault; !bad.IsZero() && bad.Before(t0) {
		t0 = bad
	}
	i := len(past) - 1
	for i > 0 && past[i].Time.After(t0) {
		i--
	}
	base := *past[i]
	base.Time = t0
	r.t0, r.zero = t0, t0
	r.early.tallies = past[:i]
	r.counts.begin(&base)
	r.seq = e.Seq - 1
	r.reach(control.PhaseFault, t0)
	for _, t := range past[i+1:] {
		r.take(t, t.Time.Sub(t0))
	}
}

// follow is the step of an incident.
func (r *run) follow(ctx context.Context) bool {
	if r.stopped() {
		return r.cutOff()
	}
	t, err := r.look(ctx)
	if err != nil {
		return false // whoever serves has worse to do; it is looked at again
	}
	if r.stopped() { // a drill has begun there meanwhile: what was just read may be its own
		return r.cutOff()
	}
	r.mu.Lock()
	r.take(t, t.Time.Sub(r.t0))
	proven := r.progress(t)
	v := r.of(t)
	over := r.isRestored()
	switch {
	case over && !takes(v.State) && r.settled.Load():
		r.mu.Unlock()
		r.stop(another, true)
		return r.cutOff()
	case over && !takes(v.State):
		r.relapse()
	case !over && takes(v.State) && v.Name != "":
		at := v.StateSince
		if !at.After(r.t0) {
			at = t.Time
		}
		r.restored, r.after = restoration{at: at, by: control.Controller}, t
		r.reach(control.PhaseRestored, at)
	}
	r.mu.Unlock()
	switch {
	case proven:
		r.announce()
	case v.Name == "":
		r.stop(r.label+" is no vendor any more", true)
	case over:
		return r.closing(ctx, t)
	}
	return false
}

// relapse takes back that the vendor was restored: it is the same outage. r.mu is
// held.
func (r *run) relapse() {
	r.restored, r.after, r.calm = restoration{}, nil, time.Time{}
	r.st.Phases = slices.DeleteFunc(r.st.Phases, func(m control.Moment) bool {
		return m.Name == control.PhaseRestored || m.Name == control.PhaseFailback
	})
	r.st.Phase = r.st.Phases[len(r.st.Phases)-1].Name
}

// closing waits until the vendor has been back where it belongs for a while.
func (r *run) closing(ctx context.Context, t *control.Tally) bool {
	if t.Time.Before(r.nextBack) {
		return false
	}
	r.nextBack = t.Time.Add(time.Second - pace)
	v := r.of(t)
	settled := v.State == control.Healthy && t.Time.Sub(v.StateSince) >= quietFor
	r.settled.Store(settled)
	since := t.Time.Sub(r.restored.at)
	switch why := r.away(ctx, t); {
	case why != "" && settled && since > failbackTime:
		r.fellBack(nil, "not within it: "+why)
		r.mu.Lock()
		verdict, reason := r.unproven()
		r.mu.Unlock()
		r.finish(verdict, reason)
		return true
	case why != "":
		r.calm = time.Time{}
		return false
	}
	r.mu.Lock()
	if r.calm.IsZero() {
		r.calm = t.Time
		if _, ok := r.reached(control.PhaseFailback); !ok {
			r.reach(control.PhaseFailback, t.Time)
		}
	}
	quiet := t.Time.Sub(r.calm) >= quietFor
	back, _ := r.reached(control.PhaseFailback)
	took := back - r.restored.at.Sub(r.t0)
	verdict, reason := r.unproven()
	r.mu.Unlock()
	if !quiet {
		return false
	}
	r.fellBack(&took, "")
	r.finish(verdict, reason)
	return true
}

// cutOff ends an incident that is not over.
func (r *run) cutOff() bool {
	r.mu.Lock()
	why, given := r.why.text, r.st.Verdict != nil
	verdict, reason := r.unproven()
	over := r.isRestored()
	r.mu.Unlock()
	switch {
	case !given && !over:
		r.finish(control.Aborted, why+" before the outage was over")
		return true
	case !r.fallenBack():
		r.fellBack(nil, "not seen: "+why)
	}
	r.finish(verdict, reason)
	return true
}

// fallenBack keeps the failback where the vendor was back already, and only the calm
// after it was waited for.
func (r *run) fallenBack() bool {
	r.mu.Lock()
	at, was := r.reached(control.PhaseFailback)
	took := at - r.restored.at.Sub(r.t0)
	r.mu.Unlock()
	if was {
		r.fellBack(&took, "")
	}
	return was
}

// openAt is the incident that is open at a vendor, nil if none is.
func (m *Machine) openAt(vendor string) *run {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.incidents {
		if r.vendor == vendor && !r.over() {
			return r
		}
	}
	return nil
}

// handOver closes the incident of a vendor at which a drill is about to begin: what
// happens there from now on is the drill's.
func (m *Machine) handOver(vendor string) {
	if r := m.openAt(vendor); r != nil {
		r.stop("a drill began there", true)
	}
}

// Incident is the outage that nobody ordered: the last that is not over, or the
// last of all until it is dismissed; nil: none.
func (m *Machine) Incident() *control.DrillState {
	m.mu.Lock()
	all := slices.Clone(m.incidents)
	m.mu.Unlock()
	var shown *run
	for _, r := range all {
		if shown == nil || !r.over() || shown.over() {
			shown = r
		}
	}
	if shown == nil {
		return nil
	}
	return shown.state()
}

// dismissIncident takes the incidents that are over off the screen.
func (m *Machine) dismissIncident() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	had := len(m.incidents)
	m.incidents = slices.DeleteFunc(m.incidents, (*run).over)
	if n := len(m.incidents); n > 0 && n == had {
		return control.Errorf(control.Conflict, "the incident %s is not over", m.incidents[n-1].id)
	}
	return nil
}

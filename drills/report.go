package drills

import (
	"fmt"

	"baton/engine/control"
)

// newReport is the report of a drill that begins.
func (r *run) newReport() control.Report {
	not := []string{"the vendor's own endpoint, its network and its account: the fault sits in this process, in the path to it"}
	if r.terms.rules.MaxCost > 0 {
		not = append(not, fmt.Sprintf("drill.max_cost %g: what a drill costs is not measured", r.terms.rules.MaxCost))
	}
	return control.Report{
		ID: r.id, Scenario: r.scenario.Name, Vendor: r.vendor, Fault: r.spec, Who: r.start.Who(), Environment: r.terms.environment,
		Started: r.st.Started, ConfigDigest: r.terms.digest, TargetS: r.st.TargetS, Phases: []control.Moment{},
		Hypothesis: []control.Bound{}, Requests: r.st.Requests, Latency: map[string]control.Latency{},
		Series: []control.Point{}, Weights: []control.WeightsAt{}, Note: r.start.Note, Ticket: r.start.Ticket, Files: map[string]string{},
		Exercised:    []string{"that the engine notices by itself, the failover of requests, the shift of the weights, service without the vendor"},
		NotExercised: not,
	}
}

// snapshot is the report as things stand. r.mu is held.
func (r *run) snapshot() *control.Report {
	rep := r.report
	rep.Phases = append([]control.Moment{}, r.st.Phases...)
	rep.Hypothesis = append([]control.Bound{}, r.report.Hypothesis...)
	rep.Requests, rep.CutoverS, rep.HurtS, rep.Reason = r.st.Requests, r.st.CutoverS, r.st.HurtS, r.st.Reason
	rep.Requests.Lost = append([]string{}, r.st.Requests.Lost...)
	if r.st.Verdict != nil {
		rep.Verdict = *r.st.Verdict
	}
	s := &r.before.Service
	rep.Latency = map[string]control.Latency{"before": {Count: s.Count, P50ms: s.P50ms, P90ms: s.P90ms, P99ms: s.P99ms}}
	if len(r.seconds) > 0 {
		end := r.last
		if r.after != nil {
			end = r.after
			rep.Latency["after"] = latency(r.after, r.last)
		}
		rep.Latency["during"] = latency(r.seconds[0], end)
		rep.Series, rep.Weights = r.series()
	}
	return &rep
}

// keep writes the record as it is now, and says so if it cannot: the drill goes
// on without it.
func (r *run) keep() {
	r.mu.Lock()
	look := r.st.CutoverS != nil && r.report.Previous == nil
	r.mu.Unlock()
	var before *control.Previous
	if look {
		before = r.m.records.previous(r.id, r.scenario.Name, r.vendor)
	}
	r.mu.Lock()
	if before != nil {
		r.report.Previous = before
	}
	rep := r.snapshot()
	r.mu.Unlock()
	err := r.m.records.save(rep)
	r.mu.Lock()
	r.st.Record = rep.Files["markdown"]
	r.mu.Unlock()
	if err != nil {
		r.m.log(control.Event{Level: control.Crit, Kind: "store", Vendor: r.vendor, Who: r.me(), Text: "the drill goes on, but its record is only in memory: " + err.Error()})
	}
}

// announce says the cutover in the journal and writes the record.
func (r *run) announce() {
	r.mu.Lock()
	st := r.st
	r.mu.Unlock()
	level, word := control.Info, "passed"
	if *st.Verdict != control.Passed {
		level, word = control.Crit, *st.Verdict+": "+st.Reason
	}
	r.keep()
	r.say(level, r.me(), fmt.Sprintf("cutover %s against %s, %s; clients failed: %d of %d. R restores %s", clock(*st.CutoverS), clock(st.TargetS), word,
		st.Requests.Failed, st.Requests.OK+st.Requests.Failed, r.label),
		map[string]any{"cutover_s": *st.CutoverS, "verdict": *st.Verdict, "phase": control.PhaseVerified})
}

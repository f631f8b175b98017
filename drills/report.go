package drills

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"baton/drills/witness"
	"baton/engine/control"
)

// newReport is the report of a drill that begins.
func (r *run) newReport() control.Report {
	exercised, not := r.scope()
	return control.Report{
		ID: r.id, Scenario: r.scenario.Name, Vendor: r.vendor, Fault: r.spec, Who: r.start.Who(), Environment: r.terms.environment,
		Started: r.st.Started, ConfigDigest: r.terms.digest, TargetS: r.st.TargetS, BoundS: r.st.BoundS, Phases: []control.Moment{},
		Hypothesis: []control.Bound{}, Requests: r.st.Requests, Latency: map[string]control.Latency{},
		Series: []control.Point{}, Weights: []control.WeightsAt{}, Note: r.start.Note, Ticket: r.start.Ticket, Files: map[string]string{},
		Exercised: exercised, NotExercised: not, Judge: r.scenario.Judge, Incident: r.incident,
		Preflight: []control.Check{}, Steps: []control.StepState{}, Checklist: []control.Task{}, Comparison: []control.Previous{},
		Vendors: map[string]control.Phased{}, Extra: map[string]float64{},
		Versions: map[string]string{"baton": r.m.version, "go": runtime.Version(), "scenario": r.scenario.digest},
	}
}

// scope is what the drill exercises and what it does not.
func (r *run) scope() (exercised, not []string) {
	s := r.scenario
	switch {
	case r.incident:
		return []string{"all of it: nobody ordered this outage"}, []string{}
	case s.Spike != nil:
		return r.spikeScope()
	case s.show != nil:
		return []string{}, []string{}
	case s.external():
		exercised = append(exercised, "the vendor's own endpoint, network or account, as people cut it", "that the engine notices by itself")
	default:
		not = append(not, "the vendor's own endpoint, its network and its account: the fault sits in this process, in the path to it")
	}
	switch {
	case s.Failover == failoverManual:
		exercised = append(exercised, "that people notice, decide and move the weights; the failover of single requests")
		not = append(not, "the engine's own decision: failover was manual")
	case s.Judge == judgeContained:
		exercised = append(exercised, "that a vendor which is half broken gets less, and clients are unhurt")
		not = append(not, "losing the vendor altogether")
	case s.Judge == judgeRecovered:
		exercised = append(exercised, "that service and weights come back after the fault, however often it came")
	default:
		exercised = append(exercised, "that the engine notices by itself, the failover of requests, the shift of the weights, service without the vendor")
	}
	if s.Failover == failoverAuto {
		not = append(not, "people: whether somebody is called, and what they do")
	}
	if !s.Steady {
		not = append(not, "a baseline: it was started at once")
	}
	if s.Load.RPS > 0 {
		exercised = append(exercised, fmt.Sprintf("%g requests/s of the drill's own", s.Load.RPS))
	}
	if r.terms.cfg.Simulated() {
		not = append(not, "real vendors: all are SIMULATED")
	}
	return exercised, not
}

// beforeSpan is how much before T0 counts as before.
const beforeSpan = time.Minute

// snapshot is the report as things stand. r.mu is held.
func (r *run) snapshot() *control.Report {
	rep := r.report
	rep.Phases = append([]control.Moment{}, r.st.Phases...)
	rep.Hypothesis = append([]control.Bound{}, r.report.Hypothesis...)
	rep.Requests, rep.CutoverS, rep.HurtS, rep.Reason = r.st.Requests, r.st.CutoverS, r.st.HurtS, r.st.Reason
	rep.Requests.Lost = append([]string{}, r.st.Requests.Lost...)
	rep.Preflight = append([]control.Check{}, r.st.Preflight...)
	rep.Steps = append([]control.StepState{}, r.st.Steps...)
	rep.Checklist = append([]control.Task{}, r.st.Checklist...)
	if r.st.Verdict != nil {
		rep.Verdict = *r.st.Verdict
	}
	s := &r.before.Service
	rep.Latency = map[string]control.Latency{"before": {Count: s.Count, P50ms: s.P50ms, P90ms: s.P90ms, P99ms: s.P99ms}}
	rep.Extra, rep.Vendors = map[string]float64{}, map[string]control.Phased{}
	if len(r.seconds) > 0 {
		r.measured(&rep)
	}
	r.figures(rep.Extra)
	r.fromShow(&rep)
	return &rep
}

// measured fills in what was counted. r.mu is held.
func (r *run) measured(rep *control.Report) {
	base, end := r.base(), r.last
	if r.after != nil {
		end = r.after
		rep.Latency["after"] = latency(r.after.FirstToken, r.last.FirstToken)
	}
	begin := r.beforeBase()
	if begin != nil && begin.Totals.Requests < base.Totals.Requests {
		rep.Latency["before"] = latency(begin.FirstToken, base.FirstToken)
	}
	rep.Latency["during"] = latency(base.FirstToken, end.FirstToken)
	for i := range r.last.Vendors {
		name := r.last.Vendors[i].Name
		tokens := func(t *control.Tally) []control.Bucket { v := of(t, name); return v.FirstToken }
		p := control.Phased{During: latency(tokens(base), tokens(end))}
		if begin != nil {
			p.Before = latency(tokens(begin), tokens(base))
		}
		if r.after != nil {
			p.After = latency(tokens(r.after), tokens(r.last))
		}
		rep.Vendors[name] = p
	}
	rep.Series, rep.Weights = r.series()
	r.spikeSeries(rep.Series)
}

// base is what was counted at T0. r.mu is held.
func (r *run) base() *control.Tally { return r.seconds[0] }

// beforeBase is what was counted a while before T0, nil where that is not known.
// r.mu is held.
func (r *run) beforeBase() *control.Tally {
	for _, t := range slices.Concat(r.early.tallies, r.past) {
		if t.Time.Before(r.t0) && r.t0.Sub(t.Time) <= beforeSpan+time.Second {
			return t
		}
	}
	return nil
}

// figures are the scenario's own. r.mu is held.
func (r *run) figures(out map[string]float64) {
	switch {
	case r.proof == nil:
	case r.scenario.Judge == judgeContained:
		out["contained_s"] = *r.proof
	case r.scenario.Judge == judgeRecovered:
		out["recovered_s"] = *r.proof
	}
	if at, ok := r.reached(momentAffected); ok {
		out["affected_s"] = milli(at.Seconds())
		if r.st.CutoverS != nil {
			out["cutover_from_affected_s"] = milli(*r.st.CutoverS - at.Seconds())
		}
	}
	if r.ejections > 0 {
		out["ejections"] = float64(r.ejections)
	}
	maps.Copy(out, r.own)
}

const (
	keptEvery = 3 * time.Second // how far behind the record on the disk may be
	keptPart  = 20              // or by that part of the time since T0, where it is more: a long outage has a long record
)

// keepUp writes the record anew at each phase, and now and then between them: it is
// all that a process leaves that is killed.
func (r *run) keepUp() {
	r.mu.Lock()
	n, every := len(r.st.Phases), keptEvery
	if !r.t0.IsZero() {
		every = max(every, time.Since(r.zero)/keptPart)
	}
	r.mu.Unlock()
	if n != r.kept || time.Since(r.keptAt) >= every {
		r.keep()
	}
}

// keep writes the record as it is now, and says so if it cannot: the drill goes
// on without it.
func (r *run) keep() {
	r.mu.Lock()
	look := (r.proof != nil || r.report.Ended != nil) && len(r.report.Comparison) == 0
	r.mu.Unlock()
	var before []control.Previous
	if look {
		before = r.m.records.earlier(r.id, r.scenario.Name, r.vendor)
	}
	r.mu.Lock()
	if len(before) > 0 {
		r.report.Comparison = before
		for i := range before {
			if before[i].CutoverS != nil {
				r.report.Previous = &before[i]
				break
			}
		}
	}
	r.report.Trend = trend(r.st.CutoverS, r.report.Comparison)
	rep := r.snapshot()
	r.kept, r.keptAt = len(r.st.Phases), time.Now()
	proof := witness.Proof{Hold: time.Duration(r.hold()) * time.Second, Limit: time.Duration(r.limit() * float64(time.Millisecond))}
	r.mu.Unlock()
	if path := r.start.Witness; path != "" && rep.CutoverS != nil {
		rep.Witness = witness.Judge(path, rep, proof)
	}
	err := r.m.records.save(rep)
	r.mu.Lock()
	r.st.Record = rep.Files["markdown"]
	r.st.Page = rep.Files["html"]
	r.mu.Unlock()
	if err != nil {
		r.m.log(control.Event{Level: control.Crit, Kind: "store", Who: r.me(), Text: "the drill goes on, but its record is only in memory: " + err.Error()})
	}
}

// announce says the proof in the journal and writes the record.
func (r *run) announce() {
	r.mu.Lock()
	st, proof, word := r.st, *r.proof, r.word()
	r.mu.Unlock()
	level, verdict := control.Info, "passed"
	if *st.Verdict != control.Passed {
		level, verdict = control.Crit, *st.Verdict+": "+st.Reason
	}
	r.keep()
	then := ""
	if r.scenario.Restore == restoreByHand && !r.incident {
		then = ". R restores " + r.label
	}
	if r.scenario.external() && !r.incident {
		then = ". Put " + r.label + " back now"
	}
	r.say(level, r.me(), fmt.Sprintf("%s %s (asked %s), %s; clients failed: %d of %d%s", word, clock(proof), asks(st.BoundS, st.TargetS), verdict,
		st.Requests.Failed, st.Requests.OK+st.Requests.Failed, then),
		map[string]any{"cutover_s": st.CutoverS, "verdict": *st.Verdict, "phase": control.PhaseVerified})
}

package drills

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"baton/engine/control"
)

// Show is a drill that brings vendors and an engine of its own: it touches
// nothing that this machine steers.
type Show struct {
	Name, Claim string
	Explain     []string      // what happens, in sentences
	Length      time.Duration // about
	// Play plays it and returns its record, also of what there was when ctx ends
	// early; then the error is ctx's. tell, by one goroutine, is told what happens.
	Play func(ctx context.Context, id, who string, tell func(Scene)) (*control.Report, error)
}

// Scene is what happens now in a show.
type Scene struct {
	Caption string              // for those who watch
	Steps   []control.StepState // its acts, those that are over with their figures
	Phases  []control.Moment    // of a drill in it: from its fault on the clock is that drill's
	TargetS float64             // of that drill
}

// scenario is the show as one of the scenarios.
func (s *Show) scenario() *Scenario {
	return &Scenario{
		Name: s.Name, Claim: s.Claim, Judge: s.Name, Target: targetNone, Failover: failoverAuto, Restore: restoreAfterHold, Steady: true,
		Fault: ScenarioFault{Kind: kindShow, For: min(s.Length, faultMax)}, show: s,
	}
}

// play plays a show; its clock runs from the beginning.
func (r *run) play(ctx context.Context) {
	if r.m.quiet != nil {
		defer r.m.quiet()()
	}
	begun := time.Now()
	r.mu.Lock()
	r.zero = begun
	r.reach(control.PhaseSteady, begun)
	r.mu.Unlock()
	r.say(control.Warn, r.start.Who(), "drill "+r.scenario.Name+" begins, with vendors of its own; it takes about "+
		control.Duration(r.scenario.show.Length.Round(time.Second)).String()+". A aborts", map[string]any{"phase": control.PhaseSteady, "command": r.start.Line()})
	playing, stop := context.WithCancel(ctx)
	defer stop()
	type end struct {
		rep *control.Report
		err error
	}
	done := make(chan end, 1)
	go func() {
		rep, err := r.scenario.show.Play(playing, r.id, r.start.Who(), r.scene)
		done <- end{rep, err}
	}()
	stopping, life := r.stopping, ctx.Done()
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		r.beat.Store(time.Now().UnixNano())
		select {
		case <-life:
			life = nil
			r.stop("baton stopped", true)
			stop()
		case <-stopping:
			stopping = nil
			stop()
		case <-tick.C:
		case e := <-done:
			r.played(e.rep, e.err)
			return
		}
	}
}

// scene takes what a show tells. Its clock runs from its beginning, and from the
// fault on of a drill that it plays, against that one's target.
func (r *run) scene(s Scene) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.st.Caption, r.st.Steps = s.Caption, s.Steps
	i := slices.IndexFunc(s.Phases, func(p control.Moment) bool { return p.Name == control.PhaseFault })
	if i < 0 {
		return
	}
	r.zero, r.st.TargetS = s.Phases[i].Time, s.TargetS
	r.onlySteady()
	for _, p := range s.Phases {
		if p.Name != control.PhaseSteady {
			r.st.Phases = append(r.st.Phases, p)
		}
	}
}

// onlySteady takes the phases of a drill within a show away. r.mu is held.
func (r *run) onlySteady() {
	r.st.Phases = slices.DeleteFunc(r.st.Phases, func(p control.Moment) bool { return p.Name != control.PhaseSteady })
}

// played ends a show with its own verdict.
func (r *run) played(rep *control.Report, err error) {
	r.mu.Lock()
	verdict, reason := control.Aborted, r.why.text
	switch {
	case rep != nil && r.why.text == "" && (err == nil || errors.Is(err, context.Canceled)):
		verdict, reason = rep.Verdict, rep.Reason
	case err != nil && r.why.text == "":
		reason = "it could not be played on: " + err.Error()
	}
	if rep != nil {
		r.shown, r.own = rep, maps.Clone(rep.Extra)
		r.st.CutoverS, r.st.Requests = rep.CutoverS, rep.Requests
		r.report.Hypothesis, r.report.Exercised, r.report.NotExercised = rep.Hypothesis, rep.Exercised, rep.NotExercised
		if rep.CutoverS != nil && rep.TargetS > 0 { // the clock stands at it
			r.st.TargetS, r.report.TargetS = rep.TargetS, rep.TargetS
		}
		r.showPhases(rep.Phases)
		for i := range r.st.Steps {
			r.st.Steps[i].Done = r.st.Steps[i].Done || err == nil
		}
	}
	r.mu.Unlock()
	r.finish(verdict, reason)
}

// showPhases are the show's own, counted from its fault. r.mu is held.
func (r *run) showPhases(phases []control.Moment) {
	r.onlySteady()
	for i := range phases {
		if p := &phases[i]; p.Name == control.PhaseFault {
			r.t0, r.zero = p.Time, p.Time
		}
	}
	if r.t0.IsZero() {
		return
	}
	for i := range phases {
		if p := &phases[i]; p.Name != control.PhaseSteady {
			r.reach(p.Name, p.Time)
		}
	}
}

// fromShow fills in what a show has measured itself. r.mu is held.
func (r *run) fromShow(rep *control.Report) {
	if r.scenario.show == nil {
		return
	}
	rep.Latency = map[string]control.Latency{}
	if r.shown != nil {
		rep.Latency, rep.Series, rep.Weights = r.shown.Latency, r.shown.Series, r.shown.Weights
	}
}

package drills

import (
	"fmt"
	"slices"
	"time"

	"baton/engine/control"
)

// state is a copy for the snapshot.
func (r *run) state() *control.DrillState {
	r.mu.Lock()
	defer r.mu.Unlock()
	st := r.st
	st.Phases = slices.Clone(r.st.Phases)
	st.Requests.Lost = append([]string{}, r.st.Requests.Lost...)
	st.Steps = slices.Clone(r.st.Steps)
	st.Checklist = slices.Clone(r.st.Checklist)
	st.ClockS = r.clock()
	b := *r.st.Budget
	b.Failed = r.st.Requests.Failed
	st.Budget = &b
	r.hide(&st)
	return &st
}

// hide takes out what a seal keeps secret: vendor and fault until the fault has
// ended, and the moment of it until it was noticed. r.mu is held.
func (r *run) hide(st *control.DrillState) {
	st.Sealed = r.isSealed()
	if !st.Sealed {
		return
	}
	st.Vendor, st.Fault, st.Until = "", control.FaultSpec{}, nil
	st.Armed, st.Steps, st.Preflight = nil, []control.StepState{}, []control.Check{}
	if _, noticed := r.reached(control.PhaseDetected); noticed {
		return
	}
	st.Phase, st.ClockS = control.PhaseSteady, 0
	st.Phases = slices.DeleteFunc(st.Phases, func(m control.Moment) bool { return m.Name != control.PhaseSteady })
	for i := range st.Phases {
		st.Phases[i].TS = 0
	}
	st.Requests, st.HurtS, st.Budget = control.DrillRequests{Lost: []string{}}, 0, nil
}

// sealed says whether vendor and fault are a secret.
func (r *run) sealed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.isSealed()
}

// isSealed is sealed with r.mu held.
func (r *run) isSealed() bool { return r.scenario.Sealed && !r.ended && !r.isRestored() }

// named is the drill in a few words.
func (r *run) named() string {
	if r.sealed() {
		return fmt.Sprintf("%s (%s)", r.id, r.scenario.Name)
	}
	return fmt.Sprintf("%s (%s %s)", r.id, r.scenario.Name, r.vendor)
}

// clock is what the large clock shows, in seconds: it runs from T0, and stands
// still at the proof, or where the fault ended without one. r.mu is held.
func (r *run) clock() float64 {
	restored, over := r.reached(control.PhaseRestored)
	judges := r.scenario.Judge == judgeRecovered && r.st.Verdict == nil && !r.ended
	switch {
	case r.st.CutoverS != nil:
		return *r.st.CutoverS
	case r.zero.IsZero():
		return 0 // refused, or not begun
	case r.proof != nil && r.scenario.Judge == judgeRecovered:
		return milli(restored.Seconds() + *r.proof)
	case r.proof != nil:
		return *r.proof
	case over && !judges:
		return milli(restored.Seconds())
	case r.st.Verdict != nil:
		return 0 // there was nothing to time
	}
	return milli(time.Since(r.zero).Seconds())
}

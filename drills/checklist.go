package drills

import "baton/engine/control"

// phaseOfTask is the phase at which a task of the checklist ticks itself, "" where
// a person does.
type phaseOfTask string

// checklist writes the facilitator's list, where people are part of the drill.
func (r *run) checklist() {
	add := func(text string, at phaseOfTask) {
		r.st.Checklist = append(r.st.Checklist, control.Task{Text: text})
		r.ticks = append(r.ticks, at)
	}
	switch {
	case r.scenario.external():
		add("agreed: who cuts "+r.label+", where, and how it is put back", "")
		add("all who have to know do, and whom to call to end it", "")
		add(r.label+" is cut: x, or `baton drill mark`", control.PhaseFault)
		add("the engine has noticed", control.PhaseDetected)
		add("good service without it is proven", control.PhaseVerified)
		add(r.label+" is put back: x, or `baton drill mark`", control.PhaseRestored)
		add(r.label+" carries its weight again", control.PhaseFailback)
	case r.scenario.Failover == failoverManual:
		add("somebody can end it at any moment: A, or `baton drill abort`", "")
		add("the alarm has reached whoever is on call", "")
		add("somebody has said what is wrong, and with which vendor", "")
		add("somebody has acted on the weights", control.PhaseDetected)
		add("no traffic goes to the vendor any more", control.PhaseShifted)
		add("good service without it is proven", control.PhaseVerified)
		add("those on call know that it was a drill and is over", "")
		add("the weights are where they belong", control.PhaseFailback)
	}
}

// tickTasks ticks the tasks whose phase has come. r.mu is held.
func (r *run) tickTasks() {
	for i, at := range r.ticks {
		if _, ok := r.reached(string(at)); ok {
			r.st.Checklist[i].Done = true
		}
	}
}

package drills

import (
	"context"
	"fmt"
	"time"

	"baton/engine/control"
)

// dueSteps carries out the scenario's steps whose time has come.
func (r *run) dueSteps(ctx context.Context, at time.Duration) {
	for r.nextStep < len(r.scenario.Steps) && r.scenario.Steps[r.nextStep].At <= at {
		i := r.nextStep
		r.nextStep++
		st := &r.scenario.Steps[i]
		if err := r.carryOut(ctx, st); err != nil {
			r.stop(fmt.Sprintf("the step at %s (%s) failed: %v", control.Duration(st.At), st.text(), err), false)
			return
		}
		r.mu.Lock()
		r.st.Steps[i].Done = true
		r.mu.Unlock()
		r.say(control.Info, r.me(), fmt.Sprintf("drill %s, %s after the fault: %s", r.scenario.Name, control.Duration(st.At), st.text()), map[string]any{"step": i + 1})
	}
}

func (r *run) carryOut(ctx context.Context, st *Step) error {
	ctx, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	by := control.Meta{By: r.me()}
	switch {
	case st.Restore:
		return r.m.control.Do(ctx, &control.ClearFault{Meta: by, Vendor: r.vendor})
	case st.Fault != nil:
		at, err := r.strike(ctx, st.Fault.spec())
		if err != nil {
			return err
		}
		until := at.Add(st.Fault.For).UTC()
		r.mu.Lock()
		r.faults--
		r.st.Until = &until
		r.mu.Unlock()
	case st.Weights != nil:
		w := make(map[string]float64, len(st.Weights))
		for name, p := range st.Weights {
			w[resolve(name, r.before)] += p
		}
		return r.m.control.Do(ctx, &control.SetWeights{Meta: by, Weights: w, For: control.Duration(r.scenario.lasting(r.spec)), Reason: "drill " + r.scenario.Name})
	}
	return nil
}

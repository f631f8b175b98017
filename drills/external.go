package drills

import (
	"context"
	"fmt"
	"time"

	"baton/engine/control"
)

// mark takes a person's keypress: of a line of the checklist, or of what the drill
// waits for.
func (r *run) mark(task int, who string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case task < 0 || task > len(r.st.Checklist):
		return invalid("task", "the checklist of %s has %d lines, there is no line %d", r.scenario.Name, len(r.st.Checklist), task)
	case task > 0:
		t := &r.st.Checklist[task-1]
		t.Done = !t.Done
		return nil
	case r.st.Waits == "" && r.scenario.external() && !r.t0.IsZero():
		return nil // it is known already: this one confirms it
	case r.st.Waits == "":
		return control.Errorf(control.Conflict, "the drill %s waits for nobody", r.id)
	}
	r.keypress = restoration{at: time.Now(), by: who}
	r.st.Waits = "" // until it has been looked at
	return nil
}

// pressed is the keypress that has not been looked at. r.mu is held.
func (r *run) pressed() (restoration, bool) {
	p := r.keypress
	r.keypress = restoration{}
	return p, !p.at.IsZero()
}

// await waits until people have cut the vendor: until one says so, or until it
// shows. T0 is whichever comes first.
func (r *run) await(ctx context.Context) error {
	if err := r.catchUp(ctx); err != nil {
		return err
	}
	r.m.handOver(r.vendor)
	since := time.Now()
	r.mu.Lock()
	r.waiting = since
	r.st.Armed = nil
	r.st.Waits = fmt.Sprintf("cut %s now, then x or `baton drill mark`", r.label)
	r.mu.Unlock()
	r.say(control.Warn, r.me(), fmt.Sprintf("drill %s waits for people to cut %s, for at most %s", r.scenario.Name, r.label, r.spec.For), map[string]any{})
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			r.stop("baton stopped", true)
		case <-r.stopping:
		case <-tick.C:
		}
		if r.stopped() {
			return &unbegun{control.Aborted, r.why.text + ", before anybody cut " + r.label}
		}
		if time.Since(since) > time.Duration(r.spec.For) {
			return &unbegun{control.Aborted, fmt.Sprintf("nobody cut %s within %s", r.label, r.spec.For)}
		}
		t, err := r.tally(ctx)
		if err != nil {
			if time.Since(r.answered) > silence {
				return &unbegun{control.Aborted, "the engine does not answer: " + err.Error()}
			}
			continue
		}
		r.answered = time.Now()
		if why := r.lostOther(t); why != "" {
			return &unbegun{control.Aborted, why + " before anybody cut " + r.label}
		}
		if r.cut(t, since) {
			return nil
		}
		r.early.add(t, since)
	}
}

// cut begins the clock if the vendor has been cut: at the keypress, or at the
// first bad attempt where that came before it.
func (r *run) cut(t *control.Tally, since time.Time) bool {
	v := r.of(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	key, pressed := r.pressed()
	down := !takes(v.State) && v.State != control.Drained
	if !pressed && !down {
		return false
	}
	t0 := key.at
	if bad := v.FirstFault; bad.After(since) && (!pressed || bad.Before(t0)) {
		t0 = bad
	}
	if t0.IsZero() {
		t0 = v.StateSince
	}
	base := r.early.upTo(t0)
	if base == nil {
		base = t
	}
	begin := *base
	begin.Time = t0
	until := t0.Add(time.Duration(r.spec.For)).UTC()
	r.t0, r.zero = t0, t0
	r.counts.begin(&begin)
	r.st.Until = &until
	r.reach(control.PhaseFault, t0)
	if pressed {
		r.stamp(momentPressed, key.at)
	}
	r.st.Waits = fmt.Sprintf("put %s back once proven, then x or `baton drill mark`", r.label)
	return true
}

// outside looks for what people do in an external drill: the first attempt that
// met the cut, and that the vendor was put back. Where the line swallows what is sent,
// that attempt is only known when a clock has ended it: it may have begun before the
// key that began ours. r.mu is held.
func (r *run) outside(t *control.Tally) {
	if !r.scenario.external() {
		return
	}
	v := r.of(t)
	if _, known := r.reached(momentAffected); !known && v.FirstFault.After(r.waiting) {
		r.stamp(momentAffected, v.FirstFault)
	}
	if !r.restored.at.IsZero() {
		return
	}
	if key, ok := r.pressed(); ok {
		r.restored = key
		return
	}
	if _, noticed := r.reached(control.PhaseDetected); noticed && v.State == control.Recovering && v.StateSince.After(r.t0) {
		r.restored = restoration{at: v.StateSince, by: control.Controller}
	}
}

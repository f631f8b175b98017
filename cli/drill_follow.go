package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"baton/engine/control"
)

// follower waits for the end of a drill and says on standard error how it goes.
type follower struct {
	a  *app
	c  control.Control
	id string

	phases  int
	waits   string
	reason  string
	verdict string
	tasks   int
	caption time.Time // when one was last said
	aborted bool
	warned  bool // of what preflight found
}

// silentFor is how long the engine may not answer until the drill is given up.
const silentFor = 15 * time.Second

// captionEvery is how often what happens now is said.
const captionEvery = 5 * time.Second

// follow returns when the drill has ended. A signal aborts it, a second one ends
// at once: the fault ends by itself then.
func (f *follower) follow(signals <-chan os.Signal) error {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	answered := time.Now()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		s, err := control.Get[*control.Snapshot](ctx, f.c, control.State{})
		cancel()
		switch {
		case err == nil:
			answered = time.Now()
			if over, err := f.see(s.Drill); over || err != nil {
				return err
			}
		case time.Since(answered) > silentFor:
			return fmt.Errorf("the engine does not answer any more: %w. The fault ends with it, or by itself", err)
		}
		select {
		case <-tick.C:
		case <-signals:
			if f.aborted {
				f.a.tell("ended at once; the drill restores by itself")
				return exitCode(exitAborted)
			}
			f.aborted = true
			switch over, err := f.abort(); {
			case err != nil:
				f.a.tell("%v", err)
			case over:
				return nil
			}
		}
	}
}

// abort aborts the drill. One that has its verdict has nothing to abort: it is left
// to see its failback by itself, and over says so.
func (f *follower) abort() (over bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err = f.c.Do(ctx, &control.AbortDrill{Meta: f.a.meta()})
	var e *control.Error
	if errors.As(err, &e) && e.Kind == control.Conflict {
		f.a.tell("interrupted: the verdict stands, the failback is not waited for here")
		return true, nil
	}
	f.a.tell("interrupted: the drill is aborted and the vendor restored")
	return false, err
}

// gone says whether a drill that is not shown any more has ended: one that was only
// taken off the screen goes on.
func (f *follower) gone() bool {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r, err := control.Get[*control.Report](ctx, f.c, control.DrillByID{ID: f.id})
	return err != nil || r.Ended != nil
}

// see says what is new, and reports whether the drill has ended.
func (f *follower) see(d *control.DrillState) (over bool, err error) {
	if d == nil || d.ID != f.id {
		return f.gone(), nil // another one has taken its place, or it was dismissed: its record says how it ended
	}
	if !f.warned {
		f.warned = true
		for _, c := range d.Preflight {
			if c.Warn {
				f.a.tell("warning: %s: wanted %s, got %s", c.Name, c.Want, c.Got)
			}
		}
	}
	for ; f.phases < len(d.Phases); f.phases++ {
		m := d.Phases[f.phases]
		f.a.tell("%s %8s  %s%s", m.Time.Local().Format("15:04:05"), fromT0(m.TS), m.Name, f.more(d, m.Name))
	}
	if d.Waits != f.waits {
		if f.waits = d.Waits; d.Waits != "" {
			f.a.tell("waits: %s", d.Waits)
		}
	}
	f.checklist(d)
	if d.Caption != "" && time.Since(f.caption) >= captionEvery && d.Verdict == nil {
		f.caption = time.Now()
		f.a.tell("%s", d.Caption)
	}
	if d.Verdict != nil && *d.Verdict != f.verdict {
		f.verdict, f.reason = *d.Verdict, d.Reason
		f.a.tell("%s%s", f.verdict, because(d.Reason))
	} else if d.Reason != f.reason {
		f.reason = d.Reason
		f.a.tell("%s", d.Reason)
	}
	switch d.Phase {
	case control.PhaseDone, control.Failed, control.Refused, control.Aborted, control.Inconclusive:
		return true, nil
	}
	return false, nil
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// more is what a phase's line says beside its name.
func (f *follower) more(d *control.DrillState, phase string) string {
	switch phase {
	case control.PhaseSteady:
		if d.Armed != nil {
			return ", the fault comes at " + d.Armed.Local().Format("15:04:05")
		}
	case control.PhaseFault:
		if d.Vendor != "" && d.Fault.Kind != "" {
			return fmt.Sprintf(": %s at %s", d.Fault.Kind, d.Vendor)
		}
	case control.PhaseVerified:
		if d.CutoverS != nil {
			return fmt.Sprintf(", cutover %s, asked %s", clockText(*d.CutoverS), asksText(d))
		}
	}
	return ""
}

// asksText is the time that counts, and the target where a scenario asks for less.
func asksText(d *control.DrillState) string {
	if d.BoundS > 0 {
		return "within " + clockText(d.BoundS) + "; target " + clockText(d.TargetS)
	}
	return "within " + clockText(d.TargetS)
}

// checklist prints the facilitator's lines at the start, and when one is ticked.
func (f *follower) checklist(d *control.DrillState) {
	done := 0
	for _, t := range d.Checklist {
		if t.Done {
			done++
		}
	}
	if len(d.Checklist) == 0 || done == f.tasks {
		return
	}
	f.tasks = done
	for i, t := range d.Checklist {
		fmt.Fprintf(f.a.err, "  %s %d %s\n", ticked(t.Done), i+1, t.Text)
	}
}

// fromT0 is a time before or after the fault.
func fromT0(s float64) string {
	if s < 0 {
		return "-" + clockText(-s)
	}
	return "+" + clockText(s)
}

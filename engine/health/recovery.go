package health

import (
	"fmt"
	"time"

	"baton/engine/outcome"
)

const (
	// trialLost is when a trial that has not ended no longer blocks the next.
	trialLost = 10 * time.Second
	// outvote is how many good trials in a row bring a vendor back whatever its
	// probes say: as a probe alone never ejects, it never keeps out for ever.
	outvote = 3
	// easeEvery is how long a vendor is healthy for its ramp to get shorter by
	// one time.
	easeEvery = 300 * time.Second
)

// trial is the live request by which an ejected vendor is tried.
type trial struct {
	due       time.Time
	begun     time.Time
	open      bool
	good      int       // in a row, of this ejection
	recovered time.Time // when the last ejection ended
}

// begin starts an ejection: the first trial is due after one interval.
func (t *trial) begin(now time.Time, every time.Duration) {
	*t = trial{due: now.Add(every), recovered: t.recovered}
}

// TrialDue reports whether the next live request should go to the ejected
// vendor as a trial. A trial that has not ended blocks the next one for 10 s.
func (m *Machine) TrialDue(now time.Time) bool {
	t := &m.trial
	if m.state != Ejected || t.open && now.Sub(t.begun) < trialLost && !t.begun.After(now) {
		return false
	}
	// A moment further off than one interval means a clock that was set back.
	return !now.Before(t.due) || t.due.Sub(now) > m.cfg.TrialEvery
}

// TrialBegun reports that a trial was sent.
func (m *Machine) TrialBegun(now time.Time) {
	m.trial.open, m.trial.begun = true, now
	m.trial.due = now.Add(m.cfg.TrialEvery)
}

// tried takes the end of a trial. One that failed does not prolong the
// ejection: the next is due as if it had not been. An outcome that says nothing
// about the vendor (a client that left, a bad request) leaves everything as it
// is.
func (m *Machine) tried(now time.Time, o outcome.Outcome) Change {
	m.trial.open = false
	switch o {
	case outcome.OK:
		m.trial.good++
		m.lastOK = now
	case outcome.VendorFault, outcome.RateLimited:
		m.trial.good = 0
	}
	return m.recover(now)
}

// recover starts the ramp when a trial was good and the probes, where there
// are any, are good too.
func (m *Machine) recover(now time.Time) Change {
	good := m.trial.good
	switch {
	case good == 0:
		return Change{}
	case !m.cfg.Probes:
		return m.ramp(now, "a trial was answered")
	case m.probes.good >= m.cfg.HealthyAfter:
		return m.ramp(now, fmt.Sprintf("a trial was answered, %d good probes", m.probes.good))
	case good >= outvote:
		return m.ramp(now, fmt.Sprintf("%d trials were answered, though probes fail", good))
	}
	return Change{}
}

func (m *Machine) ramp(now time.Time, reason string) Change {
	m.trial.recovered = now
	m.trial.open = false
	return m.enter(now, Recovering, reason)
}

// Restore is an operator's word that the vendor is well: its ejection ends, it
// ramps at once, a single ramp whatever came before, and what was counted
// against it is forgotten.
func (m *Machine) Restore(now time.Time) Change {
	m.forget()
	m.probes = probes{}
	m.alarm = ""
	m.ramps = 1
	if m.state != Ejected {
		return Change{}
	}
	return m.ramp(now, "restored")
}

// RampAge returns how far a recovering vendor is in its ramp and how long that
// is; both are 0 in the other states.
func (m *Machine) RampAge(now time.Time) (age, length time.Duration) {
	if m.state != Recovering {
		return 0, 0
	}
	return max(now.Sub(m.since), 0), m.rampLength()
}

func (m *Machine) rampLength() time.Duration {
	if m.cfg.Ramp > m.cfg.RampMax/time.Duration(m.ramps) {
		return m.cfg.RampMax
	}
	return m.cfg.Ramp * time.Duration(m.ramps)
}

// ease shortens the next ramp by one time per 300 s of health.
func (m *Machine) ease(now time.Time) {
	if m.state != Healthy || m.ramps <= 1 {
		return
	}
	if m.eased.After(now) {
		m.eased = now
	}
	if now.Sub(m.eased) >= easeEvery {
		m.ramps--
		m.eased = now
	}
}

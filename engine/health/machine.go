// Package health decides when a vendor gets no more traffic, and when it gets
// some again: the fast, discrete loop of the control law.
//
// One [Machine] is one vendor. Its owner reports how attempts and probes ended
// and calls Tick once a second; each call answers with a [Change]. A vendor is
// Healthy, or Ejected (weight 0, one live request as a trial every 10 s), or
// Recovering (weight ramps up). Slow vendors that make progress are not its
// business: they are weighed down, never ejected. Nor are limits: a vendor that
// refuses with 429 is alive, and never ejected for it.
//
// What ejects, whichever comes first:
//   - at least 50 % of at least 20 attempts in 10 s failed;
//   - at least 10 attempts waited longer than their timeout and nothing
//     succeeded for 5 s (a black hole);
//   - with fewer than 20 attempts in 10 s, 5 failures in a row;
//   - 5 connection failures in a row over at least 2 s;
//   - 3 failed probes in a row and at least one live failure since the first
//     of them, unless more live attempts than that succeeded meanwhile: a
//     probe alone never ejects a vendor that serves.
//
// The machine knows one vendor only. Its owner knows whether another one may
// take traffic, and says so with Keep: a vendor that is kept raises an alarm
// instead of being ejected.
//
// It has no clock, lock or goroutine: every method is told the time, and the
// owner holds its lock. Nothing allocates but a change's reason.
package health

import (
	"fmt"
	"time"

	"baton/engine/outcome"
)

// State is what the machine makes of its vendor.
type State uint8

// The states.
const (
	Healthy State = iota
	Ejected
	Recovering
)

// String returns the word of the state in JSON and on the console.
func (s State) String() string {
	switch s {
	case Healthy:
		return "healthy"
	case Ejected:
		return "ejected"
	case Recovering:
		return "recovering"
	}
	return "unknown"
}

// Change is what a report led to. The zero value: nothing.
type Change struct {
	Changed  bool // the state went From one To another
	From, To State
	Alarm    bool   // a vendor that is kept would have been ejected; said once per trouble
	Reason   string // of either; for people
}

// Waiting counts attempts in flight that are older than their timeout: streams
// without a first token, and whole answers. Attempts that Stale names are left
// out.
type Waiting struct{ Streams, Wholes int }

// Machine is the health of one vendor. Use New.
type Machine struct {
	cfg    Config
	state  State
	since  time.Time
	reason string

	recent  recent
	faults  run       // live failures in a row
	connect run       // connection failures in a row
	lastOK  time.Time // the last live success or progress
	probes  probes
	waiting Waiting // as of the last Tick

	keep  bool
	alarm string

	trial trial
	ramps int       // a fall in the ramp makes the next ramp this many times as long
	eased time.Time // when ramps last fell by one, or the vendor became healthy
}

// New returns the machine of a vendor that is taken to be healthy. Values of
// cfg that make no sense are replaced by those of Default.
func New(cfg Config) *Machine {
	return &Machine{cfg: cfg.sane(), ramps: 1, reason: "started"}
}

// Reconfigure replaces the settings and keeps what is known of the vendor.
func (m *Machine) Reconfigure(cfg Config) {
	m.cfg = cfg.sane()
	if !m.cfg.Probes {
		m.probes = probes{}
	}
}

// State returns the state.
func (m *Machine) State() State { return m.state }

// Since returns when the state was entered, zero if at the start.
func (m *Machine) Since() time.Time { return m.since }

// Reason returns why the state was entered, for people.
func (m *Machine) Reason() string { return m.reason }

// Alarm returns why a vendor that is kept would be ejected now, or "".
func (m *Machine) Alarm() string { return m.alarm }

// Keep says whether the vendor must not be ejected because no other may take
// traffic. When it no longer need be kept and the trouble lasts, the next
// report or Tick ejects it. An ejected vendor that becomes the last one stays
// ejected: that the owner routes to it all the same (panic) is not a state of
// its health, and the first good answer there brings it back.
func (m *Machine) Keep(keep bool) { m.keep = keep }

// Stale reports whether an attempt that began at begun says nothing about the
// vendor as it is now: it began before an ejection that has ended since. The
// owner does not report such attempts, or the timeouts of the outage would
// eject a vendor that is well again.
func (m *Machine) Stale(begun time.Time) bool {
	return m.state != Ejected && begun.Before(m.trial.recovered)
}

// Attempt reports how an attempt ended at now. connect marks a failure at
// connection level (refused, reset before an answer, dns, tls). trial marks an
// attempt that began while the vendor was ejected; of an ejected vendor no
// other attempt counts. Only ok and vendor_fault count.
func (m *Machine) Attempt(now time.Time, o outcome.Outcome, connect, trial bool) Change {
	if m.state == Ejected {
		if !trial {
			return Change{}
		}
		return m.tried(now, o)
	}
	switch o {
	case outcome.OK:
		m.recent.add(now, false)
		m.faults, m.connect = run{}, run{}
		m.lastOK = now
		m.probes.liveOK++
	case outcome.VendorFault:
		m.recent.add(now, true)
		m.faults.add(now)
		m.probes.liveFaults++
		if connect {
			m.connect.add(now)
		} else {
			m.connect = run{}
		}
	case outcome.ClientCancel, outcome.GatewayFault:
		return Change{}
	default: // the vendor answered, so it can be reached
		m.connect = run{}
		return Change{}
	}
	return m.judge(now)
}

// Progress reports that an attempt got its first token. It is no success, but
// a vendor from which something comes is no black hole.
func (m *Machine) Progress(now time.Time) { m.lastOK = now }

// Probe reports how a probe ended.
func (m *Machine) Probe(now time.Time, ok bool) Change {
	if !m.cfg.Probes {
		return Change{}
	}
	if !ok && m.probes.bad == 0 {
		m.probes.liveOK, m.probes.liveFaults = 0, m.faults.lately(now)
	}
	m.probes.add(ok)
	if m.state == Ejected {
		return m.recover(now)
	}
	if m.alarm != "" && m.probes.good >= m.cfg.HealthyAfter && m.faults.lately(now) == 0 {
		// The last vendor was kept through an outage after which nobody asked it
		// anything. The first request must not find it blamed for that.
		m.forget()
	}
	return m.judge(now)
}

// Tick is called once a second with the attempts that wait too long.
func (m *Machine) Tick(now time.Time, w Waiting) Change {
	m.waiting = w
	if m.since.After(now) { // the clock was set back
		m.since = now
	}
	if m.state == Ejected {
		return Change{}
	}
	if c := m.judge(now); c.Changed || c.Alarm {
		return c
	}
	if age, length := m.RampAge(now); m.state == Recovering && age >= length {
		m.eased = now
		return m.enter(now, Healthy, fmt.Sprintf("ramp of %v done", length))
	}
	m.ease(now)
	return Change{}
}

// judge ejects the vendor, or alarms, if one of the rules holds.
func (m *Machine) judge(now time.Time) Change {
	reason := m.trouble(now)
	if reason == "" {
		m.alarm = ""
		return Change{}
	}
	if m.keep {
		raised := m.alarm == ""
		m.alarm = reason
		if !raised {
			return Change{}
		}
		return Change{Alarm: true, From: m.state, To: m.state, Reason: reason}
	}
	if m.state == Recovering && m.rampLength() < m.cfg.RampMax {
		m.ramps++
	}
	m.trial.begin(now, m.cfg.TrialEvery)
	return m.enter(now, Ejected, reason)
}

// enter changes the state. What was counted in the old one is forgotten, so
// that each state is judged by itself; runs of probes go on.
func (m *Machine) enter(now time.Time, to State, reason string) Change {
	c := Change{Changed: true, From: m.state, To: to, Reason: reason}
	if m.state == Ejected || to == Ejected {
		m.forget()
	}
	m.state, m.since, m.reason, m.alarm = to, now, reason, ""
	return c
}

// forget drops the memory of live traffic.
func (m *Machine) forget() {
	m.recent = recent{}
	m.faults, m.connect = run{}, run{}
	m.waiting = Waiting{}
	m.probes.liveOK, m.probes.liveFaults = 0, 0
}

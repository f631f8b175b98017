package health

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"baton/engine/outcome"
)

func sec(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

// fill reports n attempts of an outcome, evenly over [from, to) seconds.
func fill(m *Machine, from, to float64, n int, o outcome.Outcome) (c Change) {
	for i := range n {
		if c = m.Attempt(sec(from+(to-from)*float64(i)/float64(n)), o, false, false); c.Changed {
			return c
		}
	}
	return c
}

func ejectedAt(t *testing.T, cfg Config, at float64) *Machine {
	t.Helper()
	m := New(cfg)
	if c := fill(m, at-0.4, at, 5, outcome.VendorFault); !c.Changed || c.To != Ejected {
		t.Fatalf("5 failures in a row: %+v", c)
	}
	return m
}

func TestStray_FailuresAndRefusalsEjectNobody(t *testing.T) {
	for _, c := range []struct {
		name    string
		report  func(m *Machine) Change
		ejected bool
	}{
		{"one 503", func(m *Machine) Change { return fill(m, 0, 1, 1, outcome.VendorFault) }, false},
		{"four 503 in a row", func(m *Machine) Change { return fill(m, 0, 1, 4, outcome.VendorFault) }, false},
		{"five 503 in a row", func(m *Machine) Change { return fill(m, 0, 1, 5, outcome.VendorFault) }, true},
		{"one 429", func(m *Machine) Change { return fill(m, 0, 1, 1, outcome.RateLimited) }, false},
		{"10,000 429s", func(m *Machine) Change { return fill(m, 0, 30, 10000, outcome.RateLimited) }, false},
		{"1,000 bad requests", func(m *Machine) Change { return fill(m, 0, 30, 1000, outcome.ClientFault) }, false},
		{"1,000 clients leaving", func(m *Machine) Change { return fill(m, 0, 30, 1000, outcome.ClientCancel) }, false},
		{"1,000 dead keys", func(m *Machine) Change { return fill(m, 0, 30, 1000, outcome.AccountFault) }, false},
		{"1,000 unknown models", func(m *Machine) Change { return fill(m, 0, 30, 1000, outcome.ConfigFault) }, false},
		{"our own faults", func(m *Machine) Change { return fill(m, 0, 30, 1000, outcome.GatewayFault) }, false},
		{"filtered content", func(m *Machine) Change { return fill(m, 0, 30, 1000, outcome.ContentFilter) }, false},
		{"five in a row with an answer between", func(m *Machine) Change {
			fill(m, 0, 1, 4, outcome.VendorFault)
			fill(m, 1, 2, 1, outcome.OK)
			return fill(m, 2, 3, 4, outcome.VendorFault)
		}, false},
		{"five in a row with a bad request between", func(m *Machine) Change {
			fill(m, 0, 1, 4, outcome.VendorFault)
			fill(m, 1, 2, 1, outcome.ClientFault)
			return fill(m, 2, 3, 1, outcome.VendorFault)
		}, true},
		{"five in a row among many good", func(m *Machine) Change {
			fill(m, 0, 5, 100, outcome.OK)
			return fill(m, 5, 6, 5, outcome.VendorFault)
		}, false},
		{"exactly half of exactly 20", func(m *Machine) Change {
			for i := range 10 {
				fill(m, float64(i)/10, 1, 1, outcome.OK)
				fill(m, float64(i)/10+0.05, 1, 1, outcome.VendorFault)
			}
			return m.Tick(sec(1), Waiting{})
		}, true},
		{"just under half of 21", func(m *Machine) Change {
			for i := range 10 {
				fill(m, float64(i)/10, 1, 1, outcome.OK)
				fill(m, float64(i)/10+0.05, 1, 1, outcome.VendorFault)
				if i == 0 {
					fill(m, 0.06, 1, 1, outcome.OK)
				}
			}
			return m.Tick(sec(1), Waiting{})
		}, false},
	} {
		m := New(without(false))
		c.report(m)
		if got := m.State() == Ejected; got != c.ejected {
			t.Errorf("%s: ejected %v, want %v (%s)", c.name, got, c.ejected, m.Reason())
		}
	}
}

func TestConnectionFailures_EjectAfterFiveInARowOverTwoSeconds(t *testing.T) {
	m := New(without(false))
	fill(m, 0, 5, 500, outcome.OK)
	for i := range 20 {
		if c := m.Attempt(sec(5+float64(i)*0.09), outcome.VendorFault, true, false); c.Changed {
			t.Fatalf("ejected after %v s", float64(i)*0.09)
		}
	}
	c := m.Attempt(sec(7), outcome.VendorFault, true, false)
	if !c.Changed || c.Reason != "21 connection failures in a row" {
		t.Errorf("after 2 s: %+v", c)
	}

	m = New(without(false))
	fill(m, 0, 5, 500, outcome.OK)
	for i := range 40 {
		o, connect := outcome.VendorFault, true
		if i%4 == 3 {
			o, connect = outcome.RateLimited, false
		}
		if c := m.Attempt(sec(5+float64(i)*0.09), o, connect, false); c.Changed {
			t.Fatalf("ejected for connection failures although the vendor answered between: %s", c.Reason)
		}
	}
}

func TestBlackhole_WaitingAttemptsEjectUnlessSomethingSucceeds(t *testing.T) {
	for _, c := range []struct {
		name   string
		lastOK float64 // seconds before the tick
		w      Waiting
		reason string
	}{
		{"nine wait", 60, Waiting{Streams: 9}, ""},
		{"ten streams wait", 6, Waiting{Streams: 10}, "10 streams waited over 10s, no success in 5s"},
		{"a success 4 s ago", 4, Waiting{Streams: 100}, ""},
		{"whole answers wait", 6, Waiting{Wholes: 12}, "12 whole answers waited over 2m0s, no success in 5s"},
		{"both wait", 6, Waiting{Streams: 5, Wholes: 5}, "5 streams waited over 10s and 5 whole answers over 2m0s, no success in 5s"},
	} {
		m := New(Default())
		m.Attempt(sec(100-c.lastOK), outcome.OK, false, false)
		ch := m.Tick(sec(100), c.w)
		if ch.Reason != c.reason || ch.Changed != (c.reason != "") {
			t.Errorf("%s: %+v, want %q", c.name, ch, c.reason)
		}
	}
	m := New(Default())
	m.Progress(sec(99))
	if c := m.Tick(sec(100), Waiting{Streams: 50}); c.Changed {
		t.Errorf("a vendor from which first tokens come was ejected: %s", c.Reason)
	}
}

func TestProbes_AloneEjectNobody(t *testing.T) {
	probe := func(m *Machine, at float64, ok bool) Change { return m.Probe(sec(at), ok) }
	for _, c := range []struct {
		name    string
		report  func(m *Machine)
		ejected bool
	}{
		{"100 failed probes, no traffic", func(m *Machine) {
			for i := range 100 {
				probe(m, float64(i*5), false)
			}
		}, false},
		{"failed probes beside good traffic", func(m *Machine) {
			for i := range 100 {
				fill(m, float64(i*5), float64(i*5+5), 5, outcome.OK)
				probe(m, float64(i*5+5), false)
			}
		}, false},
		{"failed probes beside traffic with one failure in a hundred", func(m *Machine) {
			for i := range 100 {
				fill(m, float64(i*5), float64(i*5+4), 99, outcome.OK)
				fill(m, float64(i*5+4), float64(i*5+5), 1, outcome.VendorFault)
				probe(m, float64(i*5+5), false)
			}
		}, false},
		{"two failed probes and a live failure", func(m *Machine) {
			probe(m, 5, false)
			fill(m, 6, 7, 1, outcome.VendorFault)
			probe(m, 10, false)
		}, false},
		{"three failed probes and a live failure", func(m *Machine) {
			probe(m, 5, false)
			fill(m, 6, 7, 1, outcome.VendorFault)
			probe(m, 10, false)
			probe(m, 15, false)
		}, true},
		{"three failed probes, then a live failure", func(m *Machine) {
			probe(m, 5, false)
			probe(m, 10, false)
			probe(m, 15, false)
			fill(m, 16, 17, 1, outcome.VendorFault)
		}, true},
		{"a live failure just before the first of three", func(m *Machine) {
			fill(m, 4, 5, 1, outcome.VendorFault)
			probe(m, 5, false)
			probe(m, 10, false)
			probe(m, 15, false)
		}, true},
		{"a live failure long before", func(m *Machine) {
			fill(m, 4, 5, 1, outcome.VendorFault)
			probe(m, 105, false)
			probe(m, 110, false)
			probe(m, 115, false)
		}, false},
		{"a good probe between", func(m *Machine) {
			probe(m, 5, false)
			probe(m, 10, false)
			probe(m, 15, true)
			probe(m, 20, false)
			fill(m, 21, 22, 1, outcome.VendorFault)
			probe(m, 25, false)
		}, false},
	} {
		m := New(Default())
		c.report(m)
		if got := m.State() == Ejected; got != c.ejected {
			t.Errorf("%s: ejected %v, want %v (%s)", c.name, got, c.ejected, m.Reason())
		}
	}
}

func TestTrials_ComeEveryTenSecondsOneAtATime(t *testing.T) {
	m := ejectedAt(t, without(false), 0)
	for _, c := range []struct {
		at  float64
		due bool
	}{{1, false}, {9.8, false}, {10, true}} {
		if got := m.TrialDue(sec(c.at)); got != c.due {
			t.Errorf("%v s after: due %v", c.at, got)
		}
	}
	m.TrialBegun(sec(10))
	m.Attempt(sec(10.1), outcome.VendorFault, false, true)
	if m.TrialDue(sec(19.9)) || !m.TrialDue(sec(20)) {
		t.Error("a failed trial changed when the next is due")
	}

	quick := without(false)
	quick.TrialEvery = time.Second
	m = ejectedAt(t, quick, 0)
	m.TrialBegun(sec(2))
	if m.TrialDue(sec(5)) || !m.TrialDue(sec(12)) {
		t.Error("a trial that has not ended blocks the next one for 10 s, no less and no more")
	}
	m.Attempt(sec(6), outcome.ClientCancel, false, true)
	if !m.TrialDue(sec(6)) {
		t.Error("a trial that ended still blocks")
	}
}

func TestTrial_OnlyAGoodOneBringsBack(t *testing.T) {
	for o := range outcome.Outcome(outcome.Count) {
		m := ejectedAt(t, without(false), 0)
		m.TrialBegun(sec(10))
		c := m.Attempt(sec(11), o, false, true)
		if c.Changed != (o == outcome.OK) {
			t.Errorf("%v: %+v", o, c)
		}
	}
	m := ejectedAt(t, without(false), 0)
	if c := m.Attempt(sec(1), outcome.OK, false, false); c.Changed {
		t.Error("an answer to a request from before the ejection brought the vendor back")
	}
}

func TestRecovery_WaitsForTheProbesWhereThereAreAny(t *testing.T) {
	m := ejectedAt(t, Default(), 0)
	m.Probe(sec(2), false)
	m.TrialBegun(sec(10))
	if c := m.Attempt(sec(11), outcome.OK, false, true); c.Changed {
		t.Fatal("back before the probes are good")
	}
	if c := m.Probe(sec(12), true); c.Changed {
		t.Fatal("back after one good probe")
	}
	if c := m.Probe(sec(14), true); !c.Changed || c.To != Recovering {
		t.Fatalf("a good trial and two good probes: %+v", c)
	}

	m = ejectedAt(t, Default(), 0)
	m.Probe(sec(2), true)
	m.Probe(sec(4), true)
	if m.State() != Ejected {
		t.Fatal("probes alone brought the vendor back")
	}
	m.TrialBegun(sec(10))
	m.Attempt(sec(10.5), outcome.OK, false, true)
	if m.State() != Recovering {
		t.Error("a good trial after good probes did not bring it back")
	}

	m = ejectedAt(t, Default(), 0)
	for i := range 3 {
		m.Probe(sec(float64(10*i+9)), false)
		m.TrialBegun(sec(float64(10*i + 10)))
		m.Attempt(sec(float64(10*i+11)), outcome.OK, false, true)
	}
	if m.State() != Recovering {
		t.Error("probes that never work keep a vendor out for ever that answers every trial")
	}
}

func TestRestore_EndsTheEjectionAndRampsAtOnce(t *testing.T) {
	m := ejectedAt(t, Default(), 0)
	m.ramps = 4
	m.Probe(sec(2), false)
	c := m.Restore(sec(3))
	if _, length := m.RampAge(sec(3.5)); !c.Changed || c.From != Ejected || c.To != Recovering || length != time.Minute {
		t.Errorf("%+v, ramp %v", c, length)
	}
	if fill(m, 4, 5, 20, outcome.VendorFault); m.State() != Ejected {
		t.Error("one that still fails is not ejected again")
	}

	m = New(Default())
	fill(m, 0, 1, 4, outcome.VendorFault)
	m.Restore(sec(1))
	if fill(m, 1, 2, 4, outcome.VendorFault); m.State() != Healthy {
		t.Error("failures from before the restore still count")
	}
}

func TestStale_AttemptsFromTheOutageDoNotEjectAgain(t *testing.T) {
	m := ejectedAt(t, without(false), 0)
	if m.Stale(sec(-1)) {
		t.Error("stale while the outage lasts")
	}
	m.TrialBegun(sec(10))
	m.Attempt(sec(11), outcome.OK, false, true)
	if !m.Stale(sec(5)) || m.Stale(sec(11)) || m.Stale(sec(12)) {
		t.Error("attempts begun before the end of the ejection are stale, later ones are not")
	}
}

func TestKeep_TheLastVendorAlarmsInsteadOfBeingEjected(t *testing.T) {
	m := New(without(false))
	m.Keep(true)
	alarms := 0
	for i := range 50 {
		c := m.Attempt(sec(float64(i)/10), outcome.VendorFault, false, false)
		if c.Changed {
			t.Fatal("ejected")
		}
		if c.Alarm {
			alarms++
		}
	}
	if alarms != 1 || !strings.Contains(m.Alarm(), "errors in 10 s") {
		t.Errorf("%d alarms, %q", alarms, m.Alarm())
	}
	fill(m, 5, 20, 100, outcome.OK)
	if m.Alarm() != "" {
		t.Errorf("well again, and still %q", m.Alarm())
	}
	fill(m, 20, 40, 100, outcome.VendorFault)
	m.Keep(false)
	if c := m.Tick(sec(40), Waiting{}); !c.Changed || c.To != Ejected {
		t.Errorf("no longer the last, still failing: %+v", c)
	}
}

func TestReason_SaysWhatWasSeen(t *testing.T) {
	m := New(without(false))
	fill(m, 0, 1, 15, outcome.OK)
	c := fill(m, 1, 2, 100, outcome.VendorFault)
	if c.Reason != "50 % errors in 10 s, n=30" || m.Reason() != c.Reason || c.From != Healthy || !m.Since().Equal(sec(1.14)) {
		t.Errorf("%+v since %v", c, m.Since())
	}
	if got := ejectedAt(t, without(false), 0).Reason(); got != "5 failures in a row" {
		t.Errorf("got %q", got)
	}
}

func TestConfig_NonsenseFallsBackToTheDefault(t *testing.T) {
	m := New(Config{Ramp: -time.Second, RampMax: -1, TrialEvery: -1, UnhealthyAfter: -2})
	if m.cfg.TrialEvery != 10*time.Second || m.cfg.UnhealthyAfter != 3 || m.cfg.Ramp != 0 {
		t.Errorf("%+v", m.cfg)
	}
	ejected := ejectedAt(t, Config{}, 0)
	ejected.Attempt(sec(10), outcome.OK, false, true)
	if c := ejected.Tick(sec(10), Waiting{}); c.To != Healthy {
		t.Errorf("with no ramp the vendor is not healthy at once: %+v", c)
	}
}

// Whatever is reported in whatever order at whatever time: no panic, only the
// transitions that exist, a reason for each, and a ramp within its bounds.
func TestMachine_OnlyMakesTransitionsThatExist(t *testing.T) {
	legal := map[[2]State]bool{
		{Healthy, Ejected}: true, {Recovering, Ejected}: true, {Ejected, Recovering}: true, {Recovering, Healthy}: true,
	}
	seen := map[[2]State]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 5))
		m := New(without(seed%2 == 0))
		now, state := t0, Healthy
		mood := outcome.OK
		for range 4000 {
			now = now.Add(time.Duration(r.IntN(400)) * time.Millisecond)
			switch r.IntN(900) {
			case 0:
				now = now.Add(-time.Duration(r.IntN(7200)) * time.Second)
			case 1:
				now = now.Add(time.Duration(r.IntN(7200)) * time.Second)
			case 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12:
				mood = []outcome.Outcome{outcome.OK, outcome.VendorFault}[r.IntN(2)]
			}
			var c Change
			switch r.IntN(12) {
			case 0:
				c = m.Probe(now, r.IntN(3) > 0)
			case 1:
				c = m.Tick(now, Waiting{Streams: r.IntN(14)})
			case 2:
				c = m.Attempt(now, outcome.Outcome(r.IntN(outcome.Count+1)), r.IntN(2) == 0, r.IntN(2) == 0)
			case 3:
				m.Keep(r.IntN(4) == 0)
			case 4:
				if r.IntN(30) == 0 {
					c = m.Restore(now)
				}
			default:
				trial := m.TrialDue(now)
				if trial {
					m.TrialBegun(now)
				}
				c = m.Attempt(now, mood, r.IntN(2) == 0, trial)
			}
			if c.Changed {
				if !legal[[2]State{c.From, c.To}] || c.From != state || c.Reason == "" {
					t.Fatalf("seed %d: %+v in state %v", seed, c, state)
				}
				state = c.To
				seen[[2]State{c.From, c.To}]++
			}
			if m.State() != state {
				t.Fatalf("seed %d: state went from %v to %v without a change", seed, state, m.State())
			}
			if age, length := m.RampAge(now); age < 0 || length < 0 || length > 300*time.Second {
				t.Fatalf("seed %d: ramp %v of %v", seed, age, length)
			}
		}
	}
	for tr := range legal {
		if seen[tr] == 0 {
			t.Errorf("%v to %v never happened: the test sees too little", tr[0], tr[1])
		}
	}
}

func TestAttempt_AllocatesNothing(t *testing.T) {
	m, now := New(Default()), t0
	i := 0
	if n := testing.AllocsPerRun(1000, func() {
		now = now.Add(10 * time.Millisecond)
		i++
		o := outcome.OK
		if i%5 == 0 {
			o = outcome.VendorFault
		}
		m.Attempt(now, o, false, false)
		m.Tick(now, Waiting{})
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkMachine_Attempt(b *testing.B) {
	b.ReportAllocs()
	m, now := New(Default()), t0
	for b.Loop() {
		now = now.Add(time.Millisecond)
		m.Attempt(now, outcome.OK, false, false)
	}
}

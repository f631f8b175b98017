package health

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"baton/engine/outcome"
)

var t0 = time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC)

// vendor is how a made-up vendor treats an attempt that begins at t.
type vendor func(t time.Duration) (takes time.Duration, o outcome.Outcome, connect bool)

func good(time.Duration) (time.Duration, outcome.Outcome, bool) {
	return 300 * time.Millisecond, outcome.OK, false
}

func answers503(time.Duration) (time.Duration, outcome.Outcome, bool) {
	return 50 * time.Millisecond, outcome.VendorFault, false
}

func refuses(time.Duration) (time.Duration, outcome.Outcome, bool) {
	return time.Millisecond, outcome.VendorFault, true
}

// blackhole says nothing, so that the owner gives up after the timeout.
func blackhole(time.Duration) (time.Duration, outcome.Outcome, bool) {
	return 10 * time.Second, outcome.VendorFault, false
}

// from is a vendor that is well until at, and again after that for a while.
func from(at, lasts time.Duration, bad vendor) vendor {
	return func(t time.Duration) (time.Duration, outcome.Outcome, bool) {
		if t >= at && t < at+lasts {
			return bad(t)
		}
		return good(t)
	}
}

// world runs a machine on traffic, in steps of 10 ms.
type world struct {
	m       *Machine
	rate    float64
	vendor  vendor
	probes  func(t time.Duration) bool // nil: not probed
	changes []at
	sent    int // ordinary attempts
}

type at struct {
	t    time.Duration
	c    Change
	sent int
}

type flight struct {
	begun, ends time.Duration
	o           outcome.Outcome
	connect     bool
	trial       bool
}

func (w *world) run(length time.Duration) {
	const step = 10 * time.Millisecond
	var flights []flight
	owed, sinceProbe := 0.0, time.Duration(0)
	for t := time.Duration(0); t < length; t += step {
		now := t0.Add(t)
		rest := flights[:0]
		for _, f := range flights {
			switch {
			case f.ends > t:
				rest = append(rest, f)
			case !w.m.Stale(t0.Add(f.begun)):
				w.note(t, w.m.Attempt(now, f.o, f.connect, f.trial))
			}
		}
		flights = rest
		for owed += w.rate * step.Seconds(); owed >= 1; owed-- {
			trial := false
			if w.m.State() == Ejected {
				if !w.m.TrialDue(now) {
					continue
				}
				w.m.TrialBegun(now)
				trial = true
			} else {
				w.sent++
			}
			takes, o, connect := w.vendor(t)
			flights = append(flights, flight{t, t + takes, o, connect, trial})
		}
		if w.probes != nil {
			every := 5 * time.Second
			if w.m.State() == Ejected {
				every = 2 * time.Second
			}
			if sinceProbe += step; sinceProbe >= every {
				sinceProbe = 0
				w.note(t, w.m.Probe(now, w.probes(t)))
			}
		}
		if t%time.Second == 0 {
			w.note(t, w.m.Tick(now, Waiting{}))
		}
	}
}

func (w *world) note(t time.Duration, c Change) {
	if c.Changed || c.Alarm {
		w.changes = append(w.changes, at{t, c, w.sent})
	}
}

// first returns the first change to a state.
func (w *world) first(s State) (at, bool) {
	for _, a := range w.changes {
		if a.c.Changed && a.c.To == s {
			return a, true
		}
	}
	return at{}, false
}

func without(probes bool) Config {
	c := Default()
	c.Probes = probes
	return c
}

func TestHardDown_IsEjectedInTime(t *testing.T) {
	const fault = 60 * time.Second
	for _, c := range []struct {
		name   string
		bad    vendor
		rate   float64
		within time.Duration
		sent   int // attempts after the fault, at most
	}{
		{"503 in 50 ms, 1 in 5 s", answers503, 0.2, 30 * time.Second, 20},
		{"503 in 50 ms, 1/s", answers503, 1, 8 * time.Second, 20},
		{"503 in 50 ms, 1.9/s", answers503, 1.9, 8 * time.Second, 20},
		{"503 in 50 ms, 2/s", answers503, 2, 8 * time.Second, 20},
		{"503 in 50 ms, 20/s", answers503, 20, 8 * time.Second, 160},
		{"503 in 50 ms, 300/s", answers503, 300, 8 * time.Second, 2400},
		{"refused, 20/s", refuses, 20, 3 * time.Second, 61},
		{"refused, 300/s", refuses, 300, 3 * time.Second, 901},
		{"refused, 1/s", refuses, 1, 6 * time.Second, 6},
		{"blackhole, 1/s", blackhole, 1, 15 * time.Second, 20},
		{"blackhole, 20/s", blackhole, 20, 15 * time.Second, 300},
		{"blackhole, 300/s", blackhole, 300, 15 * time.Second, 4500},
	} {
		w := &world{m: New(without(false)), rate: c.rate, vendor: from(fault, time.Hour, c.bad)}
		w.run(fault + 2*time.Minute)
		a, ok := w.first(Ejected)
		if !ok {
			t.Errorf("%s: never ejected", c.name)
			continue
		}
		before := int(c.rate * fault.Seconds())
		if took := a.t - fault; took < 0 || took > c.within || a.sent-before > c.sent+1 {
			t.Errorf("%s: ejected after %v and %d attempts (%s), want %v and %d", c.name, took, a.sent-before, a.c.Reason, c.within, c.sent)
		}
		if w.sent != a.sent {
			t.Errorf("%s: %d ordinary attempts after the ejection", c.name, w.sent-a.sent)
		}
	}
}

func TestOutage_ClosesOnTheFirstGoodTrialAndRamps(t *testing.T) {
	for _, bad := range []struct {
		name string
		v    vendor
	}{{"503", answers503}, {"refused", refuses}, {"blackhole", blackhole}} {
		for _, rate := range []float64{0.25, 5, 100} {
			for _, probed := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s at %v/s, probed %v", bad.name, rate, probed), func(t *testing.T) {
					const down, lasts = 60 * time.Second, 60 * time.Second
					well := down + lasts
					w := &world{m: New(without(probed)), rate: rate, vendor: from(down, lasts, bad.v)}
					if probed {
						w.probes = func(t time.Duration) bool { return t < down || t >= well }
					}
					w.run(well + 4*time.Minute)
					var states []State
					for _, a := range w.changes {
						states = append(states, a.c.To)
					}
					if want := []State{Ejected, Recovering, Healthy}; fmt.Sprint(states) != fmt.Sprint(want) {
						t.Fatalf("states %v, want %v: %+v", states, want, w.changes)
					}
					// A trial, what it takes to ask for one, and the probes.
					slack := 15*time.Second + time.Duration(float64(time.Second)/rate)
					if got := w.changes[1].t - well; got > slack {
						t.Errorf("tried well %v after the end, want within %v", got, slack)
					}
					if ramp := w.changes[2].t - w.changes[1].t; ramp < 60*time.Second || ramp > 61*time.Second {
						t.Errorf("ramp of %v, want 60s", ramp)
					}
				})
			}
		}
	}
}

func TestPartialFailure_EjectsOnlyFromHalfOn(t *testing.T) {
	for _, c := range []struct {
		percent float64
		rate    float64
		ejected bool
	}{
		{1, 5, false},
		{20, 10, false},
		{35, 50, false},
		{65, 50, true},
		{90, 10, true},
	} {
		r := rand.New(rand.NewPCG(1, uint64(c.percent)))
		w := &world{m: New(without(false)), rate: c.rate, vendor: from(30*time.Second, time.Hour,
			func(t time.Duration) (time.Duration, outcome.Outcome, bool) {
				if r.Float64()*100 < c.percent {
					return answers503(t)
				}
				return good(t)
			})}
		w.run(10 * time.Minute)
		if _, ejected := w.first(Ejected); ejected != c.ejected {
			t.Errorf("%v %% errors at %v/s: ejected %v, want %v (%+v)", c.percent, c.rate, ejected, c.ejected, w.changes)
		}
	}
}

func TestFlap_LengthensTheRampAndForgivesLater(t *testing.T) {
	flapping := func(t time.Duration) (time.Duration, outcome.Outcome, bool) {
		if t < 5*time.Minute && t%(40*time.Second) >= 20*time.Second {
			return answers503(t)
		}
		return good(t)
	}
	w := &world{m: New(without(false)), rate: 20, vendor: flapping}
	w.run(30 * time.Minute)
	if n := w.m.ramps; n != 1 {
		t.Errorf("20 minutes healthy later the next ramp is still %d times as long", n)
	}
	falls := 0
	for _, a := range w.changes {
		if a.c.From == Recovering && a.c.To == Ejected {
			falls++
		}
	}
	if falls < 2 {
		t.Fatalf("fell %d times in its ramp: the scenario tests nothing", falls)
	}
	last := w.changes[len(w.changes)-1]
	began := w.changes[len(w.changes)-2]
	want := min(time.Duration(1+falls)*60*time.Second, 300*time.Second)
	if got := last.t - began.t; got < want || got > want+time.Second {
		t.Errorf("after %d falls the ramp took %v, want %v", falls, got, want)
	}
}

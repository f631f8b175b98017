package drills

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/drills/page"
	"baton/engine/config"
	"baton/engine/control"
)

// door is the gateway as a spike finds it.
type door struct {
	world    *world
	room     int                  // requests a second that are let in; the others are limited
	attempts int64                // at vendors, of one that is let in
	answer   func() (status int)  // nil: 200
	takes    func() time.Duration // nil: 100 ms
	bare     bool                 // refusals do not say when to come again

	mu     sync.Mutex
	second int64
	n, all int
	last   time.Time
}

func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	if s := time.Now().Unix(); s != d.second {
		d.second, d.n = s, 0
	}
	d.n++
	d.all++
	d.last = time.Now()
	let := d.room == 0 || d.n <= d.room
	d.mu.Unlock()
	status, after := http.StatusTooManyRequests, time.Millisecond
	if let {
		status, after = http.StatusOK, 100*time.Millisecond
		if d.answer != nil {
			status = d.answer()
		}
		if d.takes != nil {
			after = d.takes()
		}
	}
	select {
	case <-time.After(after):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	d.world.set(func() {
		d.world.totals.Requests++
		if let {
			d.world.totals.OK++
			d.world.totals.Attempts += max(1, d.attempts)
		}
	})
	h := http.Header{}
	if status != http.StatusOK && !d.bare {
		h.Set("Retry-After", "1")
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader("data: {}\n\ndata: [DONE]\n\n"))}, nil
}

const smallSpike = `name = "small"
claim = "it goes over"
spike = { from = 5, to = 200, baseline = "10s", hold = "10s", recovery = "20s", proof = "10s", stream = 1.0 }
bounds = { recovered = "5s", amplification = 1.2 }
`

// spiking rehearses the small spike at a door.
func spiking(t *testing.T, d *door, f func(s *stage, id string)) {
	t.Helper()
	rehearse(t, func(w *world, _ *Options) { w.rps = 0.5 }, func(s *stage) {
		x, err := Parse("small.toml", []byte(smallSpike))
		if err != nil {
			t.Fatal(err)
		}
		d.world = s.world
		s.m.builtin["small"], s.m.spikes = x, d
		s.pass(30 * time.Second) // the vendors have been well for long enough
		c := &control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: "small"}
		if _, err := s.m.Do(s.Context(), c); err != nil {
			t.Fatal(err)
		}
		f(s, c.ID)
	})
}

func TestSpike_IsAdmittedAsFarAsThereIsRoomAndOverWhenItIsOver(t *testing.T) {
	d := &door{room: 100}
	spiking(t, d, func(s *stage, id string) {
		began := time.Now()
		s.pass(15 * time.Second)
		st := s.m.State()
		if !strings.HasPrefix(st.Caption, "spike: ") || st.Phase != control.PhaseFault || st.Vendor != "" || !st.Steps[0].Done || st.Steps[1].Done {
			t.Errorf("in the spike: phase %s, caption %q, steps %+v", st.Phase, st.Caption, st.Steps)
		}
		if st.Requests.Failed != 0 || st.Requests.Total < 500 {
			t.Errorf("in the spike: requests %+v", st.Requests)
		}
		s.pass(30 * time.Second)
		s.ends(control.Passed, "")
		r := s.record(id)
		if got := phaseNames(r); got != "steady fault restored verified done" {
			t.Errorf("phases %s", got)
		}
		if at := r.Phases[1].Time.Sub(began); at < 10*time.Second || at > 10*time.Second+pace {
			t.Errorf("T0 was %v after the start, the step up 10 s after it", at)
		}
		if at := r.Phases[2].TS; math.Abs(at-10) > 0.1 {
			t.Errorf("the step back was at %g s", at)
		}
		// The truth: 10 s of 200 requests, of which 100 a second are let in.
		x := r.Extra
		if math.Abs(x["sent"]-2000) > 180 || math.Abs(x["admitted"]-1000) > 120 || x["limited"] != x["sent"]-x["admitted"] || x["shed"]+x["failed"]+x["dropped"] != 0 {
			t.Errorf("figures %v", x)
		}
		if x["recover_s"] > 1 || x["p99_ms"] != 100 || x["first_shed_s"] <= 0 || x["first_shed_s"] > 1 || x["amplification"] > 1 || x["amplification"] < 0.4 {
			t.Errorf("figures %v", x)
		}
		if r.Requests.OK != int64(x["admitted"]) || r.Requests.Failed != 0 || r.Environment != "DEMO" || r.TargetS != 15 {
			t.Errorf("requests %+v, target %g", r.Requests, r.TargetS)
		}
		spiked := 0.0
		for i := range r.Series {
			if p := &r.Series[i]; p.TS >= 0 && p.TS < 10 {
				spiked += p.Extra["sent"]
			}
		}
		if spiked != x["sent"] {
			t.Errorf("the series has %g requests in the spike, the figures %g", spiked, x["sent"])
		}
		html, err := page.Render(r)
		if err != nil || !strings.Contains(string(html), "limited (429)") || !strings.Contains(string(html), "T0 is the step up") {
			t.Errorf("the page does not show the spike: %v", err)
		}
		for _, want := range []string{"| admitted: answered whole |", "| attempts for each request |", "the step back to the base rate", "| fault | spike, for at most 10s |"} {
			if !strings.Contains(Markdown(r), want) {
				t.Errorf("the report does not have %q", want)
			}
		}
	})
}

func TestSpike_SaysWhatWasNotAsAsked(t *testing.T) {
	for name, c := range map[string]struct {
		door    func(d *door)
		verdict string
		reason  string
	}{
		"a bad state that outlives it": {
			func(d *door) {
				first := sync.OnceValue(time.Now)
				d.answer = func() int {
					if time.Since(first()) > 12*time.Second {
						return http.StatusServiceUnavailable
					}
					return http.StatusOK
				}
			}, control.Failed, "METASTABLE",
		},
		"retries that multiply": {func(d *door) { d.attempts = 2 }, control.Failed, "attempts at vendors per request: wanted at most 1.2, got 1.9"},
		"refusals that do not say when to come again": {
			func(d *door) { d.room, d.bare = 100, true }, control.Failed, "requests that failed, refusals apart: wanted none...429",
		},
		"a generator that is the limit": {
			func(d *door) {
				first := sync.OnceValue(time.Now)
				d.takes = func() time.Duration {
					if time.Since(first()) < 10*time.Second {
						return 100 * time.Millisecond
					}
					return 9 * time.Second
				}
			}, control.Inconclusive, "CLIENT-LIMITED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := new(door)
			c.door(d)
			spiking(t, d, func(s *stage, _ string) {
				s.pass(time.Minute)
				s.ends(c.verdict, c.reason)
			})
		})
	}
}

func TestSpike_AnAbortStopsItAtOnce(t *testing.T) {
	d := new(door)
	spiking(t, d, func(s *stage, id string) {
		s.pass(14 * time.Second)
		if _, err := s.m.Do(s.Context(), &control.AbortDrill{Meta: control.Meta{By: "wu"}}); err != nil {
			t.Fatal(err)
		}
		s.pass(2 * pace)
		s.ends(control.Aborted, "aborted by operator:wu")
		stopped := d.all
		s.pass(5 * time.Second)
		if d.all != stopped || time.Since(d.last) < 5*time.Second {
			t.Errorf("%d requests were sent after the abort", d.all-stopped)
		}
		if r := s.record(id); r.Verdict != control.Aborted || phaseNames(r) != "steady fault aborted" {
			t.Errorf("recorded %s, phases %s", r.Verdict, phaseNames(r))
		}
	})
}

func TestSpike_IsRefusedWhereAVendorIsNotSimulated(t *testing.T) {
	d := new(door)
	rehearse(t, func(_ *world, o *Options) {
		o.Config.Vendors = []config.Vendor{{Name: "a", BaseURL: "http://127.0.0.1:9/v1"}}
	}, func(s *stage) {
		d.world, s.m.spikes = s.world, d
		if _, err := s.m.Do(s.Context(), &control.StartDrill{Scenario: "spike-400x"}); err != nil {
			t.Fatal(err)
		}
		s.pass(time.Second)
		s.ends(control.Refused, "every one simulated...a is not")
		if d.all != 0 {
			t.Errorf("%d requests were sent", d.all)
		}
		for _, c := range []*control.StartDrill{{Scenario: "spike-400x", Vendor: "a"}, {Scenario: "spike-400x", Fault: "refuse"}, {Scenario: "spike-400x", For: control.Duration(time.Minute)}} {
			if _, err := s.m.Do(s.Context(), c); kindOf(err) != control.Invalid {
				t.Errorf("%+v: %v, want it to be invalid", c, err)
			}
		}
	})
}

func TestSpike_WhatItLeadsToIsNoIncidentAndIsCounted(t *testing.T) {
	spiking(t, new(door), func(s *stage, id string) {
		s.pass(12 * time.Second)
		s.set(func() { s.eject("b") })
		s.pass(40 * time.Second)
		if x := s.m.Incident(); x != nil {
			t.Errorf("an incident is open: %+v", x)
		}
		if got := s.record(id).Extra["ejections"]; got != 1 {
			t.Errorf("%g ejections, want 1", got)
		}
	})
}

func TestSpike_HasTheEngineForItself(t *testing.T) {
	quiet := 0
	rehearse(t, func(_ *world, o *Options) {
		o.Quiet = func() func() { quiet++; return func() { quiet-- } }
		o.Shows = []Show{{Name: "play", Claim: "c", Length: time.Minute, Play: func(ctx context.Context, _, _ string, tell func(Scene)) (*control.Report, error) {
			if quiet != 1 {
				t.Error("other traffic goes on")
			}
			tell(Scene{Caption: "first", Steps: []control.StepState{{Text: "one"}}})
			select {
			case <-time.After(6 * time.Second):
				tell(Scene{Caption: "last", TargetS: 420, Phases: []control.Moment{{Name: control.PhaseFault, Time: time.Now()}}})
			case <-ctx.Done():
			}
			select {
			case <-time.After(4 * time.Second):
			case <-ctx.Done():
			}
			return &control.Report{
				Verdict: control.Passed, CutoverS: control.Figure(4.2), TargetS: 420, Extra: map[string]float64{"p99_ms": 7}, Exercised: []string{"all of it"},
				Hypothesis: []control.Bound{{Name: "it holds", OK: true}}, Latency: map[string]control.Latency{}, Requests: control.DrillRequests{Lost: []string{}, Total: 9},
				Phases: []control.Moment{{Name: control.PhaseFault, Time: time.Now().Add(-3 * time.Second)}, {Name: control.PhaseVerified, Time: time.Now().Add(-time.Second)}},
			}, ctx.Err()
		}}}
	}, func(s *stage) {
		start := func() string {
			c := &control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: "play"}
			if _, err := s.m.Do(s.Context(), c); err != nil {
				t.Fatal(err)
			}
			s.pass(time.Second)
			return c.ID
		}
		id := start()
		if st := s.m.State(); st.Caption != "first" || len(st.Steps) != 1 || st.ClockS != 1 || st.TargetS != 60 {
			t.Errorf("while it plays: %+v", st)
		}
		s.pass(7 * time.Second)
		if st := s.m.State(); st.ClockS != 2 || st.TargetS != 420 || len(st.Phases) != 2 || st.Phases[1].Name != control.PhaseFault {
			t.Errorf("two seconds into a drill that it plays: %+v", st)
		}
		s.pass(8 * time.Second)
		s.ends(control.Passed, "")
		if st := s.m.State(); st.ClockS != 4.2 || st.TargetS != 420 {
			t.Errorf("its clock stands at %v against %v", st.ClockS, st.TargetS)
		}
		r := s.record(id)
		if r.TargetS != 420 {
			t.Errorf("its record's target is %v", r.TargetS)
		}
		if *r.CutoverS != 4.2 || r.Extra["p99_ms"] != 7 || len(r.Hypothesis) != 1 || phaseNames(r) != "steady fault verified done" || r.Requests.Total != 9 || r.Exercised[0] != "all of it" {
			t.Errorf("its record: %+v", r)
		}
		if !slices.ContainsFunc(s.m.Scenarios(), func(x control.Scenario) bool { return x.Name == "play" }) {
			t.Errorf("it is not among the scenarios")
		}
		id = start()
		if _, err := s.m.Do(s.Context(), &control.AbortDrill{Meta: control.Meta{By: "wu"}}); err != nil {
			t.Fatal(err)
		}
		s.pass(2 * pace)
		s.ends(control.Aborted, "aborted by operator:wu")
		if quiet != 0 || s.record(id).Verdict != control.Aborted {
			t.Errorf("quiet %d, recorded %s", quiet, s.record(id).Verdict)
		}
	})
}

func TestParse_ASpikeIsCheckedLineByLine(t *testing.T) {
	_, err := Parse("x.toml", []byte(`name  = "x"
claim = "c"
judge = "cutover"
target = "primary"
fault = { kind = "refuse" }
[spike]
from = 10
to = 5
baseline = "10ms"
hold = "1h"
recovery = "20s"
tokens = 0
batch = 2.0
[bounds]
amplification = 0.5
success = 0.9
`))
	want := []string{
		`x.toml:3: judge: got "cutover", want "recovered"`, `x.toml:4: target: got "primary", want "none"`, "x.toml:5: fault: ", "x.toml:8: spike.to: got 5, want over spike.from",
		"x.toml:9: spike.baseline: got 10ms, want from 1s to 5m", "x.toml:10: spike.hold: ", "x.toml:11: spike.recovery: got 20s, want from 31s to 5m",
		"x.toml:12: spike.tokens: ", "x.toml:13: spike.batch: ", "x.toml:15: bounds.amplification: ", "x.toml:16: bounds.success: ",
	}
	if err == nil {
		t.Fatal("it is taken")
	}
	lines := strings.Split(err.Error(), "\n")
	for i := range max(len(lines), len(want)) {
		if i >= len(lines) || i >= len(want) || !strings.HasPrefix(lines[i], want[i]) {
			t.Fatalf("got\n%s\nwant\n%s", err, strings.Join(want, "\n"))
		}
	}
	if _, err := Parse("x.toml", []byte("name = \"x\"\nclaim = \"c\"\nfault = { kind = \"dns\" }\nbounds = { amplification = 1.2 }\n")); err == nil || errors.Unwrap(err) != nil && !strings.Contains(err.Error(), "a bound of a spike only") {
		t.Errorf("amplification of a fault: %v", err)
	}
}

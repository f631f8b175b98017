package drills

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

var update = flag.Bool("update", false, "write the golden files anew")

// finished is the report of a drill that lost two requests.
func finished() *control.Report {
	t0 := time.Date(2026, 12, 1, 10, 0, 0, 4_000_000, time.UTC)
	at := func(name string, s float64) control.Moment {
		return control.Moment{Name: name, TS: s, Time: t0.Add(time.Duration(s * float64(time.Second)))}
	}
	ended := t0.Add(96 * time.Second)
	quantiles := func(n int, a, b, c float64) control.Latency {
		return control.Latency{Count: n, P50ms: &a, P90ms: &b, P99ms: &c}
	}
	return &control.Report{
		ID: "20261201-100000-4f2a", Scenario: "kill", Vendor: "lanyun", Who: "operator:li", Environment: "DEMO", ConfigDigest: "3b1f",
		Fault:   control.FaultSpec{Kind: "refuse", Percent: control.Figure(100), For: control.Duration(15 * time.Minute)},
		Verdict: control.Failed, Reason: "clients' success until the proof: wanted at least 0.999, got 0.99259: 2 of 270 failed",
		Started: t0.Add(-4 * time.Millisecond), Ended: &ended, TargetS: 420, CutoverS: control.Figure(4.2), HurtS: 1,
		Phases: []control.Moment{
			at(control.PhaseFault, 0), at(control.PhaseDetected, 4.1), at(control.PhaseShifted, 4.2), at(control.PhaseVerified, 14), at(control.PhaseRestored, 30),
			at(control.PhaseFailback, 95.9), at(control.Failed, 96),
		},
		Hypothesis: []control.Bound{
			{Name: "cutover", Want: "at most 7:00.0", Got: "0:04.2", OK: true},
			{Name: "clients' success until the proof", Want: "at least 0.999", Got: "0.99259: 2 of 270 failed"},
			failbackBound("1:05.9", ""),
		},
		Requests: control.DrillRequests{Total: 600, OK: 598, Failed: 2, FailedOver: 41, Attempts: 643, CutStreams: 1, Lost: []string{"req-1", "a|`b`\n# c"}},
		Latency: map[string]control.Latency{
			"before": quantiles(1200, 300.4, 470, 718), "during": quantiles(540, 310, 501, 933.5), "after": {},
		},
		Weights: []control.WeightsAt{{TS: 0, Weights: map[string]float64{"lanyun": 75, "bailian": 25}}, {TS: 5, Weights: map[string]float64{"lanyun": 0, "bailian": 100}}},
		Note:    "two lines\n| and a pipe", Ticket: "OPS-12", Previous: &control.Previous{ID: "20261124-100000-11aa", CutoverS: control.Figure(3.96)},
		Exercised: []string{"that the engine notices"}, NotExercised: []string{"the vendor's own endpoint"},
	}
}

func TestMarkdown_Golden(t *testing.T) {
	for name, r := range map[string]*control.Report{
		"finished": finished(),
		"refused": {
			ID: "x-1", Scenario: "kill", Vendor: "bailian", Who: "operator:li", Environment: "PROD", Verdict: control.Refused, Reason: "no other vendor may take traffic",
			Fault: control.FaultSpec{Kind: "blackhole", For: control.Duration(time.Minute)}, Started: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), TargetS: 420,
			Exercised: []string{"nothing"}, NotExercised: []string{"all"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := markdown(r)
			path := filepath.Join("testdata", name+".md")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if want := mustRead(t, path); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestMarkdown_NobodysWordsBreakItsTables(t *testing.T) {
	r := finished()
	r.Note = "a\n\n| x | y |\n# heading\n"
	for line := range strings.Lines(markdown(r)) {
		if strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "# Drill") || strings.Contains(line, "| x") && !strings.HasPrefix(line, "| note") {
			t.Errorf("a note made the line %q", line)
		}
	}
}

func TestRecord_IsOnTheDiskBeforeTheFault(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.slow = time.Second }, func(s *stage) {
		id := s.kill("a", 0)
		s.set(func() {
			if s.fault != nil {
				t.Fatal("the fault is in already")
			}
		})
		r := s.record(id)
		if r.Vendor != "a" || r.Ended != nil || r.Verdict != "" || r.Note == "" || r.Fault.Kind != "refuse" {
			t.Errorf("record %+v", r)
		}
		if !strings.Contains(mustRead(t, r.Files["markdown"]), "**running**") {
			t.Error("the Markdown does not say that it runs")
		}
		s.pass(20 * time.Second)
		if r = s.record(id); r.CutoverS == nil || r.Ended != nil || r.Verdict != control.Passed {
			t.Errorf("at the cutover: %+v", r)
		}
	})
}

func TestRecord_UnwritableAlertsAndTheDrillGoesOn(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(blocked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rehearse(t, func(_ *world, o *Options) { o.Dir = filepath.Join(blocked, "drills") }, func(s *stage) {
		id := s.kill("a", 0)
		s.pass(15 * time.Second)
		s.ends(control.Passed, "")
		if s.m.Alert() == "" || len(s.texts("store")) == 0 || s.m.State().Record != "" {
			t.Errorf("alert %q, journal %q, record %q", s.m.Alert(), s.texts("store"), s.m.State().Record)
		}
		if r := s.record(id); r.CutoverS == nil {
			t.Errorf("from memory: %+v", r)
		}
		_, a, err := s.m.Ask(control.Drills{})
		if err != nil || len(a.([]control.Report)) != 1 {
			t.Errorf("history %v, %v", a, err)
		}
	})
}

func TestCrash_IsRecordedAsAborted(t *testing.T) {
	moment := func(name string) control.Moment { return control.Moment{Name: name} }
	for name, c := range map[string]struct {
		change  func(r *control.Report)
		verdict string
		reason  string
	}{
		"before the fault": {func(r *control.Report) { r.Phases, r.CutoverS, r.Verdict = nil, nil, "" }, control.Aborted, "baton ended before the fault"},
		"after the proof": {
			func(r *control.Report) {
				r.Phases, r.Verdict = []control.Moment{moment(control.PhaseFault), moment(control.PhaseVerified)}, control.Passed
			},
			control.Aborted, "baton ended while the drill ran, and the fault with it; the cutover 0:04.2 was proven before that",
		},
		"in the failback": {
			func(r *control.Report) {
				r.Phases, r.Verdict, r.Reason = []control.Moment{moment(control.PhaseRestored)}, control.Passed, ""
			}, control.Passed, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			left := finished()
			left.Ended = nil
			c.change(left)
			if err := (&records{dir: dir}).save(left); err != nil {
				t.Fatal(err)
			}
			rehearse(t, func(_ *world, o *Options) { o.Dir = dir }, func(s *stage) {
				r := s.record(left.ID)
				if r.Ended == nil || r.Verdict != c.verdict || r.Reason != c.reason || s.fault != nil {
					t.Errorf("record %+v", r)
				}
				if !strings.Contains(mustRead(t, r.Files["markdown"]), "**"+c.verdict+"**") {
					t.Error("the Markdown says something else")
				}
				if len(s.texts("drill")) != 1 {
					t.Errorf("journal %q", s.texts("drill"))
				}
			})
		})
	}
}

func TestCrash_IsClosedBeforeAnybodyMayAsk(t *testing.T) {
	dir := t.TempDir()
	for _, id := range []string{"a-drill", "an-incident"} {
		left := finished()
		left.ID, left.Ended, left.Verdict = id, nil, ""
		if id == "an-incident" {
			left.Scenario = "incident"
		}
		if err := (&records{dir: dir}).save(left); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorld()
	m, err := New(Options{Control: w, Dir: dir, Config: config.Default(), Log: w.Log})
	if err != nil {
		t.Fatal(err)
	}
	m.Clear() // nothing runs yet
	m.Clear()
	_, a, err := m.Ask(control.Drills{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range a.([]control.Report) {
		if r.Ended == nil || r.Verdict != control.Aborted {
			t.Errorf("%s is shown as open: ended %v, verdict %q", r.ID, r.Ended, r.Verdict)
		}
	}
	if n := len(w.events); n != 2 {
		t.Errorf("%d entries in the journal for two records", n)
	}
}

func TestHistory_IsNewestFirstWhateverTheIDs(t *testing.T) {
	dir := t.TempDir()
	s := &records{dir: dir}
	for i, id := range []string{"zz", "aa", "mm"} {
		r := finished()
		r.ID, r.Started = id, r.Started.Add(time.Duration(i)*time.Hour)
		r.Series = []control.Point{{TS: 1}}
		if err := s.save(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := s.history()
	if err != nil || len(all) != 3 || all[0].ID != "mm" || all[2].ID != "zz" || len(all[0].Series) != 0 || all[0].Series == nil {
		t.Fatalf("history %+v, %v", all, err)
	}
	if r, err := s.read("mm"); err != nil || len(r.Series) != 1 {
		t.Errorf("one record: %+v, %v", r, err)
	}
	if p := s.earlier("mm", "kill", "lanyun"); len(p) != 2 || p[0].ID != "aa" {
		t.Errorf("before mm came %+v", p)
	}
}

func TestID_IsNoPath(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(secret, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	rehearse(t, nil, func(s *stage) {
		for _, id := range []string{"../x", "..", ".hidden", "a/b", `a\b`, "a.b", "", "-", "a b", "\x00", strings.Repeat("a", 65)} {
			if _, _, err := s.m.Ask(control.DrillByID{ID: id}); kindOf(err) != control.NotFound {
				t.Errorf("the record of %q: %v", id, err)
			}
			if id == "" {
				continue // one is made
			}
			if _, err := s.m.Do(s.Context(), &control.StartDrill{ID: id, Scenario: "kill", Vendor: "a"}); kindOf(err) != control.Invalid {
				t.Errorf("a drill %q: %v", id, err)
			}
		}
		id := s.kill("a", 0)
		s.pass(time.Second)
		s.restore("a")
		if _, err := s.m.Do(s.Context(), &control.StartDrill{ID: id, Scenario: "kill", Vendor: "a"}); kindOf(err) != control.Conflict {
			t.Errorf("an id for the second time: %v", err)
		}
	})
}

func TestStart_RefusesWhatCannotBe(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		for field, c := range map[string]*control.StartDrill{
			"scenario": {Scenario: "kil", Vendor: "a"},
			"vendor":   {Scenario: "kill", Vendor: "z"},
			"vendor ":  {Scenario: "kill"},
			"fault":    {Scenario: "kill", Vendor: "a", Fault: "refus"},
			"for":      {Scenario: "kill", Vendor: "a", For: control.Duration(61 * time.Minute)},
			"for ":     {Scenario: "kill", Vendor: "a", For: -1},
		} {
			_, err := s.m.Do(s.Context(), c)
			e, ok := errors.AsType[*control.Error](err)
			if !ok || e.Kind != control.Invalid || e.Field != strings.TrimSpace(field) || !strings.HasPrefix(e.Message, e.Field+": ") {
				t.Errorf("%s: %#v", field, err)
			}
		}
		if s.m.State() != nil {
			t.Error("a drill began")
		}
	})
}

func TestState_IsACopy(t *testing.T) {
	rehearse(t, func(w *world, _ *Options) { w.rescue = false }, func(s *stage) {
		s.kill("a", 0)
		s.pass(4 * time.Second)
		d := s.m.State()
		d.Phases[0].Name, d.Requests.Lost[0] = "x", "x"
		if e := s.m.State(); e.Phases[0].Name == "x" || e.Requests.Lost[0] == "x" {
			t.Error("the machine's own state was changed")
		}
	})
}

func TestMachine_StartsNothingBeforeRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		m, err := New(Options{Control: w, Dir: t.TempDir(), Config: settings(), Log: w.Log})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Do(t.Context(), &control.StartDrill{Scenario: "kill", Vendor: "a"}); kindOf(err) != control.Conflict {
			t.Errorf("%v", err)
		}
		if done, err := m.Do(t.Context(), &control.Reload{}); done || err != nil {
			t.Errorf("a command of somebody else: %t, %v", done, err)
		}
	})
}

func TestHistory_ReadsOnlyTheFilesThatHaveChanged(t *testing.T) {
	s := &records{dir: t.TempDir()}
	save := func(id, verdict string) {
		t.Helper()
		r := finished()
		r.ID, r.Verdict = id, verdict
		if err := s.save(r); err != nil {
			t.Fatal(err)
		}
	}
	verdicts := func() map[string]string {
		t.Helper()
		all, err := s.history()
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for i := range all {
			out[all[i].ID] = all[i].Verdict
		}
		return out
	}
	save("a", control.Passed)
	save("b", control.Passed)
	if got := verdicts(); len(got) != 2 {
		t.Fatal(got)
	}
	path := s.paths("a")["json"]
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// What nobody could tell apart from outside is not looked at again.
	if err := os.WriteFile(path, make([]byte, info.Size()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	save("c", control.Failed)
	save("b", control.Aborted)
	if got := verdicts(); len(got) != 3 || got["a"] != control.Passed || got["b"] != control.Aborted || got["c"] != control.Failed {
		t.Errorf("history %v", got)
	}
	if err := os.Remove(s.paths("c")["json"]); err != nil {
		t.Fatal(err)
	}
	if got := verdicts(); len(got) != 2 {
		t.Errorf("after one was removed: %v", got)
	}
}

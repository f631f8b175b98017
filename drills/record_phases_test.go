package drills

import (
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// A kill leaves what is on the disk at that moment: each phase's record is copied
// away while the drill runs, and a machine that begins on the copy closes it.
func TestCrash_InEachPhaseIsClosedByTheNextStart(t *testing.T) {
	for name, c := range map[string]struct {
		after   time.Duration // of the start
		verdict string
		reason  string
		phase   string // the last in the record
		asked   int64  // requests at least, of 50/s
	}{
		"in the baseline":       {5 * time.Second, control.Aborted, "baton ended before the fault", control.PhaseSteady, 0},
		"right after the fault": {15*time.Second + 2*pace, control.Aborted, "baton ended while the drill ran, and the fault with it", control.PhaseFault, 0},
		"once it was detected":  {18*time.Second + 3*pace, control.Aborted, "baton ended while the drill ran, and the fault with it", control.PhaseDetected, 150},
		"in the hold":           {20 * time.Second, control.Aborted, "baton ended while the drill ran, and the fault with it", control.PhaseShifted, 150},
		"late in the hold":      {27 * time.Second, control.Aborted, "baton ended while the drill ran, and the fault with it", control.PhaseShifted, 300},
		"while it comes back":   {35 * time.Second, control.Passed, "", control.PhaseRestored, 500},
	} {
		t.Run(name, func(t *testing.T) {
			var kept *control.Report
			rehearse(t, nil, func(s *stage) {
				id := s.begin(&control.StartDrill{Scenario: "kill-primary"})
				s.pass(c.after)
				kept = s.record(id)
				if kept.Ended != nil {
					t.Fatal("it has ended already")
				}
				if n := len(kept.Phases); n == 0 || kept.Phases[n-1].Name != c.phase || kept.Requests.Total < c.asked {
					t.Errorf("left on the disk: phases %v, %d requests; want up to %s, at least %d", kept.Phases, kept.Requests.Total, c.phase, c.asked)
				}
			})
			dir := t.TempDir()
			if err := (&records{dir: dir}).save(kept); err != nil {
				t.Fatal(err)
			}
			rehearse(t, func(_ *world, o *Options) { o.Dir = dir }, func(s *stage) {
				r := s.record(kept.ID)
				if r.Ended == nil || r.Verdict != c.verdict || !strings.Contains(r.Reason, c.reason) || s.faulted() || r.Chain.SHA256 == "" {
					t.Errorf("%s: %q, ended %v, fault %t, chain %+v", r.Verdict, r.Reason, r.Ended, s.faulted(), r.Chain)
				}
				s.begin(&control.StartDrill{Scenario: "kill-primary"}) // and the next one can run
			})
		})
	}
}

func TestTrend(t *testing.T) {
	f := control.Figure
	was := func(s ...float64) (out []control.Previous) {
		for _, x := range s {
			out = append(out, control.Previous{CutoverS: f(x)})
		}
		return append(out, control.Previous{Verdict: control.Failed})
	}
	for name, c := range map[string]struct {
		cut    *float64
		before []control.Previous
		want   string
	}{
		"the first":  {f(4), was(), ""},
		"none":       {nil, was(4), ""},
		"the same":   {f(4.1), was(4, 4, 4), "as the median 0:04.0 of the last 3"},
		"a bit more": {f(4.4), was(4, 4), "10 % slower than the median 0:04.0 of the last 2"},
		"worse":      {f(6), was(4, 5, 3, 4, 100), "WORSE: 50 % slower than the median 0:04.0 of the last 5"},
		"better":     {f(2), was(4), "50 % faster than the median 0:04.0 of the last 1"},
		"zero":       {f(2), was(0), "against the median 0:00.0 of the last 1"},
	} {
		if got := trend(c.cut, c.before); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestComparison_IsOfTheLastFiveThatCameToAVerdict(t *testing.T) {
	s := &records{dir: t.TempDir()}
	for i, v := range []string{control.Passed, control.Failed, control.Aborted, control.Passed, control.Refused, control.Passed, control.Passed, control.Passed} {
		r := finished()
		r.ID, r.Verdict, r.Started = string(rune('a'+i)), v, r.Started.Add(time.Duration(i)*time.Hour)
		if err := s.save(r); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, p := range s.earlier("h", "kill", "lanyun") {
		got += p.ID
	}
	if got != "gfdba" {
		t.Errorf("compared with %s", got)
	}
}

func TestFreshness_IsByVendorAndFaultAndAgesAfter35Days(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	rehearse(t, nil, func(s *stage) {
		for i, x := range []struct {
			vendor, kind, verdict string
			days                  int
			incident              bool
		}{
			{"a", "refuse", control.Passed, 34, false},
			{"a", "refuse", control.Failed, 3, false},
			{"a", "blackhole", control.Passed, 36, false},
			{"b", "dns", control.Failed, 1, false},
			{"b", "refuse", control.Passed, 1, true},
		} {
			r := finished()
			r.ID, r.Vendor, r.Fault.Kind, r.Verdict, r.Incident = string(rune('a'+i)), x.vendor, x.kind, x.verdict, x.incident
			r.Started = now.AddDate(0, 0, -x.days)
			if err := s.m.records.save(r); err != nil {
				t.Fatal(err)
			}
		}
		got := ""
		for _, f := range s.m.Freshness([]control.Vendor{{Name: "a"}, {Name: "b"}}, now) {
			days := "never"
			if f.Days != nil {
				days = time.Duration(*f.Days * 24 * float64(time.Hour)).String()
			}
			got += f.Vendor + " " + f.Fault + " " + days
			if f.Stale {
				got += " stale"
			}
			got += "; "
		}
		if want := "a blackhole 864h0m0s stale; a refuse 816h0m0s; b dns never stale; b refuse never stale; "; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

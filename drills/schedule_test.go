package drills

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// on makes a schedule; fake time begins at midnight UTC of 2000-01-01, a Saturday.
func on(lines ...config.Schedule) func(*world, *Options) {
	return func(w *world, o *Options) {
		o.Config.Drill.Timezone, o.Config.Drill.Schedule = "UTC", lines
		w.rps = 20
	}
}

func said(s *stage, part string) bool {
	for _, x := range s.texts("drill") {
		if strings.Contains(x, part) {
			return true
		}
	}
	return false
}

func TestSchedule_AnnouncesTenMinutesAheadAndRunsBothWaysInTurn(t *testing.T) {
	rehearse(t, on(config.Schedule{Cron: "0,30 1 * * *", Scenario: "kill-primary"}), func(s *stage) {
		next := s.m.Schedule()
		if len(next) != 1 || next[0].ID != "kill-primary-20000101-0100" || next[0].Announced || next[0].Vendor != "a" || next[0].Cancelled != "" {
			t.Fatalf("%+v", next)
		}
		s.pass(49*time.Minute + 50*time.Second)
		if said(s, "begins at") {
			t.Error("announced too early")
		}
		s.pass(10 * time.Second)
		if !said(s, "the drill kill-primary of a begins at 01:00:00 UTC. `baton drill cancel kill-primary-20000101-0100` cancels it") || !s.m.Schedule()[0].Announced {
			t.Errorf("not announced: %q", s.texts("drill"))
		}
		s.pass(10 * time.Minute)
		if d := s.m.State(); d == nil || d.Vendor != "a" || d.Who != scheduler || d.Phase != control.PhaseSteady {
			t.Fatalf("%+v: %q", d, s.texts("drill"))
		}
		s.pass(5 * time.Minute)
		s.ends(control.Passed, "")
		s.pass(30 * time.Minute)
		if d := s.m.State(); d.Vendor != "b" || d.Verdict == nil || *d.Verdict != control.Passed {
			t.Errorf("the second: %s %+v: %q", d.Vendor, d.Reason, s.texts("drill"))
		}
	})
}

func TestSchedule_TwoLinesForTwoVendorsKeepTheirWays(t *testing.T) {
	rehearse(t, on(config.Schedule{Cron: "0 1 * * *", Scenario: "kill-primary"}, config.Schedule{Cron: "30 1 * * *", Scenario: "kill-secondary"}), func(s *stage) {
		s.pass(100 * time.Minute)
		all, err := s.m.records.history()
		if err != nil || len(all) != 2 || all[0].Vendor != "b" || all[0].Scenario != "kill-secondary" || all[1].Vendor != "a" {
			t.Fatalf("%d drills, %v: %q", len(all), err, s.texts("drill"))
		}
	})
}

func TestSchedule_WhatDoesNotRunSaysWhy(t *testing.T) {
	at := "0 1 * * *"
	for name, c := range map[string]struct {
		change func(*world, *Options)
		why    string
	}{
		"a real vendor, not armed": {func(w *world, o *Options) {
			on(config.Schedule{Cron: at, Scenario: "kill-primary"})(w, o)
			o.Config.Vendors = []config.Vendor{{Name: "a", BaseURL: "https://maas.example/v1"}}
		}, "it is not armed"},
		"a blackout": {func(w *world, o *Options) {
			on(config.Schedule{Cron: at, Scenario: "kill-primary", Armed: true})(w, o)
			o.Config.Drill.Blackout = []string{"2000-01-01"}
		}, "blackout 2000-01-01"},
		"no such scenario":     {on(config.Schedule{Cron: at, Scenario: "kil-primary", Armed: true}), `there is no scenario "kil-primary"`},
		"baton began too late": {on(config.Schedule{Cron: "5 0 * * *", Scenario: "kill-primary", Armed: true}), "it could not be announced 10m ahead"},
	} {
		t.Run(name, func(t *testing.T) {
			rehearse(t, c.change, func(s *stage) {
				s.pass(70 * time.Minute)
				if s.m.State() != nil || !said(s, c.why) {
					t.Errorf("drill %+v, said %q", s.m.State(), s.texts("drill"))
				}
			})
		})
	}
}

func TestSchedule_CancelledStaysSoAfterARestart(t *testing.T) {
	dir := t.TempDir()
	line := config.Schedule{Cron: "0,30 1 * * *", Scenario: "kill-primary"}
	for i := range 2 {
		rehearse(t, func(w *world, o *Options) {
			on(line)(w, o)
			o.Dir = dir
		}, func(s *stage) {
			if i == 0 {
				if _, err := s.m.Do(s.Context(), &control.CancelScheduled{ID: "kill-primary-20000101-0200"}); kindOf(err) != control.NotFound {
					t.Errorf("one that does not come: %v", err)
				}
				if _, err := s.m.Do(s.Context(), &control.CancelScheduled{Meta: control.Meta{By: "li"}, ID: "kill-primary-20000101-0100"}); err != nil {
					t.Fatal(err)
				}
				return
			}
			if next := s.m.Schedule(); next[0].Cancelled != "cancelled by operator:li" {
				t.Errorf("%+v", next)
			}
			s.pass(70 * time.Minute)
			if s.m.State() != nil {
				t.Error("it ran")
			}
			s.pass(30 * time.Minute)
			if s.m.State() == nil {
				t.Error("the one after it did not run")
			}
		})
	}
}

func TestSchedule_JitterIsAlwaysTheSameOfOneOccurrence(t *testing.T) {
	e := entry{Schedule: config.Schedule{Cron: "0 10 * * 2", Scenario: "kill-primary", Jitter: 30 * time.Minute}}
	p := plan{}
	cfg := config.Default()
	cfg.Drill.Schedule = []config.Schedule{e.Schedule}
	p.configure(cfg)
	e = p.entries[0]
	seen := map[time.Duration]bool{}
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	for range 20 {
		at := e.next(now, time.UTC)
		late := at.Sub(at.Truncate(time.Hour))
		if again := e.next(now.Add(time.Hour), time.UTC); !again.Equal(at) || at.Weekday() != time.Tuesday || late >= 30*time.Minute || at.Hour() != 10 {
			t.Fatalf("%v, and asked again %v", at, again)
		}
		seen[late] = true
		now = at.Add(time.Minute)
	}
	if len(seen) < 10 {
		t.Errorf("only %d different moments in 20", len(seen))
	}
}

func TestSchedule_SundayIsAlsoSeven(t *testing.T) {
	for line, want := range map[string]string{
		"0 10 * * 7": "0 10 * * 0", "0 10 * * 5-7": "0 10 * * 5-6,0", "0 10 * * 1,7": "0 10 * * 1,0", "0 10 * * 1-7/2": "0 10 * * 1,3,5,0",
		"0 10 * * mon-fri": "0 10 * * mon-fri", "0 10 * * 7-7": "0 10 * * 0",
	} {
		if got := sundays(line); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func TestOwnScenarios_AreReadBesideTheConfigurationAndABadOneStopsNobody(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "drills"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, "drills", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ours.toml", "name = \"ours\"\nclaim = \"it holds\"\ntarget = \"b\"\nfault = { kind = \"dns\", for = \"1m\" }\nsteps = [{ at = \"2s\", mark = \"halfway\" }]\n")
	write("bad.toml", "name = \"bad\"\nclaim = \"x\"\nfault = { kind = \"refus\" }\n")
	rehearse(t, func(_ *world, o *Options) { o.Config.Path = filepath.Join(dir, "config.toml") }, func(s *stage) {
		if !said(s, "bad.toml:3: fault.kind: got \"refus\"") {
			t.Errorf("not told: %q", s.texts("drill"))
		}
		_, err := s.m.Do(s.Context(), &control.StartDrill{Scenario: "bad"})
		if kindOf(err) != control.Invalid || !strings.Contains(err.Error(), "bad.toml:3: fault.kind") {
			t.Errorf("a bad one is started: %v", err)
		}
		var ours *control.Scenario
		all := s.m.Scenarios()
		for i := range all {
			if all[i].Name == "ours" {
				ours = &all[i]
			}
		}
		if ours == nil || ours.File == "" || len(all) < 12 {
			t.Fatalf("%d scenarios, ours %+v", len(all), ours)
		}
		s.begin(&control.StartDrill{Scenario: "ours"})
		s.pass(2 * time.Minute)
		s.ends(control.Passed, "")
		if d := s.m.State(); d.Vendor != "b" || !d.Steps[0].Done || !said(s, "2s after the fault: halfway") {
			t.Errorf("%+v", d)
		}
		synctest.Wait()
	})
}

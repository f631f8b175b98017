package drills

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"baton/engine/config/strict"
	"baton/engine/control"
	"baton/vendors/fault"
)

func TestBuiltin_KillIsWhatTheDesignSays(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	k := all["kill"]
	if k == nil {
		t.Fatal("there is no kill")
	}
	if f := k.spec(); f.Kind != "refuse" || *f.Percent != 100 || f.InFlight != "finish" || time.Duration(f.For) != 15*time.Minute {
		t.Errorf("its fault is %+v", f)
	}
	if k.Judge != "cutover" || k.Restore != "by-hand" || k.Bounds.Success != 0.999 || k.Bounds.Cutover != 0 {
		t.Errorf("it is %+v", k)
	}
}

func TestFaultKinds_AreThoseOfTheFaults(t *testing.T) {
	var want []string
	for _, k := range fault.Kinds() {
		want = append(want, string(k))
	}
	if !slices.Equal(faultKinds, want) {
		t.Errorf("drills know %q, faults are %q", faultKinds, want)
	}
}

func TestParse_SaysAllMistakesWithTheirLines(t *testing.T) {
	_, err := Parse("slow.toml", []byte(`name  = "slo"
claim = ""
judge = "cutovr"
wait  = "10s"
[fault]
kind    = "blackhol"
percent = 0
for     = "2h"
in_flight = "cutt"
[bounds]
success = 99.9
cutover = 60
`))
	var errs strict.Errors
	if !errors.As(err, &errs) {
		t.Fatalf("%v", err)
	}
	want := []string{
		`slow.toml:1: name: got "slo", want the file's name, "slow"`,
		`slow.toml:2: claim: is missing`,
		`slow.toml:3: judge: got "cutovr", want one of cutover, contained, recovered (did you mean "cutover"?)`,
		`slow.toml:4: wait: unknown key`,
		`slow.toml:6: fault.kind: got "blackhol", want one of refuse, `,
		`slow.toml:7: fault.percent: got 0, want over 0 and at most 100`,
		`slow.toml:8: fault.for: got 2h0m0s, want over 0 and at most 1h`,
		`slow.toml:9: fault.in_flight: got "cutt", want one of finish, cut (did you mean "cut"?)`,
		`slow.toml:11: bounds.success: got 99.9, want a part from 0 to 1`,
		`slow.toml:12: bounds.cutover: got 60, want a duration`,
	}
	if len(errs) != len(want) {
		t.Errorf("%d mistakes, want %d:\n%v", len(errs), len(want), err)
	}
	for i := range min(len(errs), len(want)) {
		if !strings.HasPrefix(errs[i].Error(), want[i]) {
			t.Errorf("got  %s\nwant %s", errs[i], want[i])
		}
	}
}

func TestParse_FillsInWhatIsLeftOut(t *testing.T) {
	s, err := Parse("x.toml", []byte("name = \"x\"\nclaim = \"c\"\nfault = { kind = \"dns\" }\n"))
	if err != nil {
		t.Fatal(err)
	}
	if f := s.spec(); f.Percent != nil || time.Duration(f.For) != 15*time.Minute || s.Judge != "cutover" || s.Restore != "after-hold" || !s.Steady {
		t.Errorf("%+v, fault %+v", s, f)
	}
}

func FuzzParse(f *testing.F) {
	kill, err := builtin.ReadFile("scenarios/kill.toml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(kill))
	f.Add("name = 1\nfault = []\n[bounds]\nsuccess = nan\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("kill.toml", []byte(text))
		if (s == nil) == (err == nil) {
			t.Fatalf("scenario %v, error %v", s, err)
		}
		if s != nil && (s.Name != "kill" || s.Fault.For <= 0 || s.Fault.For > faultMax || s.Bounds.Success > 1) {
			t.Errorf("taken: %+v", s)
		}
	})
}

func TestBound_IsToldBeforeADrillRuns(t *testing.T) {
	rehearse(t, nil, func(s *stage) {
		for _, x := range s.m.Scenarios() {
			want := map[string]float64{"kill-primary": 60, "blackhole-primary": 120, "cut-streams-primary": 180, "flap-primary": 30, "kill": 0, "external": 0}
			if w, named := want[x.Name]; named && x.BoundS != w {
				t.Errorf("%s: a bound of %g s, want %g", x.Name, x.BoundS, w)
			}
		}
		p, err := s.m.preflightOf(control.PreflightOf{Scenario: "kill-primary"})
		if err != nil || p.BoundS != 60 || p.TargetS != 420 {
			t.Errorf("preflight: %+v, %v", p, err)
		}
		s.m.mu.Lock()
		s.m.terms.rules.Target = 45 * time.Second // tighter than the scenario
		s.m.mu.Unlock()
		if p, err = s.m.preflightOf(control.PreflightOf{Scenario: "kill-primary"}); err != nil || p.BoundS != 0 || p.TargetS != 45 {
			t.Errorf("preflight with a tight target: %+v, %v", p, err)
		}
	})
}

package cli

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// TestSpike_RunsForReal sends a small load spike over real sockets through an
// engine in a process of its own. A busy machine makes the generator late, which
// the verdict has to say; what was counted has to be right all the same.
func TestSpike_RunsForReal(t *testing.T) {
	s := serve(t, `[drill]
settle = "1s"
[[vendors]]
name = "lanyun"
simulate = "elastic"
weight = 75
[[vendors]]
name = "bailian"
simulate = "elastic"
weight = 25
`)
	dir := filepath.Join(filepath.Dir(s.config), "drills")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "small.toml"), []byte(`name = "small"
claim = "a small spike is admitted whole"
spike = { from = 5, to = 60, baseline = "2s", hold = "6s", recovery = "4s", proof = "2s" }
bounds = { recovered = "2s", amplification = 1.2 }
`), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, patience, "its preflight lets it run", func() bool {
		p, err := control.Get[*control.Preflight](t.Context(), s.client(), control.PreflightOf{Scenario: "small"})
		return err == nil && p.Refused == ""
	})
	c := &control.StartDrill{Meta: control.Meta{By: "li"}, ID: "spike-1", Scenario: "small"}
	s.do(c)
	captions := map[string]bool{}
	until(t, 2*patience, "it ends", func() bool {
		d := s.snapshot().Drill
		if d == nil || d.ID != c.ID {
			return false
		}
		word, _, _ := strings.Cut(d.Caption, ":")
		captions[word] = true
		return d.Verdict != nil && d.Phase == *d.Verdict || d.Phase == control.PhaseDone
	})
	r, err := control.Get[*control.Report](t.Context(), s.client(), control.DrillByID{ID: c.ID})
	if err != nil {
		t.Fatal(err)
	}
	x := r.Extra
	if r.Verdict != control.Passed && (r.Verdict != control.Inconclusive || !strings.Contains(r.Reason, "CLIENT-LIMITED")) {
		t.Errorf("%s: %s\n%+v", r.Verdict, r.Reason, r.Hypothesis)
	}
	// 360 requests are due in the spike, give or take four deviations.
	if due := x["sent"] + x["dropped"]; math.Abs(due-360) > 4*math.Sqrt(360) || x["failed"] != 0 || x["amplification"] > 1.2 || x["admitted"]+x["limited"]+x["shed"] != x["sent"] {
		t.Errorf("figures %v", x)
	}
	for _, part := range []string{"generator", "gateway", "vendors"} {
		if x["cpu_"+part+"_s"] <= 0 {
			t.Errorf("no processor time of the %s: %v", part, x)
		}
	}
	if x["cpu_measured_s"] < 5 || x["cpu_measured_s"] > 60 {
		t.Errorf("processor time was measured for %g s, the spike took 6", x["cpu_measured_s"])
	}
	// The engine's stamps are those of the plan, as far as a busy machine lets it.
	for i, want := range []string{control.PhaseSteady, control.PhaseFault, control.PhaseRestored} {
		if len(r.Phases) <= i || r.Phases[i].Name != want {
			t.Fatalf("phases %+v", r.Phases)
		}
	}
	if up, back := -r.Phases[0].TS, r.Phases[2].TS; up < 1.9 || up > 20 || back < 5 || back > 40 {
		t.Errorf("the step up came after %g s, the step back %g s later", up, back)
	}
	if !captions["spike"] || !captions["recovery"] {
		t.Errorf("captions %v", captions)
	}
	until(t, patience, "demo traffic comes back", func() bool {
		before := s.snapshot().Totals.Requests
		time.Sleep(200 * time.Millisecond)
		return s.snapshot().Totals.Requests > before
	})
}

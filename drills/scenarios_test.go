package drills

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// run starts a scenario and lets it go on until it ends, or for a while.
func (g *rig) run(c *control.StartDrill, most time.Duration) *control.Report {
	g.Helper()
	g.send(c)
	for range int(most / time.Second) {
		g.pass(time.Second)
		if g.machine.drill().over() {
			break
		}
	}
	r, err := control.Get[*control.Report](g.Context(), g.hub, control.DrillByID{ID: c.ID})
	if err != nil {
		g.Fatal(err)
	}
	return r
}

func phaseNames(r *control.Report) string {
	names := make([]string, len(r.Phases))
	for i, p := range r.Phases {
		names[i] = p.Name
	}
	return strings.Join(names, " ")
}

func TestScenarios_PassOnAnEngineThatDoesItsWork(t *testing.T) {
	const cutOver = "steady fault detected shifted verified restored failback done"
	for name, c := range map[string]struct {
		vendor, kind string
		phases       string // "" any
		cutover      bool
		extra        string
	}{
		"kill-primary":        {"a", "refuse", cutOver, true, ""},
		"kill-secondary":      {"b", "refuse", cutOver, true, ""},
		"blackhole-primary":   {"a", "blackhole", cutOver, true, ""},
		"slow-primary":        {"a", "slow_first_token", "", false, "contained_s"},
		"rate-limit-primary":  {"a", "http_429", "", false, "contained_s"},
		"cut-streams-primary": {"a", "cut_stream", "", false, "contained_s"},
		"flap-primary":        {"a", "refuse", "steady fault detected restored verified failback done", false, "recovered_s"},
	} {
		t.Run(name, func(t *testing.T) {
			onEngine(t, nil, func(g *rig) {
				r := g.run(&control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: name, Ticket: "OPS-1"}, 12*time.Minute)
				if r.Verdict != control.Passed || r.Ended == nil || r.Vendor != c.vendor || r.Fault.Kind != c.kind {
					t.Fatalf("%s of %s by %s: %s\n%+v\n%+v", r.Verdict, r.Vendor, r.Fault.Kind, r.Reason, r.Phases, r.Hypothesis)
				}
				if got := phaseNames(r); c.phases != "" && got != c.phases {
					t.Errorf("phases %s", got)
				}
				if (r.CutoverS != nil) != c.cutover || c.extra != "" && r.Extra[c.extra] == 0 && name != "flap-primary" {
					t.Errorf("cutover %v, own figures %v", r.CutoverS, r.Extra)
				}
				slow := name == "rate-limit-primary" // the law lets a limit go slowly
				if r.Failback != control.Passed && !slow || r.Baseline == nil || r.Baseline.Count < 300 || r.Vendors["a"].Before.Count == 0 || r.Vendors["b"].After.Count == 0 {
					t.Errorf("failback %q, baseline %+v, vendors %+v", r.Failback, r.Baseline, r.Vendors)
				}
				if r.Series[0].TS != -15 || r.Ticket != "OPS-1" || len(r.Preflight) < 5 || r.Versions["scenario"] == "" {
					t.Errorf("series from %g, ticket %q, preflight %+v, versions %v", r.Series[0].TS, r.Ticket, r.Preflight, r.Versions)
				}
				if g.faults["a"] != nil || g.faults["b"] != nil {
					t.Error("a fault is still in")
				}
				t.Log(name, r.Extra, r.HurtS, r.Requests.Failed, r.Requests.Total, fmt.Sprint(r.Phases))
			})
		})
	}
}

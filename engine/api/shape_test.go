package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"baton/engine/control"
)

// contract is the state as others read it: its names may be added to and never
// changed. Numbers, words and members stand for their type; an empty object
// stands for one of any members.
const contract = `{"time":"2026-12-01T10:00:00.000Z","version":"1.0.0","uptime_s":12.0,"environment":"DEMO","revision":12,
 "control":"auto","failover":"auto","pin":{"weights":{},"until":"","by":"","reason":""},
 "lanes":{"interactive":{"rps":30.0,"split":{"lanyun":95.0,"bailian":5.0}},"batch":{"rps":10.0,"split":{"lanyun":15.0,"bailian":85.0}}},
 "totals":{"requests":1200,"ok":1199,"failed":1,"client_fault":0,"client_cancel":0,"failed_over":3,"attempts":1204},
 "service":{"success_10s":1.0,"p50_ms":300,"p90_ms":470,"p99_ms":718},
 "vendors":[{"name":"lanyun","label":"蓝耘","role":"primary","state":"healthy","reason":"",
   "weight":75.0,"target":75.0,"band":[70,80],"pinned":false,"share_10s":74.6,"share_60s":75.1,"rps":30.0,"in_flight":21,
   "first_token":{"10s":{"count":300,"p50_ms":302,"p90_ms":471,"p99_ms":718,"max_ms":940},"60s":{},"5m":{}},
   "latency":{"10s":{},"60s":{},"5m":{}},
   "errors":{"rate_10s":0.0,"rate_60s":0.0,"by_outcome_60s":{"vendor_fault":0,"rate_limited":0}},
   "limit":{"known_rps":1.0,"learned_rps":1.0,"allowed_rps":1.0,"keys":1,"evidence":""},
   "tokens":{"input":0,"output":0},"cost":{"total":0.0,"per_hour":0.0,"per_million_tokens":0.0},
   "published":{},"fault":{"kind":"refuse","percent":100,"until":""},"overrides":[],"history":{"p90_ms":[],"p99_ms":[],"step_s":1}}],
 "drill":{"id":"","scenario":"","vendor":"","phase":"","clock_s":0,"target_s":420,"cutover_s":4.2,"phases":[{"name":"fault","t_s":0.0,"time":""}],"verdict":"passed"}}`

// known is a state in which everything that can be null is not.
func known(s *control.Snapshot) {
	f := control.Figure
	l := control.Latency{Count: 1, P50ms: f(1), P90ms: f(1), P99ms: f(1), Maxms: f(1)}
	all := map[string]control.Latency{"10s": l, "60s": l, "5m": l}
	split := map[string]float64{"lanyun": 95, "bailian": 5}
	passed := control.Passed
	s.Pin = &control.Pin{Weights: split, Until: time.Now()}
	s.Lanes = control.LaneStates{Interactive: control.LaneState{Split: split}, Batch: control.LaneState{Split: split}}
	s.Service = control.Service{Success10s: f(1), P50ms: f(1), P90ms: f(1), P99ms: f(1)}
	s.Drill = &control.DrillState{CutoverS: f(1), Phases: []control.Moment{{Name: "fault"}}, Verdict: &passed}
	s.Vendors = []control.Vendor{{
		Name: "lanyun", Share10s: f(1), Share60s: f(1), FirstToken: all, Latency: all,
		Errors:    control.Errors{Rate10s: f(0), Rate60s: f(0), ByOutcome60s: map[string]int64{"vendor_fault": 0, "rate_limited": 0}},
		Limit:     control.Limit{KnownRPS: f(1), LearnedRPS: f(1), AllowedRPS: f(1)},
		Cost:      control.Cost{Total: f(0), PerHour: f(0), PerMillionTokens: f(0)},
		Published: &control.Published{}, Fault: &control.FaultState{Kind: "refuse"}, Overrides: []string{},
	}}
}

func TestSnapshot_HasTheNamesThatOthersRead(t *testing.T) {
	p := newPlant()
	p.state = known
	var want, got any
	if err := json.Unmarshal([]byte(contract), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(request(t, serve(t, p), "GET", "/api/v1/snapshot", "", nil).body, &got); err != nil {
		t.Fatal(err)
	}
	for _, fault := range compare("", want, got) {
		t.Error(fault)
	}
}

func TestSnapshot_WritesNullForWhatIsNotKnown(t *testing.T) {
	p := newPlant()
	p.state = func(s *control.Snapshot) {
		s.Vendors = []control.Vendor{{Name: "lanyun", FirstToken: map[string]control.Latency{"10s": {}}}}
	}
	var s struct {
		Pin, Drill any
		Service    map[string]any
		Vendors    []map[string]any
	}
	if err := json.Unmarshal(request(t, serve(t, p), "GET", "/api/v1/snapshot", "", nil).body, &s); err != nil {
		t.Fatal(err)
	}
	if s.Pin != nil || s.Drill != nil {
		t.Errorf("pin %v, drill %v", s.Pin, s.Drill)
	}
	null := func(where string, m any, names ...string) {
		for _, n := range names {
			if v, ok := m.(map[string]any)[n]; !ok || v != nil {
				t.Errorf("%s.%s is %v (there: %t), want null", where, n, v, ok)
			}
		}
	}
	v := s.Vendors[0]
	null("service", s.Service, "success_10s", "p50_ms", "p90_ms", "p99_ms")
	null("vendor", v, "share_10s", "share_60s", "published", "fault")
	null("errors", v["errors"], "rate_10s", "rate_60s")
	null("limit", v["limit"], "known_rps", "learned_rps", "allowed_rps")
	null("cost", v["cost"], "total", "per_hour", "per_million_tokens")
	null("first_token", v["first_token"].(map[string]any)["10s"], "p50_ms", "p90_ms", "p99_ms", "max_ms")
}

// compare says where got lacks a name of want or has another type there.
func compare(where string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			return []string{fmt.Sprintf("%s is a %T, want an object", where, got)}
		}
		var faults []string
		for _, name := range sorted(w) {
			if _, ok := g[name]; !ok {
				faults = append(faults, where+"."+name+" is missing")
				continue
			}
			faults = append(faults, compare(where+"."+name, w[name], g[name])...)
		}
		return faults
	case []any:
		g, ok := got.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is a %T, want a list", where, got)}
		}
		if len(w) > 0 && len(g) > 0 {
			return compare(where+"[0]", w[0], g[0])
		}
		return nil
	}
	if fmt.Sprintf("%T", want) != fmt.Sprintf("%T", got) {
		return []string{fmt.Sprintf("%s is a %T, want a %T", where, got, want)}
	}
	return nil
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

package tui

import (
	"fmt"
	"time"

	"baton/engine/control"
)

// rehearsed is a console whose engine knows drills, money and overrides.
func rehearsed(s *control.Snapshot, o Options) *console {
	c := newConsole(s, o)
	c.f.scenarios = scenariosMade()
	c.f.preflight = preflightMade()
	c.f.reports = reportsMade()
	c.f.costs, c.f.leverage = costsMade(), leverageMade()
	return c
}

func scenariosMade() []control.Scenario {
	half := 50.0
	one := func(name, target, judge, claim string, f control.FaultSpec) control.Scenario {
		return control.Scenario{Name: name, Target: target, Judge: judge, Claim: claim, Fault: f, Failover: "auto", Explain: []string{
			"The baseline is held for 15 s; it has to be good.", "The fault goes into the path to the vendor, beneath the router: nobody tells it.",
			"The clock stops when no client needs the vendor and service is proven to be good.", "The vendor is restored, and has to be inside its band again within 3 minutes.",
		}}
	}
	all := []control.Scenario{
		one("kill", "given", "cutover", "losing a vendor costs no client an answer, and the cutover stays under the target", control.FaultSpec{Kind: "refuse"}),
		one("kill-primary", "primary", "cutover", "losing the primary costs no client an answer, and cutover takes under a minute", control.FaultSpec{Kind: "refuse"}),
		one("blackhole-primary", "primary", "cutover", "a primary that swallows connections is noticed by its silence", control.FaultSpec{Kind: "blackhole"}),
		one("slow-primary", "primary", "contained", "half of the primary's answers slow down: clients are unhurt, its share falls", control.FaultSpec{Kind: "slow_first_token", Percent: &half}),
		one("flap-primary", "primary", "recovered", "a primary that comes and goes does not pull the traffic with it", control.FaultSpec{Kind: "refuse"}),
		one("spike-400x", "secondary", "recovered", "a load that grows 400 times within a second is served or refused at once", control.FaultSpec{}),
		one("hands-on", "primary", "cutover", "people move the weights in under seven minutes", control.FaultSpec{Kind: "refuse"}),
		one("blind", "random", "cutover", "a fault that nobody expects is found all the same", control.FaultSpec{}),
		one("external", "primary", "cutover", "people cut the real endpoint", control.FaultSpec{}),
	}
	all[6].Failover = "manual"
	all[8].File = "/home/op/.config/baton/drills/external.toml"
	return all
}

func preflightMade() *control.Preflight {
	return &control.Preflight{
		Scenario: "kill", Vendor: "lanyun", Judge: "cutover", Fault: control.FaultSpec{Kind: "refuse"}, ExtraCost: control.Figure(0.42),
		Checks: []control.Check{
			{Name: "others are well", Want: "healthy for 30s", Got: "bailian healthy for 1h", OK: true},
			{Name: "room", Want: "1.2x of 19.8/s", Got: "bailian: not known", Warn: true},
			{Name: "no other drill", Want: "none", Got: "none", OK: true},
			{Name: "error budget", Want: "99.9 % over 30 days", Got: "99.97 %", OK: true},
		},
		Plan: []string{"hold the baseline for 15s", "refuse 100 % of attempts at lanyun for 10m", "prove good service for 10s", "restore, and wait for its band"},
	}
}

func reportsMade() []control.Report {
	var out []control.Report
	for i, s := range []float64{2.6, 3.1, 2.8, 4.9, 2.7, 2.5, 9.4, 2.6} {
		r := control.Report{
			ID: fmt.Sprintf("202611%02d-100000-4f2a", 28-3*i), Scenario: "kill-primary", Vendor: "lanyun", Verdict: control.Passed, CutoverS: control.Figure(s), TargetS: 420,
			Started: noon.Add(-time.Duration(3*i+3) * 24 * time.Hour), Who: "li.wei", Ticket: "OPS-142",
			Hypothesis: []control.Bound{{Name: "cutover", Want: "at most 60s", Got: "2.6s", OK: true}, {Name: "success", Want: "at least 99.9 %", Got: "100 %", OK: true}},
			Files:      map[string]string{"html": "/home/op/.local/state/baton/drills/x.html", "json": "/home/op/.local/state/baton/drills/x.json"},
			Trend:      "steady: the last five between 2.5s and 4.9s", Failback: "passed", HurtS: 1.2,
		}
		out = append(out, r)
	}
	out[3].Verdict, out[3].Reason, out[3].Hypothesis[1].OK, out[3].Hypothesis[1].Got = control.Failed, "success fell to 98.1 % for 4 s: three clients got no answer", false, "98.1 %"
	out[3].Requests.Failed = 3
	out[5].Scenario, out[5].Incident, out[5].Vendor = "incident", true, "bailian"
	out[6].Verdict, out[6].CutoverS = control.Aborted, nil
	return out
}

// running is a drill in the middle of everything that a screen can show.
func running() *control.Snapshot {
	s := killed(2, 6.4)
	s.Vendors[0].Share10s, s.Vendors[1].Share10s = control.Figure(3), control.Figure(97)
	s.Service.Success10s = control.Figure(0.998)
	d := s.Drill
	d.Scenario, d.Judge, d.Who = "hands-on", "cutover", "operator:li.wei"
	d.Phases = append([]control.Moment{{Name: control.PhaseSteady, TS: -15, Time: noon.Add(-21400 * time.Millisecond)}}, d.Phases...)
	for i := range d.Phases {
		d.Phases[i].Time = noon.Add(time.Duration((d.Phases[i].TS - 6.4) * float64(time.Second)))
	}
	d.Budget = &control.DrillRisk{Failed: 3, MaxFailed: 500, Cost: control.Figure(0.12), MaxCost: control.Figure(10)}
	d.Steps = []control.StepState{{AtS: 5, Text: "http_500 50% at lanyun", Done: true}, {AtS: 120, Text: "restore lanyun"}}
	d.Checklist = []control.Task{{Text: "say in the channel that a drill runs", Done: true}, {Text: "watch who notices first, and at what"}, {Text: "note when the weights were moved, and by whom"}}
	d.Preflight = preflightMade().Checks
	return s
}

// ended is running after its end.
func ended() *control.Snapshot {
	s := running()
	d := s.Drill
	passed := control.Passed
	d.Verdict, d.CutoverS, d.ClockS, d.Verify, d.Until = &passed, control.Figure(2.6), 2.6, nil, nil
	for _, p := range []control.Moment{{Name: control.PhaseVerified, TS: 12.6}, {Name: control.PhaseRestored, TS: 13.1}, {Name: control.PhaseFailback, TS: 74.2}} {
		p.Time = noon.Add(time.Duration((p.TS - 6.4) * float64(time.Second)))
		d.Phases = append(d.Phases, p)
	}
	d.Reason, d.HurtS = "cutover 2.6s of 7:00; three of 4,211 clients got no answer", 1.2
	d.Record, d.Page = "/home/op/.local/state/baton/drills/20261201-120000-4f2a.json", "/home/op/.local/state/baton/drills/20261201-120000-4f2a.html"
	return s
}

func incident() *control.Snapshot {
	s := killed(2, 6.4)
	s.Incident, s.Drill = s.Drill, nil
	s.Incident.Incident, s.Incident.ID, s.Incident.Scenario, s.Incident.Fault = true, "20261201-115953-inc1", "incident", control.FaultSpec{}
	s.Incident.Started = noon.Add(-6400 * time.Millisecond)
	s.Vendors[0].Fault = nil
	return s
}

func armed() *control.Snapshot {
	s := made(2)
	at := noon.Add(7300 * time.Millisecond)
	s.Drill = &control.DrillState{ID: "x1", Scenario: "kill-primary", Vendor: "lanyun", Fault: control.FaultSpec{Kind: "refuse"}, Phase: control.PhaseSteady, TargetS: 420, Started: noon, Armed: &at, Preflight: preflightMade().Checks}
	return s
}

func sealed() *control.Snapshot {
	s := killed(2, 6.4)
	s.Drill.Scenario, s.Drill.Sealed = "blind", true
	return s
}

// planned has what the schedule, its freshness and people's overrides say.
func planned() *control.Snapshot {
	s := made(2)
	s.Schedule = []control.Scheduled{
		{ID: "s1", Scenario: "kill-primary", Vendor: "lanyun", At: noon.Add(8 * time.Minute), Armed: true, Announced: true},
		{ID: "s2", Scenario: "kill-secondary", Vendor: "bailian", At: noon.Add(7 * 24 * time.Hour), Armed: true},
		{ID: "s3", Scenario: "kill-primary", At: noon.Add(14 * 24 * time.Hour), Cancelled: "blackout 12-15"},
	}
	at := func(days float64) *time.Time { t := noon.Add(-time.Duration(days*24) * time.Hour); return &t }
	s.Freshness = []control.Freshness{
		{Vendor: "lanyun", Fault: "refuse", Passed: at(12), Days: control.Figure(12)},
		{Vendor: "bailian", Fault: "refuse", Passed: at(41), Days: control.Figure(41), Stale: true},
		{Vendor: "lanyun", Fault: "blackhole", Stale: true},
	}
	soon, later := noon.Add(92*time.Second), noon.Add(26*time.Minute)
	s.FailoverUntil, s.Failover = &later, "manual"
	s.Overrides = []control.Override{
		{Kind: "pin", Text: "weights pinned to lanyun=60 bailian=40", By: "operator:li.wei", Until: &soon, Release: "baton weights auto", Extend: "baton weights lanyun=60 bailian=40 --for 15m", Ending: true},
		{Kind: "manual", Text: "people move the traffic away from a vendor that is down", By: "operator:zhang", Until: &later, Release: "baton failover auto", Extend: "baton failover manual --for 30m"},
		{Kind: "limit", Vendor: "bailian", Text: "limited to 20/s", By: "operator:li.wei", Release: "baton limits forget bailian"},
		{Kind: "drain", Vendor: "lanyun", Text: "drained", By: "operator:zhang", Release: "baton undrain lanyun"},
	}
	s.Pin = &control.Pin{Weights: map[string]float64{"lanyun": 60, "bailian": 40}, Until: soon, By: "operator:li.wei", Reason: "price"}
	s.Control = "pinned"
	return s
}

func costsMade() *control.Costs {
	f := control.Figure
	c := &control.Costs{Since: noon.Add(-24 * time.Hour), Until: noon, Currency: "CNY", Timezone: "Asia/Shanghai"}
	c.Totals = control.CostGroup{Requests: 1711000, Attempts: 1712400, Cost: f(4213.4), Unpriced: 12}
	c.ByVendor = []control.CostGroup{
		{Vendor: "lanyun", Attempts: 1283000, Cost: f(3410.2), PerMillionInput: f(1.62), PerMillionOutput: f(8), PerMillion: f(3.21), PerSuccess: f(0.002658)},
		{Vendor: "bailian", Attempts: 429400, Cost: f(803.2), PerMillionInput: f(1.4), PerMillionOutput: f(6.1), PerMillion: f(2.44), PerSuccess: f(0.00187)},
	}
	c.RunRate = control.RunRate{OverS: 3600, PerHour: f(176.1), PerDay: f(4226), PerMonth: f(126790)}
	c.Apart.Failed.Cost, c.Apart.Drills.Cost = f(3.1), f(0.84)
	for h := range 24 {
		c.ByHour = append(c.ByHour, control.HourCost{Hour: noon.Add(time.Duration(h-24) * time.Hour), Cost: map[string]*float64{"lanyun": f(90 + float64(h*h%70)), "bailian": f(30 + float64(h*7%20))}})
	}
	for d := range 14 {
		c.ByDay = append(c.ByDay, control.CostGroup{Day: noon.Add(time.Duration(d-13) * 24 * time.Hour).Format(time.DateOnly), Cost: f(3900 + 60*float64(d*5%11))})
	}
	return c
}

func leverageMade() *control.Leverage {
	f := control.Figure
	l := &control.Leverage{Currency: "CNY", Internal: true, Days: 14, Headline: "two vendors cost 4,226 a day against 4,551 at lanyun alone: 7.1 % less"}
	l.Now = control.NowCost{PerDay: f(4226)}
	l.Volume = control.Volume{PerDay: 1711000, PeakRate: f(41)}
	l.Vendors = []control.Standing{
		{Vendor: "lanyun", Label: "蓝耘", Share: f(75), PerCall: f(0.00266), AtShares: []control.AtShare{{From: 60, To: 80, Count: 90000}}},
		{Vendor: "bailian", Label: "百炼", Share: f(25), PerCall: f(0.00187), RoomRate: f(9), AtShares: []control.AtShare{{From: 20, To: 40, Count: 40000}}},
	}
	for s := 0.0; s <= 100; s += 5 {
		l.WhatIf = append(l.WhatIf, control.Moved{Shares: map[string]float64{"lanyun": s, "bailian": 100 - s}, P90ms: f(500), P99ms: f(900)})
	}
	return l
}

package page

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// whole is a report in which everything is filled in.
func whole() *control.Report {
	t0 := time.Date(2026, 12, 1, 10, 0, 0, 4_000_000, time.UTC)
	at := func(name string, s float64) control.Moment {
		return control.Moment{Name: name, TS: s, Time: t0.Add(time.Duration(s * float64(time.Second)))}
	}
	ended := t0.Add(96 * time.Second)
	quantiles := func(n int, a, b, c float64) control.Latency {
		return control.Latency{Count: n, P50ms: &a, P90ms: &b, P99ms: &c}
	}
	baseline := quantiles(900, 301, 472, 719)
	r := &control.Report{
		ID: "20261201-100000-4f2a", Scenario: "kill-primary", Vendor: "lanyun", Who: "operator:li", Environment: "DEMO", ConfigDigest: "3b1f",
		Fault:   control.FaultSpec{Kind: "refuse", Percent: control.Figure(100), For: control.Duration(15 * time.Minute), Lane: "interactive"},
		Verdict: control.Failed, Reason: "2 of 270 requests failed", Started: t0.Add(-15 * time.Second), Ended: &ended,
		TargetS: 420, BoundS: 60, CutoverS: control.Figure(4.26), HurtS: 1, Judge: "cutover",
		Phases: []control.Moment{
			at(control.PhaseSteady, -15), at(control.PhaseFault, 0), at(control.PhaseDetected, 4.1), at(control.PhaseShifted, 4.26), at(control.PhaseVerified, 14.004),
			at(control.PhaseRestored, 30), at(control.PhaseFailback, 85.9), at(control.PhaseDone, 86),
		},
		Hypothesis: []control.Bound{
			{Name: "cutover", Want: "at most 1:00.0", Got: "0:04.2", OK: true},
			{Name: "clients' success", Want: "at least 0.999", Got: "0.9926: 2 of 270 failed"},
			{Name: "failback in time", Want: "5:00", Got: "not seen: baton ended"},
		},
		Requests: control.DrillRequests{Total: 600, OK: 597, Failed: 3, FailedOver: 41, Attempts: 643, CutStreams: 7, Lost: []string{"req-one", "req-two"}},
		Latency:  map[string]control.Latency{"before": quantiles(1200, 300, 470, 718), "during": quantiles(540, 310, 501, 934), "after": {}},
		Vendors:  map[string]control.Phased{"bailian": {Before: quantiles(80, 361, 560, 890)}},
		Weights: []control.WeightsAt{
			{TS: 0, Weights: map[string]float64{"lanyun": 75, "bailian": 25}},
			{TS: 4.1, Weights: map[string]float64{"lanyun": 0, "bailian": 100}},
			{TS: 60, Weights: map[string]float64{"lanyun": 74, "bailian": 26}},
		},
		Exercised: []string{"that the engine notices"}, NotExercised: []string{"the vendor's own endpoint"},
		Note: "a note", Ticket: "OPS-12", Previous: &control.Previous{ID: "p1", CutoverS: control.Figure(3.9)},
		Files: map[string]string{"json": "x.json"}, Cost: control.DrillCost{Extra: control.Figure(1.23456)},
		Chain: control.Chain{Previous: strings.Repeat("ab", 32), SHA256: strings.Repeat("cd", 32)}, Incident: false,
		Preflight: []control.Check{{Name: "the others are healthy", Want: "for 30s", Got: "612 s", OK: true}, {Name: "room at bailian", Want: "54/s", Got: "not known", Warn: true}},
		Steps:     []control.StepState{{AtS: 120, Text: "restore lanyun", Done: true}}, Checklist: []control.Task{{Text: "call the vendor", Done: true}},
		Baseline: &baseline, FailbackS: control.Figure(55.9), Failback: "passed",
		Comparison: []control.Previous{
			{ID: "20261124-100000-11aa", CutoverS: control.Figure(3.96), Verdict: control.Passed, Started: t0.AddDate(0, 0, -7)},
			{ID: "20261117-100000-22bb", Verdict: control.Inconclusive, Started: t0.AddDate(0, 0, -14)},
		},
		Trend: "slower than the median of the last five", Recording: "/var/lib/baton/drills/x.rec.gz", Versions: map[string]string{"baton": "1.0.0"},
		Witness: &control.WitnessResult{CutoverS: control.Figure(4.5), DifferenceS: control.Figure(-0.24), Requests: 180, Failed: 1, Log: "witness.jsonl", Note: "its clock is this machine's"},
		Extra:   map[string]float64{"retry amplification": 1.07},
	}
	for s := range 86 {
		p := control.Point{TS: float64(s), Requests: 45, Attempts: map[string]int64{"lanyun": 30, "bailian": 15}, Share: map[string]float64{"lanyun": 75, "bailian": 25}}
		p.P50ms, p.P90ms, p.P99ms = map[string]float64{"lanyun": 300, "bailian": 360}, map[string]float64{"lanyun": 470, "bailian": 560}, map[string]float64{"lanyun": 718, "bailian": 890}
		if s >= 4 && s < 60 {
			p.Attempts["lanyun"], p.Share["lanyun"], p.Share["bailian"] = 0, 0, 100
			delete(p.P50ms, "lanyun")
			delete(p.P90ms, "lanyun")
			delete(p.P99ms, "lanyun")
		}
		if s < 4 {
			p.Failed = 1
		}
		r.Series = append(r.Series, p)
	}
	return r
}

// render makes the page and returns it with the texts in it.
func render(t *testing.T, r *control.Report) (doc, texts string) {
	t.Helper()
	b, err := Render(r)
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return string(b), texts
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v\n%s", err, b)
		}
		if c, ok := tok.(xml.CharData); ok {
			texts += string(c)
		}
	}
}

func TestRender_ShowsTheWholeReport(t *testing.T) {
	doc, texts := render(t, whole())
	for _, want := range []string{
		"Drill: kill-primary, lanyun", "0:04.3", "asked within 1:00.0; target 7:00.0", "failed", "2 of 270 requests failed", "of 600 requests lost", "seconds in which clients were hurt", "0:04.1until it was noticed", "0:55.9until it was back",
		"refuse of 100 % of attempts in the lane interactive, for at most 15m", "operator:li", "DEMO", "3b1f", "a note", "OPS-12", "1.0.0", "x.rec.gz",
		"T-0:15.000", "T+0:00.000", "T+0:04.100", "T+0:14.004", "2026-12-01 10:00:14.008 UTC", "good service without it was proven",
		"at least 0.999", "0.9926: 2 of 270 failed", "not seen", "Failback, judged apart: passed, 0:55.9",
		"req-one", "req-two", "1 more failed", "718", "890", "1.2346 in the ledger's currency",
		"20261124-100000-11aa", "20261117-100000-22bb", "inconclusive", "slower than the median", "this run",
		"180 requests", "0:04.5", "-0.2 s", "witness.jsonl", "this machine's", "room at bailian", "warned", "restore lanyun", "call the vendor: done",
		"retry amplification", "1.07", "that the engine notices", "the vendor's own endpoint", strings.Repeat("ab", 32), strings.Repeat("cd", 32), "baton drill verify 20261201-100000-4f2a",
		"Share of the attempts begun", "Clients' success", "First token of streams at lanyun", "First token of streams at bailian", "P50", "P90", "P99", "Weights", "cutover 0:04.3",
	} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	if file := os.Getenv("BATON_PAGE"); file != "" { // to look at it
		if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A field that is added to the report has to be shown, or named here.
func TestRender_EveryFieldOfAReportChangesThePage(t *testing.T) {
	apart := []string{
		"Files",    // the page is one of them
		"Previous", // the first of Comparison
		"Baseline", // the row "before" of Latency
	}
	before, _ := render(t, whole())
	typ := reflect.TypeFor[control.Report]()
	for i := range typ.NumField() {
		name := typ.Field(i).Name
		r := whole()
		v := reflect.ValueOf(r).Elem().Field(i)
		if name == "Incident" {
			v.SetBool(true)
		} else {
			v.SetZero()
		}
		after, _ := render(t, r)
		skip := false
		for _, a := range apart {
			skip = skip || a == name
		}
		if (before == after) != skip {
			t.Errorf("%s: shown %v, wanted %v", name, before != after, !skip)
		}
	}
}

func TestRender_NeedsNothingElse(t *testing.T) {
	doc, _ := render(t, whole())
	doc = strings.ReplaceAll(doc, `xmlns="http://www.w3.org/2000/svg"`, "")
	if m := regexp.MustCompile(`(?i)<script|<link|<img|<iframe|\bsrc=|\bhref=|url\(|@import|https?:|\son[a-z]+=`).FindString(doc); m != "" {
		t.Errorf("the page has %q in it", m)
	}
	if !strings.Contains(doc, "default-src 'none'") {
		t.Error("the page does not forbid itself the network")
	}
}

func TestRender_NobodysWordsBecomeMarkup(t *testing.T) {
	bad := `</title></style><script>alert(1)</script><img src=x onerror="a()">'"&`
	r := whole()
	for _, p := range []*string{&r.ID, &r.Scenario, &r.Vendor, &r.Fault.Kind, &r.Verdict, &r.Reason, &r.Who, &r.Environment, &r.Note, &r.Ticket, &r.Trend, &r.Failback, &r.Judge, &r.Recording, &r.Witness.Log, &r.Witness.Note, &r.Chain.SHA256, &r.Chain.Previous, &r.Requests.Lost[0], &r.Exercised[0], &r.NotExercised[0], &r.Hypothesis[0].Got, &r.Preflight[0].Got, &r.Steps[0].Text, &r.Checklist[0].Text, &r.Comparison[0].ID, &r.Comparison[0].Verdict, &r.Phases[1].Name} {
		*p = bad
	}
	r.Series[0].Attempts[bad], r.Weights[0].Weights[bad], r.Extra[bad], r.Versions[bad] = 1, 1, 1, bad
	doc, _ := render(t, r)
	if strings.Contains(doc, "<script") || strings.Contains(doc, "<img") {
		t.Error("somebody's words are markup")
	}
}

func TestRender_WhatIsMissingIsNotZero(t *testing.T) {
	for _, c := range []struct {
		name      string
		edit      func(r *control.Report)
		want, not string
	}{
		{"no cutover", func(r *control.Report) { r.CutoverS = nil }, "No cutover was proven", "asked within 7:00.0"},
		{"no price", func(r *control.Report) { r.Cost.Extra = nil }, "not known", "0.0000"},
		{"no runs before", func(r *control.Report) { r.Comparison = nil }, "", "Compared with"},
		{"no witness", func(r *control.Report) { r.Witness = nil }, "", "The witness"},
		{"a witness without a figure", func(r *control.Report) { r.Witness.CutoverS, r.Witness.DifferenceS = nil, nil }, "Its cutover: none", "0:04.5"},
		{"nothing lost", func(r *control.Report) { r.Requests.Failed, r.Requests.Lost = 0, nil }, "No request was lost", "by id"},
		{"lost without ids", func(r *control.Report) { r.Requests.Lost = nil }, "The ids of the 3 that failed were not kept", "No request was lost"},
		{"it runs", func(r *control.Report) { r.Verdict, r.Ended = "", nil }, "running", ""},
		{"an incident", func(r *control.Report) { r.Incident, r.Fault = true, control.FaultSpec{} }, "Incident: ", "none injected"},
		{"an incident's clock", func(r *control.Report) { r.Incident = true }, "the first bad attempt: the clock starts", "the fault was in:"},
		{"not in the chain", func(r *control.Report) { r.Chain = control.Chain{} }, "", "baton drill verify"},
		{"the first of the chain", func(r *control.Report) { r.Chain.Previous = "" }, "it is the first", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := whole()
			c.edit(r)
			_, texts := render(t, r)
			if !strings.Contains(texts, c.want) {
				t.Errorf("%q is not on the page", c.want)
			}
			if c.not != "" && strings.Contains(texts, c.not) {
				t.Errorf("%q is on the page", c.not)
			}
		})
	}
}

func TestRender_SharesThatWereRoundedUpStillMakeAHundred(t *testing.T) {
	r := whole()
	for i := range r.Series {
		r.Series[i].Share = map[string]float64{"lanyun": 33.4, "bailian": 33.4, "third": 33.3}
	}
	doc, _ := render(t, r)
	share, _, _ := strings.Cut(doc[strings.Index(doc, "<svg"):], "</svg>")
	if strings.Contains(share, ">120<") || strings.Contains(share, ">150<") || !strings.Contains(share, ">100<") {
		t.Error("the axis of shares does not end at 100")
	}
}

func TestRender_AnEmptyReportHasAPage(t *testing.T) {
	render(t, &control.Report{})
}

func TestClock_RoundsHalfUp(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want string
	}{{4.25, "0:04.3 T+0:04.250"}, {2.76, "0:02.8 T+0:02.760"}, {59.99, "1:00.0 T+0:59.990"}, {420, "7:00.0 T+7:00.000"}, {-15, "-0:15.0 T-0:15.000"}, {-0.0001, "0:00.0 T+0:00.000"}} {
		if got := fmt.Sprint(clock(c.s), " ", offset(c.s)); got != c.want {
			t.Errorf("%v: %s, want %s", c.s, got, c.want)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	r := whole()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(r); err != nil {
			b.Fatal(err)
		}
	}
}

func TestFigures_AreWordsWithUnits(t *testing.T) {
	r := &control.Report{Extra: map[string]float64{
		"sent": 108000, "goodput": 0.7462, "p99_ms": 13834.46, "schedule_lag_p99_ms": 0.42, "amplification": 0.838, "admitted_rps": 1342.34, "cpu_gateway_s": 23.57, "cpu_measured_s": 60.56,
		"one_gpu_p50_ms": 3190, "naive_n": 468, "warm_up_s": 4,
	}}
	want := []Figure{
		{"requests sent in the spike", "108,000"},
		{"goodput of the spike: answered whole, of the requests due", "74.6 %"},
		{"admitted in the spike, each second", "1342.3/s"},
		{"first token of those admitted in the spike, P99", "13,834 ms"},
		{"attempts for each request", "0.838"},
		{"the generator sent late by, P99", "0.4 ms"},
		{"processor time of the gateway in the spike", "23.6 s in 60.6 s: 39 % of one core"},
		{"naive n", "468"},
		{"one gpu p50", "3,190 ms"},
		{"warm up", "4.0 s"},
	}
	got := Figures(r)
	if len(got) != len(want) {
		t.Fatalf("%v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
	if len(r.Extra) != 11 {
		t.Error("the report was changed")
	}
}

func TestRender_ASpikeHasNoFaultAndItsOwnClock(t *testing.T) {
	r := whole()
	r.Vendor, r.Judge, r.CutoverS = "", "recovered", nil
	r.Fault = control.FaultSpec{Kind: "spike", For: control.Duration(time.Minute)}
	r.Extra = map[string]float64{"recovered_s": 7.04, "admitted": 80538}
	_, texts := render(t, r)
	for _, want := range []string{"Drill: kill-primary\n", "0:07.0", "served well again after", "step up", "step back", "Requests in the spike", "a load spike of 1m", "80,538", "The load was up where"} {
		if !strings.Contains(texts, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	for _, not := range []string{"No cutover was proven", "the fault was", "in the fault", "clients were hurt"} {
		if strings.Contains(texts, not) {
			t.Errorf("%q is on the page", not)
		}
	}
}

package report

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// evil is what a vendor may put into a reason, and a person into a label.
const evil = "=1+1 <script>|*x*\n`y`"

func pages(t *testing.T) map[string]*Page {
	t.Helper()
	one := control.Figure(1)
	l := &control.Leverage{
		Internal: true, Simulated: true, Currency: "CNY", Headline: "two cost more " + evil, Volume: control.Volume{PerDay: 20_000_000, PeakRate: one},
		Now:       control.NowCost{PerDay: control.Figure(24000.5), Single: []control.Single{{Vendor: "a", PerDay: one}}},
		Vendors:   []control.Standing{{Vendor: "a", Label: evil, Share: control.Figure(75), WalkAway: &control.WalkAway{To: "b", Factor: 0.9, PerCall: 0.001}, Shiftable: &control.Shiftable{Share: 20, Drill: "d1", LowLoad: true}}, {Vendor: "b", Label: "b"}},
		WhatIf:    []control.Moved{{Shares: map[string]float64{"a": 75, "b": 25}, PerDay: one, NoRoom: []string{"b"}, Extrapolated: []string{"a"}}},
		BreakEven: control.BreakEven{Table: [][]float64{{1_041_666.67}}, Overheads: []float64{100}, Gains: []float64{0.08}, Gain: control.Figure(0.08), PerCall: control.Figure(0.0012), CallsPerDay: control.Figure(1_041_666.67), Net: one},
		Limits:    []control.LimitSay{{Vendor: "a", What: "asked", Limit: "50/s", Day: "2026-12-01", Source: evil}},
		Evidence:  []control.Evidence{{Ref: "drill d1", Text: evil}},
	}
	d := &control.Dossier{
		Label: evil, Month: "2026-11", Since: time.Unix(0, 0), Until: time.Unix(1, 0), Rule: "a rule",
		Bad:     []control.BadMinute{{Time: time.Unix(0, 0).UTC(), Attempts: 20, Faults: 1}},
		Reasons: []control.Reason{{Outcome: "vendor_fault", Reason: evil, Status: 500, Count: 1200}}, More: 3,
		Requests: []control.Refusal{{Time: time.Unix(0, 0), Request: "req-1", VendorID: evil, Outcome: "rate_limited", AfterMs: 12.34}},
	}
	return map[string]*Page{"leverage": Leverage(l), "dossier": Dossier(d)}
}

func TestPage_NothingOfOthersIsMarkupOrFormula(t *testing.T) {
	for name, p := range pages(t) {
		var md, html, text, sheet strings.Builder
		for _, err := range []error{p.Markdown(&md), p.HTML(&html), p.Text(&text), p.CSV(&sheet)} {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(md.String(), "<script>") || strings.Contains(html.String(), "<script>") || !strings.Contains(html.String(), "&lt;script&gt;") {
			t.Errorf("%s: a script got through", name)
		}
		for line := range strings.Lines(md.String()) {
			if strings.HasPrefix(line, "|") && !strings.HasSuffix(strings.TrimRight(line, "\n"), "|") {
				t.Errorf("%s: a row is broken: %q", name, line)
			}
		}
		r := csv.NewReader(strings.NewReader(sheet.String()))
		r.FieldsPerRecord = -1
		records, err := r.ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, record := range records {
			for _, c := range record {
				if strings.HasPrefix(c, "=") {
					t.Errorf("%s: a formula: %q", name, c)
				}
			}
		}
	}
}

func TestLeverage_SaysWhoItIsFor(t *testing.T) {
	for _, c := range []struct {
		l         *control.Leverage
		has, lack string
	}{
		{&control.Leverage{Internal: true}, "INTERNAL: not for vendors", "SIMULATED"},
		{&control.Leverage{For: "lanyun", Simulated: true, Vendors: []control.Standing{{Vendor: "x", Label: "another vendor (A)", Masked: true}}}, "SIMULATED: no vendor is real", "INTERNAL"},
		{&control.Leverage{For: "lanyun"}, "alternatives: lanyun", "single contract"},
		{&control.Leverage{For: "lanyun"}, "alternatives: lanyun", "Walk-away"},
	} {
		var b strings.Builder
		if err := Leverage(c.l).Text(&b); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.has) || strings.Contains(b.String(), c.lack) {
			t.Errorf("want %q and not %q in\n%s", c.has, c.lack, b.String())
		}
	}
}

func TestFigures_AreForPeople(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	for got, want := range map[string]string{
		Money(nil): "unpriced", Money(f(0)): "0.00", Money(f(0.01234)): "0.0123", Money(f(-1234567.891)): "-1,234,567.89", money(nil): "-",
		decimals(f(999), 0): "999", count(20000000): "20,000,000", part(f(0.0123), 1): "1.2 %", percent(nil): "-",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package ledger

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// two is a configuration of two priced vendors and one without a price.
func two(tb testing.TB) *config.Config {
	tb.Helper()
	c, err := config.Parse("c.toml", []byte(`
[[vendors]]
name = "a"
label = "蓝耘"
role = "primary"
simulate = "elastic"
weight = 75
[[vendors.price]]
input = 2.0
cached_input = 0.5
output = 8.0
[[vendors.limits]]
what = "documented"
limit = "20 requests/s per key"
date = "2026-07-01"
source = "their manual"
[[vendors]]
name = "b"
simulate = "elastic"
weight = 25
[[vendors.price]]
input = 1.0
output = 4.0
[[vendors.limits]]
what = "granted"
limit = "secret to a"
date = "2026-08-01"
`), func(string) string { return "" })
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// rolled rolls attempts up as the store does, quarters and all.
func rolled(b *Book, list []Attempt, drills Windows) *Account {
	var r Rollup
	for i := range list {
		r.Add(&list[i], b.Price(&list[i]), drills.Of(&list[i]))
	}
	acc := &Account{Latencies: r.Latencies}
	for k, s := range r.Minutes {
		at := time.Unix(k.Minute, 0)
		if acc.First.IsZero() || at.Before(acc.First) {
			acc.First = at
		}
		if at.After(acc.Last) {
			acc.Last = at
		}
		if k.Flags.Source() == Client {
			m := Minute{Minute: k.Minute, Vendor: k.Vendor, Asked: s.Asked}
			if k.Flags&FlagDrill == 0 {
				m.Attempts, m.Answered, m.Faults, m.Limited = s.Attempts, s.Answered, s.Faults, s.Limited
			}
			acc.Minutes = append(acc.Minutes, m)
		}
		k.Minute -= k.Minute % Quarter
		acc.Rows = append(acc.Rows, Row{k, *s})
	}
	return acc
}

func call(at time.Time, vendor string, in, cached, out int) Attempt {
	return Attempt{
		Ended: at, N: 1, Vendor: vendor, Model: "m", At: "m", Outcome: "ok", Stream: true, Took: time.Second, FirstToken: 300 * time.Millisecond, Input: in, Cached: cached, Output: out,
	}
}

func near(tb testing.TB, what string, got *float64, want float64) {
	tb.Helper()
	if got == nil || math.Abs(*got-want) > 1e-9*max(1, math.Abs(want)) {
		if got == nil {
			tb.Errorf("%s is not known, want %v", what, want)
			return
		}
		tb.Errorf("%s is %v, want %v", what, *got, want)
	}
}

func TestCosts_OfATableComputedByHand(t *testing.T) {
	b := NewBook(two(t))
	begin := at(t, "2026-12-01T15:00:00Z") // 23:00 in Shanghai
	batch := call(begin.Add(90*time.Minute), "b", 1000, 0, 100)
	batch.Lane, batch.Client = control.Batch, "nightly"
	billed := call(begin, "a", 500, 0, 50) // failed, and billed all the same
	billed.Outcome, billed.N = "vendor_fault", 1
	rescue := call(begin, "b", 500, 0, 40)
	rescue.N = 2
	left := call(begin, "a", 100, 0, 10)
	left.Outcome, left.Estimated = "client_cancel", true
	unpriced := call(begin, "c", 10, 0, 10)
	probe := Attempt{Ended: begin, N: 1, Vendor: "a", Source: Probe, Outcome: "ok"}
	stress := call(begin, "a", 10_000, 0, 1000)
	stress.Source = Stress
	nobody := Attempt{Ended: begin, Model: "m", Outcome: "rate_limited"}
	acc := rolled(b, []Attempt{call(begin, "a", 1000, 400, 100), batch, billed, rescue, left, unpriced, probe, stress, nobody}, Windows{{Vendor: "b", From: begin.Add(time.Hour), To: begin.Add(2 * time.Hour)}})
	acc.Since, acc.Until = begin, begin.Add(3*time.Hour)
	c := b.Costs(acc.Rows, acc.Period, []string{"a", "b"})

	// a: 1000/400/100 -> 0.0022; 500/50 failed -> 0.0014; 100/10 estimated -> 0.00028
	// b: 1000/100 -> 0.0014; 500/40 -> 0.00066
	if x := c.Totals; x.Requests != 6 || x.Attempts != 6 || x.Answered != 4 || x.Failed != 2 || x.InputTokens != 3110 || x.CachedTokens != 400 || x.OutputTokens != 310 || x.Unpriced != 1 || x.Estimated != 1 {
		t.Errorf("totals %+v", x)
	}
	near(t, "the cost", c.Totals.Cost, 0.0022+0.0014+0.00028+0.0014+0.00066)
	near(t, "a's cost", c.ByVendor[0].Cost, 0.00388)
	near(t, "a's cost per success", c.ByVendor[0].PerSuccess, 0.00388)
	near(t, "a's input per million", c.ByVendor[0].PerMillionInput, (600*2+400*.5+500*2+100*2)/1600.0)
	near(t, "a's output per million", c.ByVendor[0].PerMillionOutput, 8)
	near(t, "a's failures", c.ByVendor[0].FailedCost, 0.0014+0.00028)
	near(t, "b's cost", c.ByVendor[1].Cost, 0.00206)
	near(t, "b's cost in drills", c.ByVendor[1].DrillCost, 0.0014)
	if v := c.ByVendor; len(v) != 3 || v[0].Vendor != "a" || v[0].Requests != 1 || v[1].Requests != 2 || v[2].Vendor != "c" || v[2].Cost != nil || v[2].Unpriced != 1 || v[2].PerMillion != nil {
		t.Errorf("by vendor %+v", v)
	}
	if d := c.ByDay; len(d) != 2 || d[0].Day != "2026-12-01" || d[1].Day != "2026-12-02" || d[1].Requests != 1 {
		t.Errorf("by day %+v", d)
	}
	if k := c.ByKey; len(k) != 2 || k[0].Key != NoKey || k[1].Key != "nightly" || k[1].Attempts != 1 {
		t.Errorf("by key %+v", k)
	}
	if l := c.ByLane; len(l) != 2 || l[0].Lane != "batch" || l[1].Lane != "interactive" {
		t.Errorf("by lane %+v", l)
	}
	if m := c.ByModel; len(m) != 1 || m[0].Model != "m" || m[0].Requests != 6 {
		t.Errorf("by model %+v", m)
	}
	near(t, "failed", c.Apart.Failed.Cost, 0.0014+0.00028)
	near(t, "in drills", c.Apart.Drills.Cost, 0.0014)
	near(t, "estimated", c.Apart.Estimated.Cost, 0.00028)
	near(t, "stress", c.Apart.Stress.Cost, 0.028)
	near(t, "probes", c.Apart.Probes.Cost, 0)
	if p := c.Apart.Probes; p.Attempts != 1 || p.Requests != 0 {
		t.Errorf("probes %+v", p)
	}
	if h := c.ByHour; len(h) != 2 || *h[1].Cost["b"] != 0.0014 || h[0].Cost["c"] != nil {
		t.Errorf("by hour %+v", h)
	}
}

func TestCosts_NamesAreTheContracts(t *testing.T) {
	b := NewBook(two(t))
	begin := at(t, noon)
	acc := rolled(b, []Attempt{call(begin, "a", 10, 0, 1)}, nil)
	acc.Since, acc.Until = begin.Add(-time.Hour), begin.Add(time.Hour)
	doc, err := json.Marshal(b.Costs(acc.Rows, acc.Period, []string{"a", "b"}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(doc, &got); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"since", "until", "currency", "totals", "by_vendor", "by_model", "by_lane", "by_key", "by_day", "apart"} {
		if _, ok := got[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	for _, name := range []string{"requests", "attempts", "failed", "input_tokens", "cached_tokens", "output_tokens", "cost", "unpriced"} {
		if _, ok := got["totals"].(map[string]any)[name]; !ok {
			t.Errorf("there is no totals.%s", name)
		}
	}
	for _, name := range []string{"vendor", "requests", "attempts", "failed", "input_tokens", "cached_tokens", "output_tokens", "cost", "per_million_input", "per_million_output", "per_million", "per_success"} {
		if _, ok := got["by_vendor"].([]any)[0].(map[string]any)[name]; !ok {
			t.Errorf("there is no by_vendor[].%s", name)
		}
	}
	for _, name := range []string{"failed", "probes", "drills", "stress", "estimated"} {
		if _, ok := got["apart"].(map[string]any)[name].(map[string]any); !ok {
			t.Errorf("there is no apart.%s", name)
		}
	}
}

func TestRunRate_IsOfTheLastHour(t *testing.T) {
	b := NewBook(two(t))
	now := at(t, "2026-12-01T12:07:30Z")
	acc := rolled(b, []Attempt{
		call(now.Add(-3*time.Hour), "a", 1_000_000, 0, 0), // too old
		call(now.Add(-50*time.Minute), "a", 1_000_000, 0, 0),
		call(now.Add(-time.Minute), "a", 1_000_000, 0, 0),
	}, nil)
	acc.Since, acc.Until = now.Add(-24*time.Hour), now
	r := b.Costs(acc.Rows, acc.Period, nil).RunRate
	// The hour begins in the quarter from 11:00: 67.5 minutes, 4.0 spent.
	near(t, "seconds", &r.OverS, 4050)
	near(t, "per hour", r.PerHour, 4/(4050.0/3600))
	near(t, "per day", r.PerDay, 24*4/(4050.0/3600))
}

func TestLive_IsWhatTheLastMinutesCost(t *testing.T) {
	b := NewBook(two(t))
	begin := at(t, noon)
	l := NewLive(begin)
	add := func(a Attempt) { l.Add(&a, b.Price(&a)) }
	for k := range 600 { // ten minutes, 0.002 a second
		add(call(begin.Add(time.Duration(k)*time.Second), "a", 1000, 0, 0))
	}
	now := begin.Add(600 * time.Second)
	c := l.Of("a", true, now)
	near(t, "the total", c.Total, 1.2)
	near(t, "per million", c.PerMillionTokens, 2)
	if *c.PerHour < 6.8 || *c.PerHour > 7.3 {
		t.Errorf("per hour %v, want about 7.2", *c.PerHour)
	}
	if c := l.Of("a", true, now.Add(time.Hour)); *c.PerHour != 0 || *c.Total < 1.19 {
		t.Errorf("an hour later %v per hour", *c.PerHour)
	}
	if c := l.Of("b", false, now); c.Total != nil || c.PerHour != nil {
		t.Errorf("without a price %+v", c)
	}
	if c := l.Of("b", true, now); *c.Total != 0 || c.PerMillionTokens != nil {
		t.Errorf("with a price and no traffic %+v", c)
	}
	add(call(now, "c", 5, 0, 5))
	all := l.All("CNY", b.Priced, []string{"a", "b", "c"}, now)
	near(t, "all", all.Total, 1.2)
	if all.Unpriced != 1 {
		t.Errorf("%+v", all)
	}
}

func TestText_CountsLettersOfStringsOnly(t *testing.T) {
	for text, want := range map[string]Text{
		`[{"role":"user","content":"hello"}]`: {9, 0},
		`"hello"`:                             {5, 0},
		`["你好","\u4f60\u597d","\ud83d\ude00 é\n"]`:                {3, 5},
		`{"a":{"b" : "x\"y"},"c":["data:image/png;base64,AAAA"]}`: {3, 0},
		`"unended`:   {7, 0},
		`12`:         {0, 0},
		`"\u00e9\\"`: {2, 0},
	} {
		var got Text
		got.JSON([]byte(text))
		if got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	if n := (Text{Narrow: 10, Wide: 10}).Tokens(); n != 9 {
		t.Errorf("%d tokens, want 3 + 6", n)
	}
	var long Text
	long.JSON([]byte(`"` + strings.Repeat("ab", textMax) + `"`))
	if n := long.Narrow; n < 2*textMax-10 || n > 2*textMax+10 {
		t.Errorf("of a long text %d letters", n)
	}
}

func FuzzText(f *testing.F) {
	f.Add([]byte(`[{"role":"user","content":"hé\u4f60\\"}]`))
	f.Add([]byte(`"\`))
	f.Add([]byte(`"\u12`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var text Text
		text.JSON(b)
		text.Inside(b)
		if text.Narrow+text.Wide > 2*len(b) || text.Narrow < 0 {
			t.Fatalf("%d bytes have %+v", len(b), text)
		}
	})
}

func BenchmarkText(b *testing.B) {
	body := []byte(`[{"role":"user","content":"` + strings.Repeat("some words and 一些字 ", 60) + `"}]`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var t Text
		t.JSON(body)
	}
}

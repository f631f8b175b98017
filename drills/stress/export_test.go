package stress

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// measured is twoVendors' report, made once.
var measured struct {
	once sync.Once
	rep  *Report
}

// twoVendors is a report of a vendor and one that is half again as slow. Nobody may
// write to it.
func twoVendors(t *testing.T) *Report {
	t.Helper()
	measured.once.Do(func() { measured.rep = measureTwo(t) })
	if measured.rep == nil {
		t.Fatal("there is no report of two vendors")
	}
	return measured.rep
}

func measureTwo(t *testing.T) (rep *Report) {
	synctest.Test(t, func(t *testing.T) {
		jitter := func(by float64) func(int) (time.Duration, time.Duration) {
			i := 0.0
			var mu sync.Mutex
			return func(int) (time.Duration, time.Duration) {
				mu.Lock()
				defer mu.Unlock()
				i = math.Mod(i+0.618033988749895, 1)
				return time.Duration(by * (80 + 40*i) * float64(time.Millisecond)), time.Duration(by * float64(2*time.Millisecond))
			}
		}
		p := planOf(t, targetOf(t, "fast", &server{takes: jitter(1)}))
		p.Targets = append(p.Targets, targetOf(t, "slow", &server{takes: jitter(1.5)}))
		p.Targets[0].Label = "<script>alert(1)</script>"
		p.Targets[1].Published = []Benchmark{{Source: "AI Ping", Vendor: "slow", Metric: "ttft", Stat: "p90", Value: 0.15, Unit: "s", Region: "cn"}}
		p.Ladder, p.Duration, p.Arrivals, p.SLO = []int{1, 4}, 15*time.Second, Poisson, SLO{P90: time.Second, P99: time.Second}
		rep = ran(t, p)
	})
	return rep
}

func TestReport_JSONHasTheNamesOfTheContract(t *testing.T) {
	var b bytes.Buffer
	if err := twoVendors(t).JSON(&b); err != nil {
		t.Fatal(err)
	}
	var rep struct {
		ID   *string
		Runs []struct {
			Vendor, Verdict *string
			Levels          []map[string]json.RawMessage
			Degradation     map[string]json.RawMessage
			Limiter         json.RawMessage
		}
	}
	if err := json.Unmarshal(b.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	run := rep.Runs[0]
	for _, name := range []string{"concurrency", "n", "errors", "rps", "tokens_per_s", "goodput", "first_token_ms", "per_token_ms", "total_ms", "schedule_lag_ms"} {
		if _, ok := run.Levels[0][name]; !ok {
			t.Errorf("a level has no %s", name)
		}
	}
	for _, name := range []string{"first_token_p50", "total_p50", "total_p99", "efficiency"} {
		if _, ok := run.Degradation[name]; !ok {
			t.Errorf("the degradation has no %s", name)
		}
	}
	var q map[string]json.RawMessage
	if err := json.Unmarshal(run.Levels[0]["total_ms"], &q); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"p50", "p90", "p99", "p99_ci"} {
		if _, ok := q[name]; !ok {
			t.Errorf("quantiles have no %s", name)
		}
	}
	if string(run.Limiter) != "null" || strings.Contains(b.String(), "NaN") {
		t.Errorf("limiter %s", run.Limiter)
	}
}

func TestReport_IsWrittenInEveryForm(t *testing.T) {
	rep := twoVendors(t)
	var text, page, table bytes.Buffer
	for _, err := range []error{rep.Text(&text), rep.HTML(&page), rep.CSV(&table)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{"slow", "A B B A", "degradation 1 -> 4", "first_token_ms", "AI Ping", "SLO met", "P99/P90"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the text says nothing of %q", part)
		}
	}
	if n := strings.Count(page.String(), "<svg"); n != 6 {
		t.Errorf("the page has %d charts", n)
	}
	if strings.Contains(page.String(), "<script") || regexp.MustCompile(`(?:src|href)=`).MatchString(page.String()) {
		t.Error("the page has a script, or needs another file")
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil || len(rows) != 9 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, r := range rows {
		if len(r) != len(rows[0]) {
			t.Errorf("a row has %d cells, the head %d", len(r), len(rows[0]))
		}
	}
	files := map[string]string{}
	err = rep.HGRM(func(name string, distribution func(io.Writer) error) error {
		var b strings.Builder
		defer func() { files[name] = b.String() }()
		return distribution(&b)
	})
	if err != nil || len(files) != 24 {
		t.Fatalf("%d distributions, %v", len(files), err)
	}
	if f := files["slow-c4-closed-total.hgrm"]; !strings.Contains(f, "Percentile") || !strings.Contains(f, "#[Mean") {
		t.Errorf("%q", f)
	}
}

func TestHistory_ComparesVendorsAndSeesNoDifferenceWhereThereIsNone(t *testing.T) {
	rep := twoVendors(t)
	h := History{Dir: filepath.Join(t.TempDir(), "stress")}
	path, err := h.Save(rep)
	if err != nil {
		t.Fatal(err)
	}
	all, err := h.List()
	if err != nil || len(all) != 1 || all[0].ID != rep.ID {
		t.Fatalf("%d kept, %v", len(all), err)
	}
	d, err := h.Compare(rep.ID+":fast", path+":slow")
	if err != nil || len(d.Rows) == 0 {
		t.Fatalf("%v, %v", d, err)
	}
	for _, r := range d.Rows {
		if !r.Differs || r.CI == nil || math.Abs(r.Ratio/1.5-1) > 0.05 || r.CI[0] <= 1 {
			t.Errorf("%+v", r)
		}
	}
	if d, err = h.Compare(rep.ID, rep.ID); err != nil {
		t.Fatal(err)
	}
	for _, r := range d.Rows {
		if r.Differs || r.Ratio != 1 || r.VendorA != r.VendorB {
			t.Errorf("%+v", r)
		}
	}
	var text bytes.Buffer
	if err := d.Text(&text); err != nil || !strings.Contains(text.String(), "0 of") {
		t.Errorf("%v\n%s", err, text.String())
	}
	for _, bad := range []string{"20260101-000000-abcd", rep.ID + ":nobody", "../" + rep.ID} {
		if _, err := h.Compare(rep.ID, bad); err == nil {
			t.Errorf("%s was compared", bad)
		}
	}
}

func TestBenchmarks_ImportReplacesAndTellsMistakes(t *testing.T) {
	const head = "source,captured_at,vendor,model,metric,stat,value,unit,input_tokens,output_tokens,concurrency,window,samples,region,url\n"
	b := Benchmarks{Path: filepath.Join(t.TempDir(), "state", "benchmarks.csv")}
	first, err := ReadBenchmarks(strings.NewReader(head + "aiping,2026-07-10,lanyun,DeepSeek-V3.2,ttft,p90,820,ms,,,1,24h,,cn,https://example.com\nopenrouter,2026-07-10,bailian,qwen-plus,ttft,p99,0.85,s,,,,30m,,us,\n"))
	if err != nil || len(first) != 2 || *first[0].Concurrency != 1 || first[1].Concurrency != nil {
		t.Fatalf("%+v, %v", first, err)
	}
	if added, replaced, err := b.Import(first); added != 2 || replaced != 0 || err != nil {
		t.Fatalf("%d added, %d replaced, %v", added, replaced, err)
	}
	first[0].Value, first[0].CapturedAt = 790, "2026-08-10"
	if added, replaced, err := b.Import(first[:1]); added != 0 || replaced != 1 || err != nil {
		t.Fatalf("%d added, %d replaced, %v", added, replaced, err)
	}
	kept, err := b.Read()
	if err != nil || len(kept) != 2 || kept[0].Value != 790 || kept[1].Value != 0.85 {
		t.Errorf("%+v, %v", kept, err)
	}
	_, err = ReadBenchmarks(strings.NewReader(head + "x,then,v,,ttft,p90,1,ms,,,,,,,\nx,,v,,speed,p90,1,ms,,,,,,,\nx,,v,,ttft,p91,-1,tok/s,,,,,,,\n"))
	for _, part := range []string{"line 2", `"then"`, "line 3", `"speed"`, "line 4", `"p91"`, `"-1"`, `"tok/s"`} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("nothing of %s in: %v", part, err)
		}
	}
	if _, err := ReadBenchmarks(strings.NewReader("vendor,colour\n")); err == nil || !strings.Contains(err.Error(), "colour") || !strings.Contains(err.Error(), "no column metric") {
		t.Errorf("%v", err)
	}
}

func FuzzReadBenchmarks_NeverPanics(f *testing.F) {
	f.Add("source,vendor,metric,stat,value,unit\na,b,ttft,p90,1,ms\n")
	f.Add("\ufeffsource,vendor\n\"")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadBenchmarks(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, b := range all {
			if math.IsNaN(b.Value) || b.Vendor == "" || len(benchMetrics[b.Metric]) == 0 {
				t.Errorf("%+v", b)
			}
		}
	})
}

func FuzzReadPrompts_NeverPanics(f *testing.F) {
	f.Add(`{"prompt":"hi"}`)
	f.Add(`{"body":{"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := ReadPrompts(strings.NewReader(text))
		if err != nil {
			return
		}
		for i := range all {
			if body := all[i].body("m", "[x] ", 8, true, true); !json.Valid(body) {
				t.Errorf("%s", body)
			}
		}
	})
}

func TestPublish_HoldsTheSameStatisticAndWarns(t *testing.T) {
	c := twoVendors(t).Run("slow").Published[0]
	if c.Value != 150 || c.Concurrency != 1 || c.Ours == nil || math.Abs(*c.Ours/174-1) > 0.03 || *c.Ratio < 1.1 || c.GuessP99 == nil || *c.GuessP99 <= 150 {
		t.Errorf("%+v", c)
	}
	said := strings.Join(c.Warnings, "; ")
	for _, part := range []string{"concurrency: theirs is not known", "input tokens", "region: theirs is cn"} {
		if !strings.Contains(said, part) {
			t.Errorf("no warning of %s: %s", part, said)
		}
	}
	if strings.Contains(said, "output tokens") {
		t.Error("a first token has no output tokens to compare")
	}
}

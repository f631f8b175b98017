package stress

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/config"
)

// Benchmark is one figure that a third party published: a row of the CSV.
type Benchmark struct {
	Source       string   `json:"source"`
	CapturedAt   string   `json:"captured_at"` // 2026-07-10
	Vendor       string   `json:"vendor"`
	Model        string   `json:"model"`
	Metric       string   `json:"metric"` // ttft, e2e, tpot, throughput or success_rate
	Stat         string   `json:"stat"`   // p50, p75, p90, p95, p99 or mean
	Value        float64  `json:"value"`
	Unit         string   `json:"unit"` // ms, s, tok/s or ratio
	InputTokens  *float64 `json:"input_tokens"`
	OutputTokens *float64 `json:"output_tokens"`
	Concurrency  *float64 `json:"concurrency"`
	Window       string   `json:"window"`
	Samples      *float64 `json:"samples"`
	Region       string   `json:"region"`
	URL          string   `json:"url"`
}

// Columns are the CSV's, in their order.
var Columns = []string{"source", "captured_at", "vendor", "model", "metric", "stat", "value", "unit", "input_tokens", "output_tokens", "concurrency", "window", "samples", "region", "url"}

var (
	benchMetrics = map[string][]string{"ttft": {"ms", "s"}, "e2e": {"ms", "s"}, "tpot": {"ms", "s"}, "throughput": {"tok/s"}, "success_rate": {"ratio"}}
	benchStats   = []string{"p50", "p75", "p90", "p95", "p99", "mean"}
)

// ReadBenchmarks reads the CSV. Columns may stand in any order; source, vendor,
// metric, stat, value and unit are needed. Its error tells of every mistake with its line.
func ReadBenchmarks(r io.Reader) ([]Benchmark, error) {
	c := csv.NewReader(r)
	c.FieldsPerRecord = -1
	head, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("benchmarks: %w", err)
	}
	at := map[string]int{}
	var errs []error
	for i, name := range head {
		name = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(name, "\ufeff")))
		if !slices.Contains(Columns, name) {
			errs = append(errs, fmt.Errorf("benchmarks, line 1: column %q: must be one of %s", name, strings.Join(Columns, ",")))
		}
		at[name] = i
	}
	for _, name := range []string{"source", "vendor", "metric", "stat", "value", "unit"} {
		if _, ok := at[name]; !ok {
			errs = append(errs, fmt.Errorf("benchmarks, line 1: there is no column %s", name))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	var out []Benchmark
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return out, errors.Join(errs...)
		}
		if err != nil {
			return nil, fmt.Errorf("benchmarks: %w", err)
		}
		line, _ := c.FieldPos(0)
		cell := func(name string) string {
			if i, ok := at[name]; ok && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		b, err := benchmarkOf(cell)
		if err != nil {
			errs = append(errs, fmt.Errorf("benchmarks, line %d: %w", line, err))
			continue
		}
		out = append(out, b)
	}
}

func benchmarkOf(cell func(string) string) (Benchmark, error) {
	b := Benchmark{
		Source: cell("source"), CapturedAt: cell("captured_at"), Vendor: cell("vendor"), Model: cell("model"), Metric: strings.ToLower(cell("metric")),
		Stat: strings.ToLower(cell("stat")), Unit: strings.ToLower(cell("unit")), Window: cell("window"), Region: cell("region"), URL: cell("url"),
	}
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	number := func(name string) *float64 {
		s := cell(name)
		if s == "" {
			return nil
		}
		v, err := strconv.ParseFloat(s, 64)
		bad(err == nil && v >= 0 && !math.IsInf(v, 0) && !math.IsNaN(v), "%s %q: must be a number of 0 or more", name, s)
		return &v
	}
	v := number("value")
	bad(v != nil, "value: is empty")
	if v != nil {
		b.Value = *v
	}
	b.InputTokens, b.OutputTokens, b.Concurrency, b.Samples = number("input_tokens"), number("output_tokens"), number("concurrency"), number("samples")
	bad(b.Source != "", "source: is empty")
	bad(b.Vendor != "", "vendor: is empty")
	units, ok := benchMetrics[b.Metric]
	bad(ok, "metric %q: must be one of ttft, e2e, tpot, throughput, success_rate", b.Metric)
	bad(!ok || slices.Contains(units, b.Unit), "unit %q: of %s must be one of %s", b.Unit, b.Metric, strings.Join(units, ", "))
	bad(slices.Contains(benchStats, b.Stat), "stat %q: must be one of %s", b.Stat, strings.Join(benchStats, ", "))
	if b.CapturedAt != "" {
		_, err := time.Parse(time.DateOnly, b.CapturedAt)
		bad(err == nil, "captured_at %q: must be a date such as 2026-07-10", b.CapturedAt)
	}
	return b, errors.Join(errs...)
}

// row is the benchmark as the CSV has it.
func (b *Benchmark) row() []string {
	n := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'f', -1, 64)
	}
	return []string{b.Source, b.CapturedAt, b.Vendor, b.Model, b.Metric, b.Stat, n(&b.Value), b.Unit, n(b.InputTokens), n(b.OutputTokens), n(b.Concurrency), b.Window, n(b.Samples), b.Region, b.URL}
}

// same says whether two rows are the same figure, captured at different times or not.
func (b *Benchmark) same(o *Benchmark) bool {
	x, y := b.row(), o.row()
	for i, name := range Columns {
		switch name {
		case "value", "unit", "captured_at", "samples", "url":
			continue
		}
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// PublishedOf is what was published of a vendor: imported rows of it, and its
// configuration's own.
func PublishedOf(all []Benchmark, vc *config.Vendor, model string) []Benchmark {
	var out []Benchmark
	for _, b := range all {
		if b.Vendor == vc.Name {
			out = append(out, b)
		}
	}
	if p := vc.Published; p.P90FirstToken > 0 {
		out = append(out, Benchmark{Source: or(p.Source, "configuration"), Vendor: vc.Name, Metric: "ttft", Stat: "p90", Value: p.P90FirstToken.Seconds() * 1e3, Unit: "ms"})
	}
	return out
}

// Comparison is a published figure beside our own of the same statistic. Our P99 stands
// apart: no P90 says anything of it.
type Comparison struct {
	Published   Benchmark `json:"published"`
	Value       float64   `json:"value"` // in ms, tok/s or as a ratio
	Concurrency int       `json:"concurrency"`
	Ours        *float64  `json:"ours"` // the same statistic; null: not measured
	OursN       int       `json:"ours_n"`
	OursP99     *float64  `json:"ours_p99"`
	Ratio       *float64  `json:"ratio"` // ours / theirs
	// GuessP99 is what their P99 would be if their tail were shaped as ours is: lognormal,
	// P99 = P90 * e^(1.045 s), s = ln(P90/P50)/1.2816 of our figures.
	GuessP99 *float64 `json:"guessed_p99"`
	Warnings []string `json:"warnings"`
}

// Publish holds a run against what was published of its vendor.
func Publish(run *RunReport, published []Benchmark) []Comparison {
	out := []Comparison{}
	for _, b := range published {
		out = append(out, compared(run, b))
	}
	return out
}

const (
	sizeApart = 0.25
	oldAfter  = 90 * 24 * time.Hour
)

func compared(run *RunReport, b Benchmark) Comparison {
	c := Comparison{Published: b, Value: b.Value, Warnings: []string{}}
	if b.Unit == "s" {
		c.Value *= 1e3
	}
	warn := func(format string, args ...any) { c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...)) }
	if b.Model != "" && !strings.EqualFold(b.Model, run.Model) {
		warn("model: theirs is %s, ours %s", b.Model, run.Model)
	}
	l := nearest(run, b.Concurrency)
	if l == nil {
		warn("nothing of ours was measured")
		return c
	}
	c.Concurrency = l.Concurrency
	switch {
	case b.Concurrency == nil:
		warn("concurrency: theirs is not known, ours %d", l.Concurrency)
	case float64(l.Concurrency) != *b.Concurrency:
		warn("concurrency: theirs is %g, ours %d", *b.Concurrency, l.Concurrency)
	}
	apart := func(what string, theirs *float64, ours float64) {
		switch {
		case theirs == nil:
			warn("%s: theirs are not known, ours %.0f", what, ours)
		case ours > 0 && math.Abs(*theirs/ours-1) > sizeApart:
			warn("%s: theirs are %g, ours %.0f", what, *theirs, ours)
		}
	}
	apart("input tokens", b.InputTokens, l.Tokens.MeanIn)
	if b.Metric != "ttft" {
		apart("output tokens", b.OutputTokens, l.Tokens.MeanOut)
	}
	if b.Region != "" {
		warn("region: theirs is %s, ours is where this ran", b.Region)
	}
	if at, err := time.Parse(time.DateOnly, b.CapturedAt); err == nil && time.Since(at) > oldAfter {
		warn("theirs is of %s", b.CapturedAt)
	}
	if l.Verdict != OK {
		warn("ours is %s: %s", l.Verdict, l.Reason)
	}
	c.hold(l)
	return c
}

// hold fills in our own figures of a level.
func (c *Comparison) hold(l *Level) {
	var q *Quantiles
	switch c.Published.Metric {
	case "ttft":
		q = &l.FirstToken
	case "e2e":
		q = &l.Total
	case "tpot":
		q = &l.PerToken
	case "throughput":
		c.Ours, c.OursN = l.StreamTPS, l.PerToken.N
		if c.Published.Stat != "p50" {
			c.Warnings = append(c.Warnings, "metric: ours is 1000 / P50 of the time per token")
		}
	case "success_rate":
		if l.Requests > 0 {
			c.Ours, c.OursN = figure(float64(l.N)/float64(l.Requests)), l.Requests
		}
	}
	if q != nil {
		c.Ours, c.OursN, c.OursP99 = q.stat(c.Published.Stat), q.N, q.P99
		if c.Ours == nil {
			c.Warnings = append(c.Warnings, fmt.Sprintf("metric: there is no %s of %d samples of ours", c.Published.Stat, q.N))
		}
		if c.Published.Stat == "p90" && q.P50 != nil && q.P90 != nil && *q.P50 > 0 {
			c.GuessP99 = figure(c.Value * math.Exp(1.045*math.Log(*q.P90 / *q.P50)/1.2816))
		}
	}
	if c.Ours != nil && c.Value > 0 {
		c.Ratio = figure(*c.Ours / c.Value)
	}
}

// stat is one of the statistics that are published.
func (q *Quantiles) stat(name string) *float64 {
	switch name {
	case "p50":
		return q.P50
	case "p90":
		return q.P90
	case "p95":
		return q.P95
	case "p99":
		return q.P99
	case "mean":
		return q.Mean
	}
	return nil
}

// nearest is the closed loop's level whose concurrency is nearest to a published one,
// the first level where that is not known.
func nearest(run *RunReport, concurrency *float64) *Level {
	var best *Level
	for i := range run.Levels {
		l := &run.Levels[i]
		if l.N == 0 || l.Arrivals != ClosedLoop && best != nil {
			continue
		}
		if best == nil || concurrency != nil && math.Abs(float64(l.Concurrency)-*concurrency) < math.Abs(float64(best.Concurrency)-*concurrency) {
			best = l
		}
	}
	return best
}

// Gap is how far the tail is from P90 at one concurrency.
type Gap struct {
	Concurrency int      `json:"concurrency"`
	FirstToken  *float64 `json:"first_token"` // P99/P90
	Total       *float64 `json:"total"`
}

// gaps is P99/P90 by concurrency.
func (run *RunReport) gaps() []Gap {
	out := []Gap{}
	for i := range run.Levels {
		l := &run.Levels[i]
		if l.Arrivals != ClosedLoop {
			continue
		}
		g := Gap{Concurrency: l.Concurrency}
		for _, x := range []struct {
			q    *Quantiles
			into **float64
		}{{&l.FirstToken, &g.FirstToken}, {&l.Total, &g.Total}} {
			if x.q.P99 != nil && *x.q.P90 > 0 {
				*x.into = figure(*x.q.P99 / *x.q.P90)
			}
		}
		if g.FirstToken != nil || g.Total != nil {
			out = append(out, g)
		}
	}
	return out
}

package stress

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// JSON writes the report as one document.
func (rep *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(rep)
}

// CSV writes a row for each level.
func (rep *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	head := []string{"id", "vendor", "model", "simulated", "arrivals", "concurrency", "rate", "verdict", "window_s", "requests", "n", "dropped", "in_flight", "rps", "tokens_per_s", "goodput", "client_cpu", "connections_reused", "cost"}
	metrics := []string{"first_token_ms", "first_answer_ms", "per_token_ms", "chunk_gap_ms", "total_ms", "first_token_service_ms", "total_service_ms", "schedule_lag_ms"}
	for _, m := range metrics {
		for _, q := range []string{"p50", "p90", "p95", "p99", "p99_low", "p99_high", "max"} {
			head = append(head, m+"_"+q)
		}
	}
	head = append(head, "errors", "reason")
	_ = c.Write(head) // its error is Error's
	for i := range rep.Runs {
		run := &rep.Runs[i]
		levels := slices.Clone(run.Levels)
		if run.AtLimit != nil {
			levels = append(levels, *run.AtLimit)
		}
		for k := range levels {
			_ = c.Write(rep.row(run, &levels[k]))
		}
	}
	c.Flush()
	return c.Error()
}

func (rep *Report) row(run *RunReport, l *Level) []string {
	row := []string{
		rep.ID, cell(run.Vendor), cell(run.Model), fmt.Sprint(run.Simulated), l.Arrivals, l.concurrency(), raw(l.Rate), l.Verdict, raw(&l.WindowS), fmt.Sprint(l.Requests), fmt.Sprint(l.N),
		fmt.Sprint(l.Dropped), raw(&l.InFlight), raw(&l.RPS), raw(&l.TokensPS), raw(l.Goodput), raw(l.ClientCPU), raw(l.Reused), raw(l.Cost),
	}
	for _, q := range []*Quantiles{&l.FirstToken, &l.FirstAnswer, &l.PerToken, &l.ChunkGap, &l.Total, &l.FirstService, &l.TotalService, &l.Lag} {
		low, high := "", ""
		if q.P99CI != nil {
			low, high = raw(&q.P99CI[0]), raw(&q.P99CI[1])
		}
		row = append(row, raw(q.P50), raw(q.P90), raw(q.P95), raw(q.P99), low, high, raw(q.Max))
	}
	var failed []string
	for _, name := range slices.Sorted(maps.Keys(l.Errors)) {
		failed = append(failed, fmt.Sprintf("%s=%d", name, l.Errors[name]))
	}
	return append(row, strings.Join(failed, " "), cell(l.Reason))
}

func raw(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.6g", *v)
}

// cell keeps a spreadsheet from reading a text as a formula.
func cell(s string) string {
	if s != "" && (s[0] == '=' || s[0] == '+' || s[0] == '-' || s[0] == '@') {
		return "'" + s
	}
	return s
}

// HGRM calls write for each vendor's levels and metrics with a name such as
// lanyun-c16-closed-total.hgrm and the percentile distribution in HdrHistogram's text
// format, in ms.
func (rep *Report) HGRM(write func(name string, distribution func(io.Writer) error) error) error {
	for i := range rep.Runs {
		run := &rep.Runs[i]
		for k := range run.Levels {
			l := &run.Levels[k]
			for _, metric := range slices.Sorted(maps.Keys(l.Histograms)) {
				h, err := hdr.Decode([]byte(l.Histograms[metric]))
				if err != nil {
					return fmt.Errorf("histogram %s of %s: %w", metric, run.Vendor, err)
				}
				if h.TotalCount() == 0 {
					continue
				}
				at := fmt.Sprintf("c%d", l.Concurrency)
				if l.Concurrency == 0 {
					at = fmt.Sprintf("r%g", *l.Rate)
				}
				name := fmt.Sprintf("%s-%s-%s-%s.hgrm", run.Vendor, at, l.Arrivals, metric)
				err = write(name, func(w io.Writer) error {
					_, err := h.PercentilesPrint(w, 5, 1000)
					return err
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

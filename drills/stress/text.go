package stress

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Text writes the report for a terminal, each table with how its figures are computed.
func (rep *Report) Text(w io.Writer) error {
	t := &text{w: w}
	p := &rep.Plan
	t.line("stress %s  %s  %s", rep.ID, rep.Started.Local().Format("2006-01-02 15:04"), rep.what())
	if rep.Stopped != "" {
		t.line("STOPPED EARLY: %s. What follows was measured until then.", rep.Stopped)
	}
	if p.Order != "A" {
		t.line("blocks of each level, turn by turn: %s (the next level in reverse)", p.Order)
	}
	for i := range rep.Runs {
		t.run(&rep.Runs[i], p)
	}
	if rep.Cost != nil {
		t.line("\ncost: %.4f %s of answers that were given", *rep.Cost, rep.Currency)
	}
	t.formulas(rep)
	return t.err
}

// what is the plan in a line.
func (rep *Report) what() string {
	p := &rep.Plan
	load := fmt.Sprintf("at %v requests/s", p.Rates)
	if len(p.Rates) == 0 {
		load = fmt.Sprintf("%v at once", p.Concurrency)
		if p.Arrivals != ClosedLoop {
			load += ", and " + p.Arrivals + " arrivals at the same rate"
		}
	}
	return fmt.Sprintf("%s, %gs each, %s, %s cache, at most %d tokens, seed %d", load, p.DurationS, p.Kind, p.Cache, p.MaxTokens, p.Seed)
}

// text writes lines and remembers the first error.
type text struct {
	w   io.Writer
	err error
}

func (t *text) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// table writes rows in columns.
func (t *text) table(rows [][]string) {
	if t.err != nil || len(rows) < 2 {
		return
	}
	tw := tabwriter.NewWriter(t.w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, r := range rows {
		_, _ = fmt.Fprintln(tw, strings.Join(r, "\t")+"\t")
	}
	t.err = tw.Flush()
}

func (t *text) run(run *RunReport, p *PlanInfo) {
	name := run.Vendor
	if run.Label != "" && run.Label != run.Vendor {
		name += " " + run.Label
	}
	mark := ""
	if run.Simulated {
		mark = "  SIMULATED"
	}
	t.line("\n%s  %s%s  %s", name, run.Model, mark, run.Verdict)
	if run.Reason != "" {
		t.line("  %s", run.Reason)
	}
	if run.Stopped != "" {
		t.line("  its ladder ended early: %s", run.Stopped)
	}
	if run.Probe != nil {
		t.line("  probe: %s (%d requests, %.0f s; the ladder's top may take %.0f/s)", run.Probe.Said, run.Probe.Requests, run.Probe.Seconds, run.Probe.NeededRPS)
	}
	if run.Limiter != nil {
		for _, e := range run.Limiter.Evidence {
			t.line("    %s", e)
		}
		t.line("  %s", run.Ask)
	}
	t.levels(run.Levels)
	if run.AtLimit != nil {
		t.line("\n  at 0.9 of the limit: the engine")
		t.levels([]Level{*run.AtLimit})
	}
	t.degradation(run.Degradation, "degradation")
	t.degradation(run.Clean, "degradation below the limit")
	t.published(run)
	if run.SLOMet != nil && (p.SLO.P90ms != nil || p.SLO.P99ms != nil) {
		word := "missed"
		if *run.SLOMet {
			word = "met"
		}
		t.line("  SLO %s: first token of 90 %% within %s ms and of 99 %% within %s ms, at every level; failed requests count as late", word, num(p.SLO.P90ms), num(p.SLO.P99ms))
	}
	for _, n := range run.Notes {
		t.line("  note: %s", n)
	}
}

// levels are two tables: latencies, and what was got through.
func (t *text) levels(levels []Level) {
	if len(levels) == 0 {
		return
	}
	t.line("\n  %s", latencyTitle)
	t.table(latencyRows(levels))
	t.line("")
	t.table(throughputRows(levels))
}

const latencyTitle = "latency in ms, from the moment a request was due"

// latencyRows is the table of latencies, its head first.
func latencyRows(levels []Level) [][]string {
	rows := [][]string{{"", "C", "n", "first token P50", "P90", "P99", "answer P50", "P90", "P99", "95 % of P99", "max", "per token P50", "P99", "gap P99"}}
	for i := range levels {
		l := &levels[i]
		rows = append(rows, []string{
			l.short(), l.concurrency(), fmt.Sprint(l.N),
			num(l.FirstToken.P50), num(l.FirstToken.P90), l.FirstToken.p99(), num(l.Total.P50), num(l.Total.P90), l.Total.p99(), ci(l.Total.P99CI), num(l.Total.Max),
			num(l.PerToken.P50), l.PerToken.p99(), num(l.ChunkGap.P99),
		})
	}
	return rows
}

// throughputRows is the table of what was got through, its head first.
func throughputRows(levels []Level) [][]string {
	rows := [][]string{{"", "C", "in flight", "rps", "tokens/s", "goodput", "failed", "refused", "lag P99", "CPU", "reused", "verdict", ""}}
	for i := range levels {
		l := &levels[i]
		rows = append(rows, []string{
			l.short(), l.concurrency(), fmt.Sprintf("%.1f", l.InFlight), fmt.Sprintf("%.2f", l.RPS), fmt.Sprintf("%.0f", l.TokensPS), percent(l.Goodput),
			fmt.Sprint(l.Requests - l.N - l.refused()), fmt.Sprint(l.refused()), l.Lag.tail(), percent(l.ClientCPU), percent(l.Reused), l.Verdict, l.note(),
		})
	}
	return rows
}

// short is how a level's requests arrived.
func (l *Level) short() string {
	if l.Arrivals == ClosedLoop {
		return "closed"
	}
	return fmt.Sprintf("%s %.1f/s", l.Arrivals, *l.Rate)
}

func (l *Level) concurrency() string {
	if l.Concurrency == 0 {
		return "-"
	}
	return fmt.Sprint(l.Concurrency)
}

// note is what a level's verdict says, and what failed.
func (l *Level) note() string {
	var parts []string
	if l.Reason != "" {
		parts = append(parts, l.Reason)
	}
	for _, why := range slices.Sorted(maps.Keys(l.Reasons)) {
		parts = append(parts, fmt.Sprintf("%s %d", why, l.Reasons[why]))
	}
	if l.Partial {
		parts = append(parts, "cut short")
	}
	return strings.Join(parts, "; ")
}

// p99 is the P99, or why there is none; * of one that is only indicative.
func (q *Quantiles) p99() string {
	switch {
	case q.N == 0:
		return "-"
	case q.P99 == nil:
		return fmt.Sprintf("n/a (n=%d)", q.N)
	case q.N < indicative:
		return num(q.P99) + "*"
	}
	return num(q.P99)
}

// tail is the P99, or of few samples the largest.
func (q *Quantiles) tail() string {
	if q.P99 == nil {
		return num(q.Max)
	}
	return num(q.P99)
}

// indicative is the number of samples below which a P99 is.
const indicative = 1000

func (t *text) degradation(d *Degradation, title string) {
	if d == nil {
		return
	}
	if d.Withheld != "" {
		t.line("\n  %s %d -> %d: withheld, it %s", title, d.From, d.To, d.Withheld)
		if text := d.struck(); text != "" {
			t.line("    ~ %s ~", text)
		}
		return
	}
	t.line("\n  %s %d -> %d: how many times (95 %% interval)", title, d.From, d.To)
	t.table(d.rows())
	t.line("    %s", d.through())
	if d.Knee != nil {
		t.line("    knee at %d: %s", *d.Knee, d.KneeWhy)
	}
}

// through is what became of the throughput.
func (d *Degradation) through() string {
	return fmt.Sprintf("throughput %s %s   efficiency %s %s   tokens/s of one stream /%s",
		times(d.Throughput), d.ci("throughput"), plainTimes(d.Efficiency), d.ci("efficiency"), times(d.Stream))
}

// rows is the table of latencies, its head first.
func (d *Degradation) rows() [][]string {
	rows := [][]string{{"", "P50", "", "P90", "", "P99", ""}}
	for _, m := range []struct {
		name string
		key  string
		v    [3]*float64
	}{
		{"first token", "first_token", [3]*float64{d.FirstP50, d.FirstP90, d.FirstP99}},
		{"per token", "per_token", [3]*float64{d.PerTokenP50, d.PerTokenP90, d.PerTokenP99}},
		{"whole answer", "total", [3]*float64{d.TotalP50, d.TotalP90, d.TotalP99}},
	} {
		row := []string{m.name}
		for i, q := range []string{"p50", "p90", "p99"} {
			row = append(row, times(m.v[i]), d.ci(m.key+"_"+q))
		}
		rows = append(rows, row)
	}
	return rows
}

// struck is what was withheld, struck out.
func (d *Degradation) struck() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(d.Struck)) {
		out = append(out, fmt.Sprintf("%s %.2f", name, d.Struck[name]))
	}
	return strings.Join(out, "  ")
}

func (d *Degradation) ci(name string) string {
	v, ok := d.CI[name]
	if !ok {
		return ""
	}
	return fmt.Sprintf("[%.2f, %.2f]", v[0], v[1])
}

// formulas is how the tables' figures are computed.
func (t *text) formulas(rep *Report) {
	t.line("\nhow it is computed")
	for _, name := range slices.Sorted(maps.Keys(rep.Formulas)) {
		t.line("  %-23s %s", name, rep.Formulas[name])
	}
	t.line("  * a P99 of 300 to 999 samples is indicative; below 300 it is not given")
}

// num is ms with three digits or so; - where there is none.
func num(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case *v >= 100:
		return fmt.Sprintf("%.0f", *v)
	case *v >= 10:
		return fmt.Sprintf("%.1f", *v)
	}
	return fmt.Sprintf("%.2f", *v)
}

func ci(v *[2]float64) string {
	if v == nil {
		return "-"
	}
	return num(&v[0]) + "-" + num(&v[1])
}

func percent(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", *v*100)
}

func times(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2fx", *v)
}

func plainTimes(v *float64) string { return strings.TrimSuffix(times(v), "x") }

const publishedTitle = "published, and our own of the same statistic (our P99 is another figure: a P90 hides it)"

// published is the tables of published figures beside our own, and of the tail that
// they do not tell.
func (t *text) published(run *RunReport) {
	if len(run.Published) > 0 {
		t.line("\n  %s", publishedTitle)
		t.table(publishedRows(run.Published))
		for i := range run.Published {
			for _, w := range run.Published[i].Warnings {
				t.line("    %s: %s", run.Published[i].Published.Source, w)
			}
		}
	}
	if len(run.Gaps) > 0 {
		t.line("\n  how far P99 is from P90 (P99/P90), by concurrency")
		t.table(gapRows(run.Gaps))
	}
}

func publishedRows(all []Comparison) [][]string {
	rows := [][]string{{"source", "metric", "stat", "theirs", "ours", "ours/theirs", "at C", "our P99", "their P99, guessed"}}
	for i := range all {
		c := &all[i]
		rows = append(rows, []string{c.Published.Source, c.Published.Metric, c.Published.Stat, num(&c.Value), num(c.Ours), times(c.Ratio), fmt.Sprint(c.Concurrency), num(c.OursP99), num(c.GuessP99)})
	}
	return rows
}

func gapRows(gaps []Gap) [][]string {
	rows := [][]string{{"C"}, {"first token"}, {"whole answer"}}
	for _, g := range gaps {
		rows[0] = append(rows[0], fmt.Sprint(g.Concurrency))
		rows[1] = append(rows[1], times(g.FirstToken))
		rows[2] = append(rows[2], times(g.Total))
	}
	return rows
}

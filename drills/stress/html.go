package stress

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"baton/drills/chart"
)

//go:embed page.html
var pageSource string

var page = template.Must(template.New("page").Parse(pageSource))

// pageView is what the page's template sees.
type pageView struct {
	*Report
	Style  template.CSS
	What   string
	Charts []template.HTML
	Runs   []runView
}

type runView struct {
	*RunReport
	Tables []tableView
	Over   []template.HTML // charts over time
}

type tableView struct {
	Title, Said, Struck string
	Rows                [][]string
}

// HTML writes the report as one page that needs no script, no other file and no network.
func (rep *Report) HTML(w io.Writer) error {
	v := pageView{
		Report: rep, What: rep.what(), Charts: rep.charts(),
		Style: template.CSS(chart.CSS), //nolint:gosec // a constant of ours
	}
	for i := range rep.Runs {
		run := &rep.Runs[i]
		v.Runs = append(v.Runs, runView{RunReport: run, Tables: run.tables(), Over: run.over()})
	}
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("make the page of %s: %w", rep.ID, err)
	}
	return nil
}

// tables are the run's tables.
func (run *RunReport) tables() []tableView {
	var out []tableView
	add := func(title string, rows [][]string) {
		if len(rows) > 1 {
			out = append(out, tableView{Title: title, Rows: rows})
		}
	}
	levels := func(levels []Level, where string) {
		add(latencyTitle+where, latencyRows(levels))
		add("throughput"+where, throughputRows(levels))
	}
	levels(run.Levels, "")
	if run.AtLimit != nil {
		levels([]Level{*run.AtLimit}, ", at 0.9 of the limit: the engine")
	}
	for _, d := range []struct {
		d     *Degradation
		title string
	}{{run.Degradation, "degradation"}, {run.Clean, "degradation below the limit"}} {
		switch {
		case d.d == nil:
		case d.d.Withheld != "":
			out = append(out, tableView{Title: fmt.Sprintf("%s %d → %d: withheld, it %s", d.title, d.d.From, d.d.To, d.d.Withheld), Struck: d.d.struck()})
		default:
			t := tableView{Title: fmt.Sprintf("%s %d → %d: how many times (95 %% interval)", d.title, d.d.From, d.d.To), Said: d.d.through(), Rows: d.d.rows()}
			if d.d.Knee != nil {
				t.Said += fmt.Sprintf("; knee at %d: %s", *d.d.Knee, d.d.KneeWhy)
			}
			out = append(out, t)
		}
	}
	add(publishedTitle, publishedRows(run.Published))
	if len(run.Gaps) > 0 {
		add("how far P99 is from P90 (P99/P90), by concurrency", gapRows(run.Gaps))
	}
	return out
}

// closed are the levels of the closed loop.
func (run *RunReport) closed() []*Level {
	var out []*Level
	for i := range run.Levels {
		if l := &run.Levels[i]; l.Arrivals == ClosedLoop {
			out = append(out, l)
		}
	}
	return out
}

var (
	byConcurrency = chart.Axis{Label: "concurrent requests", Scale: chart.Log}
	byTime        = chart.Axis{Label: "of the window, m:ss", Scale: chart.Time}
	inMs          = chart.Axis{Label: "ms", Zero: true}
)

// charts are the figures of all vendors side by side.
func (rep *Report) charts() []template.HTML {
	latency := func(title string, of func(*Level) *Quantiles) chart.Lines {
		c := chart.Lines{Title: title, X: byConcurrency, Y: inMs}
		for i := range rep.Runs {
			for _, q := range []struct {
				name   string
				at     float64
				stroke chart.Stroke
			}{{"P50", 0.5, chart.Dotted}, {"P90", 0.9, chart.Dashed}, {"P99", 0.99, chart.Solid}} {
				s := chart.Series{Name: rep.Runs[i].Vendor + " " + q.name, Ink: i%6 + 1, Stroke: q.stroke}
				for _, l := range rep.Runs[i].closed() {
					s.Points = append(s.Points, chart.XY{X: float64(l.Concurrency), Y: chart.Value(of(l).at(q.at))})
				}
				c.Series = append(c.Series, s)
			}
		}
		return c
	}
	through := chart.Lines{Title: "Throughput, answers a second", X: byConcurrency, Y: chart.Axis{Label: "1/s", Zero: true}}
	curve := chart.Percentiles{Title: "Percentiles of whole answers at the last level", Y: inMs}
	some := false
	for i := range rep.Runs {
		run := &rep.Runs[i]
		s := chart.Series{Name: run.Vendor, Ink: i%6 + 1}
		for _, l := range run.closed() {
			s.Points = append(s.Points, chart.XY{X: float64(l.Concurrency), Y: l.RPS})
			some = true
		}
		through.Series = append(through.Series, s)
		if n := len(run.Levels); n > 0 {
			l := &run.Levels[n-1]
			curve.Series = append(curve.Series, chart.Series{Name: run.Vendor + ", " + l.where(), Ink: i%6 + 1, Points: percentileCurve(l)})
		}
	}
	var out []template.HTML
	draw := func(svg string) {
		out = append(out, template.HTML(svg)) //nolint:gosec // package chart escapes what it is given
	}
	if some {
		draw(latency("First token", func(l *Level) *Quantiles { return &l.FirstToken }).SVG())
		draw(latency("Whole answer", func(l *Level) *Quantiles { return &l.Total }).SVG())
		draw(through.SVG())
	}
	if len(curve.Series) > 0 {
		draw(curve.SVG())
	}
	return out
}

// percentileCurve is the distribution of a level's whole answers in ms, as far as its
// samples reach.
func percentileCurve(l *Level) []chart.XY {
	h, err := hdr.Decode([]byte(l.Histograms["total"]))
	if err != nil || h.TotalCount() == 0 {
		return nil
	}
	var out []chart.XY
	for _, p := range []float64{0, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9, 99.99} {
		if (1-p/100)*float64(h.TotalCount()) < 1 {
			break // beyond the slowest sample
		}
		out = append(out, chart.XY{X: p, Y: float64(h.ValueAtQuantile(p)) / 1e3})
	}
	return out
}

// over is requests a second and refusals over the time of all levels, one after the
// other.
func (run *RunReport) over() []template.HTML {
	answered, refused, failed := chart.Series{Name: "answered"}, chart.Series{Name: "refused", Stroke: chart.Dashed}, chart.Series{Name: "failed", Stroke: chart.Dotted}
	var marks []chart.Mark
	t := 0.0
	for i := range run.Levels {
		l := &run.Levels[i]
		if len(l.Seconds) == 0 {
			continue
		}
		marks = append(marks, chart.Mark{X: t, Label: l.mark()})
		for _, s := range l.Seconds {
			answered.Points = append(answered.Points, chart.XY{X: t, Y: float64(s.OK)})
			refused.Points = append(refused.Points, chart.XY{X: t, Y: float64(s.Refused)})
			failed.Points = append(failed.Points, chart.XY{X: t, Y: float64(s.Failed)})
			t++
		}
	}
	if len(marks) == 0 {
		return nil
	}
	c := chart.Lines{
		Title: run.Vendor + ": requests a second, level after level", X: byTime, Y: chart.Axis{Label: "1/s", Zero: true},
		Series: []chart.Series{answered, refused, failed}, Marks: marks, Size: chart.Size{Height: 220},
	}
	if run.Limiter != nil && run.Limiter.Type == "requests" && run.Limiter.Unit == "1/s" {
		c.Limits = []chart.Limit{{Y: run.Limiter.Value, Label: "limit"}}
	}
	return []template.HTML{template.HTML(c.SVG())} //nolint:gosec // package chart escapes what it is given
}

// mark is a level's name where there is little room.
func (l *Level) mark() string {
	if l.Arrivals == ClosedLoop {
		return fmt.Sprint(l.Concurrency)
	}
	return fmt.Sprintf("%.0f/s", *l.Rate)
}

// Package page makes the HTML report of a drill or an incident: one file that
// needs no script, no other file and no network, reads on a dark screen and
// prints on paper.
//
// Use: [Render] takes a report and returns the whole document. It may be called
// while the drill runs.
//
//	doc, err := page.Render(report)
//
// The report holds everything that is shown; the package reads no files, measures
// nothing and judges nothing. The earlier runs are the report's Comparison.
package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"

	"baton/drills/chart"
	"baton/engine/control"
)

//go:embed page.html
var source string

var parsed = template.Must(template.New("page").Funcs(template.FuncMap{
	"clock": clock, "offset": offset, "stamp": stamp, "ms": ms, "meaning": meaning, "named": named, "thousands": thousands, "met": met, "fault": fault, "money": money, "seconds": seconds,
}).Parse(source))

// view is what the template sees.
type view struct {
	*control.Report
	Style    template.CSS
	Heading  string
	Facts    []fact
	Charts   []template.HTML
	Earlier  template.HTML // chart of cutovers; "": nothing to compare with
	Rows     []latencyRow
	Unlisted int64 // requests that failed and are in no list
	Figures  []Figure
	Clock    *float64 // what it is judged by, in seconds; nil: not proven
	Word     string   // what that is called
	Tiles    []fact
	Spike    bool
}

type fact struct{ Name, Value string }

type latencyRow struct {
	Who, When string
	control.Latency
}

// Render makes the page of a report.
func Render(r *control.Report) ([]byte, error) {
	v := view{
		Report: r, Style: template.CSS(chart.CSS), //nolint:gosec // a constant of ours
		Heading: heading(r), Facts: facts(r), Earlier: earlier(r), Rows: rows(r),
		Unlisted: r.Requests.Failed - int64(len(r.Requests.Lost)), Figures: Figures(r),
		Tiles: tiles(r), Spike: isSpike(r),
	}
	v.Clock, v.Word = headline(r)
	for _, svg := range charts(r) {
		v.Charts = append(v.Charts, template.HTML(svg)) //nolint:gosec // package chart escapes what it is given
	}
	var b bytes.Buffer
	if err := parsed.Execute(&b, v); err != nil {
		return nil, fmt.Errorf("make the page of %s: %w", r.ID, err)
	}
	return b.Bytes(), nil
}

func heading(r *control.Report) string {
	kind := "Drill"
	if r.Incident {
		kind = "Incident"
	}
	if r.Vendor == "" { // none was hit
		return kind + ": " + r.Scenario
	}
	return fmt.Sprintf("%s: %s, %s", kind, r.Scenario, r.Vendor)
}

func facts(r *control.Report) []fact {
	out := []fact{{"id", r.ID}}
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{name, value})
		}
	}
	if !r.Incident || r.Fault.Kind != "" {
		add("fault", fault(&r.Fault))
	}
	add("judged by", r.Judge)
	add("who", r.Who)
	add("environment", r.Environment)
	add("started", stamp(r.Started))
	if r.Ended != nil {
		add("ended", stamp(*r.Ended))
	}
	add("note", r.Note)
	add("ticket", r.Ticket)
	add("configuration", r.ConfigDigest)
	for _, k := range slices.Sorted(maps.Keys(r.Versions)) {
		add("version of "+k, r.Versions[k])
	}
	add("recording", r.Recording)
	return out
}

// rows are the first tokens of all clients, then by vendor.
func rows(r *control.Report) []latencyRow {
	var out []latencyRow
	for _, when := range []string{"before", "during", "after"} {
		if l, ok := r.Latency[when]; ok {
			out = append(out, latencyRow{"clients", when, l})
		}
	}
	for _, v := range slices.Sorted(maps.Keys(r.Vendors)) {
		p := r.Vendors[v]
		out = append(out, latencyRow{v, "before", p.Before}, latencyRow{v, "during", p.During}, latencyRow{v, "after", p.After})
	}
	return out
}

// headline is the figure that the scenario is judged by, and what it is called; nil:
// not proven.
func headline(r *control.Report) (figure *float64, word string) {
	switch r.Judge {
	case "contained":
		word = "contained after"
	case "recovered":
		word = "served well again after"
	default:
		return r.CutoverS, "cutover"
	}
	if v, is := r.Extra[r.Judge+"_s"]; is {
		figure = &v
	}
	return figure, word
}

// tiles are what is seen at one glance beside the headline.
func tiles(r *control.Report) []fact {
	var out []fact
	q := &r.Requests
	switch {
	case isSpike(r):
		out = append(out, fact{"requests sent", thousands(q.Total)}, fact{"answered", thousands(q.OK)}, fact{"failed", thousands(q.Failed)})
	case q.Total > 0:
		out = append(out, fact{"of " + thousands(q.Total) + " requests lost", thousands(q.Failed)}, fact{"seconds in which clients were hurt", fmt.Sprintf("%g", r.HurtS)})
	}
	for _, p := range r.Phases {
		if p.Name == control.PhaseDetected {
			out = append(out, fact{"until it was noticed", clock(p.TS)})
		}
	}
	if r.FailbackS != nil {
		out = append(out, fact{"until it was back, from the restore", clock(*r.FailbackS)})
	}
	return out
}

// isSpike says whether the drill was of load and no vendor was hit.
func isSpike(r *control.Report) bool { return r.Fault.Kind == "spike" }

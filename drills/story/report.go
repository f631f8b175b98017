package story

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"baton/drills/chart"
	"baton/engine/control"
)

// Report is what was played and measured.
type Report struct {
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	Machine Machine   `json:"machine"`
	Acts    []Act     `json:"acts"`
	Kill    *Kill     `json:"kill"`
	Holds   bool      `json:"holds"`  // every act as the story says
	Reason  string    `json:"reason"` // which does not
}

// judge says whether the story holds.
func (r *Report) judge() {
	var wrong []string
	if r.Machine.TooSlow {
		wrong = append(wrong, "this machine is too slow: "+r.Machine.Note)
	}
	for i := range r.Acts {
		if a := &r.Acts[i]; !a.Holds {
			wrong = append(wrong, fmt.Sprintf("act %d: %s was wanted", i+1, a.Want))
		}
	}
	switch {
	case len(r.Acts) < len(acts) || r.Kill == nil:
		wrong = append(wrong, "it was not played to the end")
	case r.Kill.Verdict != control.Passed:
		wrong = append(wrong, "the kill: "+strings.TrimSpace(r.Kill.Verdict+" "+r.Kill.Reason))
	case r.Kill.Clients.Failed > 0:
		wrong = append(wrong, fmt.Sprintf("the kill: %d clients got an error", r.Kill.Clients.Failed))
	}
	r.Holds, r.Reason = len(wrong) == 0, strings.Join(wrong, "; ")
}

// Less is by how much the two vendors' P99 is under the silent limit's, 0-1;
// null: one of them was not measured.
func (r *Report) Less() *float64 {
	before, after := r.act("silent-limit"), r.act("two-vendors")
	if before == nil || after == nil || before.Figures.P99ms == nil || after.Figures.P99ms == nil || *before.Figures.P99ms == 0 {
		return nil
	}
	v := 1 - *after.Figures.P99ms / *before.Figures.P99ms
	return &v
}

func (r *Report) act(name string) *Act {
	for i := range r.Acts {
		if r.Acts[i].Name == name {
			return &r.Acts[i]
		}
	}
	return nil
}

// rows are the acts as a table.
func (r *Report) rows() [][]string {
	rows := [][]string{{"act", "what", "load", "n", "metric", "P50", "P90", "P99", "errors", "as told"}}
	for i := range r.Acts {
		a := &r.Acts[i]
		f := &a.Figures
		rows = append(rows, []string{fmt.Sprint(i + 1), a.Title, a.Load, fmt.Sprint(f.N), f.Metric, seconds(f.P50ms), seconds(f.P90ms), seconds(f.P99ms), percent(f), yes(a.Holds)})
	}
	if k := r.Kill; k != nil {
		f := &k.Clients
		rows = append(rows, []string{fmt.Sprint(len(acts) + 1), killTitle, arrival.said, fmt.Sprint(f.N), f.Metric, seconds(f.P50ms), seconds(f.P90ms), seconds(f.P99ms), percent(f), yes(k.Verdict == control.Passed && f.Failed == 0)})
	}
	return rows
}

// Markdown is the report as text.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The story, re-enacted %s\n\n", r.Started.Format("2006-01-02 15:04 MST"))
	fmt.Fprintf(&b, "SIMULATED vendors over real loopback sockets. %s\n\n", r.headline())
	for i, row := range r.rows() {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&b, "|%s\n", strings.Repeat(" --- |", len(row)))
		}
	}
	for _, line := range r.notes() {
		fmt.Fprintf(&b, "\n- %s", line)
	}
	b.WriteString("\n")
	return b.String()
}

// headline is the report in a sentence or two.
func (r *Report) headline() string {
	var parts []string
	if less := r.Less(); less != nil {
		parts = append(parts, fmt.Sprintf("First-token P99 went from %s to %s, %.0f %% less.", seconds(r.act("silent-limit").Figures.P99ms), seconds(r.act("two-vendors").Figures.P99ms), 100**less))
	}
	if k := r.Kill; k != nil && k.CutoverS != nil {
		parts = append(parts, fmt.Sprintf("The primary's loss was cut over in %.1f s (target %.0f s); %d of %d clients got an error.", *k.CutoverS, k.TargetS, k.Clients.Failed, k.Clients.N))
	}
	if !r.Holds {
		parts = append(parts, "NOT AS TOLD: "+r.Reason+".")
	}
	return strings.Join(parts, " ")
}

// notes are what has to be known to read the figures.
func (r *Report) notes() []string {
	m := &r.Machine
	notes := []string{
		"Latencies count from the moment a request was due, of requests that were answered, whenever that was; n counts all that were begun in the measured time. Errors are failed / n.",
		fmt.Sprintf("The machine: an unloaded vendor's median first token was %.0f ms here, %.0f ms by its model; timers were late by %.1f ms (P99). %s.", m.P50ms, m.WantP50ms, m.LateMs, strings.ToUpper(m.Note[:min(1, len(m.Note))])+m.Note[min(1, len(m.Note)):]),
	}
	for i := range r.Acts {
		if w := r.Acts[i].Figures.Words; len(w) > 0 {
			notes = append(notes, fmt.Sprintf("Act %d failed with: %s.", i+1, words(w)))
		}
	}
	return notes
}

func words(w map[string]int) string {
	keys := make([]string, 0, len(w))
	for k := range w {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s (%d)", k, w[k])
	}
	return strings.Join(keys, ", ")
}

// HTML is the report as one page that needs nothing else.
func (r *Report) HTML() string {
	groups, p50, p99 := []string{}, []chart.Bar{}, []chart.Bar{}
	add := func(name string, f *Figures) {
		groups = append(groups, name)
		p50 = append(p50, chart.Bar{Value: chart.Value(inSeconds(f.P50ms))})
		p99 = append(p99, chart.Bar{Value: chart.Value(inSeconds(f.P99ms)), Note: percent(f) + " errors"})
	}
	for i := range r.Acts {
		add(r.Acts[i].Name, &r.Acts[i].Figures)
	}
	if r.Kill != nil {
		add("killed", &r.Kill.Clients)
	}
	var b strings.Builder
	b.WriteString("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>baton: the story</title><style>" + chart.CSS +
		"body{font:15px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:var(--ink)}@media screen and (prefers-color-scheme:dark){body{background:#14181c}}table{border-collapse:collapse;font-size:13px}td,th{border-bottom:1px solid var(--grid);padding:.3rem .5rem;text-align:left;vertical-align:top}</style>")
	fmt.Fprintf(&b, "<h1>The story, re-enacted</h1><p><b>SIMULATED</b> vendors over real loopback sockets, %s.</p><p>%s</p>", html.EscapeString(r.Started.Format("2006-01-02 15:04 MST")), html.EscapeString(r.headline()))
	b.WriteString(chart.Bars{Title: "Latency by act: whole answers in the first two, first tokens after", Y: chart.Axis{Label: "s"}, Groups: groups, Sets: []chart.BarSet{{Name: "P50", Bars: p50}, {Name: "P99", Bars: p99}}}.SVG())
	b.WriteString("<table>")
	for i, row := range r.rows() {
		cell := "td"
		if i == 0 {
			cell = "th"
		}
		b.WriteString("<tr>")
		for _, c := range row {
			fmt.Fprintf(&b, "<%s>%s</%s>", cell, html.EscapeString(c), cell)
		}
		b.WriteString("</tr>")
	}
	b.WriteString("</table><ul>")
	for _, line := range r.notes() {
		fmt.Fprintf(&b, "<li>%s</li>", html.EscapeString(line))
	}
	b.WriteString("</ul></html>\n")
	return b.String()
}

func inSeconds(v *float64) *float64 {
	if v == nil {
		return nil
	}
	s := *v / 1000
	return &s
}

func seconds(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f s", *v/1000)
}

func percent(f *Figures) string {
	if f.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f %%", 100*f.Errors)
}

func yes(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

// Record is the report as the record of a drill, for the history of all drills.
func (r *Report) Record(id, who, version string) *control.Report {
	ended := r.Ended
	d := &control.Report{
		ID: id, Scenario: "story", Who: who, Environment: "DEMO", Judge: "story", Started: r.Started, Ended: &ended, Reason: r.Reason,
		Fault: control.FaultSpec{Kind: "show"}, Phases: []control.Moment{}, Hypothesis: []control.Bound{},
		Requests: control.DrillRequests{Lost: []string{}}, Latency: map[string]control.Latency{}, Series: []control.Point{}, Weights: []control.WeightsAt{},
		Exercised:    []string{"simulated vendors over loopback sockets, clients with think time and open-loop arrivals, baton's learned limit, the kill of the primary"},
		NotExercised: []string{"real vendors, real networks, real GPUs"},
		Files:        map[string]string{}, Versions: map[string]string{"baton": version}, Extra: map[string]float64{},
	}
	switch {
	case len(r.Acts) < len(acts) || r.Kill == nil:
		d.Verdict = control.Aborted
	case r.Machine.TooSlow:
		d.Verdict = control.Inconclusive
	case r.Holds:
		d.Verdict = control.Passed
	default:
		d.Verdict = control.Failed
	}
	figures := func(name string, f *Figures) {
		d.Extra[name+"_n"], d.Extra[name+"_errors"] = float64(f.N), f.Errors
		for q, v := range map[string]*float64{"p50_ms": f.P50ms, "p90_ms": f.P90ms, "p99_ms": f.P99ms} {
			if v != nil {
				d.Extra[name+"_"+q] = *v
			}
		}
	}
	for i := range r.Acts {
		a := &r.Acts[i]
		f := &a.Figures
		got := fmt.Sprintf("%s P50 %s, P90 %s, P99 %s, errors %s, n=%d; %s", f.Metric, seconds(f.P50ms), seconds(f.P90ms), seconds(f.P99ms), percent(f), f.N, a.Load)
		d.Hypothesis = append(d.Hypothesis, control.Bound{Name: fmt.Sprintf("%d %s", i+1, a.Title), Want: a.Want, Got: got, OK: a.Holds})
		figures(a.Name, f)
	}
	if k := r.Kill; k != nil {
		d.CutoverS, d.TargetS, d.Phases = k.CutoverS, k.TargetS, k.Phases
		d.Requests.Total, d.Requests.OK, d.Requests.Failed = int64(k.Clients.N), int64(k.Clients.N-k.Clients.Failed), int64(k.Clients.Failed)
		got := fmt.Sprintf("%s, %d of %d clients failed", k.Verdict, k.Clients.Failed, k.Clients.N)
		d.Hypothesis = append(d.Hypothesis, control.Bound{Name: fmt.Sprintf("%d %s", len(acts)+1, killTitle), Want: "passed, no client error", Got: got, OK: k.Verdict == control.Passed && k.Clients.Failed == 0})
		figures("killed", &k.Clients)
	}
	d.Hypothesis = append(d.Hypothesis, control.Bound{
		Name: "this machine", Want: fmt.Sprintf("an unloaded first token of %.0f ms", modelP50), Got: fmt.Sprintf("%.0f ms, timers late by %.1f ms", r.Machine.P50ms, r.Machine.LateMs), OK: !r.Machine.TooSlow,
	})
	return d
}

package drills

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"baton/drills/page"
	"baton/engine/control"
)

// markdown is the report for people.
func markdown(r *control.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Drill %s: %s\n\n**%s**", r.ID, plain(r.Scenario+" "+r.Vendor), cmp.Or(r.Verdict, "running"))
	if r.Reason != "" {
		b.WriteString(": " + plain(r.Reason))
	}
	b.WriteString("\n\n")
	if r.CutoverS != nil {
		fmt.Fprintf(&b, "Cutover **%s**, asked %s. Seconds in which clients were hurt: %g.\n\n", clock(*r.CutoverS), asks(r.BoundS, r.TargetS), r.HurtS)
	}
	b.WriteString(formula(r) + "\n\n")
	facts(&b, r)
	phases(&b, r)
	asked(&b, r)
	found(&b, r)
	latencies(&b, r)
	byVendor(&b, r)
	moves(&b, r)
	if lost := r.Requests.Lost; len(lost) > 0 {
		b.WriteString("\n## Lost requests\n\n")
		for _, id := range lost {
			b.WriteString("- `" + strings.ReplaceAll(plain(id), "`", "") + "`\n")
		}
	}
	b.WriteString("\n## What it says\n\n")
	fmt.Fprintf(&b, "Exercised: %s.\n\nNot exercised: %s.\n", strings.Join(r.Exercised, "; "), strings.Join(r.NotExercised, "; "))
	return b.String()
}

// table writes a table's head.
func table(b *strings.Builder, title string, columns ...string) {
	if title != "" {
		b.WriteString("\n## " + title + "\n\n")
	}
	row(b, columns...)
	b.WriteString(strings.Repeat("| --- ", len(columns)) + "|\n")
}

func row(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(plain(c), "|", "\\|") + " ")
	}
	b.WriteString("|\n")
}

// plain makes one line of what people or vendors wrote.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

func facts(b *strings.Builder, r *control.Report) {
	q := &r.Requests
	table(b, "", "what", "value")
	row(b, "fault", faultText(r))
	row(b, "who", r.Who)
	row(b, "environment", r.Environment)
	row(b, "started", r.Started.Format(time.RFC3339))
	if r.Ended != nil {
		row(b, "ended", r.Ended.Format(time.RFC3339))
	}
	row(b, "configuration", r.ConfigDigest)
	row(b, "requests in the fault", fmt.Sprintf("%d: %d ok, %d failed, %d failed over", q.Total, q.OK, q.Failed, q.FailedOver))
	row(b, "attempts in the fault", fmt.Sprintf("%d, streams cut %d", q.Attempts, q.CutStreams))
	if p := r.Previous; p != nil && p.CutoverS != nil {
		row(b, "last run", fmt.Sprintf("%s: cutover %s", p.ID, clock(*p.CutoverS)))
	}
	if r.Trend != "" {
		row(b, "trend", r.Trend)
	}
	if r.Cost.Extra != nil {
		row(b, "extra cost", fmt.Sprintf("%.4g", *r.Cost.Extra))
	} else {
		row(b, "extra cost", "unpriced")
	}
	for _, f := range page.Figures(r) {
		row(b, f.Name, f.Value)
	}
	if w := r.Witness; w != nil {
		row(b, "witness", witnessText(w))
	}
	for _, f := range [][2]string{{"note", r.Note}, {"ticket", r.Ticket}} {
		if f[1] != "" {
			row(b, f[0], f[1])
		}
	}
}

// formula says how the figure came about.
func formula(r *control.Report) string {
	switch r.Judge {
	case judgeContained:
		return "Contained is the start of the first window in which clients were served well and the vendor got no more than its bound, counted from the fault."
	case judgeRecovered:
		if r.Fault.Kind == kindSpike {
			return "Recovered is the start of the first span of good service after the spike, counted from the step back to the base rate. Good service is a goodput (answered whole, of the requests due) of at least 99 % of that before the spike."
		}
		return "Recovered is the start of the first window of good service, counted from the last restore."
	}
	return "The cutover is the latest of detected, shifted and the start of the first window of good service without the vendor, counted from the fault."
}

func witnessText(w *control.WitnessResult) string {
	s := fmt.Sprintf("%d requests, %d failed", w.Requests, w.Failed)
	if w.CutoverS != nil {
		s += ", cutover " + clock(*w.CutoverS)
	}
	if w.DifferenceS != nil {
		s += fmt.Sprintf(", difference %.3f s", *w.DifferenceS)
	}
	if w.Note != "" {
		s += ": " + w.Note
	}
	return s + " (" + w.Log + ")"
}

// found is what preflight found.
func found(b *strings.Builder, r *control.Report) {
	if len(r.Preflight) > 0 {
		table(b, "Preflight", "what", "wanted", "got", "met")
		for _, c := range r.Preflight {
			met := "no"
			switch {
			case c.OK:
				met = "yes"
			case c.Warn:
				met = "warning"
			}
			row(b, c.Name, c.Want, c.Got, met)
		}
	}
	if len(r.Steps) > 0 {
		table(b, "Steps", "from T0", "what", "done")
		for _, s := range r.Steps {
			row(b, clock(s.AtS), s.Text, yes(s.Done))
		}
	}
	if len(r.Checklist) > 0 {
		table(b, "Checklist", "what", "done")
		for _, t := range r.Checklist {
			row(b, t.Text, yes(t.Done))
		}
	}
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// byVendor is the first tokens of each vendor's streams.
func byVendor(b *strings.Builder, r *control.Report) {
	if len(r.Vendors) == 0 {
		return
	}
	unknown := r.Latency["before"].Count > 0
	for _, p := range r.Vendors {
		unknown = unknown && p.Before.Count == 0 // clients' were taken from elsewhere
	}
	table(b, "First token by vendor, ms", "vendor", "when", "n", "P50", "P90", "P99")
	for _, name := range slices.Sorted(maps.Keys(r.Vendors)) {
		p := r.Vendors[name]
		for _, w := range []struct {
			when string
			l    control.Latency
		}{{"before", p.Before}, {"during", p.During}, {"after", p.After}} {
			if unknown && w.when == "before" {
				row(b, name, w.when, "not measured", "-", "-", "-")
				continue
			}
			row(b, name, w.when, fmt.Sprint(w.l.Count), figure(w.l.P50ms), figure(w.l.P90ms), figure(w.l.P99ms))
		}
	}
}

// faultText is a record's fault for people.
func faultText(r *control.Report) string {
	switch {
	case r.Reason == underSeal:
		return "sealed"
	case r.Fault.Kind == "", r.Fault.Kind == kindShow:
		return "-"
	case r.Fault.Kind == kindOutage:
		return "an outage that nobody ordered"
	}
	return inWords(&r.Fault)
}

// inWords is a fault for people.
func inWords(f *control.FaultSpec) string {
	s := f.Kind
	if f.Percent != nil {
		s += fmt.Sprintf(" of %g %% of attempts", *f.Percent)
	}
	if f.Lane != "" {
		s += " in the lane " + f.Lane
	}
	return s + ", for at most " + f.For.String()
}

func phases(b *strings.Builder, r *control.Report) {
	table(b, "Phases", "phase", "from T0", "at")
	for _, p := range r.Phases {
		row(b, p.Name, fmt.Sprintf("%.3f s", p.TS), p.Time.Format("15:04:05.000 MST"))
	}
}

func asked(b *strings.Builder, r *control.Report) {
	if len(r.Hypothesis) == 0 {
		return
	}
	table(b, "Asked and got", "what", "wanted", "got", "met")
	for _, h := range r.Hypothesis {
		met := "no"
		switch {
		case h.OK:
			met = "yes"
		case strings.HasPrefix(h.Got, "not seen"):
			met = "not seen"
		}
		row(b, h.Name, h.Want, h.Got, met)
	}
}

func latencies(b *strings.Builder, r *control.Report) {
	table(b, "First token of clients' streams, ms", "when", "n", "P50", "P90", "P99")
	for _, k := range []string{"before", "during", "after"} {
		if l, ok := r.Latency[k]; ok {
			row(b, k, fmt.Sprint(l.Count), figure(l.P50ms), figure(l.P90ms), figure(l.P99ms))
		}
	}
	b.WriteString("\nBefore: the baseline, or the 60 s before the fault. During: from the fault to its end. After: from then to the end of the drill.\n")
}

const (
	moveShown = 5  // points: smaller moves are not shown, but for the last
	moveRows  = 40 // at most
)

// moves is the weights over time, with the larger moves: the JSON has all.
func moves(b *strings.Builder, r *control.Report) {
	if len(r.Weights) == 0 {
		return
	}
	names := slices.Sorted(maps.Keys(r.Weights[0].Weights))
	table(b, "Weights", append([]string{"from T0"}, names...)...)
	rows := 0
	var shown map[string]float64
	for i, w := range r.Weights {
		far := i == 0 || i == len(r.Weights)-1
		for _, n := range names {
			far = far || math.Abs(w.Weights[n]-shown[n]) >= moveShown
		}
		if !far || rows >= moveRows && i < len(r.Weights)-1 {
			continue
		}
		cells := []string{clock(w.TS)}
		for _, n := range names {
			cells = append(cells, fmt.Sprintf("%g", w.Weights[n]))
		}
		row(b, cells...)
		rows, shown = rows+1, w.Weights
	}
	fmt.Fprintf(b, "\nMoves of %d points and more; the JSON has all %d.\n", moveShown, len(r.Weights))
}

func figure(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f", *v)
}

// asks is the time that counts, and the target where a scenario asks for less.
func asks(bound, target float64) string {
	if bound > 0 {
		return "within " + clock(bound) + "; target " + clock(target)
	}
	return "within " + clock(target)
}

// clock writes seconds as m:ss.t, rounded half up: a result is not made better than
// it was.
func clock(s float64) string {
	t := int64(math.Floor(s*10 + 0.5 + 1e-6))
	return fmt.Sprintf("%d:%02d.%d", t/600, t/10%60, t%10)
}

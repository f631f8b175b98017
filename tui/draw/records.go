package draw

import (
	"math"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Records are past drills and incidents, newest first.
type Records struct {
	List     []control.Report
	Labels   map[string]string
	Asked    bool
	Error    string
	At       int
	Location *time.Location
	Home     string
}

// Lines draws them, with the chosen one's trend, reason and files below.
func (d *Records) Lines(w, h int, k Look) []string {
	switch {
	case d.Error != "":
		return block(wrapped(k.Warn, d.Error, w, k), w, h)
	case len(d.List) == 0 && !d.Asked:
		return block(nil, w, h)
	case len(d.List) == 0:
		return block(wrapped(k.Dim, k.Sayf("no-records"), w, k), w, h)
	}
	at := min(max(0, d.At), len(d.List)-1)
	n := min(len(d.List), max(1, h-8))
	if h >= 20 {
		n = min(len(d.List), h/2)
	}
	from := max(0, min(at-n/2, len(d.List)-n))
	out := make([]string, 0, h)
	for i := from; i < from+n; i++ {
		out = append(out, d.row(&d.List[i], i == at, w, k))
	}
	return block(append(out, d.about(at, w, h-n, k)...), w, h)
}

func (d *Records) row(x *control.Report, on bool, w int, k Look) string {
	loc := d.Location
	if loc == nil {
		loc = time.Local
	}
	r := NewRow(w, k)
	mark := "  "
	if on {
		mark = k.Select + " "
	}
	r.Add(k.Accent, mark).Add(k.Dim, x.Started.In(loc).Format("01-02 15:04")).Add("", " ")
	glyph, word, ink := VerdictWord(x.Verdict, k)
	name := x.Scenario
	if x.Incident {
		name = k.Sayf("incident")
	}
	wide := w >= 70
	named, judged := 26, 14
	if w >= 100 {
		named, judged = 34, 16
	}
	at := r.w
	r.Add("", name).Add("", " ").Add(k.Strong, d.label(x.Vendor)).Add("", " ")
	if wide {
		r.Pad(at + named)
	}
	at = r.w
	r.Add(ink, glyph+" "+word).Add("", " ")
	if wide {
		r.Pad(at + judged)
	}
	if v := resultOf(x); v != nil {
		r.Add(k.Strong, Took(*v))
	} else {
		r.Add(k.Faint, unknown)
	}
	if !wide {
		return r.String()
	}
	r.Pad(at + judged + 9)
	failed := k.Dim
	if x.Requests.Failed > 0 {
		failed = k.Crit
	}
	r.Add(failed, Count(x.Requests.Failed)+" "+k.FailedW)
	if s := "  " + x.ID; Width(s) < r.Left() {
		r.Right(k.Faint, x.ID)
	}
	return r.String()
}

func (d *Records) label(vendor string) string {
	if l := d.Labels[vendor]; l != "" {
		return l
	}
	return vendor
}

// VerdictWord is a verdict's glyph, word and style.
func VerdictWord(v string, k Look) (glyph, word string, st theme.Style) {
	switch v {
	case control.Passed:
		return k.Done, k.Passed, k.OK
	case control.Failed:
		return k.Bad, k.Words.Failed, k.CritBold
	case control.Refused:
		return k.Bad, k.Refused, k.Warn
	case control.Aborted:
		return k.Bad, k.Aborted, k.Warn
	case control.Inconclusive:
		return k.Ahead, k.Inconclusive, k.Warn
	case "":
		return k.Doing, k.Running, k.Warn
	}
	return k.Ahead, v, k.Dim
}

// about is the chosen record.
func (d *Records) about(at, w, h int, k Look) []string {
	x := &d.List[at]
	parts := []section{
		{title: k.Sayf("trend"), note: x.Scenario + " " + d.label(x.Vendor), rows: func(w int) []string { return d.trend(x, w, k) }},
		{title: k.Sayf("result"), rows: func(w int) []string { return d.result(x, w, k) }},
		{title: k.Sayf("report"), rows: func(w int) []string {
			var out []string
			for _, kind := range [...]string{"html", "markdown", "json"} {
				if p := x.Files[kind]; p != "" {
					out = append(out, NewRow(w, k).Add(k.Accent, tailPath(Tilde(p, d.Home), w, k)).String())
				}
			}
			return out
		}},
	}
	return stack(parts, w, h, k)
}

// trend are the cutovers of the same scenario and vendor, the newest last.
func (d *Records) trend(x *control.Report, w int, k Look) []string {
	var v []float64
	most, passed := 0.0, 0
	for i := len(d.List) - 1; i >= 0; i-- {
		o := &d.List[i]
		if o.Scenario != x.Scenario || o.Vendor != x.Vendor || o.Incident != x.Incident {
			continue
		}
		s := math.NaN()
		if got := resultOf(o); got != nil {
			s = *got
			most = max(most, s)
		}
		if o.Verdict == control.Passed {
			passed++
		}
		v = append(v, s)
	}
	n := min(len(v), max(8, w/3))
	v = v[len(v)-n:]
	r := NewRow(w, k).Painted(Spark(k.OK, v, nil, n, most*8/7.99+1e-9, k), n)
	r.Add("", "  ").Add(k.Strong, strconv.Itoa(passed)).Add(k.Dim, " / "+strconv.Itoa(len(v))+" "+strings.ToLower(k.Passed)+"  ")
	var last []string
	for i := len(v) - 1; i >= 0 && len(last) < 5; i-- {
		if !math.IsNaN(v[i]) {
			last = append(last, Took(v[i]))
		}
	}
	r.Add(k.Dim, k.Sayf("last-cutovers")+" ").Add("", strings.Join(last, " "))
	out := []string{r.String()}
	if x.Trend != "" {
		out = append(out, wrapped(k.Dim, k.Tell(x.Trend), w, k)...)
	}
	return out
}

// result is what came out, and each thing that was asked for.
func (d *Records) result(x *control.Report, w int, k Look) []string {
	var out []string
	if x.Reason != "" {
		out = append(out, wrapped("", k.Tell(x.Reason), w, k)...)
	}
	for i := range x.Hypothesis {
		b := &x.Hypothesis[i]
		glyph, ink := k.Done, k.OK
		if !b.OK {
			glyph, ink = k.Bad, k.Crit
		}
		out = append(out, bulleted(glyph, ink, "", k.Tell(b.Name)+": "+k.Tell(b.Got)+" ("+k.Tell(b.Want)+")", w, k)...)
	}
	var more []string
	if x.HurtS > 0 {
		more = append(more, k.Hurt+" "+tenths(x.HurtS)+"s")
	}
	if x.Failback != "" {
		more = append(more, k.phase(control.PhaseFailback)+" "+x.Failback)
	}
	if x.Cost.Extra != nil {
		more = append(more, k.Sayf("extra-cost")+" "+Money(x.Cost.Extra))
	}
	for _, s := range [...]string{x.Ticket, x.Note, x.Who} {
		if s != "" {
			more = append(more, s)
		}
	}
	if len(more) > 0 {
		out = append(out, NewRow(w, k).Add(k.Dim, strings.Join(more, " "+k.Dot+" ")).String())
	}
	return out
}

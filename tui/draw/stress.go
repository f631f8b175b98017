package draw

import (
	"math"
	"strconv"
	"strings"

	"baton/tui/theme"
)

// StressLevel is one step of a ladder: what so many concurrent requests got.
// Figures that are not known are nil.
type StressLevel struct {
	Concurrency   int
	N, Errors     int64
	RPS           float64
	P50, P90, P99 *float64 // first token, milliseconds
	TokensPerS    float64
	Verdict       string // "" while it is good
}

// StressState is how far a stress test is, or what came out.
type StressState struct {
	Vendor   string
	Levels   []StressLevel // done
	Level    int           // that runs, from 1; 0: none
	Of       int
	Doing    string  // what it does now: "warming up 50"
	Part     float64 // 0-1 of all of it
	LeftS    float64
	Verdict  string // OK, LIMITED, CLIENT-LIMITED, UNSTABLE or TOO-FEW; "" while it runs
	Reason   string
	Worse    *float64 // how many times the first token got worse, from the first to the last level
	WorseP99 *float64
	Limiter  string // the limiter found, in words
	Say      string // the sentence to send to the vendor
	Files    []string
}

// Stress is the screen of a stress test.
type Stress struct {
	State   *StressState // nil: none was run
	Running bool
	Label   string // the vendor that would be stressed
	Tested  string // the label of the one that State is of
	Priced  bool   // it costs money
	Able    bool   // stress tests can be run from here
	Plan    string // what would be run
	Error   string
	Home    string
}

// Lines draws it in w x h.
func (d *Stress) Lines(w, h int, k Look) []string {
	var out []string
	switch {
	case !d.Able:
		out = wrapped(k.Dim, k.Sayf("no-stress"), w, k)
	case d.State == nil || !d.Running:
		out = wrapped("", k.Sayf("stress-what", d.Label), w, k)
		if d.Plan != "" {
			out = append(out, NewRow(w, k).Add(k.Dim, d.Plan).String())
		}
		if d.Priced {
			out = append(out, NewRow(w, k).Add(k.WarnBold, k.Sayf("stress-price", d.Label)).String())
		}
		out = append(out, NewRow(w, k).Add(k.Key, "Enter").Add(k.Dim, " "+k.Sayf("stress-start")).String())
	}
	if d.Error != "" {
		out = append(out, wrapped(k.CritBold, k.Sayf("stress-failed", d.Error), w, k)...)
	}
	s := d.State
	if s == nil {
		return block(out, w, h)
	}
	if d.Running {
		out = append(out, d.progress(w, k)...)
	}
	if s.Verdict != "" {
		out = append(out, d.verdict(w, k)...)
	}
	ladder := []section{{title: k.Sayf("ladder"), note: d.Tested, rows: func(w int) []string { return d.table(w, k) }}}
	const wide = 110 // for every column of the table beside the chart
	if w < wide {
		rows := min(len(s.Levels)+2, max(0, h-len(out)))
		out = append(out, stack(ladder, w, rows, k)...)
		ladder = nil
	}
	room := h - len(out)
	chart := []section{{title: k.Sayf("latency-conc"), note: "P90 P99", rows: func(w int) []string { return d.chart(w, min(14, max(4, room-1)), k) }}}
	return block(append(out, inColumns(ladder, chart, w, room, k)...), w, h)
}

func (d *Stress) progress(w int, k Look) []string {
	s := d.State
	note := " " + strconv.Itoa(int(s.Part*100)) + "% " + k.Dot + " " + MinSec(s.LeftS) + " " + k.LeftW
	n := max(0, w-Width(note))
	return []string{
		d.doing(w, k),
		NewRow(w, k).Painted(Meter(s.Part, n, k.Note, k), n).Add("", note).String(),
	}
}

// doing is which level runs, and what of it.
func (d *Stress) doing(w int, k Look) string {
	r := NewRow(w, k)
	if d.State.Level > 0 {
		r.Add(k.Strong, k.Sayf("stressing", d.State.Level, d.State.Of)).Add("", "  ")
	}
	return r.Add(k.Dim, k.TellTest(d.State.Doing)+"  ").Add(k.Key, "A").Add(k.Dim, " "+k.Sayf("stress-stop")).String()
}

// verdict is what came out and what to tell the vendor.
func (d *Stress) verdict(w int, k Look) []string {
	s := d.State
	ink := k.WarnBold
	if s.Verdict == "OK" {
		ink = k.OKBold
	}
	r := NewRow(w, k).Add(k.Dim, k.Sayf("verdict")+" ").Add(ink, k.TellTest(s.Verdict))
	limited := strings.Contains(s.Verdict, "LIMITED")
	switch {
	case limited:
		r.Add(k.Warn, "  "+k.Sayf("withheld"))
	case s.Worse != nil && len(s.Levels) > 1:
		last := s.Levels[len(s.Levels)-1].Concurrency
		r.Add(k.Strong, "  P50 "+k.Sayf("worse", times(*s.Worse), last))
		if s.WorseP99 != nil {
			r.Add(k.Dim, "  P99 "+times(*s.WorseP99)+"x")
		}
	}
	out := []string{r.String()}
	if s.Reason != "" && s.Reason != s.Limiter {
		out = append(out, wrapped(k.Dim, k.TellTest(s.Reason), w, k)...)
	}
	if s.Limiter != "" {
		out = append(out, NewRow(w, k).Add(k.Warn, k.Limit+" ").Add("", k.TellTest(s.Limiter)).String())
	}
	if s.Say != "" {
		out = append(out, bulleted(k.Sayf("say-to-vendor"), k.Strong, k.Accent, s.Say, w, k)...)
	}
	for _, f := range s.Files {
		out = append(out, NewRow(w, k).Add(k.Dim, tailPath(Tilde(f, d.Home), w, k)).String())
	}
	return out
}

func times(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// table is a row for each level that is done.
func (d *Stress) table(w int, k Look) []string {
	const first, cell = 5, 8
	titles := [...]string{"n", "P50", "P90", "P99", k.ReqS, k.Err, "tok/s"}
	fits := min(len(titles), max(1, (w-first)/cell))
	head := NewRow(w, k).Add(k.Dim, k.Sayf("col-conc")).Pad(first)
	for _, t := range titles[:fits] {
		head.Pad(head.w+cell-Width(t)).Add(k.Dim, t)
	}
	out := []string{head.String()}
	for i := range d.State.Levels {
		x := &d.State.Levels[i]
		r := NewRow(w, k).Add(k.Strong, strconv.Itoa(x.Concurrency)).Pad(first)
		values := [...]string{short(int(x.N)), Millis(x.P50), Millis(x.P90), Millis(x.P99), Rate(x.RPS), Count(x.Errors), Rate(x.TokensPerS)}
		for j, v := range values[:fits] {
			ink := theme.Style("")
			switch {
			case j == 5 && x.Errors > 0:
				ink = k.CritBold
			case j == 3:
				ink = k.Theme.P99
			}
			r.Pad(r.w+cell-Width(v)).Add(ink, v)
		}
		if x.Verdict != "" {
			r.Add(k.Warn, " "+x.Verdict)
		}
		out = append(out, r.String())
	}
	return out
}

// chart is the first token's P90 and P99 by level. A P99 takes some hundred
// answers, which a level of one at a time may not have.
func (d *Stress) chart(w, h int, k Look) []string {
	p90, p99 := Curve{Ink: k.Line.P90, Join: true}, Curve{Ink: k.Line.P99, Join: true}
	marks := NewRow(w, k)
	figure := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	for i := range d.State.Levels {
		x := &d.State.Levels[i]
		p90.V, p99.V = append(p90.V, figure(x.P90)), append(p99.V, figure(x.P99))
	}
	n := len(p90.V)
	if n == 0 {
		return notice(k.NoData, w, h, k)
	}
	const label = 7
	for i := range d.State.Levels {
		s := strconv.Itoa(d.State.Levels[i].Concurrency)
		at := label
		if i > 0 {
			at += i*(w-label)/(n-1) - len(s)
		}
		marks.Pad(at).Add(k.Dim, s)
	}
	out := Lines([]Curve{p90, p99}, w, h-1, func(v float64) string { return Fit(millis(v), label-2) }, k)
	return append(out, marks.String())
}

package draw

import (
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Drill is the drill's clock and story as they are drawn.
type Drill struct {
	D       *control.DrillState
	Label   string  // the vendor's
	Seconds float64 // what the clock shows
	Now     time.Time
	Act     bool   // this console may act
	Lost    bool   // the engine is out of reach: nothing runs on here
	Home    string // written as ~ in paths; "": never

	Shares   []Share         // where traffic goes now
	Service  control.Service // what clients get now
	RPS      float64
	Location *time.Location // nil: local
	AtTask   int            // the line of the checklist that Space ticks

	own    bool // it is drawn on its own screen
	barred bool // a bar says what is left
}

// stopped says whether the clock stands still.
func (d *Drill) stopped() bool { return d.D.CutoverS != nil || d.D.Verdict != nil }

// face is what the clock shows: once it stands still a result.
func (d *Drill) face() string {
	if d.stopped() {
		return Took(d.Seconds)
	}
	return Clock(d.Seconds)
}

// sealed says whether nothing of it may be told yet.
func (d *Drill) sealed() bool { return d.D.Sealed && d.D.Verdict == nil }

// armed says whether its countdown runs.
func (d *Drill) armed() bool { return d.D.Armed != nil && d.D.Verdict == nil && !d.begun() }

// begun says whether its fault is in, so that the clock runs.
func (d *Drill) begun() bool { return d.moment(control.PhaseFault) != nil || d.D.ClockS > 0 }

// verdict is the word at the end, and its style.
func (d *Drill) verdict(k Look) (glyph, word string, ink, badge theme.Style) {
	v := ""
	switch {
	case d.D.Verdict != nil:
		v = *d.D.Verdict
	case d.D.CutoverS != nil && (d.D.TargetS <= 0 || *d.D.CutoverS <= d.D.TargetS):
		v = control.Passed
	case d.D.CutoverS != nil:
		v = control.Failed
	}
	switch v {
	case "":
		if d.armed() {
			return k.Doing, k.Sayf("armed"), k.WarnBold, k.BadgeWarn
		}
		return k.Doing, k.Running, k.WarnBold, k.BadgeWarn
	case control.Passed:
		return k.Done, k.Passed, k.OKBold, k.BadgeOK
	case control.Failed:
		return k.Bad, k.Words.Failed, k.CritBold, k.BadgeCrit
	case control.Refused:
		return k.Bad, k.Refused, k.WarnBold, k.BadgeWarn
	case control.Aborted:
		return k.Bad, k.Aborted, k.WarnBold, k.BadgeWarn
	case control.Inconclusive:
		return k.Ahead, k.Inconclusive, k.WarnBold, k.BadgeWarn
	}
	return k.Ahead, v, k.Dim, k.BadgeQuiet
}

// ink is the digits' style: how much of the target is used up.
func (d *Drill) ink(k Look) theme.Style {
	if d.stopped() {
		_, _, ink, _ := d.verdict(k)
		return ink
	}
	if d.armed() {
		return k.WarnBold
	}
	switch used := d.used(); {
	case used >= 0.9:
		return k.Crit
	case used >= 0.6:
		return k.Warn
	}
	return k.Strong
}

func (d *Drill) used() float64 {
	if d.D.TargetS <= 0 {
		return 0
	}
	return d.Seconds / d.D.TargetS
}

// title names the drill.
func (d *Drill) title(k Look) []Span {
	if d.D.Incident {
		return []Span{{k.CritBold, k.Sayf("incident") + " "}, {k.Strong, d.Label}, {k.Dim, " " + k.Dot + " " + k.Sayf("nobody-ordered")}}
	}
	s := []Span{{k.Strong, strings.ToUpper(k.Drill) + " "}, {"", d.D.Scenario}}
	if d.sealed() || d.show() {
		return s
	}
	if d.Label != "" {
		s = append(s, Span{k.Strong, " " + d.Label})
	}
	if d.D.Fault.Kind != "" {
		s = append(s, Span{k.Dim, " " + k.Dot + " " + d.D.Fault.Kind})
	}
	return s
}

func (d *Drill) badge(k Look) []Span {
	glyph, word, _, badge := d.verdict(k)
	return []Span{{badge, " " + glyph + " " + word + " "}}
}

// Lines draws the drill's area: a box with large digits, three rows of small
// ones, two rows, or one.
func (d *Drill) Lines(w, h int, k Look) []string {
	switch {
	case d.sealed():
		return d.sealedLines(w, h, k)
	case h >= 7 && w >= 90:
		return d.large(w, h, k)
	case h >= 5 && w >= 56:
		return d.medium(w, h, k)
	}
	out := []string{d.short(w, k)}
	if d.D.Verdict != nil && *d.D.Verdict != control.Passed && d.D.Reason != "" {
		for _, l := range Wrap(k.Tell(d.D.Reason), w-2) {
			out = append(out, NewRow(w, k).Add("", " ").Add(k.Dim, l).String())
		}
		return block(out, w, h)
	}
	if h >= 2 {
		out = append(out, NewRow(w, k).Add("", " ").Painted(d.phases(w-1, k), w-1).String())
	}
	if h >= 3 && !d.show() {
		out = append(out, NewRow(w, k).Add("", " ").Painted(d.clients(w-1, k), w-1).String())
	}
	return block(out, w, h)
}

func (d *Drill) large(w, h int, k Look) []string {
	text := d.face()
	digits := big(text, 1, 1, d.ink(k), k)
	dw := bigWidth(text, 1)
	iw := w - 4
	side := iw - dw - 6
	story := d.story(side, 5, k)
	if d.show() {
		story = block(d.showRows(side, 5, k), side, 5)
	}
	body := make([]string, 5)
	for i := range body {
		body[i] = NewRow(iw, k).Add("", "  ").Painted(digits[i], dw).Fill("", " ", 4).Painted(story[i], side).String()
	}
	edge := k.Edge
	if d.stopped() {
		_, _, edge, _ = d.verdict(k)
	}
	out := Box(body, d.title(k), d.badge(k), edge, w, 7, k)
	if !d.recordFits(side, 0, k) { // the frame's lower edge is the longest row there is
		path := tailPath(Tilde(d.D.Record, d.Home), iw-4, k)
		out[6] = edgeRow(k.BottomLeft, k.BottomRight, []Span{{"", path}}, nil, edge, w, k)
	}
	return block(out, w, h)
}

func (d *Drill) medium(w, h int, k Look) []string {
	digits, dw := small(d.face(), d.ink(k), k)
	side := w - dw - 5
	story, last := d.tale(side, w-2, k)
	if d.show() {
		story, last = block(d.showRows(side, 3, k), side, 3), d.keysRow(w-2, k)
		if d.D.Verdict != nil && d.D.Record != "" {
			last = d.recordRow(w-2, k)
		}
	}
	out := []string{Rule(d.title(k), d.badge(k), w, k)}
	for i := range digits {
		out = append(out, NewRow(w, k).Add("", " ").Painted(digits[i], dw).Fill("", " ", 3).Painted(story[i], side).String())
	}
	out = append(out, NewRow(w, k).Add("", " ").Painted(last, w-2).String())
	return block(out, w, h)
}

// short is the clock in one row.
func (d *Drill) short(w int, k Look) string {
	glyph, word, ink, _ := d.verdict(k)
	r := NewRow(w, k).Add("", " ").Add(ink, d.face()).Add("", " ")
	if d.armed() {
		return r.Add(ink, word+" ").Add("", d.D.Scenario+" "+d.Label+" ").Add(k.Key, "A").Add(k.Dim, " "+k.Aborts).String()
	}
	if d.D.Incident {
		r.Add(k.CritBold, k.Sayf("incident")+" ")
	}
	target := Span{k.Dim, "/ " + MinSec(d.D.TargetS) + " "}
	if !d.stopped() {
		return r.Add(target.Style, target.Text).Add(k.Dim, k.Drill+" ").Add("", d.Label+" ").Add(ink, d.doing(k)).String()
	}
	if w >= 48 {
		r.Add(target.Style, target.Text)
	}
	r.Add(k.Strong, d.asks(k)+" ").Add(ink, glyph+" "+word)
	for _, s := range [...]Span{{k.Dim, " " + k.Dot + " " + Count(d.D.Requests.Failed) + " " + k.FailedW}, {k.Dim, " " + k.Dot + " R"}} {
		if d.D.CutoverS != nil && Width(s.Text) <= r.Left() {
			r.Add(s.Style, s.Text)
		}
	}
	return r.String()
}

// doing is the phase that the drill waits for.
func (d *Drill) doing(k Look) string {
	for _, p := range drillPhases[:4] {
		if d.moment(p) == nil {
			return k.phase(p) + k.Ellipsis
		}
	}
	return k.phase(control.PhaseRestored) + k.Ellipsis
}

// bar is how much of the target is used.
func (d *Drill) bar(w int, k Look) string {
	r := NewRow(w, k)
	right := MinSec(d.D.TargetS)
	note := ""
	if d.armed() {
		return r.Add(k.Dim, k.Sayf("armed-bar")).String()
	}
	if !d.stopped() {
		if left := d.D.TargetS - d.Seconds; left >= 0 {
			note = " " + k.Dot + " " + MinSec(left) + " " + k.LeftW
		} else {
			note = " " + k.Dot + " +" + MinSec(-left) + " " + k.Over
		}
	} else if d.D.Until != nil {
		note = " " + k.Dot + " " + k.FaultEndsIn + " " + MinSec(d.D.Until.Sub(d.Now).Seconds())
	}
	n := w - Width(right+note) - 1
	if n < 8 {
		n, note = w-Width(right)-1, ""
	}
	if n < 2 {
		return r.String()
	}
	full := min(int(d.used()*float64(n)), n)
	ink := d.ink(k)
	r.Fill(ink, k.Bar, full)
	if full < n {
		r.Fill(ink, k.BarEnd, 1)
	}
	r.Fill(k.Edge, k.BarRail, n-r.w).Add("", " ").Add("", right).Add(k.Dim, note)
	return r.String()
}

// clients says what the drill cost those who asked; none is worth saying.
func (d *Drill) clients(w int, k Look) string {
	q := &d.D.Requests
	r := NewRow(w, k)
	ink := k.OKBold
	if q.Failed > 0 {
		ink = k.CritBold
	}
	r.Add(ink, k.clientsFailed(q.Failed))
	if q.CutStreams > 0 {
		r.Add(k.Crit, " "+k.Dot+" "+Count(q.CutStreams)+" "+k.CutStreams)
	}
	r.Add(k.Dim, " "+k.Dot+" "+Count(q.Total)+" "+k.Asked+" "+k.Dot+" "+Count(q.FailedOver)+" "+k.Moved)
	if d.D.HurtS > 0 {
		r.Add(k.Warn, " "+k.Dot+" "+k.Hurt+" "+tenths(d.D.HurtS)+"s")
	}
	if v := d.D.Verify; v != nil && !d.stopped() {
		for _, s := range [...]string{" " + k.Dot + " n " + Count(v.N) + "/" + Count(v.MinN), " " + k.Dot + " P99 " + Millis(v.P99ms) + " < " + millis(v.LimitMs)} {
			if Width(s) <= r.Left() {
				r.Add(k.Dim, s)
			}
		}
	}
	return r.String()
}

// keys writes as many of the keys that matter as there is room for.
func (d *Drill) keys(r *Row, k Look) {
	if !d.Act {
		r.Add(k.Faint, k.ReadOnlyWhy)
		return
	}
	first := true
	add := func(key, does string) {
		lead := " " + k.Dot + " "
		if first {
			lead = ""
		}
		if Width(lead)+Width(key)+Width(does) <= r.Left() {
			r.Add(k.Dim, lead).Add(k.Key, key).Add(k.Dim, does)
			first = false
		}
	}
	switch {
	case d.D.Verdict != nil && d.D.Until == nil:
		add("Esc", " "+k.Dismisses)
		return
	case d.D.Incident:
		add("D", " "+k.Hints["drain"])
		if !d.own {
			add("d", " "+k.Sayf("details"))
		}
		return
	case d.armed():
		add("A", " "+k.Aborts)
		return
	case d.D.Waits != "":
		add("x", " "+k.Hints["mark"])
	}
	if d.D.Vendor != "" { // else there is nothing to restore
		add("R", " "+k.Restores+" "+d.Label)
	}
	if d.D.CutoverS == nil && d.D.Verdict == nil {
		add("A", " "+k.Aborts)
	}
	if d.D.Until != nil {
		add("", k.FaultEndsIn+" "+MinSec(d.D.Until.Sub(d.Now).Seconds()))
	}
}

// lastRow is clients, keys and the record in one line, for narrow screens.
func (d *Drill) lastRow(w int, k Look) string {
	ink := k.OKBold
	if d.D.Requests.Failed > 0 {
		ink = k.CritBold
	}
	r := NewRow(w, k).Add(ink, k.clientsFailed(d.D.Requests.Failed)).Add(k.Dim, " "+k.Dot+" ")
	n := r.Left()
	return r.Painted(d.next(n, k), n).String()
}

// Tilde writes a path beneath home as people do.
func Tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home+"/"); ok && home != "" {
		return "~/" + rest
	}
	return path
}

// tailPath keeps a path's end where it is too long.
func tailPath(s string, w int, k Look) string {
	s = Clean(s)
	if Width(s) <= w || w < 4 {
		return s
	}
	rs := []rune(s)
	for len(rs) > 0 && Width(string(rs)) > w-1 {
		rs = rs[1:]
	}
	return k.Ellipsis + string(rs)
}

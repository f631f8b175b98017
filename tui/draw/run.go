package draw

import (
	"slices"
	"strconv"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

var wholeDrill = [...]string{control.PhaseSteady, control.PhaseFault, control.PhaseDetected, control.PhaseShifted, control.PhaseVerified, control.PhaseRestored, control.PhaseFailback}

// Screen draws the drill on a screen of its own: clock, phases with their
// moments, where traffic goes, what would stop it, what people have to do.
func (d *Drill) Screen(w, h int, k Look) []string {
	if d.sealed() {
		return d.sealedLines(w, h, k)
	}
	top := 0
	switch {
	case h >= 18 && w >= 90:
		top = 7
	case h >= 12 && w >= 56:
		top = 5
	case h >= 6:
		top = 2
	default:
		return d.Lines(w, h, k)
	}
	d.own = true
	out := d.Lines(w, top, k)
	if d.show() {
		return block(append(out, d.showScreen(w, h-top, k)...), w, h)
	}
	var left, right []section
	now := section{title: k.Sayf("traffic"), note: k.Sayf("last-10s"), rows: func(w int) []string {
		return append(d.shares(w, len(d.Shares), k), d.service(w, k))
	}}
	verify := section{title: k.Sayf("verifying"), rows: func(w int) []string { return d.verifying(w, k) }}
	phases := section{title: k.Sayf("phases"), note: k.Sayf("from-fault"), rows: func(w int) []string { return d.phaseTable(w, k) }}
	tasks := section{title: k.Sayf("checklist"), note: k.Sayf("space-ticks"), rows: func(w int) []string { return d.tasks(w, k) }}
	risk := section{title: k.Sayf("stops"), rows: func(w int) []string { return d.risks(w, k) }}
	steps := section{title: k.Sayf("steps"), rows: func(w int) []string { return d.stepRows(w, k) }}
	checks := section{title: k.Sayf("preflight"), rows: func(w int) []string { return checkRows(d.D.Preflight, w, k) }}
	report := section{title: k.Sayf("report"), rows: func(w int) []string { return d.files(w, k) }}
	left = append(left, phases, verify, steps)
	right = append(right, tasks, now, risk, checks)
	if w < 76 && len(d.D.Checklist) > 0 {
		left = append([]section{tasks}, left...)
		right = right[1:]
	}
	out = append(out, stack([]section{report}, w, min(3, h-len(out)), k)[:min(3, d.fileRows(), max(0, h-len(out)))]...)
	top = len(out)
	return block(append(out, inColumns(left, right, w, h-top, k)...), w, h)
}

// sealedLines say that a drill runs, and nothing of it.
func (d *Drill) sealedLines(w, h int, k Look) []string {
	text := k.Sayf("sealed")
	if h < 4 || w < 30 {
		r := NewRow(w, k).Add("", " ").Add(k.WarnBold, k.Sayf("sealed-short"))
		return block([]string{r.Add(k.Dim, " "+k.Dot+" ").Add(k.Key, "A").Add(k.Dim, " "+k.Aborts).String()}, w, h)
	}
	body := wrapped("", text, w-4, k)
	r := NewRow(w-4, k)
	d.sealedKeys(r, k)
	body = append(body, Blank(w-4), r.String())
	if over := len(body) - (h - 2); over > 0 {
		body = append(body[:max(0, len(body)-2-over)], body[len(body)-1])
	}
	n := min(h, len(body)+2)
	return block(Box(body, d.title(k), d.badge(k), k.Edge, w, n, k), w, h)
}

func (d *Drill) sealedKeys(r *Row, k Look) {
	if !d.Act {
		r.Add(k.Faint, k.ReadOnlyWhy)
		return
	}
	r.Add(k.Key, "A").Add(k.Dim, " "+k.Aborts)
}

// phaseTable is a row for each phase: when from T0, and by the clock on the wall.
func (d *Drill) phaseTable(w int, k Look) []string {
	loc := d.Location
	if loc == nil {
		loc = time.Local
	}
	doing := d.D.Verdict == nil
	var out []string
	for _, name := range wholeDrill {
		m := d.moment(name)
		if name == control.PhaseRestored && d.goesOn() {
			doing = true
		}
		if name == control.PhaseSteady && !d.begun() {
			m = nil // it began then, and goes on
		}
		r := NewRow(w, k)
		const label, at = 14, 10
		switch {
		case m != nil:
			r.Add(k.OK, k.Done).Add("", " "+k.phase(name)).Pad(label)
			t := "T+" + Took(m.TS)
			if m.TS < 0 {
				t = "T-" + Took(-m.TS)
			}
			r.Add(k.Strong, t).Pad(label + at + 2)
			if !m.Time.IsZero() && r.Left() >= 10 {
				r.Add(k.Faint, m.Time.In(loc).Format("15:04:05.0"))
			}
		case name == control.PhaseSteady && d.begun():
			continue // it was held; its moment was not told
		case name == control.PhaseFailback && d.D.Incident:
			continue
		case doing:
			doing = false
			r.Add(k.WarnBold, k.Doing).Add(k.WarnBold, " "+k.phase(name)).Pad(label).Add(k.Dim, d.doingNow(name, k))
		default:
			r.Add(k.Faint, k.Ahead+" "+k.phase(name))
		}
		out = append(out, r.String())
	}
	return out
}

// Over says whether nothing of a drill is to come: its verdict is given, its
// fault gone, and the way back seen or given up.
func Over(d *control.DrillState) bool {
	return d.Verdict != nil && d.Until == nil && !slices.Contains(wholeDrill[:], d.Phase)
}

// goesOn says whether a drill with its verdict has its way back before it.
func (d *Drill) goesOn() bool {
	v := d.D.Verdict
	return v != nil && (*v == control.Passed || *v == control.Failed) && slices.Contains(wholeDrill[:], d.D.Phase)
}

// doingNow says what is waited for until a phase is reached.
func (d *Drill) doingNow(phase string, k Look) string {
	if phase == control.PhaseRestored {
		return k.Sayf("doing-restored", d.Label)
	}
	return k.Sayf("doing-" + phase)
}

// verifying is how far the proof of good service is.
func (d *Drill) verifying(w int, k Look) []string {
	v := d.D.Verify
	if v == nil || d.stopped() {
		return nil
	}
	part := 0.0
	if v.HoldS > 0 {
		part = v.HeldS / v.HoldS
	}
	note := " " + strconv.Itoa(int(v.HeldS)) + "/" + strconv.Itoa(int(v.HoldS)) + "s " + k.Dot + " " + MinSec(v.HoldS-v.HeldS) + " " + k.LeftW
	n := max(0, w-Width(note))
	out := []string{NewRow(w, k).Painted(Meter(part, n, k.Note, k), n).Add("", note).String()}
	ok := func(good bool) theme.Style {
		if good {
			return k.OK
		}
		return k.Warn
	}
	r := NewRow(w, k).Add(k.Dim, "n ").Add(ok(v.N >= v.MinN), Count(v.N)).Add(k.Dim, " / "+Count(v.MinN))
	r.Add(k.Dim, "   P99 ").Add(ok(v.P99ms != nil && *v.P99ms <= v.LimitMs), Millis(v.P99ms)).Add(k.Dim, " < "+millis(v.LimitMs))
	if s := "   " + k.Sayf("success") + " " + Percent(v.Success); Width(s) <= r.Left() {
		r.Add(k.Dim, "   "+k.Sayf("success")+" ").Add(ok(v.Success != nil && *v.Success >= 0.999), Percent(v.Success))
	}
	return append(out, r.String())
}

// tasks are the facilitator's: ticked with Space, the chosen one marked.
func (d *Drill) tasks(w int, k Look) []string {
	var out []string
	for i, t := range d.D.Checklist {
		mark, ink, st := "[ ]", k.Strong, theme.Style("")
		if t.Done {
			mark, ink, st = "["+k.Done+"]", k.OK, k.Dim
		}
		at := "  "
		if i == d.atTask() && d.D.Verdict == nil {
			at = k.Select + " "
		}
		out = append(out, bulleted(at+mark, ink, st, k.Tell(t.Text), w, k)...)
	}
	return out
}

func (d *Drill) stepRows(w int, k Look) []string {
	var out []string
	for _, s := range d.D.Steps {
		mark, ink := k.Ahead, k.Faint
		if s.Done {
			mark, ink = k.Done, k.OK
		}
		out = append(out, NewRow(w, k).Add(ink, mark).Add(k.Dim, " T+"+MinSec(s.AtS)+" ").Add("", k.Tell(s.Text)).String())
	}
	return out
}

// checkRows are what preflight asked for and found.
func checkRows(all []control.Check, w int, k Look) []string {
	var out []string
	for i := range all {
		c := &all[i]
		glyph, ink := checkInk(c, k)
		r := NewRow(w, k).Add(ink, glyph).Add("", " "+k.Tell(c.Name))
		if c.Got != "" {
			r.Add(k.Dim, " "+k.Dot+" ").Add(ink, k.Tell(c.Got))
		}
		if c.Want != "" && c.Want != c.Got {
			if s := " (" + k.Tell(c.Want) + ")"; Width(Clean(s)) <= r.Left() {
				r.Add(k.Faint, s)
			}
		}
		out = append(out, r.String())
	}
	return out
}

// fileRows is how many rows the report's paths take, with their title.
func (d *Drill) fileRows() int {
	n := 0
	for _, p := range [...]string{d.D.Page, d.D.Record} {
		if p != "" && d.D.Verdict != nil { // until then it is not whole
			n++
		}
	}
	if n > 0 {
		n++
	}
	return n
}

// files are where the record and the report are, whole where they fit.
func (d *Drill) files(w int, k Look) []string {
	var out []string
	for _, p := range [...]string{d.D.Page, d.D.Record} {
		if p != "" {
			out = append(out, NewRow(w, k).Add(k.Accent, tailPath(Tilde(p, d.Home), w, k)).String())
		}
	}
	return out
}

package draw

import (
	"strings"

	"baton/engine/control"
	"baton/tui/theme"
)

// A show plays with vendors of its own: of the engine that is watched nothing
// changes, so that its phases, its traffic and its clients say nothing about it.
// In their place stand its acts.

func (d *Drill) show() bool { return d.D.Fault.Kind == "show" }

// acts are the show's acts, each with its figures, the latest first.
func (d *Drill) acts(w int, k Look) []string {
	var out []string
	for i := len(d.D.Steps) - 1; i >= 0; i-- {
		s := &d.D.Steps[i]
		mark, ink, text := d.actMark(i, k)
		no, title := actOf(s.Text)
		out = append(out, bulleted(mark+" T+"+MinSec(s.AtS)+" "+no, ink, text, k.Tell(title), w, k)...)
	}
	return out
}

// actRow is the acts in one row: a mark for each, and the present one's title.
func (d *Drill) actRow(w int, k Look) string {
	r := NewRow(w, k)
	now := ""
	for i := range d.D.Steps {
		mark, ink, _ := d.actMark(i, k)
		no, title := actOf(d.D.Steps[i].Text)
		r.Add(ink, mark).Add(k.Dim, no+" ")
		now, _, _ = strings.Cut(title, ": ")
	}
	if d.D.Verdict != nil {
		return r.String()
	}
	against := d.against(r.Left(), k)
	if now != "" {
		n := max(0, r.Left()-spansWidth(against)-2)
		r.Painted(NewRow(n, k).Add("", " "+k.Tell(now)).String(), n)
	}
	r.Pad(w - spansWidth(against))
	for _, s := range against {
		r.Add(s.Style, s.Text)
	}
	return r.String()
}

// against is what the clock runs against, in w cells: the target of the drill that
// a show plays, before its fault the length of the show.
func (d *Drill) against(w int, k Look) []Span {
	if d.D.TargetS <= 0 {
		return nil
	}
	word := k.Sayf("of-about")
	if d.moment(control.PhaseFault) != nil {
		word = k.TargetW
	}
	s := []Span{{k.Dim, word + " "}, {k.Strong, MinSec(d.D.TargetS)}}
	if left := d.D.TargetS - d.Seconds; left >= 0 && !d.barred {
		s = append(s, Span{k.Dim, " " + k.Dot + " " + MinSec(left) + " " + k.LeftW})
	}
	if len(s) > 2 && spansWidth(s) > w {
		s = s[:2]
	}
	if spansWidth(s) > w {
		return nil
	}
	return s
}

// actMark is an act's mark with its ink, and that of its words.
func (d *Drill) actMark(i int, k Look) (mark string, ink, text theme.Style) {
	switch {
	case d.D.Steps[i].Done:
		return k.Done, k.OK, ""
	case d.D.Verdict == nil && i == len(d.D.Steps)-1:
		return k.Doing, k.WarnBold, k.Strong
	}
	return k.Ahead, k.Faint, k.Dim
}

// actOf takes an act's number off its text.
func actOf(text string) (no, title string) {
	if a, b, ok := strings.Cut(text, " "); ok && len(a) == 1 && a[0] >= '1' && a[0] <= '9' {
		return a, b
	}
	return "", text
}

// showRows are the n rows beside large digits: what happens now, or what came
// out, the acts, the keys.
func (d *Drill) showRows(w, n int, k Look) []string {
	head, more := d.headline(w, k)
	out := append([]string{head}, painted(more, w, k)...)
	if d.D.Verdict == nil && d.D.Caption != "" {
		out = wrapped("", k.Tell(d.D.Caption), w, k)
	}
	tail := []string{d.actRow(w, k)}
	if n >= 4 {
		if d.recordFits(w, 0, k) {
			tail = append(tail, d.next(w, k))
		} else {
			tail = append(tail, d.keysRow(w, k))
		}
	}
	if over := len(out) + len(tail) - n; over > 0 {
		out = out[:len(out)-over]
	}
	return append(out, tail...)
}

// showScreen is what stands under the clock of a show.
func (d *Drill) showScreen(w, h int, k Look) []string {
	parts := []section{{title: k.Sayf("acts"), rows: func(w int) []string { return d.acts(w, k) }}}
	if d.D.Caption != "" && d.D.Verdict == nil {
		parts = append([]section{{title: k.Sayf("now"), rows: func(w int) []string { return wrapped("", k.Tell(d.D.Caption), w, k) }}}, parts...)
	}
	if d.D.Verdict != nil && len(d.D.Preflight) > 0 && *d.D.Verdict == control.Refused {
		parts = append(parts, section{title: k.Sayf("preflight"), rows: func(w int) []string { return checkRows(d.D.Preflight, w, k) }})
	}
	return stack(parts, w, h, k)
}

package draw

import (
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Overrides are what people have set over the controller.
type Overrides struct {
	List   []control.Override
	Labels map[string]string
	At     int
	Now    time.Time
	Act    bool
}

// Lines draws them: what, who and how long, and what ends the chosen one.
func (d *Overrides) Lines(w, h int, k Look) []string {
	if len(d.List) == 0 {
		return block(wrapped(k.Dim, k.Sayf("no-overrides"), w, k), w, h)
	}
	at := min(max(0, d.At), len(d.List)-1)
	foot := min(3, max(0, h-2))
	n := max(1, h-foot)
	from := max(0, min(at-n/2, len(d.List)-n))
	var out []string
	for i := from; i < len(d.List) && len(out) < n; i++ {
		out = append(out, d.row(&d.List[i], i == at, w, k))
	}
	out = block(out, w, n)
	o := &d.List[at]
	var tail []string
	if foot >= 3 {
		tail = append(tail, Rule(nil, nil, w, k))
	}
	tail = append(tail, NewRow(w, k).Add(k.Key, "Enter").Add(k.Dim, " "+k.Sayf("ends-it")+"  ").Add("", k.Tell(o.Release)).String())
	if o.Extend != "" {
		tail = append(tail, NewRow(w, k).Add(k.Key, "p").Add(k.Dim, "     "+k.Sayf("extends-it")+"  ").Add("", o.Extend).String())
	}
	return block(append(out, tail...), w, h)
}

func (d *Overrides) row(o *control.Override, on bool, w int, k Look) string {
	r := NewRow(w, k)
	if on {
		r.Add(k.Accent, k.Select+" ")
	} else {
		r.Add("", "  ")
	}
	kind := k.OverrideKind(o.Kind)
	r.Add(kindInk(o.Kind, k), kind).Pad(12).Add("", " ")
	left, ink := timeLeft(o, d.Now, k)
	by := strings.TrimPrefix(o.By, "operator:")
	rw := Width(left)
	if by != "" && w >= 60 {
		rw += Width(Clean(by)) + 2
	}
	text := NewRow(max(0, r.Left()-rw-2), k).Add("", d.told(o, k))
	n := text.max
	r.Painted(text.String(), n).Add("", "  ")
	if by != "" && w >= 60 {
		r.Add(k.Faint, by).Add("", "  ")
	}
	return r.Right(ink, left).String()
}

// told is the override in words, with its vendor where the words do not name it.
func (d *Overrides) told(o *control.Override, k Look) string {
	label := d.Labels[o.Vendor]
	if label == "" {
		label = o.Vendor
	}
	if o.Vendor == "" || strings.Contains(o.Text, o.Vendor) || strings.Contains(o.Text, label) {
		return k.Tell(o.Text)
	}
	return label + ": " + k.Tell(o.Text)
}

func timeLeft(o *control.Override, now time.Time, k Look) (string, theme.Style) {
	switch {
	case o.Until == nil:
		return k.Sayf("until-ended"), k.Dim
	case o.Ending:
		return MinSec(o.Until.Sub(now).Seconds()) + " " + k.LeftW, k.WarnBold
	}
	return Span2(o.Until.Sub(now)) + " " + k.LeftW, k.Dim
}

func kindInk(kind string, k Look) theme.Style {
	switch kind {
	case "fault", "disabled":
		return k.CritBold
	case "limit", "observe":
		return k.Note
	}
	return k.WarnBold
}

// OverrideKind is a kind of override in a word.
func (w *Words) OverrideKind(kind string) string {
	if s := w.Say["override-"+kind]; s != "" {
		return s
	}
	return kind
}

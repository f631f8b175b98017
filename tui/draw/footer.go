package draw

import "baton/tui/theme"

// Hint is a key and what it does.
type Hint struct {
	Key, Does string
	Off       bool // not possible now
}

// Hints draws the last line: lead, the first ones that fit, and last at the right.
func Hints(lead []Span, first, last []Hint, w int, k Look) string {
	r := NewRow(w, k)
	rw := 1
	for _, h := range last {
		rw += Width(h.Key) + Width(h.Does) + 3
	}
	if rw > w {
		last, rw = nil, 0
	}
	r.Add("", " ")
	r.max = max(1, w-rw)
	for _, s := range lead {
		r.Add(s.Style, s.Text)
	}
	r.max = w
	if len(lead) > 0 {
		r.Add("", "   ")
	}
	for _, h := range first {
		if r.w+Width(h.Key)+Width(h.Does)+3 > w-rw {
			break
		}
		r.hint(h, k).Add("", "  ")
	}
	if rw > 0 {
		r.Pad(w - rw + 1)
		for i, h := range last {
			if i > 0 {
				r.Add("", "  ")
			}
			r.hint(h, k)
		}
	}
	return r.String()
}

func (r *Row) hint(h Hint, k Look) *Row {
	key, does := k.Key, k.Dim
	if h.Off {
		key, does = k.Faint, k.Faint
	}
	return r.Add(key, h.Key).Add(does, " "+h.Does)
}

// Message is a line that says something: in place of the hints or as a banner.
func Message(st theme.Style, text string, w int, k Look) string {
	return NewRow(w, k).Add("", " ").Add(st, text).String()
}

// Banner is a line across on a coloured ground.
func Banner(st theme.Style, text string, w int, k Look) string {
	r := NewRow(w, k)
	r.Add(st, " "+text+" ")
	return r.String()
}

// Prompt is a line being typed; at is the cursor, in runes.
func Prompt(label, text string, at int, hint string, w int, k Look) string {
	rs := []rune(text)
	at = min(max(at, 0), len(rs))
	r := NewRow(w, k).Add("", " ").Add(k.Accent, label)
	before := string(rs[:at])
	for Width(before) > max(0, r.Left()-6) && len(before) > 0 {
		b := []rune(before)
		before = string(b[1:])
	}
	under, after := " ", ""
	if at < len(rs) {
		under, after = string(rs[at]), string(rs[at+1:])
	}
	r.Add("", before)
	if r.Left() > 0 {
		if k.Depth == theme.Plain {
			r.Add("", "_")
		} else {
			r.Add("\x1b[7m", under)
		}
	}
	r.Add("", after)
	if n := r.Left() - 3; n >= 12 {
		r.Add("", "   ").Add(k.Faint, hint)
	}
	return r.String()
}

package draw

import "baton/tui/theme"

// section is a titled part of a screen. Its rows are made for the width that it
// gets.
type section struct {
	title string
	note  string // at the title's right
	rows  func(w int) []string
}

// stack puts sections under each other in w x h; what does not fit is left out
// from the end, and a title never stands alone.
func stack(all []section, w, h int, k Look) []string {
	out := make([]string, 0, max(0, h))
	for _, s := range all {
		rows := s.rows(w)
		if len(rows) == 0 || h-len(out) < 2 {
			continue
		}
		var right []Span
		if s.note != "" {
			right = []Span{{k.Dim, s.note}}
		}
		out = append(out, Rule([]Span{{k.Strong, s.title}}, right, w, k))
		for _, l := range rows {
			if len(out) == h {
				break
			}
			out = append(out, l)
		}
	}
	return block(out, w, h)
}

// beside2 puts two columns of lines side by side with two cells between.
func beside2(left, right []string, lw, rw int) []string {
	n := max(len(left), len(right))
	out := make([]string, n)
	for i := range n {
		l, r := Blank(lw), Blank(rw)
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = l + "  " + r
	}
	return out
}

// inColumns is a screen of sections: two stacks where there is room, else one
// that holds the left ones first.
func inColumns(left, right []section, w, h int, k Look) []string {
	const wide = 76
	if w < wide || len(left) == 0 || len(right) == 0 {
		return stack(append(append([]section(nil), left...), right...), w, h, k)
	}
	lw := (w - 2) / 2
	rw := w - 2 - lw
	return block(beside2(stack(left, lw, h, k), stack(right, rw, h, k), lw, rw), w, h)
}

// wrapped are the lines of a text in a style.
func wrapped(st theme.Style, text string, w int, k Look) []string {
	var out []string
	for _, l := range Wrap(text, w) {
		out = append(out, NewRow(w, k).Add(st, l).String())
	}
	return out
}

// bulleted is a text whose further lines stand under its first one.
func bulleted(mark string, ink, st theme.Style, text string, w int, k Look) []string {
	indent := Width(mark) + 1
	var out []string
	for i, l := range Wrap(text, w-indent) {
		r := NewRow(w, k)
		if i == 0 {
			r.Add(ink, mark)
		}
		out = append(out, r.Pad(indent).Add(st, l).String())
	}
	return out
}

// Tab is the title of one of several screens in a box.
type Tab struct {
	Name string
	On   bool
}

// tabsOf are the titles, the open one marked.
func tabsOf(tabs []Tab, k Look) []Span {
	out := make([]Span, 0, 3*len(tabs))
	for i, t := range tabs {
		if i > 0 {
			out = append(out, Span{k.Edge, " " + k.Vertical + " "})
		}
		if t.On {
			out = append(out, Span{k.Accent, k.Select + t.Name})
		} else {
			out = append(out, Span{k.Dim, t.Name})
		}
	}
	return out
}

// Page is a screen with tabs around lines that are w-4 cells wide.
func Page(tabs []Tab, right []Span, body []string, w, h int, k Look) []string {
	if w < 24 || h < 5 {
		return block(body, w, h)
	}
	return Box(body, tabsOf(tabs, k), right, k.Accent, w, h, k)
}

// PageRoom is how many cells and rows a page has inside.
func PageRoom(w, h int) (int, int) {
	if w < 24 || h < 5 {
		return w, h
	}
	return w - 4, h - 2
}

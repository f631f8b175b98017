package draw

import (
	"strings"

	"baton/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

// Span is a text in a style.
type Span struct {
	Style theme.Style
	Text  string
}

func spansWidth(s []Span) int {
	n := 0
	for i := range s {
		n += Width(Clean(s[i].Text))
	}
	return n
}

// Box draws a frame of w x h around body, with a title at its left and one at
// its right. Lines of body are w-4 cells wide.
func Box(body []string, left, right []Span, edge theme.Style, w, h int, k Look) []string {
	if h < 2 || w < 6 {
		return block(nil, w, h)
	}
	out := make([]string, 0, h)
	out = append(out, edgeRow(k.TopLeft, k.TopRight, left, right, edge, w, k))
	side := string(edge) + k.Vertical
	if edge != "" {
		side += theme.Off
	}
	blank := Blank(w - 4)
	size := 0
	for _, l := range body {
		size += len(l)
	}
	all := make([]byte, 0, size+(h-2)*(2*len(side)+2+len(blank))) // one buffer for all rows
	ends := make([]int, 0, h)
	for i := range h - 2 {
		line := blank
		if i < len(body) {
			line = body[i]
		}
		all = append(append(append(append(append(all, side...), ' '), line...), ' '), side...)
		ends = append(ends, len(all))
	}
	text, from := string(all), 0
	for _, end := range ends {
		out = append(out, text[from:end])
		from = end
	}
	return append(out, edgeRow(k.BottomLeft, k.BottomRight, nil, nil, edge, w, k))
}

// edgeRow is a frame's upper or lower edge: ╭─ left ───── right ─╮.
func edgeRow(from, to string, left, right []Span, edge theme.Style, w int, k Look) string {
	r := NewRow(w-1, k)
	r.Add(edge, from)
	r.titles(left, right, edge, k)
	r.max = w
	r.Add(edge, to)
	return r.String()
}

// titles writes a rule to the row's end with titles in it. The right one goes
// first where both do not fit, then the left one is cut.
func (r *Row) titles(left, right []Span, edge theme.Style, k Look) {
	lw, rw := spansWidth(left), spansWidth(right)
	room := r.Left() - 1
	if rw > 0 && rw+3 > room {
		right, rw = nil, 0
	}
	if rw > 0 {
		room -= rw + 3
	}
	if lw > 0 && room > 4 {
		r.Fill(edge, k.Horizontal, 1).Add("", " ")
		end := r.max
		r.max = r.w + min(lw, room-3)
		for _, s := range left {
			r.Add(s.Style, s.Text)
		}
		r.max = end
		r.Add("", " ")
	}
	if rw == 0 {
		r.Fill(edge, k.Horizontal, r.Left())
		return
	}
	r.Fill(edge, k.Horizontal, r.Left()-rw-3).Add("", " ")
	for _, s := range right {
		r.Add(s.Style, s.Text)
	}
	r.Add("", " ").Fill(edge, k.Horizontal, 1)
}

// Rule is one line across, with titles.
func Rule(left, right []Span, w int, k Look) string {
	r := NewRow(w, k)
	r.titles(left, right, k.Edge, k)
	return r.String()
}

// Place lays top over lines with its upper left corner at x, y. Lines that it
// does not cover stay as they are; a wide character that it cuts in two is
// taken out whole.
func Place(lines, top []string, x, y, w int) {
	for i, over := range top {
		if y+i < 0 || y+i >= len(lines) {
			continue
		}
		n := ansi.StringWidth(over)
		if x < 0 || n <= 0 || x+n > w {
			if x <= 0 {
				lines[y+i] = Fit(over, w)
			}
			continue
		}
		lines[y+i] = beside(lines[y+i], over, x, n, w)
	}
}

// beside is under with over, n cells wide, at x.
func beside(under, over string, x, n, w int) string {
	left := ansi.Truncate(under, x, "")
	if strings.Contains(left, "\x1b") {
		left += theme.Off
	}
	right := ""
	for cut := x + n; cut <= x+n+1; cut++ { // the first cut may keep half of a wide character
		right = ansi.TruncateLeft(under, cut, "")
		if ansi.StringWidth(right) <= w-x-n {
			break
		}
	}
	return left + Blank(x-ansi.StringWidth(left)) + over + Blank(w-x-n-ansi.StringWidth(right)) + right
}

// Centre lays top over the middle of lines.
func Centre(lines, top []string, w int) {
	if len(top) == 0 {
		return
	}
	Place(lines, top, max(0, (w-ansi.StringWidth(top[0]))/2), max(0, (len(lines)-len(top))/2), w)
}

package draw

import (
	"strings"
	"unicode/utf8"

	"baton/tui/theme"

	"github.com/charmbracelet/x/ansi"
)

// Look is how things are drawn: colours, glyphs, language.
type Look struct {
	*theme.Theme
	*Words
}

// Arrows names the left and right keys.
func (k Look) Arrows() string {
	if k.ASCII {
		return "Left/Right"
	}
	return k.Glyphs.Left + k.Glyphs.Right
}

// Width is how many cells s takes; s holds no escapes.
func Width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != 0x7f {
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r >= 0x2500 && r <= 0x25ff, r == '…', r == '·', r == '✔', r == '✖', r == '→', r == '←', r == '–', r == '±':
			n++
		case r >= 0x4e00 && r <= 0x9fff, r >= 0xff01 && r <= 0xff60, r == '，', r == '。', r == '：', r == '；':
			n += 2
		default:
			return ansi.StringWidth(s)
		}
		i += size
	}
	return n
}

// Clean takes out of s what would move the cursor or colour the screen.
func Clean(s string) string {
	ok := true
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f {
			ok = false
			break
		}
	}
	if ok {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xad, r == utf8.RuneError, r == 0xfeff,
			r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0f:
			return -1
		}
		return r
	}, s)
}

// Row builds one line of at most max cells.
type Row struct {
	b      strings.Builder
	w, max int
	tail   string // drawn where a text is cut
}

// NewRow begins a line of w cells.
func NewRow(w int, k Look) *Row {
	r := &Row{max: max(w, 0), tail: k.Ellipsis}
	r.b.Grow(2*r.max + 64)
	return r
}

// Left is how many cells are free.
func (r *Row) Left() int { return r.max - r.w }

// Add writes s in a style, cut where the line ends.
func (r *Row) Add(st theme.Style, s string) *Row {
	if s == "" || r.w >= r.max {
		return r
	}
	s = Clean(s)
	n := Width(s)
	if n > r.max-r.w {
		s = ansi.Truncate(s, r.max-r.w, r.tail)
		n = Width(s)
	}
	r.raw(st, s, n)
	return r
}

func (r *Row) raw(st theme.Style, s string, n int) {
	if st != "" {
		r.b.WriteString(string(st))
	}
	r.b.WriteString(s)
	if st != "" {
		r.b.WriteString(theme.Off)
	}
	r.w += n
}

// Painted writes s, which may hold escapes and is n cells wide.
func (r *Row) Painted(s string, n int) *Row {
	if n > r.max-r.w {
		s = ansi.Truncate(s, r.max-r.w, "")
		n = ansi.StringWidth(s)
		s += theme.Off
	}
	r.b.WriteString(s)
	r.w += n
	return r
}

// Fill writes a glyph of one cell n times.
func (r *Row) Fill(st theme.Style, glyph string, n int) *Row {
	n = min(n, r.max-r.w)
	if n <= 0 {
		return r
	}
	if st != "" {
		r.b.WriteString(string(st))
	}
	for range n {
		r.b.WriteString(glyph)
	}
	if st != "" {
		r.b.WriteString(theme.Off)
	}
	r.w += n
	return r
}

// Pad writes spaces up to column n.
func (r *Row) Pad(n int) *Row { return r.Fill("", " ", n-r.w) }

// Right writes s at the right end, with a space before it at least; it gives
// way to what stands there already.
func (r *Row) Right(st theme.Style, s string) *Row {
	n := Width(Clean(s))
	r.Pad(r.max - n)
	return r.Add(st, s)
}

// String is the line, filled up with spaces.
func (r *Row) String() string {
	r.Pad(r.max)
	return r.b.String()
}

// Blank is a line of w spaces.
func Blank(w int) string {
	const spaces = "                                                                "
	if w <= len(spaces) {
		return spaces[:max(w, 0)]
	}
	return strings.Repeat(" ", w)
}

// Fit cuts s, which may hold escapes, or fills it up to w cells.
func Fit(s string, w int) string {
	n := ansi.StringWidth(s)
	if n > w {
		s = ansi.Truncate(s, max(w, 0), "")
		n = ansi.StringWidth(s)
		if strings.Contains(s, "\x1b") {
			s += theme.Off
		}
	}
	if n < w {
		s += Blank(w - n)
	}
	return s
}

// block gives lines exactly h lines, the missing ones blank.
func block(lines []string, w, h int) []string {
	if h < 0 {
		h = 0
	}
	if len(lines) > h {
		return lines[:h]
	}
	for len(lines) < h {
		lines = append(lines, Blank(w))
	}
	return lines
}

package draw

import (
	"iter"
	"strings"
)

// Question is a box that has to be answered.
type Question struct {
	Title string
	Text  []string // paragraphs
	Short []string // the same for a small box; nil: there is none
	Yes   string   // what y does
	Keep  string   // what k does, "" if k is no answer
	Typed bool     // the answer is typed instead of y
	Word  string   // what has to be typed
	Input string
	Crit  bool
}

// Lines draws the box, at most w x h; where the text does not fit, the short one.
func (q *Question) Lines(w, h int, k Look) []string {
	bw := min(w, 72)
	iw := bw - 4
	answers := q.answers(iw, k)
	room := max(0, h-2-len(answers))
	text := paragraphs(q.Text, iw)
	if len(text) > room && len(q.Short) > 0 {
		text = paragraphs(q.Short, iw)
	}
	if len(text) > room {
		text = text[:room]
		if room > 0 {
			text[room-1] += " " + k.Ellipsis
		}
	}
	body := make([]string, 0, h)
	for _, l := range text {
		body = append(body, NewRow(iw, k).Add("", l).String())
	}
	if len(body) < room {
		body = append(body, Blank(iw))
	}
	body = append(body, answers...)
	edge := k.Accent
	if q.Crit {
		edge = k.CritBold
	}
	return Box(body, []Span{{k.Strong, q.Title}}, nil, edge, bw, len(body)+2, k)
}

func paragraphs(text []string, w int) []string {
	var out []string
	for _, t := range text {
		out = append(out, Wrap(t, w)...)
	}
	return out
}

// answers stand side by side; one that does not fit begins another line.
func (q *Question) answers(w int, k Look) []string {
	var out []string
	all := [][]Span{{{k.Key, "y"}, {"", " " + q.Yes}}, {{k.Key, "n"}, {k.Strong, " " + k.No}, {k.Dim, " (Enter, Esc)"}}}
	switch {
	case q.Typed:
		out = append(out, NewRow(w, k).Add(k.Key, k.TypeWord(q.Word)+" ").Add(k.Strong, q.Input).Add("\x1b[7m", " ").String())
		all = [][]Span{{{k.Key, "Enter"}, {k.Dim, " " + q.Yes}}, {{k.Key, "Esc"}, {k.Dim, " " + k.No}}}
	case q.Keep != "":
		all = [][]Span{all[0], {{k.Key, "k"}, {"", " " + q.Keep}}, all[1]}
	}
	const gap = 3
	r := NewRow(w, k)
	for _, a := range all {
		switch {
		case r.w == 0:
		case gap+spansWidth(a) <= r.Left():
			r.Add("", Blank(gap))
		default:
			out = append(out, r.String())
			r = NewRow(w, k)
		}
		for _, s := range a {
			r.Add(s.Style, s.Text)
		}
	}
	return append(out, r.String())
}

// Wrap breaks s at spaces, and beside ideographs, into lines of at most w cells;
// a word that is longer is broken where it ends.
func Wrap(s string, w int) []string {
	s = Clean(s)
	if w < 2 {
		return nil
	}
	var out []string
	line := ""
	flush := func() {
		out = append(out, line)
		line = ""
	}
	for gap, piece := range pieces(s) {
		switch {
		case line == "":
			line = piece
		case Width(line)+len(gap)+Width(piece) <= w:
			line += gap + piece
		default:
			flush()
			line = piece
		}
		for Width(line) > w {
			n, cut := 0, 0
			for i, r := range line {
				rw := max(0, Width(string(r)))
				if n+rw > w {
					break
				}
				n += rw
				cut = i + len(string(r))
			}
			if cut == 0 {
				line = ""
				break
			}
			rest := line[cut:]
			line = line[:cut]
			flush()
			line = rest
		}
	}
	if line != "" || len(out) == 0 {
		flush()
	}
	return out
}

// pieces are what of s is not broken where there is room: words, and single
// ideographs with the punctuation that belongs to them; each with what stands
// before it on the same line.
func pieces(s string) iter.Seq2[string, string] {
	return func(yield func(gap, piece string) bool) {
		for word := range strings.FieldsSeq(s) {
			gap, from := " ", 0
			var last rune
			for i, r := range word {
				if i > from && breaks(last, r) {
					if !yield(gap, word[from:i]) {
						return
					}
					gap, from = "", i
				}
				last = r
			}
			if !yield(gap, word[from:]) {
				return
			}
		}
	}
}

const (
	closing = "，。：；、）》？！,.:;)?!%"
	opening = "（《("
)

// breaks says whether a line may end between two characters of a word.
func breaks(a, b rune) bool {
	wide := func(r rune) bool { return r >= 0x2e80 }
	return (wide(a) || wide(b)) && !strings.ContainsRune(closing, b) && !strings.ContainsRune(opening, a)
}

// List is a box with rows to choose from.
type List struct {
	Title, Hint string
	Rows        [][]Span
	At          int
}

// Lines draws the box, at most w x h.
func (d *List) Lines(w, h int, k Look) []string {
	bw := min(w, 100)
	iw := bw - 4
	if iw < 4 || h < 3 {
		return nil
	}
	room := h - 2
	from := max(0, min(d.At-room/2, len(d.Rows)-room))
	var body []string
	for i := from; i < len(d.Rows) && len(body) < room; i++ {
		r := NewRow(iw, k)
		if i == d.At {
			r.Add(k.Accent, k.Select+" ")
		} else {
			r.Add("", "  ")
		}
		for _, s := range d.Rows[i] {
			r.Add(s.Style, s.Text)
		}
		body = append(body, r.String())
	}
	return Box(body, []Span{{k.Strong, d.Title}}, []Span{{k.Dim, d.Hint}}, k.Accent, bw, len(body)+2, k)
}

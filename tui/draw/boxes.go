package draw

import "strings"

// Question is a box that has to be answered.
type Question struct {
	Title string
	Text  []string // paragraphs
	Yes   string   // what y does
	Keep  string   // what k does, "" if k is no answer
	Typed bool     // the answer is typed instead of y
	Word  string   // what has to be typed
	Input string
	Crit  bool
}

// Lines draws the box, at most w x h.
func (q *Question) Lines(w, h int, k Look) []string {
	bw := min(w, 72)
	iw := bw - 4
	var body []string
	for _, t := range q.Text {
		for _, l := range Wrap(t, iw) {
			body = append(body, NewRow(iw, k).Add("", l).String())
		}
	}
	answers := q.answers(iw, k)
	if room := h - 2 - len(answers); len(body) > room {
		body = body[:max(0, room)]
	} else if len(body)+1 <= room {
		body = append(body, Blank(iw))
	}
	body = append(body, answers...)
	edge := k.Accent
	if q.Crit {
		edge = k.CritBold
	}
	return Box(body, []Span{{k.Strong, q.Title}}, nil, edge, bw, len(body)+2, k)
}

func (q *Question) answers(w int, k Look) []string {
	r := NewRow(w, k)
	if q.Typed {
		r.Add(k.Key, k.TypeWord(q.Word)+" ").Add(k.Strong, q.Input).Add("\x1b[7m", " ")
		return []string{r.String(), NewRow(w, k).Add(k.Key, "Enter").Add(k.Dim, " "+q.Yes+"   ").Add(k.Key, "Esc").Add(k.Dim, " "+k.No).String()}
	}
	r.Add(k.Key, "y").Add("", " "+q.Yes)
	if q.Keep != "" {
		r.Add("", "   ").Add(k.Key, "k").Add("", " "+q.Keep)
	}
	no := []Span{{"", "   "}, {k.Key, "n"}, {k.Strong, " " + k.No}, {k.Dim, " (Enter, Esc)"}}
	if spansWidth(no) > r.Left() {
		s := NewRow(w, k).Add(k.Key, "n").Add(k.Strong, " "+k.No)
		return []string{r.String(), s.String()}
	}
	for _, s := range no {
		r.Add(s.Style, s.Text)
	}
	return []string{r.String()}
}

// Wrap breaks s at spaces into lines of at most w cells; a word that is longer,
// or a text without spaces, is broken where it ends.
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
	for word := range strings.FieldsSeq(s) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= w:
			line += " " + word
		default:
			flush()
			line = word
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

// Help is the list of keys.
type Help struct {
	Keys   []Hint
	Scroll int
	Note   string // why some are grey
}

// Lines draws the box, at most w x h; what does not fit is scrolled to.
func (d *Help) Lines(w, h int, k Look) []string {
	keyW, doesW := 0, 0
	for _, x := range d.Keys {
		keyW, doesW = max(keyW, Width(x.Key)), max(doesW, Width(x.Does))
	}
	cell := keyW + 2 + doesW
	cols := 1
	if w-4 >= 2*cell+4 {
		cols = 2
	}
	bw := min(w, cols*cell+(cols-1)*4+4)
	iw := bw - 4
	if iw < 4 || h < 3 {
		return nil
	}
	rows := (len(d.Keys) + cols - 1) / cols
	room := h - 2
	if d.Note != "" {
		room--
	}
	from := min(max(0, d.Scroll), max(0, rows-room))
	var body []string
	for y := from; y < rows && y < from+room; y++ {
		r := NewRow(iw, k)
		for c := range cols {
			i := c*rows + y
			if i >= len(d.Keys) {
				break
			}
			x := d.Keys[i]
			key, does := k.Key, k.Text
			if x.Off {
				key, does = k.Faint, k.Faint
			}
			r.Pad(c * (cell + 4))
			r.Add(key, x.Key).Pad(c*(cell+4)+keyW+2).Add(does, x.Does)
		}
		body = append(body, r.String())
	}
	if d.Note != "" {
		body = append(body, NewRow(iw, k).Add(k.Warn, d.Note).String())
	}
	right := []Span{{k.Dim, "Esc"}}
	if rows > room {
		right = []Span{{k.Dim, "PgUp PgDn  Esc"}}
	}
	return Box(body, []Span{{k.Strong, k.HelpTitle}}, right, k.Accent, bw, len(body)+2, k)
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

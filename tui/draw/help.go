package draw

import "baton/tui/theme"

// Help is the list of keys.
type Help struct {
	Keys   []Hint
	Scroll int
	Note   string // why some are grey
}

// helpShape is how the list lies in a box: one column or two, of so many cells
// for a key and for a text.
type helpShape struct {
	cols, key, does int
	room            int // rows
}

func (d *Help) shape(w, h int) helpShape {
	s := helpShape{cols: 1, room: h - 2}
	if d.Note != "" {
		s.room -= len(Wrap(d.Note, w-4))
	}
	for _, x := range d.Keys {
		s.key, s.does = max(s.key, Width(x.Key)), max(s.does, Width(x.Does))
	}
	cell := s.key + 2 + s.does
	switch {
	case w-4 >= 2*cell+4:
		s.cols = 2
	case w-4 < cell:
		s.key = max(1, min(s.key, (w-4)/2-2))
		s.does = max(1, w-4-s.key-2)
	}
	return s
}

// Most is how far the list can be scrolled in w x h; 0 where it fits.
func (d *Help) Most(w, h int, k Look) int {
	s := d.shape(w, h)
	return max(0, len(d.rows(s, k))-s.room)
}

// rows are the lines of the list, a text that is too long for one on several.
func (d *Help) rows(s helpShape, k Look) []string {
	w := s.cols*(s.key+2+s.does) + (s.cols-1)*4
	n := (len(d.Keys) + s.cols - 1) / s.cols
	var out []string
	for y := range n {
		if s.cols == 1 {
			out = append(out, d.entry(&d.Keys[y], s, w, k)...)
			continue
		}
		r := NewRow(w, k)
		for c := range s.cols {
			if i := c*n + y; i < len(d.Keys) {
				x := &d.Keys[i]
				key, does := x.inks(k)
				r.Pad(c*(s.key+2+s.does+4)).Add(key, x.Key).Pad(c*(s.key+2+s.does+4)+s.key+2).Add(does, x.Does)
			}
		}
		out = append(out, r.String())
	}
	return out
}

// entry is a key and its text; a key that is too long has a line of its own.
func (d *Help) entry(x *Hint, s helpShape, w int, k Look) []string {
	key, does := x.inks(k)
	var out []string
	r := NewRow(w, k).Add(key, x.Key)
	if Width(x.Key) > s.key {
		out = append(out, r.String())
		r = NewRow(w, k)
	}
	for i, l := range Wrap(x.Does, s.does) {
		if i > 0 {
			out = append(out, r.String())
			r = NewRow(w, k)
		}
		r.Pad(s.key+2).Add(does, l)
	}
	return append(out, r.String())
}

func (x *Hint) inks(k Look) (key, does theme.Style) {
	if x.Off {
		return k.Faint, k.Faint
	}
	return k.Key, k.Text
}

// Lines draws the box, at most w x h; what does not fit is scrolled to.
func (d *Help) Lines(w, h int, k Look) []string {
	if w < 8 || h < 3 {
		return nil
	}
	s := d.shape(w, h)
	rows := d.rows(s, k)
	bw := min(w, s.cols*(s.key+2+s.does)+(s.cols-1)*4+4)
	from := min(max(0, d.Scroll), max(0, len(rows)-s.room))
	right := []Span{{k.Dim, "Esc"}}
	if len(rows) > s.room {
		arrows := "↑↓"
		if k.ASCII {
			arrows = "Up Down"
		}
		right = []Span{{k.Dim, arrows + " PgUp PgDn  Esc"}}
		rows = rows[from:min(len(rows), from+max(0, s.room))]
	}
	body := rows
	if d.Note != "" {
		body = body[:len(body):len(body)]
		for _, l := range Wrap(d.Note, w-4) {
			body = append(body, NewRow(bw-4, k).Add(k.Warn, l).String())
		}
	}
	return Box(body, []Span{{k.Strong, k.HelpTitle}}, right, k.Accent, bw, min(h, len(body)+2), k)
}

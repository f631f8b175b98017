package tui

import "baton/tui/draw"

// screen puts painted blocks of lines together; they do not overlap.
type screen struct {
	w, h int
	rows [][]piece
}

// piece is a part of a row.
type piece struct {
	x, w int
	s    string
}

func newScreen(w, h int) *screen {
	const usual = 3 // pieces in a row; more are allocated
	s := &screen{w: w, h: h, rows: make([][]piece, h)}
	all := make([]piece, h*usual)
	for y := range s.rows {
		s.rows[y] = all[y*usual : y*usual : (y+1)*usual]
	}
	return s
}

// put places lines of r's width at r.
func (s *screen) put(r Rect, lines []string) {
	for i, l := range lines {
		y := r.Y + i
		if i >= r.H || y < 0 || y >= s.h || r.W <= 0 {
			continue
		}
		row := append(s.rows[y], piece{r.X, r.W, l})
		for j := len(row) - 1; j > 0 && row[j].x < row[j-1].x; j-- {
			row[j], row[j-1] = row[j-1], row[j]
		}
		s.rows[y] = row
	}
}

// lines are the screen's rows, each exactly w cells.
func (s *screen) lines() []string {
	out := make([]string, s.h)
	var b []byte
	for y, ps := range s.rows {
		if len(ps) == 1 && ps[0].x == 0 && ps[0].w == s.w {
			out[y] = ps[0].s
			continue
		}
		b = b[:0]
		x := 0
		for _, p := range ps {
			b = append(b, draw.Blank(p.x-x)...)
			b = append(b, p.s...)
			x = p.x + p.w
		}
		b = append(b, draw.Blank(s.w-x)...)
		out[y] = string(b)
	}
	return out
}

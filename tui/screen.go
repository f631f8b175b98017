package tui

import (
	"sort"
	"strings"

	"baton/tui/draw"
)

// screen puts painted blocks of lines together; they do not overlap.
type screen struct {
	w, h int
	rows [][]piece
}

type piece struct {
	x, w int
	s    string
}

func newScreen(w, h int) *screen {
	return &screen{w: w, h: h, rows: make([][]piece, h)}
}

// put places lines of r's width at r.
func (s *screen) put(r Rect, lines []string) {
	for i, l := range lines {
		if y := r.Y + i; i < r.H && y >= 0 && y < s.h && r.W > 0 {
			s.rows[y] = append(s.rows[y], piece{r.X, r.W, l})
		}
	}
}

// lines are the screen's rows, each exactly w cells.
func (s *screen) lines() []string {
	out := make([]string, s.h)
	var b strings.Builder
	for y, ps := range s.rows {
		if len(ps) == 1 && ps[0].x == 0 && ps[0].w == s.w {
			out[y] = ps[0].s
			continue
		}
		sort.Slice(ps, func(i, j int) bool { return ps[i].x < ps[j].x })
		b.Reset()
		x := 0
		for _, p := range ps {
			b.WriteString(draw.Blank(p.x - x))
			b.WriteString(p.s)
			x = p.x + p.w
		}
		b.WriteString(draw.Blank(s.w - x))
		out[y] = b.String()
	}
	return out
}

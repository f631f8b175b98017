package tui

import "baton/tui/draw"

// Rect is a part of the screen, in cells from the upper left corner.
type Rect struct{ X, Y, W, H int }

// Has says whether the cell lies in r.
func (r Rect) Has(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// Top is what stands above the vendors.
type Top uint8

// What may stand above the vendors.
const (
	TopNothing Top = iota
	TopWelcome
	TopDrill
	TopLine // a drill that tells nothing
)

// Shape is what a layout is made for.
type Shape struct {
	W, H     int
	Vendors  int
	Selected int
	Top      Top
	Banner   bool
	Welcome  int  // rows that the first screen asks for; 0: the most
	Zoom     bool // one vendor only
}

// Layout is where everything lies. Drawing and hit tests use the same one.
type Layout struct {
	Shape
	Header, Banner, Top, Events, Footer Rect
	First                               int    // the vendor of Panels[0]
	Panels, Sliders                     []Rect // a slider of no width is none
}

const (
	panelMost = 20 // rows of a panel; more go to the journal
	panelWide = 56 // cells that a panel should have
	panelSlim = 38 // and must have beside another one
	panelGood = 12 // rows from which on a panel has a graph
)

// Compute lays the screen out.
func Compute(s Shape) Layout {
	s.W, s.H, s.Vendors = max(s.W, 1), max(s.H, 1), max(s.Vendors, 0)
	s.Selected = min(max(s.Selected, 0), max(0, s.Vendors-1))
	l := Layout{Shape: s}
	top, bottom := 0, s.H
	row := func() Rect {
		r := Rect{0, top, s.W, 1}
		top++
		return r
	}
	l.Header = row()
	if s.H >= 3 {
		bottom--
		l.Footer = Rect{0, bottom, s.W, 1}
	}
	if s.Banner && s.H >= 6 {
		l.Banner = row()
	}
	l.Top = Rect{0, top, s.W, topHeight(s, bottom-top)}
	top += l.Top.H
	l.middle(Rect{0, top, s.W, max(0, bottom-top)})
	return l
}

// topHeight is how many rows the clock or the first screen gets of h.
func topHeight(s Shape, h int) int {
	switch s.Top {
	case TopDrill:
		switch {
		case s.W >= 100 && h >= 28:
			return 7
		case s.W >= 56 && h >= 17:
			return 5
		case h >= 14:
			return 3
		case h >= 10:
			return 2
		case h >= 2:
			return 1
		}
	case TopLine:
		if h >= 6 {
			return 1
		}
	case TopWelcome:
		switch {
		case s.W >= 56 && h >= 20:
			return welcomeHeight(s.Welcome)
		case s.W >= 56 && h >= 18:
			return min(6, welcomeHeight(s.Welcome))
		case s.W >= 56 && h >= 16:
			return 5
		case h >= 7:
			return 3
		}
	}
	return 0
}

const welcomeMost = 7 // rows of the first screen

func welcomeHeight(asked int) int {
	if asked <= 0 {
		return welcomeMost
	}
	return min(asked, welcomeMost)
}

// middle shares r between the vendors and the journal.
func (l *Layout) middle(r Rect) {
	if l.Vendors == 0 || r.H <= 0 {
		l.Events = r
		return
	}
	side := l.W >= 160 && l.H >= 38 // whatever stands above; the journal stands beside the panels
	if side {
		w := min(max(l.W/3, 50), 70)
		l.Events = Rect{r.X + r.W - w, r.Y, w, r.H}
		r.W -= w
	}
	if l.Zoom {
		h := r.H
		if !side {
			h = max(r.H-eventsLeast(r.H), 1)
			if r.H < 13 { // its failures are what it was opened for
				h = min(r.H, max(4, r.H-4))
			}
			l.Events = Rect{r.X, r.Y + h, r.W, r.H - h}
		}
		l.First = l.Selected
		l.add(Rect{r.X, r.Y, r.W, h})
		return
	}
	room := r.H
	if !side {
		room -= eventsLeast(r.H)
	}
	cols := columns(r.W, l.roomBesideDrill(side), l.Vendors)
	rows := (l.Vendors + cols - 1) / cols
	h := min(max(room/rows, 1), panelMost)
	visible := min(rows, max(room/h, 1))
	// The rows around the selected vendor.
	from := min(max(0, l.Selected/cols-visible/2), rows-visible)
	if side { // nothing else needs the rows
		h = max(h, room/visible)
	}
	l.First = from * cols
	for y := range visible {
		for x := range cols {
			if l.First+y*cols+x >= l.Vendors {
				break
			}
			x0, x1, ph := r.W*x/cols, r.W*(x+1)/cols, h
			if side && y == visible-1 {
				ph = r.H - y*h
			}
			l.add(Rect{r.X + x0, r.Y + y*h, x1 - x0, ph})
		}
	}
	if !side {
		used := visible * h
		l.Events = Rect{r.X, r.Y + used, r.W, max(0, r.H-used)}
	}
}

// eventsLeast is how many of h rows the journal keeps.
func eventsLeast(h int) int {
	switch {
	case h >= 24:
		return 7
	case h >= 19:
		return 6
	case h >= 16:
		return 4
	case h >= 13:
		return 3
	case h >= 7:
		return 1
	}
	return 0
}

// roomBesideDrill is how many rows panels have while a drill is shown. Columns
// go by it whether one is or not: a drill that appears must not change what lies
// under the mouse.
func (l *Layout) roomBesideDrill(side bool) int {
	s := l.Shape
	s.Top = TopDrill
	room := s.H - 2
	room -= topHeight(s, room)
	if !side {
		room -= eventsLeast(room)
	}
	return room
}

// columns is how many panels stand side by side: as many as have room to be
// wide; more, and slimmer, where fewer rows of panels make them high enough for
// a graph.
func columns(w, h, n int) int {
	cols := min(max(w/panelWide, 1), n)
	rows := func(c int) int { return (n + c - 1) / c }
	for c := cols + 1; c <= n && w/c >= panelSlim && h/rows(cols) < panelGood; c++ {
		if rows(c) < rows(cols) {
			cols = c
		}
	}
	return cols
}

// add places a panel and its slider.
func (l *Layout) add(r Rect) {
	l.Panels = append(l.Panels, r)
	var s Rect
	if x, y, n, ok := draw.SliderAt(r.W, r.H); ok {
		s = Rect{r.X + x, r.Y + y, n, 1}
	}
	l.Sliders = append(l.Sliders, s)
}

// SliderAt is the vendor whose slider is at the cell: a cell beside it counts,
// and where there is room the rows next to it too.
func (l *Layout) SliderAt(x, y int) (vendor int, ok bool) {
	tall := 0
	if l.W >= 100 {
		tall = 1
	}
	for i, s := range l.Sliders {
		if s.W > 0 && (Rect{s.X - 1, s.Y - tall, s.W + 2, 1 + 2*tall}).Has(x, y) {
			return l.First + i, true
		}
	}
	return 0, false
}

// PanelAt is the vendor whose panel is at the cell.
func (l *Layout) PanelAt(x, y int) (vendor int, ok bool) {
	for i, r := range l.Panels {
		if r.Has(x, y) {
			return l.First + i, true
		}
	}
	return 0, false
}

// Slider is the slider of a vendor; of no width when it is not on the screen.
func (l *Layout) Slider(vendor int) Rect {
	if i := vendor - l.First; i >= 0 && i < len(l.Sliders) {
		return l.Sliders[i]
	}
	return Rect{}
}

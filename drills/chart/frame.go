package chart

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
)

const (
	lineHeight = 15
	ticksX     = 9
	ticksY     = 5
)

// frame is what every chart has around its figures, and where they go.
type frame struct {
	strings.Builder
	title                    string
	w, h                     float64
	left, right, top, bottom float64 // the figures' rectangle
	x, y                     scale
}

// entry is one line of a legend.
type entry struct {
	name   string
	ink    int
	stroke Stroke
	filled bool
}

// open begins a chart with its title and legend.
func open(size Size, title string, legend []entry) *frame {
	f := &frame{w: float64(size.Width), h: float64(size.Height)}
	if f.w <= 0 {
		f.w = 860
	}
	if f.h <= 0 {
		f.h = 260
	}
	f.left, f.right, f.top, f.bottom = 58, f.w-14, 8, f.h-36
	f.title = title
	f.text(0, f.top+6, "title", "start", title)
	f.top += lineHeight
	f.legend(legend)
	return f
}

func (f *frame) legend(all []entry) {
	x, rows := 0.0, 0
	for _, e := range all {
		wide := 26 + width(e.name) + 16
		if rows == 0 || x+wide > f.w && x > 0 {
			x, rows = 0, rows+1
			f.top += lineHeight
		}
		y := f.top - 8
		if e.filled {
			fmt.Fprintf(f, `<rect %s x="%s" y="%s" width="14" height="10"/>`, areaLook(e.ink), num(x+3), num(y-1))
		} else {
			fmt.Fprintf(f, `<path %s d="M%s %sh18"/>`, lineLook(e.ink, e.stroke), num(x+1), num(y+4))
		}
		f.text(x+24, y+8, "name", "start", e.name)
		x += wide
	}
	f.top += 6
}

// plain is how things look where no style sheet is applied, as in some readers of
// mail and makers of PDF; CSS overrides it.
var plain = map[string]string{
	"grid": `stroke="#dfe4e8"`, "axis": `stroke="#5d6872"`, "span": `fill="#f6e3df"`, "moment": `stroke="#1c2126" stroke-dasharray="2 3"`,
	"limit": `stroke="#b3201f" stroke-dasharray="7 4"`, "error": `stroke="#1c2126"`,
	string(Solid): "", string(Dashed): ` stroke-dasharray="6 4"`, string(Dotted): ` stroke-dasharray="1.5 4"`,
}

var plainInks = [inks]string{"#0b63b8", "#b8480b", "#15753a", "#7a22c4", "#b3201f", "#0c6a82"}

// look is the attributes of something that is no figure.
func look(class string) string { return `class="` + class + `" ` + plain[class] }

// lineLook is the attributes of a line.
func lineLook(ink int, s Stroke) string {
	class := fmt.Sprintf("line l%d", ink)
	if s != Solid {
		class += " " + string(s)
	}
	return fmt.Sprintf(`class="%s" fill="none" stroke="%s" stroke-width="1.8"%s`, class, plainInks[ink-1], plain[string(s)])
}

// areaLook is the attributes of a filled area.
func areaLook(ink int) string {
	return fmt.Sprintf(`class="area f%d" fill="%s" fill-opacity=".75"`, ink, plainInks[ink-1])
}

// grid draws the Y axis, and the X axis where it has a scale.
func (f *frame) grid(labelY, labelX string) {
	for _, t := range f.y.ticks(ticksY) {
		y := f.y.at(t.v)
		fmt.Fprintf(f, `<path %s d="M%s %sH%s"/>`, look("grid"), num(f.left), num(y), num(f.right))
		f.text(f.left-6, y+4, "", "end", t.label)
	}
	if f.x.a != f.x.b {
		for _, t := range f.x.ticks(ticksX) {
			x := f.x.at(t.v)
			fmt.Fprintf(f, `<path %s d="M%s %sv4"/>`, look("axis"), num(x), num(f.bottom))
			f.text(x, f.bottom+16, "", "middle", t.label)
		}
	}
	fmt.Fprintf(f, `<path %s d="M%s %sH%s"/>`, look("axis"), num(f.left), num(f.bottom), num(f.right))
	if labelY != "" {
		x, y := 11.0, (f.top+f.bottom)/2
		fmt.Fprintf(f, `<text text-anchor="middle" transform="rotate(-90 %s %s)" x="%s" y="%s">%s</text>`, num(x), num(y), num(x), num(y), text(labelY))
	}
	f.text((f.left+f.right)/2, f.h-5, "", "middle", labelX)
}

// marks draws moments, their labels stacked so that none covers another.
func (f *frame) marks(all []placed) {
	for _, m := range all {
		y := f.top - float64(m.row)*lineHeight - 4
		fmt.Fprintf(f, `<path %s d="M%s %sV%s"/>`, look("moment"), num(m.x), num(y-8), num(f.bottom))
		f.text(m.from, y, "mark", "start", m.label)
	}
}

// placed is a mark whose label has found its place.
type placed struct {
	x, from float64 // the mark, and where its label begins
	row     int     // above the figures; 0 is the lowest
	label   string
}

// place finds rows for labels beside their marks, and makes room for them above
// the figures.
func (f *frame) place(marks []Mark) []placed {
	var out []placed
	rows := 0
	for i := len(marks) - 1; i >= 0; i-- { // the last lowest: none of the others' lines cross its label
		m := marks[i]
		if !f.x.axis.shows(m.X) {
			continue
		}
		x := f.x.at(m.X)
		if x < f.left-0.5 || x > f.right+0.5 {
			continue
		}
		wide := width(m.Label)
		from := x + 4
		if from+wide > f.w {
			from = x - 4 - wide
		}
		row := 0
		for _, p := range out {
			if p.row >= row && from+wide+8 > min(p.from, p.x) {
				row = p.row + 1 // above it: its line begins there
			}
		}
		out = append(out, placed{x, from, row, m.Label})
		rows = max(rows, row+1)
	}
	if rows > 0 { // the chart grows: the figures keep their room
		more := float64(rows*lineHeight) + 2
		f.top, f.bottom, f.h = f.top+more, f.bottom+more, f.h+more
	}
	return out
}

func (f *frame) spans(all []Span) {
	for _, s := range all {
		if !f.x.axis.shows(s.From) || !f.x.axis.shows(s.To) {
			continue
		}
		a, b := max(f.x.at(s.From), f.left), min(f.x.at(s.To), f.right)
		if b > a {
			fmt.Fprintf(f, `<rect %s x="%s" y="%s" width="%s" height="%s"/>`, look("span"), num(a), num(f.top), num(b-a), num(f.bottom-f.top))
		}
	}
}

func (f *frame) limits(all []Limit) {
	for _, l := range all {
		if !f.y.axis.shows(l.Y) {
			continue
		}
		y := f.y.at(l.Y)
		fmt.Fprintf(f, `<path %s d="M%s %sH%s"/>`, look("limit"), num(f.left), num(y), num(f.right))
		below := y - 4
		if below < f.top+8 { // the moments' labels are there
			below = y + 13
		}
		f.text(f.right, below, "", "end", l.Label)
	}
}

// empty ends a chart that has nothing to show.
func (f *frame) empty() string {
	f.text(f.w/2, f.h/2, "", "middle", "no figures")
	return f.close()
}

func (f *frame) close() string {
	return fmt.Sprintf(`<svg class="chart" viewBox="0 0 %s %s" role="img" font-family="sans-serif" font-size="12" xmlns="http://www.w3.org/2000/svg"><title>%s</title>%s</svg>`, num(f.w), num(f.h), text(f.title), f.String())
}

func (f *frame) text(x, y float64, class, anchor, s string) {
	if s == "" {
		return
	}
	f.WriteString("<text")
	if class != "" {
		f.WriteString(` class="` + class + `"`)
	}
	fmt.Fprintf(f, ` text-anchor="%s" x="%s" y="%s">%s</text>`, anchor, num(x), num(y), text(s))
}

// text escapes text, and drops what XML does not allow or what turns the
// direction of writing.
func text(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == 0xFFFE, r == 0xFFFF, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// width estimates how wide a text is, in pixels at 12px.
func width(s string) float64 {
	w := 0.0
	for _, r := range s {
		if r >= 0x1100 {
			w += 12.5
		} else {
			w += 6.7
		}
	}
	return w
}

// num writes a coordinate, to a tenth of a pixel.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

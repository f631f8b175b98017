package chart

import "fmt"

// Bar is one bar, with the interval that its figure lies in where it is known.
type Bar struct {
	Value     float64
	Low, High float64 // drawn where High is over Low
	Note      string  // shown on hovering
}

// BarSet is the bars of one colour, one for each group.
type BarSet struct {
	Name string
	Ink  int // the colour, 1 to 6; 0: by its place among the sets
	Bars []Bar
}

// Bars is groups of bars from zero, side by side.
type Bars struct {
	Title  string
	Y      Axis // never Log: a bar's length is its figure
	LabelX string
	Groups []string
	Sets   []BarSet
	Limits []Limit
	Size   Size
}

// SVG draws it.
func (c Bars) SVG() string {
	var legend []entry
	var ys []float64
	for i, s := range c.Sets {
		legend = append(legend, entry{name: s.Name, ink: ink(s.Ink, i), filled: true})
		for j, b := range s.Bars {
			if j < len(c.Groups) && finite(b.Value) {
				ys = append(ys, b.Value)
				if b.High > b.Low {
					ys = append(ys, b.Low, b.High)
				}
			}
		}
	}
	f := open(c.Size, c.Title, legend)
	f.top += 6
	if len(ys) == 0 {
		return f.empty()
	}
	for _, l := range c.Limits {
		ys = append(ys, l.Y)
	}
	axis := c.Y
	axis.Scale, axis.Zero = Linear, true
	f.y, _ = newScale(axis, ys, f.bottom, f.top)
	f.y = f.y.round(ticksY)
	f.grid(c.Y.Label, c.LabelX)
	room := (f.right - f.left) / float64(len(c.Groups))
	wide := min(48, room*0.8/float64(len(c.Sets)))
	for j, g := range c.Groups {
		mid := f.left + (float64(j)+0.5)*room
		f.text(mid, f.bottom+16, "", "middle", g)
		for i, s := range c.Sets {
			if j < len(s.Bars) {
				f.bar(mid+(float64(i)-float64(len(c.Sets))/2)*wide, wide, legend[i].ink, s.Bars[j])
			}
		}
	}
	f.limits(c.Limits)
	return f.close()
}

func (f *frame) bar(x, wide float64, ink int, b Bar) {
	if !finite(b.Value) {
		f.text(x+wide/2, f.y.at(0)-4, "", "middle", "n/a")
		return
	}
	zero, y := f.y.at(0), f.y.at(b.Value)
	fmt.Fprintf(f, `<rect %s x="%s" y="%s" width="%s" height="%s">`, areaLook(ink), num(x+1), num(min(y, zero)), num(max(wide-2, 1)), num(max(zero-y, y-zero)))
	if b.Note != "" {
		f.WriteString("<title>" + text(b.Note) + "</title>")
	}
	f.WriteString("</rect>")
	if finite(b.Low) && finite(b.High) && b.High > b.Low {
		mid := x + wide/2
		fmt.Fprintf(f, `<path %s d="M%s %sh8M%s %sV%sM%s %sh8"/>`, look("error"), num(mid-4), num(f.y.at(b.High)), num(mid), num(f.y.at(b.High)), num(f.y.at(b.Low)), num(mid-4), num(f.y.at(b.Low)))
	}
}

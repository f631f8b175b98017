package draw

import (
	"strconv"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Panel is one vendor as it is drawn.
type Panel struct {
	N        int  // its digit
	whole    bool // the whole screen is its: what has a row of its own is not told twice
	V        *control.Vendor
	Selected bool
	Locked   bool    // its weight does not make room for others
	Staged   bool    // Draft is not applied yet
	Applying bool    // it is on its way
	Draft    float64 // percent; meant while Staged
	Lost     bool    // the engine is out of reach: rates are not known
	Because  bool    // has a row for why, also where there is little room
	Held     bool    // a vendor is out: weights do not go to what they are pinned to now
	Spare    int     // rows that it has beyond the lowest panel; graphs of all are the same
	PinUntil string  // when its pin ends, in the operator's time; "" without a pin
	PinAt    float64 // percent that it is pinned to, which it has not while a vendor is out
	// Weight, Target and Share are whole percents, rounded together with those
	// of the other vendors so that each row of them sums to 100; Share is -1
	// where it is not known.
	Weight, Target, Share float64
	WhyOf                 string  // the label of the other vendor that the reason of the weight is about; "": its own
	Hi                    float64 // upper end of the shared scale, milliseconds
	Now                   time.Time
	SLO                   control.Targets
}

// Shown is the weight that the slider stands at.
func (p *Panel) Shown() float64 {
	if p.Staged {
		return p.Draft
	}
	return p.Weight
}

// told says whether why has a row of its own in any case.
func (p *Panel) told() bool { return p.Because || p.V.Fault != nil }

// Alive says whether the vendor may take traffic.
func (p *Panel) Alive() bool { return Alive(p.V.State) }

// Alive says whether a vendor in that state may take traffic.
func Alive(state string) bool {
	return state != control.Ejected && state != control.Drained && state != control.Disabled
}

// boxed says whether a panel of that size has a frame.
func boxed(w, h int) bool { return w >= 34 && h >= 5 }

// number is the room right of a slider: " 100%".
const number = 5

// SliderAt is where in a panel of w x h its slider lies: column, row, cells.
func SliderAt(w, h int) (x, y, n int, ok bool) {
	if boxed(w, h) {
		return 2, h - 2, w - 4 - number, true
	}
	if h >= 2 && w >= 16 {
		return 2, h - 1, w - 3 - number, true
	}
	return 0, 0, 0, false
}

// Lines draws the panel.
func (p *Panel) Lines(w, h int, k Look) []string {
	if h <= 0 {
		return nil
	}
	if !boxed(w, h) {
		return p.flat(w, h, k)
	}
	edge := k.Edge
	if p.Selected {
		edge = k.Accent
	}
	return p.box(p.body(w-4, h-2, k), edge, w, h, k)
}

// box is the panel's frame with its titles around body.
func (p *Panel) box(body []string, edge theme.Style, w, h int, k Look) []string {
	right := p.state(w, k)
	room := w - 9 - spansWidth(right) // corners, rules and spaces of both titles
	return Box(body, p.name(room, k), right, edge, w, h, k)
}

// name is the left title of the frame: what of it fits whole beside the state.
func (p *Panel) name(room int, k Look) []Span {
	digit := k.Dim
	mark := ""
	if p.Selected {
		digit, mark = k.Accent, k.Select+" "
	}
	s := append(make([]Span, 0, 6), Span{digit, mark + strconv.Itoa(p.N) + " "}, Span{k.Strong, p.label()})
	add := func(st theme.Style, text string) {
		if text != "" && spansWidth(s)+Width(Clean(text)) <= room {
			s = append(s, Span{st, text})
		}
	}
	if p.Locked {
		add(k.WarnBold, " "+k.Dot+" "+k.Locked)
	}
	if p.V.Label != "" && p.V.Label != p.V.Name {
		add(k.Dim, " "+p.V.Name)
	}
	add(k.Dim, " "+k.Dot+" "+k.role(p.V.Role))
	return s
}

func (p *Panel) label() string {
	if p.V.Label != "" {
		return p.V.Label
	}
	return p.V.Name
}

// state is the right title: whether it is simulated, and how it is.
func (p *Panel) state(w int, k Look) []Span {
	s := make([]Span, 0, 3)
	if p.V.Simulated {
		s = append(s, Span{k.Dim, k.Simulated}, Span{"", "  "})
	}
	glyph, word, st := StateWord(p.V.State, k)
	text := glyph + " " + word
	if p.V.State != control.Healthy && !p.V.StateSince.IsZero() && w >= 44 {
		text += " " + since(p.V.StateSince, p.Now)
	}
	return append(s, Span{st, text})
}

// StateWord is a state's glyph, word and style.
func StateWord(state string, k Look) (glyph, word string, st theme.Style) {
	switch state {
	case control.Healthy:
		return k.Glyphs.Healthy, k.Words.Healthy, k.OKBold
	case control.Degraded:
		return k.Glyphs.Degraded, k.Words.Degraded, k.WarnBold
	case control.Ejected:
		return k.Glyphs.Ejected, k.Words.Ejected, k.CritBold
	case control.Recovering:
		return k.Glyphs.Recovering, k.Words.Recovering, k.Note
	case control.Drained:
		return k.Glyphs.Drained, k.Words.Drained, k.WarnBold
	case control.Disabled:
		return k.Glyphs.Disabled, k.Words.Disabled, k.CritBold
	}
	return k.Ahead, state, k.Dim
}

// body is the inside of the frame: figures, a graph where there is room, the
// slider last.
func (p *Panel) body(w, h int, k Look) []string {
	out := make([]string, 0, h)
	rest := h - 1 // the slider
	take := func(line string) {
		if rest > 0 {
			out = append(out, line)
			rest--
		}
	}
	take(p.quantiles(k.FirstToken, k.First, p.V.FirstToken["60s"], w, k))
	if rest >= 2 {
		take(p.quantiles(k.WholeAnswer, k.WholeShort, p.V.Latency["60s"], w, k))
	}
	take(p.load(w, k))
	var tail []string
	if rest >= 2 {
		tail = append(tail, p.weights(w, k))
		rest--
	}
	if rest >= 6 || rest >= 1 && p.told() {
		tail = append([]string{p.because(w, k)}, tail...)
		rest--
	}
	out = append(out, p.chart(w, rest-p.Spare, k)...)
	out = append(out, block(nil, w, min(rest, p.Spare))...)
	out = append(out, tail...)
	return append(out, p.sliderRow(w, k))
}

func (p *Panel) sliderRow(w int, k Look) string {
	n := w - number
	if n < 1 {
		return Blank(w)
	}
	return NewRow(w, k).Painted(Slider(p, n, k), n).Right(p.weightInk(k), Whole(p.Shown())).String()
}

func (p *Panel) weightInk(k Look) theme.Style {
	switch {
	case p.Staged:
		return k.Theme.Staged
	case !p.Alive():
		return k.Dim
	case p.Selected:
		return k.Accent
	}
	return k.Strong
}

// flat is the panel without a frame, for one to four rows.
func (p *Panel) flat(w, h int, k Look) []string {
	out := []string{p.line(w, h, k)}
	if h >= 3 {
		r := NewRow(w, k).Add("", "  ")
		l := p.V.FirstToken["60s"]
		ink := k.Strong
		if l.Count < 50 {
			ink = k.Faint
		}
		r.Add(k.Theme.P90, "P90 ").Add(ink, Millis(l.P90ms)).Add(k.Theme.P99, " P99 ").Add(ink, Millis(l.P99ms))
		r.Add(k.Dim, " "+k.Err+" ").Add(errorInk(p.V.Errors.Rate60s, k), Percent(p.V.Errors.Rate60s))
		rps, n := p.rates()
		r.Add(k.Strong, " "+rps).Add(k.Dim, "/s ")
		if Width(n)+1+Width(k.InFlight) <= r.Left() {
			r.Add(k.Strong, n).Add(k.Dim, " "+k.InFlight)
		}
		out = append(out, r.String())
	}
	if h >= 4 {
		out = append(out, NewRow(w, k).Add("", "  ").Painted(p.because(max(0, w-2), k), max(0, w-2)).String())
	}
	if h >= 2 {
		x, _, n, ok := SliderAt(w, h)
		if ok {
			r := NewRow(w, k).Pad(x).Painted(Slider(p, n, k), n)
			out = append(out, r.Add("", " ").Pad(w-number).Right(p.weightInk(k), Whole(p.Shown())).String())
		}
	}
	return block(out, w, h)
}

// line is the vendor in one row: who, how, and as many figures as there is
// room for.
func (p *Panel) line(w, h int, k Look) string {
	r := NewRow(w, k)
	mark, digit := " ", k.Dim
	if p.Selected {
		mark, digit = k.Select, k.Accent
	}
	glyph, word, st := StateWord(p.V.State, k)
	r.Add(digit, mark+strconv.Itoa(p.N)+" ").Add(k.Strong, p.label()).Add("", " ").Add(st, glyph+" "+word)
	var right []Span
	add := func(s ...Span) {
		if spansWidth(right)+spansWidth(s)+1 <= r.Left() {
			right = append(right, s...)
		}
	}
	if h == 1 {
		add(Span{"", " "}, Span{p.weightInk(k), Whole(p.Shown())})
		add(Span{"", " "}, Span{k.Theme.P99, "P99 "}, Span{k.Strong, Millis(p.V.FirstToken["60s"].P99ms)})
	} else if h == 2 {
		add(Span{"", " "}, Span{k.Theme.P99, "P99 "}, Span{k.Strong, Millis(p.V.FirstToken["60s"].P99ms)})
	}
	if p.V.Simulated {
		add(Span{"", " "}, Span{k.Dim, k.Simulated})
	}
	if p.V.Fault != nil {
		add(Span{"", " "}, Span{k.CritBold, k.Fault})
	}
	if p.Locked {
		add(Span{"", " "}, Span{k.WarnBold, k.Locked})
	}
	r.Pad(r.max - spansWidth(right))
	for _, s := range right {
		r.Add(s.Style, s.Text)
	}
	return r.String()
}

package draw

import (
	"math"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/theme"
)

// Panel is one vendor as it is drawn.
type Panel struct {
	N        int // its digit
	V        *control.Vendor
	Selected bool
	Locked   bool    // its weight does not make room for others
	Staged   bool    // Draft is not applied yet
	Applying bool    // it is on its way
	Draft    float64 // percent; meant while Staged
	Hi       float64 // upper end of the shared scale, milliseconds
	Now      time.Time
	SLO      control.Targets
}

// Shown is the weight that the slider stands at.
func (p *Panel) Shown() float64 {
	if p.Staged {
		return p.Draft
	}
	return p.V.Weight
}

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
	edge := k.Faint
	if p.Selected {
		edge = k.Accent
	}
	return Box(p.body(w-4, h-2, k), p.name(w, k), p.state(w, k), edge, w, h, k)
}

// name is the left title of the frame.
func (p *Panel) name(w int, k Look) []Span {
	digit := k.Dim
	mark := ""
	if p.Selected {
		digit, mark = k.Accent, k.Select+" "
	}
	s := []Span{{digit, mark + strconv.Itoa(p.N) + " "}, {k.Strong, p.label()}}
	if w >= 44 && p.V.Label != "" && p.V.Label != p.V.Name {
		s = append(s, Span{k.Dim, " " + p.V.Name})
	}
	if w >= 54 {
		s = append(s, Span{k.Dim, " " + k.Dot + " " + k.role(p.V.Role)})
	}
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
	var s []Span
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
	return k.Todo, state, k.Dim
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
	if rest >= 6 {
		tail = append([]string{p.because(w, k)}, tail...)
		rest--
	}
	out = append(out, p.chart(w, rest, k)...)
	out = append(out, tail...)
	return append(out, p.sliderRow(w, k))
}

// chart is the graph with its axis, or what of it h rows hold.
func (p *Panel) chart(w, h int, k Look) []string {
	switch {
	case h <= 0:
		return nil
	case h >= 4:
		cols := w - gutter
		p90, p99, failed, span := p.history(cols + 1)
		return append(Graph(p90, p99, w, h-1, p.Hi, k), axis(failed, w, span, k))
	}
	right := " " + millis(p.Hi)
	n := w - 4 - len(right)
	if n < 4 {
		return block(nil, w, h)
	}
	p90, p99, failed, _ := p.history(n)
	out := []string{NewRow(w, k).Add(k.Theme.P99, "P99 ").Painted(Spark(k.Theme.P99, p99, failed, n, p.Hi, k), n).Add(k.Faint, right).String()}
	if h >= 3 {
		out = append(out, NewRow(w, k).Add(k.Theme.P90, "P90 ").Painted(Spark(k.Theme.P90, p90, nil, n, p.Hi, k), n).String())
	}
	if h >= 2 {
		out = append(out, p.because(w, k))
	}
	return block(out, w, h)
}

// history brings the vendor's last minutes to n columns.
func (p *Panel) history(n int) (p90, p99, failed []float64, span float64) {
	hist := &p.V.History
	stepS := hist.StepS
	if !(stepS > 0) {
		stepS = 1
	}
	step := stepFor(n, stepS)
	tick := int64(math.Floor(float64(p.Now.UnixMilli()) / 1000 / stepS))
	return Columns(hist.P90ms, n, step, tick), Columns(hist.P99ms, n, step, tick), Columns(hist.Failed, n, step, tick), float64(n*step) * stepS
}

// quantiles is one kind's P90 and P99 over a window, with its count.
func (p *Panel) quantiles(long, brief string, l control.Latency, w int, k Look) string {
	r := NewRow(w, k)
	wide := w >= 46
	value := k.Strong
	if l.Count < 50 {
		value = k.Faint
	}
	gap := 1
	if wide {
		r.Add(k.Dim, long).Pad(14)
		gap = 3
	} else {
		r.Add(k.Dim, brief).Pad(6)
	}
	figure := func(name string, st theme.Style, v *float64, limit float64) {
		ink := value
		if l.Count >= 50 && v != nil && limit > 0 && *v > limit {
			ink = k.WarnBold
		}
		s := Millis(v)
		r.Add(st, name).Pad(r.w+6-Width(s)).Add(ink, s).Fill("", " ", gap)
	}
	slo90, slo99 := p.SLO.SLOP90ms, p.SLO.SLOP99ms
	if long != k.FirstToken {
		slo90, slo99 = 0, 0 // the objectives are of first tokens
	}
	figure("P90", k.Theme.P90, l.P90ms, slo90)
	figure("P99", k.Theme.P99, l.P99ms, slo99)
	if wide {
		r.Add(k.Faint, "n "+Count(int64(l.Count)))
	} else {
		r.Add(k.Faint, "n"+short(l.Count))
	}
	return r.String()
}

// load is the error rate, the rate and what is in flight.
func (p *Panel) load(w int, k Look) string {
	r := NewRow(w, k)
	gap, per := 1, "/s"
	if w >= 46 {
		r.Add(k.Dim, k.Errors).Pad(14)
		gap, per = 3, " "+k.ReqS
	} else {
		r.Add(k.Dim, k.Err).Pad(6)
	}
	rate := p.V.Errors.Rate60s
	r.Add(errorInk(rate, k), Percent(rate)).Fill("", " ", gap)
	r.Add(k.Strong, Rate(p.V.RPS)).Add(k.Dim, per).Fill("", " ", gap)
	r.Add(k.Strong, strconv.Itoa(p.V.InFlight)).Add(k.Dim, " "+k.InFlight)
	if l := p.V.Limit.AllowedRPS; l != nil && r.Left() > 14 {
		r.Fill("", " ", gap).Add(k.Warn, k.Limit+" "+Rate(*l)+"/s")
	}
	return r.String()
}

func errorInk(rate *float64, k Look) theme.Style {
	switch {
	case rate == nil:
		return k.Faint
	case *rate >= 0.02:
		return k.CritBold
	case *rate >= 0.0005:
		return k.WarnBold
	}
	return k.Strong
}

// weights is where the weight stands, goes and what is carried.
func (p *Panel) weights(w int, k Look) string {
	r := NewRow(w, k)
	wide := w >= 46
	if wide {
		r.Add(k.Dim, k.Weight).Pad(14)
	}
	switch {
	case p.Staged:
		r.Add(k.Theme.Staged, Whole(p.V.Weight)+" "+k.Arrow+" "+Whole(p.Draft)+"  ")
		word := k.Words.Staged
		if p.Applying {
			word = k.Applying
		}
		r.Add(k.Theme.Staged, word)
		return p.locked(r, k).String()
	case math.Abs(p.V.Target-p.V.Weight) >= 0.5:
		r.Add(k.Note, Whole(p.V.Weight)+" "+k.Arrow+" "+Whole(p.V.Target))
	default:
		r.Add(k.Dim, k.TargetW+" ").Add("", Whole(p.V.Target))
	}
	r.Add("", "  ").Add(k.Dim, k.Share+" ")
	share := unknown
	if s := p.V.Share60s; s != nil {
		share = Whole(*s)
	}
	r.Add("", share)
	if p.V.Band[1] > 0 && r.Left() >= 14 {
		r.Add(k.Dim, "  "+k.Band+" ").Add(k.Dim, strconv.FormatFloat(p.V.Band[0], 'f', -1, 64)+"-"+strconv.FormatFloat(p.V.Band[1], 'f', -1, 64))
	}
	if p.V.Pinned {
		r.Add(k.Warn, "  "+k.Pinned)
	}
	return p.locked(r, k).String()
}

func (p *Panel) locked(r *Row, k Look) *Row {
	if p.Locked {
		r.Add(k.Warn, "  "+k.Locked)
	}
	return r
}

// because says what a person should know of the vendor: a fault first, then
// why it is not healthy, then why its weight moved last.
func (p *Panel) because(w int, k Look) string {
	r := NewRow(w, k)
	if f := p.V.Fault; f != nil {
		r.Add(k.CritBold, k.Fault+" "+f.Kind)
		if f.Percent < 100 {
			r.Add(k.Crit, " "+Whole(f.Percent))
		}
		if !f.Until.IsZero() {
			r.Add(k.Crit, " "+k.Dot+" "+k.EndsIn+" "+MinSec(f.Until.Sub(p.Now).Seconds()))
		}
		if p.V.Reason != "" && r.Left() > 12 {
			r.Add(k.Dim, " "+k.Dot+" "+p.V.Reason)
		}
		return r.String()
	}
	switch {
	case p.V.State != control.Healthy && p.V.Reason != "":
		ink := k.Warn
		if !p.Alive() {
			ink = k.Crit
		}
		r.Add(ink, p.V.Reason)
	case len(p.V.Overrides) > 0:
		r.Add(k.Warn, strings.Join(p.V.Overrides, ", "))
	default:
		r.Add(k.Dim, p.V.Why)
	}
	return r.String()
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
		r.Add(k.Strong, " "+Rate(p.V.RPS)).Add(k.Dim, "/s ")
		if n := strconv.Itoa(p.V.InFlight); Width(n)+1+Width(k.InFlight) <= r.Left() {
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
	r.Pad(r.max - spansWidth(right))
	for _, s := range right {
		r.Add(s.Style, s.Text)
	}
	return r.String()
}

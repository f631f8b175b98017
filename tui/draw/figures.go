package draw

import (
	"math"
	"strconv"
	"strings"

	"baton/engine/control"
	"baton/tui/theme"
)

// chart is the graph with its axis, or what of it h rows hold.
func (p *Panel) chart(w, h int, k Look) []string {
	switch {
	case h <= 0:
		return nil
	case h >= 4:
		cols := w - gutter
		p90, p99, failed, span := p.history(cols + 1)
		var out []string
		if h >= 7 { // lower ones need the row
			out, h = append(out, chartTitle(w, k)), h-1
		}
		return append(append(out, Graph(p90, p99, w, h-1, p.Hi, k)...), axis(failed, w, span, k))
	}
	right := " " + millis(p.Hi)
	n := w - 4 - len(right)
	if n < 4 {
		return block(nil, w, h)
	}
	p90, p99, failed, _ := p.history(n)
	out := []string{NewRow(w, k).Add(k.Theme.P99, "P99 ").Painted(Spark(k.Theme.P99, p99, failed, n, p.Hi, k), n).Add(k.Faint, right).String()}
	told := p.told()
	if h >= 3 || told && h >= 2 {
		out = append(out, NewRow(w, k).Add(k.Theme.P90, "P90 ").Painted(Spark(k.Theme.P90, p90, nil, n, p.Hi, k), n).String())
	}
	if h >= 2 && !told {
		out = append(out, p.because(w, k))
	}
	return block(out, w, h)
}

// chartTitle says what the two lines are, and in what unit.
func chartTitle(w int, k Look) string {
	sets := charSets(k, 2)
	r := NewRow(w, k).Pad(3).Add(k.Faint, "s").Pad(gutter + 1)
	r.Add(k.Theme.P90, sets[0].Horizontal+" P90").Add("", "  ").Add(k.Theme.P99, sets[1].Horizontal+" P99")
	if text := "  " + k.FirstToken; Width(text) <= r.Left() {
		r.Add(k.Faint, text)
	}
	return r.String()
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
	rps, flying := p.rates()
	r.Add(k.Strong, rps).Add(k.Dim, per).Fill("", " ", gap)
	if x := p.V.InFlightLimit; x != nil && !p.Lost {
		flying += "/" + round(*x)
	}
	r.Add(k.Strong, flying).Add(k.Dim, " "+k.InFlight)
	if l := p.V.Limit.AllowedRPS; l != nil && r.Left() > 14 {
		r.Fill("", " ", gap).Add(k.Warn, k.Limit+" "+Rate(*l)+"/s")
	}
	return r.String()
}

// rates are requests per second and what is in flight; of an engine that is
// out of reach nobody knows them.
func (p *Panel) rates() (rps, flying string) {
	if p.Lost {
		return unknown, unknown
	}
	return Rate(p.V.RPS), strconv.Itoa(p.V.InFlight)
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

// weights is where the weight stands, goes and what is carried: whole parts of
// it, the least important ones left out where there is no room.
func (p *Panel) weights(w int, k Look) string {
	r := NewRow(w, k)
	if w >= 46 {
		r.Add(k.Dim, k.Words.Weight).Pad(14)
	}
	for i, form := range pack(p.weightParts(k), r.Left(), 2) {
		if i > 0 {
			r.Add("", "  ")
		}
		for _, s := range form {
			r.Add(s.Style, s.Text)
		}
	}
	return r.String()
}

func (p *Panel) weightParts(k Look) []segment {
	same := func(rank int, s ...Span) segment { return segment{long: s, short: s, rank: rank} }
	var segs []segment
	if p.Staged {
		word := k.Words.Staged
		if p.Applying {
			word = k.Applying
		}
		segs = append(segs, same(0, Span{k.Theme.Staged, Whole(p.Weight) + " " + k.Arrow + " " + Whole(p.Draft) + "  " + word}))
	} else {
		segs = append(segs, same(0, p.heading(k)...))
	}
	if p.Locked {
		segs = append(segs, same(0, Span{k.WarnBold, k.Locked}))
	}
	if p.Staged {
		return segs
	}
	share := unknown
	if p.Share >= 0 {
		share = Whole(p.Share)
	}
	segs = append(segs, same(2, Span{k.Dim, k.Words.Share + " "}, Span{"", share}))
	if band := p.band(k); len(band.long) > 0 {
		segs = append(segs, band)
	}
	if p.V.Pinned {
		segs = append(segs, same(1, Span{k.Warn, k.Pinned}))
	}
	return segs
}

// heading is where the weight goes; a difference that rounds to nothing is none,
// and the weight of a vendor that is out goes nowhere now.
func (p *Panel) heading(k Look) []Span {
	if math.Abs(p.V.Target-p.V.Weight) < 0.5 || p.Weight == p.Target || !p.Alive() || p.Held {
		return []Span{{k.Dim, k.TargetW + " "}, {"", Whole(p.Target)}}
	}
	return []Span{{k.Note, Whole(p.Weight) + " " + k.Arrow + " " + Whole(p.Target)}}
}

// band is the vendor's band; marked where the weight lies outside.
func (p *Panel) band(k Look) segment {
	b := p.V.Band
	if !(b[1] > 0) {
		return segment{}
	}
	text := strconv.FormatFloat(b[0], 'f', -1, 64) + "-" + strconv.FormatFloat(b[1], 'f', -1, 64)
	if p.Alive() && (p.V.Weight < b[0]-0.5 || p.V.Weight > b[1]+0.5) {
		return segment{long: []Span{{k.WarnBold, k.Outside + " " + text}}, short: []Span{{k.WarnBold, "!" + text}}, rank: 2}
	}
	return segment{long: []Span{{k.Dim, k.Words.Band + " " + text}}, short: []Span{{k.Dim, text}}, rank: 3}
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
		if f.Lane != "" {
			r.Add(k.Crit, " "+f.Lane)
		}
		if !f.Until.IsZero() {
			r.Add(k.Crit, " "+k.Dot+" "+k.EndsIn+" "+MinSec(f.Until.Sub(p.Now).Seconds()))
		}
		if p.V.Reason != "" && r.Left() > 12 {
			r.Add(k.Dim, " "+k.Dot+" "+k.Tell(p.V.Reason))
		}
		return r.String()
	}
	own := p.overrides(k)
	switch {
	case p.V.State != control.Healthy && p.V.Reason != "":
		ink := k.Warn
		if !p.Alive() {
			ink = k.Crit
		}
		r.Add(ink, k.Tell(p.V.Reason))
	case own != "":
		r.Add(k.Warn, own)
	default:
		r.Add(k.Dim, p.why(k))
	}
	if s := p.V.Release; s != "" && !p.whole && r.Left() > 12 {
		r.Add(k.Dim, " "+k.Dot+" "+k.Sayf("release")+" "+k.Tell(s))
	}
	return r.String()
}

// why is why the weight is what it is, with whose reason it is.
func (p *Panel) why(k Look) string {
	if p.WhyOf == "" {
		return k.Tell(p.V.Why)
	}
	_, why, _ := strings.Cut(p.V.Why, ": ")
	return k.Sayf("because-of", p.WhyOf, k.Tell(why))
}

// overrides is what people have set on the vendor. The pin is told in the
// console's own words and in the operator's time.
func (p *Panel) overrides(k Look) string {
	var out []string
	if p.PinUntil != "" {
		out = append(out, k.Sayf("pinned-until", Whole(p.PinAt), p.PinUntil))
	}
	for _, o := range p.V.Overrides {
		if strings.HasPrefix(o, "pinned to ") {
			continue
		}
		if by, ok := strings.CutPrefix(o, "drained by "); ok {
			o = k.Sayf("drained-by", by)
		}
		out = append(out, o)
	}
	return strings.Join(out, " "+k.Dot+" ")
}

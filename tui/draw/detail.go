package draw

import (
	"sort"
	"strconv"

	"baton/engine/control"
)

// Detail draws one vendor on the whole screen: every window, every outcome, what
// is known of its limits, what people set on it, and a graph, which gives way to
// none of them.
func (p *Panel) Detail(w, h int, k Look) []string {
	if !boxed(w, h) || h < 12 {
		return p.Lines(w, h, k)
	}
	iw, ih := w-4, h-2
	body := p.quantileTable(iw, ih, k)
	body = append(body, p.load(iw, k))
	tail := []string{p.weights(iw, k), p.sliderRow(iw, k)}
	const graph = 4 // the least, with its axis
	room := ih - len(body) - len(tail) - graph
	own := *p
	own.whole = room > 4
	because := own.because(iw, k)
	urgent := p.V.Fault != nil || p.V.State != control.Healthy || p.overrides(k) != ""
	if urgent && room > 0 {
		tail = append([]string{because}, tail...)
		room--
	}
	if room > 0 {
		body = append(body, p.outcomes(iw, room < 3, k))
		room--
	}
	for _, l := range p.limits(iw, k) {
		if room > 0 {
			body = append(body, l)
			room--
		}
	}
	if room > 0 {
		body = append(body, p.spent(iw, k))
		room--
	}
	if p.V.Release != "" && room > 0 {
		tail = append([]string{NewRow(iw, k).Add(k.Dim, k.Sayf("release")).Pad(14).Add("", k.Tell(p.V.Release)).String()}, tail...)
		room--
	}
	if p.V.Why != "" && room > 0 {
		tail = append([]string{NewRow(iw, k).Add(k.Dim, p.why(k)).String()}, tail...)
	}
	body = append(body, p.chart(iw, ih-len(body)-len(tail), k)...)
	body = append(body, tail...)
	return block(p.box(body, k.Accent, w, h, k), w, h)
}

// quantileTable is all windows where there is room, else fewer.
func (p *Panel) quantileTable(w, h int, k Look) []string {
	switch {
	case w >= 76:
		if h >= 12 {
			return p.pair(w, k)
		}
	case h >= 15:
		return p.windows(w, k)
	}
	return []string{p.quantiles(k.FirstToken, k.First, p.V.FirstToken["60s"], w, k), p.quantiles(k.WholeAnswer, k.WholeShort, p.V.Latency["60s"], w, k)}
}

// pair is both kinds of latency side by side, a row for each window.
func (p *Panel) pair(w int, k Look) []string {
	const label, cell, gap = 4, 7, 2
	const half = 5 * cell
	head := NewRow(w, k).Pad(label+2).Add(k.Dim, k.FirstToken).Pad(label+half+gap+2).Add(k.Dim, k.WholeAnswer)
	columns := NewRow(w, k).Pad(label)
	for i := range 2 {
		columns.Pad(label + i*(half+gap))
		for _, c := range [...]string{"P50", "P90", "P99", "max", "n"} {
			st := k.Dim
			switch c {
			case "P90":
				st = k.Theme.P90
			case "P99":
				st = k.Theme.P99
			}
			columns.Pad(columns.w+cell-Width(c)).Add(st, c)
		}
	}
	out := []string{head.String(), columns.String()}
	for _, win := range control.Windows {
		r := NewRow(w, k).Add(k.Dim, win)
		for i, of := range [...]map[string]control.Latency{p.V.FirstToken, p.V.Latency} {
			l := of[win]
			r.Pad(label + i*(half+gap))
			ink := k.Strong
			if l.Count < 50 {
				ink = k.Faint
			}
			for _, v := range [...]*float64{l.P50ms, l.P90ms, l.P99ms, l.Maxms} {
				s := Millis(v)
				r.Pad(r.w+cell-Width(s)).Add(ink, s)
			}
			n := short(l.Count)
			r.Pad(r.w+cell-Width(n)).Add(k.Dim, n)
		}
		out = append(out, r.String())
	}
	return out
}

// windows is a table of quantiles: both kinds by three windows.
func (p *Panel) windows(w int, k Look) []string {
	const label, cell = 14, 9
	head := NewRow(w, k).Pad(label)
	for _, c := range [...]string{"", "P50", "P90", "P99", "max", "n"} {
		st := k.Dim
		switch c {
		case "P90":
			st = k.Theme.P90
		case "P99":
			st = k.Theme.P99
		}
		head.Pad(head.w+cell-Width(c)).Add(st, c)
	}
	out := []string{head.String()}
	for _, kind := range []struct {
		name string
		of   map[string]control.Latency
	}{{k.FirstToken, p.V.FirstToken}, {k.WholeAnswer, p.V.Latency}} {
		for i, win := range control.Windows {
			l := kind.of[win]
			r := NewRow(w, k)
			if i == 0 {
				r.Add("", kind.name)
			}
			r.Pad(label)
			ink := k.Strong
			if l.Count < 50 {
				ink = k.Faint
			}
			r.Pad(r.w+cell-Width(win)).Add(k.Dim, win)
			for _, v := range []*float64{l.P50ms, l.P90ms, l.P99ms, l.Maxms} {
				s := Millis(v)
				r.Pad(r.w+cell-Width(s)).Add(ink, s)
			}
			n := Count(int64(l.Count))
			out = append(out, r.Pad(r.w+cell-Width(n)).Add(k.Dim, n).String())
		}
	}
	return out
}

// outcomes are the last minute's ends of attempts that were not zero; and the
// tokens, where they have no row of their own.
func (p *Panel) outcomes(w int, tokens bool, k Look) string {
	r := NewRow(w, k).Add(k.Dim, "60s").Pad(14)
	names := make([]string, 0, len(p.V.Errors.ByOutcome60s))
	for n, c := range p.V.Errors.ByOutcome60s {
		if c > 0 {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	for _, n := range names {
		st := k.Warn
		if n == "ok" {
			st = k.OK
		}
		r.Add(st, n).Add(k.Strong, " "+Count(p.V.Errors.ByOutcome60s[n])).Add("", "   ")
	}
	if s := k.Tokens + " " + Count(p.V.Tokens.Input) + "+" + Count(p.V.Tokens.Output); tokens && Width(s) < r.Left() {
		r.Right(k.Dim, s)
	}
	return r.String()
}

// limits is what is known of the vendor's limit, in words, and what admission
// lets through of it: in one row, or the words in rows of their own.
func (p *Panel) limits(w int, k Look) []string {
	r := NewRow(w, k)
	l := &p.V.Limit
	const label = 14
	r.Add(k.Dim, k.Limit).Pad(label)
	if l.KnownRPS != nil && l.LearnedRPS != nil {
		r.Add(k.Dim, k.Known+" ").Add(k.Strong, Rate(*l.KnownRPS)+"/s").Add("", "   ")
	}
	if l.AllowedRPS != nil {
		r.Add(k.Dim, k.Allowed+" ").Add(k.Strong, Rate(*l.AllowedRPS)+"/s").Add("", "   ")
	}
	if l.Keys > 0 {
		r.Add(k.Dim, k.KeyCount+" ").Add(k.Strong, strconv.Itoa(l.Keys)).Add("", "   ")
	}
	if x := p.V.InFlightLimit; x != nil {
		r.Add(k.Dim, k.Sayf("in-flight-limit")+" ").Add(k.Strong, round(*x)).Add("", "   ")
	}
	text := LimitText(l, p.Now, k)
	if Width(Clean(text)) <= r.Left() || r.w == label {
		return []string{r.Add("", text).String()}
	}
	out := []string{r.String()}
	for _, s := range Wrap(text, w-label) {
		out = append(out, NewRow(w, k).Pad(label).Add("", s).String())
	}
	return out
}

// spent is its tokens, its cost and what others have measured of it.
func (p *Panel) spent(w int, k Look) string {
	r := NewRow(w, k).Add(k.Dim, k.Tokens).Pad(14)
	r.Add(k.Strong, Count(p.V.Tokens.Input)+"+"+Count(p.V.Tokens.Output)).Add("", "   ")
	if c := p.V.Cost.Total; c != nil {
		r.Add(k.Dim, k.Words.Cost+" ").Add(k.Strong, Money(c)).Add("", "   ")
	}
	if c := p.V.Cost.PerHour; c != nil {
		r.Add(k.Strong, Money(c)).Add(k.Dim, "/h").Add("", "   ")
	}
	if q := p.V.Published; q != nil && q.P90FirstTokenMs != nil {
		r.Add(k.Dim, q.Source+" P90 ").Add("", Millis(q.P90FirstTokenMs))
	}
	return r.String()
}

package draw

import (
	"sort"
	"strconv"

	"baton/engine/control"
)

// Detail draws one vendor on the whole screen: every window, every outcome,
// what is known of its limits, and a larger graph.
func (p *Panel) Detail(w, h int, k Look) []string {
	if !boxed(w, h) || h < 12 {
		return p.Lines(w, h, k)
	}
	iw := w - 4
	var body []string
	body = append(body, p.windows(iw, k)...)
	body = append(body, p.load(iw, k), p.outcomes(iw, k))
	if l := p.limits(iw, k); l != "" && h >= 20 {
		body = append(body, l)
	}
	tail := []string{p.because(iw, k), p.weights(iw, k), p.sliderRow(iw, k)}
	if p.V.Why != "" && h >= 20 && (p.V.Fault != nil || p.V.State != control.Healthy) {
		tail = append([]string{NewRow(iw, k).Add(k.Dim, p.V.Why).String()}, tail...)
	}
	body = append(body, p.chart(iw, h-2-len(body)-len(tail), k)...)
	if over := len(body) + len(tail) - (h - 2); over > 0 {
		body = body[:max(0, len(body)-over)]
	}
	body = append(body, tail...)
	edge := k.Accent
	return block(p.box(body, edge, w, h, k), w, h)
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

// outcomes are the last minute's ends of attempts that were not zero.
func (p *Panel) outcomes(w int, k Look) string {
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
	return r.String()
}

// limits is what is known of the vendor's limit, its tokens and its cost.
func (p *Panel) limits(w int, k Look) string {
	r := NewRow(w, k)
	l := &p.V.Limit
	r.Add(k.Dim, k.Limit).Pad(14)
	figure := func(name string, v *float64) {
		if v != nil {
			r.Add(k.Dim, name+" ").Add(k.Strong, Rate(*v)+"/s").Add("", "   ")
		}
	}
	figure("known", l.KnownRPS)
	figure("learned", l.LearnedRPS)
	figure("allowed", l.AllowedRPS)
	if l.Keys > 0 {
		r.Add(k.Dim, "keys ").Add(k.Strong, strconv.Itoa(l.Keys)).Add("", "   ")
	}
	r.Add(k.Dim, "tokens ").Add(k.Strong, Count(p.V.Tokens.Input)+"+"+Count(p.V.Tokens.Output)).Add("", "   ")
	if c := p.V.Cost.Total; c != nil {
		r.Add(k.Dim, "cost ").Add(k.Strong, strconv.FormatFloat(*c, 'f', 2, 64)).Add("", "   ")
	}
	if q := p.V.Published; q != nil && q.P90FirstTokenMs != nil {
		r.Add(k.Dim, q.Source+" P90 ").Add("", Millis(q.P90FirstTokenMs)).Add("", "   ")
	}
	r.Add(k.Dim, l.Evidence)
	return r.String()
}

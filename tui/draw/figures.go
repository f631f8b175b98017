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

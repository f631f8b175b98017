package draw

import (
	"math"
	"strconv"

	"baton/engine/control"
	"baton/tui/theme"
)

// Costs is the ledger as it is drawn, and what another split would cost.
type Costs struct {
	C        *control.Costs
	L        *control.Leverage
	Error    string
	Asked    bool
	Vendors  []string // in the order of the console
	Labels   map[string]string
	Selected int
	Shares   []float64 // of the what-if, percent
	Staged   bool      // they are not what is
	What     *control.Moved
}

const costLabel = 12 // cells of a vendor's name

// SliderAt is where the first of the what-if's sliders lies in w x h; the others
// are on the rows below. n is its cells, 0 where there is none.
func (d *Costs) SliderAt(w, h int, k Look) (x, y, n int) {
	if d.C == nil || len(d.Shares) == 0 {
		return 0, 0, 0
	}
	y = d.headRows(w, h, k) + 2 + len(d.Vendors) + 1
	n = w - costLabel - 1 - number
	if y+len(d.Vendors) > h || n < 6 {
		return 0, 0, 0
	}
	return costLabel + 1, y, n
}

// headRows is how many rows the summary and the headline take.
func (d *Costs) headRows(w, h int, k Look) int { return 1 + len(d.headline(w, h, k)) }

// headline is what the ledger says in a sentence, whole; nothing where there is
// little room.
func (d *Costs) headline(w, h int, k Look) []string {
	if d.L == nil || d.L.Headline == "" || h < 16 {
		return nil
	}
	lines := Wrap(k.Tell(d.L.Headline), w)
	return lines[:min(len(lines), max(1, h/6))]
}

// Lines draws the screen in w x h.
func (d *Costs) Lines(w, h int, k Look) []string {
	switch {
	case d.C == nil && d.Error != "":
		return block(wrapped(k.Warn, d.Error, w, k), w, h)
	case d.C == nil && d.Asked:
		return block(wrapped(k.Dim, k.Sayf("no-costs"), w, k), w, h)
	case d.C == nil:
		return block(nil, w, h)
	}
	out := []string{d.summary(w, k)}
	for _, l := range d.headline(w, h, k) {
		out = append(out, NewRow(w, k).Add(k.Note, l).String())
	}
	out = append(out, Rule([]Span{{k.Strong, k.Sayf("effective")}, {k.Dim, " " + k.Sayf("per-million") + ", " + d.C.Currency}}, []Span{{k.Dim, k.Sayf("since-24h")}}, w, k))
	out = append(out, d.prices(w, k)...)
	if len(d.Shares) > 0 {
		out = append(out, Rule([]Span{{k.Strong, k.Sayf("what-if")}}, []Span{{k.Dim, k.Sayf("only-what-if")}}, w, k))
		out = append(out, d.sliders(w, k)...)
		out = append(out, d.whatIf(w, k)...)
	}
	room := h - len(out)
	switch {
	case d.C.Totals.Cost == nil && d.C.Totals.Unpriced > 0:
		out = append(out, wrapped(k.Warn, k.Sayf("no-prices"), w, k)...)
	case room >= 4:
		out = append(out, d.charts(w, room, k)...)
	}
	return block(out, w, h)
}

// summary is what was spent and what it comes to.
func (d *Costs) summary(w int, k Look) string {
	r := NewRow(w, k)
	add := func(st theme.Style, name, value string) {
		if s := name + " " + value + "   "; Width(s) <= r.Left() {
			r.Add(k.Dim, name+" ").Add(st, value).Add("", "   ")
		}
	}
	t := &d.C.Totals
	add(k.Strong, k.Sayf("spent"), Money(t.Cost)+" "+d.C.Currency)
	rate := Money(d.C.RunRate.PerHour) + " " + d.C.Currency + "/h"
	if d.C.RunRate.PerHour != nil && d.C.RunRate.OverS > 0 {
		rate += " " + k.Sayf("over", window(d.C.RunRate.OverS))
	}
	if Width(k.Sayf("run-rate")+rate)+4 > r.Left() {
		rate = sign(d.C.Currency, k) + Money(d.C.RunRate.PerHour) + "/h"
	}
	add(k.Strong, k.Sayf("run-rate"), rate)
	if t.Unpriced > 0 {
		add(k.WarnBold, k.Sayf("unpriced"), Count(t.Unpriced))
	}
	add(k.Strong, k.Sayf("per-day"), Money(d.C.RunRate.PerDay))
	add(k.Strong, k.Sayf("per-month"), Money(d.C.RunRate.PerMonth))
	for _, p := range [...]struct {
		name string
		of   *control.CostGroup
	}{{"of-failed", &d.C.Apart.Failed}, {"of-drills", &d.C.Apart.Drills}, {"of-probes", &d.C.Apart.Probes}, {"of-stress", &d.C.Apart.Stress}} {
		if p.of.Cost != nil && *p.of.Cost > 0 {
			add("", k.Sayf(p.name), Money(p.of.Cost))
		}
	}
	if d.C.Missing > 0 {
		r.Add(k.Warn, k.Sayf("missing", d.C.Missing))
	}
	return r.String()
}

// prices is a row for each vendor under a row of titles.
func (d *Costs) prices(w int, k Look) []string {
	const cell = 11
	titles := [...]string{"col-all", "col-call", "col-in", "col-out", "col-cost", "attempts"}
	fits := min(len(titles), max(1, (w-costLabel)/cell))
	head := NewRow(w, k).Pad(costLabel)
	for _, t := range titles[:fits] {
		s := k.Sayf(t)
		head.Pad(head.w+cell-Width(s)).Add(k.Dim, s)
	}
	out := []string{head.String()}
	for i, name := range d.Vendors {
		r := d.name(i, w, k)
		g := d.group(name)
		values := [...]string{unknown, unknown, unknown, unknown, unknown, unknown}
		if g != nil {
			values = [...]string{Money(g.PerMillion), Money(g.PerSuccess), Money(g.PerMillionInput), Money(g.PerMillionOutput), Money(g.Cost), Count(g.Attempts)}
			if g.Cost == nil && g.Unpriced > 0 {
				values[4] = k.Sayf("unpriced")
			}
		}
		for j, v := range values[:fits] {
			ink := k.Strong
			if v == unknown {
				ink = k.Faint
			} else if j >= 2 {
				ink = ""
			}
			r.Pad(r.w+cell-Width(v)).Add(ink, v)
		}
		out = append(out, r.String())
	}
	return out
}

func (d *Costs) group(vendor string) *control.CostGroup {
	for i := range d.C.ByVendor {
		if d.C.ByVendor[i].Vendor == vendor {
			return &d.C.ByVendor[i]
		}
	}
	return nil
}

// name begins a vendor's row.
func (d *Costs) name(i, w int, k Look) *Row {
	r := NewRow(w, k)
	text := strconv.Itoa(i+1) + " " + d.label(d.Vendors[i])
	mark, ink := "  ", theme.Style("")
	if i == d.Selected {
		mark, ink = k.Select+" ", k.Accent
	}
	r.max = min(w, costLabel)
	r.Add(ink, mark+text)
	r.max = w
	return r.Pad(costLabel)
}

func (d *Costs) label(vendor string) string {
	if l := d.Labels[vendor]; l != "" {
		return l
	}
	return vendor
}

// sliders are the shares of the what-if.
func (d *Costs) sliders(w int, k Look) []string {
	var out []string
	n := w - costLabel - 1 - number
	for i := range d.Vendors {
		r := d.name(i, w, k).Add("", " ")
		if n >= 6 && i < len(d.Shares) {
			p := Panel{V: &control.Vendor{State: control.Healthy}, Selected: i == d.Selected, Weight: d.Shares[i], Staged: d.Staged, Draft: d.Shares[i]}
			r.Painted(Slider(&p, n, k), n)
		}
		ink := k.Strong
		if d.Staged {
			ink = k.Theme.Staged
		}
		if i < len(d.Shares) {
			r.Right(ink, Whole(d.Shares[i]))
		}
		out = append(out, r.String())
	}
	return out
}

// whatIf is what the split would cost and give, and what is not known of it.
func (d *Costs) whatIf(w int, k Look) []string {
	x := d.What
	if x == nil {
		return []string{NewRow(w, k).Pad(costLabel+1).Add(k.Dim, k.Sayf("no-what-if")).String()}
	}
	perDay := x.PerDay
	if !d.Staged && d.L != nil && d.L.Now.PerDay != nil {
		perDay = d.L.Now.PerDay // whole percents would make another figure of it
	}
	r := NewRow(w, k).Pad(costLabel+1).Add(k.Dim, k.Sayf("per-day")+" ").Add(k.Strong, Money(perDay)+" "+d.C.Currency)
	if v := x.Difference; d.Staged && v != nil && math.Abs(*v) > 1e-9 {
		ink, sign := k.OKBold, ""
		if *v > 0 {
			ink, sign = k.WarnBold, "+"
		}
		r.Add(ink, "   "+sign+Money(v)).Add(k.Dim, " "+k.Sayf("from-now"))
	}
	r.Add(k.Theme.P90, "   P90 ").Add("", Millis(x.P90ms)).Add(k.Theme.P99, "  P99 ").Add("", Millis(x.P99ms))
	second := NewRow(w, k).Pad(costLabel + 1)
	for _, v := range x.NoRoom {
		second.Add(k.CritBold, d.label(v)+": "+k.Sayf("no-room-at")).Add("", "  ")
	}
	for _, v := range x.Extrapolated {
		second.Add(k.Warn, d.label(v)+": "+k.Sayf("extrapolated")).Add("", "  ")
	}
	return []string{r.String(), second.String()}
}

// charts are the last hours by vendor and the days, side by side where there is
// room.
func (d *Costs) charts(w, h int, k Look) []string {
	if w < 76 {
		return d.hours(w, h, k)
	}
	lw := (w - 2) / 2
	rw := w - 2 - lw
	return beside2(d.hours(lw, h, k), d.days(rw, h, k), lw, rw)
}

// hours is what was spent in each hour, or in finer steps where those are few, a
// curve for each vendor.
func (d *Costs) hours(w, h int, k Look) []string {
	title, steps := []Span{{k.Strong, k.Sayf("per-hour-by")}}, d.C.ByHour
	if d.C.StepS > 0 && len(d.C.ByStep) > len(steps) {
		title, steps = []Span{{k.Strong, k.Sayf("per-step-by", window(d.C.StepS))}}, d.C.ByStep
	}
	var all []Curve
	for i, name := range d.Vendors {
		ink, st := inkOf(i, k)
		c := Curve{Ink: ink, Name: d.label(name)}
		for _, x := range steps {
			v := math.NaN()
			if p := x.Cost[name]; p != nil {
				v = *p
			}
			c.V = append(c.V, v)
		}
		all = append(all, c)
		title = append(title, Span{st, "  " + c.Name})
	}
	return append([]string{Rule(title, nil, w, k)}, Lines(all, w, h-1, moneyLabel, k)...)
}

// days is what was spent on each day.
func (d *Costs) days(w, h int, k Look) []string {
	note := ""
	c := Curve{Ink: k.Line.P90}
	for i := range d.C.ByDay {
		x := &d.C.ByDay[i]
		v := math.NaN()
		if x.Cost != nil {
			v = *x.Cost
		}
		c.V = append(c.V, v)
	}
	if n := len(d.C.ByDay); n > 0 {
		note = d.C.ByDay[0].Day + " - " + d.C.ByDay[n-1].Day
	}
	return append([]string{Rule([]Span{{k.Strong, k.Sayf("days")}}, []Span{{k.Dim, note}}, w, k)}, Lines([]Curve{c}, w, h-1, moneyLabel, k)...)
}

func moneyLabel(v float64) string {
	if v == 0 {
		return "0"
	}
	return Money(&v)
}

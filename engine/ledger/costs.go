package ledger

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"baton/engine/control"
)

// Period is what a document is about.
type Period struct {
	Since, Until time.Time
	First, Last  time.Time // of the minutes with an entry; zero without one
	Missing      int64     // attempts that could not be kept
	Simulated    bool
}

// group adds rows up into one line.
type group struct {
	sums                           Sums
	cost, input, output            Money // of priced rows
	failed, drill                  Money
	pricedIn, pricedOut, pricedAll int64 // tokens of priced rows
	priced                         bool
	estimated                      int64
	answers                        Money // spent on attempts that answered
	pricedAnswers                  int64
}

func (g *group) add(r *Row) {
	g.sums.Add(&r.Sums)
	g.sums.CostInput, g.sums.CostCached, g.sums.CostOutput = 0, 0, 0 // they are in Money
	if r.Flags&FlagEstimated != 0 {
		g.estimated += r.Attempts
	}
	if r.Flags&FlagPriced == 0 {
		return
	}
	in, out := Pico(r.CostInput).Plus(Pico(r.CostCached)), Pico(r.CostOutput)
	all := in.Plus(out)
	g.priced = true
	g.input, g.output, g.cost = g.input.Plus(in), g.output.Plus(out), g.cost.Plus(all)
	g.pricedIn += r.Input
	g.pricedOut += r.Output
	g.pricedAll += r.Input + r.Output
	g.pricedAnswers += r.Answered
	if r.Flags&FlagFailed != 0 {
		g.failed = g.failed.Plus(all)
	} else {
		g.answers = g.answers.Plus(all)
	}
	if r.Flags&FlagDrill != 0 {
		g.drill = g.drill.Plus(all)
	}
}

// per is money over a number of tokens, per million; nil for none.
func per(m Money, tokens int64) *float64 {
	if tokens <= 0 {
		return nil
	}
	return control.Figure(m.Float() / float64(tokens) * micro)
}

// line writes the group's figures. Cost is null where nothing is priced though
// something was asked.
func (g *group) line(out *control.CostGroup) {
	s := &g.sums
	out.Requests, out.Attempts, out.Answered, out.Failed = s.Asked, s.Attempts, s.Answered, s.Attempts-s.Answered
	out.InputTokens, out.CachedTokens, out.OutputTokens = s.Input, s.Cached, s.Output
	out.Unpriced, out.Estimated = s.Unpriced, g.estimated
	if s.Input > 0 {
		out.CachedPart = control.Figure(float64(s.Cached) / float64(s.Input))
	}
	if !g.priced && s.Attempts > 0 {
		return
	}
	out.Cost, out.FailedCost, out.DrillCost = control.Figure(g.cost.Float()), control.Figure(g.failed.Float()), control.Figure(g.drill.Float())
	out.PerMillionInput, out.PerMillionOutput = per(g.input, g.pricedIn), per(g.output, g.pricedOut)
	out.PerMillion = per(g.cost, g.pricedAll)
	if g.pricedAnswers > 0 {
		out.PerSuccess = control.Figure(g.cost.Float() / float64(g.pricedAnswers))
	}
}

// groups adds rows up by a name.
type groups map[string]*group

func (gs groups) add(name string, r *Row) {
	g := gs[name]
	if g == nil {
		g = new(group)
		gs[name] = g
	}
	g.add(r)
}

// lines are the groups by name; set writes the name.
func (gs groups) lines(set func(c *control.CostGroup, name string)) []control.CostGroup {
	out := make([]control.CostGroup, 0, len(gs))
	for _, name := range slices.Sorted(maps.Keys(gs)) {
		c := control.CostGroup{}
		set(&c, name)
		gs[name].line(&c)
		out = append(out, c)
	}
	return out
}

// NoKey stands for clients where no keys are configured.
const NoKey = "(no key)"

// Costs makes the document of rows, which lie in p. vendors are the configured
// ones in their order.
func (b *Book) Costs(rows []Row, p Period, vendors []string) *control.Costs {
	c := &control.Costs{
		Since: p.Since.UTC(), Until: p.Until.UTC(), Currency: b.Currency, Timezone: b.Zone.String(),
		Missing: p.Missing, Simulated: p.Simulated, Recorded: []time.Time{}, Prices: b.InForce(vendors, p.Until),
	}
	if !p.First.IsZero() {
		c.Recorded = []time.Time{p.First.UTC(), p.Last.UTC()}
	}
	var total, failed, probes, drills, stress, estimated group
	vendor, model, lane, key, day := groups{}, groups{}, groups{}, groups{}, groups{}
	for i := range rows {
		r := &rows[i]
		switch r.Flags.Source() {
		case Probe:
			probes.add(r)
			continue
		case Stress:
			stress.add(r)
			continue
		}
		total.add(r)
		if r.Vendor != "" {
			vendor.add(r.Vendor, r)
		}
		model.add(r.Model, r)
		lane.add(r.Lane, r)
		key.add(cmp.Or(r.Client, NoKey), r)
		day.add(time.Unix(r.Minute, 0).In(b.Zone).Format(time.DateOnly), r)
		for _, part := range []struct {
			of Flags
			to *group
		}{{FlagFailed, &failed}, {FlagDrill, &drills}, {FlagEstimated, &estimated}} {
			if r.Flags&part.of != 0 {
				part.to.add(r)
			}
		}
	}
	total.line(&c.Totals)
	failed.line(&c.Apart.Failed)
	probes.line(&c.Apart.Probes)
	drills.line(&c.Apart.Drills)
	stress.line(&c.Apart.Stress)
	estimated.line(&c.Apart.Estimated)
	c.ByVendor = vendor.lines(func(c *control.CostGroup, name string) { c.Vendor = name })
	for i := range c.ByVendor {
		c.ByVendor[i].Requests = c.ByVendor[i].Answered
	}
	inOrder(c.ByVendor, vendors, func(c control.CostGroup) string { return c.Vendor })
	c.ByModel = model.lines(func(c *control.CostGroup, name string) { c.Model = name })
	c.ByLane = lane.lines(func(c *control.CostGroup, name string) { c.Lane = name })
	c.ByKey = key.lines(func(c *control.CostGroup, name string) { c.Key = name })
	c.ByDay = day.lines(func(c *control.CostGroup, name string) { c.Day = name })
	c.ByHour, c.Usage = byHour(rows), usage(rows, vendors)
	c.RunRate = runRate(rows, p)
	return c
}

// inOrder sorts by the order of vendors; unknown ones come last, by name.
func inOrder[T any](list []T, vendors []string, name func(T) string) {
	place := func(x T) int {
		if i := slices.Index(vendors, name(x)); i >= 0 {
			return i
		}
		return len(vendors)
	}
	slices.SortStableFunc(list, func(x, y T) int { return place(x) - place(y) })
}

// spends says whether a row's money is that of a vendor's bill: anything but a probe.
func (r *Row) spends() bool { return r.Vendor != "" && r.Flags.Source() != Probe }

func byHour(rows []Row) []control.HourCost {
	type cell struct {
		sum    Money
		priced bool
	}
	hours := map[int64]map[string]*cell{}
	for i := range rows {
		r := &rows[i]
		if !r.spends() {
			continue
		}
		at := r.Minute - r.Minute%3600
		if hours[at] == nil {
			hours[at] = map[string]*cell{}
		}
		c := hours[at][r.Vendor]
		if c == nil {
			c = new(cell)
			hours[at][r.Vendor] = c
		}
		if r.Flags&FlagPriced != 0 {
			c.priced = true
			c.sum = c.sum.Plus(Pico(plus(plus(r.CostInput, r.CostCached), r.CostOutput)))
		}
	}
	out := make([]control.HourCost, 0, len(hours))
	for _, at := range slices.Sorted(maps.Keys(hours)) {
		h := control.HourCost{Hour: time.Unix(at, 0).UTC(), Cost: map[string]*float64{}}
		for v, c := range hours[at] {
			h.Cost[v] = nil
			if c.priced {
				h.Cost[v] = control.Figure(c.sum.Float())
			}
		}
		out = append(out, h)
	}
	return out
}

func usage(rows []Row, vendors []string) []control.UsageOf {
	by := map[string]*control.UsageOf{}
	for i := range rows {
		r := &rows[i]
		if r.Vendor == "" || r.Flags.Source() != Client {
			continue
		}
		u := by[r.Vendor]
		if u == nil {
			u = &control.UsageOf{Vendor: r.Vendor}
			by[r.Vendor] = u
		}
		u.Reported += r.Compared
		u.ReportedInput += r.ReportedIn
		u.ReportedOutput += r.ReportedOut
		u.ExpectedInput += r.ExpectedIn
		u.ExpectedOutput += r.ExpectedOut
		if r.Flags&FlagEstimated != 0 {
			u.Estimated += r.Attempts
			u.EstimatedIn += r.Input
			u.EstimatedOut += r.Output
		}
	}
	out := make([]control.UsageOf, 0, len(by))
	for _, name := range slices.Sorted(maps.Keys(by)) {
		u := by[name]
		u.RatioInput, u.RatioOutput = ratio(u.ReportedInput, u.ExpectedInput), ratio(u.ReportedOutput, u.ExpectedOutput)
		out = append(out, *u)
	}
	inOrder(out, vendors, func(u control.UsageOf) string { return u.Vendor })
	return out
}

func ratio(a, b int64) *float64 {
	if b <= 0 {
		return nil
	}
	return control.Figure(float64(a) / float64(b))
}

// shortest is the shortest time that a rate is made of.
const shortest = 10 * time.Second

// runRate is the rate of the last hour, from the quarter in which it began.
func runRate(rows []Row, p Period) (out control.RunRate) {
	from := p.Until.Add(-time.Hour).Unix()
	from -= from % Quarter
	begin := time.Unix(from, 0)
	if p.First.After(begin) {
		begin = p.First
	}
	if p.Since.After(begin) {
		begin = p.Since
	}
	over := p.Until.Sub(begin)
	out.OverS = over.Seconds()
	var g group
	for i := range rows {
		if r := &rows[i]; r.Flags.Source() == Client && r.Minute >= from {
			g.add(r)
		}
	}
	if over < shortest || p.First.IsZero() || !g.priced && g.sums.Attempts > 0 {
		return out
	}
	hour := g.cost.Float() / over.Hours()
	out.PerHour, out.PerDay, out.PerMonth = control.Figure(hour), control.Figure(24*hour), control.Figure(720*hour)
	return out
}

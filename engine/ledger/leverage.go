package ledger

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"baton/engine/control"
)

// ProofFor is how long a passed drill proves something.
const ProofFor = 35 * 24 * time.Hour

// Proof is a passed drill that lost a vendor.
type Proof struct {
	ID     string
	Vendor string
	At     time.Time
	Share  float64 // percent of the traffic that the vendor had before it
	Rate   float64 // calls per second before it, of all
	Text   string
}

// Facts are what the ledger does not hold.
type Facts struct {
	Vendors  []string // that carry traffic, the primary first
	Labels   map[string]string
	Proofs   []Proof
	Allowed  map[string]float64 // calls per second that each may be asked at all; none: not known
	Measured []control.LimitSay
	Terms    control.Terms // what overrides the configuration's
}

// standing is one vendor while the document is made.
type standing struct {
	name    string
	g       group
	share   float64 // 0-1
	usual   int64   // answered while no drill ran
	perCall float64
	known   bool // perCall is
	listed  bool // perCall is by the list price: it had no traffic
	bins    [10]histogram
	stream  histogram
	whole   histogram
}

// table is all of them, and what they are compared by.
type table struct {
	b      *Book
	acc    *Account
	facts  Facts
	terms  control.Terms
	all    []standing
	out    *control.Leverage
	calls  float64 // per day
	input  float64 // tokens per answered call
	output float64
	peak   float64 // calls per second
}

// Leverage makes the document. The formulas, with N answered calls per day, s the
// share of a vendor and c what an average call costs there:
//
//	c      = (mean input x its price of input + mean output x its price of output) x surcharge
//	         means over the answered calls of all vendors, prices effective, surcharge
//	         = all that was spent there over what answers cost
//	cost   = N x sum of s x c
//	single = N x c x (1 - discount, of the primary) / (1 - won)
//	break-even N* = (overhead - outages avoided) / (single call - mixed call)
//	walk away at c x (the cheapest other's c / c)
func (b *Book) Leverage(acc *Account, f Facts) *control.Leverage {
	t := &table{b: b, acc: acc, facts: f, terms: over(b.terms, f.Terms)}
	t.out = &control.Leverage{
		Since: acc.Since.UTC(), Until: acc.Until.UTC(), Currency: b.Currency, Internal: true, Simulated: acc.Simulated, Terms: t.terms,
		Limits: append(b.Limits(), f.Measured...), Evidence: []control.Evidence{}, Notes: []string{}, WhatIf: []control.Moved{},
	}
	t.count()
	t.price()
	t.stand()
	t.volume()
	t.now()
	t.whatIf()
	t.breakEven()
	t.tell()
	return t.out
}

// over puts terms that are given over those of the configuration.
func over(base, with control.Terms) control.Terms {
	return control.Terms{
		Overhead: cmp.Or(with.Overhead, base.Overhead), Discount: cmp.Or(with.Discount, base.Discount), Won: cmp.Or(with.Won, base.Won),
		OutageCost: cmp.Or(with.OutageCost, base.OutageCost), OutageMins: cmp.Or(with.OutageMins, base.OutageMins),
	}
}

func value(p *float64) float64 {
	if p == nil {
		return 0
	}
	return *p
}

// count adds the ledger up by vendor.
func (t *table) count() {
	t.all = make([]standing, len(t.facts.Vendors))
	at := map[string]*standing{}
	for i, name := range t.facts.Vendors {
		t.all[i].name = name
		at[name] = &t.all[i]
	}
	answered, input, output, usual := int64(0), int64(0), int64(0), int64(0)
	for i := range t.acc.Rows {
		r := &t.acc.Rows[i]
		s := at[r.Vendor]
		if s == nil || r.Flags.Source() != Client {
			continue
		}
		s.g.add(r)
		if r.Flags&FlagFailed == 0 {
			answered += r.Answered
			input += r.Input
			output += r.Output
			if r.Flags&FlagDrill == 0 {
				usual += r.Answered
				s.usual += r.Answered
			}
		}
	}
	if answered > 0 {
		t.input, t.output = float64(input)/float64(answered), float64(output)/float64(answered)
	}
	for i := range t.all {
		s := &t.all[i]
		switch {
		case usual > 0: // what a drill has moved is no present share
			s.share = float64(s.usual) / float64(usual)
		case answered > 0:
			s.share = float64(s.g.sums.Answered) / float64(answered)
		}
	}
	if !t.acc.First.IsZero() {
		t.out.Days = max(t.acc.Until.Sub(t.acc.First), time.Minute).Hours() / 24
		t.calls = float64(answered) / t.out.Days
	}
	asked := map[int64]int64{}
	for _, m := range t.acc.Minutes {
		asked[m.Minute] += m.Asked
		t.peak = max(t.peak, float64(asked[m.Minute])/60)
	}
	t.observe(at)
}

// observe sorts latencies by the share that the vendor had in their quarter.
func (t *table) observe(at map[string]*standing) {
	type quarter struct {
		all int64
		of  map[string]int64
	}
	quarters := map[int64]*quarter{}
	for i := range t.acc.Rows {
		r := &t.acc.Rows[i]
		if at[r.Vendor] == nil || r.Flags.Source() != Client {
			continue
		}
		q := quarters[r.Minute]
		if q == nil {
			q = &quarter{of: map[string]int64{}}
			quarters[r.Minute] = q
		}
		q.all += r.Answered
		q.of[r.Vendor] += r.Answered
	}
	for k, n := range t.acc.Latencies {
		s := at[k.Vendor]
		switch {
		case s == nil:
		case !k.Stream:
			s.whole.add(k.Bucket, float64(n))
		default:
			s.stream.add(k.Bucket, float64(n))
			if q := quarters[k.Quarter]; q != nil && q.all > 0 {
				s.bins[min(int(10*q.of[k.Vendor]/q.all), 9)].add(k.Bucket, float64(n))
			}
		}
	}
}

// price finds what an average call costs at each vendor.
func (t *table) price() {
	for i := range t.all {
		s := &t.all[i]
		in, out := per(s.g.input, s.g.pricedIn), per(s.g.output, s.g.pricedOut)
		if s.g.sums.Answered == 0 || in == nil {
			in, out, s.listed = t.list(s.name)
		}
		if in == nil || out == nil && t.output > 0 {
			s.listed = false
			continue
		}
		s.known = true
		s.perCall = (t.input**in + t.output*value(out)) / micro * s.surcharge()
	}
}

// list is the list price of an average call's model, where a vendor has had no
// traffic to have an effective one.
func (t *table) list(vendor string) (in, out *float64, ok bool) {
	calls := map[[2]string]int64{}
	best := [2]string{}
	for i := range t.acc.Rows {
		r := &t.acc.Rows[i]
		m := [2]string{r.Model, ""}
		calls[m] += r.Answered
		if calls[m] > calls[best] {
			best = m
		}
	}
	q := t.b.quote(vendor, best[0], best[0], t.acc.Until, int(t.input))
	return known(q.input), known(q.output), q.input >= 0
}

// surcharge is all that was spent over what answers cost: what failed and was
// billed all the same.
func (s *standing) surcharge() float64 {
	if s.g.answers.Float() <= 0 {
		return 1
	}
	return s.g.cost.Float() / s.g.answers.Float()
}

// other is the cheapest vendor but s, nil if there is none whose price is known.
func (t *table) other(s *standing) *standing {
	var best *standing
	for i := range t.all {
		o := &t.all[i]
		if o != s && o.known && (best == nil || o.perCall < best.perCall) {
			best = o
		}
	}
	return best
}

// stand writes how each vendor stands.
func (t *table) stand() {
	bad := t.bad()
	for i := range t.all {
		s := &t.all[i]
		v := control.Standing{
			Vendor: s.name, Label: cmp.Or(t.facts.Labels[s.name], s.name), Answered: s.g.sums.Answered, Attempts: s.g.sums.Attempts,
			FirstToken: s.stream.latency(), Whole: s.whole.latency(), BadMinutes: bad[s.name], AtShares: []control.AtShare{}, Drills: []control.Evidence{},
		}
		var line control.CostGroup
		s.g.line(&line)
		v.Cost, v.PerSuccess, v.PerMillion, v.PerMillionInput, v.PerMillionOutput = line.Cost, line.PerSuccess, line.PerMillion, line.PerMillionInput, line.PerMillionOutput
		if t.calls > 0 {
			v.Share = control.Figure(100 * s.share)
		}
		if s.known {
			v.PerCall = control.Figure(s.perCall)
		}
		if s.g.priced {
			v.Surcharge = control.Figure(s.surcharge())
		}
		if n := s.g.sums.Answered + s.g.sums.Faults; n > 0 {
			v.ErrorRate = control.Figure(float64(s.g.sums.Faults) / float64(n))
		}
		if n := s.g.sums.Attempts; n > 0 {
			v.Refused = control.Figure(float64(s.g.sums.Limited) / float64(n))
		}
		if allowed, ok := t.facts.Allowed[s.name]; ok && t.peak > 0 {
			v.RoomRate = control.Figure(max(0, allowed-s.share*t.peak))
		}
		for k := range s.bins {
			if h := &s.bins[k]; h.n > 0 {
				l := h.latency()
				v.AtShares = append(v.AtShares, control.AtShare{From: float64(10 * k), To: float64(10 * (k + 1)), Count: int64(h.n), P90ms: l.P90ms, P99ms: l.P99ms})
			}
		}
		if o := t.other(s); o != nil && s.known && s.perCall > 0 {
			v.WalkAway = walkAway(s, o, &v)
		}
		t.out.Vendors = append(t.out.Vendors, v)
	}
	for i := range t.all {
		t.shiftable(&t.out.Vendors[i], &t.all[i])
	}
}

func walkAway(s, o *standing, v *control.Standing) *control.WalkAway {
	w := &control.WalkAway{To: o.name, Factor: o.perCall / s.perCall, PerCall: o.perCall}
	if v.PerMillionInput != nil {
		w.PerMillionInput = control.Figure(*v.PerMillionInput * w.Factor)
	}
	if v.PerMillionOutput != nil {
		w.PerMillionOutput = control.Figure(*v.PerMillionOutput * w.Factor)
	}
	if w.Factor < 1 {
		w.ToKeepUp = control.Figure(1 - w.Factor)
	}
	return w
}

// shiftable finds how much of a vendor's share can be moved credibly: the largest
// that a passed drill has moved in the last 35 days, no more than it has and than
// the others have room for.
func (t *table) shiftable(v *control.Standing, s *standing) {
	var best *Proof
	for i := range t.facts.Proofs {
		p := &t.facts.Proofs[i]
		age := t.acc.Until.Sub(p.At)
		if p.Vendor != s.name || age < 0 || age > ProofFor {
			continue
		}
		v.Drills = append(v.Drills, control.Evidence{Ref: "drill " + p.ID, Text: p.Text})
		if v.LastDrill == nil || p.At.After(*v.LastDrill) {
			at := p.At.UTC()
			v.LastDrill = &at
		}
		if best == nil || p.Share > best.Share {
			best = p
		}
	}
	if best == nil {
		return
	}
	sh := &control.Shiftable{
		Share: best.Share, Proven: best.Share, BoundBy: "drill", Drill: best.ID, At: best.At.In(t.b.Zone).Format(time.DateOnly), AtRate: control.Figure(best.Rate),
		LowLoad: best.Rate < t.peak/2, ValidTil: best.At.Add(ProofFor).In(t.b.Zone).Format(time.DateOnly),
	}
	if v.Share != nil && *v.Share < sh.Share {
		sh.Share, sh.BoundBy = *v.Share, "share"
	}
	if room := t.room(s); room != nil {
		sh.Room = room
		if *room < sh.Share {
			sh.Share, sh.BoundBy = *room, "room"
		}
	}
	if o := t.other(s); o != nil && s.known {
		sh.Value = control.Figure(sh.Share / 100 * t.calls * (s.perCall - o.perCall))
	}
	v.Shiftable = sh
}

// room is how many percent points of the busiest minute the others can take; nil
// if it is not known of one of them.
func (t *table) room(s *standing) *float64 {
	sum := 0.0
	for i := range t.all {
		if &t.all[i] == s {
			continue
		}
		r := t.out.Vendors[i].RoomRate
		if r == nil {
			return nil
		}
		sum += *r
	}
	if t.peak <= 0 || len(t.all) < 2 {
		return nil
	}
	return control.Figure(min(100, 100*sum/t.peak))
}

func (t *table) volume() {
	v := &t.out.Volume
	v.PerDay = t.calls
	if t.calls > 0 {
		v.Input, v.Output = control.Figure(t.input), control.Figure(t.output)
	}
	if t.peak > 0 {
		v.PeakRate = control.Figure(t.peak)
	}
}

// mixed is what an average call costs at the present shares.
func (t *table) mixed() (float64, bool) {
	sum := 0.0
	for i := range t.all {
		s := &t.all[i]
		if s.share > 0 && !s.known {
			return 0, false
		}
		sum += s.share * s.perCall
	}
	return sum, t.calls > 0
}

// single is what an average call would cost at s alone: without competition its
// price would be what it was, less what the primary gives for all of it.
func (t *table) single(i int) (float64, bool) {
	s := &t.all[i]
	c := s.perCall / (1 - value(t.terms.Won))
	if i == 0 {
		c *= 1 - value(t.terms.Discount)
	}
	return c, s.known && t.calls > 0
}

func (t *table) now() {
	n := &t.out.Now
	n.Overhead, n.Single = t.terms.Overhead, []control.Single{}
	mixed, ok := t.mixed()
	if ok {
		n.PerDay = control.Figure(t.calls * mixed)
	}
	for i := range t.all {
		one := control.Single{Vendor: t.all[i].name}
		if c, known := t.single(i); known {
			one.PerDay = control.Figure(t.calls * c)
			if ok {
				one.Difference = control.Figure(t.calls*mixed + value(n.Overhead) - t.calls*c)
				if c > 0 {
					one.Percent = control.Figure(100 * *one.Difference / (t.calls * c))
				}
			}
		}
		n.Single = append(n.Single, one)
	}
}

// whatIfStep is by how many percent the first vendor's share moves.
const whatIfStep = 5

func (t *table) whatIf() {
	if len(t.all) < 2 || t.calls <= 0 {
		return
	}
	rest := 1 - t.all[0].share
	for share := 0; share <= 100; share += whatIfStep {
		shares := map[string]float64{t.all[0].name: float64(share)}
		for i := 1; i < len(t.all); i++ {
			part := 1 / float64(len(t.all)-1)
			if rest > 0 {
				part = t.all[i].share / rest
			}
			shares[t.all[i].name] = float64(100-share) * part
		}
		m := t.out.Split(shares)
		m.P90ms, m.P99ms = t.mixture(shares)
		t.out.WhatIf = append(t.out.WhatIf, m)
	}
}

// fewest is how many first tokens a vendor's quantiles are made of at least.
const fewest = 50

// mixture is the first-token quantiles of all traffic at such shares: each
// vendor's latencies as they were when its share was near, weighted by it.
func (t *table) mixture(shares map[string]float64) (p90, p99 *float64) {
	var sum histogram
	for i := range t.all {
		s := &t.all[i]
		share := shares[s.name]
		if share <= 0 {
			continue
		}
		var h histogram
		for k := range s.bins {
			if control.Near(share, float64(10*k), float64(10*(k+1))) {
				h.merge(&s.bins[k], 1)
			}
		}
		if h.n < fewest {
			return nil, nil
		}
		sum.merge(&h, share/h.n)
	}
	return sum.quantile(0.9), sum.quantile(0.99)
}

// gains are the columns of the break-even's table, and overheads its rows where
// none is given.
var (
	gains     = []float64{0.02, 0.05, 0.08, 0.10, 0.15}
	overheads = []float64{100, 200, 500, 1000, 2000}
)

func (t *table) breakEven() {
	b := &t.out.BreakEven
	b.Table, b.Gains, b.Overheads = [][]float64{}, slices.Clone(gains), slices.Clone(overheads)
	b.Overhead = t.terms.Overhead
	if t.terms.OutageCost != nil && t.terms.OutageMins != nil {
		b.Avoided = control.Figure(*t.terms.OutageCost * *t.terms.OutageMins / 30)
	}
	b.Now = control.Figure(t.calls)
	mixed, ok := t.mixed()
	if len(t.all) < 2 {
		b.Why = "there is one vendor"
		return
	}
	single, known := t.single(0)
	if !ok || !known || single <= 0 {
		b.Why = "not all prices are known"
		return
	}
	gain := (single - mixed) / single
	b.PerCall, b.Gain = control.Figure(single), control.Figure(gain)
	if b.Overhead != nil {
		f := *b.Overhead
		b.Overheads = []float64{f / 4, f / 2, f, 2 * f, 4 * f}
	}
	if gain > 0 && !slices.ContainsFunc(gains, func(g float64) bool { return math.Abs(g-gain) < 0.0005 }) {
		b.Gains = append(b.Gains, gain)
		slices.Sort(b.Gains)
	}
	for _, f := range b.Overheads {
		row := make([]float64, len(b.Gains))
		for i, g := range b.Gains {
			row[i] = max(0, f-value(b.Avoided)) / (single * g)
		}
		b.Table = append(b.Table, row)
	}
	t.pays(b, single-mixed)
}

// pays says from how many calls on it does, each of which saves that much.
func (t *table) pays(b *control.BreakEven, saves float64) {
	if b.Overhead == nil {
		b.Why = "what a second vendor takes beside its calls is not known: set ledger.overhead, or --overhead"
		return
	}
	f := *b.Overhead - value(b.Avoided)
	net := t.calls*saves - f
	pays := net >= 0
	b.Net, b.Pays = control.Figure(net), &pays
	switch {
	case f <= 0 && saves >= 0:
		b.CallsPerDay = control.Figure(0)
	case saves > 0:
		b.CallsPerDay = control.Figure(f / saves)
	default:
		b.Why = "a call costs no less with two vendors: more calls do not pay for the second one"
	}
}

// tell writes the words.
func (t *table) tell() {
	o := t.out
	o.Headline = t.headline()
	o.Evidence = append(o.Evidence, control.Evidence{
		Ref: "ledger", Text: fmt.Sprintf("%s to %s UTC, %.2f days recorded", o.Since.Format("2006-01-02 15:04"), o.Until.Format("2006-01-02 15:04"), o.Days),
	})
	for i := range o.Vendors {
		o.Evidence = append(o.Evidence, o.Vendors[i].Drills...)
		if t.all[i].listed {
			o.Notes = append(o.Notes, o.Vendors[i].Vendor+" has had no priced traffic: its list price stands for it")
		}
		if !t.all[i].known {
			o.Notes = append(o.Notes, o.Vendors[i].Vendor+" is unpriced: what depends on its price is not known")
		}
		if o.Vendors[i].Shiftable == nil {
			o.Notes = append(o.Notes, "no drill that was passed in the last 35 days has lost "+o.Vendors[i].Vendor+": nothing of its share is credibly movable")
		}
	}
	if o.Days > 0 && o.Days < 1 {
		o.Notes = append(o.Notes, "figures per day are extrapolated from "+o.Recorded())
	}
	if t.terms.Overhead == nil {
		o.Notes = append(o.Notes, "what a second vendor takes beside its calls (people, drills) is not in the figures: ledger.overhead")
	}
}

func (t *table) headline() string {
	n := &t.out.Now
	if n.PerDay == nil || len(n.Single) < 2 || n.Single[0].PerDay == nil {
		return "What the vendors cost together against one alone is not known: not all prices are, or nothing is recorded."
	}
	d := *n.Single[0].Difference
	word := "less"
	if d > 0 {
		word = "more"
	}
	with := ""
	if n.Overhead != nil {
		with = fmt.Sprintf(", %.2f a day of overhead included", *n.Overhead)
	}
	names := make([]string, len(t.all))
	for i := range t.all {
		names[i] = t.out.Vendors[i].Label
	}
	return fmt.Sprintf("%s together cost %.2f %s a day at the present %.0f calls; a single contract with %s would cost %.2f: together they cost %.2f (%.1f %%) %s%s.",
		strings.Join(names, " and "), *n.PerDay, t.out.Currency, t.calls, names[0], *n.Single[0].PerDay, math.Abs(d), math.Abs(*n.Single[0].Percent), word, with)
}

package ledger

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// Book is the price list of all vendors. It is never changed; a reload makes a
// new one.
//
// Of a vendor's entries those count that name the model (as the vendor or as the
// clients call it), or if none does, those that name no model; of these the ones
// with the latest From that has come: a new list takes the place of the old one
// whole. Of that list each figure is taken from the most specific entry that has
// it: the highest tier that the input is above, in it one whose hours and days
// it is before one for any time, and of equals the later in the file. Cached
// input without a price of its own is charged as input.
type Book struct {
	Currency string
	Zone     *time.Location // of days

	entries  map[string][]entry // by vendor
	holidays []span             // of days
	terms    control.Terms
	limits   []control.LimitSay
}

// entry is one price. Prices are in micro-units per million tokens of the
// ledger's currency, -1 is unknown.
type entry struct {
	model                 string
	from                  time.Time
	above                 int
	hours                 []hours
	days                  uint8 // by weekday, and holiday; 0: all
	zone                  *time.Location
	batch                 float64 // -1: none
	input, cached, output int64
	note                  string
}

// hours are minutes of the day; to is behind the end, and under from past midnight.
type hours struct{ from, to int }

// span is days, both inclusive, as in "2026-10-01".
type span struct{ from, to string }

const holiday = 1 << 7

// NewBook makes the book of a valid configuration.
func NewBook(c *config.Config) *Book {
	b := &Book{Currency: c.Ledger.Currency, Zone: zone(c.Ledger.Timezone, time.UTC), entries: map[string][]entry{}}
	for _, h := range c.Ledger.Holidays {
		from, to, ranged := strings.Cut(h, "..")
		if !ranged {
			to = from
		}
		b.holidays = append(b.holidays, span{from, to})
	}
	l := &c.Ledger
	b.terms = control.Terms{Overhead: l.Overhead, Discount: l.SingleDiscount, Won: l.Won, OutageCost: l.OutageCost, OutageMins: l.OutageMinutes}
	for i := range c.Vendors {
		v := &c.Vendors[i]
		for k := range v.Price {
			b.entries[v.Name] = append(b.entries[v.Name], b.entry(&v.Price[k], l.Rates))
		}
		for _, s := range v.Limits {
			b.limits = append(b.limits, control.LimitSay{Vendor: v.Name, What: s.What, Limit: s.Limit, Day: s.Date, Source: s.Source})
		}
	}
	return b
}

func zone(name string, otherwise *time.Location) *time.Location {
	if name == "" {
		return otherwise
	}
	z, err := time.LoadLocation(name)
	if err != nil { // the configuration was validated
		return otherwise
	}
	return z
}

func (b *Book) entry(p *config.Price, rates map[string]float64) entry {
	rate := 1.0
	if p.Currency != "" && p.Currency != b.Currency {
		rate = rates[p.Currency]
	}
	e := entry{model: p.Model, above: p.Above, zone: zone(p.Timezone, b.Zone), batch: -1, note: note(p)}
	e.input, e.cached, e.output = unit(p.Input, rate), unit(p.CachedInput, rate), unit(p.Output, rate)
	if p.From != "" {
		e.from, _ = time.ParseInLocation(time.DateOnly, p.From, e.zone)
	}
	if p.Batch != nil {
		e.batch = *p.Batch
	}
	for s := range strings.SplitSeq(p.Hours, ",") {
		if from, to, ok := strings.Cut(s, "-"); ok {
			e.hours = append(e.hours, hours{minute(from), minute(to)})
		}
	}
	for item := range strings.SplitSeq(p.Days, ",") {
		e.days |= days(item)
	}
	return e
}

func unit(p *float64, rate float64) int64 {
	if p == nil {
		return -1
	}
	return perMillion(*p * rate)
}

func minute(clock string) int {
	h, m, _ := strings.Cut(clock, ":")
	hour, _ := strconv.Atoi(h)
	mins, _ := strconv.Atoi(m)
	return 60*hour + mins
}

func days(item string) uint8 {
	if item == config.Holiday {
		return holiday
	}
	from, to, ranged := strings.Cut(item, "-")
	i := slices.Index(config.Weekdays[:], from)
	j := slices.Index(config.Weekdays[:], to)
	if i < 0 {
		return 0
	}
	if !ranged || j < 0 {
		j = i
	}
	set := uint8(1) << i
	for ; i != j; i = (i + 1) % 7 {
		set |= uint8(1)<<i | uint8(1)<<j
	}
	return set
}

func note(p *config.Price) string {
	var parts []string
	for _, x := range [][2]string{{"from ", p.From}, {"", p.Days}, {"", p.Hours}, {"in ", p.Currency}} {
		if x[1] != "" {
			parts = append(parts, x[0]+x[1])
		}
	}
	if p.Above > 0 {
		parts = append(parts, "above "+strconv.Itoa(p.Above)+" tokens")
	}
	return strings.Join(parts, ", ")
}

// holds says whether the entry is for that time and input.
func (b *Book) holds(e *entry, at time.Time, input int) bool {
	if e.above > 0 && input <= e.above {
		return false
	}
	if len(e.hours) == 0 && e.days == 0 {
		return true
	}
	local := at.In(e.zone)
	if len(e.hours) == 0 {
		return b.day(e, local)
	}
	now := 60*local.Hour() + local.Minute()
	for _, h := range e.hours {
		switch {
		case h.from < h.to:
			if now >= h.from && now < h.to && b.day(e, local) {
				return true
			}
		case now >= h.from:
			if b.day(e, local) {
				return true
			}
		case now < h.to: // past midnight the hours are still those of the day before
			if b.day(e, local.AddDate(0, 0, -1)) {
				return true
			}
		}
	}
	return false
}

// day says whether the entry is for that day. A holiday is no weekday.
func (b *Book) day(e *entry, local time.Time) bool {
	if e.days == 0 {
		return true
	}
	date := local.Format(time.DateOnly)
	for _, h := range b.holidays {
		if date >= h.from && date <= h.to {
			return e.days&holiday != 0
		}
	}
	return e.days&(1<<local.Weekday()) != 0
}

// quote is the figures that hold for one attempt.
type quote struct {
	input, cached, output int64 // micro-units per million tokens, -1 unknown
	batch                 float64
	note                  string
}

// quote finds the prices of a vendor for a model, by either of its names.
func (b *Book) quote(vendor, model, name string, at time.Time, input int) quote {
	q := quote{input: -1, cached: -1, output: -1, batch: -1}
	all := b.entries[vendor]
	own := func(e *entry) bool {
		return e.model != "" && (e.model == name || e.model == model) && !e.from.After(at)
	}
	named := slices.ContainsFunc(all, func(e entry) bool { return own(&e) })
	var list []*entry
	var from time.Time
	for i := range all {
		e := &all[i]
		if e.from.After(at) || named && !own(e) || !named && e.model != "" {
			continue
		}
		if e.from.After(from) {
			from = e.from
		}
		list = append(list, e)
	}
	list = slices.DeleteFunc(list, func(e *entry) bool { return !e.from.Equal(from) || !b.holds(e, at, input) })
	slices.Reverse(list)
	slices.SortStableFunc(list, func(x, y *entry) int {
		if x.above != y.above {
			return y.above - x.above
		}
		return timed(y) - timed(x)
	})
	for _, e := range list {
		q.take(e)
	}
	if named && q.batch < 0 { // a discount for the batch lane may hold for all models
		general := b.quote(vendor, "", "", at, input)
		q.batch = general.batch
	}
	if q.cached < 0 {
		q.cached = q.input
	}
	return q
}

func timed(e *entry) int {
	if len(e.hours) > 0 || e.days != 0 {
		return 1
	}
	return 0
}

func (q *quote) take(e *entry) {
	for _, x := range []struct{ to, from *int64 }{{&q.input, &e.input}, {&q.cached, &e.cached}, {&q.output, &e.output}} {
		if *x.to < 0 {
			*x.to = *x.from
		}
	}
	if q.batch < 0 {
		q.batch = e.batch
	}
	if q.note == "" {
		q.note = e.note
	}
}

// of is a price in a lane, -1 unknown.
func (q *quote) of(price int64, lane control.Lane) int64 {
	if price < 0 || lane != control.Batch || q.batch < 0 {
		return price
	}
	return perMillion(float64(price) / micro * q.batch)
}

// Price is what an attempt cost by the prices that held when it ended. Of an
// attempt that used something without a known price nothing is known.
func (b *Book) Price(a *Attempt) Cost {
	if a.Vendor == "" || a.Source == Probe { // nobody was asked, or for nothing that costs
		return Cost{Known: true}
	}
	q := b.quote(a.Vendor, a.Model, a.At, a.Ended, a.Input)
	in, cached, out := q.of(q.input, a.Lane), q.of(q.cached, a.Lane), q.of(q.output, a.Lane)
	hit := min(max(a.Cached, 0), a.Input)
	if in < 0 && a.Input > hit || cached < 0 && hit > 0 || out < 0 && a.Output > 0 || in < 0 && out < 0 {
		return Cost{}
	}
	return Cost{Known: true, Input: times(a.Input-hit, in), Cached: times(hit, cached), Output: times(a.Output, out)}
}

// Priced says whether the vendor has any price at all.
func (b *Book) Priced(vendor string) bool {
	return slices.ContainsFunc(b.entries[vendor], func(e entry) bool { return e.input >= 0 || e.output >= 0 })
}

// Terms are the configuration's terms of the negotiation.
func (b *Book) Terms() control.Terms { return b.terms }

// Limits is the register of limits as the configuration has it.
func (b *Book) Limits() []control.LimitSay { return slices.Clone(b.limits) }

// InForce is the list prices in force, for short inputs.
func (b *Book) InForce(vendors []string, at time.Time) []control.PriceNow {
	out := []control.PriceNow{}
	for _, v := range vendors {
		models := []string{""}
		for i := range b.entries[v] {
			if m := b.entries[v][i].model; !slices.Contains(models, m) {
				models = append(models, m)
			}
		}
		for _, m := range models {
			q := b.quote(v, m, m, at, 0)
			if q.input < 0 && q.output < 0 && m == "" && len(models) > 1 {
				continue
			}
			p := control.PriceNow{Vendor: v, Model: m, Input: known(q.input), CachedInput: known(q.cached), Output: known(q.output), Note: q.note}
			if q.batch >= 0 {
				p.Batch = control.Figure(q.batch)
			}
			out = append(out, p)
		}
	}
	return out
}

func known(price int64) *float64 {
	if price < 0 {
		return nil
	}
	return control.Figure(float64(price) / micro)
}

// NoBook knows no price: it serves until there is a configuration.
func NoBook() *Book { return &Book{Currency: "CNY", Zone: time.UTC, entries: map[string][]entry{}} }

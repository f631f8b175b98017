package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"baton/engine/config/strict"
)

var currency = regexp.MustCompile(`^[A-Z]{3}$`)

const aCurrency = `three capital letters, such as "CNY"`

func (v *validation) ledger(l *Ledger) {
	v.want(currency.MatchString(l.Currency), "ledger.currency", l.Currency, aCurrency)
	v.want(isZone(l.Timezone), "ledger.timezone", l.Timezone, aZone)
	for i, h := range l.Holidays {
		v.want(isBlackout(h), strict.Element("ledger.holidays", i), h, `a date "2026-10-01" or a range "2026-10-01..2026-10-07"`)
	}
	for _, c := range slices.Sorted(maps.Keys(l.Rates)) {
		at := strict.Key("ledger.rates", c)
		v.want(currency.MatchString(c), at, c, aCurrency)
		v.want(l.Rates[c] > 0, at, l.Rates[c], "how many "+l.Currency+" one "+c+" is, more than 0")
	}
	v.atLeast("ledger.raw_days", l.RawDays, 0)
	v.atLeast("ledger.raw_rows", l.RawRows, 0)
	v.atLeast("ledger.minute_days", l.MinuteDays, 1)
	v.atLeast("ledger.keep_days", l.KeepDays, l.MinuteDays)
	for key, f := range map[string]*float64{"overhead": l.Overhead, "outage_cost": l.OutageCost, "outage_minutes": l.OutageMinutes} {
		v.want(f == nil || *f >= 0, "ledger."+key, value(f), "0 or more")
	}
	for key, f := range map[string]*float64{"single_discount": l.SingleDiscount, "won": l.Won} {
		v.want(f == nil || *f >= 0 && *f < 1, "ledger."+key, value(f), "a part of the price, from 0 to under 1")
	}
}

const aZone = `a time zone such as "Asia/Shanghai" or "UTC"`

func isZone(name string) bool {
	_, err := time.LoadLocation(name)
	return err == nil && name != ""
}

func (v *validation) price(at string, p *Price) {
	for key, f := range map[string]*float64{"input": p.Input, "cached_input": p.CachedInput, "output": p.Output} {
		v.want(f == nil || *f >= 0 && *f <= priceMax, at+"."+key, value(f), "0 or more per million tokens")
	}
	v.want(p.Batch == nil || *p.Batch >= 0 && *p.Batch <= 1, at+".batch", value(p.Batch), "a part from 0 to 1 of the price")
	v.atLeast(at+".above", p.Above, 0)
	v.want(p.From == "" || isDate(p.From), at+".from", p.From, `a date such as "2026-08-16"`)
	v.want(p.Hours == "" || areHours(p.Hours), at+".hours", p.Hours, `hours such as "00:30-08:30"`)
	v.want(p.Days == "" || areDays(p.Days), at+".days", p.Days, `days such as "mon-fri" or "sat,sun,holiday"`)
	v.want(p.Timezone == "" || isZone(p.Timezone), at+".timezone", p.Timezone, aZone)
	v.want(p.Currency == "" || currency.MatchString(p.Currency), at+".currency", p.Currency, aCurrency)
}

// priceMax keeps what a call costs a number; no vendor asks a thousandth of it.
const priceMax = 1e6

// rates wants a rate for every currency that a price is in.
func (v *validation) rates(c *Config) {
	for i := range c.Vendors {
		for k, p := range c.Vendors[i].Price {
			at := strict.Element(vendorPath(i)+".price", k) + ".currency"
			if p.Currency == "" || p.Currency == c.Ledger.Currency || !currency.MatchString(p.Currency) {
				continue
			}
			_, known := c.Ledger.Rates[p.Currency]
			v.want(known, at, p.Currency, c.Ledger.Currency+", or a rate for it: [ledger.rates] "+p.Currency+" = 7.1")
		}
	}
}

func (v *validation) limitOf(at string, l *LimitOf) {
	v.oneOf(at+".what", l.What, "documented", "asked", "granted")
	v.want(l.Limit != "" && !hasControl(l.Limit), at+".limit", l.Limit, `what the limit is, such as "20 requests/s per key"`)
	v.want(isDate(l.Date), at+".date", l.Date, `a date such as "2026-08-16"`)
	v.want(!hasControl(l.Source), at+".source", l.Source, "no control characters")
}

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

// areHours accepts one span of the day or several.
func areHours(s string) bool {
	for span := range strings.SplitSeq(s, ",") {
		if !isHours(span) {
			return false
		}
	}
	return true
}

// Weekdays are the words for days in prices, from Sunday as time.Weekday counts.
var Weekdays = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Holiday is the word for the ledger's holidays among days.
const Holiday = "holiday"

// areDays accepts days and ranges of them: "mon-fri,holiday".
func areDays(s string) bool {
	for item := range strings.SplitSeq(s, ",") {
		if item == Holiday {
			continue
		}
		from, to, ranged := strings.Cut(item, "-")
		if !slices.Contains(Weekdays[:], from) || ranged && !slices.Contains(Weekdays[:], to) {
			return false
		}
	}
	return true
}

package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"baton/engine/control"
)

// What a bad minute is: of at least badFrom attempts badPart or more were faults of
// the vendor's. Refusals for a limit are listed beside it and do not count.
const (
	badFrom = 5
	badPart = 0.05
)

var badRule = fmt.Sprintf("a bad minute is one with at least %d attempts that were answered or failed by the vendor, of which %g %% or more failed", badFrom, 100*badPart)

// vendorMinutes adds up the minutes of one vendor ("": each of its own).
func (acc *Account) vendorMinutes() map[string]map[int64]Minute {
	by := map[string]map[int64]Minute{}
	for _, m := range acc.Minutes {
		if m.Vendor == "" {
			continue
		}
		if by[m.Vendor] == nil {
			by[m.Vendor] = map[int64]Minute{}
		}
		sum := by[m.Vendor][m.Minute]
		sum.Minute, sum.Vendor = m.Minute, m.Vendor
		sum.Attempts += m.Attempts
		sum.Answered += m.Answered
		sum.Faults += m.Faults
		sum.Limited += m.Limited
		by[m.Vendor][m.Minute] = sum
	}
	return by
}

func (m Minute) bad() bool {
	n := m.Answered + m.Faults
	return n >= badFrom && float64(m.Faults) >= badPart*float64(n)
}

// bad counts the bad minutes of each vendor.
func (t *table) bad() map[string]int64 {
	out := map[string]int64{}
	for vendor, minutes := range t.acc.vendorMinutes() {
		for _, m := range minutes {
			if m.bad() {
				out[vendor]++
			}
		}
	}
	return out
}

// Failures are a vendor's failed attempts.
type Failures struct {
	Reasons  []control.Reason
	Requests []control.Refusal
	More     int64
}

// Dossier makes a vendor's month of what the ledger holds of it.
func (b *Book) Dossier(acc *Account, vendor, label, month string, f Failures, measured []control.LimitSay) *control.Dossier {
	d := &control.Dossier{
		Vendor: vendor, Label: cmp.Or(label, vendor), Month: month, Timezone: b.Zone.String(), Since: acc.Since.UTC(), Until: acc.Until.UTC(), Simulated: acc.Simulated,
		Rule: badRule, Bad: []control.BadMinute{}, Reasons: f.Reasons, Requests: f.Requests, More: f.More, Limits: []control.LimitSay{},
		Notes: []string{"attempts made while a fault of our own was in the path are left out", "an attempt is counted in the minute in which it ended"},
	}
	for _, s := range append(b.Limits(), measured...) {
		if s.Vendor == vendor {
			d.Limits = append(d.Limits, s)
		}
	}
	minutes := acc.vendorMinutes()[vendor]
	for _, m := range minutes {
		if m.Attempts > 0 {
			d.Minutes++
		}
		d.Answered += m.Answered
		d.Faults += m.Faults
		d.Refused += m.Limited
		if m.bad() {
			d.Bad = append(d.Bad, control.BadMinute{Time: m.Time().UTC(), Attempts: m.Answered + m.Faults, Faults: m.Faults, Refused: m.Limited})
		}
	}
	slices.SortFunc(d.Bad, func(x, y control.BadMinute) int { return x.Time.Compare(y.Time) })
	d.Attempts = d.Answered + d.Faults + d.Refused
	if n := d.Answered + d.Faults; n > 0 {
		d.Availability = control.Figure(float64(d.Answered) / float64(n))
	}
	var stream, whole histogram
	for k, n := range acc.Latencies {
		switch {
		case k.Vendor != vendor:
		case k.Stream:
			stream.add(k.Bucket, float64(n))
		default:
			whole.add(k.Bucket, float64(n))
		}
	}
	d.FirstToken, d.Whole = stream.latency(), whole.latency()
	return d
}

// Month is the begin and the end of a month ("2026-11") in the ledger's time zone;
// the present one ends now.
func (b *Book) Month(month string, now time.Time) (name string, since, until time.Time, err error) {
	if month == "" {
		month = now.In(b.Zone).Format("2006-01")
	}
	since, err = time.ParseInLocation("2006-01", month, b.Zone)
	if err != nil {
		return month, since, until, &control.Error{Kind: control.Invalid, Field: "month", Message: fmt.Sprintf("%q is no month such as 2026-11", month)}
	}
	if until = since.AddDate(0, 1, 0); until.After(now) {
		until = now
	}
	if !since.Before(until) {
		return month, since, until, &control.Error{Kind: control.Invalid, Field: "month", Message: month + " has not begun"}
	}
	return month, since, until, nil
}

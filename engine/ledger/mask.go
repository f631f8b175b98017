package ledger

import (
	"fmt"
	"time"

	"baton/engine/control"
)

// Mask makes of the internal document the copy for one vendor: its own figures,
// the volume, and what can be moved away from it. The others have no names and no
// prices in it, and nothing from which these could be computed: no totals, no
// split's cost, no price at which it would lose. It is nil for an unknown vendor.
func Mask(l *control.Leverage, vendor string) *control.Leverage {
	out := &control.Leverage{
		Since: l.Since, Until: l.Until, Days: l.Days, Currency: l.Currency, For: vendor, Simulated: l.Simulated, Volume: l.Volume,
		Now: control.NowCost{Single: []control.Single{}}, WhatIf: []control.Moved{}, Limits: []control.LimitSay{}, Evidence: []control.Evidence{},
		BreakEven: control.BreakEven{Table: [][]float64{}, Overheads: []float64{}, Gains: []float64{}},
		Notes:     []string{"figures are as measured at the gateway, from the attempt's begin", "prices are effective ones: discounts and cached input included"},
	}
	var own *control.Standing
	others := 0
	for i := range l.Vendors {
		v := l.Vendors[i]
		v.WalkAway = nil
		if v.Vendor == vendor {
			if v.Shiftable != nil {
				sh := *v.Shiftable
				sh.Value = nil
				v.Shiftable = &sh
			}
			out.Vendors = append(out.Vendors, v)
			own = &out.Vendors[len(out.Vendors)-1]
			out.Evidence = append(out.Evidence, v.Drills...)
			continue
		}
		name := fmt.Sprintf("another vendor (%c)", 'A'+others%26)
		others++
		out.Vendors = append(out.Vendors, control.Standing{
			Vendor: name, Label: name, Masked: true, FirstToken: v.FirstToken, Whole: v.Whole, ErrorRate: v.ErrorRate, Refused: v.Refused,
			AtShares: []control.AtShare{}, Drills: []control.Evidence{},
		})
	}
	if own == nil {
		return nil
	}
	for _, s := range l.Limits {
		if s.Vendor == vendor {
			out.Limits = append(out.Limits, s)
		}
	}
	out.Evidence = append(out.Evidence, control.Evidence{Ref: "ledger", Text: fmt.Sprintf("%s to %s UTC", l.Since.Format(time.DateOnly), l.Until.Format(time.DateOnly))})
	out.Headline = maskedHeadline(own, l)
	return out
}

func maskedHeadline(v *control.Standing, l *control.Leverage) string {
	share := value(v.Share)
	says := fmt.Sprintf("%s carries %.1f %% of %.0f calls a day", v.Label, share, l.Volume.PerDay)
	if l.Days > 0 && l.Days < 1 {
		says += " (extrapolated from " + l.Recorded() + ")"
	}
	if v.Shiftable == nil {
		return says + "."
	}
	return fmt.Sprintf("%s; %.1f points of it (%.0f calls a day) can move to others, as the drill of %s proved.",
		says, v.Shiftable.Share, v.Shiftable.Share/100*l.Volume.PerDay, v.Shiftable.At)
}

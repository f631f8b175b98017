package ledger

import (
	"time"

	"baton/engine/control"
)

// steps are the lengths of a curve's steps, and up to how long a time each is for.
var steps = [...]struct{ step, upTo time.Duration }{
	{time.Minute, time.Hour}, {5 * time.Minute, SpentFor}, {15 * time.Minute, 24 * time.Hour},
}

// BySteps is the account's spending in the finest steps with which the time that
// is recorded is still a curve, each step of it, those without spending too; the
// one that is not over is left out. It is empty where the steps would be hours,
// which Costs has.
func BySteps(acc *Account) (stepS float64, out []control.HourCost) {
	if acc.First.IsZero() {
		return 0, nil
	}
	length := acc.Until.Sub(acc.First)
	step := time.Duration(0)
	for _, s := range steps {
		if length <= s.upTo {
			step = s.step
			break
		}
	}
	if step == 0 {
		return 0, nil
	}
	cells, vendors := map[int64]map[string]*Money{}, map[string]bool{}
	add := func(at int64, vendor string, cost int64, priced bool) {
		at -= at % int64(step.Seconds())
		if cells[at] == nil {
			cells[at] = map[string]*Money{}
		}
		if !priced {
			return
		}
		vendors[vendor] = true
		if cells[at][vendor] == nil {
			cells[at][vendor] = new(Money)
		}
		*cells[at][vendor] = cells[at][vendor].Plus(Pico(cost))
	}
	if step < 15*time.Minute {
		for _, s := range acc.Spent {
			add(s.Minute, s.Vendor, s.Cost, s.Priced)
		}
	} else {
		for i := range acc.Rows {
			if r := &acc.Rows[i]; r.spends() {
				add(r.Minute, r.Vendor, plus(plus(r.CostInput, r.CostCached), r.CostOutput), r.Flags&FlagPriced != 0)
			}
		}
	}
	if len(vendors) == 0 {
		return 0, nil
	}
	for at := acc.First.Truncate(step); !at.Add(step).After(acc.Until); at = at.Add(step) {
		h := control.HourCost{Hour: at.UTC(), Cost: map[string]*float64{}}
		for v := range vendors {
			h.Cost[v] = control.Figure(0)
			if m := cells[at.Unix()][v]; m != nil {
				h.Cost[v] = control.Figure(m.Float())
			}
		}
		out = append(out, h)
	}
	return step.Seconds(), out
}

package drills

import (
	"context"
	"time"

	"baton/engine/control"
)

// spent is the tokens and the money of all vendors up to a moment.
type spent struct {
	tokens float64
	cost   float64
	priced bool // of every vendor that was asked anything
}

func spentOf(s *control.Snapshot) spent {
	out := spent{priced: len(s.Vendors) > 0}
	for i := range s.Vendors {
		v := &s.Vendors[i]
		n := float64(v.Tokens.Input + v.Tokens.Output)
		out.tokens += n
		switch {
		case v.Cost.Total != nil:
			out.cost += *v.Cost.Total
		case n > 0:
			out.priced = false
		}
	}
	return out
}

// extra is what the tokens between two moments cost more than they would have at
// the mean price before; nil where a price is not known.
func extra(before, now *control.Snapshot) *float64 {
	a, b := spentOf(before), spentOf(now)
	if !a.priced || !b.priced || a.tokens == 0 {
		return nil
	}
	return control.Figure(b.cost - a.cost - (b.tokens-a.tokens)*a.cost/a.tokens)
}

// expectedFor is how long a drill's fault is taken to be in, beside its hold.
const expectedFor = time.Minute

// expected is what a drill of a vendor is taken to cost extra: its spending of that
// time at the others' price of a token; nil where a price is not known.
func expected(snap *control.Snapshot, vendor string, hold time.Duration) *float64 {
	v := snap.Vendor(vendor)
	if v == nil || v.Cost.PerHour == nil || v.Cost.PerMillionTokens == nil || *v.Cost.PerMillionTokens <= 0 {
		return nil
	}
	price, n := 0.0, 0
	for i := range snap.Vendors {
		o := &snap.Vendors[i]
		if o.Name == vendor || !takes(o.State) {
			continue
		}
		if o.Cost.PerMillionTokens == nil {
			return nil
		}
		price, n = price+*o.Cost.PerMillionTokens, n+1
	}
	if n == 0 {
		return nil
	}
	return control.Figure(*v.Cost.PerHour * (hold + expectedFor).Hours() * (price/float64(n) / *v.Cost.PerMillionTokens - 1))
}

// reckon brings the extra cost up to date once a second, for as long as the fault
// is in force.
func (r *run) reckon(ctx context.Context, now time.Time) {
	if now.Before(r.nextCost) {
		return
	}
	r.nextCost = now.Add(time.Second)
	r.mu.Lock()
	over := r.after != nil
	r.mu.Unlock()
	if over {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	s, err := control.Get[*control.Snapshot](ctx, r.m.control, control.State{})
	if err != nil {
		return
	}
	c := extra(r.before, s)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Cost.Extra, r.st.Budget.Cost = c, c
}

package cli

import (
	"context"
	"slices"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/store"
)

const (
	costsOver    = 24 * time.Hour
	leverageOver = 30 * 24 * time.Hour
)

// account tells the ledger what things cost and how long to keep that.
func (p *process) account(cfg *config.Config) {
	p.book.Store(ledger.NewBook(cfg))
	p.store.Book(p.book.Load())
	p.store.Keep(store.KeepOf(&cfg.Ledger))
}

// drilling tells the ledger when faults of ours were in. Only saved calls it, as
// often as the ledger is written: a fault that somebody injects without a drill is
// known as exactly as that.
func (p *process) drilling(now time.Time) {
	d := p.machine.State()
	if d != nil && d.Incident {
		d = nil
	}
	for _, v := range p.engine.Vendors() {
		_, in := p.faults.Point(v.Name).State(now)
		i := slices.IndexFunc(p.drilled, func(w ledger.Window) bool { return w.Vendor == v.Name && w.To.IsZero() })
		mine := d != nil && d.Vendor == v.Name
		switch {
		case in && i < 0:
			w := ledger.Window{Vendor: v.Name, From: now}
			if mine {
				w.From = reached(d, control.PhaseFault, now)
			}
			p.drilled = append(p.drilled, w)
		case !in && i >= 0:
			p.drilled[i].To = now
			if mine {
				p.drilled[i].To = reached(d, control.PhaseRestored, now)
			}
		}
	}
	if n := len(p.drilled); n > drillsKept {
		p.drilled = slices.Clone(p.drilled[n-drillsKept:])
	}
	p.store.Drills(slices.Clone(p.drilled))
}

// drillsKept is how many windows are remembered: an attempt is priced within a
// second of its end.
const drillsKept = 16

// reached is when a drill came to a phase; otherwise if it has not.
func reached(d *control.DrillState, phase string, otherwise time.Time) time.Time {
	for _, m := range d.Phases {
		if m.Name == phase {
			return m.Time
		}
	}
	return otherwise
}

// spent writes what has been spent into a snapshot.
func (p *process) spent(s *control.Snapshot, now time.Time) {
	s.Cost = p.store.Spent(s.Vendors, now)
}

// costs answers control.CostsOf.
func (p *process) costs(ctx context.Context, q control.CostsOf) (*control.Costs, error) {
	since, until, err := span(q.Since, q.Until, costsOver, time.Now())
	if err != nil {
		return nil, err
	}
	acc, err := p.store.Account(ctx, since, until, false)
	if err != nil {
		return nil, err
	}
	cfg := p.cfg.Load()
	acc.Simulated = cfg.Simulated()
	return p.book.Load().Costs(acc.Rows, acc.Period, vendorNames(cfg)), nil
}

// span is the time of a question about money.
func span(since, until time.Time, over time.Duration, now time.Time) (time.Time, time.Time, error) {
	if until.IsZero() {
		until = now
	}
	if since.IsZero() {
		since = until.Add(-over)
	}
	if !since.Before(until) {
		return since, until, &control.Error{Kind: control.Invalid, Field: "since", Message: "since has to be before until"}
	}
	return since, until, nil
}

func vendorNames(cfg *config.Config) []string {
	names := make([]string, len(cfg.Vendors))
	for i := range cfg.Vendors {
		names[i] = cfg.Vendors[i].Name
	}
	return names
}

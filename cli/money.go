package cli

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
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

// faultWindows are when faults of ours were in, for the ledger.
type faultWindows struct {
	mu   sync.Mutex
	list ledger.Windows
}

// windowsKept is how many are remembered: an attempt is priced within a second of
// its end, but it may have begun long before.
const windowsKept = 32

// faultBegins must come before the fault: what fails by it may be priced at once.
func (p *process) faultBegins(vendor string, now time.Time) {
	w := &p.windows
	w.mu.Lock()
	defer w.mu.Unlock()
	if i := w.open(vendor); i >= 0 {
		return
	}
	w.list = append(slices.Clone(w.list[max(0, len(w.list)-windowsKept+1):]), ledger.Window{Vendor: vendor, From: now})
	p.store.Drills(w.list)
}

// faultEnds closes the window of a vendor's fault, if there is one.
func (p *process) faultEnds(vendor string, now time.Time) {
	w := &p.windows
	w.mu.Lock()
	defer w.mu.Unlock()
	i := w.open(vendor)
	if i < 0 {
		return
	}
	w.list = slices.Clone(w.list) // the store has the old one
	w.list[i].To = now
	p.store.Drills(w.list)
}

// spiking keeps the window of a drill that is a load and no fault: it is at no
// vendor. It is known to half a second.
func (p *process) spiking(now time.Time) {
	d := p.machine.State()
	if d == nil || d.Fault.Kind != "spike" || d.Verdict != nil {
		p.faultEnds("", now)
		return
	}
	for _, m := range d.Phases {
		if m.Name == control.PhaseFault {
			p.faultBegins("", m.Time)
		}
	}
}

// open is the window of a fault that is in, -1 for none.
func (w *faultWindows) open(vendor string) int {
	return slices.IndexFunc(w.list, func(x ledger.Window) bool { return x.Vendor == vendor && x.To.IsZero() })
}

// spent writes what has been spent into a snapshot.
func (p *process) spent(s *control.Snapshot, now time.Time) {
	s.Cost = p.store.Spent(s.Vendors, now)
}

// askMoney answers the questions about money; false: q is none.
func (p *process) askMoney(ctx context.Context, q control.Query) (bool, control.Answer, error) {
	var a control.Answer
	var err error
	switch q := q.(type) {
	case control.CostsOf:
		a, err = p.costs(ctx, q)
	case control.LeverageOf:
		a, err = p.leverage(ctx, q)
	case control.DossierOf:
		a, err = p.dossier(ctx, q)
	case control.LinesOf:
		a, err = p.lines(ctx, q)
	case control.Vacuum:
		before, after, vErr := p.store.Vacuum(ctx)
		a, err = &control.Vacuumed{Before: before, After: after}, vErr
	case control.CopyStore:
		c := &control.StoreCopy{Path: p.state.path("baton-copy.db")}
		_ = os.Remove(c.Path)
		a, err = c, p.store.Copy(ctx, c.Path)
	default:
		return false, nil, nil
	}
	if err != nil {
		if _, known := errors.AsType[*control.Error](err); !known {
			err = control.Errorf(control.Internal, "%v", err)
		}
		return true, nil, err
	}
	return true, a, nil
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
	doc := p.book.Load().Costs(acc.Rows, acc.Period, vendorNames(cfg))
	doc.StepS, doc.ByStep = ledger.BySteps(acc)
	if q.Until.IsZero() { // what is spent now is what the overview says
		doc.RunRate = p.runRate(time.Now())
	}
	return doc, nil
}

// runRate is the snapshot's, per day and month too.
func (p *process) runRate(now time.Time) control.RunRate {
	all := p.engine.Vendors()
	vendors := make([]control.Vendor, len(all))
	for i, v := range all {
		vendors[i].Name = v.Name
	}
	s := p.store.Spent(vendors, now)
	r := control.RunRate{OverS: s.OverS, PerHour: s.PerHour}
	if s.PerHour != nil {
		r.PerDay, r.PerMonth = control.Figure(24**s.PerHour), control.Figure(720**s.PerHour)
	}
	return r
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

// leverage answers control.LeverageOf.
func (p *process) leverage(ctx context.Context, q control.LeverageOf) (*control.Leverage, error) {
	cfg, now := p.cfg.Load(), time.Now()
	since, until, err := span(q.Since, q.Until, leverageOver, now)
	if err != nil {
		return nil, err
	}
	if q.For != "" && p.engine.ByName(q.For) == nil {
		return nil, control.Errorf(control.Invalid, "there is no vendor %q", q.For)
	}
	acc, err := p.store.Account(ctx, since, until, true)
	if err != nil {
		return nil, err
	}
	acc.Simulated = cfg.Simulated()
	f := factsOf(cfg, p.state.path("drills"), until)
	f.Terms, f.Allowed = q.Terms, map[string]float64{}
	s := new(control.Snapshot)
	p.engine.Fill(s)
	for _, v := range s.Vendors {
		if v.Limit.AllowedRPS != nil {
			f.Allowed[v.Name] = *v.Limit.AllowedRPS
		}
	}
	f.Measured = measured(p.engine.Saved().Limits, p.book.Load().Zone)
	l := p.book.Load().Leverage(acc, f)
	if q.For != "" {
		l = ledger.Mask(l, q.For)
	}
	return l, nil
}

// factsOf is what the ledger does not hold, of a configuration and of the records
// of drills.
func factsOf(cfg *config.Config, drillsDir string, until time.Time) ledger.Facts {
	f := ledger.Facts{Labels: map[string]string{}, Proofs: proofs(drillsDir, until)}
	for i := range cfg.Vendors {
		v := &cfg.Vendors[i]
		f.Labels[v.Name] = v.Label
		switch v.Role {
		case config.Primary:
			f.Vendors = slices.Insert(f.Vendors, 0, v.Name)
		case config.Secondary:
			f.Vendors = append(f.Vendors, v.Name)
		}
	}
	return f
}

// measured is the register's entries of limits that were learned.
func measured(limits map[string]control.SavedLimit, zone *time.Location) []control.LimitSay {
	out := []control.LimitSay{}
	for _, vendor := range slices.Sorted(maps.Keys(limits)) {
		l := limits[vendor]
		out = append(out, control.LimitSay{
			Vendor: vendor, What: "measured", Limit: strconv.FormatFloat(l.RPS, 'f', -1, 64) + " requests/s per key", Day: l.At.In(zone).Format(time.DateOnly), Source: l.Evidence,
		})
	}
	return out
}

// dossierIDs is how many failed requests a dossier names.
const dossierIDs = 1000

// dossier answers control.DossierOf.
func (p *process) dossier(ctx context.Context, q control.DossierOf) (*control.Dossier, error) {
	v := p.engine.ByName(q.Vendor)
	if v == nil {
		return nil, control.Errorf(control.NotFound, "there is no vendor %q", q.Vendor)
	}
	return dossierOf(ctx, p.store, p.book.Load(), p.cfg.Load(), measured(p.engine.Saved().Limits, p.book.Load().Zone), q)
}

// accounts is where a ledger is read: a store that is in use, or a view of one.
type accounts interface {
	Account(ctx context.Context, since, until time.Time, whole bool) (*ledger.Account, error)
	Failures(ctx context.Context, vendor string, since, until time.Time, limit int) (ledger.Failures, error)
}

func dossierOf(ctx context.Context, from accounts, book *ledger.Book, cfg *config.Config, limits []control.LimitSay, q control.DossierOf) (*control.Dossier, error) {
	month, since, until, err := book.Month(q.Month, time.Now())
	if err != nil {
		return nil, err
	}
	acc, err := from.Account(ctx, since, until, true)
	if err != nil {
		return nil, err
	}
	failed, err := from.Failures(ctx, q.Vendor, since, until, dossierIDs)
	if err != nil {
		return nil, err
	}
	acc.Simulated = cfg.Simulated()
	return book.Dossier(acc, q.Vendor, factsOf(cfg, "", until).Labels[q.Vendor], month, failed, limits), nil
}

// lines answers control.LinesOf.
func (p *process) lines(ctx context.Context, q control.LinesOf) ([]control.BillLine, error) {
	if p.engine.ByName(q.Vendor) == nil {
		return nil, control.Errorf(control.NotFound, "there is no vendor %q", q.Vendor)
	}
	return linesOf(ctx, p.store, p.book.Load(), q)
}

func linesOf(ctx context.Context, from accounts, book *ledger.Book, q control.LinesOf) ([]control.BillLine, error) {
	days := book.Zone
	if q.Timezone != "" {
		var err error
		if days, err = time.LoadLocation(q.Timezone); err != nil {
			return nil, &control.Error{Kind: control.Invalid, Field: "timezone", Message: "there is no time zone " + strconv.Quote(q.Timezone)}
		}
	}
	since, until, err := span(q.Since, q.Until, leverageOver, time.Now())
	if err != nil {
		return nil, err
	}
	acc, err := from.Account(ctx, since, until, false)
	if err != nil {
		return nil, err
	}
	return ledger.Lines(acc.Rows, q.Vendor, days), nil
}

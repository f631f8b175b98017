package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"baton/engine/control"
	"baton/engine/ledger"
)

const (
	intakeKeep = 100_000 // attempts between two writes; more are rolled up at once
	rawKeep    = 100_000 // single attempts in memory while nothing can be written
	foldOver   = 50_000  // rows in memory from which old minutes are folded
	spareKeep  = 20_000  // attempts for which a buffer stays
)

// books is the ledger's part of a Store: attempts on their way into the file.
// Figures are never dropped: what memory has no room for is single attempts,
// whose tokens and money are in the rollup all the same.
type books struct {
	intakeKeep, rawKeep int

	intake sync.Mutex // guards what follows, for moments
	fresh  []ledger.Attempt
	spare  []ledger.Attempt // the other buffer, empty

	mu      sync.Mutex // guards what follows; never held across IO
	book    *ledger.Book
	ready   bool // the book is a configuration's
	drills  ledger.Windows
	open    ledger.Rollup // not in a batch yet
	raw     []rawAttempt
	taken   []string // files of spending that are in open
	rawGone int64    // single attempts that memory had no room for
	live    *ledger.Live
	keep    Keep

	run   string // of this process, for the names of batches
	n     int64  // batches made
	batch *batch // made, and not known to be in the file; guarded by Store.disk
}

// rawAttempt is a single attempt with what it cost.
type rawAttempt struct {
	ledger.Attempt
	cost  ledger.Cost
	drill bool
}

// batch is what goes into the file in one transaction. Its name goes with it, so
// that one whose commit seemed to fail, and did not, is not counted twice.
type batch struct {
	name string
	ledger.Rollup
	raw   []rawAttempt
	taken []string // files of spending that are in it
}

func newBooks(now time.Time) *books {
	return &books{intakeKeep: intakeKeep, rawKeep: rawKeep, book: ledger.NoBook(), live: ledger.NewLive(now), run: rand.Text()[:12]}
}

// Attempt adds an attempt that has ended to the ledger. It never waits for the
// disk, and allocates nothing once it has seen as many as come between two writes.
func (s *Store) Attempt(a *ledger.Attempt) {
	b := s.books
	b.intake.Lock()
	if len(b.fresh) < b.intakeKeep {
		b.fresh = append(b.fresh, *a)
		b.intake.Unlock()
		return
	}
	b.intake.Unlock()
	b.settle()
	b.intake.Lock()
	b.fresh = append(b.fresh, *a)
	b.intake.Unlock()
}

// Book prices what ends from now on; what has ended has the prices of before.
func (s *Store) Book(book *ledger.Book) {
	s.books.settle()
	s.books.mu.Lock()
	s.books.book, s.books.ready = book, true
	s.books.mu.Unlock()
}

// Drills says when the faults of drills were in, as far as is known by now.
func (s *Store) Drills(w ledger.Windows) {
	s.books.mu.Lock()
	s.books.drills = w
	s.books.mu.Unlock()
}

// settle prices what has ended and rolls it up.
func (b *books) settle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.intake.Lock()
	list := b.fresh
	b.fresh, b.spare = b.spare[:0], nil
	b.intake.Unlock()
	for i := range list {
		b.enter(&list[i])
	}
	clear(list) // its strings are requests'
	if cap(list) > spareKeep {
		return
	}
	b.intake.Lock()
	b.spare = list[:0]
	b.intake.Unlock()
}

// enter prices one attempt and rolls it up. b.mu is held.
func (b *books) enter(a *ledger.Attempt) {
	c := b.book.Price(a)
	drill := b.drills.Of(a)
	b.open.Add(a, c, drill)
	b.live.Add(a, c)
	if a.Vendor == "" || a.Source == ledger.Probe {
		return
	}
	if len(b.raw) >= b.rawKeep {
		gone := max(1, b.rawKeep/10)
		b.raw = append(b.raw[:0:0], b.raw[gone:]...)
		b.rawGone += int64(gone)
	}
	b.raw = append(b.raw, rawAttempt{*a, c, drill != ledger.NoDrill})
}

// next returns the batch that is to be written, nil for none. Store.disk is held.
func (b *books) next() *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.batch != nil {
		return b.batch
	}
	if b.open.Empty() && len(b.raw) == 0 && len(b.taken) == 0 {
		return nil
	}
	b.n++
	b.batch = &batch{name: fmt.Sprintf("%s:%d", b.run, b.n), Rollup: b.open, raw: b.raw, taken: b.taken}
	b.open, b.raw, b.taken = ledger.Rollup{}, nil, nil
	return b.batch
}

// tidy settles, and bounds what is in memory while nothing can be written.
func (b *books) tidy(now time.Time) {
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open.Minutes) > foldOver {
		b.open.Fold(now.Add(-time.Hour))
	}
}

// wrote forgets the batch, which is in the file. Store.disk is held.
func (b *books) wrote() { b.batch = nil }

// alert says what the ledger has lost, "" for nothing.
func (b *books) alert() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rawGone == 0 {
		return ""
	}
	return fmt.Sprintf("%d single attempts are missing from the ledger (there was no room to keep them in memory); the sums have them", b.rawGone)
}

// Spent writes what a running engine has spent into its vendors' lines and sums
// it up.
func (s *Store) Spent(vendors []control.Vendor, now time.Time) control.Spend {
	b := s.books
	b.settle()
	b.mu.Lock()
	defer b.mu.Unlock()
	names := make([]string, len(vendors))
	for i := range vendors {
		names[i] = vendors[i].Name
		vendors[i].Cost = b.live.Of(names[i], b.book.Priced(names[i]), now)
	}
	return b.live.All(b.book.Currency, b.book.Priced, names, now)
}

const (
	insertMinute = `INSERT INTO minutes (minute, vendor, model, at, lane, client, flags, asked, attempts, answered, faults, limited, unpriced, input, cached, output, reasoning,
		cost_input, cost_cached, cost_output, compared, reported_in, reported_out, expected_in, expected_out)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ` + addMinute
	addMinute = `ON CONFLICT DO UPDATE SET asked = asked + excluded.asked, attempts = attempts + excluded.attempts, answered = answered + excluded.answered,
		faults = faults + excluded.faults, limited = limited + excluded.limited, unpriced = unpriced + excluded.unpriced,
		input = input + excluded.input, cached = cached + excluded.cached, output = output + excluded.output, reasoning = reasoning + excluded.reasoning,
		cost_input = cost_input + excluded.cost_input, cost_cached = cost_cached + excluded.cost_cached, cost_output = cost_output + excluded.cost_output,
		compared = compared + excluded.compared, reported_in = reported_in + excluded.reported_in, reported_out = reported_out + excluded.reported_out,
		expected_in = expected_in + excluded.expected_in, expected_out = expected_out + excluded.expected_out`
	insertLatency = "INSERT INTO latencies (quarter, vendor, stream, bucket, n) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
	insertAttempt = `INSERT INTO attempts (ended, ok, request, n, vendor, model, at, lane, client, endpoint, flags, outcome, reason, status, vendor_id, took, first_token,
		input, cached, output, reasoning, cost) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	rowBatch = "ledger" // in saved: the name of the last batch
)

// enter puts a batch into the file, if it is not there. It is part of the
// transaction of tx.
func (b *batch) enter(ctx context.Context, tx *sql.Tx) error {
	last := ""
	if err := tx.QueryRowContext(ctx, "SELECT coalesce((SELECT value FROM saved WHERE name = ?), '')", rowBatch).Scan(&last); err != nil {
		return err
	}
	if last == b.name {
		return nil
	}
	if err := b.enterRollup(ctx, tx); err != nil {
		return err
	}
	if err := b.enterRaw(ctx, tx); err != nil {
		return err
	}
	for _, name := range b.taken {
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO taken (name, time) VALUES (?, unixepoch())", name); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO saved (name, value) VALUES (?, ?)", rowBatch, b.name)
	return err
}

func (b *batch) enterRollup(ctx context.Context, tx *sql.Tx) error {
	minute, err := tx.PrepareContext(ctx, insertMinute)
	if err != nil {
		return err
	}
	defer func() { _ = minute.Close() }()
	for k, s := range b.Minutes {
		if _, err := minute.ExecContext(ctx, k.Minute, k.Vendor, k.Model, k.At, k.Lane, k.Client, int64(k.Flags), s.Asked, s.Attempts, s.Answered, s.Faults, s.Limited, s.Unpriced,
			s.Input, s.Cached, s.Output, s.Reasoning, s.CostInput, s.CostCached, s.CostOutput, s.Compared, s.ReportedIn, s.ReportedOut, s.ExpectedIn, s.ExpectedOut); err != nil {
			return err
		}
	}
	latency, err := tx.PrepareContext(ctx, insertLatency)
	if err != nil {
		return err
	}
	defer func() { _ = latency.Close() }()
	for k, n := range b.Latencies {
		if _, err := latency.ExecContext(ctx, k.Quarter, k.Vendor, k.Stream, k.Bucket, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *batch) enterRaw(ctx context.Context, tx *sql.Tx) error {
	st, err := tx.PrepareContext(ctx, insertAttempt)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	for i := range b.raw {
		a := &b.raw[i]
		var cost any
		if a.cost.Known {
			cost = a.cost.Sum()
		}
		if _, err := st.ExecContext(ctx, a.Ended.UnixNano(), a.Answered(), a.Request, a.N, a.Vendor, a.Model, a.At, a.Lane.String(), a.Client, a.Endpoint,
			int64(ledger.FlagsOf(&a.Attempt, a.cost, a.drill)), a.Outcome, a.Reason, a.Status, a.VendorID, int64(a.Took), int64(a.FirstToken),
			a.Input, a.Cached, a.Output, a.Reasoning, cost); err != nil {
			return err
		}
	}
	return nil
}

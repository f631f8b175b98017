package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"baton/engine/control"
	"baton/engine/ledger"
)

// chunk is how much of the ledger is read at once: the file is not held for long.
const chunk = 24 * time.Hour

// Account reads what the ledger holds from since until until; whole: minutes and
// latencies too. What is not written yet is in it.
func (s *Store) Account(ctx context.Context, since, until time.Time, whole bool) (*ledger.Account, error) {
	acc := newAccount(since, until)
	first, err := s.firstMinute(ctx, acc.Since)
	if err != nil {
		return nil, err
	}
	for from := first; ; from = from.Add(chunk) {
		to := from.Add(chunk)
		last := !to.Before(until)
		if last {
			to = until
		}
		if err := s.readChunk(ctx, acc, from, to, last, whole); err != nil || last {
			return acc, err
		}
	}
}

// firstMinute is the first one in the file from since on, or since.
func (s *Store) firstMinute(ctx context.Context, since time.Time) (time.Time, error) {
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.file == nil {
		return since, nil
	}
	first := since.Unix()
	err := s.file.conn.QueryRowContext(ctx, "SELECT coalesce(min(minute), ?1) FROM minutes WHERE minute >= ?1", first).Scan(&first)
	if err != nil {
		return since, fmt.Errorf("read the ledger: %w", err)
	}
	return time.Unix(first, 0), nil
}

func newAccount(since, until time.Time) *ledger.Account {
	since = since.Truncate(time.Minute)
	return &ledger.Account{Period: ledger.Period{Since: since, Until: until}, Latencies: map[ledger.LatencyKey]int64{}}
}

func (s *Store) readChunk(ctx context.Context, acc *ledger.Account, from, to time.Time, last, whole bool) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	written := ""
	if s.file != nil {
		if err := s.file.account(ctx, acc, from, to, whole); err != nil {
			return err
		}
		if last {
			if err := s.file.conn.QueryRowContext(ctx, "SELECT coalesce((SELECT value FROM saved WHERE name = ?), '')", rowBatch).Scan(&written); err != nil {
				return err
			}
		}
	}
	if last {
		s.books.settle()
		s.books.mu.Lock()
		defer s.books.mu.Unlock()
		if b := s.books.batch; b != nil && b.name != written {
			enter(acc, &b.Rollup, whole)
		}
		enter(acc, &s.books.open, whole)
	}
	return nil
}

// enter adds what is in memory.
func enter(acc *ledger.Account, r *ledger.Rollup, whole bool) {
	from, to := acc.Since.Unix(), acc.Until.Unix()
	for k, sums := range r.Minutes {
		if k.Minute < from || k.Minute > to {
			continue
		}
		seen(acc, k.Minute)
		if whole && k.Flags.Source() == ledger.Client {
			m := ledger.Minute{Minute: k.Minute, Vendor: k.Vendor, Asked: sums.Asked}
			if k.Flags&ledger.FlagDrill == 0 {
				m.Attempts, m.Answered, m.Faults, m.Limited = sums.Attempts, sums.Answered, sums.Faults, sums.Limited
			}
			acc.Minutes = append(acc.Minutes, m)
		}
		if k.Vendor != "" && k.Flags.Source() != ledger.Probe && k.Minute >= to-int64(ledger.SpentFor.Seconds()) {
			acc.Spent = append(acc.Spent, ledger.Spent{Minute: k.Minute, Vendor: k.Vendor, Cost: sums.CostInput + sums.CostCached + sums.CostOutput, Priced: k.Flags&ledger.FlagPriced != 0})
		}
		k.Minute -= k.Minute % ledger.Quarter
		acc.Rows = append(acc.Rows, ledger.Row{Key: k, Sums: *sums})
	}
	if !whole {
		return
	}
	for k, n := range r.Latencies {
		if k.Quarter+ledger.Quarter > from && k.Quarter <= to {
			acc.Latencies[k] += n
		}
	}
}

func seen(acc *ledger.Account, minute int64) {
	at := time.Unix(minute, 0)
	if acc.First.IsZero() || at.Before(acc.First) {
		acc.First = at
	}
	if at.After(acc.Last) {
		acc.Last = at
	}
}

// account adds what the file holds from from to before to.
func (f *file) account(ctx context.Context, acc *ledger.Account, from, to time.Time, whole bool) error {
	a, b := from.Unix(), to.Unix()
	if from.Equal(acc.Since) && a%60 != 0 {
		a -= a % 60
	}
	if !to.Before(acc.Until) {
		b++ // the minute of Until, if it begins one
	}
	var first, last sql.NullInt64
	if err := f.conn.QueryRowContext(ctx, "SELECT min(minute), max(minute) FROM minutes WHERE minute >= ? AND minute < ?", a, b).Scan(&first, &last); err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	if !first.Valid {
		return nil
	}
	seen(acc, first.Int64)
	seen(acc, last.Int64)
	if err := f.accountRows(ctx, acc, a, b); err != nil {
		return err
	}
	if err := f.accountSpent(ctx, acc, max(a, acc.Until.Add(-ledger.SpentFor).Unix()), b); err != nil || !whole {
		return err
	}
	if err := f.accountMinutes(ctx, acc, a, b); err != nil {
		return err
	}
	return f.accountLatencies(ctx, acc, a-a%ledger.Quarter, b)
}

func (f *file) accountRows(ctx context.Context, acc *ledger.Account, from, to int64) error {
	return f.each(ctx, `SELECT minute - minute % 900, vendor, model, at, lane, client, flags, sum(asked), sum(attempts), sum(answered), sum(faults), sum(limited), sum(unpriced),
		sum(input), sum(cached), sum(output), sum(reasoning), sum(cost_input), sum(cost_cached), sum(cost_output),
		sum(compared), sum(reported_in), sum(reported_out), sum(expected_in), sum(expected_out)
		FROM minutes WHERE minute >= ? AND minute < ? GROUP BY minute / 900, vendor, model, at, lane, client, flags`, func(scan func(...any) error) error {
		r := ledger.Row{}
		err := scan(&r.Minute, &r.Vendor, &r.Model, &r.At, &r.Lane, &r.Client, &r.Flags, &r.Asked, &r.Attempts, &r.Answered, &r.Faults, &r.Limited, &r.Unpriced,
			&r.Input, &r.Cached, &r.Output, &r.Reasoning, &r.CostInput, &r.CostCached, &r.CostOutput, &r.Compared, &r.ReportedIn, &r.ReportedOut, &r.ExpectedIn, &r.ExpectedOut)
		acc.Rows = append(acc.Rows, r)
		return err
	}, from, to)
}

// accountSpent reads what the last hours cost by minute: those are not folded yet.
func (f *file) accountSpent(ctx context.Context, acc *ledger.Account, from, to int64) error {
	if from >= to {
		return nil
	}
	return f.each(ctx, "SELECT minute, vendor, flags, sum(cost_input + cost_cached + cost_output) FROM minutes WHERE minute >= ? AND minute < ? AND vendor <> '' GROUP BY minute, vendor, flags", func(scan func(...any) error) error {
		s, flags := ledger.Spent{}, ledger.Flags(0)
		err := scan(&s.Minute, &s.Vendor, &flags, &s.Cost)
		if s.Priced = flags&ledger.FlagPriced != 0; flags.Source() != ledger.Probe {
			acc.Spent = append(acc.Spent, s)
		}
		return err
	}, from, to)
}

func (f *file) accountMinutes(ctx context.Context, acc *ledger.Account, from, to int64) error {
	folded := int64(0)
	if err := f.conn.QueryRowContext(ctx, "SELECT coalesce((SELECT CAST(value AS INTEGER) FROM saved WHERE name = ?), 0)", rowFolded).Scan(&folded); err != nil {
		return err
	}
	return f.each(ctx, `SELECT minute, vendor, sum(asked), sum(iif(flags & 8, 0, attempts)), sum(iif(flags & 8, 0, answered)), sum(iif(flags & 8, 0, faults)), sum(iif(flags & 8, 0, limited))
		FROM minutes WHERE minute >= ? AND minute < ? AND flags < 16 GROUP BY minute, vendor`, func(scan func(...any) error) error {
		m := ledger.Minute{}
		err := scan(&m.Minute, &m.Vendor, &m.Asked, &m.Attempts, &m.Answered, &m.Faults, &m.Limited)
		acc.Minutes = append(acc.Minutes, m)
		return err
	}, max(from, folded), to)
}

func (f *file) accountLatencies(ctx context.Context, acc *ledger.Account, from, to int64) error {
	return f.each(ctx, "SELECT quarter, vendor, stream, bucket, n FROM latencies WHERE quarter >= ? AND quarter < ?", func(scan func(...any) error) error {
		k, n := ledger.LatencyKey{}, int64(0)
		err := scan(&k.Quarter, &k.Vendor, &k.Stream, &k.Bucket, &n)
		acc.Latencies[k] = n // chunks may overlap in a quarter
		return err
	}, from, to)
}

func (f *file) each(ctx context.Context, query string, row func(scan func(...any) error) error, args ...any) error {
	rs, err := f.conn.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	defer func() { _ = rs.Close() }()
	for rs.Next() {
		if err := row(rs.Scan); err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
	}
	return rs.Err()
}

// Limits is what was learned of vendors' limits when the state was last saved.
func (v *View) Limits(ctx context.Context) (map[string]control.SavedLimit, error) {
	v.s.disk.Lock()
	defer v.s.disk.Unlock()
	if v.s.file == nil {
		return nil, nil
	}
	rows, err := v.s.file.rows(ctx)
	if err != nil {
		return nil, err
	}
	saved, _ := decode(rows)
	return saved.Limits, nil
}

// View is a file that no engine uses, for reading.
type View struct{ s *Store }

// OpenView opens the file at path for reading. It must not be in use. One that
// is not there, where nothing waits to be entered either, is fs.ErrNotExist. What
// waits has the book's prices.
func OpenView(path string, book *ledger.Book) (*View, error) {
	there := true
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && len(spendingOf(path).names()) > 0 {
		there = false
	} else if err != nil {
		return nil, err
	}
	s := &Store{path: path, books: newBooks(time.Now())}
	s.books.book = book
	waits := spendingOf(path)
	for _, name := range waits.names() {
		if list, err := waits.read(name); err == nil {
			for i := range list {
				s.books.enter(&list[i])
			}
		}
	}
	if !there {
		return &View{s}, nil
	}
	var err error
	if s.file, err = openFile(context.Background(), path); err == nil {
		return &View{s}, nil
	}
	if newer := (*NewerError)(nil); errors.As(err, &newer) || corrupt(err) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if s.file, err = openCopy(context.Background(), path); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &View{s}, nil
}

// Account reads what the ledger holds, as Store.Account.
func (v *View) Account(ctx context.Context, since, until time.Time, whole bool) (*ledger.Account, error) {
	return v.s.Account(ctx, since, until, whole)
}

// Failures reads a vendor's failed attempts, as Store.Failures.
func (v *View) Failures(ctx context.Context, vendor string, since, until time.Time, limit int) (ledger.Failures, error) {
	return v.s.Failures(ctx, vendor, since, until, limit)
}

// Export writes a table, as Store's file has it.
func (v *View) Export(ctx context.Context, table string, since, until time.Time, row func(columns []string, values []any) error) error {
	v.s.disk.Lock()
	defer v.s.disk.Unlock()
	if v.s.file == nil {
		return fmt.Errorf("export %s: there is no %s", table, v.s.path)
	}
	return v.s.file.export(ctx, table, since, until, row)
}

// Vacuum gives back the room of what was removed.
func (v *View) Vacuum(ctx context.Context) (before, after int64, err error) {
	v.s.disk.Lock()
	defer v.s.disk.Unlock()
	if v.s.file == nil {
		return 0, 0, fmt.Errorf("vacuum %s: %w", v.s.path, fs.ErrNotExist)
	}
	if v.s.file.copied != "" {
		return 0, 0, fmt.Errorf("vacuum %s: it cannot be written", v.s.path)
	}
	return v.s.file.vacuum(ctx)
}

// Close ends the use of the file.
func (v *View) Close() {
	v.s.disk.Lock()
	defer v.s.disk.Unlock()
	if v.s.file == nil {
		return
	}
	v.s.file.close()
	v.s.file.remove()
}

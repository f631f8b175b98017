package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"baton/engine/config"
	"baton/engine/ledger"
)

const (
	pruneEvery = 5 * time.Second
	prunePiece = 20_000 // single attempts removed at once: more than come in 5 s
	day        = 24 * time.Hour
	rowFolded  = "folded" // in saved: up to when minutes have been folded
)

// Keep is for how long the ledger keeps what.
type Keep struct {
	Raw     time.Duration // single attempts that answered
	RawRows int           // and how many of them
	Minutes time.Duration // minutes, failed attempts, latencies
	All     time.Duration // quarters of an hour
}

// KeepOf is what a configuration says.
func KeepOf(l *config.Ledger) Keep {
	return Keep{Raw: time.Duration(l.RawDays) * day, RawRows: l.RawRows, Minutes: time.Duration(l.MinuteDays) * day, All: time.Duration(l.KeepDays) * day}
}

// Keep says for how long to keep the ledger.
func (s *Store) Keep(k Keep) {
	s.books.mu.Lock()
	s.books.keep = k
	s.books.mu.Unlock()
}

func (s *Store) kept() Keep {
	s.books.mu.Lock()
	defer s.books.mu.Unlock()
	return s.books.keep
}

// prune removes and folds what the ledger no longer keeps, a piece at a time. A
// Keep of nothing keeps everything.
func (f *file) prune(ctx context.Context, now time.Time, k Keep) error {
	if k.All <= 0 {
		return nil
	}
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{"DELETE FROM attempts WHERE id IN (SELECT id FROM attempts WHERE ok = 1 AND ended < ? ORDER BY ended LIMIT ?)", []any{now.Add(-k.Raw).UnixNano(), prunePiece}},
		{"DELETE FROM attempts WHERE id IN (SELECT id FROM attempts WHERE ok = 0 AND ended < ? ORDER BY ended LIMIT ?)", []any{now.Add(-k.Minutes).UnixNano(), prunePiece}},
		// By number, of which there are no gaps but what was removed: what answered
		// first, what failed when it is ten times as far back.
		{"DELETE FROM attempts WHERE id IN (SELECT id FROM attempts WHERE id <= (SELECT max(id) FROM attempts) - ? AND ok = 1 ORDER BY id LIMIT ?)", []any{k.RawRows, prunePiece}},
		{"DELETE FROM attempts WHERE id IN (SELECT id FROM attempts WHERE id <= (SELECT max(id) FROM attempts) - ? ORDER BY id LIMIT ?)", []any{10 * k.RawRows, prunePiece}},
		{"DELETE FROM latencies WHERE quarter < min(?, (SELECT min(quarter) FROM latencies) + 21600)", []any{now.Add(-k.Minutes).Unix()}},
		{"DELETE FROM minutes WHERE minute < min(?, (SELECT min(minute) FROM minutes) + 21600)", []any{now.Add(-k.All).Unix()}},
		{"DELETE FROM taken WHERE time < ?", []any{now.Add(-k.All).Unix()}},
	} {
		if _, err := f.conn.ExecContext(ctx, q.sql, q.args...); err != nil {
			return fmt.Errorf("prune the ledger: %w", err)
		}
	}
	return f.fold(ctx, now.Add(-k.Minutes))
}

const foldPiece = 4 * ledger.Quarter // seconds folded at once

// fold turns minutes before a time into quarters, the oldest first, in one
// transaction with how far that has come.
func (f *file) fold(ctx context.Context, before time.Time) error {
	from, value := int64(0), ""
	err := f.conn.QueryRowContext(ctx, "SELECT value FROM saved WHERE name = ?", rowFolded).Scan(&value)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	from, _ = strconv.ParseInt(value, 10, 64)
	limit := before.Unix() - before.Unix()%ledger.Quarter
	var first sql.NullInt64
	if err := f.conn.QueryRowContext(ctx, "SELECT min(minute) FROM minutes WHERE minute >= ?", from).Scan(&first); err != nil {
		return err
	}
	if !first.Valid || first.Int64 >= limit {
		return nil
	}
	from = first.Int64 - first.Int64%ledger.Quarter
	to := min(from+foldPiece, limit)
	tx, err := f.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	for _, q := range []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO minutes SELECT minute - minute % 900, vendor, model, at, lane, client, flags, sum(asked), sum(attempts), sum(answered), sum(faults), sum(limited), sum(unpriced),
			sum(input), sum(cached), sum(output), sum(reasoning), sum(cost_input), sum(cost_cached), sum(cost_output),
			sum(compared), sum(reported_in), sum(reported_out), sum(expected_in), sum(expected_out)
			FROM minutes WHERE minute >= ? AND minute < ? AND minute % 900 != 0 GROUP BY minute / 900, vendor, model, at, lane, client, flags ` + addMinute, []any{from, to}},
		{"DELETE FROM minutes WHERE minute >= ? AND minute < ? AND minute % 900 != 0", []any{from, to}},
		{"INSERT OR REPLACE INTO saved (name, value) VALUES (?, ?)", []any{rowFolded, strconv.FormatInt(to, 10)}},
	} {
		if _, err := tx.ExecContext(ctx, q.sql, q.args...); err != nil {
			return fmt.Errorf("fold the ledger's minutes: %w", err)
		}
	}
	return tx.Commit()
}

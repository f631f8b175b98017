package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"baton/engine/control"
	"baton/engine/ledger"
)

// Tables are what can be exported, and the SQL for it: times come as seconds or
// nanoseconds since 1970 as the schema says, costs as pico-units.
var tables = map[string]string{
	"attempts": `SELECT ended, request, n, vendor, model, at, lane, client, endpoint, flags, outcome, reason, status, vendor_id, took, first_token, input, cached, output, reasoning, cost
		FROM attempts WHERE ended >= ?1 * 1000000000 AND ended < ?2 * 1000000000 ORDER BY id`,
	"minutes": `SELECT minute, vendor, model, at, lane, client, flags, asked, attempts, answered, faults, limited, unpriced, input, cached, output, reasoning,
		cost_input, cost_cached, cost_output, compared, reported_in, reported_out, expected_in, expected_out
		FROM minutes WHERE minute >= ?1 AND minute < ?2 ORDER BY minute, vendor`,
	"latencies": "SELECT quarter, vendor, stream, bucket, n FROM latencies WHERE quarter >= ?1 AND quarter < ?2 ORDER BY quarter, vendor, stream, bucket",
	"events":    "SELECT seq, time, level, kind, vendor, who, text, data FROM events WHERE time >= ?1 * 1000000000 AND time < ?2 * 1000000000 ORDER BY seq",
}

// Tables names what can be exported.
func Tables() []string { return []string{"attempts", "minutes", "latencies", "events"} }

func (f *file) export(ctx context.Context, table string, since, until time.Time, row func(columns []string, values []any) error) error {
	query, ok := tables[table]
	if !ok {
		return fmt.Errorf("there is no table %q; there are %v", table, Tables())
	}
	rs, err := f.conn.QueryContext(ctx, query, since.Unix(), until.Unix())
	if err != nil {
		return fmt.Errorf("export %s: %w", table, err)
	}
	defer func() { _ = rs.Close() }()
	columns, err := rs.Columns()
	if err != nil {
		return fmt.Errorf("export %s: %w", table, err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rs.Next() {
		if err := rs.Scan(into...); err != nil {
			return fmt.Errorf("export %s: %w", table, err)
		}
		if err := row(columns, values); err != nil {
			return err
		}
	}
	return rs.Err()
}

func (f *file) vacuum(ctx context.Context) (before, after int64, err error) {
	before = f.size()
	for _, q := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := f.conn.ExecContext(ctx, q); err != nil {
			return before, before, fmt.Errorf("vacuum %s: %w", f.path, err)
		}
	}
	return before, f.size(), nil
}

func (f *file) size() int64 {
	sum := int64(0)
	for _, with := range []string{"", "-wal"} {
		if info, err := os.Stat(f.path + with); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

var errInMemory = errors.New("the state is kept in memory only: its file cannot be written")

// Vacuum gives back the room of what was removed. It takes a moment for every
// 100 MB, in which the ledger waits in memory.
func (s *Store) Vacuum(ctx context.Context) (before, after int64, err error) {
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.file == nil {
		return 0, 0, errInMemory
	}
	return s.file.vacuum(ctx)
}

// Copy writes a copy of the file, with all that is known by now, to a path where
// there is nothing.
func (s *Store) Copy(ctx context.Context, to string) error {
	s.disk.Lock()
	defer s.disk.Unlock()
	s.write(ctx, time.Now(), nil)
	if s.file == nil {
		return errInMemory
	}
	if _, err := s.file.conn.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return fmt.Errorf("copy %s to %s: %w", s.path, to, err)
	}
	return os.Chmod(to, 0o600)
}

// Failures reads a vendor's failed attempts, the last ones first and at most limit
// of them; those while a fault of ours was in are left out.
func (s *Store) Failures(ctx context.Context, vendor string, since, until time.Time, limit int) (ledger.Failures, error) {
	s.disk.Lock()
	defer s.disk.Unlock()
	out := ledger.Failures{Reasons: []control.Reason{}, Requests: []control.Refusal{}}
	if s.file == nil {
		return out, nil
	}
	const which = "FROM attempts WHERE ok = 0 AND ended >= ? AND ended < ? AND vendor = ? AND flags < 16 AND flags & 8 = 0 AND outcome NOT IN ('client_cancel', 'client_fault', 'gateway_fault') "
	args := []any{since.UnixNano(), until.UnixNano(), vendor}
	total := int64(0)
	if err := s.file.each(ctx, "SELECT outcome, reason, status, count(*) "+which+"GROUP BY outcome, reason, status ORDER BY count(*) DESC, outcome, reason", func(scan func(...any) error) error {
		r := control.Reason{}
		err := scan(&r.Outcome, &r.Reason, &r.Status, &r.Count)
		total += r.Count
		out.Reasons = append(out.Reasons, r)
		return err
	}, args...); err != nil {
		return out, err
	}
	err := s.file.each(ctx, "SELECT ended, request, vendor_id, at, outcome, reason, status, took "+which+"ORDER BY ended DESC LIMIT ?", func(scan func(...any) error) error {
		r, ended, took := control.Refusal{}, int64(0), int64(0)
		err := scan(&ended, &r.Request, &r.VendorID, &r.Model, &r.Outcome, &r.Reason, &r.Status, &took)
		r.Time, r.AfterMs = time.Unix(0, ended).UTC(), float64(took/1000)/1000
		out.Requests = append(out.Requests, r)
		return err
	}, slices.Concat(args, []any{limit})...)
	out.More = total - int64(len(out.Requests))
	return out, err
}

package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"baton/engine/control"
)

// write puts rows, events and a batch of the ledger (nil: none) into the file in
// one transaction; nothing to write is no transaction.
func (f *file) write(ctx context.Context, rows map[string]string, events []control.Event, b *batch) error {
	fresh := map[string]string{}
	for name, value := range rows {
		if f.written[name] != value {
			fresh[name] = value
		}
	}
	if len(fresh) == 0 && len(events) == 0 && b == nil {
		return nil
	}
	tx, err := f.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	for name, value := range fresh {
		if _, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO saved (name, value) VALUES (?, ?)", name, value); err != nil {
			return err
		}
	}
	if err := insert(ctx, tx, events); err != nil {
		return err
	}
	if b != nil {
		if err := b.enter(ctx, tx); err != nil {
			return fmt.Errorf("enter what was spent: %w", err)
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	maps.Copy(f.written, fresh)
	return nil
}

// insert puts events into the journal. One that is there already is the same:
// a commit that failed may have been whole all the same.
func insert(ctx context.Context, tx *sql.Tx, events []control.Event) error {
	if len(events) == 0 {
		return nil
	}
	st, err := tx.PrepareContext(ctx, "INSERT OR REPLACE INTO events (seq, time, level, kind, vendor, who, text, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	for i := range events {
		e := &events[i]
		data, err := json.Marshal(e.Data)
		if err != nil { // a figure that is none: the text says it too
			data = fmt.Appendf(nil, `{"unsaved":%q}`, err.Error())
		}
		if _, err := st.ExecContext(ctx, e.Seq, e.Time.UnixNano(), e.Level, e.Kind, e.Vendor, e.Who, e.Text, string(data)); err != nil {
			return err
		}
	}
	return nil
}

// trim removes what the journal no longer keeps, a piece at a time so that no
// transaction is long.
func (f *file) trim(ctx context.Context, now time.Time, keep int, age time.Duration) error {
	const piece = 5000
	for _, q := range []struct {
		sql string
		arg any
	}{
		{"DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE time < ? ORDER BY time LIMIT %d)", now.Add(-age).UnixNano()},
		// By count, not by number: numbers have gaps.
		{"DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE seq <= (SELECT seq FROM events ORDER BY seq DESC LIMIT 1 OFFSET ?) ORDER BY seq LIMIT %d)", keep},
	} {
		if _, err := f.conn.ExecContext(ctx, fmt.Sprintf(q.sql, piece), q.arg); err != nil {
			return err
		}
	}
	return nil
}

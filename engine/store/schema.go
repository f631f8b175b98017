package store

import (
	"context"
	"database/sql"
	"fmt"
)

// application marks a file as baton's ("batn"), for file(1) and for ourselves.
const application = 0x6261746e

// migrations bring a file from the version of their index to the next one. What
// has been released is never changed, only followed by another.
var migrations = []string{
	// 1: one row a noun, in JSON, and the journal.
	`CREATE TABLE saved (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
	 CREATE TABLE events (
		seq INTEGER PRIMARY KEY, time INTEGER NOT NULL, -- nanoseconds since 1970, UTC
		level TEXT NOT NULL, kind TEXT NOT NULL, vendor TEXT NOT NULL, who TEXT NOT NULL, text TEXT NOT NULL, data TEXT NOT NULL);`,
	// 2: what is too old is found without reading the journal.
	`CREATE INDEX events_time ON events (time);`,
	// 3: the ledger. Times are seconds since 1970, UTC, but for ended, which is
	// nanoseconds like took and first_token; costs are pico-units of the currency.
	`CREATE TABLE minutes (
		minute INTEGER NOT NULL, vendor TEXT NOT NULL, model TEXT NOT NULL, at TEXT NOT NULL, lane TEXT NOT NULL, client TEXT NOT NULL, flags INTEGER NOT NULL,
		asked INTEGER NOT NULL, attempts INTEGER NOT NULL, answered INTEGER NOT NULL, faults INTEGER NOT NULL, limited INTEGER NOT NULL, unpriced INTEGER NOT NULL,
		input INTEGER NOT NULL, cached INTEGER NOT NULL, output INTEGER NOT NULL, reasoning INTEGER NOT NULL,
		cost_input INTEGER NOT NULL, cost_cached INTEGER NOT NULL, cost_output INTEGER NOT NULL,
		compared INTEGER NOT NULL, reported_in INTEGER NOT NULL, reported_out INTEGER NOT NULL, expected_in INTEGER NOT NULL, expected_out INTEGER NOT NULL,
		PRIMARY KEY (minute, vendor, model, at, lane, client, flags)) WITHOUT ROWID;
	 CREATE TABLE latencies (
		quarter INTEGER NOT NULL, vendor TEXT NOT NULL, stream INTEGER NOT NULL, bucket INTEGER NOT NULL, n INTEGER NOT NULL,
		PRIMARY KEY (quarter, vendor, stream, bucket)) WITHOUT ROWID;
	 CREATE TABLE attempts (
		id INTEGER PRIMARY KEY, ended INTEGER NOT NULL, ok INTEGER NOT NULL, request TEXT NOT NULL, n INTEGER NOT NULL,
		vendor TEXT NOT NULL, model TEXT NOT NULL, at TEXT NOT NULL, lane TEXT NOT NULL, client TEXT NOT NULL, endpoint TEXT NOT NULL, flags INTEGER NOT NULL,
		outcome TEXT NOT NULL, reason TEXT NOT NULL, status INTEGER NOT NULL, vendor_id TEXT NOT NULL, took INTEGER NOT NULL, first_token INTEGER NOT NULL,
		input INTEGER NOT NULL, cached INTEGER NOT NULL, output INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost INTEGER); -- null: unpriced
	 CREATE INDEX attempts_age ON attempts (ok, ended);
	 CREATE TABLE taken (name TEXT PRIMARY KEY, time INTEGER NOT NULL) WITHOUT ROWID; -- files of spending that are in the ledger`,
}

// NewerError says that a later version of baton wrote the file.
type NewerError struct {
	Path         string
	Found, Known int // schema versions
}

// Error names the file and both versions.
func (e *NewerError) Error() string {
	return fmt.Sprintf("open %s: it has schema version %d, written by a newer baton; this one knows versions up to %d: "+
		"start that baton again, or move the file away to begin a new one", e.Path, e.Found, e.Known)
}

// foreign says that the file is a sound database, but none of ours.
type foreign struct{ what string }

func (f *foreign) Error() string { return "it is not baton's: " + f.what }

// migrate brings the file forward. A version is there whole or not at all.
func migrate(ctx context.Context, c *sql.Conn, path string, steps []string) error {
	version, app, tables := 0, 0, 0
	for _, q := range []struct {
		sql string
		to  *int
	}{
		{"PRAGMA user_version", &version},
		{"PRAGMA application_id", &app},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := c.QueryRowContext(ctx, q.sql).Scan(q.to); err != nil {
			return fmt.Errorf("read the schema's version: %w", err)
		}
	}
	if app != application && tables > 0 {
		return &foreign{fmt.Sprintf("its application id is %#x, not %#x", app, application)}
	}
	if version > len(steps) {
		return &NewerError{Path: path, Found: version, Known: len(steps)}
	}
	for ; version < len(steps); version++ {
		if err := step(ctx, c, version+1, steps[version]); err != nil {
			return fmt.Errorf("bring the schema to version %d: %w", version+1, err)
		}
	}
	return nil
}

func step(ctx context.Context, c *sql.Conn, to int, statements string) error {
	tx, err := c.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	for _, q := range []string{
		statements,
		fmt.Sprintf("PRAGMA application_id = %d", application),
		fmt.Sprintf("PRAGMA user_version = %d", to),
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return tx.Commit()
}

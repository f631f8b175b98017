package store

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// script runs SQL on the file at path, which nobody has open.
func script(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path, false))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func TestMigrate_BringsTheFirstVersionForward(t *testing.T) {
	fixture, err := os.ReadFile(filepath.Join("testdata", "version1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "baton.db")
	script(t, path, string(fixture))
	s, saved := quick(t, path)
	if s.Alert() != "" {
		t.Fatal(s.Alert())
	}
	if saved.Revision != 4 || saved.Seq != 3 || saved.Drained["bailian"] != "operator:li" || saved.Weights.Weights["lanyun"] != 71.5 || len(saved.Journal) != 2 {
		t.Fatalf("of version 1 came %+v", saved)
	}
	if e := saved.Journal[1]; e.Seq != 3 || e.Text != "蓝耘 ejected: 5 failures in a row" || e.Data["to"] != "ejected" || e.Time.Year() != 2026 {
		t.Fatalf("event %+v", e)
	}
	var version, index int
	_ = s.file.conn.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version)
	_ = s.file.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'events_time'").Scan(&index)
	if version != len(migrations) || index != 1 {
		t.Fatalf("version %d, %d index", version, index)
	}
}

func TestMigrate_AVersionIsThereWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	steps := append(append([]string{}, migrations...), "CREATE TABLE good (x)", "CREATE TABLE half (x); INSERT INTO nowhere VALUES (1)")
	err := migrate(t.Context(), s.file.conn, path, steps)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d", len(migrations)+2)) {
		t.Fatalf("a step that fails gives %v", err)
	}
	var version, good, half int
	_ = s.file.conn.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version)
	_ = s.file.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'good'").Scan(&good)
	_ = s.file.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM sqlite_schema WHERE name = 'half'").Scan(&half)
	if version != len(migrations)+1 || good != 1 || half != 0 {
		t.Fatalf("version %d, table of the step before %d, of the failed one %d", version, good, half)
	}
	if _, ok := errors.AsType[*NewerError](migrate(t.Context(), s.file.conn, path, migrations)); !ok {
		t.Fatal("what a newer baton began must be refused")
	}
}

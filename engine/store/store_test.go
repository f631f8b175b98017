package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// quick is a store that tries again at every write.
func quick(t *testing.T, path string) (*Store, control.Saved) {
	t.Helper()
	s, saved, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	s.retry = 0
	t.Cleanup(s.Close)
	return s, saved
}

func event(seq int64) control.Event {
	return control.Event{
		Seq: seq, Time: time.Now().UTC(), Level: control.Info, Kind: "weights", Vendor: "a", Who: control.Controller,
		Text: fmt.Sprint("event ", seq), Data: map[string]any{"n": float64(seq)},
	}
}

// whole is a state with everything in it.
func whole() control.Saved {
	at := time.Date(2026, 12, 1, 10, 0, 0, 123456789, time.UTC)
	return control.Saved{
		Revision: 12,
		Weights:  &control.SavedWeights{At: at, Weights: map[string]float64{"a": 71.5, "b": 28.5}, Configured: map[string]float64{"a": 75, "b": 25}},
		Pin:      &control.Pin{Weights: map[string]float64{"a": 30, "b": 70}, Until: at.Add(time.Minute), By: "li", Reason: "蓝耘 says so", Override: true},
		Manual:   &control.SavedManual{Until: at.Add(time.Hour), Held: map[string]float64{"a": 60, "b": 40}},
		Drained:  map[string]string{"b": "operator:li"},
		Disabled: map[string]string{"a": "insufficient_quota"},
		Limits:   map[string]control.SavedLimit{"a": {RPS: 19.7, At: at, Evidence: "429 on 41 of 200"}},
		SetLimit: map[string]float64{"b": 20},
	}
}

func TestStore_GivesBackWhatWasSavedAndTheJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a?b%20#c", "baton.db")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	s, saved := quick(t, path)
	if !reflect.DeepEqual(saved, control.Saved{Journal: []control.Event{}}) {
		t.Fatalf("a new file holds %+v", saved)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, whole) }()
	e := event(1)
	s.Event(e)
	s.Event(event(2))
	stop()
	if err := <-ended; err != nil || s.Alert() != "" {
		t.Fatal(err, s.Alert())
	}
	_, got := quick(t, path)
	want := whole()
	want.Seq = 2
	if len(got.Journal) != 2 || !reflect.DeepEqual(got.Journal[0], e) {
		t.Fatalf("journal %+v", got.Journal)
	}
	got.Journal = nil
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

func TestStore_IsReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s, _ := quick(t, path)
	s.Event(event(1))
	s.flush(time.Now(), whole())
	names, _ := filepath.Glob(path + "*")
	if len(names) < 2 {
		t.Fatalf("no log beside the file: %v", names)
	}
	for _, n := range names {
		if info, err := os.Stat(n); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v (%v)", n, info.Mode(), err)
		}
	}
}

func TestStore_HasALogButNoMappedIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	for range 3 { // a new file, and what was left of it
		s, _ := quick(t, path)
		s.Event(event(1))
		s.flush(time.Now(), whole())
		mode, sync := "", 0
		_ = s.file.conn.QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode)
		_ = s.file.conn.QueryRowContext(t.Context(), "PRAGMA synchronous").Scan(&sync)
		if mode != "wal" || sync != 2 || !exists(path+"-wal") || exists(path+"-shm") {
			t.Fatalf("journal_mode %s, synchronous %d, index mapped: %t", mode, sync, exists(path+"-shm"))
		}
		s.Close()
	}
}

func TestEvents_AreThereBeforeTheyAreWritten(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	for n := range int64(5) {
		s.Event(event(n + 1))
	}
	s.flush(time.Now(), control.Saved{})
	for n := range int64(5) {
		s.Event(event(n + 6))
	}
	for _, c := range []struct {
		name        string
		after       int64
		limit       int
		first, last int64
	}{
		{"all", 0, 100, 1, 10},
		{"from the file and memory", 3, 100, 4, 10},
		{"from memory", 7, 100, 8, 10},
		{"so many", 3, 4, 4, 7},
		{"none", 10, 100, 0, 0},
	} {
		got, err := s.Events(c.after, c.limit)
		switch {
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.first == 0 && len(got) == 0:
		case len(got) != int(c.last-c.first)+1 || got[0].Seq != c.first || got[len(got)-1].Seq != c.last:
			t.Errorf("%s: %d events, %+v", c.name, len(got), got)
		}
	}
}

func TestStore_AtRestWritesSeldom(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	now := time.Now()
	state := func(after time.Duration, a float64) control.Saved {
		return control.Saved{Weights: &control.SavedWeights{At: now.Add(after), Weights: map[string]float64{"a": a, "b": 100 - a}}}
	}
	row := func() string { return s.file.written["weights"] }
	s.flush(now, state(0, 70))
	first := row()
	if s.flush(now, state(9*time.Second, 70.01)); row() != first {
		t.Fatal("weights that stand still were written again after 9 s")
	}
	if s.flush(now, state(10*time.Second, 70)); row() == first {
		t.Fatal("after 10 s their time has to be written")
	}
	second := row()
	if s.flush(now, state(11*time.Second, 70.1)); row() == second {
		t.Fatal("weights that moved were not written")
	}
}

func TestStore_GapsFollowARunThatDidNotEndWell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.Event(event(7))
	s.flush(time.Now(), control.Saved{Revision: 3})
	s.disk.Lock()
	s.file.close() // as if killed
	s.file, s.closed = nil, true
	s.disk.Unlock()
	next, saved := quick(t, path)
	if saved.Seq <= 7+100 || saved.Revision <= 3 {
		t.Fatalf("seq %d, revision %d: numbers of the lost second may be given out again", saved.Seq, saved.Revision)
	}
	next.Close()
	if _, again := quick(t, path); again.Seq != saved.Seq {
		t.Fatalf("after a good end seq went from %d to %d", saved.Seq, again.Seq)
	}
}

func TestTrim_KeepsTheNewestAndTheYoung(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.keep = 50
	for n := range int64(100) {
		e := event(n*1000 + 1) // with gaps
		if n == 99 {
			e.Seq = time.Now().Unix() // a large one
		}
		s.Event(e)
	}
	old := event(1 << 40)
	old.Time = time.Now().Add(-31 * 24 * time.Hour)
	s.Event(old)
	s.trimmed = time.Time{}
	s.flush(time.Now(), control.Saved{})
	got, err := s.Events(0, 1000)
	if err != nil || len(got) != 50 || got[0].Seq != 50001 {
		t.Fatalf("%d events are left, from %d (%v)", len(got), got[0].Seq, err)
	}
	s.Close()
	if _, saved := quick(t, path); saved.Seq != old.Seq {
		t.Fatalf("seq %d: numbers must not go back when the journal is trimmed", saved.Seq)
	}
}

func TestEvent_OfAFigureThatIsNoneIsKept(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	e := event(1)
	e.Data = map[string]any{"x": math.NaN()}
	s.Event(e)
	s.flush(time.Now(), control.Saved{})
	if got, err := s.Events(0, 10); err != nil || len(got) != 1 || s.Alert() != "" {
		t.Fatal(got, err, s.Alert())
	}
}

func TestStore_ANewerFileIsRefusedAndLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.Close()
	script(t, path, "PRAGMA user_version = 99")
	_, _, err := Open(path)
	newer, ok := errors.AsType[*NewerError](err)
	if !ok || newer.Found != 99 || newer.Known != len(migrations) {
		t.Fatalf("a file of version 99 gives %v", err)
	}
	for _, want := range []string{path, "99", fmt.Sprint(len(migrations))} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	if names, _ := filepath.Glob(path + ".*"); len(names) > 0 {
		t.Errorf("it was set aside: %v", names)
	}
}

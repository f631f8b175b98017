package store

import (
	"path/filepath"
	"testing"
	"time"

	"baton/engine/control"
)

// Called with the Hub's lock held: budget 5 µs, while nothing can be written and
// memory is full.
func BenchmarkEvent(b *testing.B) {
	s, _, err := Open(filepath.Join(b.TempDir(), "baton.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e := event(1)
	b.ReportAllocs()
	for b.Loop() {
		e.Seq++
		s.Event(e)
	}
}

// A journal as long as it gets: budget 2 s on a slow core, at the start only.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "baton.db")
	s, _, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	s.pendingKeep = 1 << 20
	for n := range int64(journalKeep) {
		e := event(n + 1)
		e.Text = "weights 蓝耘/百炼 75→70/25→30: first-token P90 1.31 s over 10 s beside 0.62 s, errors 0.4 %"
		s.Event(e)
	}
	s.flush(time.Now(), control.Saved{})
	s.Close()
	for b.Loop() {
		s, saved, err := Open(path)
		if err != nil || len(saved.Journal) != journalRead {
			b.Fatal(err)
		}
		b.StopTimer()
		s.Close()
		b.StartTimer()
	}
}

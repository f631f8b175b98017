package store

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// recovers checks that the store goes on in memory, with one alert, and writes
// everything once mend has mended what ails it.
func recovers(t *testing.T, s *Store, from int64, mend func()) {
	t.Helper()
	first := s.Alert()
	if !strings.Contains(first, "cannot be written") || !strings.Contains(first, s.path) {
		t.Fatalf("alert %q", first)
	}
	for n := range int64(5) {
		s.Event(event(from + n))
		s.flush(time.Now(), whole())
	}
	if a := s.Alert(); a != first {
		t.Fatalf("one trouble, two alerts: %q, then %q", first, a)
	}
	if got, err := s.Events(from-1, 10); err != nil || len(got) != 5 {
		t.Fatalf("of the journal in memory %d events (%v)", len(got), err)
	}
	mend()
	s.flush(time.Now(), whole())
	if a := s.Alert(); a != "" {
		t.Fatalf("mended, and still: %s", a)
	}
	s.Close()
	_, saved := quick(t, s.path)
	if n := len(saved.Journal); n < 5 || saved.Journal[n-5].Seq != from || saved.Drained["b"] == "" {
		t.Fatalf("after it was mended the file holds %d events, %v drained", n, saved.Drained)
	}
}

func TestStore_WithoutADirectoryGoesOnInMemory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	s, saved := quick(t, filepath.Join(dir, "baton.db"))
	if saved.Seq != 0 {
		t.Fatalf("seq %d of nothing", saved.Seq)
	}
	recovers(t, s, 1, func() {
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	})
}

func TestStore_FullGoesOnInMemory(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	s.flush(time.Now(), control.Saved{})
	// SQLite's own bound gives the error of a full disk.
	if _, err := s.file.conn.ExecContext(t.Context(), "PRAGMA max_page_count = 1"); err != nil {
		t.Fatal(err)
	}
	big := event(1)
	big.Text = strings.Repeat("x", 100_000)
	s.Event(big)
	s.retry = time.Hour
	s.flush(time.Now(), control.Saved{})
	recovers(t, s, 2, func() { s.retry = 0 })
}

// mounted is a small file system of its own, where tests may mount one.
func mounted(t *testing.T) (dir string, remount func(options string)) {
	t.Helper()
	dir = t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	t.Cleanup(func() {
		_ = exec.Command("umount", "-l", dir).Run()
	})
	return dir, func(options string) {
		if out, err := exec.CommandContext(t.Context(), "mount", "-o", "remount,"+options, dir).CombinedOutput(); err != nil {
			t.Skipf("remount: %v: %s", err, out)
		}
	}
}

func TestStore_OnAFullDiskGoesOnInMemory(t *testing.T) {
	dir, _ := mounted(t)
	s, _ := quick(t, filepath.Join(dir, "baton.db"))
	fill := filepath.Join(dir, "fill")
	_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600) // as much as there is room for
	for n := range int64(20) {
		e := event(n + 1)
		e.Text = strings.Repeat("x", 20_000)
		s.Event(e)
		s.flush(time.Now(), control.Saved{})
	}
	if s.Alert() == "" {
		t.Fatal("400 kB went onto a full disk")
	}
	recovers(t, s, 21, func() {
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOpen_OnAFullDiskReadsWhatWasSaved(t *testing.T) {
	dir, _ := mounted(t)
	path := filepath.Join(dir, "baton.db")
	s, _ := quick(t, path)
	s.Event(event(1))
	s.flush(time.Now(), whole())
	s.Close()
	fill := filepath.Join(dir, "fill")
	_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600)
	full, saved := quick(t, path)
	if saved.Drained["b"] == "" || saved.Seq != 1 {
		t.Fatalf("read %+v", saved)
	}
	recovers(t, full, 2, func() {
		if err := os.Remove(fill); err != nil {
			t.Fatal(err)
		}
	})
}

func TestOpen_OnAReadOnlyDiskReadsWhatWasSaved(t *testing.T) {
	dir, remount := mounted(t)
	path := filepath.Join(dir, "baton.db")
	s, _ := quick(t, path)
	s.Event(event(1))
	s.flush(time.Now(), whole())
	s.disk.Lock() // ended by a kill: what was saved is in the log beside the file
	killed := filepath.Join(t.TempDir(), "baton.db")
	for _, with := range []string{"", "-wal"} {
		if err := copyFile(killed+with, path+with); err != nil {
			t.Fatal(err)
		}
	}
	s.file.close()
	s.file, s.closed = nil, true
	s.disk.Unlock()
	_ = os.Remove(path)
	for _, with := range []string{"", "-wal"} {
		if err := copyFile(path+with, killed+with); err != nil {
			t.Fatal(err)
		}
	}
	remount("ro")
	ro, saved := quick(t, path)
	if saved.Drained["b"] == "" || saved.Seq < 1 || saved.Seq > 2000 || len(saved.Journal) != 1 {
		t.Fatalf("read %+v", saved)
	}
	recovers(t, ro, 2000, func() { remount("rw") })
}

func TestOpen_InAReadOnlyDirectoryGoesOnInMemory(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("modes do not bind root; on a read-only file system root is tested too")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	s, _ := quick(t, filepath.Join(dir, "baton.db"))
	recovers(t, s, 1, func() { _ = os.Chmod(dir, 0o700) })
}

func TestOpen_SetsACorruptFileAsideAndBeginsAnew(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(b []byte) []byte
		log   bool // garbage beside it (a sound log would heal the file)
	}{
		{"garbage", func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), 512) }, false},
		{"a page in the middle overwritten", func(b []byte) []byte { copy(b[4096:], bytes.Repeat([]byte{0xff}, 8192)); return b }, false},
		{"cut short", func(b []byte) []byte { return b[:len(b)/2] }, false},
		{"garbage, with a log beside it", func(b []byte) []byte { return bytes.Repeat([]byte("garbage "), 512) }, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "baton.db")
			s, _ := quick(t, path)
			for n := range int64(200) {
				s.Event(event(n + 1))
			}
			s.flush(time.Now(), whole())
			s.Close()
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bad := c.spoil(b)
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if c.log {
				_ = os.WriteFile(path+"-wal", bad, 0o600)
			}
			next, saved := quick(t, path)
			if saved.Drained != nil || saved.Seq < 201 {
				t.Fatalf("of a corrupt file came seq %d, %v drained", saved.Seq, saved.Drained)
			}
			names, _ := filepath.Glob(path + ".corrupt-*Z")
			if len(names) != 1 || !strings.Contains(next.Alert(), filepath.Base(names[0])) {
				t.Fatalf("set aside: %v, alert %q", names, next.Alert())
			}
			if kept, err := os.ReadFile(names[0]); err != nil || !bytes.HasPrefix(kept, bad[:1000]) {
				t.Fatalf("what was set aside is not what was there (%v)", err)
			}
			next.Event(event(saved.Seq + 1))
			next.Close()
			if again, saved := quick(t, path); saved.Seq == 0 || len(saved.Journal) != 1 || again.Alert() != "" {
				t.Fatalf("the new file holds %+v, alert %q", saved, again.Alert())
			}
		})
	}
}

func TestStore_ThatTurnsCorruptWhileItRunsBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.Event(event(1))
	s.flush(time.Now(), whole())
	if _, err := s.file.conn.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil { // or the log heals it
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Repeat([]byte("garbage "), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	s.disk.Lock()
	s.fail(os.ErrInvalid, time.Now()) // whatever it was that SQLite found
	s.disk.Unlock()
	s.Event(event(2))
	s.flush(time.Now(), whole())
	if names, _ := filepath.Glob(path + ".corrupt-*"); len(names) == 0 || !strings.Contains(s.Alert(), "set aside") || strings.Contains(s.Alert(), "cannot be written") {
		t.Fatalf("set aside: %v, alert %q", names, s.Alert())
	}
	s.Close()
	if _, saved := quick(t, path); saved.Drained["b"] == "" || saved.Journal[0].Seq != 2 {
		t.Fatalf("the new file holds %+v", saved)
	}
}

func TestStore_WhoseFileIsTakenAwayBeginsAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.flush(time.Now(), whole())
	for _, with := range []string{"", "-wal"} {
		_ = os.Remove(path + with)
	}
	s.Event(event(1))
	s.flush(time.Now(), whole())
	s.Close()
	if _, saved := quick(t, path); saved.Drained["b"] == "" || saved.Seq != 1 || !strings.Contains(s.Alert(), "taken away") {
		t.Fatalf("the new file holds %+v, alert %q", saved, s.Alert())
	}
}

func TestStore_OfAnotherProgramIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	script(t, path, "CREATE TABLE theirs (x)")
	s, _ := quick(t, path)
	if names, _ := filepath.Glob(path + ".corrupt-*"); len(names) != 1 || !strings.Contains(s.Alert(), "not baton's") {
		t.Fatalf("set aside: %v, alert %q", names, s.Alert())
	}
}

func TestEvent_InMemoryIsBoundedAndSaysSo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	s, _ := quick(t, filepath.Join(dir, "baton.db"))
	s.pendingKeep = 100
	for n := range int64(1000) {
		s.Event(event(n + 1))
	}
	if n := len(s.pending); n > 100 || s.pending[n-1].Seq != 1000 {
		t.Fatalf("%d events in memory", n)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s.flush(time.Now(), control.Saved{})
	if !strings.Contains(s.Alert(), "events are missing") {
		t.Fatalf("alert %q", s.Alert())
	}
}

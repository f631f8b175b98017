package store

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/ledger"
)

// book prices the vendor a at 2 and 8 per million tokens.
func book(tb testing.TB) *ledger.Book {
	tb.Helper()
	c, err := config.Parse("c.toml", []byte("[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\n[[vendors.price]]\ninput = 2.0\noutput = 8.0\n"), func(string) string { return "" })
	if err != nil {
		tb.Fatal(err)
	}
	return ledger.NewBook(c)
}

// spent is the nth attempt: n tokens in and one out.
func spent(n int, ended time.Time) *ledger.Attempt {
	return &ledger.Attempt{
		Ended: ended, Request: fmt.Sprint("req-", n), N: 1, Vendor: "a", Model: "m", At: "m", Outcome: "ok", Stream: true, Took: time.Second, FirstToken: 300 * time.Millisecond, Input: n, Output: 1,
	}
}

// sums adds up what a store holds.
func sums(t *testing.T, s *Store) ledger.Sums {
	t.Helper()
	acc, err := s.Account(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour), true)
	if err != nil {
		t.Fatal(err)
	}
	var all ledger.Sums
	for i := range acc.Rows {
		all.Add(&acc.Rows[i].Sums)
	}
	return all
}

// owes checks that n attempts of 1 to n tokens are in it, once each.
func owes(t *testing.T, s *Store, n int) {
	t.Helper()
	in := int64(n) * int64(n+1) / 2
	if all := sums(t, s); all.Attempts != int64(n) || all.Asked != int64(n) || all.Answered != int64(n) || all.Input != in || all.Output != int64(n) || all.CostInput != 2_000_000*in || all.CostOutput != 8_000_000*int64(n) {
		t.Fatalf("%+v, want %d attempts with %d tokens", all, n, in)
	}
}

func TestLedger_OutlivesARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.Book(book(t))
	now := time.Now()
	for n := range 100 {
		s.Attempt(spent(n+1, now))
		if n == 49 {
			s.flush(now, control.Saved{})
		}
	}
	owes(t, s, 100) // half of them in memory
	s.Close()
	again, _ := quick(t, path)
	owes(t, again, 100)
	again.Book(book(t))
	again.Attempt(spent(101, now))
	owes(t, again, 101)
}

func TestLedger_ABatchWhoseCommitSeemedToFailCountsOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	s, _ := quick(t, path)
	s.Book(book(t))
	now := time.Now()
	s.Attempt(spent(1, now))
	s.disk.Lock()
	s.books.tidy(now)
	b := s.books.next()
	for range 3 { // it is in, and nobody knows
		if err := s.file.write(t.Context(), nil, nil, b); err != nil {
			t.Fatal(err)
		}
	}
	s.disk.Unlock()
	owes(t, s, 1)
	s.flush(now, control.Saved{})
	owes(t, s, 1)
	s.Close()
	again, _ := quick(t, path)
	owes(t, again, 1)
}

func TestLedger_OnAFullDiskIsKeptInMemoryAndWrittenLater(t *testing.T) {
	dir, _ := mounted(t)
	s, _ := quick(t, filepath.Join(dir, "baton.db"))
	s.Book(book(t))
	s.flush(time.Now(), control.Saved{})
	fill := filepath.Join(dir, "fill")
	_ = os.WriteFile(fill, make([]byte, 1<<20), 0o600) // as much as there is room for
	now := time.Now()
	for n := range 400 {
		s.Attempt(spent(n+1, now))
		if n%20 == 19 {
			s.flush(now, control.Saved{})
		}
	}
	if s.Alert() == "" {
		t.Fatal("400 attempts went onto a full disk")
	}
	s.disk.Lock()
	s.books.settle()
	inMemory := len(s.books.raw)
	s.disk.Unlock()
	if inMemory == 0 {
		t.Fatal("nothing is in memory")
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	s.flush(now.Add(time.Minute), control.Saved{})
	if a := s.Alert(); a != "" {
		t.Fatal(a)
	}
	owes(t, s, 400)
	s.Close()
	again, _ := quick(t, filepath.Join(dir, "baton.db"))
	owes(t, again, 400)
}

func TestLedger_OnAReadOnlyDiskIsKeptInMemoryAndWrittenLater(t *testing.T) {
	dir, remount := mounted(t)
	path := filepath.Join(dir, "baton.db")
	s, _ := quick(t, path)
	s.Book(book(t))
	now := time.Now()
	s.Attempt(spent(1, now))
	s.Close()
	remount("ro")
	ro, _ := quick(t, path)
	ro.Book(book(t))
	for n := 2; n <= 500; n++ {
		ro.Attempt(spent(n, now))
		ro.flush(now, control.Saved{})
	}
	if ro.Alert() == "" {
		t.Fatal("no alert")
	}
	v, err := OpenView(path, book(t)) // somebody looks from outside
	if err != nil {
		t.Fatal(err)
	}
	if all := sums(t, v.s); all.Attempts != 1 {
		t.Fatalf("on the disk is %+v", all)
	}
	v.Close()
	remount("rw")
	ro.flush(now.Add(time.Minute), control.Saved{})
	if a := ro.Alert(); a != "" {
		t.Fatal(a)
	}
	owes(t, ro, 500)
}

func TestLedger_MoreThanMemoryHoldsIsRolledUpAndSaid(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "none", "baton.db"))
	s.Book(book(t))
	now := time.Now()
	s.books.intakeKeep, s.books.rawKeep = 50, 200
	const n = 1000
	for k := range n {
		a := spent(1, now)
		a.Request = fmt.Sprint(k % 10)
		s.Attempt(a)
	}
	if all := sums(t, s); all.Attempts != n || all.Input != n || all.CostInput != 2_000_000*n {
		t.Fatalf("%+v, want %d", all, n)
	}
	if !strings.Contains(s.Alert(), "single attempts are missing") || !strings.Contains(s.Alert(), "the sums have them") {
		t.Fatalf("alert %q", s.Alert())
	}
}

func TestAccount_CutsByMinuteAndKeepsFlagsApart(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	s.Book(book(t))
	begin := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for k := range 180 { // three hours, one a minute
		s.Attempt(spent(1, begin.Add(time.Duration(k)*time.Minute)))
	}
	failed := spent(5, begin)
	failed.Outcome, failed.Estimated = "client_cancel", true
	s.Attempt(failed)
	for _, written := range []bool{false, true} {
		if written {
			s.flush(time.Now(), control.Saved{})
		}
		acc, err := s.Account(t.Context(), begin.Add(30*time.Minute), begin.Add(90*time.Minute), true)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		for i := range acc.Rows {
			n += acc.Rows[i].Attempts
		}
		if n != 61 || len(acc.Minutes) != 61 || !acc.First.Equal(begin.Add(30*time.Minute)) || !acc.Last.Equal(begin.Add(90*time.Minute)) {
			t.Fatalf("written %v: %d attempts in %d minutes from %s to %s", written, n, len(acc.Minutes), acc.First, acc.Last)
		}
		all, err := s.Account(t.Context(), begin, begin.Add(3*time.Hour), false)
		if err != nil {
			t.Fatal(err)
		}
		flags := map[ledger.Flags]int64{}
		for i := range all.Rows {
			flags[all.Rows[i].Flags] += all.Rows[i].Attempts
		}
		if flags[ledger.FlagPriced] != 180 || flags[ledger.FlagPriced|ledger.FlagFailed|ledger.FlagEstimated] != 1 {
			t.Fatalf("written %v: by flags %v", written, flags)
		}
	}
}

func TestPrune_FoldsMinutesAndRemovesWhatIsOld(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	s.Book(book(t))
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	old, older := now.Add(-80*day), now.Add(-500*day)
	for k := range 45 {
		s.Attempt(spent(1, old.Add(time.Duration(k)*time.Minute)))
		s.Attempt(spent(1, older.Add(time.Duration(k)*time.Minute)))
		s.Attempt(spent(1, now.Add(-time.Duration(k)*time.Minute)))
	}
	late := spent(1, now.Add(-10*day))
	late.Outcome = "vendor_fault"
	s.Attempt(late)
	s.flush(now, control.Saved{})
	keep := Keep{Raw: 7 * day, RawRows: 1000, Minutes: 62 * day, All: 400 * day}
	for range 20 {
		if err := s.file.prune(t.Context(), now, keep); err != nil {
			t.Fatal(err)
		}
	}
	count := func(query string) (n int) {
		if err := s.file.conn.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for query, want := range map[string]int{
		"SELECT count(*) FROM minutes WHERE minute < " + fmt.Sprint(old.Unix()):                   0,
		"SELECT sum(attempts) FROM minutes WHERE minute < " + fmt.Sprint(now.Add(-62*day).Unix()): 45,
		"SELECT count(*) FROM minutes WHERE minute < " + fmt.Sprint(now.Add(-62*day).Unix()):      3,
		"SELECT count(*) FROM minutes WHERE minute > " + fmt.Sprint(now.Add(-time.Hour).Unix()):   45,
		"SELECT count(*) FROM attempts":                                                         46, // the last 45, and the failed one
		"SELECT count(*) FROM attempts WHERE ok = 0":                                            1,
		"SELECT count(*) FROM latencies WHERE quarter < " + fmt.Sprint(now.Add(-62*day).Unix()): 0,
	} {
		if n := count(query); n != want {
			t.Errorf("%s: %d, want %d", query, n, want)
		}
	}
	if err := s.file.prune(t.Context(), now, Keep{Raw: 7 * day, RawRows: 20, Minutes: 62 * day, All: 400 * day}); err != nil {
		t.Fatal(err)
	}
	for range 40 {
		_ = s.file.prune(t.Context(), now, Keep{Raw: 7 * day, RawRows: 20, Minutes: 62 * day, All: 400 * day})
	}
	if n := count("SELECT count(*) FROM attempts WHERE ok = 1"); n > 20 {
		t.Errorf("%d attempts are kept of 20", n)
	}
	before, after, err := s.Vacuum(t.Context())
	if err != nil || after > before {
		t.Fatalf("vacuum: %d bytes, then %d (%v)", before, after, err)
	}
	if all := sums(t, s); all.Attempts != 45+45+1 {
		t.Fatalf("after all of that %+v", all)
	}
}

func TestSpending_IsTakenInOnce(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "baton.db")
	list := []ledger.Attempt{*spent(10, time.Now()), *spent(20, time.Now())}
	if err := WriteSpending(dir, "stress-1", list); err != nil {
		t.Fatal(err)
	}
	if err := WriteSpending(dir, "../x", list); err == nil {
		t.Fatal("a name that climbs was taken")
	}
	name := filepath.Join(dir, "spending", "stress-1.json")
	s, _ := quick(t, path)
	s.Book(book(t))
	s.looked = time.Time{}
	s.flush(time.Now(), control.Saved{})
	all := sums(t, s)
	if all.Attempts != 2 || all.Input != 30 || all.Asked != 0 || all.CostInput != 60_000_000 {
		t.Fatalf("%+v", all)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Fatalf("the file is still there (%v)", err)
	}
	// A crash between the commit and the removal leaves it there.
	b, _ := json.Marshal(list)
	if err := os.WriteFile(name, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s.looked = time.Time{}
	s.flush(time.Now(), control.Saved{})
	if again := sums(t, s); again.Attempts != 2 {
		t.Fatalf("taken in twice: %+v", again)
	}
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Fatalf("the file is still there (%v)", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "spending", "bad.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.looked = time.Time{}
	s.flush(time.Now(), control.Saved{})
	if _, err := os.Stat(filepath.Join(dir, "spending", "bad.json.unreadable")); err != nil || s.Alert() != "" {
		t.Fatalf("%v, alert %q", err, s.Alert())
	}
	s.Close()
	if err := WriteSpending(dir, "stress-2", list); err != nil {
		t.Fatal(err)
	}
	v, err := OpenView(path, book(t))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if seen := sums(t, v.s); seen.Attempts != 4 {
		t.Fatalf("from outside %+v", seen)
	}
}

func TestCopy_IsAFileOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	s, _ := quick(t, filepath.Join(dir, "baton.db"))
	s.Book(book(t))
	for n := range 10 {
		s.Attempt(spent(n+1, time.Now()))
	}
	to := filepath.Join(dir, "copy.db")
	if err := s.Copy(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v (%v)", info, err)
	}
	v, err := OpenView(to, ledger.NoBook())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	rows := 0
	err = v.Export(t.Context(), "attempts", time.Now().Add(-time.Hour), time.Now().Add(time.Hour), func(columns []string, values []any) error {
		rows++
		if columns[0] != "ended" || len(values) != len(columns) {
			t.Fatalf("%v: %v", columns, values)
		}
		return nil
	})
	if err != nil || rows != 10 {
		t.Fatalf("%d rows (%v)", rows, err)
	}
	if err := v.Export(t.Context(), "sqlite_schema", time.Time{}, time.Now(), nil); err == nil {
		t.Fatal("a table that is none was exported")
	}
}

func TestFailures_AreThoseOfTheVendor(t *testing.T) {
	s, _ := quick(t, filepath.Join(t.TempDir(), "baton.db"))
	s.Book(book(t))
	now := time.Now()
	s.Drills(ledger.Windows{{Vendor: "a", From: now.Add(-time.Hour), To: now.Add(-30 * time.Minute)}})
	for k, outcome := range []string{"ok", "vendor_fault", "rate_limited", "client_cancel", "client_fault", "vendor_fault"} {
		a := spent(k+1, now.Add(-time.Duration(k)*time.Second))
		a.Outcome, a.Reason, a.Status, a.VendorID = outcome, "why", 500, fmt.Sprint("theirs-", k)
		s.Attempt(a)
	}
	ours := spent(9, now.Add(-40*time.Minute))
	ours.Outcome = "vendor_fault"
	s.Attempt(ours)
	s.flush(now, control.Saved{})
	f, err := s.Failures(t.Context(), "a", now.Add(-2*time.Hour), now.Add(time.Hour), 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Requests) != 2 || f.More != 1 || f.Requests[0].VendorID != "theirs-1" || f.Requests[1].Outcome != "rate_limited" || len(f.Reasons) != 2 || f.Reasons[0].Count != 2 {
		t.Fatalf("%+v", f)
	}
}

func BenchmarkAttempt(b *testing.B) {
	s, _, err := Open(filepath.Join(b.TempDir(), "baton.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	a := spent(1, time.Now())
	for range 2 * 1000 { // both buffers have grown
		s.Attempt(a)
		if len(s.books.fresh) == 1000 {
			s.books.settle()
		}
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%900 == 899 {
			b.StopTimer()
			s.books.settle()
			s.books.mu.Lock()
			s.books.raw = s.books.raw[:0]
			s.books.mu.Unlock()
			b.StartTimer()
		}
		s.Attempt(a)
	}
}

func TestView_OfSpendingAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "baton.db")
	if _, err := OpenView(path, book(t)); !os.IsNotExist(err) {
		t.Fatalf("a state without anything: %v", err)
	}
	if err := WriteSpending(dir, "stress-1", []ledger.Attempt{*spent(10, time.Now()), *spent(20, time.Now())}); err != nil {
		t.Fatal(err)
	}
	v, err := OpenView(path, book(t))
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	now := time.Now().Add(time.Minute)
	acc, err := v.Account(t.Context(), now.Add(-time.Hour), now, true)
	if err != nil || len(acc.Rows) == 0 || acc.First.IsZero() {
		t.Fatalf("%v: %+v", err, acc)
	}
	input := int64(0)
	for _, r := range acc.Rows {
		input += r.Input
	}
	if cost := int64(0); input != 30 {
		t.Errorf("%d tokens", input)
	} else {
		for _, s := range acc.Spent {
			cost += s.Cost
		}
		if cost != 76_000_000 {
			t.Errorf("the minutes cost %d", cost)
		}
	}
	if l, err := v.Limits(t.Context()); err != nil || l != nil {
		t.Errorf("limits %v, %v", l, err)
	}
	if _, _, err := v.Vacuum(t.Context()); err == nil {
		t.Error("what is not there was vacuumed")
	}
	if err := v.Export(t.Context(), "attempts", now.Add(-time.Hour), now, func([]string, []any) error { return nil }); err == nil {
		t.Error("what is not there was exported")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("reading has made the file (%v)", err)
	}
}

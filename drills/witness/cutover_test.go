package witness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

var t0 = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// at makes requests every half second, from 5 s before t0 to a second; edit is
// what came of each, which was answered by the vendor until t0 and by the other
// one from then on.
func at(until float64, edit func(s float64, e *Entry)) *Log {
	l := new(Log)
	for k := -10; float64(k)/2 <= until; k++ {
		s := float64(k) / 2
		e := Entry{ID: fmt.Sprint(Prefix, k), Sent: after(s), Status: 200, Vendor: "bailian", Attempts: 1, OK: true}
		if s < 0 {
			e.Vendor = "lanyun"
		}
		first, end := after(s+0.3), after(s+0.8)
		e.FirstToken, e.End = &first, &end
		if edit != nil {
			edit(s, &e)
		}
		l.Entries = append(l.Entries, e)
	}
	return l
}

func after(s float64) time.Time { return t0.Add(time.Duration(s * float64(time.Second))) }

func TestCutover_IsTheBeginningOfGoodServiceWithoutTheVendor(t *testing.T) {
	rescued := func(e *Entry) { e.Attempts = 2 }
	failed := func(e *Entry, s float64) { end := after(s); e.OK, e.End, e.FirstToken = false, &end, nil }
	slow := func(e *Entry, s float64) { f, end := after(s), after(s+0.5); e.FirstToken, e.End = &f, &end }
	for _, c := range []struct {
		name  string
		until float64
		edit  func(s float64, e *Entry)
		want  float64 // seconds; under 0: none
		note  string
	}{
		{"nothing was hit", 30, nil, 0, ""},
		{"rescued for two seconds", 30, func(s float64, e *Entry) {
			if s >= 0 && s <= 2 {
				rescued(e)
			}
		}, 2.5, ""},
		{"only the first was rescued", 30, func(s float64, e *Entry) {
			if s == 0 {
				rescued(e)
			}
		}, 0.5, ""},
		{"some of them answered by the vendor", 30, func(s float64, e *Entry) {
			if s == 0 || s == 1 || s == 3.5 {
				e.Vendor = "lanyun"
			}
		}, 4, ""},
		{"failed, and that was known later", 40, func(s float64, e *Entry) {
			if s >= 0 && s <= 1 {
				failed(e, s+10)
			}
		}, 11, ""},
		{"answered, but late", 40, func(s float64, e *Entry) {
			if s >= 0 && s <= 3 {
				slow(e, s+9)
			}
		}, 12.5, ""},
		{"a stream from before that broke", 30, func(s float64, e *Entry) {
			if s == -1 {
				failed(e, 4)
			}
		}, 4, ""},
		{"failed before the fault", 30, func(s float64, e *Entry) {
			if s == -3 {
				failed(e, -2)
			}
		}, 0, ""},
		{"a trial of the vendor, rescued", 40, func(s float64, e *Entry) {
			if s >= 0 && s <= 1 || s == 12 {
				rescued(e)
			}
		}, 1.5, ""},
		{"a second wave is no trial", 40, func(s float64, e *Entry) {
			if s >= 0 && s <= 1 || s == 7 || s == 8 {
				rescued(e)
			}
		}, 8.5, ""},
		{"a trial that hurt", 40, func(s float64, e *Entry) {
			if s >= 0 && s <= 1 {
				rescued(e)
			}
			if s == 8 {
				failed(e, 8.2)
			}
		}, 8.2, ""},
		{"good service, interrupted within the hold", 60, func(s float64, e *Entry) {
			if s == 0 || s == 6 || s == 14 {
				e.Vendor = "lanyun"
			}
		}, 14.5, ""},
		{"held for long enough before the vendor came back", 60, func(s float64, e *Entry) {
			if s == 0 || s >= 11 {
				e.Vendor = "lanyun"
			}
		}, 0.5, ""},
		{"never", 60, func(_ float64, e *Entry) { e.Vendor = "lanyun" }, -1, "not answered well by another vendor for 10s"},
		{"the log ends too soon", 8, nil, -1, "it ends before"},
		{"some have not ended", 30, func(s float64, e *Entry) {
			if s == 4 {
				e.End, e.FirstToken, e.OK = nil, nil, false
			}
		}, -1, "1 of its requests have not ended"},
		{"too few", 30, func(s float64, e *Entry) {
			if s > 0 && s < 20 {
				e.Sent = after(-4.9)
			}
		}, -1, "only 1 requests in 10s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, note := at(c.until, c.edit).Cutover("lanyun", t0, Proof{Hold: 10 * time.Second, Limit: 2 * time.Second})
			switch {
			case c.want < 0 && (got != nil || !strings.Contains(note, c.note)):
				t.Errorf("got %v, %q; want none, %q", got, note, c.note)
			case c.want >= 0 && (got == nil || got.Round(time.Millisecond) != after(c.want).Sub(t0).Round(time.Millisecond) || note != ""):
				t.Errorf("got %v, %q; want %gs", got, note, c.want)
			}
		})
	}
}

func TestCutover_NeedsALogThatBeganBefore(t *testing.T) {
	if got, note := new(Log).Cutover("lanyun", t0, Proof{Hold: time.Second}); got != nil || note != "it has no requests" {
		t.Error(got, note)
	}
	l := at(30, nil)
	l.Entries = l.Entries[12:]
	if got, note := l.Cutover("lanyun", t0, Proof{Hold: time.Second}); got != nil || note != "it began after the fault" {
		t.Error(got, note)
	}
}

// write makes the file of a log.
func write(t *testing.T, l *Log) string {
	t.Helper()
	var b []byte
	add := func(v any) {
		line, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b = append(append(b, line...), '\n')
	}
	add(head{Witness: format})
	for _, e := range l.Entries {
		add(sent{e.ID, e.Sent})
		if e.End != nil {
			add(e)
		}
	}
	path := filepath.Join(t.TempDir(), "witness.jsonl")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func drill(cutover *float64) *control.Report {
	return &control.Report{Vendor: "lanyun", CutoverS: cutover, Phases: []control.Moment{
		{Name: control.PhaseFault, Time: t0}, {Name: control.PhaseRestored, TS: 20, Time: after(20)},
	}}
}

func TestJudge_HoldsBothCutoversAgainstEachOther(t *testing.T) {
	path := write(t, at(30, func(s float64, e *Entry) {
		switch {
		case s >= 0 && s <= 2:
			e.OK, e.FirstToken = false, nil
		case s == 29:
			e.End = nil // under way
		}
	}))
	p := Proof{Hold: 10 * time.Second, Limit: 2 * time.Second}
	w := Judge(path, drill(control.Figure(3.1)), p)
	if w.CutoverS == nil || *w.CutoverS != 2.8 || w.DifferenceS == nil || *w.DifferenceS != 0.3 || w.Requests != 41 || w.Failed != 5 || w.Log != path || w.Note != "" {
		b, _ := json.Marshal(w)
		t.Errorf("%s", b)
	}
	if w := Judge(path, drill(nil), p); w.CutoverS == nil || w.DifferenceS != nil {
		t.Errorf("a drill without a cutover: %+v", w)
	}
	for _, c := range []struct {
		name, path, want string
		r                *control.Report
	}{
		{"no fault", path, "no fault was injected", &control.Report{}},
		{"no log", filepath.Join(t.TempDir(), "none"), "read the witness's log", drill(nil)},
	} {
		if w := Judge(c.path, c.r, p); w.CutoverS != nil || !strings.Contains(w.Note, c.want) {
			t.Errorf("%s: %+v", c.name, w)
		}
	}
}

func TestParse_ReadsALogThatIsStillBeingWritten(t *testing.T) {
	line := `{"id":"witness-1","sent":"2026-12-01T10:00:00Z"}` + "\n"
	whole := `{"id":"witness-1","sent":"2026-12-01T10:00:00Z","end":"2026-12-01T10:00:01Z","ok":true}` + "\n"
	for _, c := range []struct {
		name, text string
		n          int
		ended      bool
		err        string
	}{
		{"nothing", "", 0, false, ""},
		{"under way", line, 1, false, ""},
		{"ended", line + whole, 1, true, ""},
		{"half a line", line + whole[:40], 1, false, ""},
		{"two runs", `{"witness":1}` + "\n" + line + whole + `{"witness":1}` + "\n", 1, true, ""},
		{"another format", `{"witness":2}` + "\n", 0, false, "format 2"},
		{"no JSON", "hello\n", 0, false, "line 1"},
		{"another log", line + `{"level":"info"}` + "\n", 0, false, "line 2: it is no request"},
	} {
		l, err := parse([]byte(c.text))
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
		case err != nil || len(l.Entries) != c.n || c.n == 1 && (l.Entries[0].End != nil) != c.ended:
			t.Errorf("%s: %+v %v", c.name, l, err)
		}
	}
}

func TestSummarize_CountsAndMeasures(t *testing.T) {
	l := at(10, func(s float64, e *Entry) {
		switch {
		case s == 1:
			e.Attempts = 2
		case s >= 2 && s < 4:
			e.OK = false
		}
	})
	s := summarize(l.Entries)
	if s.Requests != 31 || s.Failed != 4 || s.Rescued != 1 || s.Vendors["lanyun"] != 10 || s.Vendors["bailian"] != 17 || *s.P50ms != 300 || *s.Maxms != 300 || s.WithoutS != 2.5 {
		t.Errorf("%+v", s)
	}
	if s := summarize(nil); s.P50ms != nil || s.Requests != 0 {
		t.Errorf("%+v", s)
	}
}

func FuzzCutover_TakesAnyLog(f *testing.F) {
	f.Add([]byte(`{"witness":1}` + "\n" + `{"id":"witness-1","sent":"2026-12-01T10:00:00Z","end":"2026-12-01T10:00:01Z","ok":true,"attempts":2}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parse(b)
		if err != nil {
			return
		}
		if d, note := l.Cutover("lanyun", t0, Proof{Hold: time.Second, Limit: time.Second}); (d == nil) == (note == "") || d != nil && *d < 0 {
			t.Errorf("%v %q", d, note)
		}
	})
}

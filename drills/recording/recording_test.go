package recording

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/control"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// state is a snapshot as an engine makes it, at a moment.
func state(at time.Time, n int) *control.Snapshot {
	s := &control.Snapshot{Time: at, Version: "1.0.0", Environment: "DEMO", Control: "auto", Totals: control.Totals{Requests: int64(n)}}
	for i, name := range []string{"lanyun", "bailian"} {
		v := control.Vendor{Name: name, State: control.Healthy, Weight: 50, RPS: float64(n*(i+3)%71) / 3, FirstToken: map[string]control.Latency{}}
		for _, w := range control.Windows {
			v.FirstToken[w] = control.Latency{Count: n % 300, P50ms: control.Figure(300 + float64(n%17)), P90ms: control.Figure(470 + float64(n%13)), P99ms: control.Figure(718)}
		}
		for k := range 60 {
			v.History.P90ms = append(v.History.P90ms, float64(400+(n/4+k)*7919%97))
		}
		s.Vendors = append(s.Vendors, v)
	}
	return s
}

func event(seq int64, at time.Time) control.Event {
	return control.Event{Seq: seq, Time: at, Level: control.Info, Kind: "health", Text: fmt.Sprint("event ", seq), Data: map[string]any{}}
}

// record writes n updates, one each step, with an event each.
func record(t *testing.T, n int, step time.Duration) string {
	t.Helper()
	path := Path(t.TempDir(), "d1")
	w, err := Create(path, "d1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		at := noon.Add(time.Duration(i) * step)
		if err := w.Add(&control.Update{Snapshot: state(at, i), Events: []control.Event{event(int64(i+1), at)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWriter_WhatIsWrittenIsRead(t *testing.T) {
	r, err := load(record(t, 40, 250*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	if r.Name != "d1" || !r.Begun.Equal(noon) || len(r.frames) != 40 || r.length() != 39*250*time.Millisecond {
		t.Fatalf("%+v, %d frames, %s", r.head, len(r.frames), r.length())
	}
	for i := range r.frames {
		got, err := r.snapshot(i)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := json.Marshal(state(noon.Add(time.Duration(i)*250*time.Millisecond), i))
		if b, _ := json.Marshal(got); !bytes.Equal(b, want) {
			t.Fatalf("snapshot %d:\n%s\nwant\n%s", i, b, want)
		}
		if e := r.frames[i].events; len(e) != 1 || e[0].Seq != int64(i+1) || e[0].Text != fmt.Sprint("event ", i+1) {
			t.Fatalf("events of %d: %+v", i, e)
		}
	}
}

func TestWriter_WhatACrashLeavesIsRead(t *testing.T) {
	path := record(t, 40, 250*time.Millisecond)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	most := 0
	for cut := 0; cut <= len(whole); cut += 211 {
		r, err := decode(bytes.NewReader(whole[:cut]))
		if err != nil {
			if most > 0 {
				t.Fatalf("cut at %d of %d: %v, and shorter it could be read", cut, len(whole), err)
			}
			continue
		}
		if len(r.frames) < most {
			t.Fatalf("cut at %d: %d frames, shorter it had %d", cut, len(r.frames), most)
		}
		most = len(r.frames)
	}
	if most < 35 {
		t.Errorf("at most %d of 40 frames were read of a file that was cut", most)
	}
}

func TestWriter_AKilledProcessLeavesAllButTheLastSecond(t *testing.T) {
	path := Path(t.TempDir(), "d1")
	w, err := Create(path, "d1")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 41 {
		if err := w.Add(&control.Update{Snapshot: state(noon.Add(time.Duration(i)*250*time.Millisecond), i)}); err != nil {
			t.Fatal(err)
		}
	}
	r, err := load(path) // not closed
	if err != nil || len(r.frames) < 36 {
		t.Errorf("%d of 41 frames: %v", len(r.frames), err)
	}
	_ = w.Close()
}

func TestWriter_IsBounded(t *testing.T) {
	path := Path(t.TempDir(), "d1")
	w, err := Create(path, "d1")
	if err != nil {
		t.Fatal(err)
	}
	if w.zip, err = gzip.NewWriterLevel(w.buffer, gzip.NoCompression); err != nil { // quick
		t.Fatal(err)
	}
	n := 0
	step := 250 * time.Millisecond
	for at := time.Duration(0); at < 2*time.Hour; at += step {
		if at == 10*time.Minute {
			step = 500 * time.Millisecond // half of what would come: it is left out all the same
		}
		n++
		s := &control.Snapshot{Time: noon.Add(at)}
		if err := w.Add(&control.Update{Snapshot: s, Events: []control.Event{event(int64(n), s.Time)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(r.frames), 2400+3000+720; got < want-5 || got > want+5 {
		t.Errorf("two hours are %d snapshots, wanted about %d", got, want)
	}
	if all := r.events(0, len(r.frames)-1, n); len(all) < n-20 || all[0].Seq != 1 {
		t.Errorf("%d of %d events are left", len(all), n)
	}
	big, err := Create(path, "d1")
	if err != nil {
		t.Fatal(err)
	}
	if err := big.Add(&control.Update{Snapshot: state(noon, 1)}); err != nil {
		t.Fatal(err)
	}
	big.size = largest
	before := big.last
	if err := big.Add(&control.Update{Snapshot: state(noon.Add(time.Minute), 1)}); err != nil || big.last != before {
		t.Errorf("a recording that is too large goes on: %v", err)
	}
	_ = big.Close()
}

func TestWriter_WhatRepeatsCostsLittle(t *testing.T) {
	path := record(t, 400, 250*time.Millisecond)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	doc, _ := json.Marshal(state(noon, 1))
	if each := info.Size() / 400; each > int64(len(doc)/6) {
		t.Errorf("a snapshot of %d bytes costs %d on the disk", len(doc), each)
	}
}

// engine is a Control that shows a state which counts quarters of a second.
type engine struct {
	control.Control
	mu     sync.Mutex
	n      int
	events []control.Event
}

func (e *engine) Watch(ctx context.Context, every time.Duration) iter.Seq2[control.Update, error] {
	return func(yield func(control.Update, error) bool) {
		for ctx.Err() == nil {
			e.mu.Lock()
			e.n++
			u := control.Update{Snapshot: state(time.Now(), e.n), Events: e.events}
			e.events = nil
			e.mu.Unlock()
			if !yield(u, nil) {
				return
			}
			if e.n%100 == 0 { // the connection is lost now and then
				yield(control.Update{}, control.Errorf(control.Unreachable, "lost"))
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(every):
			}
		}
	}
}

func TestRecorder_BeginsBeforeAndGoesOnAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		rec := NewRecorder(&engine{}, dir, func(err error) { t.Error(err) })
		done := make(chan struct{})
		go func() { rec.Run(ctx); close(done) }()
		time.Sleep(40 * time.Second)
		t0 := time.Now()
		path, err := rec.Begin("d1")
		if err != nil || path != filepath.Join(dir, "d1.rec.gz") {
			t.Fatal(path, err)
		}
		time.Sleep(20 * time.Second)
		if _, err := rec.Begin("d2"); err != nil { // an incident in the drill
			t.Fatal(err)
		}
		rec.End("d1")
		time.Sleep(12 * time.Second)
		if again, err := rec.Begin("d2"); err != nil || again != Path(dir, "d2") {
			t.Error(again, err)
		}
		time.Sleep(5 * time.Second)
		cancel() // d2 is still being recorded
		<-done
		for _, c := range []struct {
			id       string
			from, to time.Duration
		}{{"d1", -15 * time.Second, 30 * time.Second}, {"d2", 5 * time.Second, 37 * time.Second}} {
			r, err := load(Path(dir, c.id))
			if err != nil {
				t.Fatal(err)
			}
			from, to := r.Begun.Sub(t0), r.Begun.Add(r.length()).Sub(t0)
			if (from-c.from).Abs() > time.Second || (to-c.to).Abs() > time.Second {
				t.Errorf("%s is recorded from %s to %s, wanted %s to %s", c.id, from, to, c.from, c.to)
			}
		}
	})
}

func TestRecorder_ManyEventsMakeNoManySnapshots(t *testing.T) {
	rec := NewRecorder(nil, t.TempDir(), func(err error) { t.Error(err) })
	for i := range 1000 {
		at := noon.Add(time.Duration(i) * 10 * time.Millisecond)
		rec.take(control.Update{Snapshot: &control.Snapshot{Time: at}, Events: []control.Event{event(int64(i), at)}})
	}
	n := 0
	for _, u := range rec.recent {
		n += len(u.Events)
	}
	if len(rec.recent) > 100 || n != 1000 {
		t.Errorf("%d snapshots and %d events are kept of 10 s with 1000 events", len(rec.recent), n)
	}
}

func TestRecorder_RefusesNamesThatArePathsAndSaysWhatItCannotWrite(t *testing.T) {
	dir := t.TempDir()
	var said []error
	rec := NewRecorder(nil, dir, func(err error) { said = append(said, err) })
	for _, id := range []string{"", "../x", "a/b"} {
		if _, err := rec.Begin(id); err == nil {
			t.Errorf("%q is no id", id)
		}
	}
	if _, err := rec.Begin("d1"); err != nil {
		t.Fatal(err)
	}
	_ = rec.running["d1"].file.Close() // as if the disk were gone
	for i := range 200 {
		rec.take(control.Update{Snapshot: state(noon.Add(time.Duration(i)*time.Second), i*7919)})
	}
	if len(said) != 1 || len(rec.running) != 0 {
		t.Errorf("said %v, %d run", said, len(rec.running))
	}
	rec.End("d1")
	rec.End("unknown")
	full := NewRecorder(nil, filepath.Join(dir, "d1.rec.gz"), func(error) {})
	if _, err := full.Begin("d2"); err == nil {
		t.Error("a file is no directory for recordings")
	}
}

func TestPrune_RemovesTheOldest(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"b.rec.gz", "a.rec.gz", "c.rec.gz", "a.json"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := noon.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := prune(dir, 250); err != nil {
		t.Fatal(err)
	}
	var left []string
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		left = append(left, f.Name())
	}
	if fmt.Sprint(left) != "[a.json a.rec.gz c.rec.gz]" {
		t.Error(left)
	}
}

func TestOpen_SaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, lines ...string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(strings.Join(lines, "\n") + "\n"))
		_ = z.Close()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := `{"baton_recording":1,"name":"x","begun":"2026-12-01T00:00:00Z"}`
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "none"), "there is no recording"},
		{plain, "it is no recording"},
		{file("a", `{"something":"else"}`), "not the head"},
		{file("b", `{"baton_recording":2}`), "not the head"},
		{file("c", good), "no snapshot"},
		{file("d", good, `{"t_ms":0,"snapshot":{}}`, `garbage`), "line 3"},
		{file("e", good, `{"t_ms":9,"snapshot":{}}`, `{"t_ms":8,"snapshot":{}}`), "does not go on"},
		{file("f", good, `{"t_ms":-1,"snapshot":{}}`), "does not go on"},
	} {
		if _, err := Open(c.path, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}

func FuzzDecode_ReadsAnything(f *testing.F) {
	f.Add([]byte(`{"baton_recording":1}` + "\n" + `{"t_ms":0,"snapshot":{},"events":[{}]}` + "\n"))
	f.Add([]byte(`{"baton_recording":1}` + "\n" + `{"t_ms":9223372036854775807,"snapshot":null}` + "\n"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(doc)
		_ = z.Close()
		r, err := decode(&b)
		if err != nil {
			return
		}
		for _, at := range []time.Duration{-1, 0, r.length(), r.length() + 1} {
			_, _ = r.snapshot(r.index(at))
		}
	})
}

func BenchmarkWriter_Add(b *testing.B) {
	w, err := Create(Path(b.TempDir(), "d1"), "d1")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		w.size = 0
		if err := w.Add(&control.Update{Snapshot: state(noon.Add(time.Duration(i)*time.Second/4), i)}); err != nil {
			b.Fatal(err)
		}
	}
	_ = w.Close()
}

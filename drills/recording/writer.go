package recording

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"baton/engine/control"
)

const (
	suffix   = ".rec.gz"
	format   = 1
	flushing = time.Second // of the recording's time
	// largest is the most a recording holds before compression, in bytes.
	largest = 256 << 20
)

// Path is where the recording of a drill is, in the directory of the records.
func Path(dir, id string) string { return filepath.Join(dir, id+suffix) }

// head is the first line.
type head struct {
	Format int       `json:"baton_recording"`
	Name   string    `json:"name"`
	Begun  time.Time `json:"begun"` // T: every other line is so many ms after it
}

// entry is every other line.
type entry struct {
	TMs      int64           `json:"t_ms"`
	Snapshot json.RawMessage `json:"snapshot"`
	Events   []control.Event `json:"events,omitempty"`
}

// Writer writes one recording. It is for one goroutine.
type Writer struct {
	name    string
	file    *os.File
	buffer  *bufio.Writer
	zip     *gzip.Writer
	begun   time.Time
	last    time.Duration // of the last line; negative: none yet
	flushed time.Duration
	size    int64
	waiting []control.Event // of updates that were left out
}

// Create begins the recording of a drill in a new file.
func Create(path, name string) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the recording of %s: %w", name, err)
	}
	b := bufio.NewWriterSize(f, 32<<10)
	return &Writer{name: name, file: f, buffer: b, zip: gzip.NewWriter(b), last: -1}, nil
}

// pace is how far apart the snapshots of a recording are, by how long it has
// run.
func pace(at time.Duration) time.Duration {
	switch {
	case at < 10*time.Minute:
		return 200 * time.Millisecond // watchers get four a second, not quite evenly
	case at < time.Hour:
		return time.Second
	}
	return 5 * time.Second
}

// Add writes an update, or keeps its events for the next one where it comes too
// soon after the last. Updates come by rising time.
func (w *Writer) Add(u *control.Update) error {
	w.waiting = append(w.waiting, u.Events...)
	if u.Snapshot == nil {
		return nil
	}
	if w.last < 0 {
		w.begun = u.Snapshot.Time
		if err := w.line(head{Format: format, Name: w.name, Begun: w.begun.UTC()}); err != nil {
			return err
		}
	}
	at := u.Snapshot.Time.Sub(w.begun)
	if w.last >= 0 && at-w.last < pace(at) || w.size >= largest {
		w.waiting = w.waiting[max(0, len(w.waiting)-eventsKept):]
		return nil
	}
	snap, err := json.Marshal(u.Snapshot)
	if err != nil {
		return fmt.Errorf("record a snapshot: %w", err)
	}
	e := entry{TMs: at.Milliseconds(), Snapshot: snap, Events: w.waiting}
	w.last, w.waiting = at, nil
	if err := w.line(e); err != nil {
		return err
	}
	if at-w.flushed < flushing {
		return nil
	}
	w.flushed = at
	return w.flush()
}

// eventsKept bounds the events that wait for a snapshot.
const eventsKept = 1000

func (w *Writer) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("record %s: %w", w.name, err)
	}
	w.size += int64(len(b))
	if _, err := w.zip.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("record %s: %w", w.name, err)
	}
	return nil
}

// flush makes what was written readable.
func (w *Writer) flush() error {
	if err := w.zip.Flush(); err != nil {
		return fmt.Errorf("record %s: %w", w.name, err)
	}
	return w.buffer.Flush()
}

// Close ends the recording; it is on the disk then.
func (w *Writer) Close() error {
	return errors.Join(w.zip.Close(), w.buffer.Flush(), w.file.Sync(), w.file.Close())
}

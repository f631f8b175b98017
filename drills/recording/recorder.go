package recording

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"baton/engine/control"
)

const (
	before = 15 * time.Second // kept in memory
	after  = 10 * time.Second // recorded beyond the end
	every  = 250 * time.Millisecond
	again  = time.Second // to watch once more where the engine did not answer
	// kept bounds the recordings of a directory, in bytes.
	kept = 512 << 20
)

// Recorder records what a Control shows, when it is told to. Its methods may be
// called from any goroutine.
type Recorder struct {
	control control.Control
	dir     string
	warn    func(error)

	mu      sync.Mutex // guards what follows, and the writers
	recent  []control.Update
	running map[string]*running
}

// running is a recording that runs.
type running struct {
	*Writer
	until time.Time // when it closes; zero: not yet known
}

// NewRecorder returns a recorder that writes into dir. warn is told what could
// not be recorded, once for each recording: the drill goes on without it.
func NewRecorder(c control.Control, dir string, warn func(error)) *Recorder {
	return &Recorder{control: c, dir: dir, warn: warn, running: map[string]*running{}}
}

// Run watches until ctx ends, and closes what is recorded then.
func (r *Recorder) Run(ctx context.Context) {
	defer r.closeAll()
	for ctx.Err() == nil {
		for u, err := range r.control.Watch(ctx, every) {
			if err != nil {
				break
			}
			r.take(u)
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

// Begin starts a recording with the last seconds, and says where it is. One that
// runs already goes on.
func (r *Recorder) Begin(id string) (string, error) {
	path := Path(r.dir, id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if w, ok := r.running[id]; ok {
		w.until = time.Time{}
		return path, nil
	}
	if id == "" || id != filepath.Base(id) {
		return "", fmt.Errorf("record %q: it is no id of a drill", id)
	}
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return "", fmt.Errorf("record %s: %w", id, err)
	}
	if err := prune(r.dir, kept); err != nil {
		r.warn(err)
	}
	w, err := Create(path, id)
	if err != nil {
		return "", err
	}
	r.running[id] = &running{Writer: w}
	for i := range r.recent {
		r.add(id, &r.recent[i])
	}
	return path, nil
}

// End ends a recording some seconds from now. One that does not run is ignored.
func (r *Recorder) End(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w, ok := r.running[id]; ok && w.until.IsZero() {
		w.until = time.Now().Add(after)
	}
}

// take keeps an update for those recordings that come, and adds it to those that
// run.
func (r *Recorder) take(u control.Update) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.recent); n > 0 && (u.Snapshot == nil || u.Snapshot.Time.Sub(r.recent[n-1].Snapshot.Time) < every/2) {
		last := &r.recent[n-1] // many events make many updates
		last.Events = append(slices.Clip(last.Events), u.Events...)
	} else if u.Snapshot != nil {
		r.recent = append(r.recent, u)
	}
	if n := len(r.recent); n > 0 {
		oldest := r.recent[n-1].Snapshot.Time.Add(-before)
		i := slices.IndexFunc(r.recent, func(u control.Update) bool { return !u.Snapshot.Time.Before(oldest) })
		r.recent = slices.Delete(r.recent, 0, max(i, 0))
	}
	now := time.Now()
	for id, w := range r.running {
		r.add(id, &u)
		if !w.until.IsZero() && now.After(w.until) {
			r.close(id)
		}
	}
}

// add writes an update; a recording that cannot be written ends. r.mu is held.
func (r *Recorder) add(id string, u *control.Update) {
	w, ok := r.running[id]
	if !ok {
		return
	}
	if err := w.Add(u); err != nil {
		delete(r.running, id)
		_ = w.Close() // it has failed already
		r.warn(err)
	}
}

// close ends a recording. r.mu is held.
func (r *Recorder) close(id string) {
	w, ok := r.running[id]
	if !ok {
		return
	}
	delete(r.running, id)
	if err := w.Close(); err != nil {
		r.warn(fmt.Errorf("end the recording of %s: %w", id, err))
	}
}

func (r *Recorder) closeAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.running {
		r.close(id)
	}
}

// prune removes the oldest recordings of a directory until the others are small
// enough.
func prune(dir string, most int64) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look at the recordings: %w", err)
	}
	var all []fs.FileInfo
	for _, f := range files {
		if info, err := f.Info(); err == nil && strings.HasSuffix(f.Name(), suffix) { // else it is gone
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var size int64
	for _, f := range all {
		if size += f.Size(); size <= most {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil {
			return fmt.Errorf("remove an old recording: %w", err)
		}
	}
	return nil
}

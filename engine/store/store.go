package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"baton/engine/control"
)

const (
	flushEvery  = 500 * time.Millisecond // a write takes time too: together under a second
	retryEvery  = 5 * time.Second
	trimEvery   = time.Minute
	journalKeep = 200_000 // events in the file
	journalAge  = 30 * 24 * time.Hour
	pendingKeep = 20_000 // events in memory while nothing can be written
)

// Store is the file of one engine. Any method may be called from any goroutine.
type Store struct {
	path        string
	every       time.Duration // between writes
	retry       time.Duration // between tries to open what could not be
	keep        int
	age         time.Duration
	pendingKeep int

	mu      sync.Mutex // guards what follows; never held across IO
	pending []control.Event
	seq     int64  // of the last event
	dropped int    // events that memory had no room for
	ailing  string // why nothing can be written now, "" if it can
	lost    string // what a person has to know of this run's file

	books *books

	disk    sync.Mutex // guards what follows, held across IO
	file    *file      // nil: memory only
	weights *control.SavedWeights
	pruned  time.Time // when the ledger last was
	looked  time.Time // for files of spending
	tried   time.Time // when the file was last opened in vain
	trimmed time.Time
	closed  bool
}

// Open opens the file at path, or begins it, and returns what it holds. The only
// error is *NewerError: whatever else is wrong is an alert, and the Store keeps in
// memory what it cannot write.
func Open(path string) (*Store, control.Saved, error) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s := &Store{path: path, every: flushEvery, retry: retryEvery, keep: journalKeep, age: journalAge, pendingKeep: pendingKeep}
	now := time.Now()
	s.books = newBooks(now)
	s.disk.Lock()
	defer s.disk.Unlock()
	ctx := context.Background()
	var newer *NewerError
	var saved savedState
	var err error
	s.file, err = s.open(ctx, now, "pins, drains, limits and the journal begin")
	switch {
	case errors.As(err, &newer):
		return nil, control.Saved{}, err
	case err == nil:
		saved, err = s.file.read(ctx)
	case exists(path):
		s.fail(err, now)
		saved, err = readCopy(ctx, path)
		if errors.As(err, &newer) {
			return nil, control.Saved{}, err
		}
	default:
		s.fail(err, now)
		err = nil
	}
	switch {
	case err != nil:
		// What number the journal has reached is not known. Seconds since 1970 are
		// beyond any that it can be, and of the past.
		saved.Seq = now.Unix()
		if s.file != nil {
			s.fail(err, now)
		}
	case s.lost != "":
		saved.Seq = now.Unix()
	case saved.unread != "":
		s.lost = fmt.Sprintf("%s: not all that was saved could be read: %s", s.path, saved.unread)
	}
	s.seq = saved.Seq
	s.write(ctx, now, nil) // marks the file as in use
	return s, saved.Saved, nil
}

// open opens the file. One that is corrupt is set aside first; anew says what is
// lost by that. s.disk is held.
func (s *Store) open(ctx context.Context, now time.Time, anew string) (*file, error) {
	f, err := openFile(ctx, s.path)
	if !corrupt(err) {
		return f, err
	}
	to, asideErr := setAside(s.path, now)
	if asideErr != nil {
		return nil, fmt.Errorf("it is corrupt (%w) and cannot be set aside: %w", err, asideErr)
	}
	s.mu.Lock()
	s.lost = fmt.Sprintf("%s was corrupt (%v) and is set aside as %s: %s anew", s.path, err, filepath.Base(to), anew)
	s.mu.Unlock()
	return openFile(ctx, s.path)
}

// Event adds e to the journal. It never waits for the disk. The Hub gives events
// their numbers, and hands them over in order.
func (s *Store) Event(e control.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) >= s.pendingKeep {
		gone := max(1, s.pendingKeep/10)
		s.pending = append([]control.Event{}, s.pending[gone:]...)
		s.dropped += gone
	}
	s.pending = append(s.pending, e)
	s.seq = max(s.seq, e.Seq)
}

// Events returns the first events after a number, at most limit of them, oldest
// first; those not yet written too.
func (s *Store) Events(after int64, limit int) ([]control.Event, error) {
	s.disk.Lock()
	defer s.disk.Unlock()
	events := []control.Event{}
	if s.file != nil {
		var err error
		if events, err = s.file.events(context.Background(), "WHERE seq > ? ORDER BY seq LIMIT ?", after, limit); err != nil {
			return nil, err
		}
	}
	if n := len(events); n > 0 {
		after = events[n-1].Seq
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.pending {
		if e.Seq > after && len(events) < limit {
			events = append(events, e)
		}
	}
	return events, nil
}

// Alert is what a person has to see to, "" if all is well. It stays the same
// while the trouble does.
func (s *Store) Alert() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, a := range []string{s.lost, s.ailing, s.books.alert()} {
		if a != "" {
			all = append(all, a)
		}
	}
	return strings.Join(all, "; ")
}

// Run writes what has changed until ctx ends, then all that is left, and closes
// the file. state is asked for what to save before each write.
func (s *Store) Run(ctx context.Context, state func() control.Saved) error {
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		s.flush(time.Now(), state())
		select {
		case <-ctx.Done():
			s.flush(time.Now(), state())
			s.Close()
			return nil
		case <-tick.C:
		}
	}
}

func (s *Store) flush(now time.Time, saved control.Saved) {
	s.disk.Lock()
	defer s.disk.Unlock()
	if still(s.weights, saved.Weights) {
		saved.Weights = s.weights
	}
	s.weights = saved.Weights
	s.write(context.Background(), now, &saved)
}

// write puts what is new into the file, and sees to it that there is one. s.disk
// is held.
func (s *Store) write(ctx context.Context, now time.Time, saved *control.Saved) {
	s.books.tidy(now)
	if s.closed || !s.ready(ctx, now) {
		return
	}
	s.mu.Lock()
	events, seq := s.pending, s.seq // appended to meanwhile, never changed
	s.mu.Unlock()
	rows := map[string]string{}
	var err error
	if saved != nil {
		if rows, err = encode(saved); err != nil {
			s.fail(err, now)
			return
		}
	}
	rows[rowSeq], rows[rowClean] = strconv.FormatInt(seq, 10), "false"
	if err = s.look(ctx, now); err != nil {
		s.fail(err, now)
		return
	}
	if err = s.enter(ctx, rows, events); err == nil {
		if now.Sub(s.trimmed) >= trimEvery {
			s.trimmed = now
			err = s.file.trim(ctx, now, s.keep, s.age)
		}
	}
	if err == nil && now.Sub(s.pruned) >= pruneEvery {
		s.pruned = now
		err = s.file.prune(ctx, now, s.kept())
	}
	if err != nil {
		s.fail(err, now)
		return
	}
	s.wrote(events)
}

// enter writes rows and events with a batch of the ledger; where one had to wait,
// the one behind it too. s.disk is held, and the file open.
func (s *Store) enter(ctx context.Context, rows map[string]string, events []control.Event) error {
	for {
		waited := s.books.batch != nil
		b := s.books.next()
		if err := s.file.write(ctx, rows, events, b); err != nil {
			return err
		}
		s.forget(b)
		s.books.wrote()
		if !waited {
			return nil
		}
		rows, events = nil, nil
	}
}

// ready sees to it that the file is open. s.disk is held.
func (s *Store) ready(ctx context.Context, now time.Time) bool {
	if s.file != nil && s.file.moved() {
		s.file.close()
		s.file, s.tried = nil, time.Time{}
		s.mu.Lock()
		s.lost = s.path + " was taken away while baton ran: a new one is begun, the journal before is not in it"
		s.mu.Unlock()
	}
	if s.file != nil {
		return true
	}
	if since := now.Sub(s.tried); since >= 0 && since < s.retry {
		return false
	}
	f, err := s.open(ctx, now, "the journal begins")
	if err != nil {
		s.fail(err, now)
		return false
	}
	s.file = f
	return true
}

// fail goes on in memory. A file that turned out to be corrupt is set aside when
// it is next opened. s.disk is held.
func (s *Store) fail(err error, now time.Time) {
	if s.file != nil {
		s.file.close()
		s.file = nil
	}
	s.tried = now
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ailing == "" {
		s.ailing = fmt.Sprintf("%s cannot be written (%v): traffic goes on, what changes is kept in memory only; tried again every %s", s.path, err, control.Duration(s.retry))
	}
}

// wrote forgets events that are in the file now, and what ailed it.
func (s *Store) wrote(events []control.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ailing = ""
	if len(events) == 0 {
		return
	}
	last := events[len(events)-1].Seq
	n := 0
	for n < len(s.pending) && s.pending[n].Seq <= last {
		n++
	}
	s.pending = append([]control.Event{}, s.pending[n:]...)
	if s.dropped > 0 && s.lost == "" {
		s.lost = fmt.Sprintf("%d events are missing from the journal: they were too many to keep in memory", s.dropped)
	}
	s.dropped = 0
}

// Close writes the events that are left and closes the file. Run does so itself.
func (s *Store) Close() {
	s.disk.Lock()
	defer s.disk.Unlock()
	if s.closed {
		return
	}
	s.tried = time.Time{} // once more, whatever was tried before
	s.write(context.Background(), time.Now(), nil)
	s.closed = true
	if s.file == nil {
		return
	}
	// Should this fail, the next run believes that something was lost: no harm.
	_ = s.file.write(context.Background(), map[string]string{rowClean: "true"}, nil, nil)
	s.file.close()
	s.file = nil
}

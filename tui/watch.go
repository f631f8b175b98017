package tui

import (
	"context"
	"errors"
	"sync"
	"time"

	"baton/engine/control"
)

// inbox is where the watching goroutine leaves the newest state and the model
// fetches it, once a frame: however fast things happen, the console draws at
// its own pace.
type inbox struct {
	mu     sync.Mutex
	snap   *control.Snapshot
	at     time.Time // when it came
	events []control.Event
	err    error // why there is no connection, nil when there is one
	fresh  bool
}

// mail is what a frame fetches.
type mail struct {
	snap   *control.Snapshot
	at     time.Time
	events []control.Event
	err    error
}

// take empties the inbox; ok is false when nothing has come.
func (b *inbox) take() (m mail, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fresh {
		return mail{}, false
	}
	m = mail{b.snap, b.at, b.events, b.err}
	b.events, b.fresh = nil, false
	return m, true
}

func (b *inbox) put(u control.Update, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if u.Snapshot != nil {
		b.snap, b.at = u.Snapshot, at
	}
	b.events = append(b.events, u.Events...)
	if over := len(b.events) - journalKept; over > 0 {
		b.events = append([]control.Event(nil), b.events[over:]...)
	}
	b.err, b.fresh = nil, true
}

func (b *inbox) lose(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err, b.fresh = err, true
}

var errEnded = errors.New("the engine ended the connection")

// watch fills the inbox until ctx ends, and tries again where the connection is
// lost: after half a second, then slower, at most every five seconds.
func (b *inbox) watch(ctx context.Context, c control.Control, every time.Duration) {
	const first, most = 500 * time.Millisecond, 5 * time.Second
	pause := first
	for ctx.Err() == nil {
		err := errEnded
		for u, e := range c.Watch(ctx, every) {
			if e != nil {
				err = e
				break
			}
			b.put(u, time.Now())
			pause = first
		}
		if ctx.Err() != nil {
			return
		}
		b.lose(err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, most)
	}
}

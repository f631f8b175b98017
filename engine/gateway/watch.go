package gateway

import "time"

// watch counts a wait for a vendor, as long as nothing was sent to the client: it
// is no time that baton takes.
type watch struct {
	q     *request
	since time.Time
}

func (w *watch) start() {
	if !w.q.committed {
		w.since = time.Now()
	}
}

func (w *watch) stop() {
	if !w.since.IsZero() {
		w.q.waited += time.Since(w.since)
	}
}

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"baton/engine/control"
)

const (
	streamEvery  = 250 * time.Millisecond
	streamFinest = 50 * time.Millisecond
	// streamPatience is how long a reader may take for one update before it is
	// let go.
	streamPatience = 15 * time.Second
)

// stream sends the state four times a second (or every=...) and events as they
// happen, as server-sent events, until the client leaves, stops reading or the
// server ends the request's context.
func (s *server) stream(w http.ResponseWriter, r *http.Request) error {
	every := streamEvery
	if q := r.URL.Query().Get("every"); q != "" {
		d, err := time.ParseDuration(q)
		if err != nil || d < streamFinest {
			return &control.Error{Kind: control.Invalid, Field: "every", Message: fmt.Sprintf("every = %q is not a duration of %s or more", q, streamFinest)}
		}
		every = d
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return nil
	}
	rc := http.NewResponseController(w)
	defer func() { _ = rc.SetWriteDeadline(time.Time{}) }() // the connection may serve on
	p := pace{every: every}
	var buf []byte
	for u, err := range s.control.Watch(r.Context(), every) {
		if err != nil {
			return nil // the answer has begun: the end of the stream says it
		}
		if buf, err = p.append(buf[:0], u, time.Now()); err != nil {
			return nil
		}
		if len(buf) == 0 {
			continue
		}
		_ = rc.SetWriteDeadline(time.Now().Add(s.patience))
		if _, err := w.Write(buf); err != nil {
			return nil
		}
		if err := rc.Flush(); err != nil {
			return nil
		}
	}
	return nil
}

// pace decides which of a watcher's states go into a stream: one every so
// often, and more where something happened, but no flood of them.
type pace struct {
	every    time.Duration
	last     time.Time // of the last state sent
	revision int64
	owed     bool // an event has gone out without the state after it
}

// append adds the events of u, and its state if that is due.
func (p *pace) append(buf []byte, u control.Update, now time.Time) ([]byte, error) {
	var err error
	for i := range u.Events {
		if buf, err = appendEvent(buf, "event", u.Events[i]); err != nil {
			return buf, err
		}
		p.owed = true
	}
	if u.Snapshot == nil {
		return buf, nil
	}
	age := now.Sub(p.last)
	due := age > p.every*3/4 || p.owed && age > streamFinest || u.Snapshot.Revision != p.revision
	if !due {
		return buf, nil
	}
	p.last, p.revision, p.owed = now, u.Snapshot.Revision, false
	return appendEvent(buf, "snapshot", u.Snapshot)
}

// appendEvent adds one server-sent event with v as its data.
func appendEvent(buf []byte, name string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return buf, err
	}
	buf = append(buf, "event: "...)
	buf = append(buf, name...)
	buf = append(buf, "\ndata: "...)
	buf = append(buf, data...)
	return append(buf, "\n\n"...), nil
}

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
// happen, as server-sent events.
func (s *server) stream(w http.ResponseWriter, r *http.Request) error {
	every := streamEvery
	if q := r.URL.Query().Get("every"); q != "" {
		d, err := time.ParseDuration(q)
		if err != nil || d < streamFinest {
			return &control.Error{Kind: control.Invalid, Field: "every", Message: fmt.Sprintf("every = %q is not a duration of %s or more", q, streamFinest)}
		}
		every = d
	}
	rc := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	var buf []byte
	var last time.Time
	for u, err := range s.control.Watch(r.Context(), every) {
		if err != nil {
			return nil // the answer has begun: the end of the stream says it
		}
		buf = buf[:0]
		for i := range u.Events {
			buf = appendEvent(buf, "event", u.Events[i])
		}
		if now := time.Now(); u.Snapshot != nil && (now.Sub(last) > every*3/4 || len(u.Events) > 0) {
			buf, last = appendEvent(buf, "snapshot", u.Snapshot), now
		}
		if len(buf) == 0 {
			continue
		}
		_ = rc.SetWriteDeadline(time.Now().Add(streamPatience))
		if _, err := w.Write(buf); err != nil {
			return nil
		}
		if err := rc.Flush(); err != nil {
			return nil
		}
	}
	return nil
}

func appendEvent(buf []byte, name string, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		return buf
	}
	buf = append(buf, "event: "...)
	buf = append(buf, name...)
	buf = append(buf, "\ndata: "...)
	buf = append(buf, data...)
	return append(buf, "\n\n"...)
}

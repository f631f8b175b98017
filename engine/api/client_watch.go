package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"

	"baton/engine/control"
)

// silence is how long a stream may say nothing, beyond its pace, before the
// engine counts as gone: a stopped process keeps its connections open.
const silence = 10 * time.Second

// maxLine bounds one event of the stream.
const maxLine = 16 << 20

// Watch yields the state as the engine sends it, until ctx ends or the
// connection breaks, which is its last error. Watch again to go on. The pace is
// at least 50 ms.
func (c *Client) Watch(ctx context.Context, every time.Duration) iter.Seq2[control.Update, error] {
	if every <= 0 {
		every = streamEvery
	}
	every = max(every, streamFinest)
	return func(yield func(control.Update, error) bool) {
		mine, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		resp, err := c.send(mine, http.MethodGet, "/api/v1/stream?every="+every.String(), nil)
		if err != nil {
			if ctx.Err() == nil {
				yield(control.Update{}, err)
			}
			return
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			data, _ := io.ReadAll(io.LimitReader(resp.Body, maxBody))
			yield(control.Update{}, fromBody(resp.StatusCode, data))
			return
		}
		quiet := every + c.silence
		watchdog := time.AfterFunc(quiet, func() { cancel(fmt.Errorf("it has said nothing for %s", quiet)) })
		defer watchdog.Stop()
		u := updates{lines: bufio.NewScanner(resp.Body)}
		u.lines.Buffer(make([]byte, 0, 64<<10), maxLine)
		for {
			next, err := u.next()
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				if cause := context.Cause(mine); cause != nil {
					err = cause
				}
				yield(control.Update{}, c.unreachable(err))
				return
			}
			watchdog.Stop() // a slow reader is no silent engine
			if !yield(next, nil) {
				return
			}
			watchdog.Reset(quiet)
		}
	}
}

// updates puts the events of a stream together: each snapshot with the events
// before it.
type updates struct{ lines *bufio.Scanner }

func (s *updates) next() (control.Update, error) {
	var u control.Update
	name := ""
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if n, ok := bytes.CutPrefix(line, []byte("event: ")); ok {
			name = string(n)
			continue
		}
		data, ok := bytes.CutPrefix(line, []byte("data: "))
		if !ok {
			continue
		}
		if err := add(&u, name, data); err != nil {
			return u, fmt.Errorf("read its stream: %w", err)
		}
		if u.Snapshot != nil {
			return u, nil
		}
	}
	if err := s.lines.Err(); err != nil {
		return u, err
	}
	return u, errors.New("the stream ended")
}

// add puts one server-sent event into the update.
func add(u *control.Update, name string, data []byte) error {
	switch name {
	case "snapshot":
		u.Snapshot = new(control.Snapshot)
		return json.Unmarshal(data, u.Snapshot)
	case "event":
		var e control.Event
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		u.Events = append(u.Events, e)
	}
	return nil
}

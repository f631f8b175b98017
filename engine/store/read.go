package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"baton/engine/control"
)

const (
	journalRead = 1000 // of the last events that Open gives back
	// After a run that did not end well some numbers may have been given out that
	// are not in the file. The gaps are larger than what a second makes.
	seqGap      = 1000
	revisionGap = 100
)

// savedState is what a file holds, and what of it could not be read.
type savedState struct {
	control.Saved
	unread string
}

// read returns what the file holds.
func (f *file) read(ctx context.Context) (out savedState, err error) {
	rows, err := f.rows(ctx)
	if err != nil {
		return out, err
	}
	saved, unread := decode(rows)
	out.Saved, out.unread = saved, strings.Join(unread, ", ")
	out.Seq, _ = strconv.ParseInt(rows[rowSeq], 10, 64)
	if out.Journal, err = f.events(ctx, "ORDER BY seq DESC LIMIT ?", journalRead); err != nil {
		return out, err
	}
	slices.Reverse(out.Journal)
	if n := len(out.Journal); n > 0 {
		out.Seq = max(out.Seq, out.Journal[n-1].Seq)
	}
	if rows[rowClean] == "false" {
		out.Seq += seqGap
		out.Revision += revisionGap
	}
	return out, nil
}

func (f *file) rows(ctx context.Context) (map[string]string, error) {
	rs, err := f.conn.QueryContext(ctx, "SELECT name, value FROM saved")
	if err != nil {
		return nil, fmt.Errorf("read what was saved: %w", err)
	}
	defer func() { _ = rs.Close() }()
	rows := map[string]string{}
	for rs.Next() {
		var name, value string
		if err := rs.Scan(&name, &value); err != nil {
			return nil, fmt.Errorf("read what was saved: %w", err)
		}
		rows[name] = value
	}
	return rows, rs.Err()
}

// events returns the events that the rest of the query names.
func (f *file) events(ctx context.Context, rest string, args ...any) ([]control.Event, error) {
	rs, err := f.conn.QueryContext(ctx, "SELECT seq, time, level, kind, vendor, who, text, data FROM events "+rest, args...)
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	defer func() { _ = rs.Close() }()
	events := []control.Event{}
	for rs.Next() {
		var e control.Event
		var at int64
		var data string
		if err := rs.Scan(&e.Seq, &at, &e.Level, &e.Kind, &e.Vendor, &e.Who, &e.Text, &data); err != nil {
			return nil, fmt.Errorf("read the journal: %w", err)
		}
		e.Time = time.Unix(0, at).UTC()
		if json.Unmarshal([]byte(data), &e.Data) != nil || e.Data == nil {
			e.Data = map[string]any{}
		}
		events = append(events, e)
	}
	return events, rs.Err()
}

package store

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"baton/engine/control"
)

// restAge is how old the saved weights may get while they stand still. They are
// believed for 5 minutes after their time, so they must not be written each time
// that the clock moves, but now and then.
const restAge = 10 * time.Second

// The rows of the table saved. seq and clean are the store's own.
const (
	rowSeq   = "seq"   // of the last event, which outlives the journal's end
	rowClean = "clean" // true: the last run has written everything it knew
)

// nouns are the rows that hold a part of s each.
func nouns(s *control.Saved) map[string]any {
	return map[string]any{
		"revision": &s.Revision,
		"weights":  &s.Weights,
		"pin":      &s.Pin,
		"manual":   &s.Manual,
		"drained":  &s.Drained,
		"disabled": &s.Disabled,
		"limits":   &s.Limits,
		"setlimit": &s.SetLimit,
		"limitby":  &s.LimitBy,
	}
}

// encode returns the rows of s.
func encode(s *control.Saved) (map[string]string, error) {
	rows := map[string]string{}
	for name, part := range nouns(s) {
		b, err := json.Marshal(part)
		if err != nil {
			return nil, fmt.Errorf("save %s: %w", name, err)
		}
		rows[name] = string(b)
	}
	return rows, nil
}

// decode reads rows back. What cannot be read is left out and named.
func decode(rows map[string]string) (s control.Saved, unread []string) {
	for name, part := range nouns(&s) {
		if v, ok := rows[name]; ok {
			if err := json.Unmarshal([]byte(v), part); err != nil {
				unread = append(unread, fmt.Sprintf("%s (%v)", name, err))
			}
		}
	}
	return s, unread
}

// still says whether new weights say no more than the old ones.
func still(old, next *control.SavedWeights) bool {
	if old == nil || next == nil || len(old.Weights) != len(next.Weights) || len(old.Configured) != len(next.Configured) {
		return false
	}
	if age := next.At.Sub(old.At); age < 0 || age >= restAge {
		return false
	}
	for name, w := range next.Weights {
		if o, ok := old.Weights[name]; !ok || math.Abs(o-w) >= 0.05 {
			return false
		}
	}
	for name, w := range next.Configured {
		if o, ok := old.Configured[name]; !ok || o != w {
			return false
		}
	}
	return true
}

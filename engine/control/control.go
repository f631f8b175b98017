// Package control is the seam between baton's engine and whoever steers it:
// the console, the control API, the commands and the drills.
//
// Use: get a [Control] (the [Hub] in this process, or a client of the control
// API for an engine elsewhere); send a [Command] with Do, ask with [Get], and
// range over Watch for the state as it changes.
//
// Guarantees of every Control:
//  1. Do returns once the command has taken effect, or with an *[Error].
//  2. Watch yields the whole state first, then again at the pace asked for; a
//     slow reader skips snapshots, never events that are still in the journal.
//  3. Snapshots and events are values of their own: nobody changes them later.
//
// The package knows no engine: the process that wires baton together gives the
// Hub a [Backend].
package control

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Control is how people and programs steer baton.
type Control interface {
	Do(ctx context.Context, cmd Command) error
	Ask(ctx context.Context, q Query) (Answer, error)
	Watch(ctx context.Context, every time.Duration) iter.Seq2[Update, error]
}

// Update is what a watcher gets: the state, and the events since the update
// before it (in the first one: the last of the journal).
type Update struct {
	Snapshot *Snapshot
	Events   []Event
}

// Lane says who waits for an answer.
type Lane uint8

// The lanes.
const (
	Interactive Lane = iota // a person waits
	Batch                   // latency-tolerant
	Lanes       = 2
)

// String returns the lane's word.
func (l Lane) String() string {
	if l == Batch {
		return "batch"
	}
	return "interactive"
}

// ParseLane returns the lane whose word is s.
func ParseLane(s string) (Lane, bool) {
	switch s {
	case "interactive":
		return Interactive, true
	case "batch":
		return Batch, true
	}
	return 0, false
}

// Kind is the class of an Error; it decides the HTTP status and the exit code.
type Kind uint8

// The kinds of errors.
const (
	Invalid     Kind = iota // a value is impossible or a name in a body unknown: 422
	NotFound                // an unknown vendor or drill in the path: 404
	Stale                   // made against an older revision: 409
	Conflict                // a drill while one runs: 409
	Denied                  // no or a wrong token: 401
	Forbidden               // foreign Host, an Origin, read-only: 403
	Unreachable             // no engine answers: no status
	Internal                // ours: 500
)

// Error is why a command or a question was refused.
type Error struct {
	Kind    Kind
	Message string
	Field   string // the field of the command that is wrong, "" if none is
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Errorf makes an *Error.
func Errorf(k Kind, format string, args ...any) *Error {
	return &Error{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// Duration is a time.Duration that is "15m" in JSON.
type Duration time.Duration

// MarshalText writes the shortest form: "15m", not "15m0s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what time.ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// String is the shortest form of the duration.
func (d Duration) String() string {
	s := time.Duration(d).String()
	for _, z := range []string{"m0s", "h0m"} {
		if n := len(s) - len(z); n > 0 && s[n:] == z {
			s = s[:n+1]
		}
	}
	return s
}

// Package engine holds the live state of the vendors and decides which of them
// takes the next attempt.
//
// Use: New, start Run, then for each attempt [Engine.Acquire] a [Lease] and
// call its Done with how the attempt ended. People steer through [Engine.Do];
// [Engine.Fill] writes the state into a control.Snapshot.
//
// Who owns what:
//  1. A Vendor owns its windows, its health machine, its limiter and its limit of
//     attempts in flight under one lock, never held across IO.
//  2. The Engine owns the law, the pin and people's overrides under another,
//     which is taken by the tick, by commands and when a vendor's health
//     changes, never for an attempt that goes well. It is taken before a
//     vendor's, never after.
//  3. Weights reach the attempts as an immutable table behind a pointer.
//  4. The lobby owns those who wait for a place. Its lock is taken only while
//     somebody waits, before the vendors' and after the Engine's; an attempt's end
//     hands its place on.
//
// It is pure memory: it knows no network and no vendor's wire, and it is told
// of attempts only what came of them. An injected fault is not among that.
package engine

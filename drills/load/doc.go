// Package load sends requests to a gateway at a given rate, as clients would.
//
// Use: fill in a [Traffic] and let its Run run; Counts says at any time what
// has become of the requests.
//
// It is open loop: a request is due when the [Pacer] says so, whatever became
// of those before it, so that a gateway that slows down does not slow the load
// down with it. What it is not: it measures no latencies and judges nothing.
package load

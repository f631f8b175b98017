// Package load makes requests when they are due: against a gateway as clients
// would, or whatever a caller does with a moment.
//
// Use: [Traffic] sends chat completions at a rate; fill it in and let its Run
// run. [Open] and [Closed] are the two ways in which any call can be repeated,
// and what they call measures.
//
// Open loop: a call is due when the [Pacer] says so, whatever became of those
// before it, so that a server that slows down does not slow the load down with
// it. Closed loop: a fixed number of callers, each of which waits for its answer
// before it asks again; it holds the occupancy and hides the stalls. What the
// package is not: it measures no latencies and judges nothing.
package load

// Package admission keeps the work in a vendor within what it can do: an
// adaptive limit of attempts in flight, and a short, bounded wait in front of
// it.
//
// One [Limit] is one vendor's. The owner asks Room before an attempt, says
// Turned when it had to send one elsewhere, and reports what came back with
// Sample, a good end with Took and a second that has passed with Tick. One [Queue] is all
// requests that wait for a place at any vendor; the owner grants places in its
// order and wakes who it names.
//
// What it goes by, per vendor and kind of answer (streams by their first token,
// others by the whole; their times are never mixed):
//
//	base   = what a first token takes without load: the median of the first ones that
//	         began (first.go), followed down at once, and up by a tenth and then slowly
//	q      = geometric mean of a window of samples / base
//	excess = rate · base · (q - 1.1)        Little: who waits there, beyond a tenth of base
//
// While q stays under 1.5 the vendor is free: the limit is only a guard against
// a jump, and quadruples within the time of a first token while answers are good.
// Above it the vendor is saturated: limit = rate · unloaded time of an attempt,
// and from then on limit - excess where q is over 1.2, a little more where it is
// under 1.05 and the limit is used (all three more where answers differ much); between them it
// follows by a quarter. A cut that
// takes answers away in proportion is undone (starve.go). A cut that makes nothing faster was none of
// our queue's: the vendor has become slower, base follows, and it is free again.
//
// A vendor that is held short shows no limit of requests per second that it has: it is
// sounded (see sound.go), and its owner sees what comes back. Where an overload was there from
// the first request on, base is looked for once its line has gone (probe.go). A limit sends
// attempts elsewhere at once, but where no vendor has room it refuses nobody until an
// overload shows (Spare); then interactive requests may still go a little beyond it while
// batch work is in flight, which pays that back.
//
// Gradient limits are Netflix's (concurrency-limits: Vegas' queue from rate and
// excess time, Gradient2's tolerance of 1.5); the proof by cutting is not.
//
// It has no clock, lock or goroutine: every method is told the time, and the
// owner holds its lock. It allocates nothing. It is no rate limit, which is
// package limit's, and it moves no weights.
package admission

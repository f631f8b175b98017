// Package vendors is what is particular about a vendor: its address, its keys,
// how it spells errors, and the connections to it.
//
// Use: [Open] makes a [Set] of a configuration; Set.Vendor finds one by name; take
// a [Key] with Keys.Take, make the request with NewRequest, send it with
// RoundTrip. After a reload Open again, with the set before as Options.Before:
// what did not change keeps its connections and the state of its keys; close the
// old set after its last request.
//
// Guarantees, from any number of goroutines:
//  1. A request made here carries the vendor's key and none of the client's: what
//     [PassHeader] refuses never leaves, whatever the caller hands in.
//  2. Keys print as their last four letters at most, wherever they are formatted.
//  3. An answer is passed as it comes: no redirect is followed, nothing is
//     decompressed, and nothing is tried twice but what was never sent and what
//     HTTP calls idempotent (a GET on a connection that had gone stale).
//
// A fault of a drill strikes in RoundTrip and looks like a real one; see package
// fault. The package owns connections; it routes nothing, classifies nothing (see
// outcome) and has no clocks but the one of connecting.
package vendors

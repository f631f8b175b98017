// Package stress measures what a vendor's engine does under load, and tells the
// engine from the limiter before it.
//
// Use: fill in a [Plan] and call [Run]; it returns a [Report], also when its
// context ends early. Write the report with [Report.Text], [Report.HTML],
// [Report.CSV] and [Report.HGRM], keep it with [History], hold two of them against
// each other with [Compare] and against published figures with [Publish].
//
// A run first asks for a limit, with short requests (probe.go). Where there is one
// it stops, unless it is told to go on: a ladder above a limit measures the limiter.
// Then each level of the ladder holds an occupancy (closed loop), and sends at the
// rate which that achieved as independent users would (open loop). Several vendors
// take turns in blocks, A B B A, so that the time of day favours none.
//
// Every figure's formula is in [Formulas], and is printed beside it. Latencies count
// from the moment a request was due; the time from its sending is kept beside. What
// is computed from samples is pure (stats.go, summary.go, degradation.go, limiter.go);
// whatever touches the network is in ask.go, block.go and probe.go.
//
// It goes straight to the vendor, with the vendor's keys, and not through the
// gateway. It is no benchmark of models' quality, and it rotates keys only where it
// is told to: the answer to a limit is to ask for a higher one.
package stress

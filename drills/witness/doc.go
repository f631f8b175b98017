// Package witness is an observer apart: it sends a few marked requests a second
// through a gateway, as a client would, and keeps a log of its own, by its own
// clock. From the log it says when service without a vendor began, which a drill
// then prints beside its own figure. Nothing of it knows an engine.
//
// Use, to observe: fill in a [Witness] and let its Run run until its context ends.
//
//	w := witness.Witness{URL: "http://127.0.0.1:8080/v1", RPS: 2, Log: file}
//	summary, err := w.Run(ctx)
//
// Use, in a drill: [Judge] reads the log and fills in the report's part, the
// witness's cutover and its difference from the drill's.
//
// The log is JSON lines, each written at once and never changed: one when a
// request is sent, one with all of it when it has ended, so that a log that is
// read meanwhile, or that a killed process left, shows what was under way.
//
// # Cutover
//
// The witness's cutover is the earliest moment from which on, for the whole hold,
// every request was answered well by another vendor than the one that was cut.
// What speaks against a moment:
//   - a request that failed, until it failed
//   - one whose first token came later than the limit, until it ended
//   - one that was answered by the vendor, or only after more than one attempt (the
//     first went to the vendor), until the next request was sent
//
// Of an ejected vendor the engine tries one live request every 10 s, and that may
// be the witness's. A request that needed a second attempt and stands alone by 8 s
// on both sides is taken for such a trial, unless it is the first that was hit.
//
// At two requests a second its figure is no finer than half a second. Its times
// are wall times of this machine: a log from another one is as good as their clocks
// agree.
package witness

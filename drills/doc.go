// Package drills rehearses losing a vendor: it injects a fault into the path to
// it, times how long baton takes to serve well without it, and keeps the
// evidence.
//
// Use: make a [Machine], let its Run run, and pass it commands with Do and
// questions with Ask. It runs one drill at a time. It steers through a
// control.Control, as a person would, and judges from what clients got and
// vendors were asked (control.Tally) and from the journal, never from what the
// drill hoped. It sees nothing else of the engine, so that it can run against
// one elsewhere. Every moment is the engine's own stamp: T0 is that of the
// journal's entry of the fault.
//
// The cutover is the latest of three moments, counted from T0:
//
//	detected   the vendor was ejected or disabled, its weight fell clearly, or a
//	           person acted (moved weights, drained it)
//	shifted    it got under 1 % of the attempts begun, over at least a second
//	           and at least 20 attempts; trials and probes apart
//	verified   the start of the first window of drill.hold, sliding by a second,
//	           in which clients were served well and often enough
//
// How a drill ends:
//
//	passed        the cutover was proven within every bound
//	failed        it was proven too late, or not at all in the time it had, or
//	              cost clients more than the scenario allows
//	inconclusive  too few requests, or a fault that ended before the target
//	              with nothing proven
//	aborted       somebody or a stop condition ended it, or baton crashed
//	refused       nobody else may take traffic: no fault was injected
//
// A verdict is given at the cutover, while the fault is still in: only an abort
// or a stop condition can change it after that. Failback is judged apart.
//
// A kill is refused only when nobody else may take traffic. A vendor that is
// ejected, drained or disabled already can be killed, but there is nothing to
// measure: the verdict is inconclusive at once, and the fault stays until it is
// restored. One that gets no attempt, at weight 0 say, is inconclusive at the
// end. In manual failover an ejection is an alarm and counts as detected; the
// clock then waits for people to move the traffic. When the target has passed
// the clock runs on, the reason says what is missing, and whatever comes the
// drill has failed.
//
// The fault has a hard expiry of its own. Whatever ends a drill restores.
package drills

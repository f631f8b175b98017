// Package drills rehearses losing a vendor: it injects a fault into the path to
// it, times how long baton takes to serve well without it, and keeps the
// evidence.
//
// Use: make a [Machine], let its Run run, and pass it commands with Do and
// questions with Ask. It runs one drill at a time, opens a record for every outage
// that nobody ordered, and keeps the schedule. It steers through a control.Control,
// as a person would, and judges from what clients got and vendors were asked
// (control.Tally) and from the journal, never from what the drill hoped. It sees
// nothing else of the engine, so that it can run against one elsewhere. Every moment
// is the engine's own stamp: T0 is that of the journal's entry of the fault.
//
// A scenario ([Parse], [Builtin], [Own]) says whom it hits, with what, and what it
// asks for: good service without the vendor (cutover), although it is half broken
// (contained), or after it (recovered). docs/drills.md has the phases, verdicts and
// formulas.
//
// Files by role: scenario*, library and explain are what can be run; preflight and
// steady what comes before T0; run and steps the loop; counts, phases, judge and
// interval the measuring; restore what comes after; external, checklist and state
// what people see and do; incident, watch and schedule what begins by itself; record,
// report, compare, freshness and markdown the evidence.
//
// A verdict is given at the proof, while the fault is still in: only an abort or a
// stop condition can change it after that. Failback is judged apart. When the
// target has passed the clock runs on, the reason says what is missing, and whatever
// comes the drill has failed.
//
// The fault has a hard expiry of its own, and is a lease: whoever injects it for the
// machine asks Alive whether to renew it. Whatever ends a drill restores.
//
// What it is not: it injects nothing by itself and knows no vendor.
package drills

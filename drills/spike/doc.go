// Package spike sends a load spike through a gateway and says what became of it:
// requests at a base rate, within one arrival at a peak that may be 400 times
// that, and back.
//
// Use: fill in a Plan and call Run; it reports each second as it ends, and gives
// the Result after the recovery.
//
// The load is open loop with Poisson arrivals: a request is due when the plan
// says so, whatever became of those before it, and its first token counts from
// then. A request is
//
//	admitted   answered whole
//	limited    refused with 429 and Retry-After: the gateway's admission
//	shed       refused with 503 and Retry-After: no vendor could take it
//	failed     anything else
//	dropped    not sent, because the generator had too many under way: the
//	           client was the limit, and the result says so
//
// Goodput is the part of the requests due in a second, or any span, that were
// admitted. The time to recover is counted from the step back to the base rate
// until the start of the first 30 s (Plan.Proof) whose goodput is at least 99 % of that
// before the spike. Where there is none, the bad state has outlived its trigger:
// metastable.
//
// What it is not: it knows no vendor and injects no fault. Only one may run in a
// process while processor time is measured by part, see package cpu.
package spike

// Package hidden re-enacts the hidden limiter over real sockets: a vendor that keeps what is over 20
// requests/s waiting and says nothing, in front of an elastic one that takes what overflows; gamma
// arrivals (CV 1.5), the simulator's profiles "limited" in the mode "queue" and "elastic".
//
// One client fails over on 429 only, as most do. The other one is the gateway, which is told nothing: its
// admission keeps the queue at the vendor short, its limiter finds the limit where refusals or a queue
// show it, and the overflow goes elsewhere at once. It runs in about 40 s; the whole table,
// six rates and both modes of the limiter, with what the gateway learned, takes twelve minutes (one row: Table/queue_25):
//
//	BATON_HIDDEN=table go test -v -run Table ./engine/gateway/hidden
//
// The package holds tests only. The claim (P99 about 4.9 s without, under 0.8 s with) is asserted by the
// table; the short test asks for less, because it also runs on slow machines.
package hidden

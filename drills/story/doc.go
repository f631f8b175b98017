// Package story re-enacts, in about five minutes and for people who watch, why a
// team put two vendors behind one gateway: an ablation in six acts, each of
// which is measured while it runs.
//
//	1  one GPU behind a plain server, ten times its traffic
//	2  the same, quantized
//	3  one pool with a professional inference engine
//	4  a vendor behind a silent limit of 20 requests/s
//	5  that vendor and an elastic one, driven by baton
//	6  the primary is killed
//
// Use: Run plays it on a Stage, which starts simulated vendors and an engine; it
// reports what happens as a Scene, and gives the Report at the end. Before the
// first act it measures the machine: where that cannot keep a vendor's own
// times, the figures measure the machine, and the report says so.
//
// Every figure is of requests over real loopback sockets, counted from when each
// was due. Acts 1 to 3 have 500 users, each of whom thinks for 30 s (mean of an
// exponential) between two questions; acts 4 to 6 have independent arrivals. In
// a closed loop without think time the same GPU has a P99 of 33 s: the load is
// said beside every figure. The vendors are models, not measurements of anybody.
package story

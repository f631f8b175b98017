// Package surge drives the real gateway over real sockets into more work than
// its simulated vendors can do, and holds what comes out against what they can.
//
// Use: go test -v ./engine/gateway/surge; BATON_SURGE=strict holds it to what a quiet
// machine shows. TestFake is the same without sockets and in fake time.
//
// The vendors are pools with places and a line in front of them (profile
// vllm-pool), which refuse nothing: without admission their lines grow past every
// timeout. What they can do is measured first, directly, so that a slow machine
// is held to what it can do. Rates are low on purpose: it is not a test of speed.
package surge

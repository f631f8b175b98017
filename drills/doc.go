// Package drills rehearses losing a vendor: it injects a fault into the path to
// it, times how long baton takes to serve well without it, and keeps the
// evidence.
//
// A [Machine] runs one drill at a time. It steers through a control.Control,
// as a person would, and judges from what clients got and vendors were asked
// (control.Tally), never from what the drill hoped. It sees nothing else of the
// engine, so that it can run against one elsewhere.
//
// The cutover is the latest of three moments, counted from the fault (T0):
// detected, shifted, and the start of the first window of good service.
//
// The fault has a hard expiry of its own. Whatever ends a drill restores.
package drills

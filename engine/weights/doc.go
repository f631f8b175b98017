// Package weights is baton's control law: it turns what was measured at each vendor into the percent of all
// traffic that each vendor carries, splits that between the lanes, and picks a vendor per request.
//
// Use it in three steps:
//
//  1. New(Default()), then Tick once a second with one Measure per vendor. The Decision holds the weights,
//     where they are going, and why. Drop zeroes a vendor between ticks, because an ejection must not wait.
//  2. Split the weights into one set of fractions for interactive and one for batch requests.
//  3. One Picker per lane spreads single requests exactly along those fractions.
//
// The law is slow on purpose. Load moves latency, so a controller that follows latency quickly swings between
// vendors; this one moves with a time constant of 20 s, ignores differences under 5 points, and lets a vendor
// turn round only after a hold that doubles with every turn. Health (package health) is fast and discrete and
// acts through State; measured limits (package limit) act through Cap.
//
// Two memories keep it from repeating itself. A vendor that was overloaded is trusted with 92 % of what it then
// completed for ten minutes (longer each time), and is tested again slowly; until then it counts as not well, so
// bands give way to floors. A vendor that was beyond the absolute target for a minute sinks to its floor while
// another one is within it and has room, and comes back slowly once it has been within it for a minute.
//
// Every constant is in Params, and the simulator in the tests prints what they are worth:
//
//	go test -run Simulation -v ./engine/weights
//
// Weights are fractions here, 0 to 1; percents are for people. Everything is a pure function of the state, the
// measures and the given time: no clock, no lock, no goroutine, no logging. The caller owns a Law and
// serialises its calls; a Picker is small enough to sit under the caller's own lock.
//
// It does not decide health, does not learn limits, and does not know what a request is.
package weights

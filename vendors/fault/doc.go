// Package fault fails the path to a vendor on command, beneath the router: the
// router is never told and has to notice. What it sees is what a real failure
// looks like, down to the types of the errors.
//
//	router
//	   │
//	 Wrap ── a RoundTripper: chooses the attempts that are struck (percent, ramp, lane)
//	   │
//	http.Transport
//	   │
//	 Dial ── keeps the open connections, to reset them where a fault cuts
//	   │
//	vendor
//
// Use: take the vendor's [Point] from a [Set]; put [Point.Wrap] around the
// transport and [Point.Dial] around its dialer, once; [Parse] what people ask
// for into a [Spec]; [Point.Inject] it. The [Lease] that comes back ends by
// itself after Spec.For, at Release, when it is not renewed (see
// [Lease.Renew]), or with the process: a fault lives in memory alone and no
// crash leaves one behind. A point has one fault at a time.
//
// Every method may be called from any goroutine. While no fault is in force
// Wrap costs one atomic load. A lease owns its timer and its random numbers; a
// point owns its connections' list and calls the OnChange hooks outside of its
// locks, at every injection and at every end.
//
// A kind of fault is a file of its own with a type of one method, strike; a new
// one is that file and a line in the table of kinds in spec.go. The simplest
// lets everything pass:
//
//	type nothing struct{}
//
//	func (nothing) strike(a *attempt) (*http.Response, error) { return a.pass() }
//
// Percent, ramp, lane and time belong to the point and are no kind's business.
// The package is no network emulator (it drops no packets) and knows neither
// engine nor configuration.
package fault

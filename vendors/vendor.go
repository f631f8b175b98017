package vendors

import (
	"net/http"
	"sync/atomic"
	"time"

	"baton/engine/outcome"
)

// Vendor is the way to one vendor. Its exported fields are never changed.
type Vendor struct {
	Name      string
	Dialect   *outcome.Dialect
	Resume    bool // may continue an interrupted answer from a prefill
	Keys      *Keys
	Simulated bool

	base    base
	prefill base // where continuations go
	probe   string
	timeout time.Duration // of connecting
	link    *link
	kept    atomic.Bool // a later set has taken the link over
}

// connect gives the vendor its connections: those of the set before where address
// and timeout are the same.
func (v *Vendor) connect(o Options) {
	old := o.Before.Vendor(v.Name)
	point := o.Faults.Point(v.Name)
	if old != nil && old.base.origin() == v.base.origin() && old.timeout == v.timeout && old.link.point == point {
		old.kept.Store(true)
		v.link = old.link
		return
	}
	v.link = newLink(v.base, v.timeout, point)
}

// RoundTrip sends r, made by NewRequest, and returns the vendor's answer with its
// body yet to be read and closed. Errors are the transport's own (see NothingSent),
// those of faults as well; a cancelled request's is its context's cause.
func (v *Vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	return v.link.trip.RoundTrip(r)
}

// CloseIdle closes the connections that no request uses.
func (v *Vendor) CloseIdle() { v.link.transport.CloseIdleConnections() }

// BaseURL returns the vendor's address without its query, for people.
func (v *Vendor) BaseURL() string { return v.base.origin() + v.base.path }

package fault

import (
	"context"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"
)

// failure is what a kind of fault does to an attempt chosen for it. Like any
// RoundTripper it sees to it that the request's body is closed.
type failure interface {
	strike(a *attempt) (*http.Response, error)
}

// attempt is a request that a fault was chosen for.
type attempt struct {
	request *http.Request
	next    http.RoundTripper
	lease   *Lease
}

// pass sends the request on to the vendor.
func (a *attempt) pass() (*http.Response, error) { return a.next.RoundTrip(a.request) }

// fail ends the attempt with err before anything was sent.
func (a *attempt) fail(err error) (*http.Response, error) {
	a.closeBody()
	return nil, err
}

func (a *attempt) closeBody() {
	if a.request.Body != nil {
		_ = a.request.Body.Close()
	}
}

// host and addr are what a dial for the request would dial.
func (a *attempt) host() string { return a.request.URL.Hostname() }

func (a *attempt) addr() net.Addr {
	port, _ := strconv.ParseUint(a.request.URL.Port(), 10, 16)
	if port == 0 {
		port = 80
		if a.request.URL.Scheme == "https" {
			port = 443
		}
	}
	if ip, err := netip.ParseAddr(a.host()); err == nil {
		return net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, uint16(port)))
	}
	if last := a.lease.point.remote.Load(); last != nil { // where the name led the last time
		return last
	}
	return name(net.JoinHostPort(a.host(), strconv.FormatUint(port, 10)))
}

// name is the address of a host that was never resolved.
type name string

func (name) Network() string  { return "tcp" }
func (n name) String() string { return string(n) }

// forever is a wait that only its interruption ends.
const forever = time.Duration(-1)

// hold waits for d, shorter if the lease ends: the fault holds nobody back then.
// Its error is the cause of ctx, or closed's.
func (l *Lease) hold(ctx context.Context, closed <-chan struct{}, d time.Duration) error {
	var over <-chan time.Time
	if d != forever {
		t := time.NewTimer(d)
		defer t.Stop()
		over = t.C
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-closed:
		return http.ErrBodyReadAfterClose
	case <-l.done:
		return nil
	case <-over:
		return nil
	}
}

// isStream says whether the answer comes as server-sent events.
func isStream(r *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

package vendors

import (
	"net"
	"net/http"
	"net/url"
	"time"

	"baton/vendors/fault"
)

const (
	idlePerHost = 512              // idle connections kept to a vendor; there is no global limit
	idleTimeout = 55 * time.Second // under the minute after which balancers close them
	maxHeader   = 1 << 20          // bytes of an answer's header
)

// link is the connections to one vendor, and the fault point on the way.
type link struct {
	transport *http.Transport
	trip      http.RoundTripper
	point     *fault.Point
	unhook    func()
}

// newLink makes the connections to b. No redirect is followed as nothing but the
// transport is in the way.
func newLink(b base, connect time.Duration, point *fault.Point) *link {
	dialer := &net.Dialer{
		Timeout: connect,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
		},
	}
	t := &http.Transport{
		Proxy:                  proxyFor(b),
		DialContext:            point.Dial(dialer.DialContext),
		TLSHandshakeTimeout:    connect,
		ForceAttemptHTTP2:      true, // over TLS only
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idlePerHost,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeader,
		// A dead HTTP/2 connection would otherwise swallow request after request.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}
	l := &link{transport: t, point: point, trip: point.Wrap(t)}
	l.unhook = point.OnChange(t.CloseIdleConnections)
	return l
}

// proxyFor returns the environment's proxy for b, asked once. A vendor on this
// machine has none.
func proxyFor(b base) func(*http.Request) (*url.URL, error) {
	if b.loopback() {
		return nil
	}
	u, err := http.ProxyFromEnvironment(&http.Request{URL: &url.URL{Scheme: b.scheme, Host: b.host}})
	if err != nil || u == nil {
		return nil
	}
	return http.ProxyURL(u)
}

func (l *link) close() {
	l.unhook()
	l.transport.CloseIdleConnections()
}

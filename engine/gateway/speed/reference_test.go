package speed

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// newReference is the proxy that baton is held against: what the standard library
// has, and no more than it takes to be a fair one. It reads a request's body whole
// before it sends it on, as a gateway that fails over must (without that,
// ReverseProxy cut some of the streams), keeps enough idle connections, and flushes
// every event. It has no routing, no measurements, no retries.
func newReference(upstream string) http.Handler {
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: upstream})
		},
		Transport:     &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true},
		FlushInterval: -1,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		proxy.ServeHTTP(w, r)
	})
}

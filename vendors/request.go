package vendors

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Body opens a request's body from its start, as often as it is called: it is what
// http.Request.GetBody is.
type Body = func() (io.ReadCloser, error)

// NewRequest makes the request that asks the vendor what a client asked of baton.
//
// path is the client's, escaped as it came; "/v1/chat/completions" becomes base_url
// + "/chat/completions". query is the client's raw query. h is the client's
// header; what PassHeader refuses is left out of it and what passes is shared with
// it, so that nobody may change h's values until the attempt has ended. body may
// be nil; n is its length in bytes, -1 if unknown. key is the vendor's, from Keys.
// Errors are a *PathError, body's own, and that of a method that is none.
func (v *Vendor) NewRequest(ctx context.Context, method, path, query string, h http.Header, body Body, n int64, key *Key) (*http.Request, error) {
	return v.request(ctx, &v.base, method, clientPath(path), query, h, body, n, key)
}

// NewContinuation is NewRequest for a request that continues an interrupted answer
// from a prefill: some vendors take those at another path.
func (v *Vendor) NewContinuation(ctx context.Context, method, path, query string, h http.Header, body Body, n int64, key *Key) (*http.Request, error) {
	return v.request(ctx, &v.prefill, method, clientPath(path), query, h, body, n, key)
}

// clientPath is a client's path without the version that base URLs bring themselves.
func clientPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "/v1"); ok && (rest == "" || rest[0] == '/') {
		return rest
	}
	return path
}

func (v *Vendor) request(ctx context.Context, b *base, method, path, query string, h http.Header, body Body, n int64, key *Key) (*http.Request, error) {
	u, err := b.join(path, query)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, method, "", nil)
	if err != nil {
		return nil, fmt.Errorf("making a request to %s: %w", v.Name, err)
	}
	r.URL, r.Host = u, u.Host
	passHeader(r.Header, h)
	if key != nil && key.auth != nil {
		r.Header[v.authHeader()] = *key.auth
	}
	if body == nil || n == 0 {
		return r, nil
	}
	if r.Body, err = body(); err != nil {
		return nil, fmt.Errorf("opening the body of a request to %s: %w", v.Name, err)
	}
	r.GetBody, r.ContentLength = body, n
	return r, nil
}

// authHeader is the header that carries the vendor's key, in its canonical form.
func (v *Vendor) authHeader() string {
	return http.CanonicalHeaderKey(v.Dialect.AuthHeader)
}

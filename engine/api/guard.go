package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path"
	"strings"

	"baton/engine/control"
)

// ServeHTTP guards the calls: first against pages in a browser (a foreign Host
// is how DNS rebinding looks), then against whoever has no token.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !localHost(r.Host) {
		writeError(w, control.Errorf(control.Forbidden, "the host %q is not this machine: ask for localhost or 127.0.0.1", r.Host))
		return
	}
	if _, page := r.Header["Origin"]; page {
		writeError(w, control.Errorf(control.Forbidden, "requests from web pages are refused"))
		return
	}
	if r.URL.Path != "/healthz" && r.URL.Path != "/metrics" && !s.authorized(r) {
		writeError(w, control.Errorf(control.Denied, "a bearer token is needed: it is in control.token in the state directory"))
		return
	}
	if !s.known(r) {
		s.noCall(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// known says whether there is such a call. Paths that ServeMux would redirect
// to their clean form are none: a PUT must not get lost on the way.
func (s *server) known(r *http.Request) bool {
	_, pattern := s.mux.Handler(r)
	return pattern != "" && path.Clean(r.URL.EscapedPath()) == r.URL.EscapedPath()
}

// noCall answers for paths and methods that there are not.
func (s *server) noCall(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = m
		if s.known(probe) {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) > 0 {
		list := strings.Join(allowed, ", ")
		w.Header().Set("Allow", list)
		writeStatus(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not allowed here, only %s", r.Method, list), "", "method_not_allowed")
		return
	}
	writeStatus(w, http.StatusNotFound, fmt.Sprintf("there is no call %q", r.URL.Path), "", "not_found")
}

// authorized compares digests, so that neither the token's length nor its
// beginning shows in the time it takes. A server without a token admits nobody.
func (s *server) authorized(r *http.Request) bool {
	scheme, given, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
	same := subtle.ConstantTimeCompare(sum[:], s.token[:]) == 1
	return same && strings.EqualFold(scheme, "Bearer") && s.token != sha256.Sum256(nil)
}

// localHost says whether a Host header names this machine: localhost,
// 127.0.0.0/8 or [::1], with any port or none.
func localHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	} else if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.IsLoopback()
}

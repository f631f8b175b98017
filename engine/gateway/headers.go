package gateway

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/textproto"
	"strings"

	"baton/engine/outcome"
	"baton/vendors"
)

// Headers of baton's own, in their canonical spelling.
const (
	headerLane       = "X-Baton-Lane"
	headerNoFailover = "X-Baton-No-Failover"
	headerVendor     = "X-Baton-Vendor"
	headerAttempts   = "X-Baton-Attempts"
	headerOverhead   = "X-Baton-Overhead-Us"
	headerSimulated  = "X-Baton-Simulated"
	headerRequestID  = "X-Request-Id"
)

// notDownstream are headers of a vendor's that no client gets.
var notDownstream = map[string]bool{
	"Content-Length": true, "Set-Cookie": true, "Alt-Svc": true, "Strict-Transport-Security": true,
	"X-Request-Id": true, "Date": true, "Report-To": true, "Nel": true,
	"Openai-Organization": true, "Openai-Project": true,
}

// upstreamHeader makes a vendor's request, whose header holds what passes from the
// client's (vendors.PassHeader), complete.
func (q *request) upstreamHeader(h http.Header) {
	h[headerRequestID] = q.idHeader
	for _, name := range [...]string{"Origin", "Referer"} { // of pages; of no use to a vendor
		delete(h, name)
	}
	if q.unzipped {
		delete(h, "Content-Encoding")
	}
	// What baton reads on its way is asked for plain.
	h["Accept-Encoding"] = plainEncoding
	if q.endpoint == outcome.Other {
		delete(h, "Accept-Encoding")
		if v := readable(q.r.Header["Accept-Encoding"]); v != "" {
			h["Accept-Encoding"] = []string{v}
		}
	}
}

// readable is what a client accepts of the compressions that an error can be read in.
func readable(lines []string) string {
	var out []string
	for _, line := range lines {
		for token := range strings.SplitSeq(line, ",") {
			token = strings.TrimSpace(token)
			name, _, _ := strings.Cut(token, ";")
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "gzip", "x-gzip", "deflate", "identity":
				out = append(out, token)
			}
		}
	}
	if len(lines) > 0 && len(out) == 0 {
		return "identity"
	}
	return strings.Join(out, ", ")
}

var plainEncoding = []string{"identity"}

// passDownstream copies what passes from a vendor's answer to the client, without keys.
func passDownstream(dst, src http.Header, hide hider) {
	named := connectionTokens(src)
	for k, v := range src {
		if vendors.HopByHop(k) || notDownstream[k] || strings.HasPrefix(k, "X-Baton-") || named[k] {
			continue
		}
		dst[k] = hide.values(v)
	}
}

// values hides keys in a header's values, which are shared where there are none.
func (h hider) values(list []string) []string {
	for i, v := range list {
		clean := h.client.Hide(h.vendor.Hide(v))
		if clean == v {
			continue
		}
		out := append([]string(nil), list...)
		for j := i; j < len(out); j++ {
			out[j] = h.client.Hide(h.vendor.Hide(out[j]))
		}
		return out
	}
	return list
}

// connectionTokens are the headers that Connection names as hop-by-hop; nil for none.
func connectionTokens(h http.Header) map[string]bool {
	var named map[string]bool
	for _, line := range h["Connection"] {
		for token := range strings.SplitSeq(line, ",") {
			token = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(token))
			if token == "" || token == "Close" || token == "Keep-Alive" {
				continue
			}
			if named == nil {
				named = make(map[string]bool, 2)
			}
			named[token] = true
		}
	}
	return named
}

// requestID is the client's id of the request, or a new one. An id is kept if it
// is of 1 to 128 printable ASCII characters: it goes into logs and vendors' headers.
func requestID(h http.Header) string {
	id := h.Get(headerRequestID)
	if id != "" && len(id) <= 128 && printable(id) {
		return id
	}
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails
	var out [len("req_") + 2*len(b)]byte
	copy(out[:], "req_")
	hex.Encode(out[len("req_"):], b[:])
	return string(out[:])
}

func printable(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

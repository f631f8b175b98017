package vendors

import (
	"net/http"
	"net/textproto"
	"strings"
)

// userAgent is sent for clients that name none.
var userAgent = []string{"baton"}

// PassHeader says whether a client's header of that canonical name goes to a
// vendor. These do not: whatever carries a credential or names an account (an
// organisation that is not the key's makes a vendor refuse the key), cookies,
// hop-by-hop headers, what is computed anew, what tells of the client's network,
// and our own. Accept-Encoding stays here because answers are read on their way.
func PassHeader(name string) bool {
	switch name {
	case "Authorization", "Cookie", "Cookie2", "Api-Key", "X-Api-Key", "Openai-Organization", "Openai-Project",
		"Content-Length", "Host", "Expect", "Accept-Encoding",
		"Forwarded", "X-Real-Ip", "Via":
		return false
	}
	return !HopByHop(name) && !strings.HasPrefix(name, "X-Baton-") && !strings.HasPrefix(name, "X-Forwarded-")
}

// HopByHop says whether a header of that canonical name speaks of one connection
// only and is never passed on, in either direction (RFC 9110, 7.6.1, and what is
// in use beside it).
func HopByHop(name string) bool {
	switch name {
	case "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings":
		return true
	}
	return strings.HasPrefix(name, "Proxy-")
}

// passHeader copies from h what goes to a vendor. The values are shared.
func passHeader(to, h http.Header) {
	for name, values := range h {
		canonical := textproto.CanonicalMIMEHeaderKey(name)
		if PassHeader(canonical) {
			to[canonical] = values
		}
	}
	for _, line := range h["Connection"] { // names headers that are hop-by-hop here
		for name := range strings.SplitSeq(line, ",") {
			delete(to, textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)))
		}
	}
	if len(to["User-Agent"]) == 0 {
		to["User-Agent"] = userAgent
	}
}

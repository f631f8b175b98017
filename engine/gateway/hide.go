package gateway

import (
	"net/http"
	"strings"

	"baton/engine/outcome"
	"baton/engine/scan"
)

const (
	// keptBody is the largest body, in bytes, that is held beyond the commit point, so
	// that a message that comes later can be compared with it.
	keptBody = 16 << 10
	// comparedBody is the largest that messages are compared with.
	comparedBody = 4 << 20
)

// noMessage stands in for a message that cannot be compared with the request.
const noMessage = "the vendor's message is left out: it may repeat the request, which is no longer at hand"

// clientSecrets are the credentials that the client sent. No vendor gets them, but a
// client may have put them into its body, too.
func clientSecrets(h http.Header) outcome.Secrets {
	var texts []string
	for _, name := range [...]string{"Authorization", "Api-Key", "X-Api-Key"} {
		for _, v := range h[name] {
			if scheme, rest, ok := strings.Cut(v, " "); ok && scheme != "" {
				v = strings.TrimSpace(rest)
			}
			if len(v) >= 8 { // clients without a key send "EMPTY" and its like
				texts = append(texts, v)
			}
		}
	}
	return outcome.NewSecrets(texts...)
}

// hider hides the keys of a vendor and the client's.
type hider struct{ vendor, client outcome.Secrets }

func (a *attempt) hider() hider {
	return hider{a.vendor.Keys.Secrets(), clientSecrets(a.q.r.Header)}
}

func (h hider) text(s string) string { return h.client.HideCut(h.vendor.HideCut(s)) }

func (h hider) bytes(b []byte) []byte { return h.client.HideBytes(h.vendor.HideBytes(b)) }

// hideBodies takes keys out of what the vendor said of its failure, before anybody
// reads it: it goes into messages, to the client and into the record.
func (a *attempt) hideBodies() {
	if a.fault == nil && a.garbage == nil {
		return
	}
	h := a.hider()
	a.fault, a.garbage = h.bytes(a.fault), h.bytes(a.garbage)
}

// hideResult does so with what was read elsewhere, or was written with escapes.
func (a *attempt) hideResult() {
	h, r := a.hider(), &a.result
	r.Message, r.Reason, r.Type, r.Code, r.RequestID = h.text(r.Message), h.text(r.Reason), h.text(r.Type), h.text(r.Code), h.text(r.RequestID)
}

// messageFor is the message of a failed attempt as it may be kept: without what it
// repeats of the request. Texts of ours repeat nothing.
func (q *request) messageFor(a *attempt) string {
	m := a.result.Message
	if a.fault == nil && a.garbage == nil || m == "" {
		return m
	}
	switch {
	case q.body == nil && !q.bodyGone:
		return m // there was none
	case q.body == nil || q.body.n > comparedBody:
		return noMessage
	}
	out := noMessage
	_ = q.body.look(func(body []byte) {
		out = outcome.Unquote(m, q.mayQuote(a, body), body, q.resume.said)
	})
	return out
}

// mayQuote is what of a request a message may name: its model and its parameters.
func (q *request) mayQuote(a *attempt, body []byte) []string {
	words := []string{q.model, q.modelAt(a.vendor)}
	if q.endpoint == outcome.Other {
		return words
	}
	_ = scan.Object(body, func(key, _ []byte, _ int) bool {
		if len(key) <= 64 {
			words = append(words, string(key))
		}
		return len(words) < 100
	})
	return words
}

package gateway

import (
	"net/http"
	"strings"
	"time"

	"baton/engine/ledger"
	"baton/engine/outcome"
)

// enter gives the attempt, which has ended, to the ledger. It allocates nothing.
func (a *attempt) enter() {
	q := a.q
	if q.g.ledger == nil {
		return
	}
	res, now := &a.result, time.Now()
	a.entry = ledger.Attempt{
		Ended: now, Request: q.id, N: q.attempts, Vendor: a.vendor.Name, Model: q.model, At: q.modelAt(a.vendor), Lane: q.lane, Client: q.client,
		Endpoint: q.ledgerName(), Stream: q.stream, Trial: a.lease.Trial, Outcome: res.Outcome.String(), Reason: res.Reason, Status: res.Status,
		VendorID: res.RequestID, Took: now.Sub(a.begun), FirstToken: a.firstAfter,
	}
	a.tokens(&a.entry)
	q.g.ledger(&a.entry)
}

// enterUnasked gives a request that no vendor was asked to the ledger.
func (q *request) enterUnasked(o outcome.Outcome) {
	if q.g.ledger == nil || q.attempts > 0 {
		return
	}
	q.g.ledger(&ledger.Attempt{
		Ended: time.Now(), Request: q.id, Model: q.model, Lane: q.lane, Client: q.client, Endpoint: q.ledgerName(), Outcome: o.String(), Took: time.Since(q.arrived),
	})
}

// ledgerName is the endpoint for the ledger; those that baton does not know are
// one, because their paths hold ids.
func (q *request) ledgerName() string {
	if q.endpoint == outcome.Other {
		return "other"
	}
	return q.endpoint.Path()
}

// tokens says what the attempt used. The vendor's word counts where it had come to
// its end. Where an answer broke off, or the client left, or one of our clocks
// ended the wait, the vendor has read the question and may bill it and what it had
// said, and nobody knows: that is estimated. What a vendor refused used nothing.
func (a *attempt) tokens(e *ledger.Attempt) {
	q, u := a.q, &a.usage
	broken := q.stream && a.finish == "" && !a.complete
	switch {
	case u.Has && !broken:
		e.Input, e.Cached, e.Output, e.Reasoning = u.Input, u.Cached, u.Output, u.Reasoning
		if q.stream && a.result.Outcome == outcome.OK {
			e.ExpectedIn, e.ExpectedOut = q.text.Tokens(), a.said.Tokens()
		}
	case q.endpoint == outcome.Other || !a.used():
	default:
		e.Estimated = true
		a.listen()
		e.Input, e.Cached, e.Output, e.Reasoning = max(u.Input, q.text.Tokens()), u.Cached, max(u.Output, a.said.Tokens()), u.Reasoning
	}
}

// used says whether the vendor worked on the request as far as is known.
func (a *attempt) used() bool {
	switch {
	case a.answer == nil:
		return a.connected && (a.result.Outcome == outcome.ClientCancel || a.result.Clock != outcome.NoClock || a.result.Reason == "drained")
	case a.answer.StatusCode < 200 || a.answer.StatusCode >= 300:
		return false
	}
	return a.first || a.fault == nil && a.garbage == nil
}

// listen counts the text of an answer that was not streamed.
func (a *attempt) listen() {
	if a.q.stream || a.whole == nil || a.q.endpoint == outcome.Embeddings {
		return
	}
	_ = a.whole.look(func(b []byte) { a.said.JSON(b) }) // unread, it is none
}

// hear counts the text of an event.
func (a *attempt) hear(c *outcome.ChunkInfo) {
	switch {
	case !c.Meaningful:
	case len(c.Content) > 2:
		a.said.Inside(c.Content[1 : len(c.Content)-1])
	default:
		a.said.Narrow += 3 // a tool call's piece, about a token
	}
}

// usageMax is how much of an answer that passes through is kept to look for usage.
const usageMax = 1 << 20

// usageIn finds the usage of an answer of an endpoint that baton does not know.
func (a *attempt) usageIn(body []byte) {
	if a.complete && len(body) > 0 {
		a.usage = outcome.Whole(outcome.Other, body).Usage
	}
}

// maySayUsage says whether an answer that passes through can hold usage.
func maySayUsage(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "application/json") && h.Get("Content-Encoding") == ""
}

// enterProbe gives a probe to the ledger: it costs nothing, and is counted.
func (g *Gateway) enterProbe(vendor string, begun time.Time, err error) {
	if g.ledger == nil {
		return
	}
	now := time.Now()
	e := ledger.Attempt{Ended: now, N: 1, Vendor: vendor, Source: ledger.Probe, Outcome: outcome.OK.String(), Took: now.Sub(begun)}
	if err != nil {
		e.Outcome = outcome.VendorFault.String()
	}
	g.ledger(&e)
}

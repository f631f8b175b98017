package gateway

import (
	"net/http"
	"strconv"

	"baton/engine/outcome"
	"baton/engine/scan"
	"baton/engine/sse"
)

// refused is what a vendor said about a request that is the client's to know.
type refused struct {
	status int // 0: nothing
	header http.Header
	body   []byte
	vendor string
	result outcome.Result
	hide   hider
	unread bool // the body could not be read
}

// keep keeps the refusal that an attempt ended with.
func (r *refused) keep(a *attempt) {
	if a.answer == nil || a.result.Status < 400 {
		*r = refused{}
		return
	}
	*r = refused{status: a.result.Status, header: a.answer.Header, body: a.fault, vendor: a.vendor.Name, result: a.result, hide: a.hider(), unread: a.unread != ""}
	if a.answer.StatusCode < 300 { // an error inside an answer: its headers are the answer's
		r.header = http.Header{"Content-Type": {"application/json"}}
	}
}

// passRefusal answers with a vendor's refusal: byte for byte when it is in OpenAI's
// shape, but for keys, else put into that shape.
func (q *request) passRefusal() outcome.Outcome {
	r := &q.refused
	h := q.w.Header()
	passDownstream(h, r.header, r.hide)
	h[headerVendor] = []string{r.vendor}
	body := r.body
	if r.unread || r.hide.vendor.Escaped(body) || r.hide.client.Escaped(body) || q.endpoint != outcome.Other && !inShape(body) {
		delete(h, "Content-Encoding")
		typ := r.result.Type
		if typ == "" {
			typ = "invalid_request_error"
		}
		body = sse.ErrorBody(r.result.Message, typ, r.result.Code)
		h["Content-Type"] = []string{"application/json"}
	}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	q.w.WriteHeader(r.status)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write(body)
	}
	if r.result.Outcome == outcome.ConfigFault && r.result.Class != outcome.BadPath && q.st.models[q.model] == nil {
		return outcome.ClientFault // the configuration does not say that there is such a model
	}
	return r.result.Outcome
}

// inShape says whether a body is an error in OpenAI's shape.
func inShape(body []byte) bool {
	if !scan.Valid(body) {
		return false
	}
	message := scan.Get(body, "error", "message")
	return len(message) > 0 && message[0] == '"'
}

package outcome

import "baton/engine/scan"

// Endpoint is what was asked of a vendor, as far as the shape of a good answer differs.
type Endpoint uint8

// The endpoints. Other is whatever is passed through: any answer is whole.
const (
	Other Endpoint = iota
	Chat
	Completions
	Embeddings
	Responses
)

var endpointPaths = [...]string{"", "/chat/completions", "/completions", "/embeddings", "/responses"}

// Path returns the endpoint's path beneath the base URL, empty for Other.
func (e Endpoint) Path() string {
	if int(e) < len(endpointPaths) {
		return endpointPaths[e]
	}
	return ""
}

// WholeInfo is what a whole answer says.
type WholeInfo struct {
	// OK: a success of the right shape.
	OK bool
	// Reason says what is missing when it is not: "not_json", "no_finish_reason", "finish_aborted"
	// and its like, "no_data", "no_status", "no_output", "response_failed", "error".
	Reason string
	// Error: there is an error object in it.
	Error      bool
	Finish     Finish
	FinishWord []byte
	Usage      Usage
}

// Whole judges the body of an answer that came with a good status and all of whose
// bytes are there. It does not allocate.
func Whole(e Endpoint, body []byte) WholeInfo {
	if e == Other {
		return wholeOther(body)
	}
	r, c := reader{cur: scan.NewCursor(body)}, ChunkInfo{}
	if !r.cur.Enter('{') {
		return WholeInfo{Reason: "not_json"}
	}
	r.root(&c)
	if !r.cur.End() {
		return WholeInfo{Reason: "not_json"}
	}
	r.conclude(&c)
	w := WholeInfo{Error: c.Error, Finish: c.Finish, FinishWord: c.FinishWord, Usage: c.Usage}
	if c.Error {
		w.Reason = "error"
		return w
	}
	switch e {
	case Embeddings:
		w.need(r.data && r.rows > 0, "no_data")
	case Responses:
		r.response(&w)
	default:
		if w.Finish.Bad() {
			w.Reason = w.Finish.fault()
			return w
		}
		// Fewer choices than were asked for are the vendor's affair; each has to be whole.
		w.need(c.Choices > 0 && w.Finish.Good() && c.Heard.Without(c.Ended) == Choices{}, "no_finish_reason")
	}
	return w
}

func (w *WholeInfo) need(ok bool, otherwise string) {
	if w.OK = ok; !ok {
		w.Reason = otherwise
	}
}

// response judges an object of the Responses API by its status. One that runs in
// the background is a good answer too.
func (r *reader) response(w *WholeInfo) {
	switch string(r.status) {
	case "completed":
		w.Finish = FinishStop
	case "incomplete":
		w.Finish = FinishLength
		if string(r.why) == "content_filter" {
			w.Finish = FinishFilter
		}
	case "queued", "in_progress":
	case "failed", "cancelled":
		w.Reason = "response_failed"
		return
	default:
		w.Reason = "no_status"
		return
	}
	w.need(r.hasOutput || len(r.why) > 0 || string(r.status) != "completed", "no_output")
}

// wholeOther reads usage if there is some; a body that is no JSON may be a file.
func wholeOther(body []byte) WholeInfo {
	w := WholeInfo{OK: true}
	if c, ok := Chunk(body); ok {
		w.Usage, w.Error = c.Usage, c.Error
	}
	return w
}

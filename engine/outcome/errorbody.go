package outcome

import (
	"bytes"
	"strings"

	"baton/engine/scan"
)

// refusal is what an error's body says, whatever its shape.
type refusal struct {
	message, typ, code string
	param              string
	requestID          string
	status             int  // an HTTP status that stands in the body
	html               bool // a page, from something in front of the vendor
	empty              bool
	found              bool // there was an error in it: an object, a flat one, a string
}

// ReadError returns what a vendor's error says, for a client whose fault it is: whole,
// but without keys. inShape: the body is in OpenAI's shape already and may be passed
// on byte for byte, if it is not compressed.
func ReadError(body []byte) (message, typ, code string, inShape bool) {
	e := readRefusal(body)
	inShape = scan.Valid(body) && len(scan.Get(body, "error", "message")) > 0 && scan.Get(body, "error", "message")[0] == '"'
	return secrets(e.message), e.typ, e.code, inShape
}

// maxBody is as much of an error's body as is looked at.
const maxBody = 64 << 10

// readRefusal reads the body of an error: OpenAI's object, flat ones, a bare JSON
// string, FastAPI's detail, a list of errors, any of these behind "data: " and other
// lines of an event, a page, or plain text.
func readRefusal(body []byte) refusal {
	if len(body) > maxBody {
		body = body[:maxBody]
	}
	b := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(body), []byte("\xef\xbb\xbf")))
	b = unframed(b)
	if len(b) == 0 {
		return refusal{empty: true}
	}
	var r refusal
	switch b[0] {
	case '{', '[':
		if scan.Valid(b) {
			r.value(b, 0)
			return r
		}
	case '"':
		if s, err := scan.String(b); err == nil && scan.Valid(b) {
			return refusal{message: s, found: true}
		}
	case '<':
		return refusal{message: title(b), html: true}
	}
	r.message = strings.ToValidUTF8(string(b), "\uFFFD")
	return r
}

// unframed takes the data out of a body that is an event: Bailian answers a stream's
// request with a 400 whose body is data: {"error":...}.
func unframed(b []byte) []byte {
	event := false
	for _, field := range []string{"data:", "event:", "id:", ":", "retry:"} {
		event = event || bytes.HasPrefix(b, []byte(field))
	}
	if !event {
		return b
	}
	var data []byte
	for line := range bytes.Lines(b) {
		if v, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok && len(data) == 0 {
			data = bytes.TrimSpace(v)
		}
	}
	return data
}

// value reads an error's JSON, at most a few levels deep.
func (r *refusal) value(b []byte, depth int) {
	if depth > 3 {
		return
	}
	c := scan.NewCursor(b)
	if c.Enter('[') {
		if c.More() {
			r.value(c.Skip(), depth+1)
		}
		return
	}
	if c.Peek() == '"' {
		r.found = true
		put(&r.message, text(c.Skip()))
		return
	}
	// What is inside says more than what is around it, wherever it stands.
	_ = scan.Object(b, func(key, v []byte, _ int) bool {
		r.inside(string(key), v, depth)
		return true
	})
	var id string
	_ = scan.Object(b, func(key, v []byte, _ int) bool {
		if string(key) == "id" {
			id = text(v)
		}
		r.member(string(key), v)
		return true
	})
	put(&r.requestID, id)
}

func (r *refusal) inside(key string, v []byte, depth int) {
	switch key {
	case "error":
		if isError(v) {
			r.found = true
			r.value(v, depth+1)
		}
	case "errors", "detail", "response":
		if v[0] == '{' || v[0] == '[' || key == "detail" {
			r.value(v, depth+1)
		}
	}
}

func (r *refusal) member(key string, v []byte) {
	switch key {
	case "message", "msg", "error_msg", "error_message":
		put(&r.message, text(v))
		r.found = r.found || r.message != ""
	case "code", "error_code":
		r.setCode(text(v))
	case "status", "status_code", "http_code":
		if n := number(v); n >= 400 && n < 600 && r.status == 0 {
			r.status = n
		}
	case "type", "error_type":
		if t := text(v); t != "error" && !strings.HasPrefix(t, "response.") {
			put(&r.typ, t)
		}
	case "param":
		put(&r.param, text(v))
	case "request_id", "requestId", "RequestId":
		put(&r.requestID, text(v))
	}
}

func (r *refusal) setCode(s string) {
	if n := number([]byte(s)); n >= 400 && n < 600 && r.status == 0 {
		r.status = n
	}
	put(&r.code, s)
}

// put keeps the first value that is something.
func put(field *string, s string) {
	if *field == "" {
		*field = s
	}
}

// text is a string's value, a number's digits, and nothing for the rest.
func text(v []byte) string {
	switch {
	case len(v) == 0:
		return ""
	case v[0] == '"':
		s, err := scan.String(v)
		if err != nil {
			return ""
		}
		return s
	case v[0] == '-' || v[0] >= '0' && v[0] <= '9':
		return string(v)
	}
	return ""
}

// title is what a page calls itself.
func title(b []byte) string {
	lower := bytes.ToLower(b)
	from := bytes.Index(lower, []byte("<title"))
	if from < 0 || len(lower) != len(b) {
		return "a page of HTML instead of an answer"
	}
	open := bytes.IndexByte(b[from:], '>')
	if open < 0 {
		return "a page of HTML instead of an answer"
	}
	rest := b[from+open+1:]
	if end := bytes.IndexByte(rest, '<'); end >= 0 {
		rest = rest[:end]
	}
	return "a page of HTML: " + strings.ToValidUTF8(strings.TrimSpace(string(rest)), "\uFFFD")
}

// idIn finds a request id inside a message: "Request ID: x", "(request_id: x)", "request id x".
func idIn(message string) string {
	lower := strings.ToLower(message)
	if len(lower) != len(message) {
		return ""
	}
	for _, word := range []string{"request_id", "request id", "requestid", "request-id"} {
		i := strings.Index(lower, word)
		if i < 0 {
			continue
		}
		rest := strings.TrimLeft(message[i+len(word):], " :=\"'`")
		n := strings.IndexFunc(rest, func(c rune) bool {
			return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_'
		})
		if n < 0 {
			n = len(rest)
		}
		if n >= 6 {
			return rest[:n]
		}
	}
	return ""
}

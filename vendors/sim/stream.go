package sim

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
)

// sse frames and writes server-sent events, with a fault's oddities in how they are spelled.
type sse struct {
	w     io.Writer
	rc    *http.ResponseController
	gz    *gzip.Writer // nil unless the answer is compressed
	q     *quirk
	typed bool // events carry a name and a type, as those of responses
	buf   []byte
	sent  int // events framed, the end mark too
	err   error
}

// event frames one event; name is for events that carry one, else "".
func (s *sse) event(name string, payload []byte) {
	if s.q.garbageAt > 0 && s.sent == s.q.garbageAt-1 {
		s.sent++
		s.frame("", []byte(`{"choices":[{"index":0,"delta":{"content":`))
	}
	s.sent++
	s.frame(name, payload)
}

func (s *sse) frame(name string, payload []byte) {
	eol := or(s.q.eol, "\n")
	if s.q.dashscope {
		s.buf = append(s.buf, "id:"...)
		s.buf = strconv.AppendInt(s.buf, int64(s.sent), 10)
		s.buf = append(append(append(s.buf, eol...), "event:result"...), eol...)
		s.buf = append(append(s.buf, ":HTTP_STATUS/200"...), eol...)
	}
	if name != "" {
		s.buf = append(append(append(s.buf, "event: "...), name...), eol...)
	}
	data := "data: "
	if s.q.noSpace {
		data = "data:"
	}
	s.buf = append(s.buf, data...)
	// A line may break where JSON allows white space: after an object's first comma, which is in no string.
	if cut := bytes.IndexByte(payload, ',') + 1; s.q.multiLine && cut > 0 {
		s.buf = append(append(append(s.buf, payload[:cut]...), eol...), data...)
		payload = payload[cut:]
	}
	s.buf = append(append(append(s.buf, payload...), eol...), eol...)
}

// done frames the end mark, which typed events have no need of.
func (s *sse) done() {
	if !s.typed {
		s.event("", []byte("[DONE]"))
	}
}

// fail frames an error in the middle of a stream.
func (s *sse) fail() {
	if s.typed {
		s.event("error", []byte(`{"type":"error","sequence_number":99,"code":"server_error","message":"The server had an error while generating the answer.","param":null}`))
		return
	}
	s.event("", streamError)
}

// comment frames a comment line, which is no event.
func (s *sse) comment(text string) {
	eol := or(s.q.eol, "\n")
	s.buf = append(append(append(append(s.buf, ": "...), text...), eol...), eol...)
}

// flush sends what was framed; false when the client is gone.
func (s *sse) flush() bool {
	if s.err != nil {
		return false
	}
	if s.q.splitWrites {
		s.flushSplit()
	} else {
		s.write(s.buf)
	}
	s.buf = s.buf[:0]
	return s.err == nil
}

// flushSplit sends pieces of seven bytes, so that lines and multi-byte characters arrive torn.
func (s *sse) flushSplit() {
	for piece := range chunks(s.buf, 7) {
		s.write(piece)
	}
}

func chunks(b []byte, n int) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(b) > n {
			if !yield(b[:n]) {
				return
			}
			b = b[n:]
		}
		yield(b)
	}
}

func (s *sse) write(b []byte) {
	if s.err != nil {
		return
	}
	if s.gz != nil {
		_, s.err = s.gz.Write(b)
		if s.err == nil {
			s.err = s.gz.Flush()
		}
	} else {
		_, s.err = s.w.Write(b)
	}
	if s.err == nil {
		s.err = s.rc.Flush()
	}
}

// finish ends a compressed answer; false when the client is gone.
func (s *sse) finish() bool {
	if s.gz == nil {
		return true
	}
	return s.gz.Close() == nil && s.rc.Flush() == nil
}

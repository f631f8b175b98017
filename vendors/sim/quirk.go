package sim

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"time"
)

// quirk is what is odd about an answer. The zero value is a well one. Durations are before scaling.
type quirk struct {
	headersFirst bool          // headers at once instead of with the first token
	firstDelay   time.Duration // added to the first token
	keepAlive    time.Duration // a comment this often until the first token
	slow         time.Duration // pace, in place of the options'

	stop      stopKind // breaks the answer off
	stopAfter int      // after this many words; 0: after the opening; -1: before any event
	silence   time.Duration
	finish    string // finish reason after stopAfter words

	garbageAt int // this event, counted from 1, is not JSON
	reasoning int // deltas of reasoning before the words
	padding   int // bytes of padding in one event

	noDone, nullRole, stringNull, usageEvery, emptyFirst bool

	eol                                        string // "\n" unless set
	noSpace, multiLine, splitWrites, dashscope bool
	gzip                                       bool

	rawWhole  string // a whole answer is this instead
	shortBody int    // bytes by which Content-Length is too large, whole
	blankPad  int    // blank lines before a whole answer's JSON
}

var well quirk

type stopKind int

const (
	stopNone      stopKind = iota
	stopCut                // closed without the end of the body
	stopReset              // RST
	stopSilent             // silence, then closed as by stopCut
	stopEnd                // a clean end of the body
	stopDone               // [DONE] and a clean end
	stopError              // an error event and a clean end
	stopErrorDone          // an error event, [DONE], a clean end
)

var streamError = []byte(`{"error":{"message":"The server had an error while generating the answer.","type":"server_error","param":null,"code":"internal_error"}}`)

// stop breaks a stream off; what was framed before is sent first.
func (x *exchange) stop(s *sse, q *quirk) {
	switch q.stop {
	case stopDone:
		s.done()
	case stopError:
		s.fail()
	case stopErrorDone:
		s.fail()
		s.done()
	}
	x.outcome = Broken
	x.status = http.StatusOK
	if !s.flush() {
		x.outcome = Left
		return
	}
	x.breakOff(q)
}

// breakOff ends the connection in the way of the quirk, if not cleanly.
func (x *exchange) breakOff(q *quirk) {
	switch q.stop {
	case stopSilent:
		if x.sleep(x.o.scaled(q.silence)) {
			x.cut()
		}
	case stopCut:
		x.cut()
	case stopReset:
		x.reset()
	}
}

// writeWhole writes a whole answer's body with what is odd about it.
func (x *exchange) writeWhole(body []byte, a *answer, q *quirk) {
	h := x.w.Header()
	switch q.stop {
	case stopError, stopErrorDone:
		body = streamError
	case stopEnd, stopDone:
		if q.stopAfter < 0 {
			body = nil
		}
	}
	if q.rawWhole != "" {
		body = []byte(q.rawWhole)
		if body[0] == '<' {
			h.Set("Content-Type", "text/html")
		}
	}
	if q.gzip {
		var b bytes.Buffer
		gz := gzip.NewWriter(&b)
		_, _ = gz.Write(body) // a buffer takes everything
		_ = gz.Close()
		body = b.Bytes()
		h.Set("Content-Encoding", "gzip")
	}
	body = append(bytes.Repeat([]byte("\n"), q.blankPad), body...)
	declared, send := len(body)+q.shortBody, body
	broken := q.stop == stopCut || q.stop == stopReset || q.stop == stopSilent
	if broken {
		send = body[:len(body)*2/3]
		if q.stopAfter < 0 {
			send = nil
		}
	}
	h.Set("Content-Length", strconv.Itoa(declared)) // without effect where the headers are gone already
	if x.status == 0 {
		x.w.WriteHeader(http.StatusOK)
	}
	x.status, x.outcome = http.StatusOK, Answered
	x.tokensOut = a.out()
	if q.stop != stopNone || q.shortBody > 0 || q.rawWhole != "" {
		x.outcome, x.tokensOut = Broken, 0
	}
	_, err := x.w.Write(send)
	if err == nil && broken {
		err = x.rc.Flush()
	}
	if err != nil {
		x.outcome = Left
		return
	}
	x.breakOff(q)
}

package gateway

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"time"

	"baton/engine/outcome"
)

const (
	maxAnswer = 64 << 20 // of an answer that is held whole
	maxFault  = 1 << 20  // of an error's body
)

// readWhole reads an answer that is not streamed. It is held until its last byte
// has come and has been looked at, in both lanes, so that a broken one can be
// rescued.
func (a *attempt) readWhole() {
	readable := a.plain()
	if a.reason != "" {
		return
	}
	size := max(a.answer.ContentLength, 0)
	if size == 0 || a.answer.Uncompressed {
		size = 4 << 10
	}
	var err error
	if a.whole, err = newSpool(&a.q.g.memory, min(size, maxAnswer)); err != nil {
		a.err, a.ours = err, true
		return
	}
	if err = a.take(a.whole, maxAnswer); err != nil {
		a.err = err
		if errors.Is(err, errTooLarge) {
			a.reason = "too_long"
		}
		return
	}
	if !readable { // a compression that we cannot read passes with its header
		a.complete = true
		return
	}
	if err := a.whole.look(a.judge); err != nil {
		a.err, a.ours = err, true
	}
}

// take reads the answer's body into a spool, and counts the time.
func (a *attempt) take(s *spool, limit int64) error {
	w := watch{q: a.q}
	w.start()
	defer w.stop()
	return s.readFrom(a.body, limit, nil)
}

// judge looks at a whole answer.
func (a *attempt) judge(body []byte) {
	w := outcome.Whole(a.q.endpoint, body)
	a.usage = w.Usage
	if w.OK {
		a.complete = true
		if w.Finish != outcome.FinishNone {
			a.finish = w.Finish.String()
		}
		return
	}
	a.reason = w.Reason
	a.finish = string(w.FinishWord)
	a.fault = append([]byte(nil), body[:min(len(body), maxFault)]...)
}

// plain takes the answer's compression off. False: it cannot be read; a stream is
// then a fault of the vendor's.
func (a *attempt) plain() bool {
	h := a.answer.Header
	enc := strings.ToLower(strings.TrimSpace(h.Get("Content-Encoding")))
	var err error
	switch enc {
	case "", "identity":
		return true
	case "gzip", "x-gzip":
		a.body, err = gzip.NewReader(a.answer.Body)
	case "deflate":
		a.body, err = zlib.NewReader(a.answer.Body)
	default:
		if a.q.stream {
			a.reason = "unreadable_encoding"
		}
		return false
	}
	if err != nil {
		a.body = a.answer.Body
		a.reason, a.err = "unreadable_encoding", err
		return false
	}
	h.Del("Content-Encoding")
	a.answer.ContentLength, a.answer.Uncompressed = -1, true
	return true
}

// readFault reads the body of an error. As much of it as came counts: the status
// says most.
func (a *attempt) readFault() {
	w := watch{q: a.q}
	w.start()
	defer w.stop()
	if !a.plain() {
		// What cannot be read says nothing, and may hold anything: it is not passed on.
		a.unread = a.answer.Header.Get("Content-Encoding")
		if a.answer.StatusCode >= 300 {
			a.reason = ""
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(a.answer.Body, maxFault)) // its connection can be used again
		return
	}
	body, err := io.ReadAll(io.LimitReader(a.body, maxFault))
	a.fault = body
	if a.answer.StatusCode < 300 {
		a.err = err
	}
}

// pass takes the answer of an endpoint that baton does not know: it goes to the
// client as it comes, whatever it is. Only what our own account did wrong is kept
// from the client.
func (a *attempt) pass() {
	q, status := a.q, a.answer.StatusCode
	if status >= 400 {
		a.readFault()
		return
	}
	q.commit(a)
	a.phase = outcome.Body
	h := q.w.Header()
	if v := a.answer.Header["Content-Length"]; len(v) > 0 {
		h["Content-Length"] = v
	}
	q.w.WriteHeader(status)
	a.clock.arm(outcome.IdleClock, max(q.st.cfg.Timeouts.Idle, q.st.cfg.Timeouts.Whole))
	buf := newBuffer(32 << 10)
	defer freeBuffer(buf)
	var kept []byte
	keeps := q.g.ledger != nil && maySayUsage(a.answer.Header)
	defer func() { a.usageIn(kept) }()
	for !a.lost {
		n, err := a.body.Read(*buf)
		if keeps = keeps && len(kept)+n <= usageMax; keeps {
			kept = append(kept, (*buf)[:n]...)
		} else {
			kept = nil
		}
		if n > 0 {
			a.now = time.Now()
			a.clock.progress(a.now)
			a.write((*buf)[:n])
			a.flush()
		}
		if err == io.EOF { // a wrapped one is a broken connection
			a.complete = true
			return
		}
		if err != nil {
			a.err = err
			return
		}
	}
}

// deliver sends a good answer that is not with the client yet.
func (q *request) deliver(a *attempt) outcome.Outcome {
	if !q.committed {
		q.answerHeld(a)
	}
	return outcome.OK
}

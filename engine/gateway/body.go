package gateway

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	// bodyPace is how long a client may send nothing of its body.
	bodyPace = 30 * time.Second
	// bodyRate is the rate in bytes per second that it has to keep on average, once that
	// time is over: a byte now and then would hold a place until the deadline.
	bodyRate = 1 << 10
)

// bodyDue is when the next piece of a body has to be there, of which n bytes have come
// at now, since begun.
func bodyDue(begun, now time.Time, n int64, deadline time.Time) time.Time {
	average := begun.Add(bodyPace + time.Duration(n)*time.Second/bodyRate)
	return earlier(earlier(now.Add(bodyPace), average), deadline)
}

// metered counts what comes of a body as it is sent.
type metered struct {
	io.ReadCloser
	n int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.ReadCloser.Read(p)
	m.n += int64(n)
	return n, err
}

// readBody reads a request's body, once and whole: failing over needs it again,
// and a body half read when the answer begins gets streams cut. Whoever announces
// too much, or asks before sending (Expect: 100-continue), is refused before a byte is read.
func (q *request) readBody() (clientError, bool) {
	r, limit := q.r, int64(q.st.cfg.Gateway.MaxBody)
	if r.ContentLength > limit {
		return tooLarge(limit), false
	}
	if r.Body == nil || r.Body == http.NoBody || r.ContentLength == 0 {
		return clientError{}, true
	}
	sent := &metered{ReadCloser: r.Body}
	src, e, ok := q.decoded(sent)
	if !ok {
		return e, false
	}
	size := r.ContentLength
	if size < 0 {
		size = 1 << smallest
	}
	var err error
	q.body, err = newSpool(&q.g.memory, size)
	if err == nil {
		err = q.fill(src, limit, sent)
	}
	switch {
	case err == nil:
		return clientError{}, true
	case errors.Is(err, errTooLarge):
		return tooLarge(limit), false
	case errors.Is(err, os.ErrDeadlineExceeded): // net/http ends the context then, too
		e := badRequest("the request's body did not arrive in time")
		e.status, e.closeAfterwards = http.StatusRequestTimeout, true
		return e, false
	case r.Context().Err() != nil:
		q.gone = true
		return clientError{}, false
	case errors.Is(err, io.ErrUnexpectedEOF):
		// The connection's other half may still be open: a client that reads is told.
		e := badRequest("the request's body ended before it was whole")
		e.closeAfterwards = true
		return e, false
	}
	if _, ok := errors.AsType[*os.PathError](err); ok {
		q.g.log.Error("a request's body could not be kept", "request", q.id, "error", err)
		return clientError{status: http.StatusInternalServerError, typ: "server_error", code: "baton_storage", message: "the gateway could not keep the request's body"}, false
	}
	e = badRequest("the request's body could not be read")
	e.closeAfterwards = true
	return e, false
}

// fill reads the body under a clock that progress sets anew, and that never
// goes beyond the request's deadline.
func (q *request) fill(src io.Reader, limit int64, sent *metered) error {
	control := http.NewResponseController(q.w)
	arm := func() {
		_ = control.SetReadDeadline(bodyDue(q.arrived, time.Now(), sent.n, q.deadline))
	}
	arm()
	err := q.body.readFrom(src, limit, arm)
	if err != nil {
		// net/http reads on for a while after an answer; it is not to wait for ever.
		_ = control.SetReadDeadline(time.Now().Add(time.Second))
		return err
	}
	_ = control.SetReadDeadline(time.Time{})
	return nil
}

func earlier(a, b time.Time) time.Time {
	if b.IsZero() || a.Before(b) {
		return a
	}
	return b
}

// decoded is the body without its compression. What baton scans it has to read.
func (q *request) decoded(body io.Reader) (io.Reader, clientError, bool) {
	enc := strings.ToLower(strings.TrimSpace(q.r.Header.Get("Content-Encoding")))
	if enc == "" || enc == "identity" || q.endpoint == 0 {
		return body, clientError{}, true
	}
	if enc != "gzip" && enc != "x-gzip" {
		e := badRequest("the body's Content-Encoding is %.40q; gzip or none is read", enc)
		e.status = http.StatusUnsupportedMediaType
		return nil, e, false
	}
	z, err := gzip.NewReader(body)
	if err != nil {
		return nil, badRequest("the body is not the gzip that its Content-Encoding says"), false
	}
	q.unzipped = true
	return z, clientError{}, true
}

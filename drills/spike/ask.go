package spike

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
)

// How a request ended.
const (
	admitted = iota
	limited
	shed
	failed
)

// ending is one request's end.
type ending struct {
	due     time.Duration // in the plan
	outcome int
	stream  bool
	lag     time.Duration // from due until it was sent
	first   time.Duration // from due until the answer began: a gateway holds a stream's status until its first token
	why     string        // of a failure: its status, or what broke
}

// ask sends one request and reads its whole answer.
func ask(ctx context.Context, w wire, begin, due time.Time, q question) ending {
	e := ending{due: due.Sub(begin), outcome: failed, stream: q.stream, lag: time.Since(due)}
	a, err := w.ask(ctx, q)
	if err != nil {
		e.why = "connection broke"
		return e
	}
	e.first = time.Since(due)
	whole, done := read(a.body, q.stream && a.status == http.StatusOK)
	a.done(whole)
	switch { // a refusal without Retry-After does not tell a client that it may come again
	case a.status == http.StatusTooManyRequests && a.later:
		e.outcome = limited
	case a.status == http.StatusServiceUnavailable && a.later:
		e.outcome = shed
	case a.status == http.StatusOK && done:
		e.outcome = admitted
	case a.status == http.StatusOK:
		e.why = "cut off"
	default:
		e.why = strconv.Itoa(a.status)
	}
	return e
}

// read reads an answer: whole says whether it came to its end, done whether it was
// all of it, which a stream says by [DONE].
func read(body io.Reader, stream bool) (whole, done bool) {
	if !stream {
		_, err := io.Copy(io.Discard, body)
		return err == nil, err == nil
	}
	lines, ok := body.(*bufio.Reader)
	if !ok {
		lines = bufio.NewReader(body)
	}
	for {
		line, err := lines.ReadSlice('\n') // a line that is longer comes in parts
		done = done || bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte("data: [DONE]"))
		switch {
		case errors.Is(err, io.EOF):
			return true, done
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return false, false
		}
	}
}

package fault

import (
	"context"
	"io"
	"net/http"
	"sync"
)

// pieces gives an answer's body one event at a time. Of a stream an event is
// what a blank line ends; other answers come in pieces of size bytes. Like a
// Transport's body it may be closed while it is read.
type pieces struct {
	body   io.ReadCloser
	ctx    context.Context
	lease  *Lease
	stream bool
	size   int // of a piece of an answer that is no stream

	buf    []byte // read and not yet given
	failed error  // what body ended with, once buf is empty
	given  int    // bytes of the present piece
	text   bool   // the present event has a line that is not blank
	line   bool   // the present line is not blank
	passed int    // whole pieces given

	once   sync.Once
	closed chan struct{}
}

const (
	readSize = 4 << 10
	dripSize = 64 // bytes that drip as one event from an answer that is no stream
)

// open sends the attempt to the vendor and takes the answer's body apart.
func (a *attempt) open() (*http.Response, *pieces, error) {
	r, err := a.pass()
	if err != nil {
		return nil, nil, err
	}
	return r, &pieces{
		body: r.Body, ctx: a.request.Context(), lease: a.lease,
		stream: isStream(r), size: dripSize, closed: make(chan struct{}),
	}, nil
}

// halve makes two pieces of an answer that is no stream, so that what a fault
// does after some events it does in the midst of it. It returns after for such
// an answer.
func (s *pieces) halve(length int64, after int) int {
	if s.stream {
		return after
	}
	if length > 0 {
		s.size = int(length+1) / 2
	}
	return min(after, 1)
}

// Close closes the vendor's body and wakes a Read that a fault holds back.
func (s *pieces) Close() error {
	s.once.Do(func() { close(s.closed) })
	return s.body.Close()
}

// next reads into p what there is of the present piece, and says whether that is
// the end of it.
func (s *pieces) next(p []byte) (n int, end bool, err error) {
	if len(p) == 0 {
		return 0, false, nil
	}
	if len(s.buf) == 0 {
		if s.failed != nil {
			return 0, false, s.failed
		}
		s.buf = make([]byte, readSize)
		n, err := s.body.Read(s.buf)
		s.buf, s.failed = s.buf[:n], err
		if n == 0 {
			return 0, false, err
		}
	}
	n, end = s.measure(s.buf[:min(len(s.buf), len(p))])
	copy(p, s.buf[:n])
	s.buf = s.buf[n:]
	if end {
		s.passed++
		s.given, s.text, s.line = 0, false, false
	}
	return n, end, nil
}

// measure says how much of b belongs to the present piece, and whether that ends it.
func (s *pieces) measure(b []byte) (n int, end bool) {
	if !s.stream {
		n = min(len(b), s.size-s.given)
		s.given += n
		return n, s.given == s.size
	}
	for i, c := range b {
		switch c {
		case '\r':
		case '\n':
			if !s.line && s.text {
				return i + 1, true
			}
			s.line = false
		default:
			s.line, s.text = true, true
		}
	}
	return len(b), false
}

package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// DefaultLimit is the size in bytes of the largest event that is accepted unless
// another is asked for. Images in base64 come as single events of megabytes.
const DefaultLimit = 16 << 20

const (
	firstBuffer = 4 << 10  // ten thousand idle streams have one each
	keptBuffer  = 64 << 10 // a larger one is given up at Reset
)

// ErrTooLong says that an event was larger than the reader's limit.
var ErrTooLong = errors.New("the event is too long")

// Event is one event. Its slices are valid until the next call of Next.
type Event struct {
	// Raw is all of the event as it was received, its ending blank line included.
	Raw []byte
	// Data is the value of the data: line, or of several, joined by line feeds.
	Data []byte
	// Name is the value of the event: line.
	Name []byte
	// Comment: there was no data: line; only comments, ids, names or blank lines.
	Comment bool
	// Unended: the stream ended before the event's blank line. Who passes it on has to add that.
	Unended bool
}

// Reader splits a stream into events.
type Reader struct {
	src   io.Reader
	limit int
	buf   []byte // buf[:end] is filled
	end   int
	start int // of the event being read
	begun bool
	err   error // of src, delivered once the buffer is empty

	// Of the event being read, as offsets from start.
	line    int // where the current line begins
	scanned int // up to here the current line is known to hold no line end
	data    span
	lines   int // of data
	name    span
	done    bool // the blank line was seen; line is the offset after it

	joined []byte
}

type span struct{ from, to int }

// NewReader returns a reader of src that accepts events of up to limit bytes; 0 means DefaultLimit.
func NewReader(src io.Reader, limit int) *Reader {
	r := &Reader{limit: limit}
	r.Reset(src)
	return r
}

// Reset makes r read src from its start, with the buffer that it has.
func (r *Reader) Reset(src io.Reader) {
	*r = Reader{src: src, limit: r.limit, buf: r.buf, joined: r.joined[:0]}
	if r.limit <= 0 {
		r.limit = DefaultLimit
	}
	if cap(r.buf) > keptBuffer {
		r.buf = nil
	}
	if cap(r.joined) > keptBuffer {
		r.joined = nil
	}
}

// Next returns the next event. At the end it returns io.EOF, or the error of the
// source; what was read before is delivered first, except a line that an error
// (not the end) cut in two.
func (r *Reader) Next() (Event, error) {
	for !r.advance() {
		if r.err != nil {
			return r.last()
		}
		r.fill()
	}
	return r.take(r.line, false), nil
}

// Buffered reports whether Next would return without reading from the source. It
// leaves the last event valid.
func (r *Reader) Buffered() bool { return r.advance() || r.err != nil }

// advance reads lines from the buffer until the event is complete, and reports that it is.
func (r *Reader) advance() bool {
	for !r.done {
		at := r.start + r.line
		rest := r.buf[at:r.end]
		n := lineEnd(rest, r.scanned)
		if n < 0 {
			r.scanned = len(rest)
			return false
		}
		next := n + 1
		// A CR at the buffer's end may be half a CRLF. Waiting for the other half could
		// take for ever; the LF, should it come, is the first byte of what follows.
		if rest[n] == '\r' && next < len(rest) && rest[next] == '\n' {
			next++
		}
		r.field(r.line, n)
		r.line += next
		r.scanned = 0
	}
	return true
}

// lineEnd returns the offset of the first CR or LF in b at or after from, or -1.
func lineEnd(b []byte, from int) int {
	lf := bytes.IndexByte(b[from:], '\n')
	to := len(b)
	if lf >= 0 {
		to = from + lf
	}
	if cr := bytes.IndexByte(b[from:to], '\r'); cr >= 0 {
		return from + cr
	}
	if lf < 0 {
		return -1
	}
	return to
}

var (
	mark      = []byte("\xef\xbb\xbf")
	dataField = []byte("data")
	nameField = []byte("event")
)

// field takes in the line of n bytes at offset at of the event.
func (r *Reader) field(at, n int) {
	b := r.buf[r.start+at : r.start+at+n]
	if !r.begun {
		r.begun = true
		if bytes.HasPrefix(b, mark) {
			b, at = b[len(mark):], at+len(mark)
		}
	}
	if len(b) == 0 {
		// The LF of a CRLF that was split between two reads is no blank line of its own.
		r.done = !r.splitCRLF(at)
		return
	}
	v := span{at + len(b), at + len(b)}
	if i := bytes.IndexByte(b, ':'); i >= 0 {
		v.from = at + i + 1
		if i+1 < len(b) && b[i+1] == ' ' {
			v.from++
		}
		b = b[:i]
	}
	switch {
	case bytes.Equal(b, dataField):
		r.lines++
		r.data = v
	case bytes.Equal(b, nameField):
		r.name = v
	}
}

// splitCRLF reports whether the blank line at offset at is only the second half of
// a line end whose first half, a CR, was the last byte that had been read. Inside an
// event it must not end it; between two it is handed out as a comment.
func (r *Reader) splitCRLF(at int) bool {
	i := r.start + at
	return at > 0 && i < r.end && r.buf[i] == '\n' && r.buf[i-1] == '\r'
}

// take hands out the event, which is n bytes long, and prepares for the next one.
func (r *Reader) take(n int, unended bool) Event {
	raw := r.buf[r.start : r.start+n : r.start+n]
	ev := Event{Raw: raw, Comment: r.lines == 0, Unended: unended, Name: raw[r.name.from:r.name.to]}
	switch {
	case r.lines == 1:
		ev.Data = raw[r.data.from:r.data.to]
	case r.lines > 1:
		r.joined = join(r.joined[:0], raw)
		ev.Data = r.joined
	}
	r.start += n
	r.line, r.scanned, r.lines = 0, 0, 0
	r.data, r.name, r.done = span{}, span{}, false
	return ev
}

// join appends the values of raw's data: lines to dst, with line feeds between.
func join(dst, raw []byte) []byte {
	raw = bytes.TrimPrefix(raw, mark)
	for first := true; len(raw) > 0; {
		n := lineEnd(raw, 0)
		line := raw
		if n >= 0 {
			line, raw = raw[:n], raw[n+1:]
		} else {
			raw = nil
		}
		if !bytes.HasPrefix(line, dataField) || len(line) > len(dataField) && line[len(dataField)] != ':' {
			continue
		}
		if !first {
			dst = append(dst, '\n')
		}
		first = false
		if line = line[len(dataField):]; len(line) > 0 {
			line = bytes.TrimPrefix(line[1:], []byte(" "))
		}
		dst = append(dst, line...)
	}
	return dst
}

// last hands out what is left when the source has ended.
func (r *Reader) last() (Event, error) {
	rest := r.end - r.start
	if rest == 0 || errors.Is(r.err, ErrTooLong) {
		return Event{}, r.err
	}
	if tail := rest - r.line; tail > 0 && r.err == io.EOF { //nolint:errorlint // io.EOF bare is the end, wrapped it is a fault
		r.field(r.line, tail)
		r.line = rest
	}
	n := r.line
	if n == 0 {
		r.start = r.end
		return Event{}, r.err
	}
	ev := r.take(n, true)
	r.start = r.end
	return ev, nil
}

// fill reads once, after making room. It may move the bytes of earlier events.
func (r *Reader) fill() {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.end == len(r.buf) && !r.grow() {
		r.err = fmt.Errorf("reading an event of over %d bytes: %w", r.limit, ErrTooLong)
		return
	}
	for range 100 {
		n, err := r.src.Read(r.buf[r.end:])
		if n < 0 || n > len(r.buf)-r.end {
			r.err = errors.New("reading events: the source counts wrongly")
			return
		}
		r.end += n
		r.err = err
		if n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

func (r *Reader) grow() bool {
	size := min(max(2*len(r.buf), firstBuffer), r.limit)
	if size <= len(r.buf) {
		return false
	}
	buf := make([]byte, size)
	copy(buf, r.buf[:r.end])
	r.buf = buf
	return true
}

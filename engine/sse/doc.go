// Package sse reads and writes server-sent events for a relay.
//
//	r := sse.NewReader(body, 0)
//	for {
//		ev, err := r.Next()
//		if err != nil { break } // io.EOF, the body's own error, or ErrTooLong
//		w.Write(ev.Raw)
//		if !r.Buffered() { flush() } // Next would block
//	}
//
// A [Reader] hands out each event twice: Raw, the bytes as they came, to be passed
// on unchanged, and Data, what they say. The concatenation of all Raw is the
// stream, byte for byte. It takes what vendors send: LF, CRLF or lone CR, data:
// with and without a space, comments, ids, a byte order mark, reads that end
// anywhere. After its buffer has grown to the largest event it allocates nothing.
//
// A Reader belongs to one goroutine. The package knows nothing of JSON, clocks or
// connections: who waits how long is the caller's business.
//
// The format is the WHATWG's, https://html.spec.whatwg.org/multipage/server-sent-events.html,
// with one difference: a last event that the stream's end cut off from its blank
// line is delivered, because vendors end streams like that.
package sse

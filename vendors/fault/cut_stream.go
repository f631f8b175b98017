package fault

import (
	"io"
	"net/http"
)

// cutStream is a connection that closes in the midst of an answer: after some
// events of a stream, halfway through another answer.
type cutStream struct{ after int }

func (f cutStream) strike(a *attempt) (*http.Response, error) {
	r, s, err := a.open()
	if err != nil {
		return nil, err
	}
	r.Body = &cutBody{pieces: s, after: s.halve(r.ContentLength, f.after)}
	return r, nil
}

type cutBody struct {
	*pieces
	after int
	cut   bool
}

func (b *cutBody) Read(p []byte) (int, error) {
	if !b.cut && b.passed >= b.after && !b.lease.ended() {
		b.cut = true
		_ = b.Close()
	}
	if b.cut {
		return 0, io.ErrUnexpectedEOF // as of a chunked body without its end
	}
	n, _, err := b.next(p)
	return n, err
}

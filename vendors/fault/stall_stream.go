package fault

import "net/http"

// stallStream is a vendor that falls silent in the midst of an answer: after some
// events of a stream, halfway through another answer. The rest comes when the
// fault ends.
type stallStream struct{ after int }

func (f stallStream) strike(a *attempt) (*http.Response, error) {
	r, s, err := a.open()
	if err != nil {
		return nil, err
	}
	r.Body = &stallBody{pieces: s, after: s.halve(r.ContentLength, f.after)}
	return r, nil
}

type stallBody struct {
	*pieces
	after int
}

func (b *stallBody) Read(p []byte) (int, error) {
	if b.passed >= b.after {
		if err := b.lease.hold(b.ctx, b.closed, forever); err != nil {
			return 0, err
		}
	}
	n, _, err := b.next(p)
	return n, err
}

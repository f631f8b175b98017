package fault

import (
	"io"
	"net/http"
	"sync"
	"time"
)

// slowFirstToken is a vendor that begins to answer late: a stream's headers come
// in time and its first event does not, a whole answer comes later.
type slowFirstToken struct{ delay time.Duration }

func (f slowFirstToken) strike(a *attempt) (*http.Response, error) {
	r, err := a.pass()
	if err != nil {
		return nil, err
	}
	if isStream(r) {
		r.Body = &lateBody{ReadCloser: r.Body, attempt: a, delay: f.delay, closed: make(chan struct{})}
		return r, nil
	}
	if err := a.lease.hold(a.request.Context(), nil, f.delay); err != nil {
		_ = r.Body.Close()
		return nil, err
	}
	return r, nil
}

// lateBody holds its first Read back.
type lateBody struct {
	io.ReadCloser
	attempt *attempt
	delay   time.Duration
	begun   bool
	once    sync.Once
	closed  chan struct{}
}

func (b *lateBody) Read(p []byte) (int, error) {
	if !b.begun {
		if err := b.attempt.lease.hold(b.attempt.request.Context(), b.closed, b.delay); err != nil {
			return 0, err
		}
		b.begun = true
	}
	return b.ReadCloser.Read(p)
}

func (b *lateBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.ReadCloser.Close()
}

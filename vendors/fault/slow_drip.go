package fault

import (
	"net/http"
	"time"
)

// slowDrip is a vendor whose events come rate a second.
type slowDrip struct{ rate float64 }

func (f slowDrip) strike(a *attempt) (*http.Response, error) {
	r, s, err := a.open()
	if err != nil {
		return nil, err
	}
	r.Body = &dripBody{pieces: s, every: time.Duration(float64(time.Second) / max(f.rate, minRate))}
	return r, nil
}

type dripBody struct {
	*pieces
	every time.Duration
	wait  bool
}

func (b *dripBody) Read(p []byte) (int, error) {
	if b.wait {
		if err := b.lease.hold(b.ctx, b.closed, b.every); err != nil {
			return 0, err
		}
	}
	n, end, err := b.next(p)
	b.wait = end
	return n, err
}

package fault

import "net/http"

// garbage is a vendor that speaks nonsense in the midst of an answer: every event
// after the first ones is no JSON, and so is the second half of another answer,
// at its proper length.
type garbage struct{ after int }

const (
	badEvent = "data: {\"choices\":[{\"delta\":{\"content\":\n\n"
	badText  = "<html><body>bad gateway</body></html>\n"
)

func (f garbage) strike(a *attempt) (*http.Response, error) {
	r, s, err := a.open()
	if err != nil {
		return nil, err
	}
	b := &garbageBody{pieces: s, after: s.halve(r.ContentLength, f.after)}
	if s.stream && r.ContentLength >= 0 {
		r.ContentLength = -1
		r.Header.Del("Content-Length")
	}
	r.Body = b
	return r, nil
}

type garbageBody struct {
	*pieces
	after int
	bad   bool   // the present event is being swallowed
	rest  string // of a bad event
	at    int    // in badText
}

func (b *garbageBody) Read(p []byte) (int, error) {
	for {
		if len(b.rest) > 0 {
			n := copy(p, b.rest)
			b.rest = b.rest[n:]
			return n, nil
		}
		b.bad = b.bad || b.passed >= b.after && !b.lease.ended()
		n, end, err := b.next(p)
		switch {
		case !b.bad || err != nil:
			return n, err
		case !b.stream:
			for i := range n {
				p[i] = badText[b.at%len(badText)]
				b.at++
			}
			return n, nil
		case end:
			b.bad, b.rest = false, badEvent
		case n == 0:
			return 0, nil
		}
	}
}

package gateway

import (
	"io"
	"sync"

	"baton/engine/outcome"
	"baton/engine/scan"
)

// edits are the places at which the body for a vendor differs from the client's.
type edits struct {
	list  [6]scan.Edit
	n     int
	usage bool // usage was asked for that the client did not ask for
}

func (e *edits) add(x scan.Edit) {
	// In order of place: there are few.
	i := e.n
	for ; i > 0 && (e.list[i-1].From > x.From || e.list[i-1].From == x.From && e.list[i-1].To > x.To); i-- {
		e.list[i] = e.list[i-1]
	}
	e.list[i] = x
	e.n++
}

var (
	usageOptions = []byte(`{"include_usage":true}`)
	usageMember  = []byte(`"include_usage":true`)
	wordTrue     = []byte("true")
)

// editsFor returns the edits for a vendor that calls the model by this name.
func (c *call) editsFor(model string, withUsage bool, open int) (e edits) {
	if c.endpoint == outcome.Other {
		return e
	}
	if model != c.model {
		e.add(scan.Replace(c.modelAt.at, c.modelAt.n, scan.AppendString(nil, model)))
	}
	chat := c.endpoint == outcome.Chat || c.endpoint == outcome.Completions
	if !c.stream || !chat || c.usageAsked || !withUsage {
		return e
	}
	e.usage = true
	switch {
	case c.optionsAt.n == 0: // a model is there, so that a comma is due
		e.add(scan.Edit{From: open + 1, To: open + 1, With: []byte(`"stream_options":{"include_usage":true},`)})
	case c.usageAt.n > 0:
		e.add(scan.Replace(c.usageAt.at, c.usageAt.n, wordTrue))
	case c.optionsNull:
		e.add(scan.Replace(c.optionsAt.at, c.optionsAt.n, usageOptions))
	default:
		with := usageMember
		if !c.optionsEmpty {
			with = append(append(make([]byte, 0, len(usageMember)+1), usageMember...), ',')
		}
		e.add(scan.Edit{From: c.optionsAt.at + 1, To: c.optionsAt.at + 1, With: with})
	}
	return e
}

// size is the edited body's length.
func (e *edits) size(n int64) int64 {
	for i := range e.n {
		n += int64(len(e.list[i].With)) - int64(e.list[i].To-e.list[i].From)
	}
	return n
}

// upstreamBody reads the client's body with a vendor's edits. The transport may
// read and close it after the attempt is over, so that it holds the spool itself.
type upstreamBody struct {
	src   *spool
	edits *edits
	clock *clock // told of progress; gen says of which attempt
	gen   uint64

	mu   sync.Mutex
	next int   // edit
	at   int64 // in the source
	with int   // bytes of the next edit that were read
	done bool
}

func newUpstreamBody(s *spool, e *edits, c *clock, gen uint64) *upstreamBody {
	s.retain()
	return &upstreamBody{src: s, edits: e, clock: c, gen: gen}
}

// Read implements io.Reader.
func (b *upstreamBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done {
		return 0, io.ErrClosedPipe
	}
	total := 0
	for total < len(p) {
		n, err := b.some(p[total:])
		total += n
		if err != nil {
			if err == io.EOF && total > 0 { //nolint:errorlint // some says it bare
				break
			}
			return total, err
		}
	}
	if b.clock != nil {
		b.clock.sent(b.gen)
	}
	return total, nil
}

// some reads from the source up to the next edit, or from that edit.
func (b *upstreamBody) some(p []byte) (int, error) {
	end := b.src.n
	if b.next < b.edits.n {
		e := &b.edits.list[b.next]
		if b.at == int64(e.From) {
			n := copy(p, e.With[b.with:])
			b.with += n
			if b.with == len(e.With) {
				b.at, b.next, b.with = int64(e.To), b.next+1, 0
			}
			return n, nil
		}
		end = int64(e.From)
	}
	if b.at == end {
		return 0, io.EOF
	}
	n, err := b.src.readAt(p[:min(int64(len(p)), end-b.at)], b.at)
	b.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// Close implements io.Closer.
func (b *upstreamBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.done {
		b.done = true
		b.src.release()
	}
	return nil
}

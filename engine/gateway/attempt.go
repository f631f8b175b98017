package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"

	"baton/engine"
	"baton/engine/ledger"
	"baton/engine/outcome"
	"baton/engine/scan"
	"baton/engine/sse"
	"baton/vendors"
)

// attempt is one try at one vendor, and everything of it. It belongs to the
// request's goroutine, and to a pool afterwards.
type attempt struct {
	lease  engine.Lease
	clock  clock
	trace  httptrace.ClientTrace
	reader *sse.Reader
	held   []byte // events before the commit point

	q         *request
	ctx       context.Context
	gen       uint64
	vendor    *vendors.Vendor
	key       *vendors.Key
	begun     time.Time
	edits     edits
	connected bool // a connection was had

	phase  outcome.Phase
	answer *http.Response
	body   io.Reader // the answer's, decoded
	whole  *spool    // an answer that is held whole

	entry      ledger.Attempt // for the ledger
	said       ledger.Text    // of the answer so far
	firstAfter time.Duration  // when the first meaningful event came, from the begin
	usage      outcome.Usage
	finish     string
	progress   outcome.Progress // of a stream's choices
	tail       bool             // a stream has said everything: usage and [DONE] may come
	done       bool             // [DONE] was seen
	complete   bool
	first      bool      // a meaningful event was seen
	taking     bool      // the client is written to, and not flushed yet
	now        time.Time // when the last piece of the stream came
	fault      []byte    // an error's body or event
	garbage    []byte    // the start of what was no event
	unread     string    // the Content-Encoding of an error that we cannot read
	ours       bool      // we could not keep the answer
	reason     string    // our verdict on an answer with a good status
	err        error
	lost       bool // the client, while it was written to
	result     outcome.Result
}

// keptHeld is the largest buffer of held events that stays in the pool.
const keptHeld = 64 << 10

var attempts = sync.Pool{New: func() any {
	a := &attempt{reader: sse.NewReader(nil, 0)}
	a.trace.GotConn = a.gotConn // in the goroutine that called RoundTrip
	return a
}}

// newAttempt makes an attempt ready for Acquire.
func (q *request) newAttempt() *attempt {
	a := attempts.Get().(*attempt)
	a.q = q
	var cancel context.CancelCauseFunc
	a.ctx, cancel = context.WithCancelCause(q.ctx)
	a.lease.Cancel = cancel
	a.gen = a.clock.start(cancel, q.deadline, q.free)
	return a
}

// release ends the attempt's context and gives everything back.
func (a *attempt) release() {
	a.clock.stop()
	a.lease.Cancel(context.Canceled)
	if a.answer != nil {
		_ = a.answer.Body.Close()
	}
	if a.whole != nil {
		a.whole.release()
	}
	a.reader.Reset(nil)
	held := a.held[:0]
	if cap(held) > keptHeld {
		held = nil
	}
	a.lease = engine.Lease{}
	a.q, a.ctx, a.vendor, a.key, a.answer, a.body, a.whole = nil, nil, nil, nil, nil, nil, nil
	a.edits, a.held = edits{}, held
	a.connected, a.done, a.complete, a.first, a.taking, a.lost = false, false, false, false, false, false
	a.phase, a.usage, a.finish, a.fault, a.garbage, a.reason, a.err, a.ours = 0, outcome.Usage{}, "", nil, nil, "", nil, false
	a.progress, a.tail, a.unread = outcome.Progress{}, false, ""
	a.entry, a.said, a.firstAfter = ledger.Attempt{}, ledger.Text{}, 0
	a.result = outcome.Result{}
	attempts.Put(a)
}

// gotConn switches from the clock of connecting to that of the answer.
func (a *attempt) gotConn(httptrace.GotConnInfo) {
	a.connected = true
	a.await()
}

// await starts the clock of the answer: a stream's headers, or all of a whole one.
func (a *attempt) await() {
	t := &a.q.st.cfg.Timeouts
	switch {
	case !a.q.stream:
		a.phase = outcome.WholeBody
		a.clock.armSince(outcome.WholeClock, t.Whole, a.begun)
	case t.FirstToken < t.Header:
		a.phase = outcome.Header
		a.clock.arm(outcome.FirstTokenClock, t.FirstToken)
	default:
		a.phase = outcome.Header
		a.clock.arm(outcome.HeaderClock, t.Header)
	}
}

// try sends the request to the vendor that the lease names, takes its answer and
// says what it came to. What could be committed was; the lease is done.
func (a *attempt) try() {
	q := a.q
	a.begun = time.Now()
	a.vendor = q.st.set.Vendor(a.lease.Vendor.Name)
	q.attempts++
	ended := false
	defer func() {
		if !ended { // a panic goes through us
			a.lease.Done(time.Now(), outcome.Result{Outcome: outcome.GatewayFault, Reason: "panic"}, a.usage)
		}
	}()
	a.pickKey()
	if a.send() {
		a.receive()
	}
	a.classify()
	a.account()
	a.clock.stop()
	ended = true
	a.lease.Done(time.Now(), a.result, a.usage)
	a.enter()
}

// pickKey takes the key whose turn it is. When none is ready one is used all the
// same: it is the engine that decides whether the vendor takes traffic.
func (a *attempt) pickKey() {
	var ok bool
	if a.key, ok = a.vendor.Keys.Take(a.begun); !ok {
		a.key = a.vendor.Keys.Any()
	}
}

// send sends the request and waits for the answer's headers.
func (a *attempt) send() bool {
	q := a.q
	q.edit(a)
	r, err := a.request()
	if err != nil {
		a.err, a.reason = err, "bad_request"
		return false
	}
	a.connected, a.phase = false, outcome.Connect
	a.clock.arm(outcome.ConnectClock, q.st.cfg.Timeouts.Connect)
	asked := time.Now()
	a.answer, a.err = a.vendor.RoundTrip(r) //nolint:bodyclose // release closes it
	q.waited += time.Since(asked)
	if a.err == io.EOF { //nolint:errorlint // bare, it would mean an answer's regular end
		a.err = io.ErrUnexpectedEOF
	}
	if a.err != nil {
		return false
	}
	a.body = a.answer.Body
	return true
}

// oneWrite is the largest body that is copied for a vendor. The transport sends
// the header on its own, in a write and a packet more, unless it knows the body to
// be in memory (bytes.Reader is what it knows); with one of up to its 4 KiB buffer,
// header and all, it makes one write. Larger ones gain nothing from that.
const oneWrite = 3 << 10

// request makes the vendor's request.
func (a *attempt) request() (*http.Request, error) {
	q := a.q
	ctx := httptrace.WithClientTrace(a.ctx, &a.trace)
	var body vendors.Body
	var n int64
	if q.body != nil {
		e, clock, gen, src := a.edits, &a.clock, a.gen, q.body
		n = e.size(src.n)
		body = func() (io.ReadCloser, error) { return newUpstreamBody(src, &e, clock, gen), nil }
		if plain := src.bytes(); plain != nil && n <= oneWrite {
			small := scan.Splice(make([]byte, 0, n), plain, e.list[:e.n]...)
			body = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(small)), nil }
		}
	}
	build := a.vendor.NewRequest
	if q.resume.running {
		build = a.vendor.NewContinuation
	}
	r, err := build(ctx, q.r.Method, "/v1"+q.path, q.r.URL.RawQuery, q.r.Header, body, n, a.key)
	if err != nil {
		return nil, err
	}
	q.upstreamHeader(r.Header)
	return r, nil
}

// edit makes the edits for the vendor.
func (q *request) edit(a *attempt) {
	usage := !q.g.memo.refusesUsage(a.vendor.Name)
	a.edits = q.editsFor(q.modelAt(a.vendor), usage, q.brace)
	if q.resume.running {
		q.resume.edit(&a.edits, &q.call, a.vendor.Dialect.Prefill, q.brace)
	}
}

// receive takes the answer.
func (a *attempt) receive() {
	status := a.answer.StatusCode
	switch {
	case status == http.StatusSwitchingProtocols:
		a.reason = "switched_protocols"
	case a.q.endpoint == outcome.Other:
		a.pass()
	case status < 200 || status >= 300:
		a.readFault()
	case a.q.stream:
		a.readStream()
	default:
		a.readWhole()
	}
}

// classify says what the attempt came to.
func (a *attempt) classify() {
	q := a.q
	a.hideBodies()
	at := outcome.Attempt{
		Phase: a.phase, Err: a.err, Streaming: q.stream, Committed: q.committed, Finish: a.finish, Complete: a.complete,
		Offered: q.endpoint != outcome.Other && !q.bound, Reason: a.reason, Body: a.fault, Now: time.Now(), Dialect: a.vendor.Dialect, ClientGone: a.lost,
	}
	if a.answer != nil {
		at.Status, at.Header = a.answer.StatusCode, a.answer.Header.Get
	}
	if q.stream && a.reason == "" && outcome.ParseFinish(a.finish).Good() && !a.finished() {
		at.Finish = "" // one choice of several has ended
	}
	drained := false
	if a.ctx.Err() != nil {
		cause := context.Cause(a.ctx)
		at.Clock = clockOf(cause)
		switch {
		case at.Clock == outcome.DeadlineClock:
			at.HadTime = a.clock.hadTime(at.Now)
		case at.Clock != outcome.NoClock:
		case errors.Is(cause, engine.ErrDrained), errors.Is(cause, errStopping):
			drained, at.Err = true, context.Canceled
		case q.r.Context().Err() != nil:
			at.ClientGone = true
		}
		if at.Status < 200 || at.Status >= 300 {
			// An error whose body was late is that error.
			if at.Status != 0 && at.Clock != outcome.NoClock {
				at.Clock, at.Err = outcome.NoClock, nil
			}
		}
	}
	if at.Body == nil && !a.first && !a.complete {
		at.Body = a.garbage
	}
	a.result = outcome.Classify(at)
	if a.ours {
		q.g.log.Error("an answer could not be kept", "request", q.id, "error", a.err)
		a.result = outcome.Result{Outcome: outcome.GatewayFault, Reason: "storage", Message: "the answer could not be kept", Status: at.Status}
	}
	if a.result.Outcome != outcome.OK {
		a.hideResult()
		if a.unread != "" && !a.first {
			a.result.Message = fmt.Sprintf("status %d with a body that cannot be read: its Content-Encoding is %.40q", a.result.Status, a.unread)
		}
	}
	switch {
	case a.result.Outcome == outcome.OK:
	case drained:
		a.result.Reason = "drained"
		a.result.Move = !q.committed && !q.left()
	case a.result.Outcome == outcome.ClientCancel:
		q.gone = true
	}
}

// account draws what the result means for the key that was used.
func (a *attempt) account() {
	res := &a.result
	if a.answer != nil || res.Connect {
		a.q.g.reach.saw(a.vendor.Name, !res.Connect)
	}
	switch res.Outcome {
	case outcome.OK:
		if a.key.Revoked() {
			a.key.Restore()
			a.q.g.engine.Keys(a.lease.Vendor, a.vendor.Keys.Live())
		}
	case outcome.AccountFault:
		if res.Scope == outcome.ScopeKey {
			revoked := a.key.Revoke()
			live := a.vendor.Keys.Live()
			if live == 0 {
				res.Scope = outcome.ScopeVendor
			}
			if revoked {
				a.q.g.keyRevoked(a, live)
			}
		}
	case outcome.RateLimited:
		if a.vendor.Keys.Len() > 1 {
			a.key.Cool(time.Now().Add(max(res.RetryAfter, time.Second)))
		}
		// One key of several is limited; two of them in a row: the account is.
		if res.Scope == outcome.ScopeKey && (!a.otherKey() || a.q.keyTried == a.lease.Vendor) {
			res.Scope = outcome.ScopeVendor
		}
	}
}

// otherKey says whether another key of the vendor's is ready.
func (a *attempt) otherKey() bool {
	now := time.Now()
	at, ok := a.vendor.Keys.Until(now)
	return ok && a.vendor.Keys.Len() > 1 && !at.After(now)
}

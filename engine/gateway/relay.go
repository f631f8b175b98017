package gateway

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/sse"
)

const (
	// maxHeld is how much may come before the first meaningful event.
	maxHeld = 1 << 20
	// tail is how long a stream that has said everything may stay open: after its
	// finish reason usage and [DONE] may still come, after [DONE] nothing does, but a
	// connection that is read to its end can be used again.
	tailFinished = 2 * time.Second
	tailUsage    = 250 * time.Millisecond
	tailDone     = 100 * time.Millisecond
)

// readStream reads a stream and relays it: to the client from the commit point on,
// or in the batch lane into a spool.
func (a *attempt) readStream() {
	if !a.isStream() {
		a.notStream()
		return
	}
	if !a.plain() {
		return
	}
	a.phase = outcome.FirstToken
	a.clock.armSince(outcome.FirstTokenClock, a.q.st.cfg.Timeouts.FirstToken, a.clock.started())
	a.reader.Reset(a.body)
	for a.next() {
	}
	a.finishStream()
}

func (a *attempt) isStream() bool {
	kind, _, _ := mime.ParseMediaType(a.answer.Header.Get("Content-Type"))
	return kind != "application/json" && kind != "text/html"
}

// notStream reads an answer that should have been a stream: an error with a good
// status, most of the time.
func (a *attempt) notStream() {
	a.readFault()
	if a.reason == "" {
		a.reason = "not_a_stream"
	}
}

// next takes one event. False: the stream is over, one way or another.
func (a *attempt) next() bool {
	wait := !a.reader.Buffered()
	var since time.Time
	if wait && !a.q.committed {
		since = time.Now()
	}
	ev, err := a.reader.Next()
	if wait {
		a.now = time.Now() // events that came together came at the same time
		if !a.q.committed {
			a.q.waited += a.now.Sub(since)
		}
	}
	if err != nil {
		if err != io.EOF { //nolint:errorlint // a wrapped one is a broken connection
			a.err = err
		}
		return false
	}
	if !a.event(&ev) {
		return false
	}
	if a.q.committed && !a.reader.Buffered() {
		a.flush()
	}
	return !a.lost
}

// event judges an event and passes it on.
func (a *attempt) event(ev *sse.Event) bool {
	if ev.Comment {
		if a.q.committed && !a.q.resume.running {
			a.emit(ev)
		}
		return true
	}
	if sse.IsDone(ev.Data) {
		a.done = true
		if a.finished() {
			a.emit(ev)
		}
		return false // without a finish reason it ends nothing well
	}
	c, ok := outcome.Chunk(ev.Data)
	if !ok {
		a.q.g.dropped.Add(1)
		if a.garbage == nil {
			a.garbage = append([]byte(nil), ev.Data[:min(len(ev.Data), 4096)]...)
		}
		return true
	}
	if c.Error {
		a.fault = append([]byte(nil), ev.Data...)
		a.reason = "error_event"
		return false
	}
	a.note(&c)
	if c.UsageOnly && a.edits.usage {
		return true
	}
	if a.q.resume.wanted || a.q.resume.running {
		return a.resumable(ev, &c)
	}
	a.emit(ev)
	return !a.lost && a.err == nil
}

// finished says that the answer has said everything and is good so far.
func (a *attempt) finished() bool {
	return a.reason == "" && a.fault == nil &&
		(a.complete || outcome.ParseFinish(a.finish).Good() && a.progress.Finished(a.q.choices(), a.done))
}

// note takes from an event what it says of the answer.
func (a *attempt) note(c *outcome.ChunkInfo) {
	if c.Usage.Has {
		a.usage = c.Usage
	}
	a.hear(c)
	a.noteFinish(c)
	a.complete = a.complete || c.Completed
	a.progress.Take(c)
	if c.Meaningful && !a.first {
		a.firstToken()
		if !c.Finish.Good() {
			return
		}
	}
	switch {
	case c.Finish.Good() && a.finished():
		a.tail = true
		a.clock.arm(outcome.IdleClock, tailFinished)
	case c.Meaningful && a.tail: // there was more to come after all
		a.tail = false
		a.clock.arm(outcome.IdleClock, a.q.st.cfg.Timeouts.Idle)
	case c.Meaningful, c.Finish.Good() && a.first: // one choice of several has ended
		a.clock.progress(a.now)
	case c.Usage.Has && a.tail:
		a.clock.arm(outcome.IdleClock, tailUsage)
	}
}

// noteFinish keeps the finish reason: the last one, but of several choices' a bad one
// is not made good by another's.
func (a *attempt) noteFinish(c *outcome.ChunkInfo) {
	if c.Finish == outcome.FinishNone || c.Finish.Good() && outcome.ParseFinish(a.finish).Bad() {
		return
	}
	a.finish = c.Finish.String()
	if c.Finish == outcome.FinishOther {
		a.finish = string(c.FinishWord)
	}
}

// firstToken passes the commit point. In the interactive lane what was held goes
// out now; the event itself follows.
func (a *attempt) firstToken() {
	q, now := a.q, a.now
	a.first, a.phase, a.firstAfter = true, outcome.Body, now.Sub(a.begun)
	a.lease.FirstToken(now)
	a.clock.arm(outcome.IdleClock, q.st.cfg.Timeouts.Idle)
	if q.lane == control.Batch || q.committed {
		return
	}
	q.firstToken = now.Sub(q.arrived)
	a.commit()
}

// commit sends status, headers and what was held.
func (a *attempt) commit() {
	q := a.q
	q.commit(a)
	h := q.w.Header()
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("X-Accel-Buffering", "no") // nginx in front of us would hold events back
	q.w.WriteHeader(a.answer.StatusCode)
	if len(a.held) > 0 {
		a.write(a.held)
	}
}

// commit writes the headers of the answer that is the client's now.
func (q *request) commit(a *attempt) {
	q.committed, q.answered = true, a.lease.Vendor
	if q.body != nil && !q.resume.wanted && q.body.n > keptBody { // nobody asks again; a long stream need not hold it
		q.body.release()
		q.body, q.bodyGone = nil, true
	}
	h := q.w.Header()
	passDownstream(h, a.answer.Header, hider{vendor: a.vendor.Keys.Secrets()})
	h[headerVendor] = []string{a.vendor.Name}
	q.ownHeaders()
	if a.vendor.Simulated {
		h[headerSimulated] = []string{"1"}
	}
}

// ownHeaders sets the headers that every answer to an accepted request has.
func (q *request) ownHeaders() {
	h := q.w.Header()
	h[headerAttempts] = []string{strconv.Itoa(q.attempts)}
	h[headerLane] = []string{q.lane.String()}
	own := time.Since(q.read) - q.waited
	h[headerOverhead] = []string{strconv.FormatInt(max(own.Microseconds(), 0), 10)}
}

var blankLine = []byte("\n\n")

// emit passes an event on as it came: to the client, or to where it is held.
func (a *attempt) emit(ev *sse.Event) {
	a.emitRaw(ev.Raw)
	if ev.Unended && !a.lost {
		a.emitRaw(blankLine)
	}
}

func (a *attempt) emitRaw(raw []byte) {
	switch {
	case a.q.committed:
		a.write(raw)
	case a.q.lane == control.Batch:
		a.spoolRaw(raw)
	case len(a.held)+len(raw) > maxHeld:
		a.reason, a.err = "no_content", sse.ErrTooLong
	default:
		a.held = append(a.held, raw...)
	}
}

func (a *attempt) spoolRaw(raw []byte) {
	var err error
	if a.whole == nil {
		a.whole, err = newSpool(&a.q.g.memory, 16<<10)
	}
	if err == nil && a.whole.n+int64(len(raw)) > maxAnswer {
		err = sse.ErrTooLong
	}
	if err == nil {
		_, err = a.whole.Write(raw)
	}
	if err != nil {
		a.err, a.ours = err, err != sse.ErrTooLong //nolint:errorlint // it is set above
	}
}

// write writes to the client; what it does not take is its own affair, not the
// vendor's. It is so until the flush: nothing is read from the vendor in between.
func (a *attempt) write(p []byte) {
	if !a.taking {
		a.taking = true
		a.clock.write(true, a.now)
	}
	if _, err := a.q.w.Write(p); err != nil {
		a.lost = true
	}
}

func (a *attempt) flush() {
	if !a.taking {
		return
	}
	if a.q.flusher != nil {
		a.q.flusher.Flush()
	}
	a.taking = false
	a.clock.write(false, time.Now())
	if a.q.r.Context().Err() != nil {
		a.lost = true
	}
}

// finishStream ends a stream that is over. Whether it was good says classify.
func (a *attempt) finishStream() {
	if a.lost || a.ours || !a.finished() {
		return
	}
	// Whatever ended it, there was nothing more to come.
	a.complete, a.err = true, nil
	if !a.done && a.q.endpoint != outcome.Responses {
		a.emitRaw(doneEvent)
	}
	if !a.q.committed && a.q.lane == control.Interactive {
		a.commit() // an answer without a word is one
	}
	if a.ended() {
		return // what was written goes out together with the answer's end
	}
	if a.q.committed {
		a.flush()
	}
	a.clock.arm(outcome.IdleClock, tailDone)
	a.toEnd()
}

// ended takes what has come already, and says whether that was the answer's end.
func (a *attempt) ended() bool {
	for a.reader.Buffered() {
		if _, err := a.reader.Next(); err != nil {
			return true
		}
	}
	return false
}

var doneEvent = sse.AppendDone(nil)

// toEnd reads what is left of the answer so that its connection can be used again.
func (a *attempt) toEnd() {
	for range 16 {
		if _, err := a.reader.Next(); err != nil {
			return
		}
	}
}

// answerHeld sends the batch lane's answer, which was held whole.
func (q *request) answerHeld(a *attempt) {
	q.commit(a)
	h := q.w.Header()
	n := int64(0)
	if a.whole != nil {
		n = a.whole.n
	}
	h["Content-Length"] = []string{strconv.FormatInt(n, 10)}
	q.w.WriteHeader(a.answer.StatusCode)
	if a.whole == nil || q.r.Method == http.MethodHead {
		return
	}
	_ = http.NewResponseController(q.w).SetWriteDeadline(time.Now().Add(clientPace(n)))
	if _, err := a.whole.WriteTo(q.w); err != nil {
		q.gone = true
	}
}

// clientPace is how long a client may take for an answer of n bytes: 30 s and a
// second for every 32 KiB.
func clientPace(n int64) time.Duration {
	return 30*time.Second + time.Duration(n>>15)*time.Second
}

package sim

import (
	"compress/gzip"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const maxBody = 64 << 20

// exchange is one request and its answer. It belongs to the goroutine that serves it.
type exchange struct {
	v     *Vendor
	o     *Options // as they stood at the arrival
	w     http.ResponseWriter
	r     *http.Request
	rc    *http.ResponseController
	rng   *rand.Rand
	timer *time.Timer
	req   request
	id    string // of the answer, without its prefix
	start time.Time

	entry *Entry
	epoch int
	probe bool

	// What the log gets at the end.
	status    int
	events    int
	tokensIn  int
	tokensOut int
	first     time.Duration
	outcome   string
}

// ServeHTTP answers the OpenAI paths, with /v1 before them or not, and /sim/.
func (v *Vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Baton-Simulated", "1")
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, "/sim/"); ok {
		v.serveAdmin(w, r, rest)
		return
	}
	x := v.arrive(w, r)
	defer x.finish()
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "/v1"), "/")
	switch {
	case rest == "models", strings.HasPrefix(rest, "models/"):
		x.serveModels(strings.TrimPrefix(strings.TrimPrefix(rest, "models"), "/"))
	case r.Method != http.MethodPost && endpoints[rest] != nil:
		x.refuse(refusal{status: http.StatusMethodNotAllowed, body: openAIError("Not allowed to "+r.Method+" on "+path+".", "invalid_request_error", "", "method_not_supported")})
	case endpoints[rest] != nil:
		x.serve(endpoints[rest])
	default:
		x.refuse(refusal{status: http.StatusNotFound, body: openAIError("Invalid URL ("+r.Method+" "+path+")", "invalid_request_error", "", "")})
	}
}

// arrive numbers the request and puts it into the log at once, so that one that never ends is seen too.
func (v *Vendor) arrive(w http.ResponseWriter, r *http.Request) *exchange {
	o := v.options.Load()
	seq := v.arrivals.Add(1)
	x := &exchange{
		v: v, o: o, w: w, r: r, rc: http.NewResponseController(w),
		rng: requestRand(o.Seed, seq), start: time.Now(), probe: r.Method == http.MethodGet,
	}
	x.id = fmt.Sprintf("%016x", x.rng.Uint64())
	x.entry = &Entry{
		Seq: seq, Time: x.start, Method: r.Method, Path: r.URL.Path, RequestID: "req_" + x.id,
		Key: lastFour(bearer(r)), Roles: []string{},
	}
	w.Header().Set("X-Request-Id", x.entry.RequestID)
	x.epoch = v.log.add(x.entry, x.probe)
	return x
}

func (x *exchange) finish() {
	if x.timer != nil {
		x.timer.Stop()
	}
	total := time.Since(x.start)
	x.v.log.finish(x.entry, x.epoch, x.probe, func() {
		e := x.entry
		e.Status, e.Events, e.TokensIn, e.TokensOut = x.status, x.events, x.tokensIn, x.tokensOut
		e.FirstTokenMS, e.TotalMS = milliseconds(x.first), milliseconds(total)
		e.Outcome = or(x.outcome, Broken)
		e.ClientLeft = e.Outcome == Left
	})
}

func milliseconds(d time.Duration) float64 {
	return float64(d) / float64(time.Millisecond)
}

func bearer(r *http.Request) string {
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return or(key, r.Header.Get("Api-Key"))
}

func (x *exchange) authorized() bool {
	if len(x.o.Keys) == 0 {
		return true
	}
	given, known := []byte(bearer(x.r)), 0
	for _, k := range x.o.Keys {
		known |= subtle.ConstantTimeCompare(given, []byte(k))
	}
	return known == 1
}

// endpoint is one path that answers: how its answer streams, nil if it never does, and how it is whole.
type endpoint struct {
	prefix string // of answers' ids
	check  func(*request) error
	script func(a *answer, q *quirk, usage bool) script
	whole  func(a *answer, r *request) []byte
}

var endpoints = map[string]*endpoint{
	"chat/completions": {
		prefix: "chatcmpl-",
		check: func(r *request) error {
			if len(r.Messages) == 0 {
				return errors.New("messages must not be empty")
			}
			return nil
		},
		script: func(a *answer, q *quirk, usage bool) script { return &chatScript{a: a, q: q, usage: usage} },
		whole:  func(a *answer, _ *request) []byte { return chatWhole(a) },
	},
	"completions": {
		prefix: "cmpl-",
		check: func(r *request) error {
			if len(r.Prompt) == 0 {
				return errors.New("you must provide a prompt parameter")
			}
			return nil
		},
		script: func(a *answer, q *quirk, usage bool) script { return &completionScript{a: a, q: q, usage: usage} },
		whole:  func(a *answer, _ *request) []byte { return completionWhole(a) },
	},
	"responses": {
		prefix: "resp_",
		check: func(r *request) error {
			if len(r.Input) == 0 {
				return errors.New("you must provide an input parameter")
			}
			return nil
		},
		script: func(a *answer, _ *quirk, _ bool) script { return &responseScript{a: a} },
		whole:  func(a *answer, _ *request) []byte { return responseWhole(a) },
	},
	"embeddings": {
		check: func(r *request) error {
			if r.Dimensions < 0 || r.Dimensions > maxDimensions {
				return fmt.Errorf("dimensions %d: must be from 1 to %d", r.Dimensions, maxDimensions)
			}
			_, err := r.rows()
			return err
		},
		whole: func(a *answer, r *request) []byte {
			rows, _ := r.rows() // checked
			return embeddingsWhole(a, rows, or(r.Dimensions, defaultDimensions), r.EncodingFormat)
		},
	},
}

// serve takes one request for an answer through its checks to its answer.
func (x *exchange) serve(ep *endpoint) {
	if !x.read(ep) {
		return
	}
	if x.v.faulty {
		x.serveFault(ep)
		return
	}
	if len(x.o.Models) > 0 && !contains(x.o.Models, x.req.Model) {
		x.refuse(modelNotFound(x.req.Model))
		return
	}
	load, ok := x.v.admit(x.start, x.o)
	if !ok {
		x.sleep(x.o.scaled(time.Duration(15+x.rng.IntN(26)) * time.Millisecond))
		x.refuse(limitRequests)
		return
	}
	defer x.v.release()
	if x.o.ErrorRate > 0 && x.rng.Float64() < x.o.ErrorRate {
		x.refuse(overloaded)
		return
	}
	x.answer(ep, load, &well)
}

// read takes in the body and the key; false when the request was refused.
func (x *exchange) read(ep *endpoint) bool {
	body, err := io.ReadAll(http.MaxBytesReader(x.w, x.r.Body, maxBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		x.refuse(refusal{status: http.StatusRequestEntityTooLarge, body: openAIError("The request body is over 64 MiB.", "invalid_request_error", "", "request_too_large")})
		return false
	case err != nil:
		x.outcome = Left
		return false
	}
	err = decode(body, &x.req)
	if err == nil {
		err = ep.check(&x.req)
	}
	x.v.log.update(func() {
		e := x.entry
		e.Model, e.Stream, e.StreamOptions = x.req.Model, x.req.Stream, x.req.StreamOptions != nil
		e.Roles = x.req.roles()
		e.Messages = len(e.Roles)
	})
	switch {
	case !x.authorized():
		x.refuse(invalidKey)
	case err != nil:
		x.refuse(refusal{status: http.StatusBadRequest, body: openAIError(err.Error(), "invalid_request_error", "", "")})
	default:
		return true
	}
	return false
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// answer says something, streamed or whole.
func (x *exchange) answer(ep *endpoint, load float64, q *quirk) {
	m := x.req.measure()
	c := conditions{rng: x.rng, load: load, cached: min(x.v.prefixes.visit(m.blocks), m.count())}
	t := x.v.draw(x.o, c)
	a := &answer{id: ep.prefix + x.id, created: x.start.Unix(), model: x.req.Model, in: m.count(), cached: c.cached}
	x.tokensIn = a.in
	for i := range max(x.req.N, 1) {
		a.choices = append(a.choices, x.choice(q, i))
	}
	if q.slow > 0 {
		t.perToken = float64(q.slow)
	}
	if ep.script != nil && x.req.Stream && q.rawWhole == "" {
		x.stream(ep.script(a, q, x.req.includeUsage()), a, &t, q)
		return
	}
	x.whole(ep, a, &t, q)
}

// choice decides what is said: a function call, sixty counted words, or a few sentences.
func (x *exchange) choice(q *quirk, index int) choice {
	if call, ok := x.req.toolCall(); ok {
		return choice{pieces: fourths(call.arguments), reason: "tool_calls", tool: &call, callID: "call_" + x.id + strconv.Itoa(index)}
	}
	c := choice{reason: "stop"}
	if x.v.faulty {
		c.pieces = countedWords()
	} else {
		want := int(lognormal(x.rng, float64(x.o.Tokens), x.o.TokenSigma) + 0.5)
		c.pieces = compose(x.rng, x.req.question(), max(want, 1))
	}
	if q.finish != "" || !x.req.Stream && q.stopAfter > 0 && (q.stop == stopEnd || q.stop == stopDone) {
		c.pieces, c.reason = c.pieces[:q.stopAfter], q.finish
	}
	if limit, ok := x.req.limit(); ok && limit < len(c.pieces) {
		c.pieces, c.reason = c.pieces[:limit], "length"
	}
	return c
}

// fourths cuts ASCII text into pieces of four bytes, about a token each.
func fourths(s string) []string {
	var out []string
	for len(s) > 4 {
		out = append(out, s[:4])
		s = s[4:]
	}
	return append(out, s)
}

// coalesce is the least time between two writes of a stream: tokens due sooner share an event.
const coalesce = 10 * time.Millisecond

// stream writes an answer as it comes. Headers go out with the first token, as at real vendors.
func (x *exchange) stream(sc script, a *answer, t *timing, q *quirk) {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	_, typed := sc.(*responseScript)
	s := &sse{w: x.w, rc: x.rc, q: q, typed: typed}
	if q.gzip {
		h.Set("Content-Encoding", "gzip")
		s.gz = gzip.NewWriter(x.w)
	}
	defer func() { x.events = s.sent }()
	due := x.start.Add(t.first)
	if !x.before(s, q, &due) {
		return
	}
	x.status = http.StatusOK
	if q.stop != stopNone && q.stopAfter < 0 {
		x.stop(s, q)
		return
	}
	sc.open(s)
	n, next := a.steps(), due
	stopAt := min(q.stopAfter, n*2/3) // a function call is shorter than sixty words
	var wrote time.Time
	for from := 0; from < n; {
		if q.stop != stopNone && from >= stopAt {
			x.stop(s, q)
			return
		}
		due, to := next, from+1
		next = due.Add(t.token())
		// Together with what is due before the next write may be, or overdue because this machine is busy.
		for now := time.Now(); to < n && !t.fixed && (due.Sub(wrote) < x.o.scaled(coalesce) || next.Before(now)); to++ {
			due, next = next, next.Add(t.token())
		}
		if !x.sleepUntil(due) {
			return
		}
		sc.delta(s, from, to)
		if !s.flush() {
			x.outcome = Left
			return
		}
		if from == 0 {
			x.first = time.Since(x.start)
		}
		x.tokensOut = a.said(to)
		from, wrote = to, due
	}
	sc.close(s)
	x.outcome = Answered
	if !s.flush() || !s.finish() {
		x.outcome = Left
	}
}

// before waits for the first token and does what a fault does until then.
func (x *exchange) before(s *sse, q *quirk, due *time.Time) bool {
	if q.headersFirst || q.keepAlive > 0 {
		x.w.WriteHeader(http.StatusOK)
		x.status = http.StatusOK
		if !s.flush() {
			x.outcome = Left
			return false
		}
	}
	*due = due.Add(x.o.scaled(q.firstDelay))
	for q.keepAlive > 0 && time.Until(*due) > 0 {
		if !x.sleep(min(x.o.scaled(q.keepAlive), time.Until(*due))) {
			return false
		}
		s.comment("keep-alive")
		if !s.flush() {
			x.outcome = Left
			return false
		}
	}
	return x.sleepUntil(*due)
}

// whole writes an answer at once, after the time that streaming it would have taken.
func (x *exchange) whole(ep *endpoint, a *answer, t *timing, q *quirk) {
	x.w.Header().Set("Content-Type", "application/json")
	wait := t.first + x.o.scaled(q.firstDelay)
	if ep.script == nil {
		wait = t.first / 4 // embeddings are one pass over the input, with nothing to generate
	} else {
		wait += t.rest(a.steps())
	}
	due := x.start.Add(wait)
	if q.headersFirst || q.keepAlive > 0 {
		x.w.WriteHeader(http.StatusOK)
		x.status = http.StatusOK
		if err := x.rc.Flush(); err != nil {
			x.outcome = Left
			return
		}
	}
	if !x.sleepUntil(due) {
		return
	}
	x.first = time.Since(x.start)
	x.writeWhole(ep.whole(a, &x.req), a, q)
}

// sleep waits for d; false when the client left first.
func (x *exchange) sleep(d time.Duration) bool {
	return x.sleepUntil(time.Now().Add(d))
}

// sleepUntil waits until t with the one timer of this exchange; false when the client left first.
func (x *exchange) sleepUntil(t time.Time) bool {
	d := time.Until(t)
	if d <= 0 {
		if x.r.Context().Err() == nil {
			return true
		}
		x.outcome = Left
		return false
	}
	if x.timer == nil {
		x.timer = time.NewTimer(d)
	} else {
		x.timer.Reset(d)
	}
	select {
	case <-x.timer.C:
		return true
	case <-x.r.Context().Done():
		x.outcome = Left
		return false
	}
}

// reset breaks the connection off with a real RST.
func (x *exchange) reset() {
	conn, _, err := x.rc.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the server resets the stream
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // refused only on a socket that is gone already
	}
	_ = conn.Close()
}

// cut closes the connection without the end of the body. What was flushed arrives.
func (x *exchange) cut() {
	panic(http.ErrAbortHandler)
}

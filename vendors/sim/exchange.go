package sim

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
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
	began time.Time // when work on it began: the arrival, or the end of its wait in a line
	leave func()    // gives back the place that it holds, if it holds one

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
	if v.station != nil && v.station.reading().down {
		x.reset()
		return
	}
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
	x := &exchange{v: v, o: o, w: w, r: r, rc: http.NewResponseController(w), start: time.Now(), probe: r.Method == http.MethodGet}
	x.began = x.start
	x.entry = &Entry{Time: x.start, Method: r.Method, Path: r.URL.Path, Key: lastFour(bearer(r)), Roles: []string{}}
	x.epoch = v.log.add(x.entry, x.probe, func(seq uint64) {
		x.rng = requestRand(o.Seed, seq)
		x.id = fmt.Sprintf("%016x", x.rng.Uint64())
		x.entry.RequestID = "req_" + x.id
	})
	w.Header().Set("X-Request-Id", "req_"+x.id)
	return x
}

func (x *exchange) finish() {
	if x.timer != nil {
		x.timer.Stop()
	}
	if x.leave != nil {
		x.leave()
	}
	total := time.Since(x.start)
	x.v.log.finish(x.entry, x.epoch, x.probe, func() {
		e := x.entry
		e.Status, e.Events, e.TokensIn, e.TokensOut = x.status, x.events, x.tokensIn, x.tokensOut
		e.FirstTokenMS, e.TotalMS, e.QueuedMS = milliseconds(x.first), milliseconds(total), milliseconds(x.began.Sub(x.start))
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

// serve takes one request for an answer through its checks to its answer.
func (x *exchange) serve(ep *endpoint) {
	if !x.read(ep) {
		return
	}
	if x.v.faulty {
		x.serveFault(ep)
		return
	}
	if len(x.o.Models) > 0 && !slices.Contains(x.o.Models, x.req.Model) {
		x.refuse(modelNotFound(x.req.Model))
		return
	}
	x.work(ep)
}

// work takes a request past the limiter and answers it.
func (x *exchange) work(ep *endpoint) {
	m := x.req.measure(x.v.block)
	estimate := x.o.Tokens
	if limit, ok := x.req.limit(); ok {
		estimate = limit
	}
	if !x.pass(m.count() + estimate) {
		return
	}
	load := x.v.enter(time.Now(), x.o)
	defer x.v.release()
	if x.o.ErrorRate > 0 && x.rng.Float64() < x.o.ErrorRate {
		x.refuse(overloaded)
		return
	}
	x.answer(ep, &m, load, &well)
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

// tickAfter is a channel that delivers after d, with the one timer of this exchange; never if d is 0.
func (x *exchange) tickAfter(d time.Duration) <-chan time.Time {
	if d == 0 {
		return nil
	}
	x.setTimer(x.o.scaled(d))
	return x.timer.C
}

func (x *exchange) setTimer(d time.Duration) {
	if x.timer == nil {
		x.timer = time.NewTimer(d)
	} else {
		x.timer.Reset(d)
	}
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
	x.setTimer(d)
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

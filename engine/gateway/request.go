package gateway

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"baton/engine"
	"baton/engine/affinity"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
	"baton/vendors"
	"baton/vendors/fault"
)

// request is one request of a client's, from its first byte to its last. It
// belongs to the goroutine that serves it, and to a pool afterwards.
type request struct {
	call
	g       *Gateway
	st      *state
	w       http.ResponseWriter
	r       *http.Request
	ctx     context.Context // the client's, with the lane for faults
	flusher http.Flusher

	id       string
	idHeader []string
	lane     control.Lane
	kind     weights.Kind
	arrived  time.Time
	read     time.Time // when the body was there
	deadline time.Time
	body     *spool
	brace    int // where the body's object begins
	unzipped bool
	bodyGone bool // there was one, which is no longer needed
	noMove   bool // the client wants one vendor
	begun    bool

	// Of the attempts.
	waited     time.Duration // for vendors, and for our turn
	firstToken time.Duration
	attempts   int // sent
	counted    int // of them, those that use up routing.attempts
	askedArray [4]*engine.Vendor
	asked      []*engine.Vendor // different ones
	triedArray [4]*engine.Vendor
	tried      []*engine.Vendor
	again      *engine.Vendor // where one more try may help
	repeats    int            // tries at a vendor that had been tried
	late       bool           // a vendor that was too slow was asked once more
	keyTried   *engine.Vendor // a second key was tried here after a 429
	waits      int            // of a batch request for a limit to pass
	pause      time.Duration  // before the next try at the same vendor
	retryAt    time.Time      // the earliest time at which a vendor may be asked again, as far as known
	blind      bool           // forget which vendors did not know the model
	unbound    bool           // the primary cannot be reached
	minContext int            // only vendors with a larger one
	allLimited bool           // every failure so far was a rate limit
	refused    refused        // what a vendor said that is the client's to know
	last       outcome.Result
	lastVendor string
	failures   []control.Failure

	answered  *engine.Vendor
	committed bool // something of an answer was sent
	cut       bool
	shed      bool // refused by admission
	gone      bool // the client left
	abort     bool // the connection is to break
	resume    continuation

	only func(*engine.Vendor) bool // method values, made once
	free func()
}

var requests = sync.Pool{New: func() any {
	q := new(request)
	q.only, q.free = q.may, q.unblock
	return q
}}

// serve serves a request under /v1/.
func (g *Gateway) serve(w http.ResponseWriter, r *http.Request) {
	q := requests.Get().(*request)
	q.g, q.w, q.r, q.arrived = g, w, r, time.Now()
	q.id = requestID(r.Header)
	q.idHeader = []string{q.id}
	w.Header()[headerRequestID] = q.idHeader
	q.st = g.hold()
	fits := g.enter(q.st.cfg.Gateway.MaxInFlight)
	defer func() {
		if q.end() {
			panic(http.ErrAbortHandler) // net/http's way of breaking a connection
		}
	}()
	q.serve(fits)
}

func (q *request) serve(fits bool) {
	if q.r.ContentLength != 0 {
		// Of a request that is refused net/http reads the body for a while.
		_ = http.NewResponseController(q.w).SetReadDeadline(q.arrived.Add(bodyPace))
	}
	key, known := q.st.client(q.r.Header)
	switch {
	case q.g.draining.Load():
		writeError(q.w, stopping())
		return
	case !known:
		writeError(q.w, unauthorized(presented(q.r.Header) != ""))
		return
	}
	q.deadline = q.arrived.Add(q.st.cfg.Gateway.Deadline)
	if q.st.cfg.Gateway.Deadline <= 0 {
		q.deadline = time.Time{}
	}
	if e, ok := q.route(q.r); !ok {
		writeError(q.w, e)
		return
	}
	if q.models() {
		return
	}
	if !fits {
		q.shed = true
		q.refuse(full(q.st.cfg.Gateway.MaxInFlight), outcome.GatewayFault)
		return
	}
	if !q.accept(key) {
		return
	}
	q.begin()
	q.finish(q.run())
}

// accept reads what the client wants. False: it was told what is wrong with it.
func (q *request) accept(key *clientKey) bool {
	q.prefillable, q.affinity = true, q.st.affinityMember
	e, ok := q.readBody()
	q.read = time.Now()
	if !ok {
		if q.gone {
			q.begin()
			q.finish(outcome.ClientCancel)
			return false
		}
		q.refuse(e, outcome.ClientFault)
		return false
	}
	if q.endpoint != outcome.Other {
		if err := q.parseBody(); err != nil {
			q.refuse(badRequest("%s", err), outcome.ClientFault)
			return false
		}
	}
	var err error
	if q.lane, err = q.call.lane(q.r.Header, key); err != nil {
		q.refuse(badRequest("%s", err), outcome.ClientFault)
		return false
	}
	if q.named && q.st.cfg.Routing.UnknownModels == "reject" && q.st.models[q.model] == nil {
		q.refuse(unknownModel(q.model), outcome.ClientFault)
		return false
	}
	if h := q.st.affinityHeader; h != "" {
		if lines := q.r.Header[h]; len(lines) > 0 {
			q.conversation = affinity.Key(lines[0])
		}
	}
	q.kind = weights.Whole
	if q.endpoint == outcome.Embeddings {
		q.stream = false // there is no such stream, whatever was asked
	}
	if q.stream {
		q.kind = weights.Stream
	}
	q.noMove = on(q.r.Header.Get(headerNoFailover))
	q.ctx = fault.WithLane(q.r.Context(), q.lane.String())
	q.flusher, _ = q.w.(http.Flusher)
	q.tried, q.asked, q.allLimited = q.triedArray[:0], q.askedArray[:0], true
	q.prepareResume()
	return true
}

func on(v string) bool { return v != "" && v != "0" && v != "false" }

func (q *request) parseBody() error {
	if q.body == nil {
		return errors.New("the body is empty; a JSON object is expected")
	}
	var fault error
	err := q.body.look(func(b []byte) {
		if fault = q.parse(b); fault == nil {
			for b[q.brace] != '{' {
				q.brace++
			}
		}
	})
	return errors.Join(err, fault)
}

// begin counts the request in; refuse answers it with an error of ours.
func (q *request) begin() {
	q.begun = true
	q.g.engine.Begin(q.lane)
	q.g.retries.request(q.arrived)
}

func (q *request) refuse(e clientError, o outcome.Outcome) {
	q.begin()
	writeError(q.w, e)
	q.finish(o)
}

// finish counts the request out.
func (q *request) finish(o outcome.Outcome) {
	for i := range q.failures {
		q.failures[i].Rescued = o == outcome.OK
		q.g.failures.add(q.failures[i])
	}
	q.enterUnasked(o)
	q.g.engine.Finish(engine.Finished{
		Lane: q.lane, Kind: q.kind, Outcome: o, FirstToken: q.firstToken, Total: time.Since(q.arrived),
		FailedOver: len(q.asked) > 1, Cut: q.cut, Shed: q.shed, Vendor: q.answered, ID: q.id,
	})
	q.begun = false
}

// end gives everything back, whatever happened, and says whether the connection is to break.
func (q *request) end() (abort bool) {
	if q.begun { // a panic went through us
		q.finish(outcome.GatewayFault)
	}
	if q.body != nil {
		q.body.release()
	}
	q.st.release()
	q.g.leave()
	abort = q.abort
	failures := q.failures[:0]
	said := q.resume.said
	if cap(said) > 64<<10 {
		said = nil
	}
	*q = request{only: q.only, free: q.free, failures: failures, resume: continuation{said: said[:0]}}
	requests.Put(q)
	return abort
}

// unblock frees a write to a client that takes nothing.
func (q *request) unblock() {
	_ = http.NewResponseController(q.w).SetWriteDeadline(time.Now())
}

// may says whether a vendor may get this request at all.
func (q *request) may(v *engine.Vendor) bool {
	w := q.st.set.Vendor(v.Name)
	if w == nil {
		return false
	}
	if q.bound && !q.unbound {
		return v == q.g.engine.Primary()
	}
	if q.resume.running && !w.Resume {
		return false
	}
	m := q.st.models[q.model]
	if m != nil && m.At[v.Name] == "" && len(m.At) > 0 {
		return false
	}
	if q.minContext > 0 && (m == nil || m.Context[v.Name] <= q.minContext) {
		return false
	}
	return q.blind || !q.g.memo.unknown(v.Name, q.model)
}

// modelAt is what a vendor calls the model.
func (q *request) modelAt(v *vendors.Vendor) string {
	if m := q.st.models[q.model]; m != nil {
		if name := m.At[v.Name]; name != "" {
			return name
		}
	}
	return q.model
}

// contextAt is the context of the model at a vendor, in tokens; 0 unknown.
func (q *request) contextAt(name string) int {
	if m := q.st.models[q.model]; m != nil {
		return m.Context[name]
	}
	return 0
}

func (q *request) routing() *config.Routing { return &q.st.cfg.Routing }

// left says whether the client has left or the gateway stops, and which.
func (q *request) left() bool {
	if q.r.Context().Err() == nil {
		return false
	}
	q.gone = !errors.Is(context.Cause(q.r.Context()), errStopping)
	return true
}

// wait waits for d, no longer than the deadline. False: the client left, the
// gateway stops or the deadline has passed.
func (q *request) wait(d time.Duration) bool {
	begun := time.Now()
	if !q.deadline.IsZero() {
		d = min(d, q.deadline.Sub(begun))
	}
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
	case <-q.r.Context().Done():
	}
	q.waited += time.Since(begun)
	return !q.left() && !q.overdue()
}

// overdue says that the request's deadline has passed.
func (q *request) overdue() bool { return !q.deadline.IsZero() && !time.Now().Before(q.deadline) }

package gateway

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"baton/engine"
	"baton/engine/control"
	"baton/engine/outcome"
)

const (
	// patience is how long an interactive request waits before a further try at the
	// same vendor, should that have asked to be left alone.
	patience = 5 * time.Second
	// maxWaits is how often a batch request asks again that every vendor refused.
	maxWaits = 20
	// maxSends bounds what a request sends in all, dead keys included.
	maxSends = 32
)

// run makes attempts until one answers or no more is to be had, and answers the client.
func (q *request) run() outcome.Outcome {
	ask := engine.Ask{Lane: q.lane, Kind: q.kind, Only: q.only, First: true, Gone: q.r.Context().Done(), Deadline: q.deadline}
	ask.Affinity = q.conversation
	for {
		a := q.newAttempt()
		ask.Tried = q.tried
		err := q.g.engine.Acquire(&a.lease, ask)
		q.waited += a.lease.Waited
		if err != nil {
			a.release()
			if !q.unserved(err, &ask) {
				return q.fail(err)
			}
			continue
		}
		a.try()
		o, over := q.conclude(a, &ask)
		a.release()
		if over {
			return o
		}
	}
}

// conclude draws the conclusion of an attempt: the answer is sent, or there is another attempt, or none.
func (q *request) conclude(a *attempt, ask *engine.Ask) (o outcome.Outcome, over bool) {
	res := &a.result
	ask.First, ask.Same = false, nil
	q.last, q.lastVendor = *res, a.vendor.Name
	q.remember(a.lease.Vendor)
	if res.Outcome == outcome.OK {
		return q.deliver(a), true
	}
	q.note(a)
	q.learn(a)
	switch {
	case q.gone:
		return outcome.ClientCancel, true
	case q.committed:
		if q.goOn(a) {
			return 0, false
		}
		return q.interrupted(), true
	case q.left():
		return q.fail(nil), true
	case q.attempts < maxSends && q.step(a, ask):
		return 0, false
	}
	return q.fail(nil), true
}

// remember counts a vendor among those that were asked.
func (q *request) remember(v *engine.Vendor) {
	if !slices.Contains(q.tried, v) {
		q.tried = append(q.tried, v)
	}
	if !slices.Contains(q.asked, v) {
		q.asked = append(q.asked, v)
	}
}

// learn takes from a failure what matters beyond the next step.
func (q *request) learn(a *attempt) {
	res := &a.result
	if res.Outcome != outcome.RateLimited {
		q.allLimited = false
	}
	if res.HasRetryAfter {
		if at := time.Now().Add(res.RetryAfter); q.retryAt.IsZero() || at.Before(q.retryAt) {
			q.retryAt = at
		}
	}
	q.pause = res.RetryAfter
	// Dead keys use up nothing, and nor does a batch request that waits for a limit.
	if res.Outcome != outcome.AccountFault && (res.Outcome != outcome.RateLimited || q.lane != control.Batch) {
		q.counted++
	}
	if q.endpoint == outcome.Other {
		if q.refused = (refused{}); res.Outcome != outcome.AccountFault {
			q.refused.keep(a) // whatever it says
		}
		return
	}
	switch res.Outcome {
	case outcome.ConfigFault:
		if res.Class == outcome.BadPath {
			// Nothing is learnt of the model, and nobody is kept from asking again: it may be a
			// release under way. People are told.
			q.g.pathMissing(a, q.endpointName())
		} else {
			q.g.memo.learn(fact{a.vendor.Name, q.model}, unknownFor)
		}
		q.refused.keep(a)
	case outcome.ClientFault, outcome.ContentFilter:
		q.refused.keep(a)
	default:
		// What one vendor found wrong with the request is not undone by what another failed
		// to do: it is what the client would have heard, had there been no other.
		if o := q.refused.result.Outcome; o != outcome.ClientFault && o != outcome.ContentFilter {
			q.refused = refused{}
		}
	}
}

// step prepares the next attempt; false if there is none.
func (q *request) step(a *attempt, ask *engine.Ask) bool {
	res, v := &a.result, a.lease.Vendor
	switch {
	case res.Outcome == outcome.AccountFault && res.Scope == outcome.ScopeKey:
		ask.Same = v // its next key
		return true
	case res.RefusesUsage && a.edits.usage:
		q.g.memo.learn(fact{vendor: v.Name}, refusesFor)
		q.counted--
		ask.Same = v
		return true
	case q.counted >= max(q.routing().Attempts, 1), q.noMove:
		return false
	case q.bound:
		if q.unbound || !res.Connect {
			return false
		}
		q.unbound = true
		return true
	case res.Outcome == outcome.RateLimited && res.Scope == outcome.ScopeKey && q.keyTried != v:
		q.keyTried = v
		if q.g.retries.take(time.Now(), q.routing().RetryBudget) {
			ask.Same = v // another key, at once
		}
		return true
	case res.LargerContext:
		q.minContext = q.contextAt(v.Name)
		return q.minContext > 0
	case res.Filter:
		return q.routing().FailoverOnFilter
	}
	if res.RetrySame && q.again == nil {
		q.again = v
	}
	return res.Move
}

// unserved is told why no vendor takes the next attempt, and finds another way; false if there is none.
func (q *request) unserved(err error, ask *engine.Ask) bool {
	if ask.Same != nil { // it does not take more; another one may
		if q.again == ask.Same {
			q.again = nil
		}
		ask.Same = nil
		return true
	}
	if q.committed || q.noMove && q.attempts > 0 {
		return false
	}
	var limit *engine.Limited
	switch {
	case errors.Is(err, engine.ErrLeft), errors.Is(err, engine.ErrLate):
		return false
	case errors.As(err, &limit): // it waited as long as it may
		if q.retryAt.IsZero() || limit.Until.Before(q.retryAt) {
			q.retryAt = limit.Until
		}
		return !limit.Full && q.repeat(ask)
	case q.bound && !q.unbound && q.attempts == 0 && q.primaryLost():
		q.unbound = true // it takes nothing because nobody reaches it
		return true
	case errors.Is(err, engine.ErrTried) && q.attempts == 0 && !q.blind:
		q.blind = true // what was learnt of models rules everybody out: ask again
		return true
	case q.repeat(ask):
		return true
	case q.last.Outcome == outcome.RateLimited:
		return q.await()
	}
	return false
}

func (q *request) primaryLost() bool {
	p := q.g.engine.Primary()
	return p == nil || q.g.reach.lost(p.Name)
}

// repeat prepares a further try at a vendor that was tried: where one more may
// help, within the budget, and after a pause.
func (q *request) repeat(ask *engine.Ask) bool {
	v := q.again
	if v == nil && !q.late && len(q.tried) == 1 {
		// The only vendor there is was too slow to begin. It gets a second chance; an
		// answer that took all the time for whole ones does not.
		switch q.last.Clock {
		case outcome.ConnectClock, outcome.HeaderClock, outcome.FirstTokenClock:
			q.late, v = true, q.tried[0]
		}
	}
	if v == nil || q.bound || q.counted >= max(q.routing().Attempts, 1) {
		return false
	}
	d := max(backoff(q.repeats), q.pause)
	if d > patience && q.lane == control.Interactive {
		return false
	}
	if !q.g.retries.take(time.Now(), q.routing().RetryBudget) {
		return false
	}
	q.repeats++
	if !q.wait(d) {
		return false
	}
	ask.Same = v
	return true
}

// await has a batch request that every vendor refused ask them all again: it waits for their
// limits where all wait for a place. Interactive ones do not.
func (q *request) await() bool {
	if q.lane != control.Batch || q.waits >= maxWaits || q.bound {
		return false
	}
	pause := backoff(q.waits) // so that those who wait do not come back together
	q.waits++
	if !q.wait(pause / 2) {
		return false
	}
	q.tried, q.again, q.keyTried = q.tried[:0], nil, nil
	return true
}

// fail answers a request that no vendor answered. err says why there was no further attempt, if the engine did.
func (q *request) fail(err error) outcome.Outcome {
	if q.left() && q.gone {
		return outcome.ClientCancel
	}
	if q.committed {
		return q.interrupted()
	}
	q.ownHeaders()
	if q.r.Context().Err() != nil {
		writeError(q.w, stopping())
		return outcome.GatewayFault
	}
	wait := time.Duration(0)
	if !q.retryAt.IsZero() {
		wait = min(max(time.Until(q.retryAt), time.Millisecond), outcome.MaxRetryAfter)
	}
	var limit *engine.Limited
	switch {
	case q.overdue(), errors.Is(err, engine.ErrLate), q.last.Clock == outcome.DeadlineClock:
		writeError(q.w, deadlinePassed(q.st.cfg.Gateway.Deadline))
		return outcome.GatewayFault
	case q.refused.status != 0:
		return q.passRefusal()
	case !errors.As(err, &limit) && q.attempts == 0:
		writeError(q.w, noVendor())
		return outcome.GatewayFault
	case limit != nil && limit.Full:
		q.shed = true
		writeError(q.w, overloaded(wait))
		return outcome.RateLimited
	case q.allLimited:
		q.shed = true
		writeError(q.w, limited(wait))
		return outcome.RateLimited
	}
	writeError(q.w, allFailed(q.attempts, q.lastVendor, q.last.Reason, wait))
	if q.last.Outcome == outcome.OK {
		return outcome.VendorFault
	}
	return q.last.Outcome
}

// interrupted ends a stream that broke after the commit point: one event that says
// so, no [DONE].
func (q *request) interrupted() outcome.Outcome {
	q.cut = q.lane == control.Interactive
	broke := &q.last
	if q.resume.running {
		broke = &q.resume.broke
	}
	o := broke.Outcome
	if o == outcome.ClientFault || o == outcome.ContentFilter || o == outcome.OK {
		o = outcome.VendorFault // half an answer is one, whatever it says of the question
	}
	if q.endpoint == outcome.Other {
		q.abort = true // there is no place for an error in a body of unknown shape: the connection breaks
		return o
	}
	e := clientError{typ: "upstream_error", code: codeInterrupted, message: "the answer was interrupted: " + broke.Message}
	_ = http.NewResponseController(q.w).SetWriteDeadline(time.Now().Add(clientPace(0)))
	_, _ = q.w.Write(errorEvent(&e))
	if q.flusher != nil {
		q.flusher.Flush()
	}
	return o
}

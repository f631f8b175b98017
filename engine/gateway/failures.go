package gateway

import (
	"slices"
	"sync"
	"time"

	"baton/engine/control"
	"baton/engine/outcome"
)

// failures keeps the last failed attempts of each vendor: enough for a bill of
// complaints, and bounded. One vendor's do not push out another's.
type failures struct {
	mu   sync.Mutex
	by   map[string]*ring
	next uint64
}

// kept is how many failed attempts of a vendor are kept.
const kept = 500

type ring struct {
	list [kept]entry
	n    int // ever added
}

type entry struct {
	control.Failure
	seq uint64 // over all vendors
}

func (f *failures) add(x control.Failure) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.by == nil {
		f.by = map[string]*ring{}
	}
	r := f.by[x.Vendor]
	if r == nil {
		r = new(ring)
		f.by[x.Vendor] = r
	}
	f.next++
	r.list[r.n%kept] = entry{x, f.next}
	r.n++
}

// at returns the ith newest entry, from 0.
func (r *ring) at(i int) *entry {
	if i >= min(r.n, kept) {
		return nil
	}
	return &r.list[(r.n-1-i)%kept]
}

// last returns the newest failures of a vendor, or of all, newest first.
func (f *failures) last(vendor string, limit int) []control.Failure {
	if limit <= 0 {
		limit = 100
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	out := []control.Failure{}
	at := make(map[string]int, len(f.by))
	for len(out) < limit {
		var newest *entry
		for name, r := range f.by {
			if vendor != "" && name != vendor {
				continue
			}
			if e := r.at(at[name]); e != nil && (newest == nil || e.seq > newest.seq) {
				newest = e
			}
		}
		if newest == nil {
			break
		}
		at[newest.Vendor]++
		out = append(out, newest.Failure)
	}
	// Kept in the order in which their requests ended; read in the order in which
	// the attempts did.
	slices.SortStableFunc(out, func(a, b control.Failure) int { return b.Time.Compare(a.Time) })
	return out
}

// note records a failed attempt with the request; it is published when the
// request has ended and it is known whether it was rescued.
func (q *request) note(a *attempt) {
	res := &a.result
	if res.Outcome == outcome.OK || res.Outcome == outcome.ClientCancel {
		return
	}
	x := control.Failure{
		Time: time.Now(), RequestID: q.id, Vendor: a.vendor.Name, Attempt: q.attempts, Lane: q.lane.String(),
		Endpoint: q.endpointName(), Outcome: res.Outcome.String(), Reason: res.Reason, VendorRequestID: outcome.Scrub(res.RequestID),
		Clock: res.Clock.String(), AfterMs: float64(time.Since(a.begun).Microseconds()) / 1000, Message: q.messageFor(a),
	}
	if res.Status != 0 {
		status := res.Status
		x.Status = &status
	}
	q.failures = append(q.failures, x)
}

// endpointName is the endpoint's path; of those that baton does not know only the
// first element, because the rest holds ids.
func (q *request) endpointName() string {
	if p := q.endpoint.Path(); p != "" {
		return "/v1" + p
	}
	for i := 1; i < len(q.path); i++ {
		if q.path[i] == '/' {
			return "/v1" + q.path[:i] + "/…"
		}
	}
	return "/v1" + q.path
}

package drills

import (
	"math"
	"time"

	"baton/engine/control"
	"baton/engine/window"
)

// lostKept bounds the ids of lost requests in a record.
const lostKept = 1000

// counts are what was counted since T0.
type counts struct {
	marks   []mark           // attempts begun, every pace until the cutover
	seconds []*control.Tally // at T0 + k s
	last    *control.Tally
	after   *control.Tally // when the fault ended
}

// mark is the attempts begun since T0.
type mark struct {
	at       time.Duration // after T0
	all, its int64         // of all vendors, and of the drill's
}

func (c *counts) begin(base *control.Tally) {
	c.marks, c.seconds, c.last = []mark{{}}, []*control.Tally{base}, base
}

// take adds the counts of a moment after T0. r.mu is held.
func (r *run) take(t *control.Tally, at time.Duration) {
	if r.st.CutoverS == nil {
		all, its := begun(r.seconds[0], t, r.vendor)
		r.marks = append(r.marks, mark{at, all, its})
	}
	for time.Duration(len(r.seconds))*time.Second <= at {
		second := *t
		second.Lost = nil // an hour of them is long
		r.seconds = append(r.seconds, &second)
		r.hurt()
	}
	if r.after == nil {
		r.asked(t)
	}
	r.last = t
}

// asked brings the requests since T0 up to date. r.mu is held.
func (r *run) asked(t *control.Tally) {
	base, q := r.seconds[0], &r.st.Requests
	q.Total = t.Totals.Requests - base.Totals.Requests
	q.OK = t.Totals.OK - base.Totals.OK
	q.Failed = t.Totals.Failed - base.Totals.Failed
	q.FailedOver = t.Totals.FailedOver - base.Totals.FailedOver
	q.Attempts = t.Totals.Attempts - base.Totals.Attempts
	q.CutStreams = t.CutStreams - base.CutStreams
	n := min(int(t.Totals.Failed-r.last.Totals.Failed), len(t.Lost), lostKept-len(q.Lost))
	if n > 0 {
		q.Lost = append(q.Lost, t.Lost[len(t.Lost)-n:]...)
	}
}

// hurt counts the second that has just passed if clients were hurt in it.
// r.mu is held.
func (r *run) hurt() {
	n := len(r.seconds) - 1
	ok, failed := served(r.seconds[n-1], r.seconds[n])
	if r.after == nil && failed > 0 && float64(ok) < hurtBelow*float64(ok+failed) {
		r.st.HurtS++
	}
}

// of finds the vendor of the drill in a tally; it is zero where it is not in it.
func (r *run) of(t *control.Tally) control.VendorTally { return of(t, r.vendor) }

func of(t *control.Tally, vendor string) control.VendorTally {
	for i := range t.Vendors {
		if t.Vendors[i].Name == vendor {
			return t.Vendors[i]
		}
	}
	return control.VendorTally{}
}

// begun counts the attempts begun between two tallies, all and the vendor's.
func begun(from, to *control.Tally, vendor string) (all, its int64) {
	for i := range to.Vendors {
		b := &to.Vendors[i]
		n := b.Begun - of(from, b.Name).Begun
		all += n
		if b.Name == vendor {
			its = n
		}
	}
	return all, its
}

// served counts the requests that ended well and that failed between two
// tallies.
func served(from, to *control.Tally) (ok, failed int64) {
	return to.Totals.OK - from.Totals.OK, to.Totals.Failed - from.Totals.Failed
}

// between is the histogram of clients' first tokens between two tallies.
func between(from, to *control.Tally) *window.Histogram {
	had := make(map[int]uint64, len(from.FirstToken))
	for _, b := range from.FirstToken {
		had[b.Index] = b.N
	}
	used := make([]window.Bucket, 0, len(to.FirstToken))
	for _, b := range to.FirstToken {
		if n := had[b.Index]; b.N > n {
			used = append(used, window.Bucket{Index: b.Index, N: b.N - n})
		}
	}
	return window.FromSparse(used)
}

// latency is the quantiles of clients' first tokens between two tallies.
func latency(from, to *control.Tally) control.Latency {
	h := between(from, to)
	l := control.Latency{Count: h.Count(), P50ms: quantile(h, 0.5), P90ms: quantile(h, 0.9), P99ms: quantile(h, 0.99)}
	if l.Count > 0 {
		l.Maxms = control.Figure(millis(h.Max()))
	}
	return l
}

// quantile is in milliseconds, nil of none.
func quantile(h *window.Histogram, q float64) *float64 {
	d, ok := h.Quantile(q)
	if !ok {
		return nil
	}
	return control.Figure(millis(d))
}

// series is the drill second by second, and the weights where they changed.
// r.mu is held.
func (r *run) series() ([]control.Point, []control.WeightsAt) {
	points, weights := []control.Point{}, []control.WeightsAt{}
	for k := 1; k < len(r.seconds); k++ {
		from, to := r.seconds[k-1], r.seconds[k]
		p := control.Point{
			TS: float64(k - 1), Requests: to.Totals.Requests - from.Totals.Requests, Failed: to.Totals.Failed - from.Totals.Failed,
			Attempts: map[string]int64{}, Share: map[string]float64{},
		}
		for i := range to.Vendors {
			name := to.Vendors[i].Name
			all, its := begun(from, to, name)
			p.Attempts[name] = its
			if all > 0 {
				p.Share[name] = math.Round(1000*float64(its)/float64(all)) / 10
			}
		}
		points = append(points, p)
	}
	at := func(ts float64, t *control.Tally) {
		w := map[string]float64{}
		for i := range t.Vendors {
			w[t.Vendors[i].Name] = t.Vendors[i].Weight
		}
		if n := len(weights); n == 0 || !same(weights[n-1].Weights, w) {
			weights = append(weights, control.WeightsAt{TS: ts, Weights: w})
		}
	}
	for k, t := range r.seconds {
		at(float64(k), t)
	}
	at(milli(r.last.Time.Sub(r.t0).Seconds()), r.last)
	return points, weights
}

func same(a, b map[string]float64) bool {
	for k, v := range a {
		if w, ok := b[k]; !ok || w != v {
			return false
		}
	}
	return len(a) == len(b)
}

// millis is a duration in milliseconds, to a tenth.
func millis(d time.Duration) float64 { return math.Round(float64(d)/float64(time.Millisecond)*10) / 10 }

// milli is seconds to a thousandth.
func milli(s float64) float64 { return math.Round(s*1000) / 1000 }

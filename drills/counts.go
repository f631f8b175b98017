package drills

import (
	"math"
	"time"

	"baton/engine/control"
	"baton/engine/window"
)

const (
	lostKept   = 1000 // ids of lost requests in a record
	marksKept  = 6000 // ten minutes of them
	pointsKept = 7200 // seconds of series
)

// counts are what was counted since T0.
type counts struct {
	early   early
	past    []*control.Tally // before T0, of a drill without a baseline
	marks   []mark           // attempts begun, every pace until the proof
	seconds []*control.Tally // at T0 + k s; those that no window will be taken from are without histograms
	points  []control.Point  // the second before each of seconds
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
	if r.proof == nil {
		all, its := begun(r.seconds[0], t, r.vendor)
		if len(r.marks) == marksKept {
			r.marks = append(r.marks[:1], r.marks[marksKept/2:]...)
		}
		r.marks = append(r.marks, mark{at, all, its})
	}
	for time.Duration(len(r.seconds))*time.Second <= at && len(r.seconds) < pointsKept {
		second := *t
		second.Lost = nil // an hour of them is long
		r.seconds = append(r.seconds, &second)
		n := len(r.seconds) - 1
		r.points = append(r.points, point(float64(n-1), r.seconds[n-1], r.seconds[n]))
		r.thin(n - r.hold() - 60)
		r.hurt()
	}
	switch {
	case r.after == nil:
		r.asked(t)
	case r.scenario.external():
		r.brokeLate(t)
	}
	r.last = t
}

// brokeLate counts the streams that the cut had taken hold of and that a clock ends
// only after it was put back: whoever waited for them got half an answer all the same.
// r.mu is held.
func (r *run) brokeLate(t *control.Tally) {
	n, q := t.CutStreams-r.last.CutStreams, &r.st.Requests
	if n <= 0 {
		return
	}
	q.Total, q.Failed, q.CutStreams = q.Total+n, q.Failed+n, q.CutStreams+n
	q.Lost = append(q.Lost, t.Lost[max(0, len(t.Lost)-min(int(n), lostKept-len(q.Lost))):]...)
}

// thin drops the histograms of a second that no window will begin at. r.mu is
// held.
func (r *run) thin(k int) {
	if k <= 0 {
		return
	}
	c := *r.seconds[k]
	c.FirstToken = nil
	c.Vendors = append([]control.VendorTally{}, c.Vendors...)
	for i := range c.Vendors {
		c.Vendors[i].FirstToken = nil
	}
	r.seconds[k] = &c
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

// between is the histogram of first tokens between two moments of a tally.
func between(from, to []control.Bucket) *window.Histogram {
	had := make(map[int]uint64, len(from))
	for _, b := range from {
		had[b.Index] = b.N
	}
	used := make([]window.Bucket, 0, len(to))
	for _, b := range to {
		if n := had[b.Index]; b.N > n {
			used = append(used, window.Bucket{Index: b.Index, N: b.N - n})
		}
	}
	return window.FromSparse(used)
}

// latency is the quantiles of first tokens between two moments of a tally.
func latency(from, to []control.Bucket) control.Latency {
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

// point is one second between two tallies, ts after T0.
func point(ts float64, from, to *control.Tally) control.Point {
	p := control.Point{
		TS: ts, Requests: to.Totals.Requests - from.Totals.Requests, Failed: to.Totals.Failed - from.Totals.Failed,
		Attempts: map[string]int64{}, Share: map[string]float64{}, P50ms: map[string]float64{}, P90ms: map[string]float64{}, P99ms: map[string]float64{},
	}
	for i := range to.Vendors {
		v := &to.Vendors[i]
		all, its := begun(from, to, v.Name)
		p.Attempts[v.Name] = its
		if all > 0 {
			p.Share[v.Name] = math.Round(1000*float64(its)/float64(all)) / 10
		}
		if l := latency(of(from, v.Name).FirstToken, v.FirstToken); l.Count > 0 {
			p.P50ms[v.Name], p.P90ms[v.Name], p.P99ms[v.Name] = *l.P50ms, *l.P90ms, *l.P99ms
		}
	}
	return p
}

// series is the baseline and the drill second by second, and the weights where
// they changed. r.mu is held.
func (r *run) series() ([]control.Point, []control.WeightsAt) {
	points, weights := []control.Point{}, []control.WeightsAt{}
	at := func(ts float64, t *control.Tally) {
		w := map[string]float64{}
		for i := range t.Vendors {
			w[t.Vendors[i].Name] = t.Vendors[i].Weight
		}
		if n := len(weights); n == 0 || !same(weights[n-1].Weights, w) {
			weights = append(weights, control.WeightsAt{TS: ts, Weights: w})
		}
	}
	before := append([]*control.Tally{}, r.early.tallies...)
	for len(before) > 0 && !before[len(before)-1].Time.Before(r.t0.Add(-pace)) {
		before = before[:len(before)-1]
	}
	before = append(before, r.seconds[0])
	for k := 1; k < len(before); k++ {
		ts := math.Round(before[k-1].Time.Sub(r.t0).Seconds())
		at(ts, before[k-1])
		points = append(points, point(ts, before[k-1], before[k]))
	}
	points = append(points, r.points...)
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

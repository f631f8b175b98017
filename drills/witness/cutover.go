package witness

import (
	"fmt"
	"math"
	"slices"
	"time"

	"baton/engine/control"
)

const (
	// alone is how far from any other hit a rescued request is taken for a trial
	// of an ejected vendor, which the engine makes every 10 s.
	alone = 8 * time.Second
	// fewest is how many requests a hold has to have to prove anything.
	fewest = 5
)

// Proof is what good service has to be.
type Proof struct {
	Hold  time.Duration // how long it has to last
	Limit time.Duration // of a first token; 0: any will do
}

// spot is a request that speaks against service without the vendor.
type spot struct {
	sent, until time.Time
}

// Cutover is how long after t0 service without the vendor began. Where it is not
// proven, after is nil and note says why.
func (l *Log) Cutover(vendor string, t0 time.Time, p Proof) (after *time.Duration, note string) {
	if len(l.Entries) == 0 {
		return nil, "it has no requests"
	}
	if l.Entries[0].Sent.After(t0) {
		return nil, "it began after the fault"
	}
	spots := l.spots(vendor, t0, p.Limit)
	candidates := []time.Time{t0}
	for _, s := range spots {
		if s.until.After(t0) {
			candidates = append(candidates, s.until)
		}
	}
	slices.SortFunc(candidates, time.Time.Compare)
	note = "its requests were not answered well by another vendor for " + p.Hold.String()
	for _, c := range candidates {
		end := c.Add(p.Hold)
		if slices.ContainsFunc(spots, func(s spot) bool { return inside(s.sent, c, end) || s.until.After(c) && !s.until.After(end) }) {
			continue
		}
		if why := l.unproven(c, end); why != "" {
			return nil, why
		}
		d := c.Sub(t0)
		return &d, ""
	}
	return nil, note
}

func inside(t, from, to time.Time) bool { return !t.Before(from) && !t.After(to) }

// spots are the requests that speak against service without the vendor.
func (l *Log) spots(vendor string, t0 time.Time, limit time.Duration) []spot {
	var out []spot
	hits := l.hits(vendor, t0)
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.End == nil || e.End.Before(t0) {
			continue
		}
		s := spot{sent: e.Sent}
		wait, _ := e.wait()
		switch since := !e.Sent.Before(t0); {
		case !e.OK, since && limit > 0 && wait > limit:
			s.until = *e.End
		case since && slices.Contains(hits, i):
			s.until = e.Sent
			if i+1 < len(l.Entries) {
				s.until = l.Entries[i+1].Sent
			}
		default:
			continue
		}
		out = append(out, s)
	}
	return out
}

// hits are the requests since t0 that went to the vendor, by their place; a trial
// of it is none.
func (l *Log) hits(vendor string, t0 time.Time) []int {
	var all []int
	for i := range l.Entries {
		if e := &l.Entries[i]; !e.Sent.Before(t0) && e.End != nil && (!e.OK || e.Vendor == vendor || e.Attempts > 1) {
			all = append(all, i)
		}
	}
	var out []int
	for k, i := range all {
		e := &l.Entries[i]
		trial := k > 0 && e.OK && e.Vendor != vendor &&
			e.Sent.Sub(l.Entries[all[k-1]].Sent) >= alone && (k+1 == len(all) || l.Entries[all[k+1]].Sent.Sub(e.Sent) >= alone)
		if !trial {
			out = append(out, i)
		}
	}
	return out
}

// unproven says why a time without a bad request proves nothing, "" if it does.
func (l *Log) unproven(from, to time.Time) string {
	n, open := 0, 0
	var last time.Time
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.End != nil {
			last = slices.MaxFunc([]time.Time{last, e.Sent, *e.End}, time.Time.Compare)
		}
		switch {
		case !inside(e.Sent, from, to):
		case e.End == nil:
			open++
		default:
			n++
		}
	}
	switch {
	case open > 0:
		return fmt.Sprintf("%d of its requests have not ended", open)
	case last.Before(to):
		return "it ends before service without the vendor was held for long enough"
	case n < fewest:
		return fmt.Sprintf("it has only %d requests in %s", n, to.Sub(from))
	}
	return ""
}

// Judge reads a witness's log and holds a drill's cutover against its own.
func Judge(path string, r *control.Report, p Proof) *control.WitnessResult {
	out := &control.WitnessResult{Log: path}
	l, err := Read(path)
	if err != nil {
		out.Note = err.Error()
		return out
	}
	var t0, end time.Time
	for _, m := range r.Phases {
		switch m.Name {
		case control.PhaseFault:
			t0 = m.Time
		case control.PhaseRestored:
			end = m.Time
		}
	}
	if t0.IsZero() {
		out.Note = "no fault was injected"
		return out
	}
	for i := range l.Entries {
		e := &l.Entries[i]
		if e.End == nil || e.Sent.Before(t0) || !end.IsZero() && e.Sent.After(end) {
			continue
		}
		out.Requests++
		if !e.OK {
			out.Failed++
		}
	}
	after, note := l.Cutover(r.Vendor, t0, p)
	out.Note = note
	if after == nil {
		return out
	}
	out.CutoverS = rounded(after.Seconds())
	if r.CutoverS != nil {
		out.DifferenceS = rounded(*r.CutoverS - after.Seconds())
	}
	return out
}

func rounded(s float64) *float64 { return control.Figure(math.Round(s*1000) / 1000) }

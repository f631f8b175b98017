package drills

import (
	"context"
	"sync"
	"time"

	"baton/engine/control"
)

const (
	watchEvery = time.Second
	watchKept  = 90               // tallies of the last so many seconds
	aftermathS = 10 * time.Second // after a fault that was ordered, in which what it led to is not called an outage
)

// watcher is what the machine sees while no drill runs: the last minute's counts,
// and what was ordered.
type watcher struct {
	// Of the goroutine alone.
	seq     int64
	ordered map[string]time.Time // faults that people injected, by vendor: when they ended; zero: in force

	mu      sync.Mutex // guards what follows
	tallies []*control.Tally
	day     string // of the totals that follow
	since   time.Time
	at      control.Totals                   // when the day began
	drilled struct{ requests, failed int64 } // of the day, while a drill's fault was in
}

// watch looks once a second until ctx ends.
func (m *Machine) watch(ctx context.Context) {
	w := &m.watcher
	w.ordered = map[string]time.Time{}
	if events, err := control.Get[[]control.Event](ctx, m.control, control.EventsAfter{}); err == nil && len(events) > 0 {
		w.seq = events[len(events)-1].Seq
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		m.glance(ctx)
		m.tickPlan(ctx, time.Now())
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// glance takes the counts and the journal's new entries. What cannot be asked now is
// asked the next time.
func (m *Machine) glance(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, answerIn)
	defer cancel()
	events, err := control.Get[[]control.Event](ctx, m.control, control.EventsAfter{Seq: m.watcher.seq})
	if err != nil {
		return
	}
	t, err := control.Get[*control.Tally](ctx, m.control, control.Counts{})
	if err != nil {
		return
	}
	m.watcher.keep(t, m.zone(), m.rehearsed)
	for i := range events {
		e := &events[i]
		m.watcher.seq = max(m.watcher.seq, e.Seq)
		switch on, known := e.Data["on"].(bool); {
		case e.Kind == "fault" && known && on:
			m.watcher.ordered[e.Vendor] = time.Time{}
		case e.Kind == "fault" && known:
			m.watcher.ordered[e.Vendor] = e.Time
		case e.Kind == "health" && e.Data["to"] == control.Ejected, e.Kind == "account" && e.Level == control.Crit && of(t, e.Vendor).State == control.Disabled:
			if !m.ordered(e.Vendor, e.Time) {
				m.open(ctx, e)
			}
		}
	}
}

// ordered says whether somebody ordered what happened to a vendor.
func (m *Machine) ordered(vendor string, at time.Time) bool {
	if r := m.drill(); r != nil && (r.vendor == vendor || r.scenario.Spike != nil) {
		r.mu.Lock()
		its := !r.ended && (!r.isRestored() || r.scenario.Spike != nil)
		r.mu.Unlock()
		if its {
			return true
		}
	}
	ended, was := m.watcher.ordered[vendor]
	return was && (ended.IsZero() || at.Sub(ended) < aftermathS)
}

// inFlight is how long after a fault what it cut short may still fail.
const inFlight = 2 * time.Second

// rehearsed says whether a drill's fault was in at some time since a moment.
func (m *Machine) rehearsed(since time.Time) bool {
	r := m.drill()
	if r == nil || r.scenario.show != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.t0.IsZero() && (r.restored.at.IsZero() && !r.ended || r.restored.at.Add(inFlight).After(since))
}

// keep takes the counts of a moment; drilled says whether a drill had a hand in what
// happened since another.
func (w *watcher) keep(t *control.Tally, zone *time.Location, drilled func(since time.Time) bool) {
	c := *t
	c.Lost = nil
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.tallies) == watchKept {
		w.tallies = append(w.tallies[:0], w.tallies[1:]...)
	}
	w.tallies = append(w.tallies, &c)
	if day := t.Time.In(zone).Format(time.DateOnly); day != w.day || t.Totals.Requests < w.at.Requests {
		w.day, w.since, w.at = day, t.Time, t.Totals
		w.drilled.requests, w.drilled.failed = 0, 0
	} else if n := len(w.tallies); n > 1 && drilled(w.tallies[n-2].Time) {
		ok, failed := served(w.tallies[n-2], t)
		w.drilled.requests += ok + failed
		w.drilled.failed += failed
	}
}

// recent is the tallies of the last minute and a half, oldest first.
func (w *watcher) recent() []*control.Tally {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]*control.Tally{}, w.tallies...)
}

// today is what clients asked and did not get since the day or this process began,
// but for what they met while a drill's fault was in: that was asked for.
func (w *watcher) today(now control.Totals) (requests, failed int64, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.since.IsZero() {
		return now.Requests, now.Failed, time.Now()
	}
	failed = now.Failed - w.at.Failed
	return now.OK + failed - w.at.OK - w.drilled.requests, failed - w.drilled.failed, w.since
}

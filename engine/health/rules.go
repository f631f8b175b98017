package health

import (
	"fmt"
	"time"
)

// The thresholds of the control law.
const (
	enough       = 20 // attempts in 10 s from which on the error rate counts
	tooMany      = 50 // percent of errors that eject
	faultsInRow  = 5
	connectSpan  = 2 * time.Second
	waitingMany  = 10
	waitingQuiet = 5 * time.Second
)

// trouble returns why the vendor should be ejected, or "".
func (m *Machine) trouble(now time.Time) string {
	n, bad := m.recent.sum(now)
	if n >= enough && bad*100 >= n*tooMany {
		return fmt.Sprintf("%d %% errors in 10 s, n=%d", bad*100/n, n)
	}
	if m.connect.n >= faultsInRow && m.connect.last.Sub(m.connect.first) >= connectSpan {
		return fmt.Sprintf("%d connection failures in a row", m.connect.n)
	}
	if n < enough && m.faults.n >= faultsInRow {
		if m.connect.n >= m.faults.n {
			return fmt.Sprintf("%d connection failures in a row", m.connect.n)
		}
		return fmt.Sprintf("%d failures in a row", m.faults.n)
	}
	if w := m.waiting; w.Streams+w.Wholes >= waitingMany && now.Sub(m.lastOK) >= waitingQuiet {
		return m.silence()
	}
	if p := m.probes; m.cfg.Probes && p.bad >= m.cfg.UnhealthyAfter && p.liveFaults > 0 && p.liveFaults >= p.liveOK {
		return fmt.Sprintf("%d failed probes in a row and %d live", p.bad, p.liveFaults)
	}
	return ""
}

func (m *Machine) silence() string {
	w := m.waiting
	switch {
	case w.Wholes == 0:
		return fmt.Sprintf("%d streams waited over %v, no success in 5s", w.Streams, m.cfg.FirstToken)
	case w.Streams == 0:
		return fmt.Sprintf("%d whole answers waited over %v, no success in 5s", w.Wholes, m.cfg.Whole)
	}
	return fmt.Sprintf("%d streams waited over %v and %d whole answers over %v, no success in 5s", w.Streams, m.cfg.FirstToken, w.Wholes, m.cfg.Whole)
}

// run is a number of like events in a row.
type run struct {
	n           int
	first, last time.Time
}

func (r *run) add(now time.Time) {
	if r.n == 0 || now.Before(r.first) {
		r.first = now
	}
	r.n++
	r.last = now
}

// lately returns the length of a run that went on within the last 10 s.
func (r *run) lately(now time.Time) int {
	if now.Sub(r.last) > 10*time.Second {
		return 0
	}
	return r.n
}

// probes are the runs of probes, and the live attempts since the first failed
// one of the present run, with the failures that led up to it.
type probes struct {
	good, bad          int
	liveOK, liveFaults int
}

func (p *probes) add(ok bool) {
	if ok {
		*p = probes{good: p.good + 1}
		return
	}
	p.good = 0
	p.bad++
}

// recent counts attempts and failures over the second that runs and the nine
// before it.
type recent struct {
	start   time.Time
	newest  int64
	n, bad  [10]int
	started bool
}

func (r *recent) add(now time.Time, failed bool) {
	i := r.advance(now)
	r.n[i]++
	if failed {
		r.bad[i]++
	}
}

func (r *recent) sum(now time.Time) (n, bad int) {
	r.advance(now)
	for i := range r.n {
		n += r.n[i]
		bad += r.bad[i]
	}
	return n, bad
}

// advance empties the seconds that have passed and returns the place of the
// newest. A moment before the newest second counts in it; one a minute before
// it means that the clock was set back, and counting goes on from there.
func (r *recent) advance(now time.Time) int {
	const span = int64(len(r.n))
	if !r.started {
		r.start, r.started = now, true
	}
	sec := int64(now.Sub(r.start) / time.Second)
	if sec <= r.newest-60 {
		r.start = now.Add(-time.Duration(r.newest) * time.Second)
	}
	for t := max(r.newest, sec-span) + 1; t <= sec; t++ {
		r.n[t%span], r.bad[t%span] = 0, 0
		r.newest = t
	}
	return int(r.newest % span)
}

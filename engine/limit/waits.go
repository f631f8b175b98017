package limit

import (
	"fmt"
	"math"
	"time"
)

// A vendor that lets wait what is over its limit says so by how long: each attempt
// waits for those before it. The attempts are replayed through queues that let so many
// a second through, and what each would have waited is taken off its first token (see
// replay.go). At the vendor's own rate what remains is what first tokens take without
// a queue, and varies least. A queue of half a second tells that rate to a few per
// cent within seconds, because a first token tells by its time how many were before it.
//
// What makes a vendor slow otherwise does not rise with each attempt by what one
// more costs and fall with each pause: within a second, too, the times must go up and
// down as the queue does, and by as much.

const (
	waitLong    = 20.0 // seconds that are looked at, and a quarter of it down to
	waitShort   = 2.5
	waitMost    = 1000 // attempts that are looked at
	waitSamples = 40   // first tokens that are enough
	waitLeft    = 0.75 // of their variance the queue may leave unexplained
	waitSure    = 5.0  // standard errors by which they must follow it,
	waitTells   = 2.25 // and these times the part of the variance that it explains
	waitFollow  = 0.25 // by how much more or less than it they may move
	waitBlock   = 1.5  // seconds at most in which they are compared with their mean,
	waitBlocks  = 8    // and how many of those there are at least
	waitReal    = 0.4  // of a first token is a wait,
	waitTrue    = 20   // and so many make a queue
	waitOff     = 0.02 // of the rate: three standard errors at most
	waitAgree   = 0.04 // between the rates of waitLooks looks in a row
	waitLooks   = 3
	waitVain    = 10   // looks in vain, after which there is one in
	waitRarely  = 4    // so many seconds
	waitSame    = 0.03 // of what is learned already: no news
)

// waited is the queue that explains first tokens best.
type waited struct {
	rps    float64 // 0: none
	off    float64 // three standard errors of it, relative
	left   float64 // part of the variance that it does not explain
	base   float64 // seconds of a first token without it
	wait   float64 // mean seconds of those who waited
	n      int     // who waited
	seen   int     // first tokens
	follow float64 // by how much they move with the queue
	sure   float64 // standard errors of that from none
}

func (w *waited) good() bool {
	return w.rps >= least && w.off <= waitOff && w.left <= waitLeft && w.n >= waitTrue &&
		w.sure >= waitSure && w.sure*(1-w.left) >= waitTells && math.Abs(w.follow-1) <= waitFollow
}

// waits is what was found at last.
type waits struct {
	rps   float64
	looks int       // in a row that agree
	vain  int       // in a row that found none
	from  time.Time // what was sent before is of another queue
}

// Back reports the first token of an attempt, that long after it was let through at
// begun.
func (l *Limiter) Back(begun time.Time, took time.Duration) { l.back(begun, took, false) }

// back reports that of a stream, or a whole answer.
func (l *Limiter) back(begun time.Time, took time.Duration, whole bool) {
	if x := l.sends.find(begun); x != nil && x.took == 0 && took > 0 {
		x.took, x.whole = float32(took.Seconds()), whole
	}
}

// Look is what first tokens say of a queue: taken from a limiter with Look, found without
// it, since that takes milliseconds, and given back in an Offer.
type Look struct {
	sent  []sent
	found waited

	searched bool // for long
}

// Look takes what is to be looked at, which is nothing where there is none or it is not due.
func (l *Limiter) Look(now time.Time) Look {
	if now.Before(l.queue.barred) || l.queue.draining || len(l.sends.ring) < waitSamples {
		return Look{}
	}
	if l.waits.vain > waitVain && l.waits.vain%waitRarely != 0 {
		l.waits.vain++
		return Look{}
	}
	t := l.sends.seconds(now)
	from := t - 1.5*waitLong
	for _, at := range [...]time.Time{l.learned.at, l.waits.from} {
		if !at.IsZero() {
			from = max(from, l.sends.seconds(at))
		}
	}
	return Look{sent: l.sends.since(from, t)}
}

// Find finds the queue. It needs no lock.
func (k *Look) Find() { k.found, k.searched = wait(k.sent) }

// waited learns from how long first tokens waited.
func (l *Limiter) waited(now time.Time, k Look) bool {
	if k.sent == nil || now.Before(l.queue.barred) || l.queue.draining {
		return false
	}
	w, before := k.found, l.waits
	l.waits.rps, l.waits.looks = 0, 0
	if w.rps == 0 {
		if k.searched {
			l.waits.vain++
		}
		return false
	}
	l.waits.rps, l.waits.looks, l.waits.vain = w.rps, 1, 0
	if before.rps > 0 && math.Abs(w.rps-before.rps) <= waitAgree*w.rps {
		l.waits.looks = before.looks + 1
	}
	if l.waits.looks < waitLooks || math.Abs(w.rps-l.learned.rps) <= waitSame*l.learned.rps {
		return false
	}
	first := time.Duration((w.base + w.wait) * float64(time.Second))
	return l.capped(now, w.rps, w.seen, first, fmt.Sprintf(
		"queueing: %d of %d first tokens waited for those before them as at %.1f/s, %.2fs on average", w.n, w.seen, w.rps, w.wait,
	))
}

// wait finds the queue behind attempts, oldest first, over the span of time that shows
// it best: a limit may be younger than what is remembered. Its rate is 0 where there is none.
func wait(all []sent) (best waited, searched bool) {
	tries := triesOf(all)
	out := make([]float64, len(tries))
	for long := waitLong; long >= waitShort && len(tries) > 0; long /= 4 {
		from := max(len(tries)-waitMost, 0)
		for from < len(tries) && tries[from].at < tries[len(tries)-1].at-long {
			from++
		}
		s := search{all: tries[from:]}
		if !s.look() {
			continue
		}
		searched = true
		if w := s.waited(out); w.good() && (best.rps == 0 || w.left < best.left) {
			best = w
		}
	}
	return best, searched
}

// triesOf are those of attempts that were accepted, up to the last one of which more is known, with
// times of streams or of whole answers, whichever are more.
func triesOf(all []sent) []tried {
	streams, wholes := 0, 0
	for _, x := range all {
		switch {
		case x.took <= 0 || x.refused:
		case x.whole:
			wholes++
		default:
			streams++
		}
	}
	tries, known := make([]tried, 0, len(all)), 0
	for _, x := range all {
		if x.refused {
			continue
		}
		t := tried{x.at, -1}
		if x.took > 0 && x.whole == (wholes > streams) {
			t.took, known = float64(x.took), len(tries)+1
		}
		tries = append(tries, t)
	}
	return tries[:known]
}

// waited is what it finds; out has room for all.
func (s *search) waited(out []float64) waited {
	s.find()
	if s.best.rps == 0 {
		return waited{}
	}
	lo, hi := s.between()
	_, base := s.best.through(s.all)
	out = out[:len(s.all)]
	s.best.waits(s.all, out)
	w := waited{rps: s.best.rps, off: (hi - lo) / (hi + lo), left: s.score / s.null, base: base, seen: s.seen}
	for _, wait := range out {
		if wait > waitReal*base {
			w.n++
			w.wait += wait
		}
	}
	w.wait /= float64(max(w.n, 1))
	w.follow, w.sure = follows(s.all, out)
	return w
}

// follows says by how much times go up and down with the waits within each block of
// time (least squares), and how many standard errors that is from not at all. The block
// that tells most is left out: that a vendor became slower once is no queue.
func follows(all []tried, waits []float64) (by, sure float64) {
	var sum, most moments
	long := min((all[len(all)-1].at-all[0].at)/waitBlocks, waitBlock)
	for from := 0; from < len(all); {
		to, n, w, d := from, 0.0, 0.0, 0.0
		for ; to < len(all) && all[to].at < all[from].at+long; to++ {
			if waits[to] >= 0 {
				n, w, d = n+1, w+waits[to], d+all[to].took
			}
		}
		var m moments
		for i := from; i < to; i++ {
			if waits[i] >= 0 {
				a, b := waits[i]-w/n, all[i].took-d/n
				m.ww, m.wd, m.dd = m.ww+a*a, m.wd+a*b, m.dd+b*b
			}
		}
		m.free = max(n-1, 0)
		if m.wd > most.wd {
			most = m
		}
		sum.add(m, 1)
		from = max(to, from+1)
	}
	sum.add(most, -1)
	if sum.ww <= 0 || sum.free < 3 {
		return 0, 0
	}
	by = sum.wd / sum.ww
	return by, by * math.Sqrt(sum.ww/max((sum.dd-by*sum.wd)/(sum.free-1), 1e-12))
}

// moments are sums of squares and products of waits and times about their means.
type moments struct{ ww, wd, dd, free float64 }

func (m *moments) add(x moments, sign float64) {
	m.ww, m.wd, m.dd, m.free = m.ww+sign*x.ww, m.wd+sign*x.wd, m.dd+sign*x.dd, m.free+sign*x.free
}

package limit

import "time"

const (
	// yieldAgo is how old a limit is at most that was found in the line of an overload.
	yieldAgo = 30 * time.Second
	// yieldAfter is how long nothing is learned from a queue after an overload.
	yieldAfter = 5 * time.Second
)

// Yield says whether more work has come than all vendors can do, so that attempts in
// flight are held to what this one does (package admission). No line stands there then,
// and what a line once taught would only leave places empty: it lets everything
// through, and nothing is learned from a queue.
func (l *Limiter) Yield(now time.Time, on bool) {
	on = on || l.learned.queued && !l.pressed.IsZero() && now.Sub(l.pressed) < yieldAfter
	if on {
		l.queue.barred = later(l.queue.barred, now.Add(yieldAfter))
	}
	if on == l.yields {
		return
	}
	l.yields = on
	if !on {
		return
	}
	if l.learned.queued && now.Sub(l.learned.at) < yieldAgo {
		l.unlearn()
	}
	l.queue.draining, l.queue.proving = false, false
}

// inForce says whether what was learned holds.
func (l *Limiter) inForce() bool { return l.learned.rps > 0 && !(l.learned.queued && l.yields) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

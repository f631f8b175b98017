package fault

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Lease is a fault in force. It ends once: at Release, at its time, when another
// fault takes its place, or when it is not renewed.
type Lease struct {
	point *Point
	spec  Spec
	does  failure
	start time.Time
	hard  time.Time // the hard expiry
	done  chan struct{}

	struck atomic.Int64
	first  atomic.Pointer[time.Time]

	mu    sync.Mutex // guards what follows
	until time.Time  // at most hard
	timer *time.Timer
	dice  *rand.Rand
}

func newLease(p *Point, now time.Time, spec Spec) *Lease {
	if spec.Seed == 0 {
		spec.Seed = rand.Uint64()
	}
	l := &Lease{
		point: p, spec: spec, start: now, hard: now.Add(spec.For), done: make(chan struct{}),
		dice: rand.New(rand.NewPCG(spec.Seed, 0)),
	}
	l.until = l.hard
	for _, k := range kinds {
		if k.kind == spec.Kind {
			l.does = k.make(spec)
		}
	}
	return l
}

// arm starts the clock of the lease.
func (l *Lease) arm() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
	default:
		l.timer = time.AfterFunc(time.Until(l.until), l.Release)
	}
}

// Spec returns the fault, defaults and seed filled in.
func (l *Lease) Spec() Spec { return l.spec }

// Done is closed when the lease has ended.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Struck returns how many attempts were struck, and when the first was; zero
// where none was.
func (l *Lease) Struck() (n int64, first time.Time) {
	if t := l.first.Load(); t != nil {
		first = *t
	}
	return l.struck.Load(), first
}

// Release ends the fault: attempts begun from now on pass, those that a fault
// holds back go on. Further calls do nothing.
func (l *Lease) Release() {
	if l.point.active.CompareAndSwap(l, nil) {
		l.stop()
		l.point.changed()
	}
}

// Renew has the fault end ttl after now unless it is renewed again: whoever
// injected it renews it for as long as it stands by it. It never goes beyond
// Spec.For, and without any Renew it is Spec.For alone that counts. It returns
// false where the lease has ended.
func (l *Lease) Renew(now time.Time, ttl time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
		return false
	default:
	}
	l.until = now.Add(ttl)
	if l.until.After(l.hard) {
		l.until = l.hard
	}
	if l.timer != nil {
		l.timer.Reset(l.until.Sub(now))
	}
	return true
}

// stop ends the lease once it has left its point.
func (l *Lease) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.timer != nil {
		l.timer.Stop()
	}
	close(l.done)
}

// live says whether the lease is in force at now. A timer that fires late keeps
// no fault alive.
func (l *Lease) live(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until)
}

// ended says whether the lease is over.
func (l *Lease) ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// chooses says whether the fault strikes an attempt that begins now, and counts it.
func (l *Lease) chooses(ctx context.Context) bool {
	if l.does == nil || l.spec.Lane != "" && laneOf(ctx) != l.spec.Lane {
		return false
	}
	now := time.Now()
	if !l.live(now) || !l.roll(now) {
		return false
	}
	l.struck.Add(1)
	if l.first.Load() == nil {
		l.first.CompareAndSwap(nil, &now)
	}
	return true
}

// roll draws by the percent that the ramp has reached at now.
func (l *Lease) roll(now time.Time) bool {
	percent := l.spec.Percent
	if gone := now.Sub(l.start); gone < l.spec.Ramp {
		percent *= float64(max(0, gone)) / float64(l.spec.Ramp)
	}
	if percent >= 100 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dice.Float64()*100 < percent
}

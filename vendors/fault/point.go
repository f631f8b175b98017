package fault

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Point is the place in the path to one vendor where faults strike. The zero
// Point is ready for use and lets everything pass.
type Point struct {
	active atomic.Pointer[Lease] // nil: no fault
	remote atomic.Pointer[net.TCPAddr]

	mu    sync.Mutex // guards what follows
	conns map[*conn]struct{}
	hooks []*func()
}

// State is a fault that is in force.
type State struct {
	Spec
	Since  time.Time
	Until  time.Time // when it ends by itself at the latest
	Struck int64     // attempts struck so far
	First  time.Time // when the first was struck; zero: none yet
}

// Inject puts spec in force at once, in place of a fault already there. Zero
// values of spec but After mean the defaults; For is held to MaxFor. An unknown
// kind strikes nobody (Parse refuses it).
func (p *Point) Inject(now time.Time, spec Spec) *Lease {
	l := newLease(p, now, spec.fill())
	if old := p.active.Swap(l); old != nil {
		old.stop()
	}
	l.arm()
	p.changed()
	if l.spec.InFlight == Cut {
		p.cut(l)
	}
	return l
}

// Clear ends the fault, if there is one.
func (p *Point) Clear() {
	if l := p.active.Load(); l != nil {
		l.Release()
	}
}

// State returns the fault in force at now, or false.
func (p *Point) State(now time.Time) (State, bool) {
	l := p.active.Load()
	if l == nil || !l.live(now) {
		return State{}, false
	}
	struck, first := l.Struck()
	return State{Spec: l.spec, Since: l.start, Until: l.hard, Struck: struck, First: first}, true
}

// OnChange has f called after every injection and every end of a fault, from
// the goroutine that caused it; f must not block. It returns a function that
// takes f out again.
func (p *Point) OnChange(f func()) (remove func()) {
	hook := &f
	p.mu.Lock()
	p.hooks = append(p.hooks, hook)
	p.mu.Unlock()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hooks = slices.DeleteFunc(p.hooks, func(h *func()) bool { return h == hook })
	}
}

// changed calls the hooks.
func (p *Point) changed() {
	p.mu.Lock()
	hooks := slices.Clone(p.hooks)
	p.mu.Unlock()
	for _, h := range hooks {
		(*h)()
	}
}

// Wrap returns a RoundTripper that sends requests through base, or has the
// fault strike them.
func (p *Point) Wrap(base http.RoundTripper) http.RoundTripper {
	return &wrapped{point: p, base: base}
}

type wrapped struct {
	point *Point
	base  http.RoundTripper
}

// RoundTrip sends r on unless a fault is in force and r is chosen for it.
func (w *wrapped) RoundTrip(r *http.Request) (*http.Response, error) {
	l := w.point.active.Load()
	if l == nil || !l.chooses(r.Context()) {
		return w.base.RoundTrip(r)
	}
	return l.does.strike(&attempt{request: r, next: w.base, lease: l})
}

type laneKey struct{}

// The lanes as values of contexts, so that WithLane has nothing to allocate for them.
var interactive, batch any = "interactive", "batch"

// WithLane returns a context whose requests belong to lane, so that a fault may
// be restricted to it. It costs the context and no more.
func WithLane(ctx context.Context, lane string) context.Context {
	switch lane {
	case interactive:
		return context.WithValue(ctx, laneKey{}, interactive)
	case batch:
		return context.WithValue(ctx, laneKey{}, batch)
	}
	return ctx // nobody restricts a fault to a lane that there is not
}

func laneOf(ctx context.Context) string {
	lane, _ := ctx.Value(laneKey{}).(string)
	return lane
}

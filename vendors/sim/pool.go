package sim

import (
	"math/rand/v2"
	"slices"
	"time"
)

// The profile "vllm-pool": Replicas servers with continuous batching, each request at the one with the fewest. Capacity
// is the sequences that one works on at once, KVTokens its cache. The queue has no end and nothing is refused: overload
// shows as a late first token. FirstToken is what a median prompt of 300 tokens waits without load; what of it is not
// the iteration's (23.5 ms by default, which leaves 20 ms) passes before the server's queue.
//
// In a closed loop of 1, 32, 128 and 256 requests on one replica the first token's P50 is 44, 53, 78 and 99 ms and a
// token's 10.5, 15, 28 and 44 ms; of 500 on 1, 2 and 4 replicas 5.8 s, 101 and 77 ms. The first token's P99 once settled
// is 72, 98, 152 and 175 ms, and 6.3 s, 187 and 148 ms; with a simultaneous start counted in, up to ten times that. A
// cache of 40,000 tokens makes P50 1.5 s at 128 and 6.3 s at 256; the model that this one follows had 7.5 and 28 s.
//
// With MaxReplicas above Replicas the pool is elastic: it adds one for each 30 s that the load stays over 0.8 of all
// places, and takes one away for each 5 minutes that it stays under 0.3.
const (
	poolStep    = 23500 * time.Microsecond
	shrinkAfter = 5 * time.Minute
	shrinkLoad  = 0.3
)

// pool is a machine.
type pool struct {
	o        *Options
	rng      *rand.Rand
	coming   []*sequence // not yet in a queue, the next first
	replicas []*replica  // those that drain too
	hot      time.Time   // since when the load is over growLoad; zero: it is not
	cool     time.Time
}

func newPool(o *Options) *pool {
	p := &pool{o: o, rng: rand.New(rand.NewPCG(o.Seed, 0x706f6f6c))}
	for range o.Replicas {
		p.replicas = append(p.replicas, &replica{})
	}
	return p
}

// enter hands in a sequence, which reaches a queue at its time.
func (p *pool) enter(now, ready time.Time, s *sequence) {
	s.ready = ready
	if !ready.After(now) {
		p.dispatch(now, s)
		return
	}
	i, _ := slices.BinarySearchFunc(p.coming, ready.Add(1), func(s *sequence, t time.Time) int { return s.ready.Compare(t) })
	p.coming = slices.Insert(p.coming, i, s)
}

func (p *pool) dispatch(now time.Time, s *sequence) {
	var best *replica
	for _, r := range p.replicas {
		if !r.draining && (best == nil || r.count() < best.count()) {
			best = r
		}
	}
	s.replica = best
	best.waiting = append(best.waiting, s)
	if !best.stepping {
		best.begin(now, p.o, p.rng)
	}
}

func (p *pool) leave(s *sequence) {
	if s.replica != nil {
		s.replica.remove(s)
	}
	if i := slices.Index(p.coming, s); i >= 0 {
		p.coming = slices.Delete(p.coming, i, i+1)
	}
}

func (p *pool) advance(now time.Time) {
	for {
		r, at, some := p.soonest()
		if !some || at.After(now) {
			break
		}
		if r != nil {
			r.end()
			r.begin(at, p.o, p.rng)
			continue
		}
		s := p.coming[0]
		p.coming = slices.Delete(p.coming, 0, 1)
		p.dispatch(at, s)
	}
	p.scale(now)
}

func (p *pool) next() (at time.Time, some bool) {
	_, at, some = p.soonest()
	return at, some
}

// soonest is the replica whose iteration ends next, or nil where a sequence reaches its queue before that.
func (p *pool) soonest() (next *replica, at time.Time, some bool) {
	for _, r := range p.replicas {
		if r.stepping && (!some || r.ends.Before(at)) {
			next, at, some = r, r.ends, true
		}
	}
	if len(p.coming) > 0 && (!some || p.coming[0].ready.Before(at)) {
		return nil, p.coming[0].ready, true
	}
	return next, at, some
}

// set changes the options and the number of replicas with them.
func (p *pool) set(now time.Time, o *Options) {
	resized := o.Replicas != p.o.Replicas || o.MaxReplicas != p.o.MaxReplicas
	p.o = o
	if resized {
		p.resize(now, o.Replicas)
	}
	for _, r := range p.replicas {
		if !r.stepping {
			r.begin(now, o, p.rng) // a larger cache or more places may let somebody in
		}
	}
}

// resize adds replicas, or lets the last ones drain; what waits there goes to others.
func (p *pool) resize(now time.Time, n int) {
	live := 0
	var moved []*sequence
	for _, r := range p.replicas {
		if r.draining = live >= n; r.draining {
			moved = append(moved, r.waiting...)
			r.waiting = nil
			continue
		}
		live++
	}
	for ; live < n; live++ {
		p.replicas = append(p.replicas, &replica{})
	}
	p.drop()
	for _, s := range moved {
		p.dispatch(now, s)
	}
}

// drop forgets replicas that have drained.
func (p *pool) drop() {
	p.replicas = slices.DeleteFunc(p.replicas, func(r *replica) bool { return r.draining && r.count() == 0 })
}

// live is the number of replicas that take requests, and the load on all places.
func (p *pool) live() (n int, load float64) {
	count := 0
	for _, r := range p.replicas {
		if !r.draining {
			n++
		}
		count += r.count()
	}
	return n, float64(count) / float64(n*p.o.Capacity)
}

// scale grows and shrinks an elastic pool.
func (p *pool) scale(now time.Time) {
	p.drop()
	n, load := p.live()
	if stays(&p.hot, now, load > growLoad && n < p.o.MaxReplicas, p.o.scaled(growAfter)) {
		p.resize(now, n+1)
	}
	if stays(&p.cool, now, load < shrinkLoad && n > p.o.Replicas, p.o.scaled(shrinkAfter)) {
		p.resize(now, n-1)
	}
}

// stays says whether something has held for d, and then begins anew.
func stays(since *time.Time, now time.Time, holds bool, d time.Duration) bool {
	switch {
	case !holds:
		*since = time.Time{}
	case since.IsZero():
		*since = now
	case now.Sub(*since) >= d:
		*since = now
		return true
	}
	return false
}

// poolStation is a pool driven by the clock.
type poolStation struct {
	driver
	pool *pool
}

func newPoolStation(o *Options) station {
	p := newPool(o)
	return &poolStation{driver: driver{m: p}, pool: p}
}

func (s *poolStation) set(o *Options) {
	s.do(func(now time.Time) { s.pool.set(now, o) })
}

func (s *poolStation) reading() reading {
	var out reading
	s.do(func(time.Time) {
		out.replicas, _ = s.pool.live()
		for _, r := range s.pool.replicas {
			out.working += len(r.working)
			out.waiting += len(r.waiting)
		}
		out.capacity = float64(out.replicas * s.pool.o.Capacity)
	})
	return out
}

func (s *poolStation) serve(in, hit, out int) pace {
	return &batched{s: s, seq: newSequence(in, hit, max(out, 1))}
}

// batched is the pace of a sequence in a pool.
type batched struct {
	s     *poolStation
	seq   *sequence
	wrote time.Time
}

func (b *batched) first(x *exchange) bool {
	return b.enter(x) && b.until(x, 1)
}

// enter hands the request to the pool.
func (b *batched) enter(x *exchange) bool {
	if blocksOf(b.seq.prompt+b.seq.want) > x.o.KVTokens/kvBlock {
		x.refuse(contextLength)
		return false
	}
	ready := x.began.Add(x.o.scaled(max(x.o.FirstToken-poolStep, 0)))
	b.s.do(func(now time.Time) { b.s.pool.enter(now, ready, b.seq) })
	x.leave = func() { b.s.do(func(time.Time) { b.s.pool.leave(b.seq) }) }
	return true
}

// until waits until n tokens are made; false when the client left.
func (b *batched) until(x *exchange, n int) bool {
	for int(b.seq.made.Load()) < n {
		select {
		case <-b.seq.wake:
		case <-x.r.Context().Done():
			x.outcome = Left
			return false
		}
	}
	return true
}

func (b *batched) next(x *exchange, from, n int) (int, bool) {
	if !b.wrote.IsZero() && !x.sleepUntil(b.wrote.Add(x.o.scaled(coalesce))) {
		return from, false
	}
	if !b.until(x, from+1) {
		return from, false
	}
	b.wrote = time.Now()
	return min(int(b.seq.made.Load()), n), true
}

func (b *batched) last(x *exchange, n int) bool {
	return b.enter(x) && b.until(x, n)
}

package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"
)

// One replica of the profile "vllm-pool": a server with continuous batching, an iteration at a time.
//
//	an iteration takes PerToken (10.5 ms) + 30 µs·sequences + 25 ns·tokens in the KV cache + 30 µs·prompt tokens
//	                  (+ 4 ms if there are any), × a lognormal jitter of mean 1 and cv 0.05
//	and reads at most 8192 tokens: one for each sequence that writes, the rest of prompts
//
// A sequence takes its prompt's KV blocks when it is taken up. When the cache is full, the youngest gives its blocks
// back and waits in front; later its prompt and what it has written are read again.
const (
	stepPerSequence = 30e-6 // seconds
	stepPerCached   = 25e-9
	stepPerRead     = 30e-6
	stepRead        = 4e-3
	stepBudget      = 8192
	stepSigma       = 0.04997 // √ln(1+0.05²)
	kvBlock         = 16
)

// replica holds the sequences of one server.
type replica struct {
	working  []*sequence // in the order in which they were taken up
	waiting  []*sequence // first come, first served
	kv       int         // blocks in use
	cached   int         // tokens in the KV cache
	stepping bool
	ends     time.Time // of the iteration under way
	draining bool      // takes no more, ends when it is empty
}

// sequence is a request on a replica. made may be read at any time, wake is signalled when it has grown.
type sequence struct {
	prompt  int // tokens
	hit     int // of the prompt, found in the prefix cache
	want    int
	made    atomic.Int64
	wake    chan struct{}
	ready   time.Time // when it reaches a queue
	replica *replica  // nil before
	working bool
	target  int // tokens to read before it writes: the prompt, or also what it had written
	read    int
	chunk   int // tokens read in this iteration
	writes  bool
	blocks  int
}

func newSequence(prompt, hit, want int) *sequence {
	return &sequence{prompt: prompt, hit: min(hit, prompt-1), want: want, wake: make(chan struct{}, 1), target: prompt}
}

// tokens are those that the sequence has in the KV cache.
func (s *sequence) tokens() int { return s.read + max(int(s.made.Load())-(s.target-s.prompt), 0) }

func blocksOf(tokens int) int { return (tokens + kvBlock - 1) / kvBlock }

func (r *replica) count() int { return len(r.working) + len(r.waiting) }

// begin starts an iteration, if there is anything to do.
func (r *replica) begin(now time.Time, o *Options, rng *rand.Rand) {
	budget, preempted := stepBudget, false
	for i := 0; i < len(r.working); i++ {
		s := r.working[i]
		s.chunk, s.writes = 0, false
		if s.read < s.target {
			s.chunk = min(s.target-s.read, budget)
			budget -= s.chunk
			continue
		}
		for s.blocks < blocksOf(s.tokens()+1) && !r.grow(s, 1, o) {
			preempted = true
			if r.preempt() == s {
				break
			}
		}
		if s.working && budget > 0 {
			s.writes = true
			budget--
		}
	}
	for !preempted && budget > 0 && len(r.waiting) > 0 && len(r.working) < o.Capacity {
		s := r.waiting[0]
		if !r.grow(s, blocksOf(s.target), o) {
			break
		}
		r.waiting = slices.Delete(r.waiting, 0, 1)
		s.working, s.read, s.writes = true, s.hit, false
		s.chunk = min(s.target-s.read, budget)
		budget -= s.chunk
		r.working = append(r.working, s)
	}
	if r.stepping = len(r.working) > 0; r.stepping {
		r.ends = now.Add(r.length(o, rng))
	}
}

// length is how long the iteration that begin has put together takes.
func (r *replica) length(o *Options, rng *rand.Rand) time.Duration {
	read, cached := 0, 0
	for _, s := range r.working {
		read += s.chunk
		cached += s.tokens()
	}
	r.cached = cached
	d := o.PerToken.Seconds() + stepPerSequence*float64(len(r.working)) + stepPerCached*float64(cached) + stepPerRead*float64(read)
	if read > 0 {
		d += stepRead
	}
	d *= math.Exp(stepSigma*rng.NormFloat64() - stepSigma*stepSigma/2)
	return max(time.Duration(d*o.Scale*float64(time.Second)), 1)
}

// end ends the iteration: what was read is read, who writes has a token more.
func (r *replica) end() {
	kept := r.working[:0]
	for _, s := range r.working {
		s.read += s.chunk
		if s.writes || s.chunk > 0 && s.read == s.target {
			s.made.Add(1)
			select {
			case s.wake <- struct{}{}:
			default:
			}
		}
		if int(s.made.Load()) >= s.want {
			r.free(s)
			continue
		}
		kept = append(kept, s)
	}
	clear(r.working[len(kept):])
	r.working = kept
	r.stepping = false
}

// grow gives a sequence n blocks more; false if the cache has not so many.
func (r *replica) grow(s *sequence, n int, o *Options) bool {
	if r.kv+n > o.KVTokens/kvBlock {
		return false
	}
	r.kv += n
	s.blocks += n
	return true
}

func (r *replica) free(s *sequence) {
	r.kv -= s.blocks
	s.blocks, s.working = 0, false
}

// preempt takes the youngest sequence's blocks away.
func (r *replica) preempt() *sequence {
	last := len(r.working) - 1
	s := r.working[last]
	r.working = slices.Delete(r.working, last, last+1)
	r.free(s)
	s.target, s.read, s.chunk, s.writes = s.prompt+int(s.made.Load()), 0, 0, false
	r.waiting = slices.Insert(r.waiting, 0, s)
	return s
}

// remove takes a sequence out whose client has left.
func (r *replica) remove(s *sequence) {
	if i := slices.Index(r.working, s); i >= 0 {
		r.working = slices.Delete(r.working, i, i+1)
		r.free(s)
	}
	if i := slices.Index(r.waiting, s); i >= 0 {
		r.waiting = slices.Delete(r.waiting, i, i+1)
	}
}

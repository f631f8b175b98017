package spike

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Second is what became of the requests that were due in one second of the plan.
type Second struct {
	T        int     `json:"t_s"` // from the beginning of the baseline
	Phase    string  `json:"phase"`
	Sent     int     `json:"sent"`
	Admitted int     `json:"admitted"`
	Limited  int     `json:"limited"` // 429 with Retry-After
	Shed     int     `json:"shed"`    // 503 with Retry-After
	Failed   int     `json:"failed"`
	Dropped  int     `json:"dropped"` // not sent: the client was the limit
	P50ms    float64 `json:"p50_ms"`  // first token of admitted streams, from when they were due; 0: none
	P99ms    float64 `json:"p99_ms"`
}

// Span is what became of the requests of a phase.
type Span struct {
	Sent     int     `json:"sent"`
	Admitted int     `json:"admitted"`
	Limited  int     `json:"limited"`
	Shed     int     `json:"shed"`
	Failed   int     `json:"failed"`
	Dropped  int     `json:"dropped"`
	Goodput  float64 `json:"goodput"` // admitted / (sent + dropped)
	RPS      float64 `json:"rps"`     // admitted per second
	Streams  int     `json:"streams"` // admitted ones, of which the quantiles are
	P50ms    float64 `json:"p50_ms"`
	P90ms    float64 `json:"p90_ms"`
	P99ms    float64 `json:"p99_ms"`
}

// Result is what a spike did.
type Result struct {
	Baseline Span `json:"baseline"`
	Peak     Span `json:"peak"`
	Recovery Span `json:"recovery"`

	FirstShedS *float64 `json:"first_shed_s"` // from the step up until the first request was refused; null: none was
	RecoverS   *float64 `json:"recover_s"`    // from the step back; null: not within the plan
	Metastable bool     `json:"metastable"`   // goodput stayed down although the load had gone

	Words map[string]int `json:"words"` // why requests failed: a status, or what broke

	LagP99ms      float64 `json:"schedule_lag_p99_ms"` // from when requests were due until they were sent
	ClientLimited bool    `json:"client_limited"`      // the generator was late, or dropped some

	CPU        map[string]float64 `json:"cpu"`   // seconds of the peak by part; null: not measured
	CPUSeconds float64            `json:"cpu_s"` // how long that was measured
	Seconds    []Second           `json:"seconds"`
}

// book keeps what became of each request.
type book struct {
	plan  *Plan
	begin time.Time

	mu       sync.Mutex
	seconds  []Second
	under    []int       // requests of the second that have not ended
	firsts   [][]float64 // first tokens of the second's admitted streams, ms
	lags     []float64   // ms
	words    map[string]int
	firstBad time.Duration // due moment of the first one refused in the peak; 0: none
}

func newBook(p *Plan, begin time.Time) *book {
	n := int(math.Ceil(p.Length().Seconds())) + 1
	b := &book{plan: p, begin: begin, seconds: make([]Second, n), under: make([]int, n), firsts: make([][]float64, n), words: map[string]int{}}
	for i := range b.seconds {
		b.seconds[i] = Second{T: i, Phase: p.phase(time.Duration(i) * time.Second)}
	}
	return b
}

// at is the second in which a request was due.
func (b *book) at(due time.Duration) int {
	return min(max(0, int(due/time.Second)), len(b.seconds)-1)
}

func (b *book) sent(due time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.at(due.Sub(b.begin))
	b.seconds[i].Sent++
	b.under[i]++
}

func (b *book) drop(due time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seconds[b.at(due.Sub(b.begin))].Dropped++
}

func (b *book) end(e ending) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.at(e.due)
	b.under[i]--
	b.lags = append(b.lags, ms(e.lag))
	s := &b.seconds[i]
	switch e.outcome {
	case admitted:
		s.Admitted++
		if e.stream {
			b.firsts[i] = append(b.firsts[i], ms(e.first))
		}
	case limited:
		s.Limited++
	case shed:
		s.Shed++
	default:
		s.Failed++
		b.words[e.why]++
	}
	if refused := e.outcome == limited || e.outcome == shed; refused && b.plan.phase(e.due) == Peak && (b.firstBad == 0 || e.due < b.firstBad) {
		b.firstBad = max(e.due, 1)
	}
}

// patience is how long a second waits for its requests before it is told.
const patience = 2 * time.Second

// tell passes the seconds on, in their order, until ctx ends.
func (b *book) tell(ctx context.Context, seen func(Second)) {
	for i := range b.seconds {
		over := b.begin.Add(time.Duration(i+1) * time.Second)
		if !sleep(ctx, time.Until(over)) {
			return
		}
		for !b.settled(i) && time.Since(over) < patience {
			if !sleep(ctx, 50*time.Millisecond) {
				return
			}
		}
		seen(b.second(i))
	}
}

func (b *book) settled(i int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.under[i] == 0
}

func (b *book) second(i int) Second {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.seconds[i]
	f := slices.Sorted(slices.Values(b.firsts[i]))
	s.P50ms, s.P99ms = quantile(f, 0.5), quantile(f, 0.99)
	return s
}

// result reckons up. Every request has ended.
func (b *book) result() *Result {
	r := &Result{Seconds: make([]Second, len(b.seconds)), Words: b.words}
	for i := range b.seconds {
		r.Seconds[i] = b.second(i)
	}
	for phase, s := range map[string]*Span{Baseline: &r.Baseline, Peak: &r.Peak, Recovery: &r.Recovery} {
		*s = b.span(func(x *Second) bool { return x.Phase == phase })
		length := map[string]time.Duration{Baseline: b.plan.Baseline, Peak: b.plan.Hold, Recovery: b.plan.Recovery}[phase]
		s.RPS = float64(s.Admitted) / length.Seconds()
		var f []float64
		for i := range b.seconds {
			if b.seconds[i].Phase == phase {
				f = append(f, b.firsts[i]...)
			}
		}
		slices.Sort(f)
		s.Streams, s.P50ms, s.P90ms, s.P99ms = len(f), quantile(f, 0.5), quantile(f, 0.9), quantile(f, 0.99)
	}
	if b.firstBad > 0 {
		at := (b.firstBad - b.plan.Baseline).Seconds()
		r.FirstShedS = &at
	}
	b.recovery(r)
	slices.Sort(b.lags)
	r.LagP99ms = quantile(b.lags, 0.99)
	// Late by so much, the generator measures itself: the rule of the stress tests.
	r.ClientLimited = r.LagP99ms > max(5, 0.05*r.Peak.P50ms) || r.Peak.Dropped > 0
	return r
}

// span adds up the seconds that which chooses.
func (b *book) span(which func(*Second) bool) Span {
	var s Span
	for i := range b.seconds {
		if x := &b.seconds[i]; which(x) {
			s.Sent, s.Admitted, s.Limited, s.Shed = s.Sent+x.Sent, s.Admitted+x.Admitted, s.Limited+x.Limited, s.Shed+x.Shed
			s.Failed, s.Dropped = s.Failed+x.Failed, s.Dropped+x.Dropped
		}
	}
	if all := s.Sent + s.Dropped; all > 0 {
		s.Goodput = float64(s.Admitted) / float64(all)
	}
	return s
}

// recovery finds the first proof of good service after the step back: as good as
// before the spike.
func (b *book) recovery(r *Result) {
	back := int(math.Ceil((b.plan.Baseline + b.plan.Hold).Seconds()))
	end := int(b.plan.Length().Seconds())
	window := int((b.plan.proof() + time.Second - 1) / time.Second)
	for from := back; from+window <= end; from++ {
		s := b.span(func(x *Second) bool { return x.T >= from && x.T < from+window })
		if s.Sent > 0 && s.Goodput >= 0.99*r.Baseline.Goodput {
			at := float64(from) - (b.plan.Baseline + b.plan.Hold).Seconds()
			r.RecoverS = &at
			return
		}
	}
	r.Metastable = true
}

// quantile is the smallest of the sorted values that at least a part q of them
// does not exceed; 0 of none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, max(0, int(math.Ceil(q*float64(len(sorted))))-1))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

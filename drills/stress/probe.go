package stress

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"baton/engine/outcome"
)

// What a probe takes, roughly: for the preview.
const (
	probeRequests = 500
	probeSeconds  = 25
)

const (
	calibrating = 6   // requests, long and short ones in turn
	shortAnswer = 8   // tokens of a probe's answer: cheap
	probeFirst  = 2.0 // requests per second of the first step
	probeRise   = 1.6 // from step to step; a guard against slopes that says so is given time
	probeMost   = 400.0
	slowRise    = 1.25
	over        = 1.5  // times the limit: how much is asked to measure it
	eager       = 8.0  // the same of one that lets through one at a time
	overQueue   = 1.25 // the same of one that queues: what it lets wait has to end
	headroom    = 1.2
)

// probeTimes is how long the parts of a probe take.
type probeTimes struct {
	step     time.Duration // of the staircase
	lead     time.Duration // before a hold is measured: a full bucket empties
	hold     time.Duration // whole seconds: limits by the second are then counted whole
	pause    time.Duration // for a bucket to fill
	slow     time.Duration // a step where a guard against slopes was met
	slowMost time.Duration
}

var usualTimes = probeTimes{
	step: 1500 * time.Millisecond, lead: 1500 * time.Millisecond, hold: 4 * time.Second,
	pause: 1500 * time.Millisecond, slow: 10 * time.Second, slowMost: 150 * time.Second,
}

// base is what the target does without load, in ms; NaN: not known.
type base struct {
	first, token, total float64
	shortTotal          float64
	shortFirst          float64
	shortToken          float64
}

// prober looks for a limit at one target.
type prober struct {
	a     *asker
	p     *Plan
	meter *meter
	base  base
	said  func(stage string)

	requests int
	admitted []time.Duration // when what was admitted was sent
	slope    *refusal        // a guard against slopes was met
	slopeAt  float64
}

// calibrate asks a few questions one after the other: whether the target answers at
// all, and how fast. Its error says why it does not.
func (b *prober) calibrate(ctx context.Context) error {
	b.said("first answers")
	var long, short []sample
	for i := 0; i < calibrating; i++ {
		size, into := 0, &long
		if i%2 == 1 {
			size, into = min(shortAnswer, b.p.MaxTokens), &short
		}
		if !b.meter.reserve() {
			return errBudget
		}
		knew := b.a.noUsage.Load()
		s := b.a.ask(ctx, time.Now(), b.a.next(size, 0), nil)
		b.meter.spend(&s)
		b.requests++
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case s.ok():
			*into = append(*into, s)
			b.admitted = append(b.admitted, s.sent)
			continue
		case !knew && b.a.noUsage.Load(): // it refused stream_options, and is asked without from now on
			i--
			continue
		}
		hopeless := s.result == outcome.AccountFault || s.result == outcome.ConfigFault || s.result == outcome.ClientFault
		if hopeless || i == calibrating-1 && len(long)+len(short) == 0 {
			return fmt.Errorf("vendor %q does not answer: %s: %s", b.a.t.Vendor.Name, s.reason, s.message)
		}
		if !rest(ctx, max(restAfter, min(s.retry, restMost))) {
			return ctx.Err()
		}
	}
	median := func(v []sample, m metric) float64 { return quantileOf(values(v, m), 0.5) }
	if len(long) == 0 {
		long = short
	}
	if len(short) == 0 {
		short = long
	}
	b.base = base{
		first: median(long, firstService), token: median(long, (*sample).perToken), total: median(long, totalService),
		shortFirst: median(short, firstService), shortToken: median(short, (*sample).perToken), shortTotal: median(short, totalService),
	}
	return nil
}

func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// needed is the rate that the plan's top asks of a target which does not slow down.
func (b *prober) needed() float64 {
	if len(b.p.Rates) > 0 {
		most := 0.0
		for _, r := range b.p.Rates {
			most = max(most, r)
		}
		return most
	}
	return float64(b.p.top()) / max(b.base.total/1e3, 1e-3)
}

// held is what came of a steady load.
type held struct {
	samples  []sample
	from, to time.Duration
	asked    float64 // requests per second that were due
	admitted float64 // per second, by when they were sent
	ended    float64 // answers per second, by when they ended
	tokens   float64 // of those, in and out, per second
	mean     float64 // tokens an answer
	refused  int
	failed   int     // for other reasons
	first    float64 // ms, median
	token    float64
	total    float64
	under    int
}

// hold loads the target steadily and measures whole seconds of it.
func (b *prober) hold(ctx context.Context, blk *block, window time.Duration) held {
	blk.a, blk.meter, blk.window, blk.most = b.a, b.meter, window, math.MaxInt
	blk.run(ctx)
	h := held{samples: blk.samples, from: blk.opened.Sub(b.a.epoch), asked: blk.rate}
	h.to = h.from + window
	b.requests += len(blk.samples)
	var well []sample
	admitted, ended, tokens := 0, 0, 0
	for i := range h.samples {
		s := &h.samples[i]
		in := func(t time.Duration) bool { return t >= h.from && t < h.to }
		if s.refused() && in(s.sent) {
			h.refused++
		}
		if !s.refused() {
			b.admitted = append(b.admitted, s.sent)
		}
		if !s.refused() && s.result != outcome.ClientCancel && in(s.sent) {
			admitted++
		}
		if !s.ok() && !s.refused() && s.result != outcome.ClientCancel && in(s.sent) {
			h.failed++
		}
		if s.ok() && in(s.end) {
			ended++
			tokens += s.in + s.out
			well = append(well, *s)
		}
		if s.sent < h.to && s.end >= h.to {
			h.under++
		}
	}
	long := window.Seconds()
	h.admitted, h.ended, h.tokens = float64(admitted)/long, float64(ended)/long, float64(tokens)/long
	if ended > 0 {
		h.mean = float64(tokens) / float64(ended)
	}
	h.first, h.token, h.total = quantileOf(values(well, firstToken), 0.5), quantileOf(values(well, (*sample).perToken), 0.5), quantileOf(values(well, total), 0.5)
	return h
}

func (h *held) size() size { return size{rps: h.ended, tokens: h.tokens, mean: h.mean} }

// meets says whether a held load met a limit that refuses: more than one refusal, of
// over 1 % of what was sent.
func (h *held) meets() bool {
	return h.refused >= 2 && float64(h.refused) > 0.01*float64(len(h.samples))
}

// breaks says whether a good part fails, and not for a rate.
func (h *held) breaks() bool { return h.failed >= 3 && float64(h.failed) > 0.2*float64(len(h.samples)) }

// queues says whether answers fall behind what is asked, and the line grows.
func (h *held) queues(shortTotal float64) bool {
	usual := h.asked * shortTotal / 1e3
	return h.ended < 0.85*h.asked && float64(h.under) > 2*usual+5
}

// drain is how long the line takes to empty: some vendors work on for those that left.
func (h *held) drain() time.Duration {
	return time.Duration(min(float64(h.under)/max(h.ended, 1), 10) * float64(time.Second))
}

// find looks for a limit up to the rate and concurrency that the plan's top takes:
// first by short answers at a rising rate, then by so many at once as the top has.
func (b *prober) find(ctx context.Context) (*Probe, *Limiter) {
	start := time.Now()
	pr := &Probe{NeededRPS: b.needed(), BaseTotalms: figure(b.base.total)}
	lim, further := b.stairs(ctx, pr)
	if further && ctx.Err() == nil && len(b.p.Rates) == 0 {
		lim = b.crowd(ctx)
	}
	if lim == nil && b.slope != nil {
		lim = b.slopeLimiter()
	}
	pr.Requests, pr.Seconds = b.requests, time.Since(start).Seconds()
	if lim != nil {
		pr.Found = true
		pr.Said = "found " + lim.String()
	} else {
		pr.Said = fmt.Sprintf("no limit met up to %.0f requests/s", pr.ReachedRPS)
	}
	return pr, lim
}

// stairs raises the rate of short answers step by step. further is false where the
// engine itself is at its end: more would only break it.
func (b *prober) stairs(ctx context.Context, pr *Probe) (lim *Limiter, further bool) {
	top := min(pr.NeededRPS*headroom, probeMost)
	rise, step := probeRise, b.p.times.step
	begun := time.Time{} // of going slowly
	for rate := min(probeFirst, top); ctx.Err() == nil && !b.meter.exhausted(); {
		b.said(fmt.Sprintf("looking for a limit: %.0f requests/s", rate))
		h := b.hold(ctx, b.short(rate), step)
		switch r := refusalOf(h.samples); {
		case h.meets() && r.limit == outcome.LimitSlope:
			if begun.IsZero() {
				b.slope, b.slopeAt, begun = &r, rate, time.Now()
			}
			rise, step = slowRise, b.p.times.slow
			if rate = max(1, rate/2); time.Since(begun) > b.p.times.slowMost || !rest(ctx, b.p.times.slow) {
				return nil, false
			}
			continue
		case h.meets():
			return b.refusing(ctx, h), false
		case h.breaks():
			return nil, false
		case h.queues(b.base.shortTotal):
			if lim, line := b.queueing(ctx, h); line {
				return lim, false
			} // else it was a hiccup, here or there
		}
		pr.ReachedRPS = max(pr.ReachedRPS, h.admitted)
		if rate >= top {
			return nil, b.slope == nil
		}
		if !begun.IsZero() && time.Since(begun) > b.p.times.slowMost {
			return nil, false
		}
		rate = min(rate*rise, top)
	}
	return nil, false
}

func (b *prober) short(rate float64) *block {
	return &block{arrivals: Constant, rate: rate, size: min(shortAnswer, b.p.MaxTokens)}
}

// crowd asks so many questions at once as the ladder's top has, with answers of their
// full length.
func (b *prober) crowd(ctx context.Context) *Limiter {
	b.said(fmt.Sprintf("looking for a limit: %d at once", b.p.top()))
	whole := time.Duration(b.base.total * float64(time.Millisecond))
	h := b.hold(ctx, &block{arrivals: ClosedLoop, workers: b.p.top(), stagger: whole}, max(whole*3/2, 500*time.Millisecond))
	if !h.meets() {
		return nil
	}
	return b.refusing(ctx, h)
}

// refusing measures a limit that refuses, and finds out what it counts.
func (b *prober) refusing(ctx context.Context, met held) *Limiter {
	b.said("measuring the limit")
	t := b.p.times
	rate := max(over*met.admitted, met.admitted+3)
	if b.slope != nil {
		rate = met.asked // no further step: a guard against slopes is there
	}
	h := b.pressed(ctx, rate)
	crowded := !h.meets() // short answers pass: it counts what is under way, or tokens
	if crowded {
		whole := time.Duration(b.base.total * float64(time.Millisecond))
		h = b.hold(ctx, &block{arrivals: ClosedLoop, workers: b.p.top(), stagger: min(whole, t.lead), warm: max(t.lead, whole)}, max(t.hold, 2*whole))
	}
	if !h.meets() {
		h = met
	}
	r := refusalOf(h.samples)
	lim := &Limiter{Type: limitTypes[r.limit], Scope: scopeWord(r.scope), Unit: "1/s", Value: h.admitted, Confidence: 0.9, Evidence: []string{r.evidence(len(h.samples))}}
	switch r.limit {
	case outcome.LimitConcurrency:
		k, _ := admittedBelow(h.samples)
		b.asConcurrency(lim, k)
	case outcome.LimitTokens:
		b.asTokens(lim, h)
	case outcome.LimitSlope:
		lim.Value = rate
	default:
		b.characterize(ctx, lim, h, crowded)
	}
	b.finish(ctx, lim)
	return lim
}

// pressed holds the target at a rate, and at a higher one until a good part is refused:
// at the brink of a limit its value does not show.
func (b *prober) pressed(ctx context.Context, rate float64) held {
	for range 3 {
		blk := b.short(min(rate, probeMost))
		blk.warm = b.p.times.lead
		h := b.hold(ctx, blk, b.p.times.hold)
		if !h.meets() || b.slope != nil || rate >= probeMost || float64(h.refused) >= 0.15*h.asked*b.p.times.hold.Seconds() || ctx.Err() != nil {
			return h
		}
		rate *= over
	}
	blk := b.short(min(rate, probeMost))
	blk.warm = b.p.times.lead
	return b.hold(ctx, blk, b.p.times.hold)
}

func (b *prober) asConcurrency(lim *Limiter, k int) {
	lim.Type, lim.Unit, lim.Value = "concurrency", "", float64(k)
}

// asTokens makes a limit one of tokens a minute: that is how they are sold.
func (b *prober) asTokens(lim *Limiter, h held) {
	lim.Type, lim.Unit, lim.Value = "tokens", "1/min", h.tokens*60
}

// characterize finds out what a limit counts whose vendor does not say: what is
// under way, requests, or tokens.
func (b *prober) characterize(ctx context.Context, lim *Limiter, h held, crowded bool) {
	t := b.p.times
	k, accuracy := admittedBelow(h.samples)
	burst, fits, bursts := -1, k > 1, 2
	if b.slope != nil {
		bursts, fits = 0, false
	}
	for range bursts { // twice: it is the same number each time only where it is what is under way that counts
		if !rest(ctx, t.pause+2*time.Duration(b.base.shortTotal*float64(time.Millisecond))) {
			return
		}
		burst = b.burst(ctx, k+max(4, k/2))
		fits = fits && math.Abs(float64(burst-k)) <= 0.15*float64(k)+0.5
	}
	short, long := h, held{}
	if !crowded && b.p.MaxTokens > shortAnswer && b.slope == nil {
		long = b.hold(ctx, &block{arrivals: Constant, rate: h.asked, warm: t.lead}, t.hold)
	}
	counts, _, said := bySize(short.size(), long.size())
	slower := long.total / short.total
	switch {
	case counts == outcome.LimitTokens:
		lim.Evidence = append(lim.Evidence, said)
		b.asTokens(lim, long)
		return
	case counts == outcome.LimitRPS && slower > 1.3:
		lim.Evidence = append(lim.Evidence, said)
	case accuracy >= separateLeast && fits:
		lim.Evidence = append(lim.Evidence, fmt.Sprintf("refused are those that find %d under way (%.0f %% of all requests agree), and of a burst %d pass", k, accuracy*100, burst))
		b.asConcurrency(lim, k)
		return
	case counts == outcome.LimitRPS:
		lim.Evidence = append(lim.Evidence, said)
	}
	if burst <= 2 && h.admitted >= 2 && !crowded && b.slope == nil {
		// It lets one through at a time, so that a request is refused which comes a moment
		// too early: only many of them find each gap as it opens.
		often := b.short(min(eager*h.admitted, probeMost))
		often.warm = t.lead
		if e := b.hold(ctx, often, t.hold); e.admitted > h.admitted {
			h.asked, h.admitted = e.asked, 1/(1/e.admitted-1/(2*e.asked)) // half a gap is waited for in vain
			lim.Value = h.admitted
		}
	}
	if h.admitted < 0.1*h.asked {
		lim.Evidence = append(lim.Evidence, "hardly any request passes once it has been met: it counts over more than a second")
		lim.Unit, lim.Value, lim.Confidence = "1/min", float64(b.passed(h.to)), 0.6
		return
	}
	if burst >= 0 {
		lim.Evidence = append(lim.Evidence, fmt.Sprintf("%.1f requests/s pass, and of a burst %d", h.admitted, burst))
	}
	if round, near := nearRound(h.admitted); near {
		lim.Evidence = append(lim.Evidence, fmt.Sprintf("D: %.2f requests/s are within 2 %% of %g", h.admitted, round))
		lim.Confidence = 0.95
	}
}

// passed counts what was admitted in the minute before a moment.
func (b *prober) passed(until time.Duration) int {
	n := 0
	for _, at := range b.admitted {
		if at >= until-time.Minute && at < until {
			n++
		}
	}
	return n
}

// burst sends n questions at once and counts those that are admitted.
func (b *prober) burst(ctx context.Context, n int) int {
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		admitted int
	)
	for range n {
		if !b.meter.reserve() {
			break
		}
		q := b.a.next(min(shortAnswer, b.p.MaxTokens), 0)
		b.requests++
		wg.Go(func() {
			s := b.a.ask(ctx, time.Now(), q, nil)
			b.meter.spend(&s)
			mu.Lock()
			defer mu.Unlock()
			if !s.refused() {
				admitted++
			}
		})
	}
	wg.Wait()
	return admitted
}

// queueing measures a limit that lets wait what is over it; nil if it is the engine that
// does. line is false where none forms.
func (b *prober) queueing(ctx context.Context, met held) (lim *Limiter, line bool) {
	b.said("measuring a line")
	t := b.p.times
	rate := max(overQueue*met.ended, met.asked)
	hold := func(size int) held {
		return b.hold(ctx, &block{arrivals: Constant, rate: rate, size: size, warm: t.lead, abrupt: true}, t.hold)
	}
	if !rest(ctx, met.drain()+t.pause) {
		return nil, false
	}
	h := hold(min(shortAnswer, b.p.MaxTokens))
	switch {
	case h.meets(): // the line is full
		return b.refusing(ctx, h), true
	case !h.queues(b.base.shortTotal):
		return nil, false
	}
	evidence := []string{fmt.Sprintf("B: %.1f answers/s though %.1f/s were asked, and the line grows", h.ended, rate)}
	rules := 1
	waited := false
	if said, ok := waits(figure(b.base.shortFirst), figure(h.first), figure(b.base.shortToken), figure(h.token), 2); ok {
		evidence, waited = append(evidence, said), true
		rules++
	}
	var ends []time.Duration
	for i := range h.samples {
		if s := &h.samples[i]; s.ok() && s.end >= h.from && s.end < h.to {
			ends = append(ends, s.end)
		}
	}
	if said, ok := regular(ends, h.from, h.to); ok {
		evidence = append(evidence, said)
		rules++
	}
	counts, engine := outcome.LimitRPS, false
	long := held{}
	if b.p.MaxTokens > shortAnswer && rest(ctx, h.drain()+t.pause) {
		long = hold(0)
		var said string
		if counts, engine, said = bySize(h.size(), long.size()); counts != outcome.LimitNone && long.queues(b.base.total) {
			evidence = append(evidence, said)
			rules++
		}
	}
	// The same number of tokens is what an engine gives, too, if its tokens do not come as fast as before.
	if engine || rules < 2 || counts == outcome.LimitTokens && !waited {
		return nil, true
	}
	lim = &Limiter{Type: "requests", Value: h.ended, Unit: "1/s", Scope: "unknown", Silent: true, Evidence: evidence, Confidence: min(0.9, 0.45+0.15*float64(rules))}
	if counts == outcome.LimitTokens {
		b.asTokens(lim, long)
	}
	b.finish(ctx, lim)
	return lim, true
}

// finish adds what a slope and a second key say.
func (b *prober) finish(ctx context.Context, lim *Limiter) {
	if b.slope != nil && lim.Type != "slope" {
		lim.Evidence = append(lim.Evidence, fmt.Sprintf("and a guard against slopes refused at %.0f requests/s, below it (%s)", b.slopeAt, b.slope.message))
	}
	if b.p.KeyProbe && lim.Type == "requests" && lim.Unit == "1/s" && ctx.Err() == nil {
		b.byKey(ctx, lim)
	}
}

// byKey is rule F.
func (b *prober) byKey(ctx context.Context, lim *Limiter) {
	if b.a.t.Vendor.Keys.Len() < b.p.Keys+1 {
		lim.Evidence = append(lim.Evidence, "F: there is no second key to ask with")
		return
	}
	b.said("asking with a second key")
	t := b.p.times
	blk := b.short(2.5 * lim.Value)
	blk.keys, blk.warm, blk.abrupt = b.p.Keys+1, t.lead, true
	h := b.hold(ctx, blk, t.hold)
	passed := h.admitted
	if lim.Silent {
		passed = h.ended
	}
	times := passed / lim.Value
	switch {
	case times > 1.6:
		lim.Scope = "key"
	case times < 1.3:
		lim.Scope = "account"
	}
	lim.Evidence = append(lim.Evidence, fmt.Sprintf("F: with a key more, %.1f times as much passes", times))
}

// slopeLimiter is the limit where nothing but a guard against slopes was met.
func (b *prober) slopeLimiter() *Limiter {
	return &Limiter{
		Type: "slope", Value: b.slopeAt, Unit: "1/s", Scope: scopeWord(b.slope.scope), Confidence: 0.9,
		Evidence: []string{b.slope.evidence(b.slope.n)},
	}
}

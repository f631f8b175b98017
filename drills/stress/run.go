package stress

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

var errBudget = errors.New("the budget is spent")

// Progress is where a run is. It is a plain value, and a new one each time.
type Progress struct {
	Vendor      string
	Stage       string // "first answers", "looking for a limit: 20 requests/s", "warming up", "measuring"
	Arrivals    string // of a level; "" outside of one
	Concurrency int
	Rate        float64 // of an open loop
	Level       int     // from 1, of Levels; 0: before the first, and under a limit after the last
	Levels      int
	Done, Total time.Duration // as planned
	Left        time.Duration // until the end, as far as is known

	InFlight int
	RPS      float64  // answers a second, of the last 5 s
	P50ms    *float64 // whole answers of the last 5 s
	P99ms    *float64
	Refused  int // of the last 5 s
	Failed   int // of the level
	Samples  int // of the level so far
	Cost     float64
}

// every is how often progress is told.
const every = 500 * time.Millisecond

// runner is one stress test under way.
type runner struct {
	p     Plan
	epoch time.Time
	meter meter
	rep   *Report
	each  []*against
	tell  func(Progress)

	mu      sync.Mutex // guards what follows: progress is told from a goroutine of its own
	now     Progress
	current *block
	begun   time.Time     // of the current stage
	planned time.Duration // of the current stage
	done    time.Duration // of the stages before
	total   time.Duration
}

// against is one target of a run.
type against struct {
	t     *Target
	a     *asker
	run   *RunReport
	base  base
	parts map[step][]stretch
	p50   time.Duration // of a whole answer, as last seen
	stop  string        // why its ladder ends here
	slope bool          // a guard against slopes was met: the load rises gently
}

// step is one level of one kind of arrivals.
type step struct {
	level int
	open  bool
}

// Run carries a plan out. onProgress, if not nil, is called twice a second from one
// goroutine at a time. Where ctx ends early, or the budget is spent, the report is of
// what was measured until then, and says so in Stopped. An error is of a plan that
// cannot be carried out, or of a vendor that does not answer at all.
func Run(ctx context.Context, p Plan, onProgress func(Progress)) (*Report, error) {
	p, err := p.fill()
	if err != nil {
		return nil, err
	}
	r := &runner{p: p, epoch: time.Now(), meter: meter{budget: p.Budget}, tell: onProgress}
	r.begin()
	ended := make(chan struct{})
	var telling sync.WaitGroup
	telling.Go(func() { r.report(ended) })
	err = r.all(ctx)
	close(ended)
	telling.Wait()
	r.conclude(ctx, err)
	if err != nil && !errors.Is(err, errBudget) && ctx.Err() == nil {
		return nil, err
	}
	return r.rep, nil
}

// newID is the name of a report: the time, and four letters against two in a second.
func newID(at time.Time) string {
	b := make([]byte, 2)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return at.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b)
}

func (r *runner) begin() {
	p := &r.p
	r.rep = &Report{
		ID: newID(r.epoch), Started: r.epoch.UTC(), Version: p.Version, Currency: p.Currency, Formulas: Formulas(),
		Plan: PlanInfo{
			Concurrency: p.Ladder, Rates: p.Rates, Arrivals: p.Arrivals, DurationS: p.Duration.Seconds(), WarmupS: p.Warmup.Seconds(),
			Kind: p.Kind, Cache: p.Cache, MaxTokens: p.MaxTokens, Prompts: len(p.Prompts), Seed: p.Seed, Keys: p.Keys, Budget: p.Budget,
			SLO: SLOInfo{bound(p.SLO.P90), bound(p.SLO.P99), bound(p.SLO.PerToken), bound(p.SLO.Total)},
		},
		Runs: make([]RunReport, len(p.Targets)),
	}
	if len(p.Rates) > 0 {
		r.rep.Plan.Concurrency = []int{}
	} else {
		r.rep.Plan.Rates = []float64{}
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		run := &r.rep.Runs[i]
		*run = RunReport{
			Vendor: t.Vendor.Name, Label: t.Label, Model: t.Model, Simulated: t.Vendor.Simulated,
			Levels: []Level{}, Notes: []string{}, Published: []Comparison{},
		}
		r.each = append(r.each, &against{t: t, a: newAsker(p, t, r.epoch, r.rep.ID[len(r.rep.ID)-4:]), run: run, parts: map[step][]stretch{}})
	}
	r.rep.Plan.Order = r.order()
	v, err := p.Preview()
	if err == nil {
		r.total = time.Duration(v.Seconds * float64(time.Second))
		for i := range p.Targets {
			one, ok := p.Targets[i].Price.cost(v.Input/max(v.Requests, 1), 0, p.MaxTokens)
			if ok {
				r.meter.expect(one)
			}
		}
	}
}

func bound(d time.Duration) *float64 {
	if d == 0 {
		return nil
	}
	return figure(d.Seconds() * 1e3)
}

// order is the blocks of the first level in letters: A B B A.
func (r *runner) order() string {
	var names []string
	for _, t := range r.turns(0) {
		names = append(names, string(rune('A'+t.of)))
	}
	return strings.Join(names, " ")
}

// turn is one block of a level: which target, and which part of the level's time.
type turn struct {
	of   int
	part float64
}

// turns is a level's blocks. Several targets go forth and back, A B B A, and the other
// way round at the next level, so that a drift of the time of day favours none.
func (r *runner) turns(level int) []turn {
	n := len(r.p.Targets)
	if n == 1 {
		return []turn{{0, 1}}
	}
	var out []turn
	for i := range 2 * n {
		of := i
		if i >= n {
			of = 2*n - 1 - i
		}
		if level%2 == 1 {
			of = n - 1 - of
		}
		out = append(out, turn{of, 0.5})
	}
	return out
}

// all is the whole run.
func (r *runner) all(ctx context.Context) error {
	limits := make([]*Limiter, len(r.each))
	for i, e := range r.each {
		b := r.prober(e)
		r.stage(e, "first answers", probeSeconds*time.Second)
		if err := b.calibrate(ctx); err != nil {
			return err
		}
		e.base, e.p50 = b.base, time.Duration(b.base.total*float64(time.Millisecond))
		if r.p.NoProbe {
			continue
		}
		e.run.Probe, limits[i] = b.find(ctx)
		e.slope = b.slope != nil
		if lim := limits[i]; lim != nil {
			e.run.Limiter = lim
			e.run.Ask = lim.ask(e.t.Vendor.Name, r.neededOf(e, lim), r.p.top())
			if !r.p.GoOn {
				e.stop = "a limit was found before the ladder"
			}
		}
	}
	if err := r.levels(ctx); err != nil {
		return err
	}
	for _, e := range r.each {
		if e.stop == "" || len(e.run.Levels) > 0 || len(e.parts) > 0 {
			if err := r.after(ctx, e); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (r *runner) prober(e *against) *prober {
	return &prober{a: e.a, p: &r.p, meter: &r.meter, base: e.base, said: func(stage string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.now.Stage = stage
	}}
}

// neededOf is what the plan's top takes, in the limit's unit.
func (r *runner) neededOf(e *against, lim *Limiter) float64 {
	rate := headroom * (&prober{p: &r.p, base: e.base}).needed()
	switch {
	case lim.Type == "concurrency":
		return float64(r.p.top())
	case lim.Type == "tokens":
		return rate * 60 * float64(r.p.MaxTokens+r.p.Prompts[0].tokens())
	case lim.Unit == "1/min":
		return 60 * rate
	}
	return rate
}

// levels climbs the ladder, or goes through the rates.
func (r *runner) levels(ctx context.Context) error {
	n := max(len(r.p.Ladder), 1)
	if len(r.p.Rates) > 0 {
		n = len(r.p.Rates)
	}
	r.mu.Lock()
	r.now.Levels = n
	r.mu.Unlock()
	for level := range n {
		r.mu.Lock()
		r.now.Level = level + 1
		r.mu.Unlock()
		for _, open := range []bool{false, true} {
			if open && r.p.Arrivals == ClosedLoop || !open && len(r.p.Rates) > 0 {
				continue
			}
			for _, t := range r.turns(level) {
				e := r.each[t.of]
				if e.stop != "" {
					continue
				}
				r.block(ctx, e, step{level, open}, t.part)
				if err := r.ended(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ended is why nothing more is to be sent.
func (r *runner) ended(ctx context.Context) error {
	if r.meter.exhausted() {
		return errBudget
	}
	return ctx.Err()
}

// block runs one turn of a level.
func (r *runner) block(ctx context.Context, e *against, s step, part float64) {
	p := &r.p
	b := &block{
		a: e.a, meter: &r.meter, arrivals: ClosedLoop, warm: max(p.Warmup, 3*e.p50), window: time.Duration(part * float64(p.Duration)),
		least: int(math.Ceil(part * float64(p.MinSamples))), most: p.MaxSamples, failing: p.MaxErrors, seed: p.Seed + uint64(s.level),
	}
	if s.open {
		b.arrivals, b.rate = p.Arrivals, r.rateOf(e, s)
		if b.rate <= 0 {
			return // nothing was answered in the closed loop
		}
	} else {
		b.workers = p.Ladder[s.level]
		b.warmed = 2 * b.workers
		b.stagger = r.stagger(e, s.level)
	}
	r.run(ctx, e, b)
	st := b.stretch(r.ended(ctx) != nil)
	e.parts[s] = append(e.parts[s], st)
	if v := quantileOf(values(measuredOf(b.samples), totalService), 0.5); !math.IsNaN(v) {
		e.p50 = time.Duration(v * float64(time.Millisecond))
	}
	if b.why != "" && !errors.Is(r.ended(ctx), errBudget) {
		e.stop = fmt.Sprintf("%s at %d", b.why, b.workers)
		if s.open {
			e.stop = fmt.Sprintf("%s at %.1f requests/s", b.why, b.rate)
		}
	}
}

func measuredOf(samples []sample) []sample {
	out := make([]sample, 0, len(samples))
	for _, s := range samples {
		if s.measured && s.ok() {
			out = append(out, s)
		}
	}
	return out
}

// stagger is the time over which the workers of a level begin.
func (r *runner) stagger(e *against, level int) time.Duration {
	if r.p.ramp(e.t) == Fast && !e.slope || level == 0 {
		return min(e.p50, r.p.Warmup)
	}
	return gently(float64(r.p.Ladder[level-1]), float64(r.p.Ladder[level]))
}

// gently is the time in which a load grows from one to another by 25 % in 10 s.
func gently(from, to float64) time.Duration {
	return time.Duration(math.Log(to/from) / math.Log(slowRise) * float64(10*time.Second))
}

// rateOf is an open loop's rate: the plan's, or what the closed loop of the level achieved.
func (r *runner) rateOf(e *against, s step) float64 {
	if len(r.p.Rates) > 0 {
		return r.p.Rates[s.level]
	}
	l := summarize(ClosedLoop, r.p.Ladder[s.level], 0, e.parts[step{s.level, false}], r.p.SLO)
	return l.RPS
}

// run runs a block as the current one.
func (r *runner) run(ctx context.Context, e *against, b *block) {
	r.stage(e, "warming up", b.warm+b.window)
	r.mu.Lock()
	r.current = b
	r.now.Arrivals, r.now.Concurrency, r.now.Rate = b.arrivals, b.workers, b.rate
	r.mu.Unlock()
	b.run(ctx)
	r.mu.Lock()
	r.current = nil
	r.now.Arrivals, r.now.Concurrency, r.now.Rate = "", 0, 0
	r.mu.Unlock()
}

// after is what comes of a ladder: levels, and what a limit that only it met is.
func (r *runner) after(ctx context.Context, e *against) error {
	r.sum(e)
	if e.run.Limiter == nil {
		r.detect(ctx, e)
	}
	if err := r.ended(ctx); err != nil {
		return err
	}
	if lim := e.run.Limiter; lim != nil && lim.Type != "slope" {
		return r.below(ctx, e, lim)
	}
	return nil
}

// sum makes the levels of what was measured so far.
func (r *runner) sum(e *against) {
	e.run.Levels = []Level{}
	n := max(len(r.p.Ladder), len(r.p.Rates))
	for level := range n {
		for _, open := range []bool{false, true} {
			parts := e.parts[step{level, open}]
			if len(parts) == 0 {
				continue
			}
			arrivals, c, rate := ClosedLoop, 0, 0.0
			if len(r.p.Rates) == 0 {
				c = r.p.Ladder[level]
			}
			if open {
				arrivals, rate = r.p.Arrivals, r.rateOf(e, step{level, open})
			}
			l := summarize(arrivals, c, rate, parts, r.p.SLO)
			l.judge()
			e.run.Levels = append(e.run.Levels, l)
		}
	}
}

// detect looks for a limiter in what the ladder has measured.
func (r *runner) detect(ctx context.Context, e *against) {
	var closed []*Level
	for i := range e.run.Levels {
		if l := &e.run.Levels[i]; l.Arrivals == ClosedLoop {
			closed = append(closed, l)
		}
	}
	b := r.prober(e)
	for i := range e.run.Levels {
		if l := &e.run.Levels[i]; l.Verdict == Limited {
			h := held{samples: l.samples, asked: l.RPS, admitted: l.RPS, refused: l.refused()}
			if ctx.Err() == nil {
				r.stage(e, "measuring the limit", probeSeconds*time.Second)
				e.run.Limiter = b.refusing(ctx, h)
			}
			break
		}
	}
	if at, said, ok := plateau(closed); ok && e.run.Limiter == nil && ctx.Err() == nil {
		r.stage(e, "measuring a line", probeSeconds*time.Second)
		e.run.Limiter = r.silent(ctx, b, closed, at, said)
		if e.run.Limiter != nil {
			for _, l := range closed[at:] {
				l.Verdict, l.Reason = Limited, fmt.Sprintf("%.1f answers/s: a limit lets wait what is over it", l.RPS)
			}
		}
	}
	if lim := e.run.Limiter; lim != nil {
		e.run.Ask = lim.ask(e.t.Vendor.Name, r.neededOf(e, lim), r.p.top())
	}
}

// silent judges a plateau without refusals: the engine's, or that of a limit which
// lets wait.
func (r *runner) silent(ctx context.Context, b *prober, closed []*Level, at int, said string) *Limiter {
	x, y := closed[at], closed[len(closed)-1]
	evidence, rules := []string{said}, 1
	if text, ok := waits(x.FirstToken.P50, y.FirstToken.P50, x.PerToken.P50, y.PerToken.P50, float64(y.Concurrency)/float64(x.Concurrency)); ok {
		evidence, rules = append(evidence, text), rules+1
	}
	lim, _ := b.queueing(ctx, held{asked: overQueue * x.RPS, ended: x.RPS})
	if lim != nil {
		lim.Evidence = slices.Concat(evidence, lim.Evidence)
		lim.Confidence = min(0.95, lim.Confidence+0.1*float64(rules))
	}
	return lim
}

// below measures the engine under the limit: at 0.9 of it.
func (r *runner) below(ctx context.Context, e *against, lim *Limiter) error {
	b := &block{
		a: e.a, meter: &r.meter, warm: r.p.Warmup, window: r.p.Duration, least: r.p.MinSamples, most: r.p.MaxSamples,
		failing: r.p.MaxErrors, seed: r.p.Seed, arrivals: Constant,
	}
	switch {
	case lim.Type == "concurrency":
		b.arrivals, b.workers = ClosedLoop, max(1, int(underLimit*lim.Value))
		b.stagger = min(e.p50, r.p.Warmup)
	case lim.Type == "tokens":
		mean := 1.0
		for i := range e.run.Levels {
			mean = max(mean, e.run.Levels[i].Tokens.MeanIn+e.run.Levels[i].Tokens.MeanOut)
		}
		b.rate = underLimit * lim.Value / 60 / mean
	case lim.Unit == "1/min":
		b.rate = underLimit * lim.Value / 60
	default:
		b.rate = underLimit * lim.Value
	}
	if b.arrivals == Constant && b.rate <= 0 {
		return nil
	}
	if e.slope && b.rate > probeFirst {
		b.from, b.stagger = probeFirst, gently(probeFirst, b.rate)
	}
	r.mu.Lock()
	r.now.Level = 0 // it is none of the ladder's
	r.mu.Unlock()
	r.run(ctx, e, b)
	l := summarize(b.arrivals, b.workers, b.rate, []stretch{b.stretch(r.ended(ctx) != nil)}, r.p.SLO)
	l.judge()
	e.run.AtLimit = &l
	return r.ended(ctx)
}

const underLimit = 0.9

// conclude writes what all of it says.
func (r *runner) conclude(ctx context.Context, err error) {
	switch {
	case errors.Is(err, errBudget):
		r.rep.Stopped = fmt.Sprintf("the budget of %g %s is spent", r.p.Budget, r.p.Currency)
	case ctx.Err() != nil:
		r.rep.Stopped = "interrupted"
	}
	r.rep.Ended = time.Now().UTC()
	sum, priced := 0.0, false
	for _, e := range r.each {
		if len(e.run.Levels) == 0 {
			r.sum(e)
		}
		e.run.Stopped = e.stop
		e.run.conclude(r.p.Seed, e.t.Published)
		if e.t.Price != nil {
			priced = true
		}
	}
	if sum = r.meter.sum(); priced {
		r.rep.Cost = &sum
	}
}

// conclude gives the run its verdict: the worst of its levels' that say anything.
func (run *RunReport) conclude(seed uint64, published []Benchmark) {
	run.degradation(seed)
	run.Published, run.Gaps = Publish(run, published), run.gaps()
	worst := map[string]int{OK: 0, TooFew: 1, Unstable: 2, ClientLimited: 3, Limited: 4}
	run.Verdict = OK
	met := true
	cost, estimated, once := 0.0, false, false
	for i := range run.Levels {
		l := &run.Levels[i]
		if worst[l.Verdict] > worst[run.Verdict] {
			run.Verdict, run.Reason = l.Verdict, l.where()+": "+l.Reason
		}
		if l.SLOMet != nil && !*l.SLOMet {
			met = false
		}
		if l.Cost != nil {
			cost += *l.Cost
		}
		if bad := l.Requests - l.N - l.refused(); float64(bad) > 0.05*float64(l.Requests) {
			run.Notes = append(run.Notes, fmt.Sprintf("%s: %.0f %% of the requests failed; no latency counts them", l.where(), 100*float64(bad)/float64(l.Requests)))
		}
		estimated = estimated || l.Tokens.Estimated && l.N > 0
		once = once || l.Bursts > l.N/2 && l.N > 0
	}
	if run.Limiter != nil {
		run.Verdict, run.Reason = Limited, run.Limiter.String()
	}
	if len(run.Levels) == 0 && run.Limiter == nil {
		run.Verdict, run.Reason = TooFew, "nothing was measured"
	}
	if len(run.Levels) > 0 {
		run.SLOMet = &met
	}
	if cost > 0 {
		run.Cost = &cost
	}
	if estimated {
		run.Notes = append(run.Notes, "the vendor counts no tokens for some answers: their number is estimated (four bytes of ASCII, or one and a half other characters, are one)")
	}
	if once {
		run.Notes = append(run.Notes, "streams come all at once: the first token is the whole answer, and there is no time per token")
	}
	if run.Simulated {
		run.Notes = append(run.Notes, "SIMULATED: no model was asked")
	}
}

// where is a level in a few words.
func (l *Level) where() string {
	switch {
	case l.Arrivals == ClosedLoop:
		return fmt.Sprintf("%d at once", l.Concurrency)
	case l.Concurrency > 0:
		return fmt.Sprintf("%.1f/s, as %d at once achieved", *l.Rate, l.Concurrency)
	}
	return fmt.Sprintf("%.1f/s", *l.Rate)
}

// Code is the exit code that the report stands for: 0 OK, 1 the SLO was missed, 3
// a verdict other than OK, 4 it was stopped early.
func (rep *Report) Code() int {
	if rep.Stopped != "" {
		return 4
	}
	code := 0
	for i := range rep.Runs {
		run := &rep.Runs[i]
		switch {
		case run.Verdict != OK:
			return 3
		case run.SLOMet != nil && !*run.SLOMet:
			code = 1
		}
	}
	return code
}

// stage begins a stage that is planned to take so long.
func (r *runner) stage(e *against, name string, long time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += r.planned
	r.begun, r.planned = time.Now(), long
	r.now.Vendor, r.now.Stage = e.t.Vendor.Name, name
}

// report tells progress until the run has ended.
func (r *runner) report(ended <-chan struct{}) {
	if r.tell == nil {
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-tick.C:
			r.tell(r.progress())
		}
	}
}

func (r *runner) progress() Progress {
	r.mu.Lock()
	p, b := r.now, r.current
	p.Done, p.Total = r.done+min(time.Since(r.begun), r.planned), max(r.total, r.done+r.planned)
	r.mu.Unlock()
	p.Left, p.Cost = p.Total-p.Done, r.meter.sum()
	if b == nil {
		return p
	}
	l := b.look()
	switch l.phase {
	case measuring:
		p.Stage = "measuring"
	case cooling:
		p.Stage = "waiting for the last answers"
	}
	p.InFlight, p.RPS, p.Refused, p.Failed, p.Samples = l.under, l.rps, l.refused, l.bad, l.begun
	p.P50ms, p.P99ms = figure(l.p50), figure(l.p99)
	return p
}

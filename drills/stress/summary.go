package stress

import (
	"fmt"
	"math"
	"slices"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"baton/engine/outcome"
)

// leastP90 is the number of samples below which a P90 has no two-sided 95 % interval.
const leastP90 = 36

// stretch is the measured part of one block.
type stretch struct {
	opened, closed time.Duration // since the run's start
	samples        []sample      // of the whole block, warm-up included
	gaps           *hdr.Histogram
	dropped        int
	cpu            float64
	cpuKnown       bool
	why            string
	cut            bool // the run ended in it
}

// stretch is what a block has measured.
func (b *block) stretch(cut bool) stretch {
	s := stretch{
		opened: b.opened.Sub(b.a.epoch), closed: b.closed.Sub(b.a.epoch),
		samples: b.samples, gaps: b.gaps, dropped: b.dropped, why: b.why, cut: cut,
	}
	s.cpu, s.cpuKnown = b.load()
	return s
}

// summarize makes a level of the stretches in which it was measured. Latencies are of
// the requests that were due in a window; throughput counts what ended in one.
func summarize(arrivals string, concurrency int, rate float64, parts []stretch, slo SLO) Level {
	l := Level{
		Arrivals: arrivals, Concurrency: concurrency, Errors: map[string]int{}, Reasons: map[string]int{},
		Seconds: []Second{}, Histograms: map[string]string{},
	}
	if arrivals != ClosedLoop {
		l.Rate = &rate
	}
	gaps := newGaps()
	var cpu []float64
	offset := 0
	var window, busy float64
	done, tokens := 0, 0
	for _, p := range parts {
		long := (p.closed - p.opened).Seconds()
		window += long
		l.Dropped += p.dropped
		l.Partial = l.Partial || p.cut
		gaps.Merge(p.gaps)
		if p.cpuKnown {
			cpu = append(cpu, p.cpu)
		}
		for _, s := range p.samples {
			if s.measured {
				s.second += offset
				l.samples = append(l.samples, s)
			}
			if s.ok() && s.end >= p.opened && s.end < p.closed {
				done++
				tokens += s.out
			}
			busy += max(0, (min(s.end, p.closed) - max(s.sent, p.opened)).Seconds())
		}
		l.Seconds = append(l.Seconds, seconds(p, offset)...)
		offset += int(math.Ceil(long))
		if p.why != "" {
			l.Reason = p.why
		}
	}
	l.WindowS = window
	if window > 0 {
		l.RPS, l.TokensPS, l.InFlight = float64(done)/window, float64(tokens)/window, busy/window
	}
	if len(cpu) > 0 {
		l.ClientCPU = figure(slices.Max(cpu))
	}
	l.ChunkGap = ofHistogram(gaps)
	l.count(slo)
	return l
}

// count fills in what is computed from the level's samples.
func (l *Level) count(slo SLO) {
	l.Requests = len(l.samples)
	well := make([]sample, 0, len(l.samples))
	reused := 0
	var connects []float64
	cost := 0.0
	for i := range l.samples {
		s := &l.samples[i]
		if s.reused {
			reused++
		} else if s.connect > 0 {
			connects = append(connects, s.connect.Seconds()*1e3)
		}
		if !s.ok() {
			l.Errors[s.result.String()]++
			l.Reasons[or(s.reason, "unknown")]++
			continue
		}
		well = append(well, *s)
		l.Tokens.Input += s.in
		l.Tokens.Cached += s.cached
		l.Tokens.Output += s.out
		l.Tokens.Estimated = l.Tokens.Estimated || s.estimated
		cost += s.cost
		if s.burst && s.out > 1 {
			l.Bursts++
		}
	}
	if l.N = len(well); l.N > 0 {
		l.Tokens.MeanIn, l.Tokens.MeanOut = float64(l.Tokens.Input)/float64(l.N), float64(l.Tokens.Output)/float64(l.N)
	}
	if cost > 0 {
		l.Cost = &cost
	}
	l.FirstToken, l.FirstAnswer = l.of(well, "first_token", firstToken), quantiles(values(well, firstAnswer))
	l.PerToken, l.Total = l.of(well, "per_token", (*sample).perToken), l.of(well, "total", total)
	l.FirstService, l.TotalService = quantiles(values(well, firstService)), quantiles(values(well, totalService))
	l.Lag, l.Connect = quantiles(values(l.samples, scheduleLag)), quantiles(connects)
	if l.PerToken.P50 != nil && *l.PerToken.P50 > 0 {
		l.StreamTPS = figure(1e3 / *l.PerToken.P50)
	}
	if l.Requests > 0 {
		l.Reused = figure(float64(reused) / float64(l.Requests))
		l.good(slo)
	}
}

// good counts what the SLO asks for. Failed requests are bad, and dropped ones.
func (l *Level) good(slo SLO) {
	within := func(v float64, ok bool, bound time.Duration) bool {
		return bound == 0 || !ok || v <= bound.Seconds()*1e3
	}
	good, p90, p99 := 0, 0, 0
	for i := range l.samples {
		s := &l.samples[i]
		if !s.ok() {
			continue
		}
		first, known := firstToken(s)
		if within(first, known, slo.P90) {
			p90++
		}
		inP99 := within(first, known, slo.P99)
		if inP99 {
			p99++
		}
		token, streamed := s.perToken()
		all, ended := total(s)
		if inP99 && within(token, streamed, slo.PerToken) && within(all, ended, slo.Total) {
			good++
		}
	}
	asked := float64(l.Requests + l.Dropped)
	l.Goodput = figure(float64(good) / asked)
	if l.WindowS > 0 {
		l.GoodRPS = figure(float64(good) / l.WindowS)
	}
	met := float64(p90) >= 0.9*asked && (float64(p99) >= 0.99*asked || l.N < leastP99 && float64(p99) >= asked-1)
	l.SLOMet = &met
}

// of is the quantiles of a metric, and keeps its histogram.
func (l *Level) of(samples []sample, name string, m metric) Quantiles {
	v := values(samples, m)
	h := newGaps()
	for _, x := range v {
		_ = h.RecordValue(int64(math.Round(x * 1e3))) // over ten minutes: a request's time is less
	}
	if text, err := h.Encode(hdr.V2CompressedEncodingCookieBase); err == nil {
		l.Histograms[name] = string(text)
	}
	return quantiles(v)
}

func values(samples []sample, m metric) []float64 {
	out := make([]float64, 0, len(samples))
	for i := range samples {
		if v, ok := m(&samples[i]); ok {
			out = append(out, v)
		}
	}
	return out
}

// quantiles of values in ms.
func quantiles(v []float64) Quantiles {
	q := Quantiles{N: len(v)}
	if len(v) == 0 {
		return q
	}
	slices.Sort(v)
	at := func(p float64) *float64 { return figure(quantile(v, p)) }
	q.Mean, q.P50, q.P90, q.P95, q.Max = figure(mean(v)), at(0.5), at(0.9), at(0.95), figure(v[len(v)-1])
	q.P50CI, q.P90CI = interval(v, 0.5), interval(v, 0.9)
	if len(v) >= leastP99 {
		q.P99, q.P99CI = at(0.99), interval(v, 0.99)
	}
	return q
}

// ofHistogram is the quantiles of a histogram of µs. Gaps within one answer resemble
// each other, so that they have no intervals.
func ofHistogram(h *hdr.Histogram) Quantiles {
	q := Quantiles{N: int(h.TotalCount())}
	if q.N == 0 {
		return q
	}
	at := func(p float64) *float64 { return figure(float64(h.ValueAtQuantile(p)) / 1e3) }
	q.Mean, q.P50, q.P90, q.P95, q.Max = figure(h.Mean()/1e3), at(50), at(90), at(95), figure(float64(h.Max())/1e3)
	if q.N >= leastP99 {
		q.P99 = at(99)
	}
	return q
}

// seconds is a stretch by the second; a last one that is not whole is left out.
func seconds(p stretch, offset int) []Second {
	n := int((p.closed - p.opened).Seconds())
	out := make([]Second, n)
	firsts := make([][]float64, n)
	at := func(t time.Duration) int {
		if t < p.opened {
			return -1
		}
		return int((t - p.opened).Seconds())
	}
	for i := range out {
		out[i].T = offset + i
	}
	for i := range p.samples {
		s := &p.samples[i]
		if t := at(s.sent); t >= 0 && t < n {
			out[t].Sent++
		}
		t := at(s.end)
		if t < 0 || t >= n {
			continue
		}
		switch {
		case s.ok():
			out[t].OK++
			if v, ok := firstToken(s); ok {
				firsts[t] = append(firsts[t], v)
			}
		case s.refused():
			out[t].Refused++
		case s.result != outcome.ClientCancel:
			out[t].Failed++
		}
	}
	for i := range out {
		out[i].P50ms = figure(quantileOf(firsts[i], 0.5))
	}
	return out
}

// unstable says whether P90 of the first half differs from the second's by over 20 %,
// and by more than chance: their intervals do not overlap.
func (l *Level) unstable() bool {
	middle := 0
	for i := range l.samples {
		middle = max(middle, l.samples[i].second+1)
	}
	middle /= 2
	var a, b []float64
	for i := range l.samples {
		s := &l.samples[i]
		v, ok := total(s)
		switch {
		case !ok || !s.ok():
		case s.second < middle:
			a = append(a, v)
		default:
			b = append(b, v)
		}
	}
	x, y := quantiles(a), quantiles(b)
	if x.P90CI == nil || y.P90CI == nil {
		return false
	}
	apart := x.P90CI[1] < y.P90CI[0] || y.P90CI[1] < x.P90CI[0]
	return apart && math.Abs(*y.P90 / *x.P90 - 1) > 0.2
}

const (
	lagMost  = 5.0 // ms
	lagPart  = 0.05
	cpuMost  = 0.8
	refusals = 3 // of which a level is said to measure a limiter
)

// refused counts the level's refusals.
func (l *Level) refused() int { return l.Errors[outcome.RateLimited.String()] }

// judge gives the level its verdict.
func (l *Level) judge() {
	why := l.Reason
	l.Verdict = OK
	say := func(verdict, format string, args ...any) {
		l.Verdict = verdict
		l.Reason = fmt.Sprintf(format, args...)
		if why != "" {
			l.Reason += "; " + why
		}
	}
	lag, of := worstLag(l.samples)
	bound := lagMost
	if l.FirstToken.P50 != nil {
		bound = max(bound, lagPart**l.FirstToken.P50)
	}
	n := l.refused()
	switch {
	case n >= refusals || n > 0 && float64(n) > 0.01*float64(l.Requests):
		say(Limited, "%d of %d requests were refused for a rate", n, l.Requests)
	case l.Dropped > 0:
		say(ClientLimited, "%d requests were not sent: too many were under way here", l.Dropped)
	case lag > bound:
		say(ClientLimited, "requests left %.1f ms late (%s), over %.1f ms", lag, of, bound)
	case l.ClientCPU != nil && *l.ClientCPU > cpuMost:
		say(ClientLimited, "this process used %.0f %% of its CPUs, over %.0f %%", *l.ClientCPU*100, cpuMost*100)
	case l.unstable():
		say(Unstable, "P90 of the first half and of the second differ by over 20 %%")
	case l.N < leastP90:
		say(TooFew, "%d samples, and a P90 with an interval needs %d", l.N, leastP90)
	}
}

// worstLag is the P99 of how late requests were sent, in ms. Of fewer samples than a
// P99 takes it is the P90: one hiccup among a few dozen says nothing.
func worstLag(samples []sample) (ms float64, of string) {
	q := 0.99
	if len(samples) < leastP99 {
		q = 0.9
	}
	v := quantileOf(values(samples, scheduleLag), q)
	if math.IsNaN(v) {
		return 0, ""
	}
	return v, fmt.Sprintf("P%.0f", q*100)
}

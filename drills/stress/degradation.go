package stress

import (
	"fmt"
	"math"
	"math/rand/v2"
)

var degradedAt = []float64{0.5, 0.9, 0.99}

// degrade compares two levels of a closed loop.
func degrade(a, b *Level, seed uint64) *Degradation {
	d := &Degradation{From: a.Concurrency, To: b.Concurrency, CI: map[string][2]float64{}, Struck: map[string]float64{}}
	rng := rand.New(rand.NewPCG(seed, 0x64656772))
	for _, m := range []struct {
		name string
		m    metric
		a, b *Quantiles
		into [3]**float64
	}{
		{"first_token", firstToken, &a.FirstToken, &b.FirstToken, [3]**float64{&d.FirstP50, &d.FirstP90, &d.FirstP99}},
		{"per_token", (*sample).perToken, &a.PerToken, &b.PerToken, [3]**float64{&d.PerTokenP50, &d.PerTokenP90, &d.PerTokenP99}},
		{"total", total, &a.Total, &b.Total, [3]**float64{&d.TotalP50, &d.TotalP90, &d.TotalP99}},
	} {
		ci := ratios(timedOf(a.samples, m.m), timedOf(b.samples, m.m), degradedAt, rng)
		for i, q := range degradedAt {
			x, y := m.a.at(q), m.b.at(q)
			if x == nil || y == nil || *x <= 0 {
				continue
			}
			*m.into[i] = figure(*y / *x)
			if ci[i] != nil {
				d.CI[fmt.Sprintf("%s_p%.0f", m.name, q*100)] = *ci[i]
			}
		}
	}
	if a.StreamTPS != nil && b.StreamTPS != nil {
		d.Stream = figure(*a.StreamTPS / *b.StreamTPS)
	}
	if a.RPS > 0 && a.Concurrency > 0 {
		times := float64(b.Concurrency) / float64(a.Concurrency)
		d.Throughput, d.Efficiency = figure(b.RPS/a.RPS), figure(b.RPS/a.RPS/times)
		if ci := meanRatio(oksOf(a.Seconds), oksOf(b.Seconds), 1, rng); ci != nil {
			d.CI["throughput"] = *ci
			d.CI["efficiency"] = [2]float64{ci[0] / times, ci[1] / times}
		}
	}
	return d
}

// at is one of the quantiles that are kept.
func (q *Quantiles) at(p float64) *float64 {
	switch p {
	case 0.5:
		return q.P50
	case 0.9:
		return q.P90
	case 0.95:
		return q.P95
	case 0.99:
		return q.P99
	}
	return nil
}

func timedOf(samples []sample, m metric) []timed {
	out := make([]timed, 0, len(samples))
	for i := range samples {
		s := &samples[i]
		if v, ok := m(s); ok && s.ok() {
			out = append(out, timed{v, s.second})
		}
	}
	return out
}

func oksOf(series []Second) []float64 {
	out := make([]float64, len(series))
	for i, s := range series {
		out[i] = float64(s.OK)
	}
	return out
}

// figures are the named figures of d.
func (d *Degradation) figures() []struct {
	Name  string
	Value **float64
} {
	return []struct {
		Name  string
		Value **float64
	}{
		{"first_token_p50", &d.FirstP50},
		{"first_token_p90", &d.FirstP90},
		{"first_token_p99", &d.FirstP99},
		{"per_token_p50", &d.PerTokenP50},
		{"per_token_p90", &d.PerTokenP90},
		{"per_token_p99", &d.PerTokenP99},
		{"total_p50", &d.TotalP50},
		{"total_p90", &d.TotalP90},
		{"total_p99", &d.TotalP99},
		{"stream", &d.Stream},
		{"throughput", &d.Throughput},
		{"efficiency", &d.Efficiency},
	}
}

// withhold strikes the figures out: they are kept for who wants to see what a limiter
// makes of them.
func (d *Degradation) withhold(why string) {
	d.Withheld = why
	for _, f := range d.figures() {
		if *f.Value != nil {
			d.Struck[f.Name] = **f.Value
			*f.Value = nil
		}
	}
	d.CI = map[string][2]float64{}
	d.Knee, d.KneeWhy = nil, ""
}

const (
	kneeSlope = 0.3
	kneeTimes = 2
)

// knee finds the first concurrency at which throughput stops to follow (its logarithm
// rises by less than 0.3 of that of the concurrency) or P90 of whole answers is more than
// twice that of the first level.
func knee(levels []*Level) (at *int, why string) {
	for i := 1; i < len(levels); i++ {
		a, b := levels[i-1], levels[i]
		if a.RPS > 0 && b.RPS > 0 {
			slope := math.Log(b.RPS/a.RPS) / math.Log(float64(b.Concurrency)/float64(a.Concurrency))
			if slope < kneeSlope {
				return &b.Concurrency, fmt.Sprintf("throughput rises by only %.2f of what the concurrency does", slope)
			}
		}
		if first := levels[0].Total.P90; first != nil && b.Total.P90 != nil && *b.Total.P90 > kneeTimes**first {
			return &b.Concurrency, fmt.Sprintf("P90 of whole answers is %.1f times that at %d", *b.Total.P90 / *first, levels[0].Concurrency)
		}
	}
	return nil, ""
}

// degradation sums a run's ladder up: from its first level to its last, and where the
// limiter was measured instead of the engine, to the last that was not.
func (r *RunReport) degradation(seed uint64) {
	var closed, clean []*Level
	for i := range r.Levels {
		l := &r.Levels[i]
		if l.Arrivals != ClosedLoop || l.N == 0 && l.Requests == 0 {
			continue
		}
		closed = append(closed, l)
		if l.Verdict != Limited && l.Verdict != ClientLimited && len(clean) == len(closed)-1 {
			clean = append(clean, l)
		}
	}
	if len(closed) < 2 {
		return
	}
	last := closed[len(closed)-1]
	r.Degradation = degrade(closed[0], last, seed)
	r.Degradation.Knee, r.Degradation.KneeWhy = knee(closed)
	if len(clean) == len(closed) {
		return
	}
	why := "measures the limiter"
	if bad := closed[len(clean)]; bad.Verdict == ClientLimited {
		why = "measures this client"
	}
	r.Degradation.withhold(fmt.Sprintf("%s from %d on", why, closed[len(clean)].Concurrency))
	if len(clean) >= 2 {
		r.Clean = degrade(clean[0], clean[len(clean)-1], seed)
		r.Clean.Knee, r.Clean.KneeWhy = knee(clean)
	}
}

package stress

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"baton/engine/outcome"
)

// The rules by which a limiter is told from an engine. A alone says it, or two of
// the others; E may also say that it is the engine.
//
//	A  refusals: 429 or 503 with the words of a rate, Retry-After or x-ratelimit-*
//	B  a plateau: answers/s change by less than 5 % over two doublings of the concurrency
//	   while whole answers take about twice as long each time (Little: L = C/X)
//	C  the first token waits and the tokens do not: TTFT(2C)/TTFT(C) > 1.6 while TPOT(2C)/TPOT(C) < 1.1
//	D  too regular: variance/mean of answers per second < 0.3, or a rate within 2 % of a round number
//	E  halve the answers: the same requests/s is a limit of requests, the same tokens/s one of
//	   tokens or the engine, more of both the engine
//	F  a second key: twice as much is a limit of keys, the same one of the account, or the engine
const (
	plateauMost   = 0.05
	littleLeast   = 1.6 // of 2: how much longer answers take when twice as many share a rate
	waitLeast     = 1.6
	decodeMost    = 1.1
	regularMost   = 0.3
	roundMost     = 0.02
	sameWithin    = 0.12
	separateLeast = 0.75
)

// refusal says what the vendor's own word for its refusals is.
type refusal struct {
	limit   outcome.LimitClass
	scope   outcome.Scope
	n       int
	message string
	retry   time.Duration
	header  string
}

// refusalOf is the most frequent kind among the samples' refusals. Slopes count only
// where there is nothing else: a guard against them fires below the limits.
func refusalOf(samples []sample) refusal {
	kinds := map[outcome.LimitClass]*refusal{}
	header := ""
	for i := range samples {
		s := &samples[i]
		header = or(header, s.announced)
		if !s.refused() {
			continue
		}
		r := kinds[s.limit]
		if r == nil {
			r = &refusal{limit: s.limit, scope: s.scope, message: s.message, retry: s.retry}
			kinds[s.limit] = r
		}
		r.n++
	}
	best := refusal{}
	for _, r := range kinds {
		slope, bestSlope := r.limit == outcome.LimitSlope, best.limit == outcome.LimitSlope
		switch {
		case best.n == 0, bestSlope && !slope:
			best = *r
		case slope && !bestSlope:
		case r.n > best.n || r.n == best.n && r.limit < best.limit:
			best = *r
		}
	}
	best.header = header
	return best
}

// scopeWord is for whom a vendor's dialect says that rates are counted. A key's is only
// what is usual where nobody says otherwise, and so not known.
func scopeWord(s outcome.Scope) string {
	if s == outcome.ScopeKey {
		return "unknown"
	}
	return "account"
}

// evidence is rule A in words.
func (r *refusal) evidence(of int) string {
	text := fmt.Sprintf("A: %d of %d requests refused", r.n, of)
	if r.message != "" {
		text += fmt.Sprintf(" (%s)", strings.TrimSuffix(r.message, "."))
	}
	if r.retry > 0 {
		text += fmt.Sprintf(", Retry-After %s", r.retry)
	}
	if r.header != "" {
		text += ", " + r.header
	}
	return text
}

// admittedBelow finds out whether refusals go by how many requests are under way. It
// returns the number at and above which requests are refused, and how well that
// separates the refused from the others, 0.5 to 1.
func admittedBelow(samples []sample) (k int, accuracy float64) {
	type moment struct {
		at    time.Duration
		delta int // -1 an admitted one ended, 0 a request was sent
		s     *sample
	}
	var all []moment
	for i := range samples {
		s := &samples[i]
		all = append(all, moment{s.sent, 0, s})
		if !s.refused() {
			all = append(all, moment{s.end, -1, s})
		}
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.delta, b.delta)) })
	var passed, refused []int
	under := 0
	for _, m := range all {
		switch {
		case m.delta < 0:
			under--
		case m.s.refused():
			refused = append(refused, under)
		default:
			passed = append(passed, under)
			under++
		}
	}
	if len(passed) == 0 || len(refused) == 0 {
		return 0, 0
	}
	slices.Sort(passed)
	slices.Sort(refused)
	for c := 1; c <= passed[len(passed)-1]+1; c++ {
		below, _ := slices.BinarySearch(passed, c)  // passed with fewer than c under way
		under, _ := slices.BinarySearch(refused, c) // refused though fewer were
		rate := float64(below)/float64(len(passed))/2 + float64(len(refused)-under)/float64(len(refused))/2
		if rate > accuracy {
			k, accuracy = c, rate
		}
	}
	return k, accuracy
}

// rounds are rates that people set.
var rounds = []float64{1, 2, 3, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 250, 300, 400, 500, 1000}

// nearRound returns the round number within 2 % of a rate per second.
func nearRound(v float64) (float64, bool) {
	for _, r := range rounds {
		if math.Abs(v-r) <= roundMost*r {
			return r, true
		}
	}
	return 0, false
}

// tidy is a measured rate as it is told: the round number that it is near, else three
// digits.
func tidy(v float64) float64 {
	if r, ok := nearRound(v); ok {
		return r
	}
	if v <= 0 {
		return 0
	}
	scale := math.Pow(10, 2-math.Floor(math.Log10(v)))
	return math.Round(v*scale) / scale
}

// regular is rule D, of the moments at which answers ended within a stretch.
func regular(ends []time.Duration, from, to time.Duration) (string, bool) {
	rate := float64(len(ends)) / (to - from).Seconds()
	if rate <= 0 {
		return "", false
	}
	// Buckets of about ten answers, at least twelve of them: a stretch is a few seconds only.
	n := max(12, min(int((to-from).Seconds()), len(ends)/10))
	counts := make([]float64, n)
	for _, e := range ends {
		if i := int(float64(e-from) / float64(to-from) * float64(n)); i >= 0 && i < n {
			counts[i]++
		}
	}
	index := dispersion(counts)
	round, near := nearRound(rate)
	switch {
	case math.IsNaN(index) || len(ends) < 3*n:
		return "", false
	case index < regularMost:
		return fmt.Sprintf("D: answers come too regularly: variance/mean %.2f of their counts, under %.1f", index, regularMost), true
	case near && index < 2*regularMost:
		return fmt.Sprintf("D: %.2f answers/s are within 2 %% of %g, with variance/mean %.2f", rate, round, index), true
	}
	return "", false
}

// plateau is rule B, of levels whose concurrency doubles. It returns the place of the
// first level of the plateau.
func plateau(levels []*Level) (int, string, bool) {
	for i := 0; i+2 < len(levels); i++ {
		a, b, c := levels[i], levels[i+1], levels[i+2]
		if a.RPS <= 0 || a.Total.P50 == nil || b.Total.P50 == nil || c.Total.P50 == nil {
			continue
		}
		flat := math.Abs(b.RPS/a.RPS-1) < plateauMost && math.Abs(c.RPS/b.RPS-1) < plateauMost
		longer := func(x, y *Level) bool {
			grew := float64(y.Concurrency) / float64(x.Concurrency)
			return *y.Total.P50 / *x.Total.P50 > 1+(grew-1)*(littleLeast-1)
		}
		if flat && longer(a, b) && longer(b, c) {
			return i, fmt.Sprintf("B: %.1f, %.1f, %.1f answers/s at %d, %d, %d, while they take longer each time", a.RPS, b.RPS, c.RPS, a.Concurrency, b.Concurrency, c.Concurrency), true
		}
	}
	return 0, "", false
}

// waits is rule C, of two figures before and after.
func waits(first0, first1, token0, token1 *float64, times float64) (string, bool) {
	if first0 == nil || first1 == nil || token0 == nil || token1 == nil || *first0 <= 0 || *token0 <= 0 {
		return "", false
	}
	first, token := *first1 / *first0, *token1 / *token0
	if first <= 1+(times-1)*(waitLeast-1) || token >= decodeMost {
		return "", false
	}
	return fmt.Sprintf("C: the first token takes %.1f times as long and a token %.2f times: it waits, and is not worked on more slowly", first, token), true
}

// size is what a hold with answers of some length came to.
type size struct {
	rps, tokens float64 // answers and tokens (in and out) per second
	mean        float64 // tokens an answer
}

// bySize is rule E, of a hold with short answers and one with long ones.
func bySize(short, long size) (limit outcome.LimitClass, engine bool, said string) {
	if short.rps <= 0 || long.rps <= 0 || long.mean < 1.3*short.mean {
		return outcome.LimitNone, false, ""
	}
	same := func(a, b float64) bool { return math.Abs(a/b-1) <= sameWithin }
	figures := fmt.Sprintf("answers of %.0f and %.0f tokens: %.1f and %.1f/s, %.0f and %.0f tokens/s", short.mean, long.mean, short.rps, long.rps, short.tokens, long.tokens)
	switch {
	case same(short.rps, long.rps):
		return outcome.LimitRPS, false, "E: the same number of requests: " + figures
	case same(short.tokens, long.tokens):
		return outcome.LimitTokens, false, "E: the same number of tokens: " + figures
	}
	return outcome.LimitNone, true, "E: neither requests nor tokens stay the same: " + figures
}

// words of the design for what a vendor counts.
var limitTypes = map[outcome.LimitClass]string{
	outcome.LimitRPS: "requests", outcome.LimitTokens: "tokens", outcome.LimitConcurrency: "concurrency", outcome.LimitSlope: "slope",
}

// ask is the sentence to send to the vendor. needed is in the limit's unit; 0: not known.
func (l *Limiter) ask(vendor string, needed float64, top int) string {
	whose := "of this account or key"
	switch l.Scope {
	case "key":
		whose = "of this key"
	case "account":
		whose = "of this account"
	}
	if l.Type == "slope" {
		return fmt.Sprintf("Ask %s to raise or lift the guard %s against rates that grow too fast, which refused at about %s, before any test that is to mean something.", vendor, whose, l.value(l.Value))
	}
	to := ""
	if needed > l.Value {
		to = fmt.Sprintf(" to at least %s, which a test at %d concurrent requests takes", l.value(math.Ceil(needed)), top)
	}
	return fmt.Sprintf("Ask %s to raise the limit of %s %s from about %s%s, before any test that is to mean something.", vendor, l.what(), whose, l.value(l.Value), to)
}

func (l *Limiter) what() string {
	if l.Type == "concurrency" {
		return "concurrent requests"
	}
	return l.Type
}

// value is a value with the limit's unit.
func (l *Limiter) value(v float64) string {
	s := fmt.Sprintf("%g", tidy(v))
	switch {
	case l.Type == "tokens":
		return s + " tokens" + strings.TrimPrefix(l.Unit, "1")
	case l.Unit != "":
		return s + strings.TrimPrefix(l.Unit, "1")
	}
	return s
}

// String is the limiter in one line.
func (l *Limiter) String() string {
	how := "refuses"
	if l.Silent {
		how = "queues"
	}
	whose := ""
	if l.Scope != "unknown" {
		whose = " per " + l.Scope
	}
	return fmt.Sprintf("a limit of %s, about %s%s, that %s what is over it (confidence %.2f)", l.what(), l.value(l.Value), whose, how, l.Confidence)
}

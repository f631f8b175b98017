package sim

import (
	"math"
	"net/http"
	"slices"
	"time"
)

// The limiter of a vendor, for each model apart, as accounts are limited: extra keys do not help. A bucket of one second
// admits Limit requests per second. In the mode "reject" the others get 429 at once, and a guard against slopes refuses
// what grows too fast; in the mode "queue" they wait in line, and only those beyond the line's end get 429.
//
// Gamma arrivals of CV 1.5 at 15, 18, 20, 25 and 30 per second before a limit of 20: "reject" refuses 0.2, 1.8, 5.4, 20.4
// and 33.5 %; "queue" 0, 0, 1.7, 20.1 and 33.3 %, with a first token of P50 238, 245, 2583, 4584, 4651 ms and P99 574,
// 939, 4769, 4972, 5003 ms at load 0.3 of the profile "limited". The model that this one follows differs at 18 per second
// only, with P99 1851 ms.
const (
	limitReject = "reject"
	limitQueue  = "queue"
)

// The guard refuses a request when the last slopeRecent seconds brought more than LimitSlope times the rate of the
// slopeBefore seconds before them, and slopeSpare requests per second more. Refused arrivals count too.
const (
	slopeRecent = 10
	slopeBefore = 60
	slopeSpare  = 5
)

// maxLimiters bounds the models that are limited apart; the rest share one.
const maxLimiters = 1000

// limits is a machine of one limiter a model.
type limits struct {
	o        *Options
	byModel  map[string]*limiter
	lines    map[*limiter]struct{} // those in which somebody waits
	queueing int
}

// limiter is the state of one model's limit.
type limiter struct {
	requests bucket
	tokens   bucket
	slope    slope
	line     []*ticket
}

// ticket is a place in a line.
type ticket struct {
	admitted chan struct{}
	at       time.Time // when it was admitted
	limiter  *limiter
}

func newLimits(o *Options) *limits {
	return &limits{o: o, byModel: map[string]*limiter{}, lines: map[*limiter]struct{}{}}
}

// arrive admits a request of so many tokens, refuses it, or gives it a ticket to wait with.
func (l *limits) arrive(now time.Time, model string, tokens int) (*ticket, *refusal) {
	m := l.of(model)
	queues := l.o.LimitMode == limitQueue
	if recent, before := m.slope.arrive(now); l.o.Limit > 0 && l.o.LimitSlope > 0 && !queues && recent > l.o.LimitSlope*before+slopeSpare {
		return nil, &limitSlope
	}
	if l.o.LimitTokens > 0 && !m.tokens.take(now, float64(l.o.LimitTokens)/60, 60, float64(tokens)) {
		return nil, &limitTokens
	}
	switch {
	case l.o.Limit == 0, len(m.line) == 0 && m.requests.take(now, l.o.Limit, 1, 1):
		return nil, nil
	case !queues || len(m.line) >= l.o.LimitQueue:
		return nil, &limitRequests
	}
	t := &ticket{admitted: make(chan struct{}), limiter: m}
	m.line = append(m.line, t)
	l.lines[m] = struct{}{}
	l.queueing++
	return t, nil
}

func (l *limits) of(model string) *limiter {
	if m := l.byModel[model]; m != nil {
		return m
	}
	if len(l.byModel) >= maxLimiters {
		model = "" // no request has this name
		if m := l.byModel[model]; m != nil {
			return m
		}
	}
	m := &limiter{}
	l.byModel[model] = m
	return m
}

func (l *limits) advance(now time.Time) {
	for m := range l.lines {
		for len(m.line) > 0 {
			at := now
			if l.o.Limit > 0 {
				if at = m.requests.due(now, l.o.Limit); at.After(now) {
					break
				}
				m.requests.take(at, l.o.Limit, 1, 1)
			}
			t := m.line[0]
			t.at = at
			close(t.admitted)
			l.remove(t)
		}
	}
}

func (l *limits) next() (at time.Time, some bool) {
	for m := range l.lines {
		if due := m.requests.due(m.requests.at, l.o.Limit); !some || due.Before(at) {
			at, some = due, true
		}
	}
	return at, some
}

// remove takes a ticket out of its line, if it is still in it.
func (l *limits) remove(t *ticket) {
	m := t.limiter
	i := slices.Index(m.line, t)
	if i < 0 {
		return
	}
	l.queueing--
	if m.line = slices.Delete(m.line, i, i+1); len(m.line) == 0 {
		delete(l.lines, m)
	}
}

// pass takes the request past the limiter; false when it was refused or the client left.
func (x *exchange) pass(tokens int) bool {
	if x.o.Limit == 0 && x.o.LimitTokens == 0 {
		return true
	}
	var (
		t *ticket
		e *refusal
	)
	x.v.limiting.do(func(now time.Time) { t, e = x.v.limits.arrive(now, x.req.Model, tokens) })
	switch {
	case e != nil:
		if x.sleep(x.o.scaled(time.Duration(15+x.rng.IntN(26)) * time.Millisecond)) {
			x.refuse(*e)
		}
		return false
	case t == nil:
		return true
	}
	defer x.v.limiting.do(func(time.Time) { x.v.limits.remove(t) })
	for {
		alive := x.tickAfter(x.o.KeepAlive)
		select {
		case <-t.admitted:
			x.began = t.at
			return true
		case <-x.r.Context().Done():
			x.outcome = Left
			return false
		case <-alive:
			if !x.keepAlive() {
				return false
			}
		}
	}
}

// keepAlive tells a waiting client that it was not forgotten: a comment in a stream, a blank line before a whole answer,
// as DeepSeek does.
func (x *exchange) keepAlive() bool {
	line := "\n"
	if x.req.Stream {
		line = ": keep-alive\n\n"
	}
	if x.status == 0 {
		x.w.Header().Set("Content-Type", "application/json")
		if x.req.Stream {
			x.w.Header().Set("Content-Type", eventStream)
		}
		x.status = http.StatusOK
		x.w.WriteHeader(x.status)
	}
	if _, err := x.w.Write([]byte(line)); err != nil || x.rc.Flush() != nil {
		x.outcome = Left
		return false
	}
	return true
}

// bucket is a token bucket that holds what comes in within some seconds.
type bucket struct {
	tokens float64
	rate   float64
	at     time.Time
}

// take reports whether n more are within rate per second; a changed rate starts with a full bucket.
func (b *bucket) take(now time.Time, rate, seconds, n float64) bool {
	full := max(rate*seconds, 1)
	if rate != b.rate {
		*b = bucket{tokens: full, rate: rate, at: now}
	}
	if gone := now.Sub(b.at); gone > 0 {
		b.tokens = min(full, b.tokens+gone.Seconds()*rate)
		b.at = now
	}
	// A billionth less is rounding; one that is larger than the bucket waits until it is full.
	if b.tokens < min(n, full)-1e-9 {
		return false
	}
	b.tokens -= n
	return true
}

// due is when the bucket, empty now, will have one token.
func (b *bucket) due(now time.Time, rate float64) time.Time {
	if rate != b.rate {
		return now // it starts over, full
	}
	// Rounded up: a nanosecond before, it would lack a little and the one who comes would pay nothing.
	return b.at.Add(time.Duration(math.Ceil(max(1-b.tokens, 0) / rate * float64(time.Second))))
}

// slope counts arrivals by the second.
type slope struct {
	counts [slopeRecent + slopeBefore]int
	second int64
}

// arrive counts one arrival and returns the rate of the last seconds and that of those before them.
func (s *slope) arrive(now time.Time) (recent, before float64) {
	second := now.Unix()
	for n := min(second-s.second, int64(len(s.counts))); n > 0; n-- {
		s.counts[(second-n+1)%int64(len(s.counts))] = 0
	}
	s.second = max(s.second, second)
	s.counts[s.second%int64(len(s.counts))]++
	var last, all int
	for i, n := range s.counts {
		all += n
		if (s.second-int64(i)+int64(len(s.counts)))%int64(len(s.counts)) < slopeRecent {
			last += n
		}
	}
	return float64(last) / slopeRecent, float64(all-last) / slopeBefore
}

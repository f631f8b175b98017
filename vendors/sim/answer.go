package sim

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"time"
)

// answer says something, streamed or whole.
func (x *exchange) answer(ep *endpoint, load float64, q *quirk) {
	m := x.req.measure()
	c := conditions{rng: x.rng, load: load, cached: min(x.v.prefixes.visit(m.blocks), m.count())}
	t := x.v.draw(x.o, c)
	a := &answer{id: ep.prefix + x.id, created: x.start.Unix(), model: x.req.Model, in: m.count(), cached: c.cached}
	x.tokensIn = a.in
	for i := range max(x.req.N, 1) {
		a.choices = append(a.choices, x.choice(q, i))
	}
	if q.slow > 0 {
		t.perToken = float64(q.slow)
	}
	if ep.script != nil && x.req.Stream && q.rawWhole == "" {
		x.stream(ep.script(a, q, x.req.includeUsage()), a, &t, q)
		return
	}
	x.whole(ep, a, &t, q)
}

// choice decides what is said: a function call, sixty counted words, or a few sentences.
func (x *exchange) choice(q *quirk, index int) choice {
	if call, ok := x.req.toolCall(); ok {
		return choice{pieces: fourths(call.arguments), reason: "tool_calls", tool: &call, callID: "call_" + x.id + strconv.Itoa(index)}
	}
	c := choice{reason: "stop"}
	if x.v.faulty {
		c.pieces = countedWords()
	} else {
		want := int(lognormal(x.rng, float64(x.o.Tokens), x.o.TokenSigma) + 0.5)
		c.pieces = compose(x.rng, x.req.question(), max(want, 1))
	}
	if q.finish != "" || !x.req.Stream && q.stopAfter > 0 && (q.stop == stopEnd || q.stop == stopDone) {
		c.pieces, c.reason = c.pieces[:q.stopAfter], q.finish
	}
	if limit, ok := x.req.limit(); ok && limit < len(c.pieces) {
		c.pieces, c.reason = c.pieces[:limit], "length"
	}
	return c
}

// fourths cuts ASCII text into pieces of four bytes, about a token each.
func fourths(s string) []string {
	var out []string
	for len(s) > 4 {
		out = append(out, s[:4])
		s = s[4:]
	}
	return append(out, s)
}

// coalesce is the least time between two writes of a stream: tokens due sooner share an event.
const coalesce = 10 * time.Millisecond

// stream writes an answer as it comes. Headers go out with the first token, as at real vendors.
func (x *exchange) stream(sc script, a *answer, t *timing, q *quirk) {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	_, typed := sc.(*responseScript)
	s := &sse{w: x.w, rc: x.rc, q: q, typed: typed}
	if q.gzip {
		h.Set("Content-Encoding", "gzip")
		s.gz = gzip.NewWriter(x.w)
	}
	defer func() { x.events = s.sent }()
	due := x.start.Add(t.first)
	if !x.before(s, q, &due) {
		return
	}
	x.status = http.StatusOK
	if q.stop != stopNone && q.stopAfter < 0 {
		x.stop(s, q)
		return
	}
	sc.open(s)
	n, next := a.steps(), due
	stopAt := min(q.stopAfter, n*2/3) // a function call is shorter than sixty words
	var wrote time.Time
	for from := 0; from < n; {
		if q.stop != stopNone && from >= stopAt {
			x.stop(s, q)
			return
		}
		due, to := next, from+1
		next = due.Add(t.token())
		// Together with what is due before the next write may be, or overdue because this machine is busy.
		for now := time.Now(); to < n && !t.fixed && (due.Sub(wrote) < x.o.scaled(coalesce) || next.Before(now)); to++ {
			due, next = next, next.Add(t.token())
		}
		if !x.sleepUntil(due) {
			return
		}
		sc.delta(s, from, to)
		if !s.flush() {
			x.outcome = Left
			return
		}
		if from == 0 {
			x.first = time.Since(x.start)
		}
		x.tokensOut = a.said(to)
		from, wrote = to, due
	}
	sc.close(s)
	x.outcome = Answered
	if !s.flush() || !s.finish() {
		x.outcome = Left
	}
}

// before waits for the first token and does what a fault does until then.
func (x *exchange) before(s *sse, q *quirk, due *time.Time) bool {
	if q.headersFirst || q.keepAlive > 0 {
		x.w.WriteHeader(http.StatusOK)
		x.status = http.StatusOK
		if !s.flush() {
			x.outcome = Left
			return false
		}
	}
	*due = due.Add(x.o.scaled(q.firstDelay))
	for q.keepAlive > 0 && time.Until(*due) > 0 {
		if !x.sleep(min(x.o.scaled(q.keepAlive), time.Until(*due))) {
			return false
		}
		s.comment("keep-alive")
		if !s.flush() {
			x.outcome = Left
			return false
		}
	}
	return x.sleepUntil(*due)
}

// whole writes an answer at once, after the time that streaming it would have taken.
func (x *exchange) whole(ep *endpoint, a *answer, t *timing, q *quirk) {
	x.w.Header().Set("Content-Type", "application/json")
	wait := t.first + x.o.scaled(q.firstDelay)
	if ep.script == nil {
		wait = t.first / 4 // embeddings are one pass over the input, with nothing to generate
	} else {
		wait += t.rest(a.steps())
	}
	due := x.start.Add(wait)
	if q.headersFirst || q.keepAlive > 0 {
		x.w.WriteHeader(http.StatusOK)
		x.status = http.StatusOK
		if err := x.rc.Flush(); err != nil {
			x.outcome = Left
			return
		}
	}
	if !x.sleepUntil(due) {
		return
	}
	x.first = time.Since(x.start)
	x.writeWhole(ep.whole(a, &x.req), a, q)
}

package sim

import (
	"compress/gzip"
	"net/http"
	"strconv"
	"time"
)

// answer says something, streamed or whole.
func (x *exchange) answer(ep *endpoint, m *meter, load float64, q *quirk) {
	cached := min(x.v.prefixes.visit(m.blocks, m.size()), m.count())
	a := &answer{id: ep.prefix + x.id, created: x.start.Unix(), model: x.req.Model, in: m.count(), cached: cached}
	x.tokensIn = a.in
	for i := range max(x.req.N, 1) {
		a.choices = append(a.choices, x.choice(q, i))
	}
	p := x.pace(ep, a, load, q)
	if ep.script != nil && x.req.Stream && q.rawWhole == "" {
		x.stream(ep.script(a, q, x.req.includeUsage()), a, p, q)
		return
	}
	x.whole(ep, a, p, q)
}

// pace draws when the answer's tokens come, or asks what the requests share.
func (x *exchange) pace(ep *endpoint, a *answer, load float64, q *quirk) pace {
	embeds := ep.script == nil // one pass over the input, with nothing to generate
	if x.v.station != nil {
		if embeds {
			return x.v.station.serve(a.in, a.cached, 0)
		}
		return x.v.station.serve(a.in, a.cached, a.steps())
	}
	t := x.v.draw(x.o, conditions{rng: x.rng, load: load, cached: a.cached})
	if q.slow > 0 {
		t.perToken = float64(q.slow)
	}
	t.start += x.o.scaled(q.firstDelay)
	if embeds {
		t.start, t.perToken = t.start/4, 0
	}
	return &t
}

// choice decides what is said: a function call, sixty counted words, or a few sentences.
func (x *exchange) choice(q *quirk, index int) choice {
	if call, ok := x.req.toolCall(); ok {
		return choice{pieces: fourths(call.arguments), reason: "tool_calls", tool: &call, callID: "call_" + x.id + strconv.Itoa(index)}
	}
	c := choice{reason: "stop", pieces: x.words()}
	if q.finish != "" || !x.req.Stream && q.stopAfter > 0 && (q.stop == stopEnd || q.stop == stopDone) {
		c.pieces, c.reason = c.pieces[:min(q.stopAfter, len(c.pieces))], q.finish
	}
	if limit, ok := x.req.limit(); ok && limit < len(c.pieces) {
		c.pieces, c.reason = c.pieces[:limit], "length"
	}
	return c
}

// words are what is said: sixty counted words or a few sentences, or what is missing of them.
func (x *exchange) words() []string {
	said := x.req.continued()
	if x.v.faulty {
		return missingWords(said)
	}
	want := max(int(lognormal(x.rng, float64(x.o.Tokens), x.o.TokenSigma)+0.5), 1)
	if said != "" {
		return goOn(x.rng, x.req.question(), said, want)
	}
	return compose(x.rng, x.req.question(), want)
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

const eventStream = "text/event-stream; charset=utf-8"

// stream writes an answer as it comes. Headers go out with the first token, as at real vendors.
func (x *exchange) stream(sc script, a *answer, p pace, q *quirk) {
	h := x.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-cache")
	_, typed := sc.(*responseScript)
	s := &sse{w: x.w, rc: x.rc, q: q, typed: typed}
	if q.gzip {
		h.Set("Content-Encoding", "gzip")
		s.gz = gzip.NewWriter(x.w)
	}
	defer func() { x.events = s.sent }()
	if !x.before(s, q) || !p.first(x) {
		return
	}
	x.status = http.StatusOK
	if q.stop != stopNone && q.stopAfter < 0 {
		x.stop(s, q)
		return
	}
	sc.open(s)
	n := a.steps()
	stopAt := min(q.stopAfter, n*2/3) // a function call is shorter than sixty words
	for from := 0; from < n; {
		if q.stop != stopNone && from >= stopAt {
			x.stop(s, q)
			return
		}
		to, ok := p.next(x, from, n)
		if !ok {
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
		from = to
	}
	sc.close(s)
	x.outcome = Answered
	if !s.flush() || !s.finish() {
		x.outcome = Left
	}
}

// before does what a fault does until the first token.
func (x *exchange) before(s *sse, q *quirk) bool {
	if (q.headersFirst || q.keepAlive > 0) && x.status == 0 {
		x.w.WriteHeader(http.StatusOK)
		x.status = http.StatusOK
		if !s.flush() {
			x.outcome = Left
			return false
		}
	}
	for due := x.began.Add(x.o.scaled(q.firstDelay)); q.keepAlive > 0 && time.Until(due) > 0; {
		if !x.sleep(min(x.o.scaled(q.keepAlive), time.Until(due))) {
			return false
		}
		s.comment("keep-alive")
		if !s.flush() {
			x.outcome = Left
			return false
		}
	}
	return true
}

// whole writes an answer at once, after the time that streaming it would have taken.
func (x *exchange) whole(ep *endpoint, a *answer, p pace, q *quirk) {
	x.w.Header().Set("Content-Type", "application/json")
	if (q.headersFirst || q.keepAlive > 0) && x.status == 0 {
		x.w.WriteHeader(http.StatusOK)
		x.status = http.StatusOK
		if err := x.rc.Flush(); err != nil {
			x.outcome = Left
			return
		}
	}
	n := a.steps()
	if ep.script == nil {
		n = 1
	}
	if !p.last(x, n) {
		return
	}
	x.first = time.Since(x.start)
	x.writeWhole(ep.whole(a, &x.req), a, q)
}

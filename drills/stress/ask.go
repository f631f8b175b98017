package stress

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"baton/engine/outcome"
	"baton/engine/sse"
	"baton/vendors"
)

const (
	chatPath  = "/chat/completions"
	maxEvent  = 4 << 20
	maxWhole  = 64 << 20
	faultKept = 64 << 10
	together  = time.Millisecond // events closer than this came in one piece
	userAgent = "baton-stress"
)

// asker asks one target, and measures.
type asker struct {
	t       *Target
	p       *Plan
	epoch   time.Time
	keys    []*vendors.Key
	run     string // in every prompt's mark
	nth     atomic.Uint64
	noUsage atomic.Bool // the vendor refuses stream_options
}

func newAsker(p *Plan, t *Target, epoch time.Time, run string) *asker {
	keys := t.Vendor.Keys.All()
	return &asker{t: t, p: p, epoch: epoch, run: run, keys: keys[:min(p.Keys, len(keys))]}
}

// question is one request before it is sent.
type question struct {
	body []byte
	in   int // tokens, estimated
	key  *vendors.Key
}

// next makes the next question; size bounds the answer's tokens, 0: as the prompt and
// the plan say.
func (a *asker) next(size, keys int) question {
	n := a.nth.Add(1)
	prompt := &a.p.Prompts[(n*0x9e3779b1+a.p.Seed)%uint64(len(a.p.Prompts))]
	mark := ""
	if a.p.Cache == Cold {
		mark = fmt.Sprintf("[%s %06d] ", a.run, n)
	}
	if size == 0 {
		size = or(prompt.MaxTokens, a.p.MaxTokens)
	}
	q := question{body: prompt.body(a.t.Model, mark, size, a.p.Kind == Stream, !a.noUsage.Load()), in: prompt.tokens()}
	of := a.keys
	if keys > 0 {
		all := a.t.Vendor.Keys.All()
		of = all[:min(keys, len(all))]
	}
	q.key = of[n%uint64(len(of))]
	return q
}

func (a *asker) since() time.Duration { return time.Since(a.epoch) }

// ask sends one question and reads its whole answer. gap, if not nil, is told of the
// time between two events, in ms.
func (a *asker) ask(ctx context.Context, due time.Time, q question, gap func(ms float64)) sample {
	s := sample{due: due.Sub(a.epoch), head: none, first: none, answer: none, last: none, in: q.in, estimated: true}
	timed, cancel := context.WithTimeout(ctx, a.p.Timeout)
	defer cancel()
	var begun time.Time
	var gotConn atomic.Bool
	var connect atomic.Int64
	trace := &httptrace.ClientTrace{
		GetConn: func(string) { begun = time.Now() },
		GotConn: func(i httptrace.GotConnInfo) {
			s.reused = i.Reused
			if !i.Reused {
				connect.Store(int64(time.Since(begun)))
			}
			gotConn.Store(true)
		},
	}
	header := http.Header{"Content-Type": {"application/json"}, "User-Agent": {userAgent}}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(q.body)), nil }
	r, err := a.t.Vendor.NewRequest(httptrace.WithClientTrace(timed, trace), http.MethodPost, chatPath, "", header, body, int64(len(q.body)), q.key)
	at := outcome.Attempt{Offered: true, Streaming: a.p.Kind == Stream, Dialect: a.t.Vendor.Dialect}
	s.sent = a.since()
	if err != nil {
		at.Reason, s.end = "request", a.since()
		a.judge(&s, at)
		return s
	}
	resp, err := a.t.roundTrip(r)
	if err != nil {
		at.Err = fmt.Errorf("asking %s: %w", a.t.Vendor.Name, err) // a bare io.EOF would be the end of an answer
	} else {
		s.head = a.since()
		at.Status, at.Header = resp.StatusCode, resp.Header.Get
		a.read(resp, &s, &at, gap)
		_ = resp.Body.Close()
	}
	s.end = a.since()
	s.connect = time.Duration(connect.Load())
	if !gotConn.Load() {
		at.Phase = outcome.Connect
	} else if at.Phase == 0 {
		at.Phase = outcome.Header
	}
	switch {
	case ctx.Err() != nil:
		at.ClientGone = true
	case timed.Err() != nil:
		at.Clock = outcome.WholeClock
	}
	at.Now = time.Now()
	a.judge(&s, at)
	return s
}

// roundTrip sends a request and returns the answer with its body yet to be read.
func (t *Target) roundTrip(r *http.Request) (*http.Response, error) {
	if t.trip != nil {
		return t.trip.RoundTrip(r)
	}
	return t.Vendor.RoundTrip(r)
}

// judge classifies the attempt.
func (a *asker) judge(s *sample, at outcome.Attempt) {
	res := outcome.Classify(at)
	s.result, s.class, s.limit, s.scope, s.reason, s.retry = res.Outcome, res.Class, res.Limit, res.Scope, res.Reason, res.RetryAfter
	if s.limit == outcome.LimitRPS && (strings.Contains(res.Reason, "burst") || strings.Contains(res.Message, "increased too quickly") || strings.Contains(res.Message, "too fast")) {
		s.limit = outcome.LimitSlope // in whatever dialect
	}
	if s.result != outcome.OK {
		s.message = a.t.Vendor.Keys.Secrets().Hide(res.Message)
	}
	if res.RefusesUsage {
		a.noUsage.Store(true)
	}
	if at.Header != nil {
		s.announced = announced(at.Header)
	}
	if s.last == none && s.ok() {
		s.last = s.end
	}
	s.cost, _ = a.t.Price.cost(s.in, s.cached, s.out)
	if a.t.Spent != nil {
		a.t.Spent(spentOn(s, at.Streaming))
	}
}

// spentOn is what a request has taken of the vendor.
func spentOn(s *sample, stream bool) Spent {
	v := Spent{Ended: time.Now(), Outcome: s.result, Reason: s.reason, Stream: stream, Took: max(0, s.end-s.sent)}
	if s.first != none && stream {
		v.FirstToken = max(0, s.first-s.sent)
	}
	if s.ok() {
		v.Input, v.Cached, v.Output, v.Estimated = s.in, s.cached, s.out, s.estimated
	}
	return v
}

// announced is what an answer's header says of a limit.
func announced(header func(string) string) string {
	for _, name := range []string{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Limit"} {
		if v := header(name); v != "" && v != "-1" && len(v) < 40 {
			return strings.ToLower(name) + ": " + v
		}
	}
	return ""
}

// read reads the answer, whatever it is.
func (a *asker) read(resp *http.Response, s *sample, at *outcome.Attempt, gap func(float64)) {
	body := io.Reader(resp.Body)
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		z, err := gzip.NewReader(body)
		if err != nil {
			at.Reason, at.Err = "bad_encoding", err
			return
		}
		body = z
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		at.Body, _ = io.ReadAll(io.LimitReader(body, faultKept))
		_, _ = io.Copy(io.Discard, io.LimitReader(body, faultKept)) // so that the connection can be used again
		return
	}
	if a.p.Kind == Whole || strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		a.readWhole(body, s, at)
		return
	}
	a.readStream(body, s, at, gap)
}

func (a *asker) readWhole(body io.Reader, s *sample, at *outcome.Attempt) {
	at.Phase = outcome.WholeBody
	b, err := io.ReadAll(io.LimitReader(body, maxWhole))
	if err != nil {
		at.Err = err
		return
	}
	w := outcome.Whole(outcome.Chat, b)
	at.Complete, at.Finish = w.OK, string(w.FinishWord)
	if !w.OK {
		at.Reason, at.Body = w.Reason, b[:min(len(b), faultKept)]
		return
	}
	s.last = a.since()
	s.first, s.answer, s.burst, s.chunks = s.last, s.last, true, 1
	s.out = estimate(b)
	s.count(w.Usage)
}

// count takes the vendor's own count of tokens over the estimated one.
func (s *sample) count(u outcome.Usage) {
	if !u.Has {
		return
	}
	s.in, s.cached, s.out, s.estimated = u.Input, u.Cached, u.Output, false
}

func (a *asker) readStream(body io.Reader, s *sample, at *outcome.Attempt, gap func(float64)) {
	at.Phase = outcome.FirstToken
	events := sse.NewReader(body, maxEvent)
	apart, garbage := false, false
	for {
		e, err := events.Next()
		if err != nil {
			at.Err = err
			break
		}
		if e.Comment {
			continue
		}
		if string(e.Data) == "[DONE]" {
			continue // the rest of the body is read, so that the connection can be used again
		}
		c, ok := outcome.Chunk(e.Data)
		switch {
		case !ok:
			garbage = true
			continue
		case c.Error:
			at.Body = bytes.Clone(e.Data)
			continue
		}
		if len(c.FinishWord) > 0 {
			at.Finish = string(c.FinishWord)
		}
		s.count(c.Usage)
		if !c.Meaningful {
			continue
		}
		now := a.since()
		at.Phase = outcome.Body
		if s.first == none {
			s.first = now
		} else {
			apart = apart || now-s.last > together
			if gap != nil {
				gap((now - s.last).Seconds() * 1e3)
			}
		}
		if s.answer == none && !c.Reasoning {
			s.answer = now
		}
		s.last = now
		s.chunks++
		if s.estimated {
			s.out += estimate(bytes.Trim(c.Content, `"`))
		}
	}
	s.burst = !apart
	if garbage && at.Finish == "" {
		at.Reason = "not_json"
	}
}

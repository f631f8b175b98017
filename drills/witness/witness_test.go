package witness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

const stream = `data: {"choices":[{"delta":{"role":"assistant"}}]}

data: {"choices":[{"delta":{"content":"I am here."}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

data: [DONE]

`

// log is a log that may be read while it is written.
type log struct {
	mu  sync.Mutex
	b   bytes.Buffer
	err error
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	return l.b.Write(b)
}

func (l *log) read(t *testing.T) (string, *Log) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := parse(l.b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return l.b.String(), p
}

// gateway answers as one would, and keeps what it was asked.
type gateway struct {
	mu     sync.Mutex
	asked  []*http.Request
	answer func(n int, w http.ResponseWriter)
}

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/models" {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"deepseek-v3"},{"id":"other"}]}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	g.mu.Lock()
	g.asked = append(g.asked, r)
	n := len(g.asked)
	g.mu.Unlock()
	w.Header().Set("X-Baton-Vendor", "lanyun")
	w.Header().Set("X-Baton-Attempts", "1")
	g.answer(n, w)
}

// observe runs a witness until so many requests have ended.
func observe(t *testing.T, g *gateway, n int) (*Witness, *log, *Summary) {
	t.Helper()
	s := httptest.NewServer(g)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l := new(log)
	ended := 0
	w := &Witness{URL: s.URL + "/v1", RPS: MaxRPS, Key: "sk-very-secret", Log: l, Ended: func(Entry) {
		if ended++; ended == n {
			cancel()
		}
	}}
	sum, err := w.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return w, l, sum
}

func TestRun_SendsMarkedStreamsAndLogsThem(t *testing.T) {
	g := &gateway{answer: func(_ int, w http.ResponseWriter) { _, _ = io.WriteString(w, stream) }}
	_, l, sum := observe(t, g, 3)
	text, p := l.read(t)
	if len(p.Entries) < 3 || sum.Requests < 3 || sum.Failed != 0 || sum.Vendors["lanyun"] != sum.Requests || sum.P99ms == nil {
		t.Errorf("%d entries, %+v", len(p.Entries), sum)
	}
	seen := map[string]bool{}
	for i, r := range g.asked[:3] {
		id := r.Header.Get("X-Request-Id")
		var body struct {
			Model  string
			Stream bool
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		if !strings.HasPrefix(id, "witness-") || seen[id] || r.UserAgent() != "baton-witness" || r.Header.Get("Authorization") != "Bearer sk-very-secret" || body.Model != "deepseek-v3" || !body.Stream {
			t.Errorf("request %d: %v %+v", i, r.Header, body)
		}
		seen[id] = true
	}
	for _, e := range p.Entries[:3] {
		if !seen[e.ID] || !e.OK || e.Vendor != "lanyun" || e.Attempts != 1 || e.Status != 200 || e.FirstToken == nil || e.End == nil ||
			e.FirstToken.Before(e.Sent) || e.End.Before(*e.FirstToken) {
			t.Errorf("%+v", e)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("the key is in the log")
	}
	if first, _, _ := strings.Cut(text, "\n"); !strings.Contains(first, `"witness":1`) || !strings.Contains(first, "deepseek-v3") {
		t.Errorf("the log begins with %s", first)
	}
}

func TestRun_WhatIsNotAnsweredWellHasAReason(t *testing.T) {
	event := func(s string) string { return "data: " + s + "\n\n" }
	token, stop := event(`{"choices":[{"delta":{"content":"x"}}]}`), event(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	answers := []struct {
		name   string
		answer func(w http.ResponseWriter)
		ok     bool
		reason string
	}{
		{"reasoning and a tool call", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, event(`{"choices":[{"delta":{"tool_calls":[{}]},"finish_reason":"tool_calls"}]}`))
		}, true, ""},
		{"an error of the gateway's", func(w http.ResponseWriter) {
			w.WriteHeader(502)
			_, _ = io.WriteString(w, `{"error":{"message":"all attempts failed","code":"baton_no_vendor"}}`)
		}, false, "502 Bad Gateway baton_no_vendor: all attempts failed"},
		{"an error page", func(w http.ResponseWriter) { w.WriteHeader(500); _, _ = io.WriteString(w, "<html>") }, false, "500 Internal Server Error an error that it does not explain"},
		{"interrupted", func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, token+event(`{"error":{"message":"cut","code":"upstream_interrupted"}}`))
		}, false, "upstream_interrupted: cut"},
		{"no end", func(w http.ResponseWriter) { _, _ = io.WriteString(w, token) }, false, "without a finish reason"},
		{"no token", func(w http.ResponseWriter) { _, _ = io.WriteString(w, stop+"data: [DONE]\n\n") }, false, "without a token"},
		{"garbage", func(w http.ResponseWriter) { _, _ = io.WriteString(w, event("{x")+token+stop) }, false, "no JSON"},
		{"closed", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, false, "EOF"},
		{"a long word", func(w http.ResponseWriter) {
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, strings.Repeat("长", 1000))
		}, false, "长..."},
	}
	g := &gateway{answer: func(n int, w http.ResponseWriter) {
		if n <= len(answers) {
			answers[n-1].answer(w)
			return
		}
		_, _ = io.WriteString(w, stream)
	}}
	_, l, sum := observe(t, g, len(answers))
	_, p := l.read(t)
	by := map[string]Entry{}
	for _, e := range p.Entries {
		by[e.ID] = e
	}
	for i, a := range answers {
		e := by[g.asked[i].Header.Get("X-Request-Id")]
		if e.OK != a.ok || !strings.Contains(e.Error, a.reason) || len(e.Error) > 220 {
			t.Errorf("%s: %+v", a.name, e)
		}
	}
	if sum.Failed != len(answers)-1 {
		t.Errorf("%+v", sum)
	}
}

func TestRun_NoGatewayIsAFailureOfEveryRequest(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	l := new(log)
	w := &Witness{URL: s.URL + "/v1", RPS: 5, Model: "m", Log: l, Ended: func(e Entry) {
		if e.OK || e.Error == "" || e.Status != 0 {
			t.Errorf("%+v", e)
		}
		cancel()
	}}
	if sum, err := w.Run(ctx); err != nil || sum.Failed == 0 {
		t.Errorf("%+v %v", sum, err)
	}
}

func TestRun_RefusesWhatItCannotDo(t *testing.T) {
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/none") {
			_, _ = io.WriteString(w, `{"data":[]}`)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer g.Close()
	full := &log{err: errors.New("no space left")}
	for _, c := range []struct {
		name, want string
		w          *Witness
	}{
		{"no rate", "0 requests per second", &Witness{URL: g.URL, Log: io.Discard}},
		{"a load", "100 requests per second", &Witness{URL: g.URL, RPS: 100, Log: io.Discard}},
		{"no URL", "is not http://", &Witness{URL: "localhost:8080", RPS: 1, Log: io.Discard}},
		{"no key", "401", &Witness{URL: g.URL + "/v1", RPS: 1, Log: io.Discard}},
		{"no models", "lists no model", &Witness{URL: g.URL + "/none", RPS: 1, Log: io.Discard}},
		{"no log", "no space left", &Witness{URL: g.URL, RPS: 1, Model: "m", Log: full}},
	} {
		if _, err := c.w.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRun_ALogThatCannotBeWrittenEndsIt(t *testing.T) {
	l := new(log)
	g := &gateway{answer: func(_ int, w http.ResponseWriter) {
		l.mu.Lock()
		l.err = errors.New("no space left")
		l.mu.Unlock()
		_, _ = io.WriteString(w, stream)
	}}
	s := httptest.NewServer(g)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	w := Witness{URL: s.URL + "/v1", RPS: 5, Log: l}
	if _, err := w.Run(ctx); err == nil || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
}

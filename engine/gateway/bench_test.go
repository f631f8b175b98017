package gateway

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/vendors"
)

// sink is a client that takes everything.
type sink struct {
	header http.Header
	n      int64
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { s.n += int64(len(p)); return len(p), nil }
func (s *sink) Flush()                      {}

// endless repeats one event, and hands out one at a read.
type endless struct {
	event []byte
	left  int
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	e.left--
	return copy(p, e.event), nil
}

// Budget: no allocation.
func BenchmarkRelay_PerEvent(b *testing.B) {
	cfg := parse(b, strings.NewReplacer("<A>", "http://127.0.0.1:1", "<B>", "http://127.0.0.1:2", "%GATEWAY", "", "%ROUTING", "", "%TOP", "", "%LANYUN", "", "%BAILIAN", "", "%TIMEOUTS", "").Replace(basic))
	q, a, stop := attemptOf(b, cfg)
	defer stop()
	event := []byte(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1735120033,"model":"qwen-plus","service_tier":null,"system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" word","function_call":null,"refusal":null,"role":null,"tool_calls":null},"finish_reason":null,"logprobs":null}],"usage":null}` + "\n\n")
	src := &endless{event: event, left: b.N + 10}
	a.reader.Reset(src)
	q.committed, a.first = true, true
	a.clock.arm(outcome.IdleClock, time.Minute)
	b.ReportAllocs()
	b.SetBytes(int64(len(event)))
	for b.Loop() {
		src.left = 2
		if !a.next() {
			b.Fatal("the stream ended")
		}
	}
}

func attemptOf(tb testing.TB, cfg *config.Config) (*request, *attempt, func()) {
	tb.Helper()
	set, err := vendors.Open(cfg, vendors.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	g := New(Options{Config: cfg, Engine: engine.New(cfg, func(control.Event) {}), Vendors: set})
	q := requests.Get().(*request)
	q.g, q.st, q.w = g, g.hold(), &sink{header: http.Header{}}
	q.r, _ = http.NewRequestWithContext(tb.Context(), http.MethodPost, "/v1/chat/completions", nil)
	q.ctx, q.endpoint, q.stream = q.r.Context(), outcome.Chat, true
	q.flusher = q.w.(http.Flusher)
	a := q.newAttempt()
	return q, a, func() { a.release(); set.Close() }
}

// A whole request over sockets: client, gateway and vendor in one process.
func BenchmarkRequest_Whole(b *testing.B)    { benchmarkRequest(b, askWhole) }
func BenchmarkRequest_Streamed(b *testing.B) { benchmarkRequest(b, askStream) }

// What the figures are held against: the standard library's proxy, with the body read first.
func BenchmarkReference_Whole(b *testing.B)    { benchmarkThrough(b, askWhole, reference) }
func BenchmarkReference_Streamed(b *testing.B) { benchmarkThrough(b, askStream, reference) }

func benchmarkRequest(b *testing.B, ask string) { benchmarkThrough(b, ask, newBenchWorld) }

func reference(b *testing.B, h http.HandlerFunc) string {
	b.Helper()
	to, err := url.Parse(serveOn(b, &http.Server{Handler: h}))
	if err != nil {
		b.Fatal(err)
	}
	tr := &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true}
	b.Cleanup(tr.CloseIdleConnections)
	p := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: tr, FlushInterval: -1}
	return serveOn(b, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		p.ServeHTTP(w, r)
	})})
}

func benchmarkThrough(b *testing.B, ask string, through func(*testing.B, http.HandlerFunc) string) {
	b.Helper()
	stream := []byte(strings.Repeat(`data: {"id":"x","choices":[{"index":0,"delta":{"content":" word"}}]}`+"\n\n", 20) +
		`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	whole := []byte(`{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	w := through(b, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if ask == askStream {
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = rw.Write(stream)
			return
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write(whole)
	})
	body := []byte(ask)
	buf := make([]byte, 32<<10)
	b.ReportAllocs()
	for b.Loop() {
		r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, w+chatPath, bytes.NewReader(body))
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			_, err = res.Body.Read(buf)
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			b.Fatal(res.Status)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

func newBenchWorld(b *testing.B, h http.HandlerFunc) string {
	b.Helper()
	vendor := serveOn(b, &http.Server{Handler: h})
	cfg := parse(b, strings.NewReplacer("<A>", vendor, "<B>", vendor, "%GATEWAY", "", "%ROUTING", "", "%TOP", "", "%LANYUN", "", "%BAILIAN", "", "%TIMEOUTS", "").Replace(basic))
	set, err := vendors.Open(cfg, vendors.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(set.Close)
	g := New(Options{Config: cfg, Engine: engine.New(cfg, func(control.Event) {}), Vendors: set, Logger: slog.New(slog.DiscardHandler)})
	return serveOn(b, g.Server())
}

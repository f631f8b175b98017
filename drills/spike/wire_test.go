package spike

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// served is a gateway over a real socket that answers as its function does.
func served(tb testing.TB, f http.HandlerFunc) (p *Plan, conns *atomic.Int64, server *httptest.Server) {
	tb.Helper()
	conns = new(atomic.Int64)
	server = httptest.NewUnstartedServer(f)
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	tb.Cleanup(server.Close)
	return &Plan{URL: server.URL + "/v1", Model: "m", Key: "k", Agent: "spike", Tokens: 4}, conns, server
}

func (p *Plan) open(tb testing.TB) wire {
	tb.Helper()
	w, err := p.wire()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(w.close)
	return w
}

func TestPool_SendsWhatNetHTTPSends(t *testing.T) {
	type seen struct {
		head http.Header
		body map[string]any
	}
	var mu sync.Mutex
	var all []seen
	p, _, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		s := seen{head: r.Header.Clone()}
		if err := json.NewDecoder(r.Body).Decode(&s.body); err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
			t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		s.head.Del("Accept-Encoding") // of net/http alone
		mu.Lock()
		defer mu.Unlock()
		all = append(all, s)
		fmt.Fprint(w, "{}")
	})
	for _, q := range []question{{n: 1}, {n: 2, stream: true}, {n: 3, batch: true}} {
		all = nil
		for _, w := range []wire{p.open(t), &client{plan: p, http: http.DefaultClient}} {
			if e := ask(t.Context(), w, time.Now(), time.Now(), question{n: q.n, batch: q.batch}); e.outcome != admitted {
				t.Errorf("%+v", e)
			}
		}
		if a, b := fmt.Sprint(all[0]), fmt.Sprint(all[1]); a != b {
			t.Errorf("%+v: it sends\n%s\nnet/http\n%s", q, a, b)
		}
	}
}

func TestPool_KnowsHowARequestEnded(t *testing.T) {
	var how atomic.Pointer[http.HandlerFunc]
	p, _, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		(*how.Load())(w, r)
	})
	status := func(code int, later bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if later {
				w.Header().Set("Retry-After", "2")
			}
			w.WriteHeader(code)
			fmt.Fprint(w, `{"error":{}}`)
		}
	}
	for name, c := range map[string]struct {
		answer  http.HandlerFunc
		stream  bool
		outcome int
		why     string
	}{
		"a whole answer":           {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") }, false, admitted, ""},
		"a stream":                 {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: {}\n\ndata: [DONE]\n\n") }, true, admitted, ""},
		"a stream without its end": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: {}\n\n") }, true, failed, "cut off"},
		"a stream that is cut": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "data: {}\n\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, true, failed, "cut off"},
		"limited":                    {status(429, true), true, limited, ""},
		"shed":                       {status(503, true), true, shed, ""},
		"limited for ever":           {status(429, false), true, failed, "429"},
		"a bad gateway":              {status(502, true), true, failed, "502"},
		"a connection that is broke": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, true, failed, "connection broke"},
	} {
		t.Run(name, func(t *testing.T) {
			how.Store(&c.answer)
			w := p.open(t)
			for range 2 { // on a connection that is new, and on what is left of it
				if e := ask(t.Context(), w, time.Now(), time.Now(), question{stream: c.stream}); e.outcome != c.outcome || e.outcome == failed && e.why != c.why {
					t.Errorf("outcome %d %q, want %d %q", e.outcome, e.why, c.outcome, c.why)
				}
			}
		})
	}
}

func TestPool_UsesItsConnectionsAgainAndOutlivesTheirClosing(t *testing.T) {
	p, conns, server := served(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "data: {}\n\n")
		_ = http.NewResponseController(w).Flush() // in chunks
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
	w := p.open(t)
	again := func() {
		t.Helper()
		if e := ask(t.Context(), w, time.Now(), time.Now(), question{stream: true}); e.outcome != admitted {
			t.Fatalf("%+v", e)
		}
	}
	for range 20 {
		again()
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections for 20 requests in a row", n)
	}
	server.CloseClientConnections()
	again()
	if n := conns.Load(); n != 2 {
		t.Errorf("%d connections, want one more than before", n)
	}
}

func TestPool_CloseEndsWhatIsUnderWay(t *testing.T) {
	there := make(chan struct{})
	p, _, _ := served(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		close(there)
		<-r.Context().Done()
	})
	w := p.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-there
		cancel()
		w.close()
	}()
	if e := ask(ctx, w, time.Now(), time.Now(), question{stream: true}); e.outcome != failed {
		t.Errorf("%+v", e)
	}
}

// BenchmarkAsk is a streamed request over a socket: the generator's part and a
// server that does nothing.
func BenchmarkAsk(b *testing.B) {
	p, _, _ := served(b, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for range 4 {
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	})
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	defer transport.CloseIdleConnections()
	for name, w := range map[string]wire{"pool": p.open(b), "net-http": &client{plan: p, http: &http.Client{Transport: transport}}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e := ask(b.Context(), w, time.Now(), time.Now(), question{stream: true}); e.outcome != admitted {
					b.Fatalf("%+v", e)
				}
			}
		})
	}
}

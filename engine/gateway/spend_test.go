package gateway

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine/ledger"
)

// ledgerOf keeps what a world's gateway gives to the ledger.
type ledgerOf struct {
	mu   sync.Mutex
	list []ledger.Attempt
}

func (w *world) ledger() *ledgerOf {
	l := new(ledgerOf)
	w.g.ledger = func(a *ledger.Attempt) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.list = append(l.list, *a)
	}
	return l
}

func (l *ledgerOf) all() []ledger.Attempt {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]ledger.Attempt{}, l.list...)
}

// wait waits for n entries of attempts, and returns them with those of requests
// that nobody was asked for: an attempt is entered when it has ended, which may be
// after the client has its answer.
func (l *ledgerOf) wait(t *testing.T, n int) []ledger.Attempt {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		list, asked := l.all(), 0
		for i := range list {
			if list[i].Vendor != "" {
				asked++
			}
		}
		if asked >= n || time.Now().After(end) {
			if asked != n {
				t.Fatalf("%d entries of attempts, want %d", asked, n)
			}
			return list
		}
	}
}

// count is what a vendor itself has counted.
type count struct{ in, cached, out int64 }

// meter is a vendor that keeps the books of what it has done.
type meter struct {
	mu     sync.Mutex
	said   count // with a usage object, to the end
	unsaid int   // answers and pieces of answers without one
	none   int   // refusals
	rnd    *rand.Rand
}

// roll makes up what a request takes.
func (m *meter) roll() count {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := count{in: 1 + m.rnd.Int64N(5000), out: 1 + m.rnd.Int64N(300)}
	c.cached = m.rnd.Int64N(c.in + 1)
	return c
}

func (m *meter) bill(c count) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.said.in += c.in
	m.said.cached += c.cached
	m.said.out += c.out
}

func (m *meter) note(to *int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	*to++
}

func (c count) usage() string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`, c.in, c.out, c.in+c.out, c.cached)
}

const (
	eventText   = `data: {"choices":[{"index":0,"delta":{"content":"four word answer here"}}]}` + "\n\n"
	eventStop   = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	wholeAnswer = `{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"an answer"},"finish_reason":%q}],"usage":%s}`
)

// serve answers by what the question says it is a case of.
func (m *meter) serve(primary bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		ask := string(body)
		is := func(word string) bool { return strings.Contains(ask, word) }
		c := m.roll()
		switch {
		case primary && is("case-500"):
			m.note(&m.none)
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":{"message":"down","type":"server_error"}}`)
		case primary && is("case-429"):
			m.note(&m.none)
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"error":{"message":"too many","type":"requests","code":"rate_limit_exceeded"}}`)
		case primary && is("case-bad-finish"): // it did the work, bills it, and it is of no use
			m.bill(c)
			_, _ = fmt.Fprintf(w, wholeAnswer, "aborted", c.usage())
		case strings.HasSuffix(r.URL.Path, "/embeddings"):
			c.out = 0
			m.bill(c)
			_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}}`, c.in, c.in, c.cached)
		case !is(`"stream":true`):
			m.bill(c)
			_, _ = fmt.Fprintf(w, wholeAnswer, "stop", c.usage())
		case is("case-silent"): // it never says
			m.note(&m.unsaid)
			m.stream(w, nil)
		case is("case-hang"):
			m.note(&m.unsaid)
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, eventText)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			m.bill(c)
			m.stream(w, &c)
		}
	}
}

func (m *meter) stream(w http.ResponseWriter, c *count) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, eventText+eventText+eventStop)
	if c != nil {
		_, _ = io.WriteString(w, `data: {"choices":[],"usage":`+c.usage()+"}\n\n")
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

func TestLedger_TokensAreTheVendorsOwnCountExactly(t *testing.T) {
	w := newWorld(t, nil)
	book := w.ledger()
	a, b := &meter{rnd: rand.New(rand.NewPCG(1, 1))}, &meter{rnd: rand.New(rand.NewPCG(2, 2))}
	w.a.does(a.serve(true))
	w.b.does(b.serve(false))
	cases := []string{"plain", "case-500", "plain", "case-bad-finish", "plain", "case-silent", "case-hang", "plain", "embed", "case-429"}
	var clients sync.WaitGroup
	next := make(chan int)
	for range 6 {
		clients.Go(func() {
			for k := range next {
				w.asks(cases[k%len(cases)], k)
			}
		})
	}
	const n = 300
	for k := range n {
		next <- k
	}
	close(next)
	clients.Wait()
	tries := w.a.tries() + w.b.tries()
	list := book.wait(t, tries)

	type sums struct {
		said            count
		estimated, none int
	}
	got := map[string]*sums{"lanyun": {}, "bailian": {}}
	requests := map[string]int{}
	for i := range list {
		e := &list[i]
		requests[e.Request]++
		if e.Vendor == "" { // turned away: every vendor was over its limit
			continue
		}
		s := got[e.Vendor]
		switch {
		case e.Estimated:
			s.estimated++
			if e.Input <= 0 || e.Output <= 0 || e.ExpectedOut != 0 {
				t.Errorf("an estimate of nothing: %+v", e)
			}
		case e.Input == 0 && e.Output == 0:
			s.none++
			if e.Answered() {
				t.Errorf("an answer without tokens: %+v", e)
			}
		default:
			s.said.in += int64(e.Input)
			s.said.cached += int64(e.Cached)
			s.said.out += int64(e.Output)
		}
		if e.Model != "m" || e.Took <= 0 || e.Ended.IsZero() || e.N < 1 {
			t.Errorf("%+v", e)
		}
	}
	for name, m := range map[string]*meter{"lanyun": a, "bailian": b} {
		if s := got[name]; s.said != m.said || s.estimated != m.unsaid || s.none != m.none {
			t.Errorf("%s counted %+v, %d unsaid and %d refused; the ledger has %+v", name, m.said, m.unsaid, m.none, *s)
		}
	}
	if len(requests) != n {
		t.Errorf("%d requests in the ledger, want %d", len(requests), n)
	}
}

// asks sends one request of a case, streamed or whole, with usage asked or not.
func (w *world) asks(what string, k int) {
	question := fmt.Sprintf(`"messages":[{"role":"user","content":"%s"}]`, what)
	switch {
	case what == "embed":
		w.do(http.MethodPost, "/v1/embeddings", `{"model":"m","input":"embed"}`)
		return
	case what == "case-hang":
		ctx, leave := context.WithCancel(w.Context())
		defer leave()
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+chatPath, strings.NewReader(`{"model":"m","stream":true,`+question+`}`))
		res, err := w.client.Do(r)
		if err != nil {
			return
		}
		_, _ = res.Body.Read(make([]byte, 1))
		leave()
		_ = res.Body.Close()
		return
	case what == "case-bad-finish" || what == "plain" && k%3 == 0:
		w.chat(`{"model":"m",` + question + `}`)
		return
	}
	options := ""
	if k%2 == 0 {
		options = `"stream_options":{"include_usage":true},`
	}
	lane := "interactive"
	if k%5 == 0 {
		lane = "batch"
	}
	w.chat(`{"model":"m","stream":true,`+options+question+`}`, headerLane, lane)
}

func TestLedger_OneLineEach(t *testing.T) {
	const usage = `{"prompt_tokens":7,"completion_tokens":3}`
	for name, c := range map[string]struct {
		ask    string
		a      http.HandlerFunc
		leaves bool   // the client, when the vendor has the question
		want   string // of the first line: outcome input output, ~ an estimate
	}{
		"an answer": {askWhole, func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, wholeAnswer, "stop", usage) }, false, "ok 7 3"},
		"a content filter is billed": {askWhole, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = fmt.Fprintf(w, wholeAnswer, "content_filter", usage)
		}, false, "ok 7 3"},
		"a refusal":                {askWhole, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, false, "vendor_fault 0 0"},
		"a page that is no answer": {askWhole, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>hello</html>") }, false, "vendor_fault 0 0"},
		"usage in every event, cut": {askStream, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"hi"}}],"usage":{"prompt_tokens":70,"completion_tokens":30}}`+"\n\n")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, false, "vendor_fault ~70 30"},
		"cut before a word": {askStream, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, false, "vendor_fault ~3 0"},
		"an error in a stream": {askStream, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"error":{"message":"busy","code":"server_is_overloaded"}}`+"\n\n")
		}, false, "vendor_fault 0 0"},
		"the client leaves while nothing came": {askWhole, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, true, "client_cancel ~3 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			book := w.ledger()
			w.a.does(c.a)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if c.leaves {
				go func() {
					for w.a.tries() == 0 && ctx.Err() == nil {
						time.Sleep(time.Millisecond)
					}
					leave()
				}()
			}
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, w.url+chatPath, strings.NewReader(c.ask))
			r.Header.Set(headerNoFailover, "1")
			if res, err := w.client.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
			e := book.wait(t, 1)[0]
			mark := ""
			if e.Estimated {
				mark = "~"
			}
			if got := fmt.Sprintf("%s %s%d %d", e.Outcome, mark, e.Input, e.Output); got != c.want {
				t.Errorf("the ledger has %q, want %q (%+v)", got, c.want, e)
			}
		})
	}
}

func TestLedger_KnowsWhoAsksAndWhatIsNotAsked(t *testing.T) {
	w := newWorld(t, map[string]string{"TOP": "[[clients]]\nname = \"search\"\nkey = \"sk-search\"\nlane = \"batch\"\n[[models]]\nname = \"m\"\nlanyun = \"theirs\"\nbailian = \"m2\"\n"})
	book := w.ledger()
	w.chat(askWhole, "Authorization", "Bearer sk-search", headerRequestID, "mine-1")
	w.chat(askWhole, "Authorization", "Bearer sk-wrong")
	w.chat(`{"model":`, "Authorization", "Bearer sk-search")
	list := book.wait(t, 1)
	for len(list) < 2 {
		list = book.wait(t, 1)
	}
	if e := list[0]; e.Client != "search" || e.Model != "m" || e.At != "theirs" || e.Lane.String() != "batch" || e.Request != "mine-1" || e.Endpoint != "/chat/completions" || e.N != 1 {
		t.Errorf("%+v", e)
	}
	if e := list[1]; e.Vendor != "" || e.Outcome != "client_fault" || e.N != 0 || e.Input != 0 {
		t.Errorf("what no vendor was asked is %+v", e)
	}
}

func TestLedger_UsageOfAnEndpointThatIsPassedThrough(t *testing.T) {
	w := newWorld(t, nil)
	book := w.ledger()
	w.a.does(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"results":[],"usage":{"input_tokens":11,"output_tokens":0}}`)
	})
	if x := w.do(http.MethodPost, "/v1/rerank", `{"model":"r"}`); x.status != http.StatusOK || !strings.Contains(x.body, "results") {
		t.Fatalf("%d %s", x.status, x.body)
	}
	if e := book.wait(t, 1)[0]; e.Input != 11 || e.Estimated || e.Endpoint != "other" {
		t.Errorf("%+v", e)
	}
}

func TestLedger_AnEntryTakesNoMemory(t *testing.T) {
	cfg := parse(t, strings.NewReplacer("<A>", "http://127.0.0.1:1", "<B>", "http://127.0.0.1:2", "%GATEWAY", "", "%ROUTING", "", "%TOP", "", "%LANYUN", "", "%BAILIAN", "", "%TIMEOUTS", "").Replace(basic))
	q, a, stop := attemptOf(t, cfg)
	defer stop()
	entered := 0
	q.g.ledger = func(*ledger.Attempt) { entered++ }
	a.vendor = q.st.set.Vendor("lanyun")
	q.model, q.id, a.begun = "m", "req-1", time.Now()
	if n := testing.AllocsPerRun(100, a.enter); n != 0 || entered == 0 {
		t.Errorf("%v allocations in each of %d entries", n, entered)
	}
}

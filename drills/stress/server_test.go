package stress

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"baton/engine/config"
	"baton/vendors"
)

// server is an outside vendor whose behaviour is known: it shares no code with the
// simulated ones. Its fields are set before it is asked.
type server struct {
	// takes says how long the first token and each further one take, with so many at work.
	takes func(atWork int) (first, each time.Duration)
	// admit says whether a request of so many tokens in all may pass, and may wait. leave is
	// called when an admitted one has ended.
	admit func(ctx context.Context, tokens int) bool
	leave func()
	// admitKey is admit by the key; admitSaying refuses with what it returns, "" admits.
	admitKey    func(key string) func(ctx context.Context, tokens int) bool
	admitSaying func(ctx context.Context) string
	// words of a refusal; the default says nothing of what is counted.
	refusal string
	tokens  int // of an answer; 0: as many as were asked for
	noUsage bool
	status  int // in place of any answer

	atWork   atomic.Int64
	admitted atomic.Int64
	refused  atomic.Int64
	seen     atomic.Int64

	mu      sync.Mutex
	prompts map[string]int
	keys    map[string]int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Stream        bool `json:"stream"`
		MaxTokens     int  `json:"max_tokens"`
		StreamOptions *struct{}
		Messages      []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Messages) == 0 {
		http.Error(w, `{"error":{"message":"bad","type":"invalid_request_error"}}`, http.StatusBadRequest)
		return
	}
	s.seen.Add(1)
	s.mu.Lock()
	if s.prompts == nil {
		s.prompts, s.keys = map[string]int{}, map[string]int{}
	}
	s.prompts[q.Messages[0].Content]++
	s.keys[r.Header.Get("Authorization")]++
	s.mu.Unlock()
	if s.status != 0 {
		http.Error(w, `{"error":{"message":"no","type":"x","code":"y"}}`, s.status)
		return
	}
	in, out := len(q.Messages[0].Content)/4, q.MaxTokens
	admit, refusal := s.admit, s.refusal
	if s.admitKey != nil {
		admit = s.admitKey(r.Header.Get("Authorization"))
	}
	if s.admitSaying != nil {
		refusal = s.admitSaying(r.Context())
		admit = func(context.Context, int) bool { return refusal == "" }
	}
	if s.tokens > 0 {
		out = min(s.tokens, out)
	}
	if admit != nil && !admit(r.Context(), in+out) {
		if r.Context().Err() != nil {
			return
		}
		s.refused.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"error":{"message":%q,"type":"too_many","code":null}}`, or(refusal, "Please slow down"))
		return
	}
	s.admitted.Add(1)
	if s.leave != nil {
		defer s.leave()
	}
	s.answer(w, r.Context(), q.Stream, in, out)
}

func (s *server) answer(w http.ResponseWriter, ctx context.Context, stream bool, in, out int) {
	n := s.atWork.Add(1)
	defer s.atWork.Add(-1)
	first, each := s.takes(int(n))
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}`, in, out, in+out)
	begin := time.Now()
	until := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Until(begin.Add(d))):
			return true
		}
	}
	if !stream {
		if until(first + each*time.Duration(out-1)) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":%s}`, usage)
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	// A few events an answer, whatever its length: each has many tokens.
	events := min(out, 4)
	for i := range events {
		at := first
		if i > 0 {
			at += each * time.Duration(out-1) * time.Duration(i) / time.Duration(events-1)
		}
		if !until(at) {
			return
		}
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}]}\n\n")
		_ = flush.Flush()
	}
	_, _ = fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n")
	if !s.noUsage {
		_, _ = fmt.Fprintf(w, "data: {\"choices\":[],\"usage\":%s}\n\n", usage)
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
}

// fixed takes always the same.
func fixed(first, each time.Duration) func(int) (time.Duration, time.Duration) {
	return func(int) (time.Duration, time.Duration) { return first, each }
}

// bucket admits rate per second and burst at once.
type bucket struct {
	rate, burst float64
	mu          sync.Mutex
	have        float64
	at          time.Time
}

// take says how long it is until n are there; with wait 0 it takes none it has not.
func (b *bucket) take(n float64, reserve bool) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.at.IsZero() {
		b.have = b.burst
	} else {
		b.have = min(b.burst, b.have+now.Sub(b.at).Seconds()*b.rate)
	}
	b.at = now
	if b.have >= n || reserve {
		b.have -= n
		return time.Duration(max(0, -b.have) / b.rate * float64(time.Second)), true
	}
	return 0, false
}

// rejecting admits so many requests per second and refuses the others at once.
func rejecting(rate, burst float64) func(context.Context, int) bool {
	b := &bucket{rate: rate, burst: burst}
	return func(context.Context, int) bool {
		_, ok := b.take(1, false)
		return ok
	}
}

// queueing lets those over the rate wait.
func queueing(rate float64) func(context.Context, int) bool {
	b := &bucket{rate: rate, burst: 1}
	return func(ctx context.Context, _ int) bool {
		wait, _ := b.take(1, true)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(wait):
			return true
		}
	}
}

// byTokens admits so many tokens per second.
func byTokens(rate, burst float64) func(context.Context, int) bool {
	b := &bucket{rate: rate, burst: burst}
	return func(_ context.Context, tokens int) bool {
		_, ok := b.take(float64(tokens), false)
		return ok
	}
}

// atOnce admits k at once.
func atOnce(k int64) (admit func(context.Context, int) bool, leave func()) {
	var under atomic.Int64
	admit = func(context.Context, int) bool {
		if under.Add(1) > k {
			under.Add(-1)
			return false
		}
		return true
	}
	return admit, func() { under.Add(-1) }
}

// targetOf is a server as a target, over pipes, so that it and its client can be in a
// bubble of fake time. keys are the vendor's.
func targetOf(t *testing.T, name string, s http.Handler, keys ...string) Target {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: s}
	var serving sync.WaitGroup
	serving.Go(func() { _ = srv.Serve(l) })
	tr := &http.Transport{MaxIdleConnsPerHost: 1000, DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		select {
		case l.conns <- there:
			return here, nil
		case <-l.done:
			return nil, net.ErrClosed
		}
	}}
	t.Cleanup(func() {
		_ = srv.Close()
		tr.CloseIdleConnections()
		serving.Wait()
	})
	target := targetAt(t, name, "http://outside.example", keys...)
	target.trip = tr
	return target
}

// pipes is a listener of net.Pipe.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// targetAt is a vendor at a URL.
func targetAt(t *testing.T, name, url string, keys ...string) Target {
	t.Helper()
	c := config.Default()
	v := config.Vendor{Name: name, BaseURL: url + "/v1"}
	for _, k := range keys {
		v.APIKeys = append(v.APIKeys, config.NewSecret(k))
	}
	c.Vendors = []config.Vendor{v}
	set, err := vendors.Open(c, vendors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(set.Close)
	return Target{Vendor: set.Vendor(name), Model: "m"}
}

// planOf is a short plan for one target.
func planOf(t *testing.T, target Target) Plan {
	t.Helper()
	prompts, err := BuiltIn("faq", 1)
	if err != nil {
		t.Fatal(err)
	}
	return Plan{
		Targets: []Target{target}, Prompts: prompts, Ladder: []int{1, 2, 4}, Arrivals: ClosedLoop, Duration: 1500 * time.Millisecond, Warmup: 300 * time.Millisecond,
		MinSamples: 40, MaxTokens: 32, NoProbe: true,
	}
}

// ran runs a plan.
func ran(t *testing.T, p Plan) *Report {
	t.Helper()
	rep, err := Run(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

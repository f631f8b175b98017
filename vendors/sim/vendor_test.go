package sim

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestNew_ErrorsNameTheOptionAndTheRule(t *testing.T) {
	for want, o := range map[string]Options{
		`profile "fast": must be one of elastic, faults, limited, naive-gpu, vllm-pool`: {Profile: "fast"},
		"first_token -1s: must be from 0 to 10m":                                        {FirstToken: -time.Second},
		"per_token 1h0m0s: must be from 0 to 1m":                                        {PerToken: time.Hour},
		"sigma 3: must be from 0 to 2":                                                  {Sigma: 3},
		"capacity -1: must be from 1":                                                   {Capacity: -1},
		"limit -1: must be from 0 (none)":                                               {Limit: -1},
		"errors 1.5: must be from 0 to 1":                                               {ErrorRate: 1.5},
		"scale -1: must be above 0":                                                     {Scale: -1},
		"tokens -3: must be from 1":                                                     {Tokens: -3},
		"models[1] \"\": must not be empty":                                             {Models: []string{"a", ""}},
	} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New(%+v) = %v, want %q", o, err, want)
		}
	}
	_, err := New(Options{Sigma: -1, Scale: -1})
	if err == nil || !strings.Contains(err.Error(), "sigma") || !strings.Contains(err.Error(), "scale") {
		t.Errorf("two faults: %v, want both named", err)
	}
}

// record serves one request inside this process, for tests in fake time.
func record(v *Vendor, ctx context.Context, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	v.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	return w
}

func TestWhole_TakesFirstTokenAndPaceAsStreamingDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, stream := range []bool{true, false} {
			v, err := New(Options{Profile: "faults"})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			record(v, t.Context(), chatBody("ok", stream))
			if took, want := time.Since(begun), 50*time.Millisecond+59*5*time.Millisecond; took != want {
				t.Errorf("stream %v: took %v, want %v", stream, took, want)
			}
			e := v.Log()[0]
			wantFirst := 50.0
			if !stream {
				wantFirst = 345
			}
			if e.FirstTokenMS != wantFirst || e.TotalMS != 345 || e.TokensOut != 60 {
				t.Errorf("stream %v: log %+v, want first token %v ms, 345 ms in all, 60 tokens", stream, e, wantFirst)
			}
		}
	})
}

func TestFaultTimes_AreThoseOfTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{Profile: "faults"})
		if err != nil {
			t.Fatal(err)
		}
		for model, want := range map[string]time.Duration{"s06": 120 * time.Second, "s07": 20 * time.Second, "s09": 30 * time.Second, "slow-drip": 59 * time.Second, "keepalive-only": 10 * time.Minute} {
			begun := time.Now()
			func() {
				defer func() { _ = recover() }() // the connection is broken off by a panic
				record(v, t.Context(), chatBody(model, true))
			}()
			if took := time.Since(begun); took < want || took > want+time.Second {
				t.Errorf("%s took %v, want %v and the answer", model, took, want)
			}
		}
	})
}

func TestElastic_StreamsOverTimeWithWritesTenMillisecondsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{Tokens: 200, PerToken: 4 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		w := &stamped{header: http.Header{}}
		v.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(chatBody("m", true))))
		if len(w.at) < 20 {
			t.Fatalf("%d flushes, want many", len(w.at))
		}
		for i := 2; i < len(w.at)-2; i++ { // the last may hold less, the end follows at once
			if gap := w.at[i].Sub(w.at[i-1]); gap < coalesce {
				t.Errorf("flush %d came %v after the last, want at least %v", i, gap, coalesce)
			}
		}
		if e := v.Log()[0]; e.Outcome != Answered || e.Events >= e.TokensOut {
			t.Errorf("log %+v: want fewer events than tokens", e)
		}
	})
}

// stamped notes when it is flushed.
type stamped struct {
	header http.Header
	at     []time.Time
}

func (s *stamped) Header() http.Header         { return s.header }
func (s *stamped) WriteHeader(int)             {}
func (s *stamped) Write(b []byte) (int, error) { return len(b), nil }
func (s *stamped) Flush()                      { s.at = append(s.at, time.Now()) }

func TestElastic_SameSeedSameAnswersAndTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bodies [2]string
		var times [2]time.Duration
		for i := range bodies {
			v, err := New(Options{Seed: 9})
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			for range 5 {
				b := record(v, t.Context(), chatBody("m", true)).Body.String()
				bodies[i] += hear(b).text
			}
			times[i] = time.Since(begun)
		}
		if bodies[0] != bodies[1] || times[0] != times[1] {
			t.Errorf("two runs with one seed differ: %v and %v", times[0], times[1])
		}
	})
}

func TestLimit_IsAnInstant429ThatQuotesNoRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		codes := make(chan int, 6)
		var wg sync.WaitGroup
		for range 6 { // at one moment
			wg.Go(func() {
				begun := time.Now()
				w := record(v, t.Context(), chatBody("m", false))
				codes <- w.Code
				if w.Code != 429 {
					return
				}
				if took := time.Since(begun); took < 15*time.Millisecond || took > 40*time.Millisecond {
					t.Errorf("429 after %v, want 15 to 40 ms", took)
				}
				if w.Header().Get("Retry-After") != "" || !strings.Contains(w.Body.String(), `"code":"limit_requests"`) {
					t.Errorf("429: headers %v, body %s", w.Header(), w.Body)
				}
			})
		}
		wg.Wait()
		close(codes)
		count := map[int]int{}
		for c := range codes {
			count[c]++
		}
		if count[200] != 2 || count[429] != 4 {
			t.Errorf("statuses %v at a limit of 2 per second, want two 200 and four 429", count)
		}
		if err := v.Set(Knobs{Limit: ptr(0.0)}); err != nil {
			t.Fatal(err)
		}
		if w := record(v, t.Context(), chatBody("m", false)); w.Code != 200 {
			t.Errorf("status %d without a limit, want 200", w.Code)
		}
	})
}

func ptr[T any](v T) *T { return &v }

func TestSet_ChangesARunningVendorAndRefusesImpossibleValues(t *testing.T) {
	s := start(t, Options{Scale: 0.001})
	if err := s.Set(Knobs{ErrorRate: ptr(1.0), Capacity: ptr(10)}); err != nil {
		t.Fatal(err)
	}
	if r := s.chat(t, "m", true); r.status != 503 || !strings.Contains(r.body, "server_is_overloaded") {
		t.Errorf("error_rate 1: status %d, body %s", r.status, r.body)
	}
	if err := s.Set(Knobs{ErrorRate: ptr(0.0), Scale: ptr(0.0)}); err == nil || !strings.Contains(err.Error(), "scale 0") {
		t.Errorf("scale 0: %v, want an error that names it", err)
	}
	if o := s.Options(); o.ErrorRate != 1 || o.Capacity != 10 || s.Stats().Capacity != 10 {
		t.Errorf("after a refused change: %+v", o)
	}
	if err := s.Set(Knobs{ErrorRate: ptr(0.0)}); err != nil {
		t.Fatal(err)
	}
	if r := s.chat(t, "m", true); r.status != 200 {
		t.Errorf("error_rate 0: status %d", r.status)
	}
}

func TestClientThatLeaves_EndsTheWorkAtOnce(t *testing.T) {
	s := start(t, Options{Profile: "faults"}) // true times: each of these would last 10 s and more
	for _, c := range []struct {
		model  string
		stream bool
		read   int // bytes before leaving
	}{{"s06", true, 0}, {"s06", false, 0}, {"s07", true, 0}, {"slow-drip", true, 300}, {"slow-drip", false, 0}, {"s09", true, 5000}, {"keepalive-only", true, 10}} {
		s.Clear()
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/chat/completions", strings.NewReader(chatBody(c.model, c.stream)))
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(100*time.Millisecond, func() {
			if c.read == 0 {
				cancel()
			}
		})
		resp, err := s.client.Do(req)
		if err == nil {
			_, _ = io.ReadFull(resp.Body, make([]byte, max(c.read, 1)))
			cancel()
			resp.Body.Close()
		}
		cancel()
		left := time.Now()
		for s.Stats().InFlight > 0 && time.Since(left) < 3*time.Second {
			time.Sleep(time.Millisecond)
		}
		if gone := time.Since(left); gone > time.Second {
			t.Errorf("%s, stream %v: still at work %v after the client left", c.model, c.stream, gone)
		}
		if e := s.Log()[0]; !e.ClientLeft || e.Outcome != Left || s.Stats().Cancelled != 1 {
			t.Errorf("%s, stream %v: log %+v, stats %+v: want the client gone", c.model, c.stream, e, s.Stats())
		}
	}
}

// A long prompt sent twice is found in the prefix cache, and says so.
func TestPrefix_SecondTimeIsReportedAsCached(t *testing.T) {
	s := start(t, Options{Scale: 0.001})
	body := `{"model":"m","messages":[{"role":"system","content":"` + strings.Repeat("You answer questions. ", 60) + `"},{"role":"user","content":"hi"}]}`
	var cached []int
	for range 2 {
		var r struct {
			Usage struct {
				Prompt  int `json:"prompt_tokens"`
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		reply := s.do(t, http.MethodPost, "/v1/chat/completions", body)
		if err := json.Unmarshal([]byte(reply.body), &r); err != nil {
			t.Fatal(err)
		}
		cached = append(cached, r.Usage.Details.Cached)
	}
	if cached[0] != 0 || cached[1] < 256 || cached[1]%blockTokens != 0 {
		t.Errorf("cached tokens %v, want none and then blocks of %d", cached, blockTokens)
	}
}

func TestStats_LoadIsWhatIsInWorkAndComesBackToZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, err := New(Options{Capacity: 10})
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { record(v, t.Context(), chatBody("m", true)) })
		}
		synctest.Wait() // all of them wait for their first token
		if st := v.Stats(); st.Load != 0.5 || st.InFlight != 5 {
			t.Errorf("stats with five at work %+v, want load 0.5", st)
		}
		wg.Wait()
		if st := v.Stats(); st.Load != 0 || st.InFlight != 0 || st.Answered != 5 {
			t.Errorf("stats afterwards %+v, want load 0 and five answered", st)
		}
	})
}

func TestKeys_AnyOfSeveralIsAccepted(t *testing.T) {
	s := start(t, Options{Scale: 0.001, Keys: []string{"sk-first-1111", "sk-second-2222"}})
	for key, want := range map[string]int{"sk-first-1111": 200, "sk-second-2222": 200, "sk-third-3333": 401, "": 401} {
		r := s.do(t, http.MethodPost, "/v1/chat/completions", chatBody("m", false), "Authorization", "Bearer "+key)
		if r.status != want {
			t.Errorf("key %q: status %d, want %d", key, r.status, want)
		}
	}
}

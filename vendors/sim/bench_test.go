package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		chatBody("ok", true), chatBody("s08", false), `{"model":"m","input":["a",1,{}]}`, `{"model":"m","messages":[{"content":[{"text":1}]}]}`,
		`{"model":"m","tools":[{"function":{"name":"f","parameters":{"required":["a"]}}}],"tool_choice":{"function":{"name":"f"}},"messages":[{"role":"tool"}]}`,
		`{"model":"m","prompt":"x","max_tokens":1,"n":3}`, `[]`, `{`, "", `{"model":"\u0000/","input":[[1]],"dimensions":1}`,
	} {
		f.Add("chat/completions", []byte(body))
		f.Add("responses", []byte(body))
		f.Add("embeddings", []byte(body))
	}
	v, err := New(Options{Profile: "elastic", Scale: 1e-9})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		if endpoints[path] == nil {
			return
		}
		w := httptest.NewRecorder()
		v.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/"+path, strings.NewReader(string(body))))
		ct := w.Header().Get("Content-Type")
		if strings.HasPrefix(ct, "application/json") && !json.Valid(w.Body.Bytes()) {
			t.Errorf("status %d, not JSON: %s", w.Code, w.Body)
		}
		if strings.HasPrefix(ct, "text/event-stream") && hear(w.Body.String()).garbage > 0 {
			t.Errorf("an event is not JSON: %s", w.Body)
		}
	})
}

// BenchmarkStream reports events per second over a real socket: 63 events a request, no waiting.
func BenchmarkStream(b *testing.B) {
	s := start(b, Options{Profile: "faults", Scale: 1e-9})
	b.ReportAllocs()
	events := 0
	for b.Loop() {
		r := s.chat(b, "ok", true)
		if r.err != nil {
			b.Fatal(r.err)
		}
		events += 63
	}
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkHandler is the same without a socket: the simulation's own share.
func BenchmarkHandler(b *testing.B) {
	v, err := New(Options{Profile: "faults", Scale: 1e-9})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		v.ServeHTTP(&stamped{header: http.Header{}}, httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(chatBody("ok", true))))
	}
	b.ReportMetric(float64(63*b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkDraw(b *testing.B) {
	o, err := Options{}.fill()
	if err != nil {
		b.Fatal(err)
	}
	rng := requestRand(1, 1)
	tm := drawElastic(&o, conditions{rng: rng, load: 0.3})
	b.ReportAllocs()
	for b.Loop() {
		tm.token()
	}
}

package sim

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestFaults_StreamedAnswersAreAsTheTableSays holds the stream of each fault with an answer against what it claims.
func TestFaults_StreamedAnswersAreAsTheTableSays(t *testing.T) {
	s := faulty(t)
	const finished, cut = "stop", "\x00cut"
	for _, c := range []struct {
		model   string
		words   int
		reason  string // or cut: the body ends in an error
		done    bool
		failed  bool
		garbage int
	}{
		{"ok", 60, finished, true, false, 0},
		{"anything-else", 60, finished, true, false, 0},
		{"s07", 60, finished, true, false, 0},
		{"S08", 40, cut, false, false, 0},
		{"s09-anything", 20, cut, false, false, 0},
		{"s10", 60, finished, true, false, 1},
		{"/maas/x/s11", 60, finished, false, false, 0},
		{"s14", 40, cut, false, false, 0},
		{"headers-then-close", 0, cut, false, false, 0},
		{"role-then-close", 0, cut, false, false, 0},
		{"empty-200", 0, "", false, false, 0},
		{"error-in-200-stream", 0, "", false, true, 0},
		{"role-then-error", 0, "", false, true, 0},
		{"error-midway", 20, "", false, true, 0},
		{"error-then-done", 20, "", true, true, 0},
		{"reset-midway", 40, cut, false, false, 0},
		{"no-finish", 40, "", false, false, 0},
		{"no-finish-done", 40, "", true, false, 0},
		{"finish-insufficient", 40, "insufficient_system_resource", true, false, 0},
		{"finish-error", 40, "error", true, false, 0},
		{"keepalive-only", 0, cut, false, false, 0},
		{"keepalive-then-answer", 60, finished, true, false, 0},
		{"slow-first-token", 60, finished, true, false, 0},
		{"slow-drip", 60, finished, true, false, 0},
		{"truncated-body", 60, finished, true, false, 0},
		{"blank-lines", 60, finished, true, false, 0},
		{"crlf", 60, finished, true, false, 0},
		{"lone-cr", 60, finished, true, false, 0},
		{"no-space", 60, finished, true, false, 0},
		{"dashscope-framing", 60, finished, true, false, 0},
		{"multi-line", 60, finished, true, false, 0},
		{"split-writes", 60, finished, true, false, 0},
		{"big-event", 60, finished, true, false, 0},
		{"null-role", 60, finished, true, false, 0},
		{"usage-every-chunk", 60, finished, true, false, 0},
		{"choices-empty-first", 60, finished, true, false, 0},
		{"reasoning-first", 60, finished, true, false, 0},
		{"rejects-prefill", 60, finished, true, false, 0},
		{"rejects-stream-options", 60, finished, true, false, 0},
	} {
		t.Run(strings.ReplaceAll(c.model, "/", "_"), func(t *testing.T) {
			r := s.chat(t, c.model, true)
			if r.status != http.StatusOK {
				t.Fatalf("status %d, %v, want 200", r.status, r.err)
			}
			if broke := r.err != nil; broke != (c.reason == cut) {
				t.Errorf("body ended with %v, want broken off: %v", r.err, c.reason == cut)
			}
			got := hear(r.body)
			// A reset throws away what the client has not read yet.
			if got.text != words(c.words) && !(c.model == "reset-midway" && strings.HasPrefix(words(c.words), got.text)) {
				t.Errorf("text %q, want %d words", got.text, c.words)
			}
			if c.model == "reset-midway" && !errors.Is(r.err, syscall.ECONNRESET) {
				t.Errorf("body ended with %v, want a reset", r.err)
			}
			if c.reason != cut && got.reason != c.reason {
				t.Errorf("finish reason %q, want %q", got.reason, c.reason)
			}
			if got.done != c.done || got.failed != c.failed || got.garbage != c.garbage {
				t.Errorf("done %v, error %v, not JSON %d; want %v, %v, %d", got.done, got.failed, got.garbage, c.done, c.failed, c.garbage)
			}
		})
	}
}

func TestFaults_RefusalsHaveTheirStatusHeaderAndBody(t *testing.T) {
	s := faulty(t)
	for _, c := range []struct {
		model       string
		status      int
		header, has string
		body        string
	}{
		{"s02", 429, "Retry-After", "", "rate_limit_exceeded"},
		{"s04", 503, "", "", "server_is_overloaded"},
		{"s12", 400, "", "", `"code":"context_length_exceeded"`},
		{"s13", 400, "", "", `"code":"content_policy_violation"`},
		{"s16", 503, "", "", "server_is_overloaded"},
		{"error401", 401, "", "", "invalid_api_key"},
		{"error402", 402, "", "", "Insufficient Balance"},
		{"error403", 403, "", "", "AccountOverdueError"},
		{"error404model", 404, "", "", "model_not_found"},
		{"error429-retry-after-ms", 429, "Retry-After-Ms", "1500", ""},
		{"error429-absurd", 429, "Retry-After", "86400000", ""},
		{"error429-burst", 429, "", "", "limit_burst_rate"},
		{"error429-quota", 429, "", "", "insufficient_quota"},
		{"error429-arrears", 429, "", "", `"code":"1113"`},
		{"error503-retry-after", 503, "Retry-After", "1", ""},
		{"error529", 529, "", "", "overloaded_error"},
		{"data-prefixed-400", 400, "", "", `data: {"error":{`},
		{"flat-error", 400, "", "", `{"code":20012,`},
		{"int-code", 400, "", "", `"code":400}`},
		{"detail-500", 500, "", "", "CUDA out of memory"},
		{"html-502", 502, "Content-Type", "text/html", "<html>"},
	} {
		for _, path := range []string{"chat/completions", "completions", "responses", "embeddings"} {
			body := `{"model":"` + c.model + `","messages":[{"role":"user","content":"x"}],"prompt":"x","input":"x","stream":true}`
			r := s.do(t, http.MethodPost, "/v1/"+path, body)
			if r.err != nil || r.status != c.status {
				t.Errorf("%s on %s: status %d, %v, want %d", c.model, path, r.status, r.err, c.status)
			}
			if got := r.header.Get(c.header); c.header != "" && got != c.has {
				t.Errorf("%s on %s: %s %q, want %q", c.model, path, c.header, got, c.has)
			}
			if !strings.Contains(r.body, c.body) {
				t.Errorf("%s on %s: body %s, want it to have %s", c.model, path, r.body, c.body)
			}
		}
	}
	r := s.chat(t, "error429-date", false)
	when, err := http.ParseTime(r.header.Get("Retry-After"))
	if err != nil || time.Until(when) > 4*time.Second || time.Until(when) < time.Second {
		t.Errorf("Retry-After %q: want an HTTP date about 3 s away", r.header.Get("Retry-After"))
	}
}

func TestFaults_StateIsPerModelNameAndClearedWithTheLog(t *testing.T) {
	s := faulty(t)
	for _, c := range []struct {
		model string
		want  int
	}{
		{"s03-a", 500},
		{"s03-a", 200},
		{"s03-b", 500},
		{"s03-a", 200},
		{"s03-b", 200},
		{"s01", 429},
		{"s01", 200},
		{"every-other-500", 500},
		{"every-other-500", 200},
		{"every-other-500", 500},
	} {
		if r := s.chat(t, c.model, true); r.status != c.want {
			t.Errorf("%s: status %d, want %d", c.model, r.status, c.want)
		}
	}
	if r := s.do(t, http.MethodDelete, "/sim/log", ""); r.status != http.StatusNoContent {
		t.Fatalf("DELETE /sim/log: status %d", r.status)
	}
	r := s.chat(t, "s01", true)
	if r.status != 429 || r.header.Get("Retry-After") != "2" {
		t.Errorf("s01 after a clear: status %d, Retry-After %q, want 429 and 2", r.status, r.header.Get("Retry-After"))
	}
	if n := len(s.Log()); n != 1 {
		t.Errorf("log after a clear and one request has %d entries", n)
	}
}

func TestS15_IsWellAfterSixtyScaledSeconds(t *testing.T) {
	s := start(t, Options{Profile: "faults", Scale: 0.002})
	begun := time.Now()
	for {
		r := s.chat(t, "s15", true)
		if r.status == 200 {
			break
		}
		if r.status != 503 || time.Since(begun) > 5*time.Second {
			t.Fatalf("status %d after %v, want 503 for 120 ms and then 200", r.status, time.Since(begun))
		}
		time.Sleep(5 * time.Millisecond)
	}
	if gone := time.Since(begun); gone < 120*time.Millisecond {
		t.Errorf("well after %v, want not before 120 ms", gone)
	}
}

func TestS05_IsARealReset(t *testing.T) {
	s := faulty(t)
	for _, stream := range []bool{true, false} {
		r := s.chat(t, "s05", stream)
		if !errors.Is(r.err, syscall.ECONNRESET) {
			t.Errorf("stream %v: error %v, want connection reset", stream, r.err)
		}
	}
	// The client has its reset before the vendor has written it down.
	for begun := time.Now(); s.Stats().InFlight > 0 && time.Since(begun) < 3*time.Second; {
		time.Sleep(time.Millisecond)
	}
	if e := s.Log()[0]; e.Status != 0 || e.Outcome != Broken || e.ClientLeft {
		t.Errorf("log %+v: want no status, broken, client not left", e)
	}
}

func TestS06_IsSilentAndThenCloses(t *testing.T) {
	s := faulty(t)
	begun := time.Now()
	r := s.chat(t, "s06", true)
	if !errors.Is(r.err, io.EOF) || time.Since(begun) < 120*time.Millisecond {
		t.Errorf("error %v after %v, want EOF after 120 ms", r.err, time.Since(begun))
	}
}

func TestFaults_WholeAnswersBreakToo(t *testing.T) {
	s := faulty(t)
	for _, c := range []struct {
		model  string
		broken bool
		want   string
	}{
		{"ok", false, words(60)},
		{"s07", false, words(60)},
		{"s10", false, words(60)},
		{"s11", false, words(60)},
		{"s08", true, `"choices":[{"index":0`},
		{"s09", true, `"choices":[{"index":0`},
		{"reset-midway", true, ""},
		{"headers-then-close", true, ""},
		{"truncated-body", true, words(60)},
		{"error-in-200-stream", false, `{"error":{`},
		{"no-finish", false, `"finish_reason":null`},
		{"finish-insufficient", false, `"finish_reason":"insufficient_system_resource"`},
		{"html-200", false, "<html>"},
		{"garbage-json-whole", false, `"role":"assi`},
		{"blank-lines", false, "\n\n\n\n\n{"},
	} {
		r := s.chat(t, c.model, false)
		if r.status != 200 || (r.err != nil) != c.broken || !strings.Contains(r.body, c.want) {
			t.Errorf("%s: status %d, error %v, body %q; want broken %v and %q", c.model, r.status, r.err, r.body, c.broken, c.want)
		}
	}
}

func TestFaults_AreTheSameOnEveryStreamingEndpoint(t *testing.T) {
	s := faulty(t)
	for _, path := range []string{"chat/completions", "completions", "responses"} {
		for model, want := range map[string]int{"ok": 60, "s08": 40, "error-midway": 20} {
			r := s.do(t, http.MethodPost, "/v1/"+path, `{"model":"`+model+`","messages":[{"role":"user","content":"x"}],"prompt":"x","input":"x","stream":true}`)
			got := hear(r.body)
			if got.text != words(want) || got.failed != (model == "error-midway") || (got.reason == "stop") != (want == 60) {
				t.Errorf("%s on %s: %+v, want %d words", model, path, got, want)
			}
		}
	}
}

func TestPrefillFaults_RefuseALastMessageFromTheAssistant(t *testing.T) {
	s := faulty(t)
	for _, model := range []string{"s14", "rejects-prefill"} {
		r := s.do(t, http.MethodPost, "/v1/chat/completions",
			`{"model":"`+model+`","messages":[{"role":"user","content":"x"},{"role":"assistant","content":"w1"}],"stream":true}`)
		if r.status != 400 {
			t.Errorf("%s: status %d, want 400", model, r.status)
		}
	}
}

func TestRejectsStreamOptions_OnlyWhenThereAreAny(t *testing.T) {
	s := faulty(t)
	r := s.do(t, http.MethodPost, "/v1/chat/completions",
		`{"model":"rejects-stream-options","messages":[{"role":"user","content":"x"}],"stream":true,"stream_options":{"include_usage":true}}`)
	if r.status != 400 || !strings.Contains(r.body, "stream_options") {
		t.Errorf("status %d, body %s, want 400 that names stream_options", r.status, r.body)
	}
	if e := s.Log()[0]; !e.StreamOptions || e.Fault != "rejects-stream-options" {
		t.Errorf("log %+v: want stream_options and the fault", e)
	}
}

func TestFindFault_LongestNameWins(t *testing.T) {
	for model, want := range map[string]string{
		"no-finish": "no-finish", "no-finish-x": "no-finish", "no-finish-done": "no-finish-done", "NO-FINISH-DONE-2": "no-finish-done",
		"s08x": "", "s1": "", "ok": "", "": "", "/": "", "a/b/s08-c": "s08",
	} {
		got := ""
		if f := findFault(model); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("findFault(%q) = %q, want %q", model, got, want)
		}
	}
}

func TestFaults_NamesAreUniqueAndDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Faults() {
		if seen[f.Name] || f.Does == "" || f.Name != strings.ToLower(f.Name) {
			t.Errorf("fault %+v: want a unique lowercase name and a description", f)
		}
		seen[f.Name] = true
	}
	if len(seen) < 36 {
		t.Errorf("%d faults, want the sixteen and twenty more", len(seen))
	}
}

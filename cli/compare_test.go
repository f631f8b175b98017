package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// stream is a vendor whose chat answers are these events, and whose header is h.
func stream(t *testing.T, asked *atomic.Int64, h map[string]string, events ...string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
			_, _ = w.Write([]byte(`{"object":"list","data":[]}`))
			return
		}
		asked.Add(1)
		for k, v := range h {
			w.Header().Set(k, v)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			_, _ = fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// configured writes a configuration of two vendors and returns its path.
func configured(t *testing.T, a, b string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "c.toml")
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("the-secret-key-0001"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`[[models]]
name = "m"
a = "family/m-1"
b = "m-1"
[[vendors]]
name = "a"
base_url = "%s"
api_keys = ["file:key"]
[[vendors.price]]
input = 2.0
output = 8.0
[[vendors]]
name = "b"
base_url = "%s"
api_keys = ["file:key"]
`, a, b)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const (
	word   = `{"model":"m-1","choices":[{"index":0,"delta":{"content":"ready"}}]}`
	ended  = `{"model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage  = `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}`
	theEnd = `[DONE]`
)

func TestCompare_LikeVendorsAreWell(t *testing.T) {
	var asked atomic.Int64
	h := map[string]string{"X-Request-Id": "r-1", "X-Ratelimit-Limit-Requests": "20"}
	file := configured(t, stream(t, &asked, h, word, ended, usage, theEnd), stream(t, &asked, h, word, ended, usage, theEnd))
	out, errs, code := run(t, "check", "--compare", "--config", file)
	if code != exitOK || asked.Load() != 2 {
		t.Errorf("exit code %d after %d questions\n%s%s", code, asked.Load(), out, errs)
	}
	for _, want := range []string{"family/m-1", "first token", "10, 2", "4 in prompt_tokens_details", "x-request-id", "x-ratelimit-limit-requests", "0.000036", "nothing differs", "all is well"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
}

func TestCompare_SaysWhatWouldHurtAFailover(t *testing.T) {
	for _, c := range []struct {
		name   string
		events []string
		want   string
		hurts  bool
	}{
		{"no usage", []string{word, ended, theEnd}, "b counts no tokens", true},
		{"no finish reason", []string{word, usage, theEnd}, "b ends without a finish reason", true},
		{"a finish reason of its own", []string{word, strings.Replace(ended, "stop", "end_turn", 1), usage, theEnd}, `"end_turn", which is none of OpenAI's`, true},
		{"no DONE", []string{word, ended, usage}, "b ends its stream without [DONE]", false},
		{"other finish", []string{word, strings.Replace(ended, "stop", "length", 1), usage, theEnd}, "finish reasons differ", false},
		{"other model", []string{strings.ReplaceAll(word, "m-1", "m-2"), strings.ReplaceAll(ended, "m-1", "m-2"), usage, theEnd}, "the models call themselves differently", false},
		{"other cached field", []string{word, ended, `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4}}`, theEnd}, "cached tokens are told in different fields", false},
		{"more than was allowed", []string{word, ended, strings.Replace(usage, `:2,`, `:99,`, 1), theEnd}, "b gave 99 tokens where 16 were allowed", true},
		{"an error within", []string{`{"error":{"message":"broken, key the-secret-key-0001","type":"server_error"}}`, theEnd}, "b has no good answer (200)", true},
		{"not a word", []string{ended, usage, theEnd}, "it answers without a word", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked atomic.Int64
			h := map[string]string{"X-Request-Id": "r-1"}
			file := configured(t, stream(t, &asked, h, word, ended, usage, theEnd), stream(t, &asked, h, c.events...))
			out, errs, code := run(t, "check", "--compare", "--json", "--config", file)
			var doc Checked
			if err := json.Unmarshal([]byte(out), &doc); err != nil {
				t.Fatalf("%v\n%s%s", err, out, errs)
			}
			found := false
			for _, d := range doc.Compare.Differences {
				found = found || strings.Contains(d.Text, c.want) && d.Hurts == c.hurts
			}
			if !found {
				t.Errorf("%q (hurts: %v) is not among %+v", c.want, c.hurts, doc.Compare.Differences)
			}
			if want := map[bool]int{true: exitNo, false: exitOK}[c.hurts]; code != want {
				t.Errorf("exit code %d, want %d", code, want)
			}
			if strings.Contains(out, "the-secret-key") {
				t.Errorf("it shows a key:\n%s", out)
			}
		})
	}
}

func TestCompare_AVendorThatRefusesTheUsageOptionIsAskedWithout(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q map[string]any
		if json.NewDecoder(r.Body).Decode(&q) != nil {
			_, _ = w.Write([]byte(`{"data":[]}`))
			return
		}
		asked.Add(1)
		if q["stream_options"] != nil {
			http.Error(w, `{"error":{"message":"unknown parameter stream_options"}}`, http.StatusBadRequest)
			return
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\ndata: %s\n\ndata: [DONE]\n\n", word, ended)
	}))
	t.Cleanup(s.Close)
	var first atomic.Int64
	file := configured(t, stream(t, &first, nil, word, ended, usage, theEnd), s.URL+"/v1")
	out, _, _ := run(t, "check", "--compare", "--config", file)
	if asked.Load() != 2 || !strings.Contains(out, "not counted") {
		t.Errorf("asked %d times:\n%s", asked.Load(), out)
	}
}

func TestCompare_RealVendorsAreNotPaidUnasked(t *testing.T) {
	file := configured(t, "http://192.0.2.1:9/v1", "http://192.0.2.2:9/v1") // nobody's, RFC 5737
	a := &app{env: os.Getenv, in: strings.NewReader(""), out: new(strings.Builder), err: new(strings.Builder), configPath: file}
	cfg, err := a.config()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.compare(cfg, "", false); err == nil || !strings.Contains(err.Error(), "say --yes") {
		t.Errorf("it says %v", err)
	}
	said := a.err.(*strings.Builder).String()
	if !strings.Contains(said, "0.000256 CNY at most") || !strings.Contains(said, "not known of b") {
		t.Errorf("it does not say what it would cost at most: %s", said)
	}
}

func TestCompare_AModelThatNobodyHasIsAnError(t *testing.T) {
	file := configured(t, "http://127.0.0.1:1/v1", "http://127.0.0.1:1/v1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	only := strings.Replace(string(text), "a = \"family/m-1\"\n", "", 1)
	if err := os.WriteFile(file, []byte(only), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := run(t, "check", "--compare", "--model", "m", "--config", file)
	if code != exitNo || !strings.Contains(out, "a was not asked") || !strings.Contains(out, "m has one home") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
	if out, errs, code := run(t, "check", "--yes", "--config", file); code != exitError {
		t.Errorf("--yes without --compare: %d\n%s%s", code, out, errs)
	}
}

func TestCompare_SimulatedVendors(t *testing.T) {
	out, errs, code := run(t, "check", "--compare")
	if code != exitOK || !strings.Contains(out, "lanyun SIMULATED") || !strings.Contains(errs, "no vendor is real: it costs nothing") {
		t.Errorf("%d\n%s%s", code, out, errs)
	}
}

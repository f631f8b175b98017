package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/vendors/sim"
)

// sixty is a vendor that says w1 to w60, and goes on with an assistant's message
// where that ends.
func sixty(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var b struct {
		Stream        bool
		StreamOptions any `json:"stream_options"`
		Messages      []struct{ Role, Content string }
	}
	_ = json.Unmarshal(body, &b)
	from := 1
	if n := len(b.Messages); n > 0 && b.Messages[n-1].Role == "assistant" {
		from = len(strings.Fields(b.Messages[n-1].Content)) + 1
	}
	word := func(i int) string {
		if i == 1 {
			return "w1"
		}
		return fmt.Sprintf(" w%d", i)
	}
	if !b.Stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"id":"b","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":5,"completion_tokens":60}}`, sixtyWords(60))
		return
	}
	s := say{w}
	s.begin()
	s.role()
	for i := from; i <= 60; i++ {
		s.raw(fmt.Sprintf("data: {\"id\":\"b\",\"model\":\"mb\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word(i)))
	}
	s.finish("b")
	if b.StreamOptions != nil {
		s.usage()
	}
	s.done()
}

func sixtyWords(n int) string {
	out := "w1"
	for i := 2; i <= n; i++ {
		out += fmt.Sprintf(" w%d", i)
	}
	return out
}

// faulty makes the primary the vendor that misbehaves as the model's name says;
// everything in it goes ten times as fast, with slack.
func faulty(t *testing.T, sections map[string]string) (*world, *sim.Vendor) {
	t.Helper()
	w := newWorld(t, sections)
	v, err := sim.New(sim.Options{Name: "lanyun", Profile: "faults", Scale: 0.1 * slack, PerToken: 5 * time.Millisecond / slack})
	if err != nil {
		t.Fatal(err)
	}
	w.a.does(v.ServeHTTP)
	w.b.does(sixty)
	return w, v
}

// How a fault ends for the client.
const (
	pass    = "pass"    // the whole answer
	safe    = "safe"    // a clean, bounded error
	refusal = "refusal" // the vendor's own reason
)

// conduct is what a fault should come to. Where batch or prefill are empty they are as stream.
type conduct struct {
	name           string
	stream, whole  string
	batch, prefill string
	mostTries      int // at the vendor; 0: 3
	vendor         string
}

// sixteen are the faults of the failover suite; what follows them are the kinds beside.
var sixteen = []conduct{
	{name: "s01", stream: pass, whole: pass, mostTries: 2, vendor: "bailian"},
	{name: "s02", stream: pass, whole: pass, vendor: "bailian"},
	{name: "s03", stream: pass, whole: pass},
	{name: "s04", stream: pass, whole: pass, vendor: "bailian"},
	{name: "s05", stream: pass, whole: pass, vendor: "bailian"},
	{name: "s06", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "s07", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "s08", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "s09", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "s10", stream: pass, whole: pass, mostTries: 1},
	{name: "s11", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "s12", stream: refusal, whole: refusal, mostTries: 1},
	{name: "s13", stream: refusal, whole: refusal, mostTries: 1},
	{name: "s14", stream: safe, whole: pass, batch: pass, prefill: safe, mostTries: 1},
	{name: "s15", stream: pass, whole: pass, vendor: "bailian"},
	{name: "s16", stream: pass, whole: pass, vendor: "bailian"},
}

var beside = []conduct{
	{name: "error401", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "error402", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "error403", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "error404model", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "error429-retry-after-ms", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error429-date", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error429-absurd", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error429-burst", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error503-retry-after", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error529", stream: pass, whole: pass, vendor: "bailian"},
	{name: "detail-500", stream: pass, whole: pass, vendor: "bailian"},
	{name: "html-502", stream: pass, whole: pass, vendor: "bailian"},
	{name: "rejects-stream-options", stream: pass, whole: pass, mostTries: 2, vendor: "lanyun"},
	{name: "headers-then-close", stream: pass, whole: pass, vendor: "bailian"},
	{name: "empty-200", stream: pass, whole: pass, vendor: "bailian"},
	{name: "role-then-close", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error-in-200-stream", stream: pass, whole: pass, vendor: "bailian"},
	{name: "role-then-error", stream: pass, whole: pass, vendor: "bailian"},
	{name: "error-midway", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "error-then-done", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "reset-midway", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "no-finish", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "no-finish-done", stream: safe, whole: pass, batch: pass, prefill: pass, mostTries: 1},
	{name: "keepalive-only", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "slow-first-token", stream: pass, whole: pass, mostTries: 1, vendor: "bailian"},
	{name: "html-200", stream: pass, whole: pass, vendor: "bailian"},
	{name: "gzip", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "crlf", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "no-space", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "multi-line", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "split-writes", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "big-event", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "null-role", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "usage-every-chunk", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "choices-empty-first", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
	{name: "reasoning-first", stream: pass, whole: pass, mostTries: 1, vendor: "lanyun"},
}

func TestFaults_EndAsTheTableSays(t *testing.T) {
	ways := []struct {
		name     string
		body     string
		lane     string
		sections map[string]string
	}{
		{"interactive streamed", askStream, "interactive", nil},
		{"interactive whole", askWhole, "interactive", nil},
		{"batch streamed", askStream, "batch", nil},
		{"batch whole", askWhole, "batch", nil},
		{"resumed", askStream, "interactive", map[string]string{"LANYUN": `resume = "prefill"`, "BAILIAN": `resume = "prefill"`}},
	}
	for _, way := range ways {
		for _, c := range append(append([]conduct(nil), sixteen...), beside...) {
			want := c.stream
			switch {
			case strings.HasSuffix(way.name, "whole"):
				want = c.whole
			case way.lane == "batch" && c.batch != "":
				want = c.batch
			case way.name == "resumed" && c.prefill != "":
				want = c.prefill
			}
			t.Run(way.name+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				w, v := faulty(t, way.sections)
				if c.name == "s14" {
					w.b.does(func(rw http.ResponseWriter, r *http.Request) {
						v, err := sim.New(sim.Options{Name: "b", Profile: "faults", Scale: 0.1 * slack, PerToken: 5 * time.Millisecond / slack})
						if err != nil {
							t.Error(err)
							return
						}
						v.ServeHTTP(rw, rename(r, "rejects-prefill"))
					})
				}
				body := strings.Replace(way.body, `"m"`, `"`+c.name+`"`, 1)
				x := w.chat(body, headerLane, way.lane)
				c.check(t, w, x, want, strings.HasSuffix(way.name, "streamed") || way.name == "resumed")
				most := c.mostTries
				if most == 0 {
					most = 3
				}
				if n := v.Stats().Arrivals; n > uint64(most) {
					t.Errorf("%d tries at the vendor, want at most %d", n, most)
				}
				eventually(t, "no request under way", func() bool { return w.g.InFlight() == 0 })
			})
		}
	}
}

// rename asks for another model.
func rename(r *http.Request, model string) *http.Request {
	body, _ := io.ReadAll(r.Body)
	var b map[string]any
	_ = json.Unmarshal(body, &b)
	b["model"] = model
	body, _ = json.Marshal(b)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	r.ContentLength = int64(len(body))
	return r
}

func (c conduct) check(t *testing.T, w *world, x answer, want string, streamed bool) {
	t.Helper()
	if x.err != nil {
		t.Fatalf("reading the answer: %v\n%s", x.err, x.short())
	}
	if x.took > 5*slack*time.Second {
		t.Errorf("it took %s", x.took)
	}
	text, ended := x.text()
	switch want {
	case pass:
		if x.status != http.StatusOK || text != sixtyWords(60) || !ended || strings.Contains(x.body, `"error"`) {
			t.Fatalf("status %d, ended %v, want all sixty words; got %q\n%s", x.status, ended, text, x.short())
		}
		if got := x.header.Get(headerVendor); c.vendor != "" && got != c.vendor {
			t.Errorf("%s is %q, want %q", headerVendor, got, c.vendor)
		}
		if streamed && strings.Contains(x.body, `"choices":[],"usage":{`) {
			t.Errorf("usage that nobody asked for:\n%s", x.short())
		}
	case safe:
		if ended || !strings.HasPrefix(sixtyWords(60), text) {
			t.Errorf("ended %v, text %q", ended, text)
		}
		if strings.Contains(x.body, "last message") {
			t.Errorf("the refusal of a prefill shows:\n%s", x.short())
		}
		if n := strings.Count(x.body, codeInterrupted); n != 1 {
			t.Errorf("%d errors of ours, want one:\n%s", n, x.short())
		}
	case refusal:
		if x.status != http.StatusBadRequest {
			t.Errorf("status %d, want 400", x.status)
		}
		if code := w.code(x); code != "context_length_exceeded" && code != "content_policy_violation" {
			t.Errorf("code %q: want the vendor's reason", code)
		}
		if w.b.tries() > 0 {
			t.Error("the other vendor was asked")
		}
	}
}

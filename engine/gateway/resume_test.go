package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestResume_IsOneCleanAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dialect, message, request string
	}{
		{"openai", "", ""},
		{"bailian", `"partial":true`, ""},
		{"deepseek", `"prefix":true`, ""},
		{"vllm", "", `"continue_final_message":true`},
	}
	for _, tt := range tests {
		t.Run(tt.dialect, func(t *testing.T) {
			prefill := "resume = \"prefill\"\n"
			w := newWorld(t, map[string]string{"LANYUN": prefill, "BAILIAN": prefill + fmt.Sprintf("dialect = %q", tt.dialect)})
			w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
				s := say{rw}
				s.begin()
				s.role()
				for i := 1; i <= 40; i++ {
					word := fmt.Sprintf(" w%d", i)
					if i == 1 {
						word = "w1"
					}
					s.raw(fmt.Sprintf("data: {\"id\":\"first\",\"created\":7,\"model\":\"ma\",\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word))
				}
				panic(http.ErrAbortHandler)
			})
			w.b.does(sixty)
			x := w.chat(askStream)
			text, ended := x.text()
			if text != sixtyWords(60) || !ended || strings.Contains(x.body, "error") {
				t.Fatalf("ended %v, text %q\n%s", ended, text, x.short())
			}
			if strings.Contains(x.body, `"id":"b"`) || strings.Contains(x.body, `"mb"`) {
				t.Errorf("the answer changes its name:\n%s", x.short())
			}
			if n := strings.Count(x.body, `"role"`); n > 1 {
				t.Errorf("%d roles", n)
			}
			body := w.b.lastBody()
			if !json.Valid([]byte(body)) {
				t.Fatalf("the continuation is no JSON: %s", body)
			}
			for _, part := range []string{tt.message, tt.request, `"role":"assistant"`, sixtyWords(40)} {
				if !strings.Contains(body, part) {
					t.Errorf("the continuation lacks %s:\n%s", part, body)
				}
			}
		})
	}
}

func TestResume_IsOffForToolCallsAndWithoutTheSetting(t *testing.T) {
	t.Parallel()
	const tool = `data: {"id":"t","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}` + "\n\n"
	for name, sections := range map[string]map[string]string{
		"tool calls": {"LANYUN": `resume = "prefill"`, "BAILIAN": `resume = "prefill"`},
		"not set":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, sections)
			w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
				s := say{rw}
				s.begin()
				s.words("lanyun", 1, 3)
				if name == "tool calls" {
					s.raw(tool)
				}
				panic(http.ErrAbortHandler)
			})
			x := w.chat(askStream)
			if !strings.Contains(x.body, codeInterrupted) || w.b.tries() != 0 {
				t.Errorf("%d tries at the other vendor; the answer ends with %q", w.b.tries(), x.short())
			}
		})
	}
}

func TestResume_UsageIsOfAllAttemptsAsFarAsTheySaid(t *testing.T) {
	t.Parallel()
	first := func(usage string) http.HandlerFunc {
		return func(rw http.ResponseWriter, _ *http.Request) {
			s := say{rw}
			s.begin()
			s.role()
			s.raw("data: {\"id\":\"first\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one \"}}]" + usage + "}\n\n")
			panic(http.ErrAbortHandler)
		}
	}
	second := func(rw http.ResponseWriter, _ *http.Request) {
		s := say{rw}
		s.begin()
		s.raw("data: {\"id\":\"b\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two\"}}]}\n\n")
		s.finish("b")
		s.raw("data: {\"id\":\"b\",\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4,\"total_tokens\":13,\"prompt_tokens_details\":{\"cached_tokens\":0}},\"choices\":[],\"created\":1}\n\n")
		s.done()
	}
	const asks = `{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true}}`
	for _, tt := range []struct {
		name, usage, ask, want string
		comment                bool
	}{
		{"both said", `,"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}`, asks, `"usage":{"prompt_tokens":14,"completion_tokens":6,"total_tokens":20,"prompt_tokens_details":{"cached_tokens":0}}`, false},
		{"the first did not", "", asks, `"usage":{"prompt_tokens":9,"completion_tokens":4,"total_tokens":13,`, true},
		{"nobody asked", "", askStream, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			prefill := "resume = \"prefill\"\n"
			w := newWorld(t, map[string]string{"LANYUN": prefill, "BAILIAN": prefill})
			w.a.does(first(tt.usage))
			w.b.does(second)
			x := w.chat(tt.ask)
			if text, ended := x.text(); text != "one two" || !ended {
				t.Fatalf("ended %v, text %q\n%s", ended, text, x.short())
			}
			if !strings.Contains(x.body, tt.want) || tt.want == "" && strings.Contains(x.body, "prompt_tokens") {
				t.Errorf("the usage is not %s in\n%s", tt.want, x.body)
			}
			if strings.Contains(x.body, string(partialUsage)) != tt.comment {
				t.Errorf("a comment: want %v\n%s", tt.comment, x.body)
			}
		})
	}
}

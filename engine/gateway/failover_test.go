package gateway

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

func TestFailover_DecidesByWhatTheVendorSaid(t *testing.T) {
	t.Parallel()
	models := `
[[models]]
name = "m"
context = { lanyun = %d, bailian = %d }
lanyun = "/maas/m"
bailian = "m-b"
`
	tests := []struct {
		name     string
		does     http.HandlerFunc
		sections map[string]string
		head     []string
		status   int
		code     string
		vendor   string // of the answer
		a, b     int    // tries
	}{
		{name: "a server error moves", does: refuses(500, `{"error":{"message":"x"}}`), status: 200, vendor: "bailian", a: 1, b: 1},
		{name: "a wrong key is hidden", does: refuses(401, openAIError("invalid_api_key")), status: 200, vendor: "bailian", a: 1, b: 1},
		{name: "an unpaid bill is hidden", does: refuses(402, `{"error":{"message":"Insufficient Balance"}}`), status: 200, vendor: "bailian", a: 1, b: 1},
		{name: "an unknown model moves", does: refuses(404, openAIError("model_not_found")), status: 200, vendor: "bailian", a: 1, b: 1},
		{name: "a limit moves", does: refuses(429, openAIError("rate_limit_exceeded")), status: 200, vendor: "bailian", a: 1, b: 1},
		{name: "a redirect moves", does: refuses(302, "", "Location", "/elsewhere"), status: 200, vendor: "bailian", a: 1, b: 1},
		{name: "a bad request does not", does: refuses(400, openAIError("bad")), status: 400, code: "bad", vendor: "lanyun", a: 1},
		{name: "a filter does not", does: refuses(400, openAIError("content_policy_violation")), status: 400, code: "content_policy_violation", vendor: "lanyun", a: 1},
		{
			name: "a filter does where it may", does: refuses(400, openAIError("content_policy_violation")),
			sections: map[string]string{"ROUTING": "failover_on_filter = true"}, status: 200, vendor: "bailian", a: 1, b: 1,
		},
		{name: "a context of unknown size does not", does: refuses(400, openAIError("context_length_exceeded")), status: 400, code: "context_length_exceeded", vendor: "lanyun", a: 1},
		{
			name: "a context moves to a larger one", does: refuses(400, openAIError("context_length_exceeded")),
			sections: map[string]string{"TOP": fmt.Sprintf(models, 1000, 2000)}, status: 200, vendor: "bailian", a: 1, b: 1,
		},
		{
			name: "and not to a smaller", does: refuses(400, openAIError("context_length_exceeded")),
			sections: map[string]string{"TOP": fmt.Sprintf(models, 2000, 1000)}, status: 400, code: "context_length_exceeded", vendor: "lanyun", a: 1,
		},
		{
			name: "no failover was asked for", does: refuses(500, `{}`), head: []string{headerNoFailover, "1"},
			status: 502, code: codeFailed, a: 1,
		},
	}
	for _, tt := range tests {
		for _, body := range []string{askStream, askWhole} {
			t.Run(fmt.Sprintf("%s %v", tt.name, body == askStream), func(t *testing.T) {
				w := newWorld(t, tt.sections)
				w.a.does(tt.does)
				x := w.chat(body, tt.head...)
				if x.status != tt.status || x.header.Get(headerVendor) != tt.vendor {
					t.Fatalf("status %d of %q, want %d of %q\n%s", x.status, x.header.Get(headerVendor), tt.status, tt.vendor, x.short())
				}
				if tt.code != "" && w.code(x) != tt.code {
					t.Errorf("code %q, want %q", w.code(x), tt.code)
				}
				if w.a.tries() != tt.a || w.b.tries() != tt.b {
					t.Errorf("tries %d and %d, want %d and %d", w.a.tries(), w.b.tries(), tt.a, tt.b)
				}
				if got := x.header.Get(headerAttempts); got != fmt.Sprint(tt.a+tt.b) {
					t.Errorf("%s is %q", headerAttempts, got)
				}
			})
		}
	}
}

func TestFailover_AVendorsRefusalPassesByteForByteOrInShape(t *testing.T) {
	t.Parallel()
	const inShape = `{"error" : {"message":"no","type":"t","param":null,"code":"c"},"request_id":"r"}`
	tests := map[string]struct{ body, want string }{
		"in shape":        {inShape, inShape},
		"flat":            {`{"code":20015,"message":"The parameter is invalid.","data":null}`, `{"error":{"message":"The parameter is invalid.","type":"invalid_request_error","param":null,"code":"20015"}}`},
		"behind data:":    {"data: " + `{"error":{"message":"no","type":"t","code":"c"}}` + "\n\n", `{"error":{"message":"no","type":"t","param":null,"code":"c"}}`},
		"a bare sentence": {"no such thing", `{"error":{"message":"no such thing","type":"invalid_request_error","param":null,"code":null}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.a.does(refuses(400, tt.body))
			if x := w.chat(askWhole); x.body != tt.want || x.status != 400 {
				t.Errorf("status %d, body\n%s\nwant\n%s", x.status, x.body, tt.want)
			}
		})
	}
}

func TestFailover_OneVendorIsAskedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.g.engine.Vendors()
	n := 0
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		if n++; n == 1 {
			refuses(500, `{}`)(rw, r)
			return
		}
		well("lanyun")(rw, r)
	})
	w.b.does(refuses(500, `{}`))
	x := w.chat(askStream)
	w.wants(x, "lanyun")
	if w.a.tries() != 2 || x.header.Get(headerAttempts) != "3" {
		t.Errorf("%d tries, %s attempts", w.a.tries(), x.header.Get(headerAttempts))
	}
}

func TestFailover_AttemptsAndRetryBudgetBound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(refuses(500, `{}`))
	w.b.does(refuses(503, `{}`))
	const requests = 30
	for range requests {
		x := w.chat(askWhole)
		if x.status != http.StatusBadGateway || w.code(x) != codeFailed {
			t.Fatalf("status %d: %s", x.status, x.body)
		}
		if got := x.header.Get(headerAttempts); got > "3" {
			t.Fatalf("%s attempts", got)
		}
	}
	// A move each, and at most ten further tries in all.
	if total := w.a.tries() + w.b.tries(); total > 2*requests+retryFloor {
		t.Errorf("%d tries for %d requests", total, requests)
	}
}

func TestFailover_NoVendorIs503AndSaysWhen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"TOP": "[[models]]\nname = \"m\"\nlanyun = \"x\"\n"})
	w.a.does(refuses(500, `{}`))
	x := w.chat(askWhole)
	if x.status != http.StatusBadGateway || w.b.tries() != 0 {
		t.Errorf("status %d, %d tries at a vendor without the model", x.status, w.b.tries())
	}
}

func TestFailover_AMissingModelIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(refuses(404, openAIError("model_not_found")))
	for range 3 {
		w.wants(w.chat(askWhole), "bailian")
	}
	if w.a.tries() != 1 {
		t.Errorf("%d tries at the vendor that lacks the model, want 1", w.a.tries())
	}
	// Where nobody is left it is asked all the same, and its word reaches the client.
	w.b.does(refuses(404, openAIError("model_not_found")))
	for range 2 {
		if x := w.chat(askWhole); x.status != http.StatusNotFound || w.code(x) != "model_not_found" {
			t.Errorf("status %d: %s", x.status, x.body)
		}
	}
}

func TestFailover_AVendorThatRefusesStreamOptionsIsRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		if _, usage := asked(r); usage {
			refuses(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","code":"unknown_parameter"}}`)(rw, r)
			return
		}
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 60)
		s.finish("lanyun")
		s.done()
	})
	for range 3 {
		w.wants(w.chat(askStream), "lanyun")
	}
	if w.a.tries() != 4 || w.b.tries() != 0 {
		t.Errorf("%d and %d tries, want 4 and 0", w.a.tries(), w.b.tries())
	}
}

func TestFailover_TheModelsNameIsMappedAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"TOP": "[[models]]\nname = \"m\"\nlanyun = \"/maas/a/b\"\nbailian = \"qwen\\\"s\"\n"})
	const before, after = `{ "a": [1, 2] , "model" : `, ` ,"messages":[{"role":"user","content":"model \"m\""}],"x":{"model":"m"} }`
	w.chat(before + `"m"` + after)
	if got, want := w.a.lastBody(), before+`"/maas/a/b"`+after; got != want {
		t.Errorf("upstream\n%s, want\n%s", got, want)
	}
	w.a.does(refuses(500, `{}`))
	w.chat(before + `"\u006d"` + after)
	if got, want := w.b.lastBody(), before+`"qwen\"s"`+after; got != want {
		t.Errorf("upstream\n%s, want\n%s", got, want)
	}
}

func TestFailover_UsageIsAskedForInEverySpelling(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		`{"model":"m","stream":true}`:                                                `{"stream_options":{"include_usage":true},"model":"m","stream":true}`,
		`{"model":"m","stream_options":null,"stream":true}`:                          `{"model":"m","stream_options":{"include_usage":true},"stream":true}`,
		`{"model":"m","stream_options":{},"stream":true}`:                            `{"model":"m","stream_options":{"include_usage":true},"stream":true}`,
		`{"model":"m","stream_options":{"include_obfuscation":false},"stream":true}`: `{"model":"m","stream_options":{"include_usage":true,"include_obfuscation":false},"stream":true}`,
		`{"model":"m","stream_options":{"include_usage": false },"stream":true}`:     `{"model":"m","stream_options":{"include_usage": true },"stream":true}`,
		`{"model":"m","stream_options":{"include_usage":true},"stream":true}`:        `{"model":"m","stream_options":{"include_usage":true},"stream":true}`,
		`{"model":"m","stream":false}`:                                               `{"model":"m","stream":false}`,
	}
	w := newWorld(t, nil)
	for body, want := range tests {
		w.chat(body)
		if got := w.a.lastBody(); got != want {
			t.Errorf("upstream\n%s, want\n%s", got, want)
		}
	}
}

func TestFailover_EveryEndpointIsRescued(t *testing.T) {
	t.Parallel()
	const (
		responsesStream = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"status\":\"in_progress\"}}\n\n" +
			"event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n" +
			"event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"
		completionStream = "data: {\"choices\":[{\"text\":\"hi\",\"index\":0,\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	)
	answers := []struct{ path, body, answer, broken string }{
		{"/v1/completions", `{"model":"m","prompt":"x"}`, `{"choices":[{"text":"hi","finish_reason":"stop"}]}`, `{"choices":[]}`},
		{"/v1/completions", `{"model":"m","prompt":"x","stream":true}`, completionStream, "data: {\"choices\":[{\"text\":\"\"}]}\n\ndata: [DONE]\n\n"},
		{"/v1/embeddings", `{"model":"m","input":"x"}`, `{"object":"list","data":[{"embedding":[0.1]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`, `{"object":"list","data":[`},
		{"/v1/responses", `{"model":"m","input":"x"}`, `{"status":"completed","output":[{"type":"message"}]}`, `{"status":"failed","error":{"message":"x","code":"server_error"}}`},
		{"/v1/responses", `{"model":"m","input":"x","stream":true}`, responsesStream, "data: {\"type\":\"response.created\",\"response\":{}}\n\nevent: error\ndata: {\"type\":\"error\",\"code\":\"server_error\",\"message\":\"x\"}\n\n"},
	}
	for _, tt := range answers {
		for _, lane := range []string{"interactive", "batch"} {
			t.Run(tt.path+" "+lane, func(t *testing.T) {
				kind := "application/json"
				if strings.Contains(tt.body, "stream") {
					kind = "text/event-stream"
				}
				sends := func(body string) http.HandlerFunc {
					return func(rw http.ResponseWriter, _ *http.Request) {
						rw.Header().Set("Content-Type", kind)
						_, _ = io.WriteString(rw, body)
					}
				}
				w := newWorld(t, nil)
				w.b.does(sends(tt.answer))
				for _, broken := range []http.HandlerFunc{sends(tt.broken), refuses(500, `{}`), func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }} {
					w.a.does(broken)
					x := w.do(http.MethodPost, tt.path, tt.body, headerLane, lane)
					if x.status != 200 || x.body != tt.answer || x.header.Get(headerVendor) != "bailian" {
						t.Errorf("status %d of %q:\n%s", x.status, x.header.Get(headerVendor), x.short())
					}
				}
			})
		}
	}
}

func TestFailover_TheDeadlineIsOneOverAllAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, map[string]string{"GATEWAY": `deadline = "500ms"`})
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	w.a.does(silent)
	w.b.does(silent)
	for _, body := range []string{askStream, askWhole} {
		x := w.chat(body)
		if x.status != http.StatusGatewayTimeout || w.code(x) != codeDeadline || x.took > slack*1900*time.Millisecond {
			t.Errorf("status %d after %s: %s", x.status, x.took, x.body)
		}
	}
}

func TestFailover_AnUnexplained404IsNotTheClients(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]http.HandlerFunc{
		"FastAPI":        refuses(404, `{"detail":"Not Found"}`),
		"Go":             refuses(404, "404 page not found\n"),
		"nothing":        refuses(404, ""),
		"OpenAI's shape": refuses(404, `{"error":{"message":"Not Found"}}`),
		"405":            refuses(405, `{"detail":"Method Not Allowed"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			w.a.does(refuse)
			for _, body := range []string{askStream, askWhole, askStream} {
				w.wants(w.chat(body), "bailian")
			}
			events := w.diary.of("config", "lanyun")
			if len(events) != 1 || events[0].Level != control.Warn || !strings.Contains(events[0].Text, w.a.url) {
				t.Errorf("the journal has %+v, want one warning that names the base URL", events)
			}
			if list := w.g.Failures("lanyun", 0); len(list) != 3 || list[0].Outcome != "config_fault" || list[0].Reason != "path_not_found" {
				t.Errorf("failures %+v: each request asks it again", list)
			}
			// Where everybody says so the client hears it.
			w.b.does(refuse)
			if x := w.chat(askWhole); x.status != 404 && x.status != 405 || x.header.Get(headerVendor) != "bailian" || w.code(x) != "" {
				t.Errorf("status %d of %q: %s", x.status, x.header.Get(headerVendor), x.body)
			}
			w.a.does(well("lanyun"))
			w.wants(w.chat(askWhole), "lanyun")
		})
	}
}

func TestFailover_ARefusalOutlivesAnothersFailure(t *testing.T) {
	t.Parallel()
	context := "[[models]]\nname = \"m\"\ncontext = { lanyun = 1000, bailian = 2000 }\nlanyun = \"ma\"\nbailian = \"mb\"\n"
	for code, sections := range map[string]map[string]string{
		"content_policy_violation": {"ROUTING": "failover_on_filter = true"},
		"context_length_exceeded":  {"TOP": context},
	} {
		for other, does := range map[string]http.HandlerFunc{
			"500": refuses(500, `{}`), "429": refuses(429, openAIError("rate_limit_exceeded")), "401": refuses(401, openAIError("invalid_api_key")),
			"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		} {
			t.Run(code+" "+other, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, sections)
				w.a.does(refuses(400, openAIError(code)))
				w.b.does(does)
				for _, body := range []string{askStream, askWhole} {
					if x := w.chat(body); x.status != 400 || w.code(x) != code || x.header.Get(headerVendor) != "lanyun" {
						t.Errorf("status %d of %q: %s", x.status, x.header.Get(headerVendor), x.body)
					}
				}
				if w.b.tries() == 0 {
					t.Error("the other vendor was not asked")
				}
			})
		}
	}
}

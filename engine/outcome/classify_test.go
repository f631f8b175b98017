package outcome

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func dial(err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", err)}
}

func read(err error) error { return &net.OpError{Op: "read", Net: "tcp", Err: err} }

func TestClassify_SaysHowAnAttemptEnded(t *testing.T) {
	const errorBody = `{"error":{"message":"x","type":"server_error","code":"server_is_overloaded"}}`
	for _, c := range []struct {
		name string
		a    Attempt

		want      Outcome
		reason    string
		retrySame bool
		move      bool
		connect   bool
	}{
		{"finished", Attempt{Phase: Body, Status: 200, Finish: "stop", Streaming: true, Committed: true}, OK, "", false, false, false},
		{"finished, then reset instead of [DONE]", Attempt{Phase: Body, Status: 200, Finish: "length", Err: read(syscall.ECONNRESET), Committed: true}, OK, "", false, false, false},
		{"finished, then the client left", Attempt{Phase: Body, Status: 200, Finish: "tool_calls", ClientGone: true, Err: context.Canceled}, OK, "", false, false, false},
		{"embeddings", Attempt{Phase: WholeBody, Status: 200, Complete: true}, OK, "", false, false, false},
		{"content_filter is an answer", Attempt{Status: 200, Finish: "content_filter"}, OK, "", false, false, false},
		{"an error beside a good finish", Attempt{Phase: Body, Status: 200, Finish: "stop", Body: []byte(errorBody)}, VendorFault, "server_is_overloaded", true, true, false},

		{"client left before the first token", Attempt{Phase: FirstToken, Status: 200, ClientGone: true, Err: context.Canceled}, ClientCancel, "client_cancel", false, false, false},
		{"client left while a clock fired", Attempt{Phase: Header, ClientGone: true, Clock: HeaderClock}, ClientCancel, "client_cancel", false, false, false},
		{"client left half way", Attempt{Phase: Body, Status: 200, ClientGone: true, Committed: true}, ClientCancel, "client_cancel", false, false, false},

		{"connect clock", Attempt{Phase: Connect, Clock: ConnectClock, Err: context.Canceled}, VendorFault, "connect_timeout", false, true, true},
		{"header clock", Attempt{Phase: Header, Clock: HeaderClock, Err: context.Canceled}, VendorFault, "header_timeout", false, true, false},
		{"first token clock", Attempt{Phase: FirstToken, Status: 200, Clock: FirstTokenClock}, VendorFault, "first_token_timeout", false, true, false},
		{"idle clock after commit", Attempt{Phase: Body, Status: 200, Clock: IdleClock, Committed: true}, VendorFault, "idle_timeout", false, false, false},
		{"idle clock in the batch lane", Attempt{Phase: Body, Status: 200, Clock: IdleClock}, VendorFault, "idle_timeout", false, true, false},
		{"whole clock", Attempt{Phase: WholeBody, Clock: WholeClock}, VendorFault, "whole_timeout", false, true, false},
		{"deadline, too early for the vendor", Attempt{Phase: Header, Clock: DeadlineClock, Err: context.DeadlineExceeded}, GatewayFault, "deadline", false, false, false},
		{"deadline, the vendor had time", Attempt{Phase: WholeBody, Clock: DeadlineClock, HadTime: true}, VendorFault, "deadline", false, false, false},

		{"refused", Attempt{Phase: Connect, Err: dial(syscall.ECONNREFUSED)}, VendorFault, "connection_refused", true, true, true},
		{"refused, phase unknown to the caller", Attempt{Phase: Header, Err: dial(syscall.ECONNREFUSED)}, VendorFault, "connection_refused", true, true, true},
		{"name", Attempt{Phase: Connect, Err: &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}}, VendorFault, "dns_failed", true, true, true},
		{"certificate", Attempt{Phase: Connect, Err: fmt.Errorf("tls: failed to verify certificate: %w", x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"})}, VendorFault, "tls_failed", true, true, true},
		{"unreachable", Attempt{Phase: Connect, Err: dial(syscall.EHOSTUNREACH)}, VendorFault, "unreachable", true, true, true},
		{"dial times out", Attempt{Phase: Connect, Err: &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}}, VendorFault, "timeout", false, true, true},
		{"reset before headers", Attempt{Phase: Header, Err: read(syscall.ECONNRESET)}, VendorFault, "connection_reset", true, true, false},
		{"closed before headers", Attempt{Phase: Header, Err: io.ErrUnexpectedEOF}, VendorFault, "connection_closed", true, true, false},
		{"closed before headers, bare", Attempt{Phase: Header, Err: fmt.Errorf("reading: %w", io.EOF)}, VendorFault, "connection_closed", true, true, false},
		{"headers, nothing, closed", Attempt{Phase: FirstToken, Status: 200, Err: io.EOF, Streaming: true}, VendorFault, "truncated", true, true, false},
		{"cut after commit", Attempt{Phase: Body, Status: 200, Err: io.ErrUnexpectedEOF, Committed: true}, VendorFault, "truncated", false, false, false},
		{"end without a finish reason", Attempt{Phase: Body, Status: 200, Committed: true}, VendorFault, "truncated", false, false, false},
		{"no HTTP", Attempt{Phase: Header, Err: errors.New(`net/http: HTTP/1.x transport connection broken: malformed HTTP response "x"`)}, VendorFault, "bad_http", true, true, false},
		{"cut off from inside", Attempt{Phase: Body, Status: 200, Err: context.Canceled, Committed: true}, GatewayFault, "cancelled", false, false, false},
		{"nothing at all", Attempt{}, GatewayFault, "no_answer", false, false, false},

		{"want of resources", Attempt{Phase: Body, Status: 200, Finish: "insufficient_system_resource"}, VendorFault, "insufficient_system_resource", true, true, false},
		{"unknown finish", Attempt{Phase: Body, Status: 200, Finish: "eos token"}, VendorFault, "finish_eostoken", true, true, false},
		{"not JSON", Attempt{Phase: WholeBody, Status: 200, Reason: "not_json", Body: []byte("oops")}, VendorFault, "not_json", true, true, false},
		{"our verdict beside an error", Attempt{Phase: FirstToken, Status: 200, Reason: "no_content", Err: errors.New("the event is too long")}, VendorFault, "no_content", true, true, false},
		{"our verdict beside a cancellation", Attempt{Phase: FirstToken, Status: 200, Reason: "no_content", Err: context.Canceled}, GatewayFault, "cancelled", false, false, false},
		{"an event over the limit", Attempt{Phase: Body, Status: 200, Err: errors.New("reading an event of over 5 bytes: the event is too long")}, VendorFault, "event_too_long", true, true, false},
		{"could not be made", Attempt{Phase: Connect, Reason: "bad_request", Err: errors.New("x")}, GatewayFault, "bad_request", false, false, false},
		{"HTTP/2 stream reset", Attempt{Phase: Header, Err: errors.New("stream error: stream ID 5; INTERNAL_ERROR; received from peer")}, VendorFault, "connection_reset", true, true, false},
		{"a page with 200", Attempt{Phase: WholeBody, Status: 200, Reason: "not_json", Body: []byte("<!doctype html><title>Login</title>")}, VendorFault, "html_body", true, true, false},

		{"error as the first event", Attempt{Phase: FirstToken, Status: 200, Streaming: true, Body: []byte(errorBody)}, VendorFault, "server_is_overloaded", true, true, false},
		{"error after commit", Attempt{Phase: Body, Status: 200, Committed: true, Body: []byte(errorBody)}, VendorFault, "server_is_overloaded", false, false, false},
		{"429", Attempt{Phase: Header, Status: 429}, RateLimited, "rate_limited", false, true, false},
		{"401", Attempt{Phase: Header, Status: 401}, AccountFault, "invalid_key", false, true, false},
		{"404 of a path", Attempt{Phase: Header, Status: 404, Body: []byte(`{"detail":"Not Found"}`)}, ClientFault, "bad_request", false, false, false},
		{"404 of an endpoint", Attempt{Phase: Header, Status: 404, Offered: true, Body: []byte(`{"detail":"Not Found"}`)}, ConfigFault, "path_not_found", false, true, false},
		{"404 of a model", Attempt{Phase: Header, Status: 404, Body: []byte(`{"error":{"message":"model x not found"}}`)}, ConfigFault, "model_not_found", false, true, false},
		{"a firewall's 403", Attempt{Phase: Header, Status: 403, Body: []byte("<html><title>Blocked</title>")}, VendorFault, "html_body", true, true, false},
		{"429 whose body hangs", Attempt{Phase: Header, Status: 429, Clock: WholeClock}, RateLimited, "rate_limited", false, true, false},
		{"418", Attempt{Phase: Header, Status: 418}, ClientFault, "bad_request", false, false, false},
		{"500", Attempt{Phase: Header, Status: 500}, VendorFault, "server_error", true, true, false},
	} {
		res := Classify(c.a)
		if res.Outcome != c.want || res.Reason != c.reason || res.RetrySame != c.retrySame || res.Move != c.move || res.Connect != c.connect {
			t.Errorf("%s: %v %q retry %v move %v connect %v,\nwant %v %q retry %v move %v connect %v", c.name,
				res.Outcome, res.Reason, res.RetrySame, res.Move, res.Connect, c.want, c.reason, c.retrySame, c.move, c.connect)
		}
		if (res.Outcome == OK) != (res.Message == "") {
			t.Errorf("%s: message %q", c.name, res.Message)
		}
	}
}

func TestClassify_MovesAreConditionalForContextAndFilter(t *testing.T) {
	context := Classify(Attempt{Status: 400, Body: []byte(`{"error":{"code":"context_length_exceeded","message":"x","type":"y"}}`)})
	if context.Move || context.RetrySame || !context.LargerContext || context.Outcome != ClientFault || context.Code != "context_length_exceeded" {
		t.Errorf("context: %+v", context)
	}
	filter := Classify(Attempt{Status: 400, Body: []byte(`{"error":{"code":"content_filter","message":"x"}}`)})
	if filter.Move || filter.RetrySame || !filter.Filter || filter.Outcome != ContentFilter {
		t.Errorf("filter: %+v", filter)
	}
}

func TestClassify_RecognisesWhatAVendorDoesNotKnow(t *testing.T) {
	usage := Classify(Attempt{Status: 400, Body: []byte(`{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`)})
	if !usage.RefusesUsage || usage.RefusesPrefill {
		t.Errorf("stream_options: %+v", usage)
	}
	prefill := Classify(Attempt{Status: 400, Body: []byte(`{"error":{"message":"Assistant response prefill is incompatible with enable_thinking.","type":"invalid_request_error"}}`)})
	if !prefill.RefusesPrefill || prefill.RefusesUsage {
		t.Errorf("prefill: %+v", prefill)
	}
}

func TestClassify_ReadsRetryAfterInEverySpelling(t *testing.T) {
	now := time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name, header, value, message string
		want                         time.Duration
		has                          bool
	}{
		{"seconds", "Retry-After", "2", "", 2 * time.Second, true},
		{"fraction", "Retry-After", " 1.5 ", "", 1500 * time.Millisecond, true},
		{"a duration", "Retry-After", "120ms", "", 120 * time.Millisecond, true},
		{"milliseconds", "Retry-After-Ms", "250", "", 250 * time.Millisecond, true},
		{"date", "Retry-After", "Tue, 01 Dec 2026 10:00:07 GMT", "", 7 * time.Second, true},
		{"date gone by", "Retry-After", "Tue, 01 Dec 2026 09:00:00 GMT", "", 0, true},
		{"date far off", "Retry-After", "Fri, 01 Jan 2100 00:00:00 GMT", "", MaxRetryAfter, true},
		{"absurd", "Retry-After", "86400", "", MaxRetryAfter, true},
		{"beyond numbers", "Retry-After", "1e300", "", MaxRetryAfter, true},
		{"negative", "Retry-After", "-5", "", 0, true},
		{"NaN", "Retry-After", "NaN", "", 0, false},
		{"nonsense", "Retry-After", "soon", "", 0, false},
		{"message, seconds", "", "", "Please retry after 37 seconds.", 37 * time.Second, true},
		{"message, duration", "", "", "Rate limit reached. Please try again in 5.289s. Visit", 5289 * time.Millisecond, true},
		{"message, longer", "", "", "try again in 6m0s", MaxRetryAfter, true},
		{"message, short", "", "", "please try again in 120ms", 120 * time.Millisecond, true},
		{"message, moonshot", "", "", "please try again after 1 seconds", time.Second, true},
		{"message, minutes", "", "", "retry in 2 minutes", MaxRetryAfter, true},
		{"none", "", "", "try again later", 0, false},
	} {
		a := Attempt{Status: 429, Now: now, Body: []byte(`{"error":{"message":"` + c.message + `","code":"rate_limit_exceeded"}}`)}
		a.Header = func(name string) string {
			if name == c.header {
				return c.value
			}
			return ""
		}
		if res := Classify(a); res.RetryAfter != c.want || res.HasRetryAfter != c.has {
			t.Errorf("%s: %v %v, want %v %v", c.name, res.RetryAfter, res.HasRetryAfter, c.want, c.has)
		}
	}
}

func TestReadError_TellsWhatMayPassAsItIs(t *testing.T) {
	for _, c := range []struct {
		body, message, typ, code string
		inShape                  bool
	}{
		{`{"error":{"message":"m","type":"t","param":null,"code":"c"},"request_id":"r"}`, "m", "t", "c", true},
		{`data: {"error":{"message":"m","type":"t","code":"c"}}`, "m", "t", "c", false},
		{`{"object":"error","message":"m","type":"t","param":null,"code":400}`, "m", "t", "400", false},
		{`{"code":20012,"message":"m","data":null}`, "m", "", "20012", false},
		{`{"error":"m"}`, "m", "", "", false},
		{`"m"`, "m", "", "", false},
		{`{"error":{"message":null}}`, "", "", "", false},
		{`plain`, "plain", "", "", false},
		{``, "", "", "", false},
	} {
		message, typ, code, inShape := ReadError([]byte(c.body))
		if message != c.message || typ != c.typ || code != c.code || inShape != c.inShape {
			t.Errorf("%s: %q %q %q %v", c.body, message, typ, code, inShape)
		}
	}
}

func TestClassify_KeepsTransportsTextToItself(t *testing.T) {
	res := Classify(Attempt{Phase: Connect, Err: errors.New(`Post "https://user:pw@host/v1?key=sk-abcdefghijkl": boom`)})
	if strings.Contains(res.Message, "host") || strings.Contains(res.Message, "sk-") {
		t.Errorf("message %q", res.Message)
	}
}

func TestScrub_TakesOutKeysAndPrompts(t *testing.T) {
	prompt := strings.Repeat("my secret diary ", 10)
	for in, want := range map[string]string{
		"Incorrect API key provided: sk-abcdef1234567890. You can":         "Incorrect API key provided: *** You can",
		"Authorization: Bearer abcdefgh12345 is bad":                       "Authorization: Bearer *** is bad",
		"key gsk_A1b2C3d4E5f6G7h8":                                         "key ***",
		"token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_def":               "token ***",
		"secret 4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c":                          "secret ***",
		"The model `deepseek-v3` doesn't exist":                            "The model `deepseek-v3` doesn't exist",
		"bad input \"" + prompt + "\" given":                               "bad input \"…\" given",
		"bad input “" + prompt + "” given":                                 "bad input “…” given",
		"bad input \"" + prompt:                                            "bad input \"…",
		`messages: [{"role":"user","content":"` + prompt + `"}] are wrong`: "messages: […] are wrong",
		"id 120e5847-3394-923c-a494-8eb9f81cb36e":                          "id 120e5847-3394-923c-a494-8eb9f81cb36e",
		"a\nb\tc\x00d": "a b c d",
		"see https://x.cn/a?token=abcdef123 please":                                 "see https://x.cn/a?*** please",
		"您的账户已达到速率限制":                                                               "您的账户已达到速率限制",
		"Rate limit reached for `/maas/deepseek-ai/DeepSeek-V3-0324-long-name` now": "Rate limit reached for `/maas/deepseek-ai/DeepSeek-V3-0324-long-name` now",
		"": "",
	} {
		if got := Scrub(in); got != want {
			t.Errorf("Scrub(%q)\n= %q\nwant %q", in, got, want)
		}
	}
	if got := Scrub(strings.Repeat("账户 ", 500)); len(got) > 300 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestWords_AreKnown(t *testing.T) {
	for c := Unclassed + 1; c < classes; c++ {
		if c.String() == "" || effects[c].outcome == OK {
			t.Errorf("class %d: word %q, outcome %v", c, c, effects[c].outcome)
		}
	}
	for i := range Count {
		if o, ok := Parse(Outcome(i).String()); !ok || o != Outcome(i) {
			t.Errorf("outcome %d is not parsed back", i)
		}
	}
	for f := FinishStop; f < FinishOther; f++ {
		if ParseFinish(f.String()) != f || f.Good() == f.Bad() {
			t.Errorf("finish %v", f)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"x sk-abcdefghijklmnop","type":"y","code":"insufficient_quota"}}`), 429, "", uint8(0))
	f.Add([]byte("data: {\"error\":\"x\"}\n\n"), 400, "stop", uint8(3))
	f.Add([]byte(`"Invalid token"`), 401, "error", uint8(5))
	f.Add([]byte(`[{"error":{"code":429,"message":"retry after 1e9 seconds"}}]`), 200, "", uint8(9))
	f.Add([]byte("<html><title>x"), 503, "", uint8(1))
	f.Add([]byte(`{"detail":[{"msg":"“x"}],"code":"1302"}`), 0, "", uint8(2))
	f.Fuzz(func(t *testing.T, body []byte, status int, finish string, bits uint8) {
		a := Attempt{
			Phase: Phase(bits % 5), Status: status, Body: body, Finish: finish,
			Committed: bits&8 != 0, ClientGone: bits&16 != 0, Complete: bits&32 != 0, Clock: Clock(bits >> 5),
			Now: time.Unix(1e9, 0), Header: func(string) string { return string(body) },
		}
		res := Classify(a)
		switch {
		case int(res.Outcome) >= Count:
			t.Fatalf("outcome %d", res.Outcome)
		case len(res.Message) > 300 || strings.Contains(res.Message, "sk-abcdefghijklmnop"):
			t.Fatalf("message %q", res.Message)
		case res.RetryAfter < 0 || res.RetryAfter > MaxRetryAfter:
			t.Fatalf("retry after %v", res.RetryAfter)
		case a.Committed && (res.Move || res.RetrySame || res.Filter || res.LargerContext):
			t.Fatalf("moves after commit: %+v", res)
		case res.Outcome == OK && (status < 200 || status > 299):
			t.Fatalf("ok with status %d", status)
		case res.Outcome != OK && res.Reason == "":
			t.Fatalf("no reason: %+v", res)
		}
	})
}

func BenchmarkClassify_Refusal(b *testing.B) {
	a := Attempt{Status: 429, Body: []byte(`{"error":{"message":"Rate limit reached for requests","type":"requests","param":null,"code":"rate_limit_exceeded"}}`)}
	b.ReportAllocs()
	for b.Loop() {
		Classify(a)
	}
}

func BenchmarkClassify_OK(b *testing.B) {
	a := Attempt{Status: 200, Finish: "stop", Streaming: true, Committed: true}
	b.ReportAllocs()
	for b.Loop() {
		Classify(a)
	}
}

func TestClassify_AnUnexplained404IsOfThePath(t *testing.T) {
	noisy := &Dialect{CodesAreNoise: true}
	moonshot := &Dialect{Rules: []Rule{{Code: "resource_not_found_error", Class: BadModel}}}
	for _, c := range []struct {
		name   string
		status int
		body   string
		d      *Dialect
		want   Class
	}{
		{"FastAPI", 404, `{"detail":"Not Found"}`, nil, BadPath},
		{"Go", 404, "404 page not found\n", nil, BadPath},
		{"nothing", 404, "", nil, BadPath},
		{"OpenAI's shape", 404, `{"error":{"message":"Not Found"}}`, nil, BadPath},
		{"OpenAI's URL", 404, `{"error":{"message":"Invalid URL (POST /v1/x)","type":"invalid_request_error","param":null,"code":null}}`, nil, BadPath},
		{"Groq's URL", 404, `{"error":{"message":"Unknown request URL: POST /x","type":"invalid_request_error","code":"unknown_url"}}`, nil, BadPath},
		{"vLLM", 404, `{"error":{"message":"Not Found","type":"NotFoundError","param":null,"code":404}}`, nil, BadPath},
		{"Azure", 404, `{"error":{"code":"404","message":"Resource not found"}}`, nil, BadPath},
		{"Spring", 404, `{"timestamp":"t","status":404,"error":"Not Found","path":"/v1/x"}`, nil, BadPath},
		{"DeepSeek, whose codes say nothing", 404, `{"error":{"message":"Not Found","code":"invalid_request_error"}}`, noisy, BadPath},
		{"Moonshot, of a path", 404, `{"error":{"type":"resource_not_found_error","message":"The requested resource was not found"}}`, moonshot, BadPath},
		{"405", 405, `{"detail":"Method Not Allowed"}`, nil, BadPath},
		{"405 of nothing", 405, "", nil, BadPath},

		{"a model", 404, `{"error":{"message":"The model x does not exist","code":"model_not_found"}}`, nil, BadModel},
		{"a model without a code", 404, `{"error":{"message":"model x not found"}}`, nil, BadModel},
		{"vLLM's model", 404, `{"error":{"message":"The model x does not exist.","type":"NotFoundError","code":404}}`, nil, BadModel},
		{"Moonshot's model", 404, `{"error":{"type":"resource_not_found_error","message":"Not found the model or Permission denied"}}`, moonshot, BadModel},
		{"an id of the client's", 404, `{"error":{"message":"Previous response with id 'r' not found.","param":"previous_response_id","code":"previous_response_not_found"}}`, nil, BadRequest},
		{"a parameter", 404, `{"error":{"message":"No such File object","type":"invalid_request_error","param":"id","code":null}}`, nil, BadRequest},
		{"a 400", 400, `{"detail":"Not Found"}`, nil, BadRequest},
	} {
		a := Attempt{Phase: Header, Status: c.status, Body: []byte(c.body), Dialect: c.d, Offered: true}
		if res := Classify(a); res.Class != c.want || (c.want == BadPath) != (res.Outcome == ConfigFault && res.Scope == ScopeVendor && res.Move) {
			t.Errorf("%s: %v %+v, want %v", c.name, res.Class, res, c.want)
		}
		if a.Offered = false; Classify(a).Class == BadPath {
			t.Errorf("%s: a path of the client's own choosing is the client's", c.name)
		}
	}
}

package sim

import (
	"net/http"
	"time"
)

// raw is an error answer with a body as it stands.
func raw(status int, body string) refusal {
	return refusal{status: status, body: []byte(body)}
}

// faultTable is the profile "faults": first the sixteen of the failover suite, then kinds seen at vendors, named for
// what they do. Word counts are of the sixty. What a row says of a stream holds for a whole answer where it can.
var faultTable = []fault{
	{Fault: Fault{"s01", "the first request gets 429 with Retry-After: 2, then well"}, refuse: once(rateLimited.with("Retry-After", "2"))},
	{Fault: Fault{"s02", "429 for ever, without a header"}, refuse: always(rateLimited)},
	{Fault: Fault{"s03", "the first request gets 500, then well"}, refuse: once(serverError)},
	{Fault: Fault{"s04", "503 for ever"}, refuse: always(overloaded)},
	{Fault: Fault{"s05", "connection reset before the headers"}, reset: true},
	{Fault: Fault{"s06", "accepts, silent for 120 s, then closes"}, silent: 120 * time.Second},
	{Fault: Fault{"s07", "headers at once, first token after 20 s"}, quirk: quirk{headersFirst: true, firstDelay: 20 * time.Second}},
	{Fault: Fault{"s08", "cut after 40 words"}, quirk: quirk{stop: stopCut, stopAfter: 40}},
	{Fault: Fault{"s09", "20 words, silent for 30 s, then cut"}, quirk: quirk{stop: stopSilent, stopAfter: 20, silence: 30 * time.Second}},
	{Fault: Fault{"s10", "the tenth event is not JSON, all 60 words come"}, quirk: quirk{garbageAt: 10}},
	{Fault: Fault{"s11", "no [DONE]"}, quirk: quirk{noDone: true}},
	{Fault: Fault{"s12", "400 context_length_exceeded"}, refuse: always(contextLength)},
	{Fault: Fault{"s13", "400 content_policy_violation"}, refuse: always(contentPolicy)},
	{Fault: Fault{"s14", "cut after 40 words; a last message from the assistant gets 400"}, refuse: prefill, quirk: quirk{stop: stopCut, stopAfter: 40}},
	{Fault: Fault{"s15", "503 for 60 s from the first request, then well"}, refuse: during(overloaded, 60*time.Second)},
	{Fault: Fault{"s16", "503 for ever"}, refuse: always(overloaded)},

	{Fault: Fault{"error401", "401 invalid_api_key"}, refuse: always(invalidKey)},
	{Fault: Fault{"error402", "402, the balance is used up, as DeepSeek spells it"}, refuse: always(raw(402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`))},
	{Fault: Fault{"error403", "403, the account is overdue, as Ark spells it"}, refuse: always(raw(403, `{"error":{"code":"AccountOverdueError","message":"The request failed because your account has an overdue balance.","param":"","type":"Forbidden"}}`))},
	{Fault: Fault{"error404model", "404 model_not_found"}, refuse: func(x *exchange, _ faultState) (refusal, bool) { return modelNotFound(x.req.Model), true }},
	{Fault: Fault{"error429-retry-after-ms", "429 with retry-after-ms: 1500"}, refuse: always(rateLimited.with("Retry-After-Ms", "1500"))},
	{Fault: Fault{"error429-date", "429 with Retry-After as an HTTP date 3 s away"}, refuse: func(x *exchange, _ faultState) (refusal, bool) {
		return rateLimited.with("Retry-After", httpDate(x.start.Add(3*time.Second))), true
	}},
	{Fault: Fault{"error429-absurd", "429 with Retry-After: 86400000"}, refuse: always(rateLimited.with("Retry-After", "86400000"))},
	{Fault: Fault{"error429-burst", "429 limit_burst_rate, the slope limiter"}, refuse: always(raw(429, `{"error":{"message":"Request rate increased too quickly. To ensure system stability, please adjust your client logic to scale requests more smoothly over time.","type":"limit_burst_rate","param":null,"code":"limit_burst_rate"}}`))},
	{Fault: Fault{"error429-quota", "429 insufficient_quota: money at OpenAI, a passing limit at Bailian"}, refuse: always(raw(429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`))},
	{Fault: Fault{"error429-arrears", "429 with business code 1113, arrears, as Zhipu spells it"}, refuse: always(raw(429, `{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试。"}}`))},
	{Fault: Fault{"error503-retry-after", "503 with Retry-After: 1"}, refuse: always(overloaded.with("Retry-After", "1"))},
	{Fault: Fault{"error529", "529 overloaded_error"}, refuse: always(raw(529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))},
	{Fault: Fault{"every-other-500", "every second request, the first too, gets 500"}, refuse: func(_ *exchange, st faultState) (refusal, bool) { return serverError, st.count%2 == 1 }},
	{Fault: Fault{"flapping", "503 for 20 s, well for 20 s, and so on"}, refuse: func(x *exchange, st faultState) (refusal, bool) {
		half := max(x.o.scaled(20*time.Second), 1)
		return overloaded, x.start.Sub(st.since)/half%2 == 0
	}},
	{Fault: Fault{"data-prefixed-400", "400 whose body is a server-sent event, as at Bailian"}, refuse: always(raw(400, `data: {"error":{"code":"invalid_parameter_error","param":null,"message":"Range of input length should be [1, 129024]","type":"invalid_request_error"},"id":"chatcmpl-simulated","request_id":"simulated"}`+"\n\n"))},
	{Fault: Fault{"flat-error", "400 with a flat body, as at SiliconFlow"}, refuse: always(raw(400, `{"code":20012,"message":"Model does not exist. Please check it carefully.","data":null}`))},
	{Fault: Fault{"int-code", "400 with an integer code, as at vLLM"}, refuse: always(raw(400, `{"object":"error","message":"This model's maximum context length is 32768 tokens.","type":"BadRequestError","param":null,"code":400}`))},
	{Fault: Fault{"detail-500", "500 with a detail body, CUDA out of memory, as a plain FastAPI server"}, refuse: always(raw(500, `{"detail":"CUDA out of memory. Tried to allocate 1.20 GiB"}`))},
	{Fault: Fault{"html-502", "502 with a proxy's HTML page"}, refuse: always(refusal{status: http.StatusBadGateway, contentType: "text/html", body: []byte(htmlPage)})},
	{Fault: Fault{"rejects-stream-options", "400 when the body has stream_options, else well"}, refuse: func(x *exchange, _ faultState) (refusal, bool) {
		return raw(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error","param":"stream_options","code":"unknown_parameter"}}`), x.req.StreamOptions != nil
	}},
	{Fault: Fault{"rejects-prefill", "400 when the last message is the assistant's, else well"}, refuse: prefill},

	{Fault: Fault{"headers-then-close", "200 and headers, then cut without an event"}, quirk: quirk{stop: stopCut, stopAfter: -1}},
	{Fault: Fault{"empty-200", "200 with an empty body"}, quirk: quirk{stop: stopEnd, stopAfter: -1}},
	{Fault: Fault{"role-then-close", "the opening event, then cut"}, quirk: quirk{stop: stopCut}},
	{Fault: Fault{"error-in-200-stream", "the first event of a 200 is an error"}, quirk: quirk{stop: stopError, stopAfter: -1}},
	{Fault: Fault{"role-then-error", "the opening event, then an error event"}, quirk: quirk{stop: stopError}},
	{Fault: Fault{"error-midway", "20 words, an error event, no [DONE]"}, quirk: quirk{stop: stopError, stopAfter: 20}},
	{Fault: Fault{"error-then-done", "20 words, an error event, then [DONE], as at vLLM"}, quirk: quirk{stop: stopErrorDone, stopAfter: 20}},
	{Fault: Fault{"reset-midway", "connection reset after 40 words, of which some may be lost with it"}, quirk: quirk{stop: stopReset, stopAfter: 40}},
	{Fault: Fault{"no-finish", "ends after 40 words without a finish reason or [DONE]"}, quirk: quirk{stop: stopEnd, stopAfter: 40}},
	{Fault: Fault{"no-finish-done", "ends after 40 words with [DONE] but no finish reason"}, quirk: quirk{stop: stopDone, stopAfter: 40}},
	{Fault: Fault{"finish-insufficient", "40 words and finish reason insufficient_system_resource"}, quirk: quirk{stopAfter: 40, finish: "insufficient_system_resource"}},
	{Fault: Fault{"finish-error", "40 words and finish reason error"}, quirk: quirk{stopAfter: 40, finish: "error"}},
	{Fault: Fault{"keepalive-only", "comments every second for 10 minutes, then closes"}, quirk: quirk{keepAlive: time.Second, firstDelay: 10 * time.Minute, stop: stopCut, stopAfter: -1}},
	{Fault: Fault{"keepalive-then-answer", "comments every second for 5 s, then well"}, quirk: quirk{keepAlive: time.Second, firstDelay: 5 * time.Second}},
	{Fault: Fault{"slow-first-token", "first token after 20 s, and the headers with it"}, quirk: quirk{firstDelay: 20 * time.Second}},
	{Fault: Fault{"slow-drip", "one word per second"}, quirk: quirk{slow: time.Second}},

	{Fault: Fault{"html-200", "200 with an HTML page"}, quirk: quirk{rawWhole: htmlPage}},
	{Fault: Fault{"garbage-json-whole", "200 with JSON that breaks off"}, quirk: quirk{rawWhole: `{"id":"chatcmpl-simulated","choices":[{"index":0,"message":{"role":"assi`}},
	{Fault: Fault{"truncated-body", "a whole answer's Content-Length is larger than its body"}, quirk: quirk{shortBody: 100}},
	{Fault: Fault{"gzip", "compressed though nobody asked"}, quirk: quirk{gzip: true}},
	{Fault: Fault{"blank-lines", "blank lines before a whole answer's JSON, as at DeepSeek; comments in a stream"}, quirk: quirk{blankPad: 5, keepAlive: time.Second, firstDelay: 2 * time.Second}},
	{Fault: Fault{"crlf", "lines end in CRLF"}, quirk: quirk{eol: "\r\n"}},
	{Fault: Fault{"lone-cr", "lines end in CR"}, quirk: quirk{eol: "\r"}},
	{Fault: Fault{"no-space", "data: without a space"}, quirk: quirk{noSpace: true}},
	{Fault: Fault{"dashscope-framing", "id:, event: and :HTTP_STATUS lines, no space, finish reason \"null\" while running"}, quirk: quirk{dashscope: true, noSpace: true, stringNull: true}},
	{Fault: Fault{"multi-line", "an event's JSON on two data lines"}, quirk: quirk{multiLine: true}},
	{Fault: Fault{"split-writes", "seven bytes a write: lines and characters arrive torn"}, quirk: quirk{splitWrites: true}},
	{Fault: Fault{"big-event", "one event of 256 KiB"}, quirk: quirk{padding: 256 << 10}},
	{Fault: Fault{"null-role", "role and other fields null in every chunk, as at Bailian"}, quirk: quirk{nullRole: true}},
	{Fault: Fault{"usage-every-chunk", "usage so far in every chunk"}, quirk: quirk{usageEvery: true}},
	{Fault: Fault{"choices-empty-first", "a first chunk without choices, as at Azure"}, quirk: quirk{emptyFirst: true}},
	{Fault: Fault{"reasoning-first", "five deltas of reasoning before the words"}, quirk: quirk{reasoning: 5}},
}

const htmlPage = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center></body>\r\n</html>\r\n"

package outcome

import (
	"encoding/json"
	"strings"
	"testing"
)

// chunks are events as vendors send them.
var chunks = []struct {
	name, data string
	want       string // of the flags, see flags
	usage      Usage
}{
	{"role only", `{"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`, "", Usage{}},
	{"bailian's first, nulls everywhere", `{"choices":[{"delta":{"content":"","role":"assistant","function_call":null,"refusal":null,"tool_calls":null},"index":0,"finish_reason":null}],"usage":null,"service_tier":null,"system_fingerprint":null}`, "", Usage{}},
	{"content", `{"choices":[{"index":0,"delta":{"content":"蓝"},"finish_reason":null}]}`, `meaningful content="蓝"`, Usage{}},
	{"content, role null", `{"choices":[{"delta":{"content":"a","role":null}}],"usage":null}`, `meaningful content="a"`, Usage{}},
	{"a space is content", `{"choices":[{"delta":{"content":" "}}]}`, `meaningful content=" "`, Usage{}},
	{"reasoning", `{"choices":[{"delta":{"content":null,"reasoning_content":"hm"}}]}`, "meaningful reasoning", Usage{}},
	{"reasoning, OpenRouter", `{"choices":[{"delta":{"content":"","reasoning":"hm"}}]}`, "meaningful reasoning", Usage{}},
	{"both", `{"choices":[{"delta":{"content":"a","reasoning_content":"hm"}}]}`, `meaningful content="a"`, Usage{}},
	{"refusal", `{"choices":[{"delta":{"refusal":"no"}}]}`, "meaningful", Usage{}},
	{"tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]}}]}`, "meaningful", Usage{}},
	{"no tool calls", `{"choices":[{"delta":{"tool_calls":[ ],"function_call":null}}]}`, "", Usage{}},
	{"function call", `{"choices":[{"delta":{"function_call":{"name":"f"}}}]}`, "meaningful", Usage{}},
	{"completion", `{"object":"text_completion","choices":[{"text":"a","index":0,"finish_reason":null}]}`, `meaningful content="a"`, Usage{}},
	{"finish", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, "finish=stop", Usage{}},
	{"finish with usage", `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`, "finish=length", Usage{3, 0, 4, 0, true}},
	{"finish null as a word", `{"choices":[{"delta":{"content":""},"finish_reason":"null"}]}`, "", Usage{}},
	{"for want of resources", `{"choices":[{"delta":{},"finish_reason":"insufficient_system_resource"}]}`, "finish=insufficient_system_resource", Usage{}},
	{"aborted", `{"choices":[{"delta":{},"finish_reason":"aborted"}]}`, "finish=aborted", Usage{}},
	{"unknown finish", `{"choices":[{"delta":{},"finish_reason":"eos"}]}`, "finish=other", Usage{}},
	{"the worst of two", `{"choices":[{"index":0,"finish_reason":"error"},{"index":1,"finish_reason":"stop"}]}`, "finish=error", Usage{}},
	{"usage only", `{"choices":[],"usage":{"completion_tokens":17,"prompt_tokens":22,"total_tokens":39,"completion_tokens_details":null,"prompt_tokens_details":{"audio_tokens":null,"cached_tokens":8}}}`, "usage-only", Usage{22, 8, 17, 0, true}},
	{"deepseek's usage", `{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":0},"prompt_cache_hit_tokens":6,"prompt_cache_miss_tokens":4,"completion_tokens_details":{"reasoning_tokens":2}}}`, "usage-only", Usage{10, 6, 5, 2, true}},
	{"moonshot's usage in the choice", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"cached_tokens":1}}]}`, "finish=stop", Usage{1, 1, 2, 0, true}},
	{"groq's usage", `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"req","usage":{"prompt_tokens":1,"completion_tokens":2}}}`, "finish=stop", Usage{1, 0, 2, 0, true}},
	{"azure's filter chunk", `{"choices":[],"prompt_filter_results":[{"prompt_index":0}],"usage":null}`, "", Usage{}},
	{"error", `{"error":{"message":"x","type":"y"}}`, "error", Usage{}},
	{"error as a string", `{"error":"Unauthorized"}`, "error", Usage{}},
	{"error null", `{"error":null,"choices":[{"delta":{"content":"a"}}]}`, `meaningful content="a"`, Usage{}},
	{"openrouter's error", `{"error":{"code":502,"message":"x"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`, "error finish=error", Usage{}},
	{"flat error", `{"object":"error","message":"x","type":"BadRequestError","param":null,"code":400}`, "error", Usage{}},
	{"flat error, siliconflow", `{"code":20012,"message":"Model does not exist.","data":null}`, "error", Usage{}},
	{"dashscope native", `{"output":{"choices":[{"message":{"content":"a","role":"assistant"},"finish_reason":"null"}]},"usage":{"input_tokens":5,"output_tokens":1},"request_id":"x"}`, `meaningful content="a"`, Usage{5, 0, 1, 0, true}},
	{"response created", `{"type":"response.created","response":{"id":"r","status":"in_progress","output":[],"usage":null,"error":null}}`, "", Usage{}},
	{"response text", `{"type":"response.output_text.delta","item_id":"m","delta":"Hi"}`, `meaningful content="Hi"`, Usage{}},
	{"response text, empty", `{"type":"response.output_text.delta","delta":""}`, "", Usage{}},
	{"response reasoning", `{"type":"response.reasoning_summary_text.delta","delta":"hm"}`, "meaningful reasoning", Usage{}},
	{"response arguments", `{"delta":"{}","type":"response.function_call_arguments.delta"}`, "meaningful", Usage{}},
	{"response call begins", `{"type":"response.output_item.added","item":{"type":"function_call","name":"f"}}`, "meaningful", Usage{}},
	{"response message begins", `{"type":"response.output_item.added","item":{"type":"message"}}`, "", Usage{}},
	{"response completed", `{"type":"response.completed","response":{"status":"completed","error":null,"usage":{"input_tokens":7,"input_tokens_details":{"cached_tokens":2},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":3},"total_tokens":16}}}`, "meaningful finish=stop completed", Usage{7, 2, 9, 3, true}},
	{"response incomplete", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}`, "meaningful finish=content_filter completed", Usage{}},
	{"response failed", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"x"}}}`, "error", Usage{}},
	{"response error event", `{"type":"error","code":"server_error","message":"x","param":null}`, "error", Usage{}},
	{"odd choices", `{"choices":[1,null,{"delta":3},{"delta":{"content":[]}}]}`, "", Usage{}},
	{"escaped keys", `{"ch\u006fices":[{"delta":{"c\u006fntent":"a"}}]}`, `meaningful content="a"`, Usage{}},
	{"absurd usage", `{"usage":{"prompt_tokens":-5,"completion_tokens":1e9,"total_tokens":99999999999999999999}}`, "usage-only", Usage{Has: true}},
	{"usage without choices", `{"id":"c","object":"chat.completion.chunk","usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}`, "usage-only", Usage{3, 0, 4, 0, true}},
	{"usage, choices null", `{"choices":null,"usage":{"prompt_tokens":3,"completion_tokens":4}}`, "usage-only", Usage{3, 0, 4, 0, true}},
	{"usage beside native text", `{"output":{"text":"","finish_reason":"stop"},"usage":{"input_tokens":5,"output_tokens":1}}`, "finish=stop", Usage{5, 0, 1, 0, true}},
}

func flags(c ChunkInfo) string {
	var f []string
	for _, x := range []struct {
		set  bool
		word string
	}{
		{c.Error, "error"},
		{c.Meaningful, "meaningful"},
		{c.Reasoning, "reasoning"},
		{c.UsageOnly, "usage-only"},
		{c.Finish != FinishNone, "finish=" + c.Finish.String()},
		{c.Completed, "completed"},
		{c.Content != nil, "content=" + string(c.Content)},
	} {
		if x.set {
			f = append(f, x.word)
		}
	}
	return strings.Join(f, " ")
}

func TestChunk_ReadsWhatVendorsSend(t *testing.T) {
	for _, c := range chunks {
		got, ok := Chunk([]byte(c.data))
		if !ok || flags(got) != c.want || got.Usage != c.usage {
			t.Errorf("%s: ok %v, %q, %+v; want %q, %+v", c.name, ok, flags(got), got.Usage, c.want, c.usage)
		}
	}
}

func TestChunk_IsNotOKForWhatIsNoObject(t *testing.T) {
	for _, data := range []string{"[DONE]", "", "{", `{"choices":[{"delta":{"content":"a"}}]`, `{"choices":[]}x`, "garbage", `"text"`, "[]", "null", "<html>"} {
		if c, ok := Chunk([]byte(data)); ok || c.Meaningful {
			t.Errorf("Chunk(%q) is ok: %+v", data, c)
		}
	}
}

func TestWhole_KnowsASuccessOfTheRightShape(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     Endpoint
		body   string
		ok     bool
		reason string
		output int
	}{
		{"chat", Chat, `{"choices":[{"message":{"role":"assistant","content":"x"},"finish_reason":"stop","index":0,"logprobs":null}],"object":"chat.completion","usage":{"prompt_tokens":3019,"completion_tokens":104,"total_tokens":3123,"prompt_tokens_details":{"cached_tokens":2048}}}`, true, "", 104},
		{"chat after blank lines", Chat, "\n\n\r\n {\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"tool_calls\"}]}", true, "", 0},
		{"chat, filtered", Chat, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`, true, "", 0},
		{"chat, no finish", Chat, `{"choices":[{"message":{"content":"x"},"finish_reason":null}]}`, false, "no_finish_reason", 0},
		{"chat, bad finish", Chat, `{"choices":[{"message":{"content":"x"},"finish_reason":"insufficient_system_resource"}]}`, false, "insufficient_system_resource", 0},
		{"chat, two choices", Chat, `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"},{"index":1,"message":{"content":"y"},"finish_reason":"length"}]}`, true, "", 0},
		{"chat, the second has no finish", Chat, `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"},{"index":1,"message":{"content":"y"},"finish_reason":null}]}`, false, "no_finish_reason", 0},
		{"chat, the second has a bad finish", Chat, `{"choices":[{"index":0,"message":{"content":"x"},"finish_reason":"stop"},{"index":1,"message":{"content":"y"},"finish_reason":"error"}]}`, false, "finish_error", 0},
		{"chat, no choices", Chat, `{"choices":[]}`, false, "no_finish_reason", 0},
		{"chat, cut", Chat, `{"choices":[{"message":{"content":"x`, false, "not_json", 0},
		{"chat, a page", Chat, `<html>`, false, "not_json", 0},
		{"chat, empty", Chat, ``, false, "not_json", 0},
		{"chat, error", Chat, `{"error":{"message":"x"}}`, false, "error", 0},
		{"completion", Completions, `{"choices":[{"text":"x","finish_reason":"length"}]}`, true, "", 0},
		{"embeddings", Embeddings, `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1]}],"usage":{"prompt_tokens":1,"total_tokens":1}}`, true, "", 0},
		{"embeddings, none", Embeddings, `{"object":"list","data":[]}`, false, "no_data", 0},
		{"embeddings, flat error", Embeddings, `{"code":20012,"message":"x","data":null}`, false, "error", 0},
		{"response", Responses, `{"id":"r","object":"response","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"message"}],"usage":{"input_tokens":1,"output_tokens":2}}`, true, "", 2},
		{"response, incomplete", Responses, `{"object":"response","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}`, true, "", 0},
		{"response, in background", Responses, `{"object":"response","status":"queued","output":[]}`, true, "", 0},
		{"response, failed", Responses, `{"object":"response","status":"failed","error":{"code":"server_error","message":"x"}}`, false, "error", 0},
		{"response, cancelled", Responses, `{"object":"response","status":"cancelled","output":[]}`, false, "response_failed", 0},
		{"response, another shape", Responses, `{"choices":[]}`, false, "no_status", 0},
		{"other", Other, "\x00binary", true, "", 0},
	} {
		got := Whole(c.at, []byte(c.body))
		if got.OK != c.ok || got.Reason != c.reason || got.Usage.Output != c.output {
			t.Errorf("%s: %+v, want ok %v, %q, %d tokens", c.name, got, c.ok, c.reason, c.output)
		}
	}
}

func FuzzChunk(f *testing.F) {
	for _, c := range chunks {
		f.Add([]byte(c.data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, ok := Chunk(data)
		var object map[string]json.RawMessage
		if want := json.Unmarshal(data, &object) == nil && object != nil; ok != want {
			t.Fatalf("Chunk(%q): ok %v, a JSON object %v", data, ok, want)
		}
		if c.Content != nil && !json.Valid(c.Content) {
			t.Fatalf("content %q is no JSON string", c.Content)
		}
		if u := c.Usage; u.Input < 0 || u.Output < 0 || u.Cached < 0 || u.Reasoning < 0 {
			t.Fatalf("negative usage %+v", u)
		}
		for _, e := range []Endpoint{Other, Chat, Completions, Embeddings, Responses} {
			if w := Whole(e, data); w.OK == (w.Reason != "") {
				t.Fatalf("endpoint %d: %+v: either good or with a reason", e, w)
			}
		}
	})
}

func TestChunk_DoesNotAllocate(t *testing.T) {
	for _, c := range chunks {
		if c.name == "escaped keys" {
			continue
		}
		data := []byte(c.data)
		if n := testing.AllocsPerRun(10, func() { Chunk(data); Whole(Chat, data) }); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func BenchmarkChunk(b *testing.B) {
	data := []byte(`{"id":"chatcmpl-6ada9ed2","object":"chat.completion.chunk","created":1735120033,"model":"deepseek-v3","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"token","role":null,"tool_calls":null},"logprobs":null,"finish_reason":null}],"usage":null}`)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if c, ok := Chunk(data); !ok || !c.Meaningful {
			b.Fatal("misread")
		}
	}
}

func TestProgress_IsFinishedWhenEveryChoiceIs(t *testing.T) {
	const (
		role0, role1 = `{"choices":[{"index":0,"delta":{"role":"assistant"}}]}`, `{"choices":[{"index":1,"delta":{"role":"assistant"}}]}`
		word0, word1 = `{"choices":[{"index":0,"delta":{"content":"a"}}]}`, `{"choices":[{"finish_reason":null,"delta":{"content":"b"},"index":1}]}`
		end0, end1   = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`, `{"choices":[{"finish_reason":"length","delta":{},"index":1}]}`
		both         = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"},{"index":1,"delta":{},"finish_reason":"stop"}]}`
		word0end     = `{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`
		far          = `{"choices":[{"index":100,"delta":{"content":"a"}}]}`
	)
	for _, c := range []struct {
		name           string
		n              int
		events         []string
		cut, withADone bool // whether it is finished without and with a [DONE]
	}{
		{"nothing", 1, nil, false, true},
		{"one", 1, []string{role0, word0, end0}, true, true},
		{"one, no finish", 1, []string{role0, word0}, false, false},
		{"one, finished with its last word", 1, []string{word0end}, true, true},
		{"one, goes on after its finish", 1, []string{word0, end0, word0}, false, true},
		{"two, the second begun", 2, []string{word0, end0, word1}, false, false},
		{"two, the second not heard of", 2, []string{word0, end0}, false, true},
		{"two that nobody asked for, the second only named", 1, []string{role0, role1, word0, end0}, false, false},
		{"two, one after the other", 2, []string{word0, end0, word1, end1}, true, true},
		{"two, at once", 2, []string{word1, word0, both}, true, true},
		{"an index in the second word", 1, []string{word0, far, end0}, false, false},
	} {
		var p Progress
		for _, data := range c.events {
			info, ok := Chunk([]byte(data))
			if !ok {
				t.Fatalf("%s: %s", c.name, data)
			}
			p.Take(&info)
		}
		if cut, declared := p.Finished(c.n, false), p.Finished(c.n, true); cut != c.cut || declared != c.withADone {
			t.Errorf("%s: finished %v, with [DONE] %v; want %v, %v", c.name, cut, declared, c.cut, c.withADone)
		}
	}
}

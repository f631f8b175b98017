package sim

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"
)

// quick is an elastic vendor that needs a key, knows two models and is in a hurry.
func quick(t testing.TB) (*server, openai.Client) {
	s := start(t, Options{
		Name: "lanyun", Label: "蓝耘", Seed: 1, Scale: 0.001,
		Models: []string{"m", "/maas/deepseek-ai/DeepSeek-V3"}, Keys: []string{"sk-right-1234"},
	})
	return s, openai.NewClient(option.WithBaseURL(s.url+"/v1"), option.WithAPIKey("sk-right-1234"), option.WithHTTPClient(s.client), option.WithMaxRetries(0))
}

func ask(question string) openai.ChatCompletionNewParams {
	return openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage(question)}}
}

func TestOfficialClient_WholeChat(t *testing.T) {
	_, c := quick(t)
	r, err := c.Chat.Completions.New(t.Context(), ask("怎么退货？"))
	if err != nil {
		t.Fatal(err)
	}
	if ch := r.Choices[0]; !strings.Contains(ch.Message.Content, "。") || ch.FinishReason != "stop" {
		t.Errorf("answer %q, finish reason %q: want Chinese sentences and stop", ch.Message.Content, ch.FinishReason)
	}
	if u := r.Usage; u.PromptTokens == 0 || u.CompletionTokens == 0 || u.TotalTokens != u.PromptTokens+u.CompletionTokens {
		t.Errorf("usage %+v: want counts that add up", u)
	}
}

func TestOfficialClient_StreamedChatIsTheSameShapeAsWhole(t *testing.T) {
	_, c := quick(t)
	p := ask("How do I return the kettle?")
	p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
	p.N = param.NewOpt[int64](2)
	stream := c.Chat.Completions.NewStreaming(t.Context(), p)
	defer stream.Close()
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		if !acc.AddChunk(stream.Current()) {
			t.Fatalf("the chunk does not belong to the answer: %s", stream.Current().RawJSON())
		}
	}
	if stream.Err() != nil {
		t.Fatal(stream.Err())
	}
	if len(acc.Choices) != 2 {
		t.Fatalf("%d choices, want 2", len(acc.Choices))
	}
	for i, ch := range acc.Choices {
		if !strings.HasSuffix(ch.Message.Content, ".") || ch.FinishReason != "stop" {
			t.Errorf("choice %d: %q, %q: want sentences and stop", i, ch.Message.Content, ch.FinishReason)
		}
	}
	if acc.Usage.CompletionTokens < 8 {
		t.Errorf("usage %+v, want that of both choices", acc.Usage)
	}
}

func TestOfficialClient_ToolsAreCalledOnceAndThenAnswered(t *testing.T) {
	_, c := quick(t)
	p := ask("where is my order?")
	p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
		Name: "track", Parameters: shared.FunctionParameters{
			"type": "object", "properties": map[string]any{"order": map[string]string{"type": "string"}, "days": map[string]string{"type": "integer"}},
			"required": []string{"order", "days"},
		},
	})}
	stream := c.Chat.Completions.NewStreaming(t.Context(), p)
	defer stream.Close()
	var acc openai.ChatCompletionAccumulator
	for stream.Next() {
		acc.AddChunk(stream.Current())
	}
	whole, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	for name, msg := range map[string]openai.ChatCompletionChoice{"streamed": acc.Choices[0], "whole": whole.Choices[0]} {
		if msg.FinishReason != "tool_calls" || len(msg.Message.ToolCalls) != 1 {
			t.Fatalf("%s: finish reason %q, %d calls, want one", name, msg.FinishReason, len(msg.Message.ToolCalls))
		}
		fn := msg.Message.ToolCalls[0].Function
		if fn.Name != "track" || fn.Arguments != `{"order":"example","days":1}` {
			t.Errorf("%s: called %s with %s", name, fn.Name, fn.Arguments)
		}
	}
	p.Messages = append(p.Messages, whole.Choices[0].Message.ToParam(), openai.ToolMessage("tomorrow", whole.Choices[0].Message.ToolCalls[0].ID))
	after, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil || after.Choices[0].FinishReason != "stop" {
		t.Errorf("after the tool's result: %v, %v, want a spoken answer", after, err)
	}
	p = ask("x")
	p.Tools = oneTool()
	p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("none")}
	none, err := c.Chat.Completions.New(t.Context(), p)
	if err != nil || none.Choices[0].FinishReason != "stop" {
		t.Errorf("tool_choice none: %v, %v, want a spoken answer", none, err)
	}
}

func oneTool() []openai.ChatCompletionToolUnionParam {
	return []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{Name: "f"})}
}

func TestOfficialClient_Responses(t *testing.T) {
	_, c := quick(t)
	p := responses.ResponseNewParams{Model: "m", Input: responses.ResponseNewParamsInputUnion{OfString: param.NewOpt("price?")}}
	whole, err := c.Responses.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Status != "completed" || whole.OutputText() == "" || whole.Usage.OutputTokens == 0 {
		t.Errorf("whole: %s", whole.RawJSON())
	}
	stream := c.Responses.NewStreaming(t.Context(), p)
	defer stream.Close()
	var text strings.Builder
	var last responses.ResponseStreamEventUnion
	for n := int64(0); stream.Next(); n++ {
		last = stream.Current()
		if last.SequenceNumber != n {
			t.Errorf("event %s has number %d, want %d", last.Type, last.SequenceNumber, n)
		}
		if last.Type == "response.output_text.delta" {
			text.WriteString(last.Delta)
		}
	}
	if stream.Err() != nil || last.Type != "response.completed" || text.String() == "" || last.Response.OutputText() != text.String() {
		t.Errorf("stream ended with %s, %v; text %q", last.RawJSON(), stream.Err(), text.String())
	}
}

func TestOfficialClient_Embeddings(t *testing.T) {
	_, c := quick(t)
	p := openai.EmbeddingNewParams{Model: "m", Input: openai.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"a", "b", "a"}}, Dimensions: param.NewOpt[int64](16)}
	r, err := c.Embeddings.New(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Data) != 3 || len(r.Data[0].Embedding) != 16 {
		t.Fatalf("%d vectors of %d, want 3 of 16", len(r.Data), len(r.Data[0].Embedding))
	}
	var norm float64
	same, differ := true, false
	for i, x := range r.Data[0].Embedding {
		norm += x * x
		same = same && x == r.Data[2].Embedding[i]
		differ = differ || x != r.Data[1].Embedding[i]
	}
	if norm < 0.999 || norm > 1.001 || !same || !differ {
		t.Errorf("norm² %v, same text same vector %v, other text other vector %v", norm, same, differ)
	}
}

func TestEmbeddings_AcceptEverySpellingOfInput(t *testing.T) {
	s := faulty(t)
	for input, rows := range map[string]int{`"a"`: 1, `["a","b"]`: 2, `[1,2,3]`: 1, `[[1],[2],[3]]`: 3} {
		r := s.do(t, http.MethodPost, "/v1/embeddings", `{"model":"m","encoding_format":"base64","dimensions":3,"input":`+input+`}`)
		if n := strings.Count(r.body, `"embedding":"`); r.status != 200 || n != rows {
			t.Errorf("input %s: status %d, %d base64 vectors, want %d", input, r.status, n, rows)
		}
	}
	one := s.do(t, http.MethodPost, "/v1/embeddings", `{"model":"m","input":"a"}`)
	many := s.do(t, http.MethodPost, "/v1/embeddings", `{"model":"m","input":["a"]}`)
	if vectorOf(t, one.body) != vectorOf(t, many.body) {
		t.Error("the same text alone and in a list has two vectors")
	}
}

func vectorOf(t *testing.T, body string) string {
	t.Helper()
	var r struct {
		Data []struct{ Embedding json.RawMessage }
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil || len(r.Data) == 0 {
		t.Fatalf("body %.100s: %v", body, err)
	}
	return string(r.Data[0].Embedding)
}

func TestOfficialClient_ModelsWithSlashes(t *testing.T) {
	s, c := quick(t)
	page, err := c.Models.List(t.Context())
	if err != nil || len(page.Data) != 2 || page.Data[1].ID != "/maas/deepseek-ai/DeepSeek-V3" || page.Data[0].OwnedBy != "lanyun" {
		t.Errorf("models %+v, %v", page, err)
	}
	for path, want := range map[string]int{
		"/v1/models/m": 200,
		"/models/m":    200,
		"/v1/models/%2Fmaas%2Fdeepseek-ai%2FDeepSeek-V3": 200,
		"/v1/models//maas/deepseek-ai/DeepSeek-V3":       200,
		"/v1/models/n": 404,
	} {
		if r := s.do(t, http.MethodGet, path, "", "Authorization", "Bearer sk-right-1234"); r.status != want {
			t.Errorf("GET %s: status %d, want %d", path, r.status, want)
		}
	}
	if st := s.Stats(); st.Arrivals != 0 || st.Probes != 6 {
		t.Errorf("stats %+v: want six probes and no arrival", st)
	}
}

func TestOfficialClient_ErrorsInOpenAIShape(t *testing.T) {
	s, _ := quick(t)
	for _, c := range []struct {
		name, path, key, body string
		status                int
		code                  string
	}{
		{"wrong key", "/v1/chat/completions", "sk-wrong-9999", chatBody("m", false), 401, "invalid_api_key"},
		{"no key", "/v1/chat/completions", "", chatBody("m", false), 401, "invalid_api_key"},
		{"unknown model", "/v1/chat/completions", "sk-right-1234", chatBody("n", true), 404, "model_not_found"},
		{"broken JSON", "/v1/chat/completions", "sk-right-1234", `{"model":`, 400, ""},
		{"an array", "/v1/chat/completions", "sk-right-1234", `[]`, 400, ""},
		{"model is a number", "/v1/chat/completions", "sk-right-1234", `{"model":1}`, 400, ""},
		{"no messages", "/v1/chat/completions", "sk-right-1234", `{"model":"m"}`, 400, ""},
		{"no prompt", "/v1/completions", "sk-right-1234", `{"model":"m"}`, 400, ""},
		{"no input", "/v1/embeddings", "sk-right-1234", `{"model":"m"}`, 400, ""},
		{"max_tokens 0", "/v1/chat/completions", "sk-right-1234", `{"model":"m","messages":[{"role":"user","content":"x"}],"max_tokens":0}`, 400, ""},
		{"unknown path", "/v1/nothing", "sk-right-1234", `{}`, 404, ""},
	} {
		r := s.do(t, http.MethodPost, c.path, c.body, "Authorization", "Bearer "+c.key)
		var e struct {
			Error struct {
				Message, Type string
				Code          *string
			}
		}
		if err := json.Unmarshal([]byte(r.body), &e); err != nil || r.status != c.status || e.Error.Message == "" || e.Error.Type == "" {
			t.Errorf("%s: status %d, body %s, want %d in OpenAI's shape", c.name, r.status, r.body, c.status)
		}
		if c.code != "" && (e.Error.Code == nil || *e.Error.Code != c.code) {
			t.Errorf("%s: body %s, want code %s", c.name, r.body, c.code)
		}
		if strings.Contains(r.body, "9999") {
			t.Errorf("%s: the body shows the key: %s", c.name, r.body)
		}
	}
	if st := s.Stats(); st.Refused != 11 || st.Arrivals != 11 {
		t.Errorf("stats %+v, want 11 refused of 11", st)
	}
	c := openai.NewClient(option.WithBaseURL(s.url), option.WithAPIKey("sk-wrong-9999"), option.WithHTTPClient(s.client), option.WithMaxRetries(0))
	_, err := c.Chat.Completions.New(t.Context(), ask("x"))
	var apiErr *openai.Error
	if !errors.As(err, &apiErr) || apiErr.StatusCode != 401 || apiErr.Code != "invalid_api_key" {
		t.Errorf("official client's error %v, want 401 invalid_api_key", err)
	}
}

func TestMaxTokens_EndsWithLength(t *testing.T) {
	s := faulty(t)
	for _, body := range []string{
		`{"model":"ok","messages":[{"role":"user","content":"x"}],"max_tokens":7`,
		`{"model":"ok","messages":[{"role":"user","content":"x"}],"max_completion_tokens":7`,
	} {
		whole := hear("data: " + s.do(t, http.MethodPost, "/chat/completions", body+"}").body + "\n\n")
		streamed := hear(s.do(t, http.MethodPost, "/chat/completions", body+`,"stream":true}`).body)
		for _, got := range []said{whole, streamed} {
			if got.text != words(7) || got.reason != "length" {
				t.Errorf("%s: %+v, want seven words and length", body, got)
			}
		}
	}
	r := s.do(t, http.MethodPost, "/responses", `{"model":"ok","input":"x","max_output_tokens":7}`)
	if !strings.Contains(r.body, `"status":"incomplete"`) || !strings.Contains(r.body, "max_output_tokens") {
		t.Errorf("responses: %s, want incomplete for max_output_tokens", r.body)
	}
}

func TestStream_HasOpenAIsOrder(t *testing.T) {
	s := faulty(t)
	r := s.do(t, http.MethodPost, "/v1/chat/completions",
		`{"model":"ok","messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"stream":true,"stream_options":{"include_usage":true}}`)
	if r.header.Get("X-Baton-Simulated") != "1" || !strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream") {
		t.Errorf("headers %v", r.header)
	}
	events := strings.Split(strings.TrimSuffix(r.body, "\n\n"), "\n\n")
	if len(events) != 64 {
		t.Fatalf("%d events, want role, 60 words, finish, usage, [DONE]", len(events))
	}
	for i, want := range map[int]string{
		0: `"delta":{"role":"assistant","content":""`, 1: `"content":"w1"}`, 60: `"content":" w60"}`,
		61: `"finish_reason":"stop"`, 62: `"choices":[],"usage":{"prompt_tokens":`, 63: "data: [DONE]",
	} {
		if !strings.Contains(events[i], want) {
			t.Errorf("event %d is %s, want %s in it", i, events[i], want)
		}
	}
	without := s.chat(t, "ok", true)
	if strings.Contains(without.body, "usage") {
		t.Error("usage came though nobody asked for it")
	}
}

func TestQuirks_AreOnTheWire(t *testing.T) {
	s := faulty(t)
	for model, want := range map[string]string{
		"crlf":                  "\r\n\r\ndata: {",
		"lone-cr":               "\r\rdata: {",
		"no-space":              "\n\ndata:{",
		"dashscope-framing":     "id:1\nevent:result\n:HTTP_STATUS/200\ndata:{",
		"multi-line":            `",` + "\ndata: \"object\"",
		"split-writes":          "fp_模拟",
		"big-event":             strings.Repeat("x", 256<<10),
		"null-role":             `"delta":{"role":null`,
		"usage-every-chunk":     `"usage":{"prompt_tokens":`,
		"choices-empty-first":   `"choices":[],"prompt_filter_results"`,
		"reasoning-first":       `"reasoning_content":"hm "`,
		"keepalive-then-answer": ": keep-alive\n\n",
	} {
		if r := s.chat(t, model, true); !strings.Contains(r.body, want) {
			t.Errorf("%s: %.200q, want %.60q in it", model, r.body, want)
		}
	}
	for _, stream := range []bool{true, false} {
		r := s.chat(t, "gzip", stream)
		if r.header.Get("Content-Encoding") != "gzip" || !strings.HasPrefix(r.body, "\x1f\x8b") {
			t.Errorf("gzip, stream %v: encoding %q, body %.4q", stream, r.header.Get("Content-Encoding"), r.body)
		}
	}
}

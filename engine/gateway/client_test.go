package gateway

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"baton/vendors/sim"
)

// The official client, against simulated vendors.
func official(t *testing.T, w *world) openai.Client {
	t.Helper()
	for _, v := range []*vendor{w.a, w.b} {
		s, err := sim.New(sim.Options{Name: v.name, Profile: "elastic", Scale: 0.01, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		v.does(s.ServeHTTP)
	}
	return openai.NewClient(option.WithBaseURL(w.url+"/v1"), option.WithAPIKey("none"), option.WithHTTPClient(w.client), option.WithMaxRetries(0))
}

var question = openai.ChatCompletionNewParams{
	Model:    "deepseek-v3",
	Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How long does delivery take?")},
}

func TestOfficialClient_WholeStreamedToolsAndErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := official(t, w)
	whole, err := c.Chat.Completions.New(t.Context(), question)
	if err != nil || whole.Choices[0].Message.Content == "" || whole.Usage.TotalTokens == 0 {
		t.Fatalf("whole: %+v, %v", whole, err)
	}
	streamed := question
	streamed.StreamOptions.IncludeUsage = openai.Bool(true)
	s := c.Chat.Completions.NewStreaming(t.Context(), streamed)
	var acc openai.ChatCompletionAccumulator
	for s.Next() {
		if !acc.AddChunk(s.Current()) {
			t.Fatal("the accumulator refuses a chunk")
		}
	}
	if s.Err() != nil || acc.Choices[0].Message.Content == "" || acc.Choices[0].FinishReason != "stop" || acc.Usage.TotalTokens == 0 {
		t.Fatalf("streamed: %+v, %v", acc.ChatCompletion, s.Err())
	}
	tools := question
	tools.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "track", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"order": map[string]any{"type": "string"}}},
	})}
	called, err := c.Chat.Completions.New(t.Context(), tools)
	if err != nil || len(called.Choices[0].Message.ToolCalls) == 0 {
		t.Fatalf("tools: %+v, %v", called, err)
	}
	models, err := c.Models.List(t.Context())
	if err != nil || len(models.Data) == 0 {
		t.Fatalf("models: %+v, %v", models, err)
	}
	vector, err := c.Embeddings.New(t.Context(), openai.EmbeddingNewParams{
		Model: "text-embedding-v4", Input: openai.EmbeddingNewParamsInputUnion{OfString: openai.String("hello")},
	})
	if err != nil || len(vector.Data) != 1 {
		t.Fatalf("embeddings: %v", err)
	}
	w.a.does(refuses(400, openAIError("bad_thing")))
	_, err = c.Chat.Completions.New(t.Context(), question)
	var e *openai.Error
	if !errors.As(err, &e) || e.StatusCode != http.StatusBadRequest || e.Code != "bad_thing" {
		t.Fatalf("error: %v", err)
	}
}

func TestOfficialClient_SeesAnInterruptedStreamAsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := official(t, w)
	w.a.does(cutAfter("lanyun", 40))
	s := c.Chat.Completions.NewStreaming(t.Context(), question)
	var text strings.Builder
	for s.Next() {
		if choices := s.Current().Choices; len(choices) > 0 {
			text.WriteString(choices[0].Delta.Content)
		}
	}
	if s.Err() == nil || !strings.Contains(s.Err().Error(), codeInterrupted) || text.String() != words("lanyun", 40) {
		t.Errorf("error %v after %q", s.Err(), text.String())
	}
}

func TestOfficialClient_DoesNotNoticeAFailover(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	c := official(t, w)
	w.a.does(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for range 5 {
		s := c.Chat.Completions.NewStreaming(t.Context(), question)
		n := 0
		for s.Next() {
			n++
		}
		if s.Err() != nil || n == 0 {
			t.Fatalf("%d chunks, %v", n, s.Err())
		}
	}
}

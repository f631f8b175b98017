package cli

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"baton/engine/control"
)

var question = openai.ChatCompletionNewParams{
	Model: "demo", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("How long does delivery take?")},
}

func official(s *served) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.gateway+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func TestOfficialClient_TalksToTheBuiltInEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	s := serve(t, "")
	c := official(s)
	ctx := t.Context()

	whole, err := c.Chat.Completions.New(ctx, question)
	if err != nil || whole.Choices[0].Message.Content == "" || whole.Choices[0].FinishReason != "stop" || whole.Usage.TotalTokens == 0 {
		t.Fatalf("whole: %+v, %v", whole, err)
	}
	streamed := question
	streamed.StreamOptions.IncludeUsage = openai.Bool(true)
	stream := c.Chat.Completions.NewStreaming(ctx, streamed)
	var all openai.ChatCompletionAccumulator
	for stream.Next() {
		if !all.AddChunk(stream.Current()) {
			t.Fatal("the accumulator refuses a chunk")
		}
	}
	if stream.Err() != nil || all.Choices[0].Message.Content == "" || all.Choices[0].FinishReason != "stop" || all.Usage.TotalTokens == 0 {
		t.Fatalf("streamed: %+v, %v", all.ChatCompletion, stream.Err())
	}
	tools := question
	tools.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
		Name: "track", Parameters: openai.FunctionParameters{"type": "object", "properties": map[string]any{"order": map[string]any{"type": "string"}}},
	})}
	called, err := c.Chat.Completions.New(ctx, tools)
	if err != nil || len(called.Choices[0].Message.ToolCalls) == 0 || called.Choices[0].Message.ToolCalls[0].Function.Name != "track" {
		t.Fatalf("tools: %+v, %v", called, err)
	}
	models, err := c.Models.List(ctx)
	if err != nil || len(models.Data) == 0 {
		t.Fatalf("models: %+v, %v", models, err)
	}
	bad := question
	bad.Messages = nil
	_, err = c.Chat.Completions.New(ctx, bad)
	var refused *openai.Error
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest || refused.Message == "" {
		t.Fatalf("an error: %v", err)
	}
	if code := s.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// answered is what became of one request.
type answered struct {
	begun  time.Time
	vendor string
	err    error
}

func TestKill_CostsNoClientAnAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	const (
		requests = 200
		pace     = 20 * time.Millisecond
		killAt   = 50
	)
	s := serve(t, "")
	c := official(s)
	var wg sync.WaitGroup
	got := make([]answered, requests)
	ejected := make(chan time.Time, 1)
	tick := time.NewTicker(pace)
	defer tick.Stop()
	send := func(i int) {
		<-tick.C
		wg.Go(func() { got[i] = oneAnswer(t.Context(), &c, i%2 == 0) })
	}
	for i := range killAt {
		send(i)
	}
	s.do(&control.StartDrill{Scenario: "kill", Vendor: "lanyun", Meta: control.Meta{By: "test"}})
	go func() {
		for t.Context().Err() == nil {
			snap, err := control.Get[*control.Snapshot](t.Context(), s.client(), control.State{})
			if err == nil && snap.Vendor("lanyun").State == control.Ejected {
				ejected <- time.Now()
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	for i := killAt; i < requests; i++ {
		send(i)
	}
	var out time.Time
	select {
	case out = <-ejected:
	case <-time.After(patience):
		t.Fatal("the engine has not noticed that lanyun is gone")
	}
	later := make([]answered, killAt) // surely after the ejection, however slow the machine
	for i := range later {
		<-tick.C
		wg.Go(func() { later[i] = oneAnswer(t.Context(), &c, i%2 == 0) })
	}
	wg.Wait()

	by := map[string]int{}
	for i, a := range append(got, later...) {
		if a.err != nil {
			t.Errorf("request %d: %v", i, a.err)
		}
		by[a.vendor]++
		if a.vendor == "lanyun" && a.begun.After(out) {
			t.Errorf("request %d, begun %s after the ejection, says that lanyun answered it", i, a.begun.Sub(out))
		}
	}
	if by["lanyun"] == 0 || by["bailian"] == 0 || by["lanyun"]+by["bailian"] != requests+killAt {
		t.Errorf("answered by %v", by)
	}
	if n := s.snapshot().Totals.Failed; n != 0 {
		t.Errorf("%d requests failed, of the demo traffic", n)
	}
	s.do(&control.ClearFault{Vendor: "lanyun"})
	if code := s.end(os.Interrupt); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

// oneAnswer asks once and says who answered.
func oneAnswer(ctx context.Context, c *openai.Client, streamed bool) answered {
	a := answered{begun: time.Now()}
	var resp *http.Response
	if !streamed {
		var whole *openai.ChatCompletion
		whole, a.err = c.Chat.Completions.New(ctx, question, option.WithResponseInto(&resp))
		if a.err == nil && (len(whole.Choices) == 0 || whole.Choices[0].Message.Content == "") {
			a.err = errors.New("the answer is empty")
		}
	} else {
		stream := c.Chat.Completions.NewStreaming(ctx, question, option.WithResponseInto(&resp))
		finish := ""
		for stream.Next() {
			for _, ch := range stream.Current().Choices {
				finish += ch.FinishReason
			}
		}
		a.err = stream.Err()
		if a.err == nil && finish != "stop" {
			a.err = errors.New("the stream ended without a finish reason")
		}
	}
	if resp != nil {
		a.vendor = resp.Header.Get("X-Baton-Vendor")
	}
	return a
}

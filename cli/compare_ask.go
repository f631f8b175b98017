package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"baton/engine/outcome"
	"baton/engine/sse"
)

const (
	comparePath  = "/chat/completions"
	compareEvent = 1 << 20 // bytes
	compareFault = 64 << 10
)

// ask asks the vendor once and keeps what it said.
func (x *contestant) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, comparePatience)
	defer cancel()
	begun := time.Now()
	resp, err := x.send(ctx, true)
	if err == nil && resp.StatusCode == http.StatusBadRequest { // it may not know stream_options
		_ = resp.Body.Close()
		begun = time.Now()
		resp, err = x.send(ctx, false)
	}
	if err != nil {
		x.answer.Error = x.hidden("does not answer: " + err.Error())
		return
	}
	defer resp.Body.Close()
	x.heads(resp)
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, compareFault))
		res := outcome.Classify(outcome.Attempt{Status: resp.StatusCode, Header: resp.Header.Get, Body: body, Offered: true, Streaming: true, Dialect: x.v.Dialect, Now: time.Now()})
		x.answer.Error = x.hidden(strings.TrimSpace(res.Outcome.String() + " " + res.Reason + " " + res.Message))
		return
	}
	if err := x.read(resp.Body, begun); err != nil {
		x.answer.Error = x.hidden("its answer breaks off: " + err.Error())
	}
	x.answer.TotalMs = sinceMs(begun)
	if x.answer.FirstTokenMs == nil && x.answer.Error == "" {
		x.answer.Error = "it answers without a word"
	}
	if x.answer.Usage && x.price != nil {
		cached := 0
		if x.answer.CachedTokens != nil {
			cached = *x.answer.CachedTokens
		}
		if c, known := x.price(*x.answer.InputTokens, cached, *x.answer.OutputTokens); known {
			x.answer.Cost = &c
		}
	}
}

func (x *contestant) hidden(s string) string { return x.v.Keys.Secrets().Hide(s) }

func sinceMs(begun time.Time) *float64 {
	ms := float64(time.Since(begun).Microseconds()) / 1000
	return &ms
}

// send sends the question; usage asks for the count of tokens.
func (x *contestant) send(ctx context.Context, usage bool) (*http.Response, error) {
	q := map[string]any{
		"model": x.answer.Asked, "stream": true, "max_tokens": compareTokens, "temperature": 0,
		"messages": []map[string]string{{"role": "user", "content": compareQuestion}},
	}
	if usage {
		q["stream_options"] = map[string]bool{"include_usage": true}
	}
	b, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("making the question: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "User-Agent": {compareUserAgent}}
	body := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	r, err := x.v.NewRequest(ctx, http.MethodPost, comparePath, "", header, body, int64(len(b)), x.v.Keys.Any())
	if err != nil {
		return nil, err
	}
	return x.v.RoundTrip(r)
}

// heads keeps what the answer's header tells.
func (x *contestant) heads(resp *http.Response) {
	x.answer.Status = resp.StatusCode
	for _, name := range x.v.Dialect.RequestID {
		if id := resp.Header.Get(name); id != "" {
			x.answer.IDHeader, x.answer.RequestID = strings.ToLower(name), x.hidden(id)
			break
		}
	}
	for name, v := range resp.Header {
		if name = strings.ToLower(name); strings.Contains(name, "ratelimit") || strings.Contains(name, "rate-limit") || name == "retry-after" {
			x.answer.RateLimits[name] = x.hidden(strings.Join(v, ", "))
		}
	}
}

// read reads the stream, or the whole answer of a vendor that does not stream.
func (x *contestant) read(body io.Reader, begun time.Time) error {
	events := sse.NewReader(body, compareEvent)
	for {
		e, err := events.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case e.Comment:
			continue
		case sse.IsDone(e.Data):
			x.answer.Done = true
			continue
		}
		c, ok := outcome.Chunk(e.Data)
		if !ok {
			continue // baton drops those too
		}
		x.answer.Stream = true
		if c.Error {
			return errors.New("an error within the stream: " + strings.TrimSpace(string(e.Data[:min(len(e.Data), 300)])))
		}
		if c.Meaningful && x.answer.FirstTokenMs == nil {
			x.answer.FirstTokenMs = sinceMs(begun)
		}
		if len(c.FinishWord) > 0 {
			x.answer.Finish = string(c.FinishWord)
		}
		x.says(e.Data, &c.Usage)
	}
}

// says keeps the model's name and the usage of one event.
func (x *contestant) says(data []byte, u *outcome.Usage) {
	var d struct {
		Model string          `json:"model"`
		Usage json.RawMessage `json:"usage"`
	}
	if json.Unmarshal(data, &d) == nil && d.Model != "" {
		x.answer.Model = d.Model
	}
	if !u.Has {
		return
	}
	in, out := u.Input, u.Output
	x.answer.Usage, x.answer.InputTokens, x.answer.OutputTokens = true, &in, &out
	if x.answer.CachedField = cachedField(d.Usage); x.answer.CachedField != "" {
		cached := u.Cached
		x.answer.CachedTokens = &cached
	}
}

// cachedField is where a usage object tells how much of the input was cached:
// vendors call it by three names.
func cachedField(usage json.RawMessage) string {
	var u map[string]json.RawMessage
	if json.Unmarshal(usage, &u) != nil {
		return ""
	}
	for _, name := range []string{"prompt_cache_hit_tokens", "cached_tokens"} {
		if _, ok := u[name]; ok {
			return name
		}
	}
	for _, name := range []string{"prompt_tokens_details", "input_tokens_details"} {
		var d map[string]json.RawMessage
		if json.Unmarshal(u[name], &d) != nil {
			continue
		}
		if _, ok := d["cached_tokens"]; ok {
			return name + ".cached_tokens"
		}
	}
	return ""
}

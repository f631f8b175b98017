package witness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	longestLine  = 1 << 20
	longestError = 200
	maxTokens    = 16 // a real vendor is paid for them
)

// ask sends one streamed request and fills in what came of it.
func (w *Witness) ask(ctx context.Context, e *Entry) {
	body, err := json.Marshal(map[string]any{
		"model": w.Model, "stream": true, "max_tokens": maxTokens,
		"messages": []map[string]string{{"role": "user", "content": "Say that you are there. (" + e.ID + ")"}},
	})
	if err != nil {
		e.Error = err.Error()
		return
	}
	req, err := w.request(ctx, http.MethodPost, "/chat/completions", bytes.NewReader(body))
	if err != nil {
		e.Error = err.Error()
		return
	}
	req.Header.Set("X-Request-Id", e.ID)
	req.Header.Set("X-Baton-Lane", "interactive")
	resp, err := w.client.Do(req)
	if err != nil {
		e.fail(err.Error())
		return
	}
	defer resp.Body.Close()
	e.Status, e.Vendor = resp.StatusCode, resp.Header.Get("X-Baton-Vendor")
	e.Attempts, _ = strconv.Atoi(resp.Header.Get("X-Baton-Attempts")) // 0: not said
	if resp.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(io.LimitReader(resp.Body, longestLine))
		e.fail(resp.Status + " " + reason(b))
		return
	}
	e.read(resp.Body)
}

// chunk is what the witness reads of an event of a stream.
type chunk struct {
	Choices []struct {
		Delta struct {
			Content          string            `json:"content"`
			Reasoning        string            `json:"reasoning"`
			ReasoningContent string            `json:"reasoning_content"`
			ToolCalls        []json.RawMessage `json:"tool_calls"`
		} `json:"delta"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

// read reads the stream to its end. It was answered well if it has a token and a
// finish reason and no error.
func (e *Entry) read(stream io.Reader) {
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 16<<10), longestLine)
	finished := false
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		data = bytes.TrimSpace(data)
		if !ok || bytes.Equal(data, []byte("[DONE]")) {
			continue
		}
		var c chunk
		if err := json.Unmarshal(data, &c); err != nil {
			e.fail("an event is no JSON: " + err.Error())
			continue
		}
		if len(c.Error) > 0 && !bytes.Equal(c.Error, []byte("null")) {
			e.fail(reason(data))
		}
		for _, choice := range c.Choices {
			d := &choice.Delta
			if e.FirstToken == nil && d.Content+d.Reasoning+d.ReasoningContent+strings.Repeat("t", len(d.ToolCalls)) != "" {
				now := time.Now().UTC()
				e.FirstToken = &now
			}
			finished = finished || choice.FinishReason != nil && *choice.FinishReason != ""
		}
	}
	if err := lines.Err(); err != nil {
		e.fail(err.Error())
	}
	if !finished {
		e.fail("the stream ended without a finish reason")
	}
	if e.FirstToken == nil {
		e.fail("the stream ended without a token")
	}
	e.OK = e.Error == ""
}

// fail notes why it was not answered well, the first reason.
func (e *Entry) fail(why string) {
	if e.Error != "" {
		return
	}
	why = strings.Join(strings.Fields(why), " ")
	if len(why) > longestError {
		why = strings.ToValidUTF8(why[:longestError], "") + "..."
	}
	e.Error = why
}

// reason is what an error in OpenAI's shape says.
func reason(b []byte) string {
	var doc struct {
		Error struct {
			Message string `json:"message"`
			Code    any    `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(b, &doc); err != nil || doc.Error.Message == "" {
		return "an error that it does not explain"
	}
	if doc.Error.Code == nil {
		return doc.Error.Message
	}
	return fmt.Sprintf("%v: %s", doc.Error.Code, doc.Error.Message)
}

package sim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// request is what the simulation reads of a body; the same struct serves every endpoint.
type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Input               json.RawMessage `json:"input"`
	Instructions        string          `json:"instructions"`
	Stream              bool            `json:"stream"`
	StreamOptions       *streamOptions  `json:"stream_options"`
	N                   int             `json:"n"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	MaxOutputTokens     *int            `json:"max_output_tokens"`
	Tools               []tool          `json:"tools"`
	ToolChoice          json.RawMessage `json:"tool_choice"`
	Dimensions          int             `json:"dimensions"`
	EncodingFormat      string          `json:"encoding_format"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// tool is a function in either spelling: nested as in chat completions, flat as in responses.
type tool struct {
	Function   *function       `json:"function"`
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

type function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

var errNotObject = errors.New("the body must be a JSON object")

// decode reads a body. Its error is worded for the client.
func decode(body []byte, req *request) error {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return errNotObject
	}
	if err := json.Unmarshal(body, req); err != nil {
		return fmt.Errorf("could not parse the JSON body of your request: %w", err)
	}
	if req.Model == "" {
		return errors.New("you must provide a model parameter")
	}
	if req.N < 0 || req.N > 128 {
		return fmt.Errorf("n %d: must be from 1 to 128", req.N)
	}
	if limit, ok := req.limit(); ok && limit < 1 {
		return fmt.Errorf("max_tokens %d: must be at least 1", limit)
	}
	return nil
}

// limit is the most tokens that the client wants.
func (r *request) limit() (int, bool) {
	for _, p := range []*int{r.MaxOutputTokens, r.MaxCompletionTokens, r.MaxTokens} {
		if p != nil {
			return *p, true
		}
	}
	return 0, false
}

func (r *request) includeUsage() bool {
	return r.StreamOptions != nil && r.StreamOptions.IncludeUsage
}

// roles are the messages' roles in order, for the log.
func (r *request) roles() []string {
	msgs := r.conversation()
	roles := make([]string, len(msgs))
	for i, m := range msgs {
		roles[i] = m.Role
	}
	return roles
}

// conversation is the messages of a chat, or those of a responses input that has any.
func (r *request) conversation() []message {
	if len(r.Messages) > 0 {
		return r.Messages
	}
	var msgs []message
	if len(r.Input) == 0 || r.Input[0] != '[' || json.Unmarshal(r.Input, &msgs) != nil {
		return nil
	}
	return msgs
}

func (r *request) lastRole() string {
	if msgs := r.conversation(); len(msgs) > 0 {
		return msgs[len(msgs)-1].Role
	}
	return ""
}

// question is the text that is answered: the last user message, the prompt or the input.
func (r *request) question() string {
	msgs := r.conversation()
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == "user" {
			return contentText(msgs[i].Content)
		}
	}
	return contentText(r.Prompt) + contentText(r.Input)
}

// measure feeds the whole prompt to a meter, the model first: prefixes of two models never match.
func (r *request) measure(block int) meter {
	m := meter{block: block}
	m.feed(r.Model)
	m.tokens = 0
	m.feed(r.Instructions)
	for _, msg := range r.conversation() {
		m.feed(msg.Role)
		m.feed(contentText(msg.Content))
	}
	if len(r.Messages) == 0 {
		m.feed(contentText(r.Prompt))
		m.feed(contentText(r.Input))
	}
	return m
}

// contentText is the text of a content: a string, an array of strings or of parts, or nothing.
func contentText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if raw[0] == '"' {
		_ = json.Unmarshal(raw, &s) // it was valid inside the body
		return s
	}
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var b strings.Builder
	for _, item := range list {
		switch item[0] {
		case '"':
			_ = json.Unmarshal(item, &s)
			b.WriteString(s)
		case '{':
			var part struct {
				Text string `json:"text"`
			}
			_ = json.Unmarshal(item, &part) // a part without text adds none
			b.WriteString(part.Text)
		}
	}
	return b.String()
}

// call is a function call to answer with.
type call struct {
	name      string
	arguments string
}

// toolCall decides whether the answer is a function call: tools are given, not forbidden, and the last message is not
// already a tool's result (or a client's loop would never end) unless a call is forced.
func (r *request) toolCall() (call, bool) {
	if len(r.Tools) == 0 {
		return call{}, false
	}
	mode, forced := r.toolChoice()
	if mode == "none" {
		return call{}, false
	}
	answered := r.lastRole() == "tool" || r.continued() != "" || bytes.Contains(r.Input, []byte(`"function_call_output"`))
	if answered && forced == "" && mode != "required" {
		return call{}, false
	}
	for _, t := range r.Tools {
		fn := function{Name: t.Name, Parameters: t.Parameters}
		if t.Function != nil {
			fn = *t.Function
		}
		if fn.Name != "" && (forced == "" || fn.Name == forced) {
			return call{name: fn.Name, arguments: sampleArguments(fn.Parameters)}, true
		}
	}
	return call{}, false
}

// toolChoice is the mode ("auto", "none", "required" or "") and the name of a forced function.
func (r *request) toolChoice() (mode, forced string) {
	if len(r.ToolChoice) == 0 {
		return "", ""
	}
	if r.ToolChoice[0] == '"' {
		_ = json.Unmarshal(r.ToolChoice, &mode)
		return mode, ""
	}
	var t tool
	if json.Unmarshal(r.ToolChoice, &t) != nil {
		return "", ""
	}
	if t.Function != nil {
		return "required", t.Function.Name
	}
	return "required", t.Name
}

// sampleArguments makes arguments that fit a JSON schema's required properties, in their order.
func sampleArguments(schema json.RawMessage) string {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type any   `json:"type"`
			Enum []any `json:"enum"`
		} `json:"properties"`
	}
	if len(schema) > 0 {
		_ = json.Unmarshal(schema, &s) // an odd schema gets no arguments
	}
	out := []byte{'{'}
	for i, name := range s.Required {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendString(out, name)
		out = append(out, ':')
		p := s.Properties[name]
		if len(p.Enum) > 0 {
			first, _ := json.Marshal(p.Enum[0]) // it came from JSON
			out = append(out, first...)
			continue
		}
		switch p.Type {
		case "integer", "number":
			out = append(out, '1')
		case "boolean":
			out = append(out, "true"...)
		case "array":
			out = append(out, "[]"...)
		case "object":
			out = append(out, "{}"...)
		default:
			out = appendString(out, "example")
		}
	}
	return string(append(out, '}'))
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. s is valid UTF-8: it came from JSON or from this package.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

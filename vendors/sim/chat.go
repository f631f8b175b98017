package sim

import "strconv"

// chatScript writes chat.completion.chunk events.
type chatScript struct {
	a     *answer
	q     *quirk
	usage bool // the client asked for it
	buf   []byte
}

// chunk begins a chunk: everything up to its choices.
func (c *chatScript) chunk() {
	c.buf = append(c.buf[:0], `{"id":`...)
	c.buf = appendString(c.buf, c.a.id)
	c.buf = append(c.buf, `,"object":"chat.completion.chunk","created":`...)
	c.buf = strconv.AppendInt(c.buf, c.a.created, 10)
	c.buf = append(c.buf, `,"model":`...)
	c.buf = appendString(c.buf, c.a.model)
	c.buf = append(c.buf, `,"service_tier":"default","system_fingerprint":`...)
	if c.q.splitWrites {
		c.buf = append(c.buf, `"fp_模拟"`...) // multi-byte characters to tear
	} else {
		c.buf = append(c.buf, `"fp_simulated"`...)
	}
	c.buf = append(c.buf, `,"choices":[`...)
}

// choice appends one choice with a delta and a finish reason, "" for null.
func (c *chatScript) choice(index int, delta, reason string) {
	c.buf = append(c.buf, `{"index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(index), 10)
	c.buf = append(c.buf, `,"delta":{`...)
	c.buf = append(c.buf, delta...)
	c.tail(reason)
}

func (c *chatScript) tail(reason string) {
	c.buf = append(c.buf, `},"logprobs":null,"finish_reason":`...)
	if reason == "" {
		c.buf = append(c.buf, "null}"...)
		return
	}
	c.buf = append(appendString(c.buf, reason), '}')
}

// end closes the chunk and frames it; said is for a vendor that gives usage in every chunk.
func (c *chatScript) end(s *sse, said int) {
	c.buf = append(c.buf, ']')
	switch {
	case c.q.usageEvery:
		c.buf = append(append(c.buf, `,"usage":`...), marshal(c.a.usage(said))...)
	case c.usage:
		c.buf = append(c.buf, `,"usage":null`...)
	}
	if c.q.padding > 0 && s.sent == 5 {
		c.buf = append(c.buf, `,"obfuscation":"`...)
		for range c.q.padding {
			c.buf = append(c.buf, 'x')
		}
		c.buf = append(c.buf, '"')
	}
	c.buf = append(c.buf, '}')
	s.event("", c.buf)
}

func (c *chatScript) open(s *sse) {
	if c.q.emptyFirst {
		s.event("", []byte(`{"id":"","object":"","created":0,"model":"","choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`))
	}
	for i := range c.a.choices {
		c.chunk()
		delta := `"role":"assistant","content":"","refusal":null`
		if t := &c.a.choices[i]; t.tool != nil {
			head := append([]byte(`"role":"assistant","content":null,"tool_calls":[{"index":0,"id":`), appendString(nil, t.callID)...)
			head = append(appendString(append(head, `,"type":"function","function":{"name":`...), t.tool.name), `,"arguments":""}}]`...)
			delta = string(head)
		}
		c.choice(i, delta, "")
		c.end(s, 0)
	}
	for range c.q.reasoning {
		c.chunk()
		c.choice(0, `"content":null,"reasoning_content":"hm "`, "")
		c.end(s, 0)
	}
}

func (c *chatScript) delta(s *sse, from, to int) {
	for i := range c.a.choices {
		ch := &c.a.choices[i]
		text := ch.slice(from, to)
		if text == "" {
			continue
		}
		c.chunk()
		c.running(i, ch, text)
		c.end(s, c.a.said(to))
	}
}

// running appends a choice while text comes, the hot path: text is escaped straight into the buffer.
func (c *chatScript) running(index int, ch *choice, text string) {
	c.buf = append(c.buf, `{"index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(index), 10)
	c.buf = append(c.buf, `,"delta":{`...)
	if c.q.nullRole {
		c.buf = append(c.buf, `"role":null,"function_call":null,"refusal":null,"tool_calls":null,`...)
	}
	if ch.tool != nil {
		c.buf = append(c.buf, `"tool_calls":[{"index":0,"function":{"arguments":`...)
		c.buf = append(appendString(c.buf, text), `}}]`...)
	} else {
		c.buf = append(c.buf, `"content":`...)
		c.buf = appendString(c.buf, text)
	}
	reason := ""
	if c.q.stringNull {
		reason = "null"
	}
	c.tail(reason)
}

func (c *chatScript) close(s *sse) {
	out := c.a.out()
	for i := range c.a.choices {
		c.chunk()
		delta := ""
		if c.q.nullRole {
			delta = `"role":null,"content":""`
		}
		c.choice(i, delta, c.a.choices[i].reason)
		c.end(s, out)
	}
	if c.usage {
		c.chunk()
		c.buf = append(append(c.buf, `],"usage":`...), marshal(c.a.usage(out))...)
		c.buf = append(c.buf, '}')
		s.event("", c.buf)
	}
	if !c.q.noDone {
		s.done()
	}
}

type chatMessage struct {
	Role      string         `json:"role"`
	Content   *string        `json:"content"`
	Refusal   *string        `json:"refusal"`
	ToolCalls []chatToolCall `json:"tool_calls,omitempty"`
}

type chatToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type chatChoice struct {
	Index    int         `json:"index"`
	Message  chatMessage `json:"message"`
	Logprobs *string     `json:"logprobs"`
	Reason   *string     `json:"finish_reason"`
}

// chatWhole is the body of a whole chat completion.
func chatWhole(a *answer) []byte {
	choices := make([]chatChoice, len(a.choices))
	for i := range a.choices {
		c := &a.choices[i]
		text := c.text()
		msg := chatMessage{Role: "assistant", Content: &text}
		if c.tool != nil {
			tc := chatToolCall{ID: c.callID, Type: "function"}
			tc.Function.Name, tc.Function.Arguments = c.tool.name, c.tool.arguments
			msg.Content, msg.ToolCalls = nil, []chatToolCall{tc}
		}
		choices[i] = chatChoice{Index: i, Message: msg, Reason: nilIfEmpty(c.reason)}
	}
	return marshal(struct {
		ID          string       `json:"id"`
		Object      string       `json:"object"`
		Created     int64        `json:"created"`
		Model       string       `json:"model"`
		Choices     []chatChoice `json:"choices"`
		Usage       usage        `json:"usage"`
		Fingerprint string       `json:"system_fingerprint"`
	}{a.id, "chat.completion", a.created, a.model, choices, a.usage(a.out()), "fp_simulated"})
}

func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

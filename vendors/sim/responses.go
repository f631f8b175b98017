package sim

// The responses endpoint: one output item, a message or a function call, whole or as typed, numbered events. A stream
// of responses has no [DONE].

type responseUsage struct {
	Input        int           `json:"input_tokens"`
	InputDetails promptDetails `json:"input_tokens_details"`
	Output       int           `json:"output_tokens"`
	OutDetails   struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

type outputText struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
}

type outputItem struct {
	Type      string       `json:"type"`
	ID        string       `json:"id"`
	Status    string       `json:"status"`
	Role      string       `json:"role,omitempty"`
	Content   []outputText `json:"content,omitempty"`
	CallID    string       `json:"call_id,omitempty"`
	Name      string       `json:"name,omitempty"`
	Arguments *string      `json:"arguments,omitempty"`
}

type incompleteDetails struct {
	Reason string `json:"reason"`
}

type response struct {
	ID           string             `json:"id"`
	Object       string             `json:"object"`
	CreatedAt    int64              `json:"created_at"`
	Status       string             `json:"status"`
	Error        any                `json:"error"`
	Incomplete   *incompleteDetails `json:"incomplete_details"`
	Instructions any                `json:"instructions"`
	Metadata     struct{}           `json:"metadata"`
	Model        string             `json:"model"`
	Output       []outputItem       `json:"output"`
	Parallel     bool               `json:"parallel_tool_calls"`
	Temperature  float64            `json:"temperature"`
	ToolChoice   string             `json:"tool_choice"`
	Tools        []any              `json:"tools"`
	TopP         float64            `json:"top_p"`
	Usage        *responseUsage     `json:"usage"`
}

// responseBody is the response object while it runs or, done, at its end.
func responseBody(a *answer, done bool) response {
	r := response{
		ID: a.id, Object: "response", CreatedAt: a.created, Status: "in_progress", Model: a.model, Output: []outputItem{},
		Parallel: true, Temperature: 1, ToolChoice: "auto", Tools: []any{}, TopP: 1,
	}
	if !done {
		return r
	}
	c := &a.choices[0]
	switch c.reason {
	case "length":
		r.Status, r.Incomplete = "incomplete", &incompleteDetails{"max_output_tokens"}
	case "stop", "tool_calls":
		r.Status = "completed"
	case "":
		r.Status = "in_progress"
	default:
		r.Status = "failed"
		r.Error = map[string]string{"code": "server_error", "message": "The model stopped before the answer was complete."}
	}
	r.Output = append(r.Output, responseItem(a, c.text(), r.Status))
	out := len(c.pieces)
	r.Usage = &responseUsage{Input: a.in, InputDetails: promptDetails{a.cached}, Output: out, Total: a.in + out}
	return r
}

// responseItem is the one output item with as much text as there is.
func responseItem(a *answer, text, status string) outputItem {
	c := &a.choices[0]
	if c.tool != nil {
		return outputItem{Type: "function_call", ID: "fc_" + a.id, Status: status, CallID: c.callID, Name: c.tool.name, Arguments: &text}
	}
	item := outputItem{Type: "message", ID: "msg_" + a.id, Status: status, Role: "assistant"}
	if status != "in_progress" {
		item.Content = []outputText{textPart(text)}
	}
	return item
}

func textPart(text string) outputText {
	return outputText{Type: "output_text", Text: text, Annotations: []any{}}
}

func responseWhole(a *answer) []byte {
	return marshal(responseBody(a, true))
}

// responseEvent has the fields of every kind of event that is written here.
type responseEvent struct {
	Type         string      `json:"type"`
	Sequence     int         `json:"sequence_number"`
	Response     *response   `json:"response,omitempty"`
	ItemID       string      `json:"item_id,omitempty"`
	OutputIndex  *int        `json:"output_index,omitempty"`
	ContentIndex *int        `json:"content_index,omitempty"`
	Item         *outputItem `json:"item,omitempty"`
	Part         *outputText `json:"part,omitempty"`
	Delta        *string     `json:"delta,omitempty"`
	Text         *string     `json:"text,omitempty"`
	Arguments    *string     `json:"arguments,omitempty"`
	Logprobs     *[]any      `json:"logprobs,omitempty"`
}

// responseScript writes the events of a streamed response.
type responseScript struct {
	a *answer
	n int
}

func (c *responseScript) send(s *sse, e responseEvent) {
	e.Sequence = c.n
	c.n++
	s.event(e.Type, marshal(e))
}

var zero = new(int) // index of the only item and of its only part

func (c *responseScript) open(s *sse) {
	r := responseBody(c.a, false)
	c.send(s, responseEvent{Type: "response.created", Response: &r})
	c.send(s, responseEvent{Type: "response.in_progress", Response: &r})
	item := responseItem(c.a, "", "in_progress")
	c.send(s, responseEvent{Type: "response.output_item.added", OutputIndex: zero, Item: &item})
	if c.a.choices[0].tool == nil {
		part := textPart("")
		c.send(s, responseEvent{Type: "response.content_part.added", ItemID: item.ID, OutputIndex: zero, ContentIndex: zero, Part: &part})
	}
}

func (c *responseScript) delta(s *sse, from, to int) {
	ch := &c.a.choices[0]
	text := ch.slice(from, to)
	if ch.tool != nil {
		c.send(s, responseEvent{Type: "response.function_call_arguments.delta", ItemID: "fc_" + c.a.id, OutputIndex: zero, Delta: &text})
		return
	}
	c.send(s, responseEvent{Type: "response.output_text.delta", ItemID: "msg_" + c.a.id, OutputIndex: zero, ContentIndex: zero, Delta: &text, Logprobs: &[]any{}})
}

func (c *responseScript) close(s *sse) {
	r := responseBody(c.a, true)
	item := &r.Output[0]
	text := c.a.choices[0].text()
	if item.Type == "function_call" {
		c.send(s, responseEvent{Type: "response.function_call_arguments.done", ItemID: item.ID, OutputIndex: zero, Arguments: &text})
	} else {
		part := textPart(text)
		c.send(s, responseEvent{Type: "response.output_text.done", ItemID: item.ID, OutputIndex: zero, ContentIndex: zero, Text: &text, Logprobs: &[]any{}})
		c.send(s, responseEvent{Type: "response.content_part.done", ItemID: item.ID, OutputIndex: zero, ContentIndex: zero, Part: &part})
	}
	c.send(s, responseEvent{Type: "response.output_item.done", OutputIndex: zero, Item: item})
	c.send(s, responseEvent{Type: "response." + r.Status, Response: &r})
}

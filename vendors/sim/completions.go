package sim

import "strconv"

// completionScript writes text_completion events, the older endpoint's.
type completionScript struct {
	a     *answer
	q     *quirk
	usage bool
	buf   []byte
}

func (c *completionScript) open(*sse) {}

func (c *completionScript) delta(s *sse, from, to int) {
	for i := range c.a.choices {
		if text := c.a.choices[i].slice(from, to); text != "" {
			c.chunk(s, i, text, "")
		}
	}
}

func (c *completionScript) head() {
	c.buf = append(c.buf[:0], `{"id":`...)
	c.buf = appendString(c.buf, c.a.id)
	c.buf = append(c.buf, `,"object":"text_completion","created":`...)
	c.buf = strconv.AppendInt(c.buf, c.a.created, 10)
	c.buf = append(c.buf, `,"model":`...)
	c.buf = appendString(c.buf, c.a.model)
	c.buf = append(c.buf, `,"choices":[`...)
}

func (c *completionScript) chunk(s *sse, index int, text, reason string) {
	c.head()
	c.buf = append(c.buf, `{"text":`...)
	c.buf = appendString(c.buf, text)
	c.buf = append(c.buf, `,"index":`...)
	c.buf = strconv.AppendInt(c.buf, int64(index), 10)
	c.buf = append(c.buf, `,"logprobs":null,"finish_reason":`...)
	if reason == "" {
		c.buf = append(c.buf, "null"...)
	} else {
		c.buf = appendString(c.buf, reason)
	}
	c.buf = append(c.buf, "}]"...)
	if c.usage {
		c.buf = append(c.buf, `,"usage":null`...)
	}
	c.buf = append(c.buf, '}')
	s.event("", c.buf)
}

func (c *completionScript) close(s *sse) {
	for i := range c.a.choices {
		c.chunk(s, i, "", c.a.choices[i].reason)
	}
	if c.usage {
		c.head()
		c.buf = append(append(c.buf, `],"usage":`...), marshal(c.a.usage(c.a.out()))...)
		c.buf = append(c.buf, '}')
		s.event("", c.buf)
	}
	if !c.q.noDone {
		s.done()
	}
}

type textChoice struct {
	Text     string  `json:"text"`
	Index    int     `json:"index"`
	Logprobs *string `json:"logprobs"`
	Reason   *string `json:"finish_reason"`
}

// completionWhole is the body of a whole text completion.
func completionWhole(a *answer) []byte {
	choices := make([]textChoice, len(a.choices))
	for i := range a.choices {
		c := &a.choices[i]
		choices[i] = textChoice{Text: c.text(), Index: i, Reason: nilIfEmpty(c.reason)}
	}
	return marshal(struct {
		ID      string       `json:"id"`
		Object  string       `json:"object"`
		Created int64        `json:"created"`
		Model   string       `json:"model"`
		Choices []textChoice `json:"choices"`
		Usage   usage        `json:"usage"`
	}{a.id, "text_completion", a.created, a.model, choices, a.usage(a.out())})
}

package outcome

import (
	"bytes"

	"baton/engine/scan"
)

// Usage is what a vendor says an answer cost, in tokens. Cached is part of Input,
// Reasoning part of Output.
type Usage struct {
	Input, Cached, Output, Reasoning int
	// Has: there was a usage object at all.
	Has bool
}

// ChunkInfo is what one event of a stream says. Its slices alias the event.
type ChunkInfo struct {
	// Meaningful: worth showing a user, that is content, reasoning, a refusal or a tool call.
	// The first such event is the commit point.
	Meaningful bool
	// Reasoning: meaningful, but of reasoning only.
	Reasoning bool
	// Finish is the finish reason, the worst of several choices'; FinishWord as it was spelled.
	Finish     Finish
	FinishWord []byte
	// Error: the event is, or carries, an error object.
	Error bool
	// UsageOnly: a usage object and nothing of the answer, as asked for by include_usage:
	// choices are empty, null or left out.
	UsageOnly bool
	// Usage, if the event has any.
	Usage Usage
	// Content is the text of the first choice as a JSON string, quotes and escapes included; nil if none.
	Content []byte
	// Choices is how many choices there are, MaxIndex the largest index among them.
	Choices, MaxIndex int
	// Heard, Said and Ended are the indexes of the choices in it, of those that said something
	// worth showing, and of those with a finish reason. One without an index has its place's.
	Heard, Said, Ended Choices
	// Completed: the Responses API's event that ends a stream well, response.completed or response.incomplete.
	Completed bool
}

// Chunk reads one event's data, of a stream of chat completions, completions or
// responses. ok is false if it is no JSON object; [DONE] is none. It does not allocate.
func Chunk(data []byte) (c ChunkInfo, ok bool) {
	r := reader{cur: scan.NewCursor(data)}
	if !r.cur.Enter('{') {
		return ChunkInfo{}, false
	}
	r.root(&c)
	if !r.cur.End() {
		return ChunkInfo{}, false
	}
	r.conclude(&c)
	return c, true
}

// reader walks one answer, whole or a piece of it, and keeps what has to be
// decided at its end, because members come in any order.
type reader struct {
	cur scan.Cursor // by value: a pointer would put it on the heap

	typ       []byte // "response.output_text.delta"
	delta     []byte // the Responses API's
	object    []byte // "chat.completion.chunk", "error"
	code      []byte
	status    []byte // of a response
	why       []byte // incomplete_details.reason
	itemType  []byte
	hasOutput bool // response.output is an array
	message   bool // a top-level message, as flat errors have
	choices   bool // there is a choices array
	data      bool // there is a data array
	rows      int  // in it
}

func (r *reader) root(c *ChunkInfo) {
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		switch string(key) {
		case "choices":
			r.choiceList(c)
		case "usage":
			r.usage(&c.Usage)
		case "error":
			c.Error = c.Error || isError(r.cur.Skip())
		case "type":
			r.typ = r.text()
		case "delta":
			if r.cur.Peek() == '"' {
				r.delta = r.cur.Skip()
			} else {
				r.cur.Skip()
			}
		case "object":
			r.object = r.text()
		case "code":
			r.code = r.cur.Skip()
		case "message", "msg":
			r.message = r.cur.Peek() == '"'
			r.cur.Skip()
		case "status":
			r.status = r.text()
		case "data":
			r.dataList()
		case "output":
			r.output(c)
		case "response", "x_groq":
			r.nested(c)
		case "item":
			r.item()
		case "incomplete_details":
			r.details()
		default:
			r.cur.Skip()
		}
	}
}

// nested reads an object that holds a response, or Groq's x_groq with its usage.
func (r *reader) nested(c *ChunkInfo) {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return
	}
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		switch string(key) {
		case "usage":
			r.usage(&c.Usage)
		case "error":
			c.Error = c.Error || isError(r.cur.Skip())
		case "status":
			r.status = r.text()
		case "incomplete_details":
			r.details()
		default:
			r.cur.Skip()
		}
	}
}

// output is an array in the Responses API; in DashScope's native shape it is an object with the choices in it.
func (r *reader) output(c *ChunkInfo) {
	switch r.cur.Peek() {
	case '[':
		r.hasOutput = true
	case '{':
		r.cur.Enter('{')
		for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
			switch string(key) {
			case "choices":
				r.choiceList(c)
			case "text":
				r.choices = true
				c.Heard.Add(0)
				if nonEmpty(r.cur.Skip()) {
					c.Meaningful = true
					c.Said.Add(0)
				}
			case "finish_reason":
				if r.finish(c) {
					c.Heard.Add(0)
					c.Ended.Add(0)
				}
			default:
				r.cur.Skip()
			}
		}
		return
	}
	r.cur.Skip()
}

func (r *reader) choiceList(c *ChunkInfo) {
	if !r.cur.Enter('[') {
		r.cur.Skip()
		return
	}
	r.choices = true
	for r.cur.More() {
		c.Choices++
		r.choice(c, c.Choices == 1)
	}
}

func (r *reader) choice(c *ChunkInfo, first bool) {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return
	}
	index, said, ended := c.Choices-1, false, false
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		switch string(key) {
		case "delta", "message":
			said = r.spoken(c, first) || said
		case "text":
			v := r.cur.Skip()
			if nonEmpty(v) {
				said = true
				c.Meaningful, c.Reasoning = true, false
				if first {
					c.Content = v
				}
			}
		case "finish_reason":
			ended = r.finish(c) || ended
		case "index":
			index = number(r.cur.Skip())
			c.MaxIndex = max(c.MaxIndex, index)
		case "usage": // Moonshot puts it into the last choice
			r.usage(&c.Usage)
		case "error":
			c.Error = c.Error || isError(r.cur.Skip())
		default:
			r.cur.Skip()
		}
	}
	c.Heard.Add(index)
	if said {
		c.Said.Add(index)
	}
	if ended {
		c.Ended.Add(index)
	}
}

// spoken reads a delta or a message, and says whether there is anything in it.
func (r *reader) spoken(c *ChunkInfo, first bool) bool {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return false
	}
	said, thought := false, false
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		switch string(key) {
		case "content":
			v := r.cur.Skip()
			if nonEmpty(v) {
				said = true
				if first && v[0] == '"' {
					c.Content = v
				}
			}
		case "refusal", "tool_calls", "function_call", "audio":
			said = nonEmpty(r.cur.Skip()) || said
		case "reasoning_content", "reasoning", "reasoning_details":
			thought = nonEmpty(r.cur.Skip()) || thought
		default:
			r.cur.Skip()
		}
	}
	if said || thought {
		c.Reasoning = !said && (c.Reasoning || !c.Meaningful)
		c.Meaningful = true
	}
	return said || thought
}

// finish reads a finish reason, and says whether it is one. Of several choices' the
// worst counts.
func (r *reader) finish(c *ChunkInfo) bool {
	word := r.text()
	f := parseFinish(word)
	if f > c.Finish {
		c.Finish, c.FinishWord = f, word
	}
	return f != FinishNone
}

func (r *reader) item() {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return
	}
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		if string(key) == "type" {
			r.itemType = r.text()
			continue
		}
		r.cur.Skip()
	}
}

func (r *reader) details() {
	if !r.cur.Enter('{') {
		r.cur.Skip()
		return
	}
	for key, ok := r.cur.Key(); ok; key, ok = r.cur.Key() {
		if string(key) == "reason" {
			r.why = r.text()
			continue
		}
		r.cur.Skip()
	}
}

func (r *reader) dataList() {
	if !r.cur.Enter('[') {
		r.cur.Skip()
		return
	}
	r.data = true
	for r.cur.More() {
		r.cur.Skip()
		r.rows++
	}
}

// text consumes a value and returns a string's inside, as it stands; nil for anything else.
func (r *reader) text() []byte {
	v := r.cur.Skip()
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

// conclude draws what only all members together say.
func (r *reader) conclude(c *ChunkInfo) {
	if string(r.object) == "error" || string(r.typ) == "error" || string(r.typ) == "response.failed" {
		c.Error = true
	}
	// A flat error: {"code":20012,"message":"...","data":null}.
	if r.message && number(r.code) != 0 && !r.choices {
		c.Error = true
	}
	c.UsageOnly = c.Usage.Has && c.Choices == 0 && c.Finish == FinishNone && !c.Meaningful && !c.Error && len(r.typ) == 0
	if after, ok := bytes.CutPrefix(r.typ, []byte("response.")); ok {
		r.event(c, after)
	}
}

// event reads the name of one of the Responses API's events.
func (r *reader) event(c *ChunkInfo, name []byte) {
	switch {
	case bytes.HasSuffix(name, []byte(".delta")) && nonEmpty(r.delta):
		c.Meaningful = true
		c.Reasoning = bytes.HasPrefix(name, []byte("reasoning"))
		if string(name) == "output_text.delta" {
			c.Content = r.delta
		}
	case string(name) == "output_item.added" && bytes.HasSuffix(r.itemType, []byte("_call")):
		c.Meaningful = true
	case string(name) == "completed":
		c.Meaningful, c.Completed, c.Finish = true, true, FinishStop
	case string(name) == "incomplete":
		c.Meaningful, c.Completed, c.Finish = true, true, FinishLength
		if string(r.why) == "content_filter" {
			c.Finish = FinishFilter
		}
	case string(name) == "cancelled":
		c.Finish = FinishAborted
	}
	if c.FinishWord == nil && c.Finish != FinishNone {
		c.FinishWord = name
	}
}

// nonEmpty reports a value that is worth showing: not null, not "", [] or {}, not false or 0.
func nonEmpty(v []byte) bool {
	if len(v) == 0 {
		return false
	}
	switch v[0] {
	case '"':
		return len(v) > 2
	case '[', '{':
		for _, b := range v[1 : len(v)-1] {
			if b > ' ' {
				return true
			}
		}
	}
	return false
}

// isError reports an error member that is one: an object, or a string with something in it.
func isError(v []byte) bool {
	if len(v) > 0 && v[0] == '{' {
		return true
	}
	return nonEmpty(v) || number(v) != 0 || string(v) == "true"
}

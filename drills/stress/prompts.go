package stress

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// Prompt is one request's messages.
type Prompt struct {
	Messages  []Message
	MaxTokens int // 0: the plan's
}

// Message is one message of a chat. Content is a string or what vendors take in
// its place.
type Message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// Sets are the names of the built-in prompt sets.
func Sets() []string { return []string{"faq", "chat", "long"} }

// BuiltIn returns a built-in set: faq are questions of a line, chat has about 250
// tokens of context, long about 2,000. The same seed gives the same prompts.
func BuiltIn(set string, seed uint64) ([]Prompt, error) {
	words := 0
	switch set {
	case "faq":
	case "chat":
		words = 180
	case "long":
		words = 1500
	default:
		return nil, fmt.Errorf("prompt set %q: must be one of %s, or a file of JSON lines", set, strings.Join(Sets(), ", "))
	}
	rng := rand.New(rand.NewPCG(seed, 0x70726f6d))
	out := make([]Prompt, 64)
	for i := range out {
		text := questions[rng.IntN(len(questions))]
		if words > 0 {
			text = notes(rng, words) + "\n\n" + text
		}
		out[i] = Prompt{Messages: []Message{textMessage("user", text)}}
	}
	return out, nil
}

var questions = []string{
	"How do I reset my password?", "发票怎么开？", "Which regions do you serve?", "如何申请退款？",
	"What is the limit per key?", "怎么联系客服？", "Is there a free tier?", "账号怎么注销？",
}

var vocabulary = strings.Fields(`order refund invoice region server quota answer customer account address parcel delivery contract price
support ticket version release update request window engine latency budget report branch station harbour bridge market signal paper letter`)

// notes is text of so many words that means nothing and costs what such text costs.
func notes(rng *rand.Rand, words int) string {
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteString([]string{" ", " ", " ", " ", " ", ", ", ". "}[rng.IntN(7)])
		}
		b.WriteString(vocabulary[rng.IntN(len(vocabulary))])
	}
	return b.String() + "."
}

func textMessage(role, text string) Message {
	b, _ := json.Marshal(text) // a string always can be
	return Message{Role: role, Content: b}
}

const maxPromptLine = 4 << 20

// ReadPrompts reads JSON lines: {"prompt":"..."}, {"messages":[...]} or a line of a
// batch file, {"body":{"messages":[...]}}; each may have max_tokens. Its errors name the line.
func ReadPrompts(r io.Reader) ([]Prompt, error) {
	type line struct {
		Prompt    string    `json:"prompt"`
		Messages  []Message `json:"messages"`
		MaxTokens int       `json:"max_tokens"`
	}
	var out []Prompt
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxPromptLine)
	for n := 1; s.Scan(); n++ {
		if len(bytes.TrimSpace(s.Bytes())) == 0 {
			continue
		}
		var l struct {
			line
			Body *line `json:"body"`
		}
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("prompts, line %d: %w", n, err)
		}
		if l.Body != nil {
			l.line = *l.Body
		}
		if l.Prompt != "" {
			l.Messages = append(l.Messages, textMessage("user", l.Prompt))
		}
		if len(l.Messages) == 0 {
			return nil, fmt.Errorf(`prompts, line %d: has neither "prompt" nor "messages"`, n)
		}
		if l.MaxTokens < 0 {
			return nil, fmt.Errorf("prompts, line %d: max_tokens %d: must not be below 0", n, l.MaxTokens)
		}
		out = append(out, Prompt{Messages: l.Messages, MaxTokens: l.MaxTokens})
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("prompts: the file has none")
	}
	return out, nil
}

// tokens estimates the prompt's length: see estimate.
func (p *Prompt) tokens() int {
	n := 0
	for _, m := range p.Messages {
		n += estimate(m.Content) + 4 // what a message costs beside its text
	}
	return n
}

// estimate is a count of tokens where the vendor gives none: four bytes of ASCII or
// one and a half other characters each.
func estimate(text []byte) int {
	ascii, other := 0, 0
	for _, b := range text {
		switch {
		case b < 0x80:
			ascii++
		case b >= 0xc0: // the first byte of a character
			other++
		}
	}
	return max((ascii+3)/4+(other*2+2)/3, 1)
}

// body is the request for a prompt. mark is put before the first user's text: it
// makes the prompt one that no cache has seen; empty: the prompt as it is.
func (p *Prompt) body(model, mark string, maxTokens int, stream, usage bool) []byte {
	type options struct {
		IncludeUsage bool `json:"include_usage"`
	}
	req := struct {
		Model         string    `json:"model"`
		Messages      []Message `json:"messages"`
		MaxTokens     int       `json:"max_tokens"`
		Stream        bool      `json:"stream,omitempty"`
		StreamOptions *options  `json:"stream_options,omitempty"`
	}{Model: model, Messages: p.Messages, MaxTokens: maxTokens, Stream: stream}
	if stream && usage {
		req.StreamOptions = &options{IncludeUsage: true}
	}
	if mark != "" {
		first := p.Messages[0]
		var text string
		if json.Unmarshal(first.Content, &text) == nil {
			first = textMessage(first.Role, mark+text)
			req.Messages = append([]Message{first}, p.Messages[1:]...)
		} else { // parts instead of a text: a message before them
			req.Messages = append([]Message{textMessage("system", strings.TrimSpace(mark))}, p.Messages...)
		}
	}
	b, err := json.Marshal(req)
	if err != nil { // a message that is no JSON was refused when it was read
		return []byte("{}")
	}
	return b
}

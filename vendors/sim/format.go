package sim

import (
	"encoding/json"
	"strings"
)

// script writes one streamed answer in an endpoint's own events.
type script interface {
	open(s *sse)                // what comes before the first text
	delta(s *sse, from, to int) // the pieces from up to to, of every choice that has them
	close(s *sse)               // the finish reasons, the usage and the end mark
}

// answer is what will be said: one or more choices of the same request, and what they count.
type answer struct {
	id      string
	created int64
	model   string
	choices []choice
	in      int // prompt tokens
	cached  int
}

// choice is one alternative, in pieces of one token.
type choice struct {
	pieces []string
	reason string // stop, length or tool_calls
	tool   *call  // then the pieces are its arguments
	callID string
}

func (c *choice) text() string {
	return strings.Join(c.pieces, "")
}

// steps is the number of tokens of the longest choice: choices are written side by side.
func (a *answer) steps() int {
	n := 0
	for i := range a.choices {
		n = max(n, len(a.choices[i].pieces))
	}
	return n
}

// out is the number of tokens of all choices.
func (a *answer) out() int {
	return a.said(a.steps())
}

// said is the number of tokens written once every choice has written its first n.
func (a *answer) said(n int) int {
	sum := 0
	for i := range a.choices {
		sum += min(n, len(a.choices[i].pieces))
	}
	return sum
}

// slice is a choice's text from piece from up to to, "" beyond its end.
func (c *choice) slice(from, to int) string {
	to = min(to, len(c.pieces))
	if from >= to {
		return ""
	}
	if to-from == 1 {
		return c.pieces[from]
	}
	return strings.Join(c.pieces[from:to], "")
}

type promptDetails struct {
	Cached int `json:"cached_tokens"`
}

type usage struct {
	Prompt     int           `json:"prompt_tokens"`
	Completion int           `json:"completion_tokens"`
	Total      int           `json:"total_tokens"`
	Details    promptDetails `json:"prompt_tokens_details"`
}

func (a *answer) usage(out int) usage {
	return usage{Prompt: a.in, Completion: out, Total: a.in + out, Details: promptDetails{a.cached}}
}

// marshal encodes values of this package's own types, which always can be.
func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte("null")
	}
	return b
}

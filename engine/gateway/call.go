package gateway

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"baton/engine/affinity"
	"baton/engine/control"
	"baton/engine/ledger"
	"baton/engine/outcome"
	"baton/engine/scan"
)

// span is where a value lies in the body; the zero span is none.
type span struct{ at, n int }

// call is what a client asked for, as far as the gateway has to know.
type call struct {
	endpoint outcome.Endpoint
	path     string // beneath /v1, as it was escaped
	stream   bool
	flex     bool // service_tier: what is cheap may take its time
	bound    bool // belongs to one account: the primary's

	affinity     string // the member that names the conversation, "" none
	conversation uint64 // its hash, 0 none

	named  bool // there is a model
	model  string
	client string      // who asks, by name
	text   ledger.Text // of the question

	each                           int // n: how many answers to each prompt; 0 is one
	prompts                        int // of a completion; 0 is one
	modelAt, optionsAt, messagesAt span
	usageAsked                     bool // by the client, in stream_options
	usageAt                        span // of include_usage's value, if it is not true
	optionsNull                    bool // stream_options is null
	optionsEmpty                   bool
	messagesEmpty                  bool
	prefillable                    bool // a chat that another vendor could go on with
}

var endpoints = map[string]outcome.Endpoint{
	"/chat/completions": outcome.Chat,
	"/completions":      outcome.Completions,
	"/embeddings":       outcome.Embeddings,
	"/responses":        outcome.Responses,
}

// route finds the endpoint of a request under /v1/, and refuses methods that it
// does not have.
func (c *call) route(r *http.Request) (clientError, bool) {
	c.path = strings.TrimPrefix(r.URL.EscapedPath(), "/v1")
	c.endpoint = endpoints[c.path]
	c.bound = c.endpoint == outcome.Other
	switch {
	case c.endpoint != outcome.Other && r.Method != http.MethodPost:
		e := wrongMethod(r.Method, r.URL.Path)
		e.allow = "POST"
		return e, false
	case r.Method == http.MethodConnect, r.Method == http.MethodTrace, r.Method == http.MethodOptions:
		return wrongMethod(r.Method, r.URL.Path), false
	case climbs(r.URL.Path):
		return badRequest("the path %.200q climbs", r.URL.Path), false
	}
	return clientError{}, true
}

// climbs says whether an unescaped path has a segment that leads elsewhere.
func climbs(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == ".." || segment == "." {
			return true
		}
	}
	return false
}

// parse scans the body's top-level members. Only what baton knows is checked;
// the rest is between the client and the vendor.
func (c *call) parse(body []byte) error {
	var fault error
	err := scan.Object(body, func(key, value []byte, at int) bool {
		fault = c.member(string(key), value, at)
		return fault == nil
	})
	var syntax *scan.SyntaxError
	switch {
	case fault != nil:
		return fault
	case errors.As(err, &syntax):
		return fmt.Errorf("the body is not a JSON object: at byte %d, %s", syntax.Offset, syntax.What)
	case err != nil:
		return err
	case !c.named:
		return errors.New("the body has no model")
	}
	return nil
}

// member takes in one member of the body. Of two with one name the last counts.
func (c *call) member(key string, value []byte, at int) error {
	here := span{at, len(value)}
	switch key {
	case "model":
		name, err := scan.String(value)
		if err != nil {
			return fmt.Errorf("model: %w", err)
		}
		c.named, c.model, c.modelAt = true, name, here
	case "stream":
		c.stream = false
		if scan.IsNull(value) {
			return nil
		}
		on, err := scan.Bool(value)
		if err != nil {
			return fmt.Errorf("stream: %w", err)
		}
		c.stream = on
	case "service_tier":
		c.flex = string(value) == `"flex"`
	case "stream_options":
		if value[0] != '{' && !scan.IsNull(value) {
			return errors.New("stream_options: an object or null is expected")
		}
		c.options(value, here)
	case "previous_response_id":
		if c.endpoint == outcome.Responses && !scan.IsNull(value) {
			c.bound = true
		}
	case "messages":
		c.text.JSON(value)
		c.messagesAt = span{}
		if value[0] == '[' {
			c.messagesAt = here
			c.messagesEmpty = len(bytes.TrimSpace(value[1:len(value)-1])) == 0
		}
	case "n":
		c.each = 1
		if n, err := scan.Int(value); err == nil && n > 1 {
			c.each = int(min(n, mostChoices))
			c.prefillable = false
		}
	case "input", "instructions", "tools":
		c.text.JSON(value)
	case "prompt":
		c.text.JSON(value)
		c.prompts = 1
		if c.endpoint == outcome.Completions {
			c.prompts = countPrompts(value)
		}
	default:
		if c.affinity != "" && key == c.affinity {
			c.conversation = 0
			if value[0] == '"' {
				c.conversation = affinity.Key(value[1 : len(value)-1])
			}
		}
	}
	return nil
}

// mostChoices is more than any vendor gives at once; it keeps their product a number.
const mostChoices = 1 << 10

// choices is how many choices the answer has to have.
func (c *call) choices() int { return max(c.each, 1) * max(c.prompts, 1) }

// countPrompts counts the prompts of a completion: a list of strings or of lists of
// tokens is several, anything else, a list of tokens too, is one.
func countPrompts(value []byte) int {
	cur := scan.NewCursor(value)
	if !cur.Enter('[') {
		return 1
	}
	n := 0
	for cur.More() {
		if k := cur.Peek(); k != '"' && k != '[' {
			return 1
		}
		cur.Skip()
		if n++; n == mostChoices {
			break
		}
	}
	return max(n, 1)
}

// options reads stream_options.
func (c *call) options(value []byte, at span) {
	c.optionsAt, c.usageAsked, c.usageAt = at, false, span{}
	c.optionsNull = scan.IsNull(value)
	if c.optionsNull {
		return
	}
	c.optionsEmpty = true
	_ = scan.Object(value, func(key, v []byte, i int) bool {
		c.optionsEmpty = false
		if string(key) == "include_usage" {
			c.usageAsked = string(v) == "true"
			c.usageAt = span{at.at + i, len(v)}
		}
		return true
	})
}

// lane is who waits for the answer: what the request says, else its body, else
// the client's own lane.
func (c *call) lane(h http.Header, key *clientKey) (control.Lane, error) {
	if key != nil {
		c.client = key.name
	}
	if word := h.Get(headerLane); word != "" {
		lane, ok := control.ParseLane(strings.ToLower(strings.TrimSpace(word)))
		if !ok {
			return 0, fmt.Errorf("%s is %.40q; it is interactive or batch", headerLane, word)
		}
		return lane, nil
	}
	if c.flex {
		return control.Batch, nil
	}
	if key != nil {
		return key.lane, nil
	}
	return control.Interactive, nil
}

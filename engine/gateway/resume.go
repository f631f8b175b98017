package gateway

import (
	"bytes"
	"strconv"

	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/scan"
	"baton/engine/sse"
)

// continuation is what it takes to go on with an interrupted stream at another
// vendor: the text that the client has, which becomes the beginning of the
// assistant's message there, and the names under which the client knows the answer.
type continuation struct {
	wanted  bool   // the text is kept
	running bool   // another vendor goes on
	said    []byte // as the inside of a JSON string: pieces of such strings make one
	heard   bool
	broke   outcome.Result // how the first answer ended: the client hears of that, and not of how others refuse to go on
	known   [3][]byte      // id, created, model of the first answer, as JSON
	out     []byte

	spent  outcome.Usage // of the attempts that broke, as far as they said
	silent bool          // one of them did not say
	noted  bool          // the client knows of it
}

var knownNames = [3]string{"id", "created", "model"}

// maxSaid is the longest text that is continued, in bytes.
const maxSaid = 1 << 20

// prepare decides whether the request's answer could be continued elsewhere.
func (q *request) prepareResume() {
	q.resume.wanted = q.st.resumes && q.stream && q.endpoint == outcome.Chat && q.lane == control.Interactive &&
		q.prefillable && q.messagesAt.n > 0 && !q.noMove && !q.bound
}

// resumable passes on an event of a stream that may have to be continued, or that continues one.
func (a *attempt) resumable(ev *sse.Event, c *outcome.ChunkInfo) bool {
	r := &a.q.resume
	if !r.running {
		a.emit(ev)
		r.hear(ev.Data, c)
		return !a.lost && a.err == nil
	}
	if !c.Meaningful && c.Finish == outcome.FinishNone && !c.UsageOnly {
		return true // the role is known
	}
	if c.Usage.Has && r.silent && !r.noted && a.q.usageAsked {
		r.noted = true
		a.emitRaw(partialUsage)
	}
	a.emitRaw(r.renamed(ev.Data))
	r.hear(ev.Data, c)
	return !a.lost && a.err == nil
}

// hear keeps the text of an event. Tool calls and several choices are not continued.
func (r *continuation) hear(data []byte, c *outcome.ChunkInfo) {
	if !r.heard && c.Meaningful { // what came before it may be of an attempt that failed
		r.heard = true
		for i, name := range knownNames {
			r.known[i] = bytes.Clone(scan.Get(data, name))
		}
	}
	switch {
	case !r.wanted || !c.Meaningful:
	case c.Choices > 1 || c.MaxIndex > 0 || len(r.said) > maxSaid:
		r.wanted = false
	case len(c.Content) > 2:
		r.said = append(r.said, c.Content[1:len(c.Content)-1]...)
	case !c.Reasoning:
		r.wanted = false
	}
}

// renamed is the event with the first answer's id, time and model: to the client it is one answer.
func (r *continuation) renamed(data []byte) []byte {
	var edits [8]scan.Edit
	n := 0
	_ = scan.Object(data, func(key, value []byte, at int) bool {
		if string(key) == "usage" && r.spent.Has && len(value) > 0 && value[0] == '{' {
			n = r.summed(value, at, edits[:], n)
		}
		for i, name := range knownNames {
			if string(key) == name && r.known[i] != nil && n < len(edits) {
				edits[n] = scan.Replace(at, len(value), r.known[i])
				n++
			}
		}
		return true
	})
	r.out = append(r.out[:0], "data: "...)
	r.out = scan.Splice(r.out, data, edits[:n]...)
	r.out = append(r.out, "\n\n"...)
	return r.out
}

// partialUsage is a comment, which clients skip and people find.
var partialUsage = []byte(": usage is of the continuation alone: the attempt that was interrupted had not said its own\n\n")

// summed makes the edits that add what the broken attempts spent to a usage object,
// which begins at at. Their input was read and billed, too.
func (r *continuation) summed(usage []byte, at int, edits []scan.Edit, n int) int {
	_ = scan.Object(usage, func(key, value []byte, i int) bool {
		more := 0
		switch string(key) {
		case "prompt_tokens", "input_tokens":
			more = r.spent.Input
		case "completion_tokens", "output_tokens":
			more = r.spent.Output
		case "total_tokens":
			more = r.spent.Input + r.spent.Output
		}
		if own, err := scan.Int(value); err == nil && more > 0 && n < len(edits) {
			edits[n] = scan.Replace(at+i, len(value), strconv.AppendInt(nil, own+int64(more), 10))
			n++
		}
		return true
	})
	return n
}

// spend takes in what a broken attempt said that it cost.
func (r *continuation) spend(u outcome.Usage) {
	if !u.Has {
		r.silent = true
		return
	}
	r.spent.Has = true
	r.spent.Input += u.Input
	r.spent.Output += u.Output
}

// goOn prepares the continuation of an answer that broke after its commit point; false if it cannot be continued.
func (q *request) goOn(a *attempt) bool {
	r, res := &q.resume, &a.result
	switch {
	case !r.wanted, len(r.said) == 0, a.finish != "", q.left(), q.overdue():
		return false
	case q.counted >= max(q.routing().Attempts, 1):
		return false
	case res.Outcome == outcome.ContentFilter:
		return false
	case !r.running && res.Outcome == outcome.ClientFault:
		return false
	}
	if !r.running {
		r.broke = *res
	}
	r.running = true
	r.spend(a.usage)
	q.refused = refused{}
	return true
}

// edit makes the edits that have a vendor go on where the text ends.
func (r *continuation) edit(e *edits, c *call, spelled outcome.Prefill, brace int) {
	message := make([]byte, 0, len(r.said)+80)
	if !c.messagesEmpty {
		message = append(message, ',')
	}
	message = append(append(message, `{"role":"assistant","content":"`...), r.said...)
	message = append(message, '"')
	if spelled.Message != "" {
		message = append(append(message, ','), spelled.Message...)
	}
	message = append(message, '}')
	end := c.messagesAt.at + c.messagesAt.n - 1
	e.add(scan.Edit{From: end, To: end, With: message})
	if spelled.Request != "" {
		e.add(scan.Edit{From: brace + 1, To: brace + 1, With: append([]byte(spelled.Request), ',')})
	}
}

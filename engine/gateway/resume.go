package gateway

import (
	"bytes"

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
	var edits [3]scan.Edit
	n := 0
	_ = scan.Object(data, func(key, value []byte, at int) bool {
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

package outcome

import (
	"context"
	"errors"
	"io"
	"strings"
)

// Classify says what an attempt came to. It looks, in this order, at: an answer
// that was whole; who left; which of our clocks fired; the vendor's error, by its
// dialect; the transport's; and last at what is missing.
func Classify(a Attempt) Result {
	d := a.Dialect
	if d == nil {
		d = &plain
	}
	res := Result{Status: a.Status, Clock: a.Clock}
	good := a.Status == 0 || a.Status >= 200 && a.Status < 300
	e := refusal{}
	if !good || len(a.Body) > 0 {
		e = readRefusal(a.Body)
	}
	res.RequestID = requestID(a, d, &e)
	finish := ParseFinish(a.Finish)
	whole := good && a.Status != 0 && a.Reason == "" && (a.Complete || finish.Good())
	switch {
	case whole && !e.found:
		// Even if then the client left or the connection broke: there was nothing more to come.
		res.Clock = NoClock
		return res
	case a.ClientGone:
		res.settle(a, Cancelled, "client_cancel", "the client left")
	case !good && a.Clock != DeadlineClock:
		res.refused(a, d, &e) // a clock that fired over the rest of its body changes nothing
	case a.Clock != NoClock:
		res.clock(a)
	case e.found:
		res.refused(a, d, &e)
	case a.Status == 0 && a.Reason != "":
		res.settle(a, Ours, a.Reason, "the attempt could not be made: "+a.Reason)
	case broken(a):
		res.transport(a)
	default:
		res.missing(a, finish, &e)
	}
	return res
}

// broken reports that the transport has the last word. A bare io.EOF is the end of
// the body, a wrapped one a broken connection; the caller's verdict is more precise
// than the error that came of it, unless somebody of ours cancelled the attempt.
func broken(a Attempt) bool {
	if a.Err == nil || a.Err == io.EOF { //nolint:errorlint // see above
		return false
	}
	return a.Reason == "" || errors.Is(a.Err, context.Canceled)
}

// settle writes a class and what follows from it.
func (res *Result) settle(a Attempt, c Class, reason, message string) {
	f := effects[c]
	res.Class, res.Outcome, res.Reason = c, f.outcome, reason
	res.Message = Scrub(message)
	res.Limit, res.Account, res.Scope = f.limit, f.account, f.scope
	res.Overload = c == Overload
	if a.Committed {
		return // whatever it was, the client has half an answer
	}
	res.RetrySame, res.Move = f.retrySame, f.move
	res.LargerContext = c == ContextOverflow
	res.Filter = c == Filtered
}

func (res *Result) clock(a Attempt) {
	reason := a.Clock.reason()
	switch {
	case a.Clock == DeadlineClock && !a.HadTime:
		res.settle(a, Ours, reason, "the request's deadline passed")
	case a.Clock == DeadlineClock:
		res.settle(a, Timeout, reason, "the request's deadline passed while the vendor had time enough")
		res.Move = false // there is none left
	case a.Clock == ConnectClock:
		res.settle(a, Timeout, reason, "no connection in time")
		res.Connect = true
	default:
		res.settle(a, Timeout, reason, "nothing came within the "+strings.ReplaceAll(a.Clock.String(), "_", " ")+" time")
	}
}

// refused reads the vendor's own word for it.
func (res *Result) refused(a Attempt, d *Dialect, e *refusal) {
	status := a.Status
	inside := status < 300 // an error where an answer should have been: as if its status had been that error
	if inside {
		status = e.status
	}
	class, scope := classOf(d, status, e)
	if a.Offered && unexplained(d, status, class, e) {
		class, scope = BadPath, nil
	}
	if inside {
		if status == 0 {
			status = effects[class].status
		}
		res.Status = status
	}
	res.settle(a, class, reasonOf(d, class, e), messageOf(class, status, e))
	res.Type, res.Code = e.typ, e.code
	if scope != nil {
		res.Scope = *scope
	} else if res.Outcome == RateLimited {
		res.Scope = d.LimitScope
	}
	if res.Outcome == RateLimited || res.Outcome == VendorFault {
		res.RetryAfter, res.HasRetryAfter = retryAfter(a, e.message)
	}
	if class == BadRequest {
		res.RefusesUsage = contains(e.message, "stream_options") || contains(e.message, "include_usage")
		res.RefusesPrefill = refusesPrefill(e.message)
	}
}

// refusesPrefill recognises the ways in which vendors decline to continue an
// assistant's message.
func refusesPrefill(message string) bool {
	for _, part := range []string{"prefill", "last message", "continue_final_message", "add_generation_prompt", "partial", "prefix"} {
		if contains(message, part) {
			return true
		}
	}
	return false
}

// reasonOf is the vendor's code where that says something, else its type, else our word.
func reasonOf(d *Dialect, c Class, e *refusal) string {
	word := func(s string) bool {
		return s != "" && len(s) <= 64 && !strings.ContainsAny(s, " \t\r\n") && s != "unknown_error"
	}
	switch {
	case e.html && c != Auth && c != Permission:
		return "html_body"
	case c == BadPath:
		return c.String()
	case word(e.code) && !d.CodesAreNoise && !isHTTPStatus(e.code):
		return e.code
	case d.CodesAreNoise:
		return c.String()
	case word(e.typ):
		return e.typ
	}
	return c.String()
}

// isHTTPStatus recognises a code that only repeats the status, as vLLM and OpenRouter have it.
func isHTTPStatus(code string) bool {
	return len(code) == 3 && (code[0] == '4' || code[0] == '5')
}

func messageOf(c Class, status int, e *refusal) string {
	switch {
	case e.message != "":
		return e.message
	case status != 0:
		return "status " + itoa(status) + " without a message"
	}
	return c.String()
}

func itoa(n int) string {
	var b [8]byte
	i := len(b)
	for ; n > 0 && i > 0; n /= 10 {
		i--
		b[i] = byte('0' + n%10)
	}
	return string(b[i:])
}

// missing judges an answer that ended by itself, with a good status, and is not whole.
func (res *Result) missing(a Attempt, finish Finish, e *refusal) {
	switch {
	case finish == FinishNoResource:
		res.settle(a, Overload, finish.String(), "the vendor cut the answer for want of capacity")
	case finish.Bad():
		res.settle(a, Broken, "finish_"+word(a.Finish), "the answer ended with finish reason "+word(a.Finish))
	case e.html:
		res.settle(a, Broken, "html_body", e.message)
	case a.Reason != "":
		res.settle(a, Broken, a.Reason, "the answer is not what it should be: "+a.Reason)
	case a.Status == 0:
		res.settle(a, Ours, "no_answer", "the attempt ended without an answer and without an error")
	default:
		res.settle(a, Broken, "truncated", "the answer ended before it was finished")
	}
}

// word makes a vendor's word safe to show and to count by.
func word(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return -1
	}, s)
}

func requestID(a Attempt, d *Dialect, e *refusal) string {
	if a.Header != nil {
		for _, names := range [][]string{d.RequestID, plain.RequestID} {
			for _, name := range names {
				if id := a.Header(name); id != "" {
					return clean(id)
				}
			}
		}
	}
	if e.requestID != "" {
		return clean(e.requestID)
	}
	return clean(idIn(e.message))
}

// clean keeps an id to what ids are made of.
func clean(id string) string {
	if len(id) > 128 {
		id = id[:128]
	}
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' {
			return -1
		}
		return r
	}, id)
}

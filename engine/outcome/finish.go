package outcome

// Finish is a finish reason.
type Finish uint8

// The finish reasons. Those up to FinishFilter end a good answer.
const (
	FinishNone         Finish = iota // none, null, or the string "null" (DashScope while it runs)
	FinishStop                       // stop
	FinishLength                     // length
	FinishToolCalls                  // tool_calls
	FinishFunctionCall               // function_call
	FinishFilter                     // content_filter
	FinishNoResource                 // insufficient_system_resource: DeepSeek cut it for want of capacity
	FinishError                      // error: OpenRouter, beside an error object
	FinishAborted                    // aborted, cancelled
	FinishOther                      // a word that is none of these
)

var finishWords = [...]string{
	"", "stop", "length", "tool_calls", "function_call", "content_filter",
	"insufficient_system_resource", "error", "aborted", "other",
}

// String returns the reason as it is on the wire.
func (f Finish) String() string {
	if int(f) < len(finishWords) {
		return finishWords[f]
	}
	return "unknown"
}

// Good reports that the reason ends an answer that is a success.
func (f Finish) Good() bool { return f >= FinishStop && f <= FinishFilter }

// Bad reports a reason that ends a failed answer.
func (f Finish) Bad() bool { return f > FinishFilter }

// fault is the reason of an answer that a bad finish reason spoilt.
func (f Finish) fault() string {
	switch f {
	case FinishNoResource:
		return "insufficient_system_resource"
	case FinishError:
		return "finish_error"
	case FinishAborted:
		return "finish_aborted"
	}
	return "finish_unknown"
}

// ParseFinish returns the finish reason that s spells.
func ParseFinish(s string) Finish { return parseFinish([]byte(s)) }

func parseFinish(s []byte) Finish {
	switch string(s) {
	case "", "null":
		return FinishNone
	case "cancelled":
		return FinishAborted
	case "sensitive": // Zhipu, whose words these three are
		return FinishFilter
	case "network_error":
		return FinishError
	case "model_context_window_exceeded":
		return FinishLength
	}
	for i, w := range finishWords {
		if string(s) == w && Finish(i) != FinishOther {
			return Finish(i)
		}
	}
	return FinishOther
}

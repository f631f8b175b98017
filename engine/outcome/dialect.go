package outcome

// Class is what a refusal or failure means, finer than an [Outcome].
type Class uint8

// The classes. How each is acted on stands in effects.
const (
	Unclassed       Class = iota
	Rate                  // requests over time
	RateSlope             // the rate grew too fast
	RateTokens            // tokens over time, or a plan's quota that refills
	RateConcurrency       // requests at once
	Overload              // the vendor has too much to do, whoever asks
	Server                // 5xx and its like
	Timeout               // the vendor's own, or ours on it
	Connection            // refused, reset, name or certificate wrong
	Broken                // truncated, not JSON, not what was asked for
	Auth                  // the key is wrong
	Billing               // a bill is open, a balance or free quota used up
	Permission            // the key or account may not
	BadModel              // unknown, closed or unusable here
	BadPath               // the vendor has no such endpoint, or not at this base URL
	BadRequest            // the request is wrong
	ContextOverflow       // the prompt is longer than the model's context here
	TooLarge              // the body is
	Filtered              // refused for its content
	Cancelled             // the client left
	Ours                  // our own mistake or deadline
	classes
)

var classWords = [classes]string{
	"", "rate_limited", "burst_rate", "token_rate", "concurrency", "overloaded", "server_error", "timeout",
	"connection", "broken_answer", "invalid_key", "billing", "permission", "model_not_found", "path_not_found", "bad_request",
	"context_length", "too_large", "content_filter", "client_cancel", "gateway",
}

// String returns the class's word; it is the reason of a result whose vendor gave none.
func (c Class) String() string {
	if c < classes {
		return classWords[c]
	}
	return "unknown"
}

// Rule maps an error to its class. What is empty matches everything; what is given
// must match, all of it. Letters' case does not matter.
type Rule struct {
	// Status is the HTTP status, or the one an error inside a 200 carries.
	Status int
	// Code is the error's code or type, whole; with a trailing * a prefix. Numbers match as their digits.
	Code string
	// Message is a part of the error's message.
	Message string

	Class Class
	// Scope, if not nil, is narrower or wider than the class's own.
	Scope *Scope
}

// Dialect is what is particular about a vendor's wire, as data.
type Dialect struct {
	Name string
	// Rules are tried in order before the common ones; the first that matches wins.
	Rules []Rule
	// CodesAreNoise: code says nothing, so that it is neither matched nor a reason.
	CodesAreNoise bool
	// LimitScope is for whom rates are counted.
	LimitScope Scope
	// RequestID names the headers that may hold the vendor's request id, best first.
	RequestID []string
	// AuthHeader and AuthPrefix spell the key: "Authorization" and "Bearer ".
	AuthHeader, AuthPrefix string
	// Prefill is how an assistant's message is marked as one to be continued.
	Prefill Prefill
}

// Prefill spells the continuation of an assistant's last message: members of that
// message and of the request, as JSON without braces; both empty: plain, the last
// message of role assistant is continued as it stands.
type Prefill struct {
	Message string // e.g. "partial":true
	Request string // e.g. "continue_final_message":true,"add_generation_prompt":false
	// BasePath, if not empty, stands in the place of base_url's path for such requests.
	BasePath string
}

// plain is the dialect of those who gave none.
var plain = Dialect{
	Name: "openai", LimitScope: ScopeKey, RequestID: []string{"X-Request-Id", "Request-Id", "X-Generation-Id", "X-Trace-Id", "Cf-Ray"},
	AuthHeader: "Authorization", AuthPrefix: "Bearer ",
}

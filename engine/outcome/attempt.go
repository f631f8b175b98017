package outcome

import "time"

// Phase is how far an attempt had come when it ended.
type Phase uint8

// The phases of an attempt, in order. Whole is the wait for an answer that is not
// streamed, headers and body together.
const (
	Connect    Phase = iota // no connection yet: nothing was sent
	Header                  // sent, no status yet
	FirstToken              // a status, nothing worth showing yet
	Body                    // after the commit point
	WholeBody               // waiting for a whole answer
)

var phaseWords = [...]string{"connect", "header", "first_token", "body", "whole"}

func (p Phase) String() string {
	if int(p) < len(phaseWords) {
		return phaseWords[p]
	}
	return "unknown"
}

// Clock is one of our own clocks that ended an attempt.
type Clock uint8

// The clocks; design: [timeouts] in the configuration, and gateway.deadline.
const (
	NoClock Clock = iota
	ConnectClock
	HeaderClock
	FirstTokenClock
	IdleClock
	WholeClock
	DeadlineClock // the request's, over all its attempts
)

var clockWords = [...]string{"", "connect", "header", "first_token", "idle", "whole", "deadline"}

// String returns the clock's word, empty for NoClock.
func (c Clock) String() string {
	if int(c) < len(clockWords) {
		return clockWords[c]
	}
	return "unknown"
}

// reason is the word of a result that the clock ended.
func (c Clock) reason() string {
	if c == DeadlineClock {
		return "deadline"
	}
	return c.String() + "_timeout"
}

// Attempt is what is known of one try at one vendor when it has ended.
type Attempt struct {
	Phase Phase
	// Err is the transport's error or the body's; nil or io.EOF if the answer ended by itself.
	Err error
	// Clock is the one of our clocks that cancelled the attempt, from context.Cause.
	Clock Clock
	// HadTime is read with DeadlineClock only: the vendor had as long as its own clock of
	// this phase allows, so that it is its fault and not ours that the deadline passed.
	HadTime bool
	// ClientGone: the client left, and that ended the attempt.
	ClientGone bool
	// Status is the vendor's HTTP status, 0 if none came.
	Status int
	// Offered: the endpoint is one that every vendor should have. A 404 or 405 there that
	// names nothing of the request's is no mistake of the client's.
	Offered bool
	// Header returns a header of the answer; nil if none came. http.Header's Get fits.
	Header func(name string) string
	// Body is an error's body, or the data of the event that was an error, or the start of
	// an answer that is not what it should be; nil of a good answer. 64 KiB are plenty.
	Body []byte
	// Streaming: a stream was asked for.
	Streaming bool
	// Committed: something of the answer has been sent to the client.
	Committed bool
	// Finish is the finish reason that was seen, as the vendor spelled it.
	Finish string
	// Complete: the answer is whole and of the right shape though there is no finish reason:
	// embeddings, response.completed, anything that is passed through.
	Complete bool
	// Reason is the caller's own verdict on an answer with a good status, such as "not_json".
	// It makes the attempt a vendor fault, if nothing more precise is known. With no status
	// it says why the request could not be made, and that is a gateway fault.
	Reason string
	// Now is for Retry-After in the form of a date; the zero time ignores dates.
	Now time.Time
	// Dialect is the vendor's; nil is plain OpenAI.
	Dialect *Dialect
}

// LimitClass says what a vendor counts when it says that there is too much of it.
type LimitClass uint8

// The kinds of limits.
const (
	LimitNone        LimitClass = iota
	LimitRPS                    // requests over time
	LimitSlope                  // the rate grew too fast
	LimitTokens                 // tokens over time, plans and quotas that refill
	LimitConcurrency            // requests at once
)

var limitWords = [...]string{"", "requests", "slope", "tokens", "concurrency"}

func (l LimitClass) String() string {
	if int(l) < len(limitWords) {
		return limitWords[l]
	}
	return "unknown"
}

// Scope is how much of a vendor a result speaks of.
type Scope uint8

// The scopes, from the widest. A model is meant at that vendor, whichever the key.
const (
	ScopeVendor Scope = iota
	ScopeKey
	ScopeModel
)

var scopeWords = [...]string{"vendor", "key", "model"}

func (s Scope) String() string {
	if int(s) < len(scopeWords) {
		return scopeWords[s]
	}
	return "unknown"
}

// Result is what an attempt came to, and what may be done about it.
type Result struct {
	Outcome Outcome
	// Reason is one word for people and logs: the vendor's code, or our own, such as
	// "header_timeout", "connection_refused", "truncated". Empty when all is well.
	Reason string
	// Message is the vendor's, scrubbed ([Scrub]); ours if it sent none.
	Message string
	// Type and Code are as the vendor spelled them, for the client's error.
	Type, Code string
	// Status is the vendor's; of an error inside a 200, the status it would have had. 0: none.
	Status int
	// Class is the finer word behind the outcome.
	Class Class

	// Connect: the connection could not be made, nothing was sent.
	Connect bool
	// RetrySame: one more try at the same vendor may help.
	RetrySame bool
	// Move: another vendor may take the request, without conditions.
	Move bool
	// LargerContext: only a vendor whose context is larger may take it. Move is false then.
	LargerContext bool
	// Filter: another vendor may take it only where failover_on_filter says so. Move is false then.
	Filter bool

	// RetryAfter is how long the vendor asked to be left alone, 0 to MaxRetryAfter; HasRetryAfter: it asked.
	RetryAfter    time.Duration
	HasRetryAfter bool
	// Limit and Scope say of RateLimited what is counted and for whom. Scope says of
	// AccountFault and ConfigFault what is to be disabled.
	Limit LimitClass
	Scope Scope
	// Account of an AccountFault: "auth", "billing" or "permission".
	Account string
	// Overload: a vendor fault of one that is well but has too much to do.
	Overload bool
	// RefusesUsage: the vendor does not know stream_options; ask again without.
	RefusesUsage bool
	// RefusesPrefill: the vendor does not continue an assistant's message.
	RefusesPrefill bool

	// RequestID is the vendor's, from a header or the body.
	RequestID string
	// Clock is the one that fired.
	Clock Clock
}

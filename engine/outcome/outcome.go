// Package outcome says how an attempt at a vendor ended, once, for everybody.
//
// Health, latency, cost, the journal and the console all read the one [Result]
// that [Classify] makes of an [Attempt]. What is particular about a vendor comes
// in as a [Dialect], which is data: rules from (status, code, type, message) to a
// [Class], tried before the rules that hold everywhere.
//
//	info, ok := outcome.Chunk(event.Data)       // per event: worth showing? finished? usage?
//	whole := outcome.Whole(outcome.Chat, body)  // the same of a whole answer
//	res := outcome.Classify(outcome.Attempt{...})
//
// The package is pure: no clock, no lock, no network. It holds nothing, so any
// number of goroutines may use it. It decides what happened and what may be done
// about it; doing it (retrying, moving, ejecting) is the caller's.
package outcome

// Outcome is how an attempt ended. Its string is the word used in JSON,
// metrics and the console.
type Outcome uint8

// The outcomes, in the order in which they are listed everywhere.
const (
	OK            Outcome = iota
	VendorFault           // the vendor failed: 5xx, broken or silent connection, truncated or unreadable answer, overload
	RateLimited           // the vendor says that the rate, tokens or concurrency are over a limit
	ClientFault           // the request itself is wrong
	ClientCancel          // the client left
	AccountFault          // key, bill or permission
	ConfigFault           // the model is unknown at that vendor
	ContentFilter         // refused for its content
	GatewayFault          // our own mistake or our own deadline before the vendor had its time
	count
)

// Count is the number of outcomes; arrays indexed by Outcome have this length.
const Count = int(count)

var words = [Count]string{
	"ok", "vendor_fault", "rate_limited", "client_fault", "client_cancel",
	"account_fault", "config_fault", "content_filter", "gateway_fault",
}

// String returns the outcome's word, "vendor_fault" for example.
func (o Outcome) String() string {
	if int(o) < Count {
		return words[o]
	}
	return "unknown"
}

// Parse returns the outcome whose word is s.
func Parse(s string) (Outcome, bool) {
	for i, w := range words {
		if w == s {
			return Outcome(i), true
		}
	}
	return 0, false
}

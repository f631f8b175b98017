package stress

import (
	"time"

	"baton/engine/outcome"
)

// none is a moment that never came.
const none = time.Duration(-1)

// sample is one request and what became of it. Moments count from the run's start.
type sample struct {
	due  time.Duration // when it should have been sent; in a closed loop, when its worker was free
	sent time.Duration
	head time.Duration // the answer's header
	// first is the first event worth showing, reasoning included; answer the first that is not
	// reasoning; last the last of either. Of a whole answer all three are its end.
	first, answer, last time.Duration
	end                 time.Duration

	measured  bool
	result    outcome.Outcome
	class     outcome.Class
	limit     outcome.LimitClass
	scope     outcome.Scope
	reason    string // the vendor's word for a failure
	message   string
	retry     time.Duration // Retry-After
	announced string        // a header that names a limit

	in, cached, out int
	estimated       bool // tokens: the vendor gave no usage
	chunks          int
	burst           bool // the stream came all at once
	reused          bool
	connect         time.Duration // name, connection and TLS; 0 of a reused one
	second          int           // of the measured window: the block of a bootstrap
	cost            float64
}

func (s *sample) ok() bool      { return s.result == outcome.OK }
func (s *sample) refused() bool { return s.result == outcome.RateLimited }

// ms is from one moment to another in milliseconds; false if either never came.
func ms(from, to time.Duration) (float64, bool) {
	if from == none || to == none {
		return 0, false
	}
	return (to - from).Seconds() * 1e3, true
}

// perToken is the time per token after the first, in ms: (last - first)/(tokens - 1).
// There is none of an answer of one token, nor of one that came all at once.
func (s *sample) perToken() (float64, bool) {
	d, ok := ms(s.first, s.last)
	if !ok || s.out < 2 || s.burst {
		return 0, false
	}
	return d / float64(s.out-1), true
}

// metric is one latency of a sample, in ms.
type metric func(s *sample) (float64, bool)

func fromDue(at func(*sample) time.Duration) metric {
	return func(s *sample) (float64, bool) { return ms(s.due, at(s)) }
}

func fromSent(at func(*sample) time.Duration) metric {
	return func(s *sample) (float64, bool) { return ms(s.sent, at(s)) }
}

func firstAt(s *sample) time.Duration  { return s.first }
func answerAt(s *sample) time.Duration { return s.answer }
func lastAt(s *sample) time.Duration   { return s.last }

var (
	firstToken   = fromDue(firstAt)
	firstAnswer  = fromDue(answerAt)
	total        = fromDue(lastAt)
	firstService = fromSent(firstAt)
	totalService = fromSent(lastAt)
	scheduleLag  = metric(func(s *sample) (float64, bool) { return ms(s.due, s.sent) })
)

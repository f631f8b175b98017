package limit

import "time"

// meter measures what limits on tokens and on attempts in flight are converted by,
// and the tokens that went between refusals.
type meter struct {
	tokens  float64 // of an answer, on average
	seconds float64 // from begin to end, on average
	n       int     // answers in the averages

	first, last    time.Time // refusals for tokens
	bursts         int       // of refusals, more than a second apart
	spent, spentAt float64   // tokens answered since first; and as they were at last
	since          time.Time // of the last burst
}

const (
	meterMean  = 100              // answers in an average
	meterLong  = 15 * time.Second // of refusals that tell a rate of tokens
	meterGap   = 90 * time.Second // between two of them
	meterBurst = 3                // bursts of them
)

func (m *meter) answered(took time.Duration, e *Ending) {
	if !e.Answered {
		return
	}
	m.n = min(m.n+1, meterMean)
	part := 1 / float64(m.n)
	if s := took.Seconds(); s >= 0 && s < longest.Seconds()*60 {
		m.seconds += part * (s - m.seconds)
	}
	m.tokens += part * (float64(max(e.Tokens, 0)) - m.tokens)
	m.spent += float64(max(e.Tokens, 0))
}

func (m *meter) refused(now time.Time, class Class) {
	if class != Tokens {
		return
	}
	if m.first.IsZero() || now.Before(m.last) || now.Sub(m.last) > meterGap {
		m.first, m.last, m.since, m.bursts, m.spent, m.spentAt = now, now, now, 1, 0, 0
		return
	}
	if now.Sub(m.since) >= time.Second {
		m.bursts++
		m.since = now
	}
	m.last, m.spentAt = now, m.spent
}

// rate is the tokens a second between the first and the last refusal for tokens.
func (m *meter) rate() (perSecond float64, ok bool) {
	long := m.last.Sub(m.first)
	if m.bursts < meterBurst || long < meterLong || m.spentAt <= 0 {
		return 0, false
	}
	return m.spentAt / long.Seconds(), true
}

// scope tells for whom a vendor counts: an attempt that was refused with one key
// was tried with the next, and that one was refused too, at once or later.
type scope struct {
	keyAt         time.Time // the last refusal of one key
	each, account int       // what they said
}

func (s *scope) refused(past *sends, begun time.Time, key bool) {
	if key {
		s.keyAt = begun
		return
	}
	if s.keyAt.IsZero() || begun.Before(s.keyAt) || begun.Sub(s.keyAt) > 5*time.Second {
		return
	}
	// Between the two refusals the second key was answered, or it was not.
	if from := past.seconds(s.keyAt); past.answered(from, past.seconds(begun)) > 2 {
		s.each++
	} else {
		s.account++
	}
	s.keyAt = time.Time{}
}

// word is key, account or unknown.
func (s *scope) word(keys int) string {
	switch {
	case keys < 2 || s.each+s.account < 2:
		return "unknown"
	case s.account >= 2*s.each:
		return "account"
	case s.each >= 2*s.account:
		return "key"
	}
	return "unknown"
}

package outcome

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest that a vendor's wish to be left alone is believed.
const MaxRetryAfter = 60 * time.Second

// retryAfter finds how long the vendor wants to be left alone: in retry-after-ms
// (Azure, OpenAI), in Retry-After as seconds or as a date, or in the message.
func retryAfter(a Attempt, message string) (time.Duration, bool) {
	if a.Header != nil {
		for _, name := range []string{"Retry-After-Ms", "X-Ms-Retry-After-Ms"} {
			if ms, err := strconv.ParseFloat(strings.TrimSpace(a.Header(name)), 64); err == nil {
				return believe(ms / 1000)
			}
		}
		if d, ok := ParseRetryAfter(a.Header("Retry-After"), a.Now); ok {
			return d, true
		}
	}
	return retryIn(message)
}

// ParseRetryAfter reads a Retry-After header: seconds, with or without a fraction,
// a duration such as 1s or 120ms, or a date, which counts from now and is ignored
// when now is zero. The result is between 0 and [MaxRetryAfter].
func ParseRetryAfter(value string, now time.Time) (time.Duration, bool) {
	value = strings.TrimSpace(value)
	if value == "" {
		return 0, false
	}
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return believe(s)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return believe(d.Seconds())
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.RFC3339} {
		if t, err := time.Parse(layout, value); err == nil && !now.IsZero() {
			return believe(t.Sub(now).Seconds())
		}
	}
	return 0, false
}

// believe bounds a vendor's figure: not below 0, not above MaxRetryAfter, no NaN.
func believe(seconds float64) (time.Duration, bool) {
	switch {
	case math.IsNaN(seconds):
		return 0, false
	case seconds <= 0:
		return 0, true
	case seconds >= MaxRetryAfter.Seconds():
		return MaxRetryAfter, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// retryIn reads "Please retry after 37 seconds", "Please try again in 5.289s",
// "try again in 6m0s", "retry in 120ms".
func retryIn(message string) (time.Duration, bool) {
	lower := strings.ToLower(message)
	for _, lead := range []string{"retry after ", "try again in ", "try again after ", "retry in "} {
		_, rest, ok := strings.Cut(lower, lead)
		if !ok {
			continue
		}
		word, unit, _ := strings.Cut(rest, " ")
		word = strings.TrimRight(word, ".,;)")
		if d, err := time.ParseDuration(word); err == nil {
			return believe(d.Seconds())
		}
		n, err := strconv.ParseFloat(word, 64)
		if err != nil {
			continue
		}
		switch {
		case strings.HasPrefix(unit, "milli"), strings.HasPrefix(unit, "ms"):
			n /= 1000
		case strings.HasPrefix(unit, "min"):
			n *= 60
		case strings.HasPrefix(unit, "hour"), strings.HasPrefix(unit, "day"):
			n *= 3600
		}
		return believe(n)
	}
	return 0, false
}

package limit

import (
	"math"
	"time"
)

// bucket admits a rate with a small burst: one attempt and what the margin of
// 0.95 leaves in a second, so that no second, wherever it begins, holds more than
// the limit. With less, arrivals that come at random would use only half of the
// rate.
type bucket struct {
	tokens float64
	filled time.Time
}

// whole is a token that lacks at most what floating point lost.
const whole = 1 - 1e-9

func burst(rps float64) float64 {
	if rps < 2 {
		return 1
	}
	return 1 + rps*(1-margin)/margin
}

// level returns the tokens there are at now, of most.
func (b *bucket) level(now time.Time, rps, most float64) float64 {
	if b.filled.IsZero() {
		return most
	}
	past := now.Sub(b.filled).Seconds()
	return min(b.tokens+max(past, 0)*rps, most)
}

func (b *bucket) take(now time.Time, rps, most float64) bool {
	b.tokens = b.level(now, rps, most)
	b.filled = now
	if b.tokens < whole {
		return false
	}
	b.tokens = math.Max(b.tokens-1, 0)
	return true
}

// recent counts what was taken and refused in each of the last seconds.
type recent struct {
	seconds [10]second
	start   time.Time
}

type second struct {
	number         int64
	taken, refused int
	rose           int // refused because the rate rose too fast, which tells of no limit
}

// at returns the second of now, emptied when it is a new one.
func (r *recent) at(now time.Time) *second {
	if r.start.IsZero() {
		r.start = now
	}
	number := max(int64(now.Sub(r.start)/time.Second), 0)
	s := &r.seconds[number%int64(len(r.seconds))]
	if s.number != number {
		*s = second{number: number}
	}
	return s
}

// sums returns what was taken and what was refused in the last 10 s.
func (r *recent) sums(now time.Time) (taken, refused int) {
	oldest := r.at(now).number - int64(len(r.seconds)) + 1
	for _, s := range r.seconds {
		if s.number >= oldest {
			taken += s.taken
			refused += s.refused
		}
	}
	return taken, refused
}

// rates returns what was taken and what was accepted in the last 10 s, the
// running second among them, per second.
func (r *recent) rates(now time.Time) (taken, accepted float64) {
	oldest := r.at(now).number - int64(len(r.seconds)) + 1
	for _, s := range r.seconds {
		if s.number >= oldest {
			taken += float64(s.taken)
			accepted += float64(s.taken - s.refused - s.rose)
		}
	}
	n := float64(len(r.seconds))
	return taken / n, max(accepted, 0) / n
}

package admission

import (
	"math"
	"slices"
	"time"
)

// What is back first is what was fast, and what comes back late has waited, so no
// average over the first seconds of an overload says what a first token takes
// without it. The first ones that began do: they found the places empty. Their median
// is known when half of them are back and the others are older than it, so that
// nobody has to wait for the slowest.

const (
	// firstOnes is how many they are, firstMany where they differ by more than firstFar
	// (the standard deviation of logarithms).
	firstOnes, firstMany = 20, 64
	firstFar             = 0.45
	// firstAnew is after what time others are asked where most of them have failed.
	firstAnew = 30 * time.Second
)

// firsts are the first ones of a kind.
type firsts struct {
	few  [firstOnes]float64
	many [firstMany]float64
	back [2]int       // of the few, and of the many
	last [2]time.Time // when the last of them began
	took float64      // seconds, the longest
	n    int          // begun
	done bool
}

// begin counts one that begins.
func (f *firsts) begin(now time.Time) {
	if f.done {
		return
	}
	if f.n == firstMany && now.Sub(f.last[1]) > max(firstAnew, 20*seconds(f.took)) {
		*f = firsts{}
	}
	if f.n < firstMany {
		f.n++
		f.last[1] = now
	}
	if f.n <= firstOnes {
		f.last[0] = now
	}
}

// add takes one that came back, and returns the median in seconds when it is known,
// and its standard error as a logarithm.
func (f *firsts) add(now, begun time.Time, s float64) (median, deviation float64, n int) {
	if f.done {
		return 0, 0, 0
	}
	f.took = max(f.took, s)
	sort(f.few[:], &f.back[0], s, !begun.After(f.last[0]))
	sort(f.many[:], &f.back[1], s, !begun.After(f.last[1]))
	if f.n < firstOnes {
		return 0, 0, 0
	}
	if m, d, ok := middle(f.few[:], f.back[0], now.Sub(f.last[0])); ok && d <= firstFar {
		f.done = true
		return m, d, firstOnes
	}
	if f.n < firstMany {
		return 0, 0, 0
	}
	if m, d, ok := middle(f.many[:], f.back[1], now.Sub(f.last[1])); ok {
		f.done = true
		return m, d, firstMany
	}
	return 0, 0, 0
}

// sort puts s in its place among those that are back, if it is one of them.
func sort(took []float64, back *int, s float64, in bool) {
	if !in || *back == len(took) {
		return
	}
	i, _ := slices.BinarySearch(took[:*back], s)
	copy(took[i+1:*back+1], took[i:*back])
	took[i] = s
	*back++
}

// middle is the median of all, of whom so many are back, and the standard deviation of
// the logarithms by the lower quarter; false while those that are not back could change it.
func middle(took []float64, back int, age time.Duration) (median, deviation float64, ok bool) {
	n := len(took)
	if back <= n/2 {
		return 0, 0, false
	}
	median = (took[n/2-1] + took[n/2]) / 2
	return median, math.Log(median/took[n/4]) / 0.6, age.Seconds() >= median
}

// Began says that an attempt of a kind has begun of which Sample is to tell.
func (l *Limit) Began(now time.Time, k Kind) {
	l.firsts[k].begin(now)
	l.w.begun++
}

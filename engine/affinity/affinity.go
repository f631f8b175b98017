// Package affinity lets the requests of one conversation prefer one vendor, so
// that the prompt cache there is used.
//
// It is rendezvous hashing (the highest random weight wins; Thaler and Ravishankar,
// 1998) with the logarithmic method for weights: a vendor's score for a key is
// -weight/ln(h), with h the hash of key and vendor as a number between 0 and 1. So
// each vendor is preferred by a part of the keys that is its weight; a weight that
// moves by ten points between two vendors moves ten in a hundred conversations (of
// three or more some more) and no others; and a vendor that is out gives its
// conversations to the others, which keep theirs.
// Nothing is remembered of any conversation, and a restart changes nothing.
//
//	key := affinity.Key(conversation)                  // once per request
//	i := affinity.Prefer(key, seeds, weights)          // seeds: Seed(name) of each vendor
//
// It is a preference only. Who takes the request is for the caller: weights.Picker
// grants the wish while that vendor is not ahead of its part, so that a few busy
// conversations do not move the totals.
//
// Pure functions; nothing allocates.
package affinity

import "math"

const (
	fnvOffset = 14695981039346656037 // FNV-1a, 64 bits: RFC 9923
	fnvPrime  = 1099511628211
)

// Key is the hash of a conversation's key; 0 (no key) of an empty one only.
func Key[T ~string | ~[]byte](key T) uint64 {
	if len(key) == 0 {
		return 0
	}
	h := uint64(fnvOffset)
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * fnvPrime
	}
	return max(mix(h), 1)
}

// Seed is the hash of a vendor's name.
func Seed(name string) uint64 { return Key(name) }

// Prefer returns the index of the vendor that the key prefers among those with a
// weight above 0, -1 if there is none. seeds and weights are as long as each other.
func Prefer(key uint64, seeds []uint64, weights []float64) int {
	best, top := -1, 0.0
	for i, w := range weights {
		if !(w > 0) || i >= len(seeds) {
			continue
		}
		if score := -w / math.Log(fraction(mix(key^seeds[i]))); best < 0 || score > top {
			best, top = i, score
		}
	}
	return best
}

// fraction makes a hash a number between 0 and 1, neither of them included.
func fraction(h uint64) float64 { return (float64(h>>11) + 0.5) / (1 << 53) }

// mix spreads the bits of a hash over all of it: the finalizer of splitmix64, which
// FNV needs because its high bits hardly depend on the last bytes.
func mix(h uint64) uint64 {
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

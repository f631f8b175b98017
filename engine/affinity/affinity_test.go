package affinity_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"baton/engine/affinity"
	"baton/engine/weights"
)

// seeds of n vendors, named as the configuration's are.
func seeds(n int) []uint64 {
	s := make([]uint64, n)
	for i := range s {
		s[i] = affinity.Seed(fmt.Sprintf("vendor-%d", i))
	}
	return s
}

// keys are n conversations.
func keys(n int) []uint64 {
	k := make([]uint64, n)
	for i := range k {
		k[i] = affinity.Key(fmt.Sprintf("conversation-%d", i))
	}
	return k
}

func anyone(int) bool { return true }

func TestPrefer_EachVendorIsPreferredByItsWeightOfTheKeys(t *testing.T) {
	for _, w := range [][]float64{{0.75, 0.25}, {0.5, 0.5}, {0.95, 0.05}, {0.6, 0.3, 0.1}, {1, 0}, {0.2, 0.2, 0.2, 0.4}} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			const n = 40000
			got, s := make([]float64, len(w)), seeds(len(w))
			for _, k := range keys(n) {
				got[affinity.Prefer(k, s, w)] += 1.0 / n
			}
			for i := range w {
				if math.Abs(got[i]-w[i]) > 0.01 {
					t.Errorf("vendor %d of weight %v is preferred by %.3f of the keys", i, w[i], got[i])
				}
			}
		})
	}
}

func TestPrefer_AWeightThatMovesTenPointsMovesTenInAHundredConversations(t *testing.T) {
	const n = 40000
	for _, c := range []struct {
		from, to []float64
		most     float64
	}{
		{[]float64{0.75, 0.25}, []float64{0.65, 0.35}, 0.11},
		{[]float64{0.25, 0.75}, []float64{0.35, 0.65}, 0.11},
		{[]float64{0.5, 0.3, 0.2}, []float64{0.4, 0.3, 0.3}, 0.14}, // of three the one that stays exchanges some
	} {
		t.Run(fmt.Sprint(c.from, c.to), func(t *testing.T) {
			moved, s := 0.0, seeds(len(c.from))
			for _, k := range keys(n) {
				if affinity.Prefer(k, s, c.from) != affinity.Prefer(k, s, c.to) {
					moved += 1.0 / n
				}
			}
			if moved < 0.09 || moved > c.most {
				t.Errorf("%.1f %% of the conversations moved", 100*moved)
			}
		})
	}
}

func TestPrefer_AVendorThatIsOutGivesItsConversationsAwayAndTheOthersKeepTheirs(t *testing.T) {
	s := seeds(3)
	for _, k := range keys(5000) {
		all, without := affinity.Prefer(k, s, []float64{0.5, 0.3, 0.2}), affinity.Prefer(k, s, []float64{0, 0.6, 0.4})
		if without == 0 || all != 0 && all != without {
			t.Fatalf("with all %d, without the first %d", all, without)
		}
	}
}

func TestPrefer_DoesNotDependOnTheVendorsOrder(t *testing.T) {
	s := seeds(3)
	for _, k := range keys(2000) {
		a := affinity.Prefer(k, s, []float64{0.5, 0.3, 0.2})
		b := affinity.Prefer(k, []uint64{s[2], s[0], s[1]}, []float64{0.2, 0.5, 0.3})
		if a != (b+2)%3 {
			t.Fatalf("key %x: vendor %d, and with another order %d", k, a, (b+2)%3)
		}
	}
}

func TestPrefer_OfNobodyIsNobody(t *testing.T) {
	for _, w := range [][]float64{nil, {}, {0, 0}, {-1, math.NaN()}} {
		if i := affinity.Prefer(7, seeds(len(w)), w); i != -1 {
			t.Errorf("%v: %d", w, i)
		}
	}
	if i := affinity.Prefer(7, nil, []float64{0.5, 0.5}); i != -1 {
		t.Errorf("without seeds: %d", i)
	}
}

func TestKey_IsTheSameAfterARestartAndNeverThatOfNoKey(t *testing.T) {
	for key, want := range map[string]uint64{"": 0, "a": 0x2c0bdbf481420f8, "conversation-1": 0x759df6e77ec5d277} {
		if got := affinity.Key(key); got != want {
			t.Errorf("%q: %#x, want %#x", key, got, want)
		}
		if got := affinity.Key([]byte(key)); got != want {
			t.Errorf("%q as bytes: %#x", key, got)
		}
	}
}

// run sends n requests of conversations, which next gives, and returns each vendor's
// share of every so many in a row and how many requests each conversation had at each
// vendor.
func run(w []float64, n, span int, next func() uint64) (shares [][]float64, at map[uint64][]int) {
	var p weights.Picker
	s := seeds(len(w))
	at = map[uint64][]int{}
	count := make([]float64, len(w))
	for k := range n {
		key := next()
		i := p.Prefer(w, anyone, affinity.Prefer(key, s, w))
		if at[key] == nil {
			at[key] = make([]int, len(w))
		}
		at[key][i]++
		count[i]++
		if (k+1)%span == 0 {
			for i := range count {
				count[i] /= float64(span)
			}
			shares = append(shares, count)
			count = make([]float64, len(w))
		}
	}
	return shares, at
}

// At 20 requests/s 60 s are 1,200 requests.
func TestPrefer_BusyConversationsDoNotMoveTheTotals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	all := keys(500)
	zipf := rand.NewZipf(rng, 1.2, 1, uint64(len(all)-1))
	for name, next := range map[string]func() uint64{
		"Zipf":              func() uint64 { return all[zipf.Uint64()] },
		"one conversation":  func() uint64 { return all[0] },
		"all different":     func() uint64 { return rng.Uint64() | 1 },
		"two thirds of one": func() uint64 { return all[max(0, rng.IntN(3)-1)*rng.IntN(500)] },
	} {
		for _, w := range [][]float64{{0.75, 0.25}, {0.95, 0.05}, {0.6, 0.3, 0.1}} {
			t.Run(fmt.Sprint(name, w), func(t *testing.T) {
				shares, _ := run(w, 24000, 1200, next)
				for _, s := range shares {
					for i := range w {
						if math.Abs(s[i]-w[i]) > 0.01 {
							t.Fatalf("of 1,200 requests the vendors %v took %.4f", w, s)
						}
					}
				}
			})
		}
	}
}

func TestPrefer_MostOfAConversationStaysAtOneVendor(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	all := keys(3000)
	for _, w := range [][]float64{{0.75, 0.25}, {0.5, 0.5}, {0.6, 0.3, 0.1}} {
		t.Run(fmt.Sprint(w), func(t *testing.T) {
			const n = 60000
			_, at := run(w, n, n, func() uint64 { return all[rng.IntN(len(all))] })
			stayed := 0
			for _, counts := range at {
				most := 0
				for _, c := range counts {
					most = max(most, c)
				}
				stayed += most
			}
			part := float64(stayed) / n
			t.Logf("%.1f %% of the requests are at their conversation's vendor", 100*part)
			if part < 0.9 {
				t.Errorf("only %.1f %% of the requests are where most of their conversation is", 100*part)
			}
		})
	}
}

func BenchmarkPrefer(b *testing.B) {
	s, w, key := seeds(2), []float64{0.75, 0.25}, []byte("conversation-0123456789")
	b.ReportAllocs()
	for b.Loop() {
		affinity.Prefer(affinity.Key(key), s, w)
	}
}

package engine

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/affinity"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// converse sends 20 requests a second for d, each of a conversation that next
// gives, and counts whom the first attempts of each conversation went to.
func (r *rig) converse(d time.Duration, next func() uint64, answer func(string) outcome.Result) map[uint64]map[string]int {
	at := map[uint64]map[string]int{}
	for range int(d / time.Second) {
		for range 20 {
			time.Sleep(50 * time.Millisecond)
			key := next()
			r.Begin(control.Interactive)
			var l Lease
			if r.Acquire(&l, Ask{Kind: weights.Stream, First: true, Affinity: key}) != nil {
				r.Finish(Finished{Outcome: outcome.RateLimited})
				continue
			}
			if at[key] == nil {
				at[key] = map[string]int{}
			}
			at[key][l.Vendor.Name]++
			res := answer(l.Vendor.Name)
			if res.Outcome == outcome.OK {
				l.FirstToken(time.Now())
			}
			l.Done(time.Now(), res, outcome.Usage{})
			r.Finish(Finished{Outcome: res.Outcome, FirstToken: 100 * time.Millisecond, Vendor: l.Vendor})
		}
		r.Tick(time.Now())
	}
	return at
}

// stays is the part of the requests that went where most of their conversation did,
// and the part that went to a.
func stays(at map[uint64]map[string]int) (part, toA float64) {
	n := 0
	for _, c := range at {
		part += float64(max(c["a"], c["b"]))
		toA += float64(c["a"])
		n += c["a"] + c["b"]
	}
	return part / float64(n), toA / float64(n)
}

func conversations(n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = affinity.Key(fmt.Sprint("conversation ", i))
	}
	return keys
}

func TestAffinity_ConversationsStayAndTheTotalsFollowTheWeights(t *testing.T) {
	keys := conversations(300)
	rng := rand.New(rand.NewPCG(5, 6))
	zipf := rand.NewZipf(rng, 1.2, 1, uint64(len(keys)-1))
	for _, c := range []struct {
		name string
		next func() uint64
		stay float64
	}{
		{"many alike", func() uint64 { return keys[rng.IntN(len(keys))] }, 0.9},
		{"a few busy ones", func() uint64 { return keys[zipf.Uint64()] }, 0},
		{"one", func() uint64 { return keys[0] }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				for range 3 {
					stay, toA := stays(r.converse(time.Minute, c.next, good))
					if math.Abs(toA-0.75) > 0.01 || stay < c.stay {
						t.Fatalf("in 60 s %.4f of the requests went to a, and %.3f stayed with their conversation", toA, stay)
					}
				}
			})
		})
	}
}

func TestAffinity_IsNeverOverHealthDrainsOrLimits(t *testing.T) {
	keys := conversations(300)
	rng := rand.New(rand.NewPCG(7, 8))
	next := func() uint64 { return keys[rng.IntN(len(keys))] }
	for _, c := range []struct {
		name string
		do   func(t *testing.T, r *rig)
		most float64 // of the requests, to a
	}{
		{"drained", func(t *testing.T, r *rig) { r.do(t, &control.Drain{Vendor: "a"}) }, 0},
		{"limited to 8/s", func(t *testing.T, r *rig) { r.do(t, &control.SetLimit{Vendor: "a", RPS: 8}) }, 0.42},
		{"pinned to 20 %", func(t *testing.T, r *rig) {
			r.do(t, &control.SetWeights{Weights: map[string]float64{"a": 20, "b": 80}})
		}, 0.21},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, nil)
				r.converse(10*time.Second, next, good)
				c.do(t, r)
				if _, toA := stays(r.converse(time.Minute, next, good)); toA > c.most {
					t.Fatalf("%.3f of the requests went to a", toA)
				}
			})
		})
	}
	t.Run("ejected", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, nil)
			r.converse(20*time.Second, next, failing("a"))
			if _, toA := stays(r.converse(30*time.Second, next, failing("a"))); toA > 0.01 { // trials
				t.Fatalf("%.3f of the requests went to a vendor that is ejected", toA)
			}
		})
	})
}

func TestAffinity_WithoutItTheSplitIsExact(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if _, toA := stays(r.converse(10*time.Second, func() uint64 { return 0 }, good)); toA != 0.75 {
			t.Fatalf("%.4f of 200 requests went to a", toA)
		}
	})
}

//go:build !race

package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// Where answers take less time than the gap between two that a silent limit lets through, hardly anything is in
// work, and one place more or less is a long line or none.
func TestSilentLimit_IsLearnedBehindFastAnswers(t *testing.T) {
	for _, c := range []struct{ first, rest, whole, offered, limit float64 }{
		{0.06, 0, 0, 100, 20},
		{0.06, 0, 0.3, 100, 20},
		{0.06, 0.3, 0.3, 100, 20},
		{0.12, 0, 0.3, 100, 20},
		{0.06, 0, 0.3, 200, 50},
	} {
		t.Run(fmt.Sprintf("%g s, %g/s of %g/s", c.first, c.limit, c.offered), func(t *testing.T) {
			for seed := range uint64(2) {
				synctest.Test(t, func(t *testing.T) {
					s := newScene(t, seed, 75, &model{first: c.first, rest: c.rest}, &model{first: c.first, rest: c.rest})
					s.offered, s.whole, s.batch = c.offered, c.whole, 0.25
					s.run(10)
					s.set("a", func(m *model) { m.rate, m.most = c.limit, 60 })
					s.run(60)
					s.all.Wait()
					at := s.learnedAt(10, c.limit, 0.05)
					_, p99, failed, n := s.figures(40, 70)
					t.Logf("known after %d s; P99 %.0f ms; %d of %d failed; %s", at, p99*1e3, failed, n, s.evidence())
					if at < 0 || at > 30 {
						t.Errorf("the limit is known after %d s, want within 5 %% after 30", at)
					}
					if p99 > 0.8 || failed > 0 {
						t.Errorf("P99 %.2f s, %d failed", p99, failed)
					}
				})
			}
		})
	}
}

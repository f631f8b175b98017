package ledger

import (
	"testing"
	"time"
)

func TestBySteps_AreTheFinestThatAreStillACurve(t *testing.T) {
	b := NewBook(two(t))
	now := at(t, noon)
	for _, x := range []struct {
		name   string
		first  time.Duration // before now
		step   float64
		points int
	}{
		{"half an hour", 30 * time.Minute, 60, 30},
		{"two hours", 2 * time.Hour, 300, 24},
		{"ten hours", 10 * time.Hour, 900, 40},
		{"two days", 48 * time.Hour, 0, 0},
	} {
		calls := []Attempt{call(now.Add(-x.first), "a", 1_000_000, 0, 0), call(now.Add(-10*time.Minute), "a", 1_000_000, 0, 0)}
		acc := rolled(b, calls, nil)
		acc.Since, acc.Until, acc.First = now.Add(-72*time.Hour), now, now.Add(-x.first)
		for i := range calls {
			if m := calls[i].Ended; now.Sub(m) <= SpentFor {
				acc.Spent = append(acc.Spent, Spent{Minute: m.Unix() - m.Unix()%60, Vendor: "a", Cost: b.Price(&calls[i]).Sum(), Priced: true})
			}
		}
		step, got := BySteps(acc)
		if step != x.step || len(got) != x.points {
			t.Errorf("%s: %d steps of %v s, want %d of %v", x.name, len(got), step, x.points, x.step)
			continue
		}
		sum := 0.0
		for _, h := range got {
			if h.Cost["a"] == nil {
				t.Fatalf("%s: a step without spending is not 0", x.name)
			}
			sum += *h.Cost["a"]
		}
		if x.points > 0 && (sum < 3.99 || sum > 4.01) {
			t.Errorf("%s: the steps sum to %v, want 4", x.name, sum)
		}
	}
	if _, got := BySteps(&Account{}); got != nil {
		t.Errorf("an empty account has steps: %v", got)
	}
}

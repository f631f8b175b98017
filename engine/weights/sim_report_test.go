package weights

import (
	"fmt"
	"math"
	"testing"
)

// turns lists when a weight turned round of a weight, ignoring wiggles under half a point.
func (s *sim) turns(vendor int) (at []int) {
	dir, extreme := 0, s.history[0][vendor]
	for t, w := range s.history {
		x := w[vendor]
		switch {
		case dir == 0 && math.Abs(x-extreme) >= 0.005:
			dir, extreme = int(math.Copysign(1, x-extreme)), x
		case dir > 0 && x > extreme, dir < 0 && x < extreme:
			extreme = x
		case dir > 0 && extreme-x >= 0.005, dir < 0 && x-extreme >= 0.005:
			dir, extreme = -dir, x
			at = append(at, t)
		}
	}
	return at
}

// worstMinute is the largest number of turns within any 60 s.
func worstMinute(at []int) (worst int) {
	for i := range at {
		n := 0
		for _, t := range at[i:] {
			if t-at[i] < 60 {
				n++
			}
		}
		worst = max(worst, n)
	}
	return worst
}

// settled is how long after from the first vendor's weight enters its final neighbourhood for good; -1 never.
func (s *sim) settled(from float64, points float64) float64 {
	n := len(s.history)
	final := 0.0
	for _, w := range s.history[n-60:] {
		final += w[0] / 60
	}
	for t := n - 1; t >= int(from); t-- {
		if math.Abs(s.history[t][0]-final) > points/100 {
			if t > n-30 {
				return -1
			}
			return float64(t) + 1 - from
		}
	}
	return 0
}

func (s *sim) quantile(q float64) float64 {
	n := 0
	for _, c := range s.all {
		n += int(c)
	}
	left := int(q * float64(n))
	for b, c := range s.all {
		left -= int(c)
		if left <= 0 {
			return simValue(b)
		}
	}
	return math.NaN()
}

func (s *sim) final() float64 {
	x := 0.0
	for _, w := range s.history[len(s.history)-60:] {
		x += w[0] / 60
	}
	return x
}

type simRow struct {
	turns, settles, final, errors, p90, back float64
	worst, ejections                         int
}

func (s *sim) row() (r simRow) {
	at := s.turns(0)
	r.turns, r.worst = float64(len(at))/s.sc.length*60, worstMinute(at)
	r.final, r.p90 = s.final(), s.quantile(0.9)
	r.errors = float64(s.faults+s.limited) / float64(s.requests)
	if s.sc.event > 0 {
		points := s.sc.settleIn
		if points == 0 {
			points = 5
		}
		r.settles = s.settled(s.sc.event, points)
	}
	if s.sc.wellAt > 0 {
		r.back = s.settled(s.sc.wellAt, 2)
	}
	for _, v := range s.v {
		r.ejections += v.health.ejections
	}
	return r
}

// simulated runs a scenario of the table once per seed and law and keeps the result for other tests.
func simulated(t *testing.T, name string, naive bool, seed uint64) *sim {
	t.Helper()
	key := fmt.Sprint(name, naive, seed)
	if s := simRuns[key]; s != nil {
		return s
	}
	for _, sc := range simScenarios() {
		if sc.name == name {
			simRuns[key] = newSim(sc, naive, seed).run()
			return simRuns[key]
		}
	}
	t.Fatalf("no scenario %q", name)
	return nil
}

var simRuns = map[string]*sim{}

// TestSimulation prints the table of the control law, ours and (in brackets) the naive law, when run with -v.
func TestSimulation(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("prints the table; the claims are tests of their own")
	}
	fmt.Println("| scenario | reversals/min | worst 60 s | settles, s | back, s | first ends at | errors | P90, s | ejections |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, sc := range simScenarios() {
		ours, naive := simCell(t, sc, false), simCell(t, sc, true)
		fmt.Printf("| %s |", sc.name)
		for i := range ours {
			fmt.Printf(" %s (%s) |", ours[i], naive[i])
		}
		fmt.Println()
	}
}

// simCell is one law's figures in one scenario, over three seeds: means, and ranges of times.
func simCell(t *testing.T, sc simScenario, naive bool) []string {
	var rows []simRow
	for seed := range uint64(3) {
		rows = append(rows, simulated(t, sc.name, naive, seed+1).row())
	}
	mean := func(f func(simRow) float64) (x float64) {
		for _, r := range rows {
			x += f(r) / float64(len(rows))
		}
		return x
	}
	span := func(f func(simRow) float64, has bool) string {
		if !has {
			return "-"
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, r := range rows {
			if f(r) < 0 {
				return "never"
			}
			lo, hi = math.Min(lo, f(r)), math.Max(hi, f(r))
		}
		return fmt.Sprintf("%.0f-%.0f", lo, hi)
	}
	worst, ejections := 0, 0
	for _, r := range rows {
		worst, ejections = max(worst, r.worst), max(ejections, r.ejections)
	}
	return []string{
		fmt.Sprintf("%.2f", mean(func(r simRow) float64 { return r.turns })),
		fmt.Sprint(worst),
		span(func(r simRow) float64 { return r.settles }, sc.event > 0 && sc.wellAt == 0 && sc.length > 300),
		span(func(r simRow) float64 { return r.back }, sc.wellAt > 0),
		fmt.Sprintf("%.0f %%", 100*mean(func(r simRow) float64 { return r.final })),
		fmt.Sprintf("%.2f %%", 100*mean(func(r simRow) float64 { return r.errors })),
		fmt.Sprintf("%.2f", mean(func(r simRow) float64 { return r.p90 })),
		fmt.Sprint(ejections),
	}
}

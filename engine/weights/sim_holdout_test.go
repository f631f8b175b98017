package weights

import (
	"fmt"
	"math"
	"testing"
)

// Scenarios that the law was never tuned on, with what it did in them; -v prints the table.
type holdout struct {
	name  string
	sc    simScenario
	seeds uint64
	turns int        // in the worst minute, at most
	final [2]float64 // where the first ends
	error float64    // part of requests that failed before any retry, at most
	back  float64    // seconds from wellAt until it is where it was, at most; 0: not asked
}

// leak makes the first vendor slower by a part each minute.
func leak(part float64) func(float64, []*simVendor) {
	return func(at float64, v []*simVendor) { v[0].c.factor = math.Pow(1+part, math.Max(at-60, 0)/60) }
}

// flap fails the first vendor for a period of every two.
func flap(period float64) func(float64, []*simVendor) {
	return func(at float64, v []*simVendor) {
		v[0].c.errors = 0
		if at > 60 && math.Mod(at, 2*period) < period {
			v[0].c.errors = 1
		}
	}
}

func holdouts() []holdout {
	pair, equal := []float64{0.75, 0.25}, []float64{0.5, 0.5}
	start := simPair(260, 260)
	set := func(from, to float64, f func(v []*simVendor, on bool)) func(float64, []*simVendor) {
		return between(from, to, func(v []*simVendor) { f(v, true) }, func(v []*simVendor) { f(v, false) })
	}
	if1 := func(on bool, a, b float64) float64 {
		if on {
			return a
		}
		return b
	}
	out := []holdout{
		{name: "first leaks 1 % a minute", sc: simScenario{length: 1500, rate: flat(90), change: leak(0.01)}, turns: 1, final: [2]float64{0.69, 0.76}, error: 0.001},
		{name: "first leaks 10 % a minute", sc: simScenario{length: 900, rate: flat(90), change: leak(0.10)}, turns: 2, final: [2]float64{0.04, 0.45}, error: 0.001},
		{name: "stall of 5 s, every two minutes", sc: simScenario{length: 600, rate: flat(90), change: func(at float64, v []*simVendor) {
			v[0].c.factor = if1(at > 60 && math.Mod(at, 120) < 5, 9, 1)
		}}, turns: 2, final: [2]float64{0.5, 0.76}, error: 0.01},
		{name: "ten times the load in 20 s", sc: simScenario{length: 420, rate: func(at float64) float64 { return 18 + 162*math.Min(math.Max(at-100, 0)/20, 1) }}, turns: 1, final: [2]float64{0.69, 0.81}, error: 0.001},
		{name: "both degrade alike, 4x for 3 min", sc: simScenario{length: 480, rate: flat(50), change: set(120, 300, func(v []*simVendor, on bool) {
			v[0].c.factor, v[1].c.factor = if1(on, 4, 1), if1(on, 4, 1)
		})}, turns: 1, final: [2]float64{0.69, 0.81}, error: 0.001},
		{name: "equal vendors, second 3x slower for 4 min", sc: simScenario{length: 720, base: equal, rate: flat(90), event: 120, wellAt: 360, change: set(120, 360, func(v []*simVendor, on bool) {
			v[1].c.factor = if1(on, 3, 1)
		})}, turns: 2, final: [2]float64{0.44, 0.56}, error: 0.001, back: 260},
		{name: "5 % errors at the first for 5 min", sc: simScenario{length: 720, rate: flat(120), event: 120, wellAt: 420, change: set(120, 420, func(v []*simVendor, on bool) {
			v[0].c.errors = if1(on, 0.05, 0)
		})}, turns: 2, final: [2]float64{0.69, 0.81}, error: 0.02, back: 200},
		{name: "three vendors, the largest dies for 90 s", sc: simScenario{length: 600, base: []float64{0.6, 0.25, 0.15}, start: append(simPair(200, 200), simConditions{factor: 1, capacity: 200}), rate: flat(100), event: 120, wellAt: 210, change: set(120, 210, func(v []*simVendor, on bool) {
			v[0].c.errors = if1(on, 1, 0)
		})}, turns: 6, final: [2]float64{0.55, 0.65}, error: 0.02, back: 80},
		{name: "capacity 140 -> 85 for 3 min", sc: simScenario{length: 1500, start: simPair(140, 140), rate: flat(120), event: 120, wellAt: 300, change: set(120, 300, func(v []*simVendor, on bool) {
			v[0].c.capacity = if1(on, 85, 140)
		})}, turns: 2, final: [2]float64{0.69, 0.81}, error: 0.03, back: 700},
	}
	for _, period := range []float64{10, 20, 60} {
		out = append(out, holdout{name: fmt.Sprintf("first flaps, %.0f s down and up", period), sc: simScenario{length: 600, rate: flat(110), change: flap(period)}, turns: 8, final: [2]float64{0, 0.76}, error: 0.06})
	}
	for i := range out {
		sc := &out[i].sc
		if sc.base == nil {
			sc.base = pair
		}
		if sc.start == nil {
			sc.start = start
		}
		out[i].seeds = 1
		if testing.Verbose() {
			out[i].seeds = 2
		}
	}
	return out
}

func TestSimulated_HoldOuts(t *testing.T) {
	t.Log("| scenario | reversals/min | worst 60 s | back, s | first ends at | errors | P90, s | ejections |")
	for _, h := range holdouts() {
		for seed := range h.seeds {
			s := newSim(h.sc, false, 100+seed).run()
			r := s.row()
			back := "-"
			if h.sc.wellAt > 0 {
				back = fmt.Sprintf("%.0f", r.back)
			}
			t.Logf("| %s | %.2f | %d | %s | %.0f %% | %.2f %% | %.2f | %d |", h.name, r.turns, r.worst, back, 100*r.final, 100*r.errors, r.p90, r.ejections)
			if r.worst > h.turns || r.final < h.final[0] || r.final > h.final[1] || r.errors > h.error || h.back > 0 && (r.back < 0 || r.back > h.back) {
				t.Errorf("%s, seed %d: %+v", h.name, seed, r)
			}
		}
	}
}

// Ten gateways that know nothing of each other steer the same two vendors: every law sees its own tenth of
// the traffic and moves it, and the vendors feel the sum.
func TestSimulated_TenReplicasActingAloneDoNotSwingTogether(t *testing.T) {
	const replicas = 10
	for name, c := range map[string]struct {
		factor, capacity float64
		final            [2]float64
	}{
		"well":                         {1, 700, [2]float64{0.749, 0.751}},
		"first 4x slower":              {4, 700, [2]float64{0.04, 0.36}},
		"capacity of the first halved": {1, 300, [2]float64{0.45, 0.76}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReplicas(replicas, 400, simPair(700, 700), 5)
			for at := 1.0; at <= 480; at++ {
				if at == 120 {
					r.v[0].c.factor, r.v[0].c.capacity = c.factor, c.capacity
				}
				r.second(at)
			}
			mean, worst := r.mean(), 0
			for i := range r.laws {
				worst = max(worst, worstMinute((&sim{history: r.history[i]}).turns(0)))
			}
			total := worstMinute((&sim{history: mean}).turns(0))
			end := mean[len(mean)-1][0]
			t.Logf("first ends at %.1f %%, the sum turned %d times in the worst minute, one replica %d", 100*end, total, worst)
			if end < c.final[0] || end > c.final[1] || total > 2 || worst > 3 {
				t.Errorf("ends at %.3f, turned %d and %d times", end, total, worst)
			}
		})
	}
}

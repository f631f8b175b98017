package weights

import (
	"fmt"
	"math"
	"testing"
)

func TestSimulated_NothingMovesWhileAllIsWell(t *testing.T) { // P3
	for _, name := range []string{"steady, equal", "second 10 % slower", "both at 85 % load", "4 -> 1,600 requests/s"} {
		t.Run(name, func(t *testing.T) {
			s := simulated(t, name, false, 1)
			for at, w := range s.history {
				if w[0] != 0.75 {
					t.Fatalf("at %d s the first is at %.4f", at, w[0])
				}
			}
		})
	}
}

func TestSimulated_TurnsAtMostTwiceAMinute(t *testing.T) { // P4
	for _, sc := range simScenarios() {
		t.Run(sc.name, func(t *testing.T) {
			s := simulated(t, sc.name, false, 1)
			most, ejections := 2, 0
			for _, v := range s.v {
				ejections += v.health.ejections
			}
			if ejections > 0 || sc.limited {
				most = 6
			}
			for i := range s.v {
				if got := worstMinute(s.turns(i)); got > most {
					t.Errorf("vendor %d turned %d times within a minute, at %v", i, got, s.turns(i))
				}
			}
		})
	}
}

func TestSimulated_SettlesInTime(t *testing.T) { // P7 and the weakest case
	cases := map[string]float64{
		"first 5x slower": 90, "first 5x slower, SLO floor on": 90, "first 20 % errors": 20,
		"second limited to 20 of 200/s": 15, "capacity of the first 140 -> 85": 120,
	}
	for name, most := range cases {
		t.Run(name, func(t *testing.T) {
			if got := simulated(t, name, false, 1).row().settles; got < 0 || got > most {
				t.Errorf("settled after %.0f s, want at most %.0f", got, most)
			}
		})
	}
}

func TestSimulated_EndsWhereItShould(t *testing.T) {
	cases := map[string][2]float64{
		"first 5x slower": {0.20, 0.30}, "first 5x slower, SLO floor on": {0.049, 0.06}, "first 20 % errors": {0.05, 0.09},
		"second limited to 20 of 200/s": {0.89, 0.95}, "capacity of the first 140 -> 85": {0.55, 0.71},
		"both fail 60 s": {0.70, 0.80}, "blackhole 120 s": {0.70, 0.80}, "100 % 5xx 120 s": {0.70, 0.80},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := simulated(t, name, false, 1).final(); got < c[0] || got > c[1] {
				t.Errorf("the first ends at %.3f, want %v", got, c)
			}
		})
	}
}

func TestSimulated_ADeadVendorIsLeftAndComesBack(t *testing.T) { // P6, P8, P11
	cases := map[string]struct{ gone, back float64 }{
		"100 % 5xx 120 s": {8, 80}, "blackhole 120 s": {15, 80}, "both fail 60 s": {math.Inf(1), 20 + 80},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := simulated(t, name, false, 1)
			gone := 0
			for s.history[120+gone-1][0] > 0 && gone < 100 {
				gone++
			}
			if float64(gone) > c.gone {
				t.Errorf("still has weight %d s after it died", gone)
			}
			if got := s.row().back; got < 0 || got > c.back {
				t.Errorf("back %.0f s after it was well, want at most %.0f", got, c.back)
			}
		})
	}
}

func TestSimulated_ALimitedVendorCostsLittle(t *testing.T) { // P10
	s := simulated(t, "second limited to 20 of 200/s", false, 1)
	if rate := float64(s.afterEarly) / float64(s.afterRequests); rate > 0.01 {
		t.Errorf("%.2f %% errors after the first 15 s", 100*rate)
	}
	if n := s.v[1].health.ejections; n != 0 {
		t.Errorf("ejected %d times", n)
	}
}

func TestSimulated_TheSecondaryStaysInItsBandWhateverTheBatchPart(t *testing.T) { // P18
	for name, batch := range map[string]float64{"none": 0, "10 %": 0.1, "25 %": 0.25, "50 %": 0.5, "all": 1} {
		t.Run(name, func(t *testing.T) {
			sc := simScenario{length: 240, rate: flat(80), base: []float64{0.75, 0.25}, start: simPair(300, 300), batch: batch}
			s := newSim(sc, false, 7).run()
			for at := 60; at < len(s.carried)-1; at++ {
				n, second := 0, 0
				for _, c := range s.carried[at-60 : at] {
					n, second = n+c[0]+c[1], second+c[1]
				}
				if share := float64(second) / float64(n); share < 0.20 || share > 0.30 {
					t.Fatalf("at %d s the secondary carried %.3f over 60 s", at, share)
				}
			}
		})
	}
}

func TestSimulated_ShortAndCommonTroubleMovesNothingFar(t *testing.T) {
	pair, start := []float64{0.75, 0.25}, simPair(300, 300)
	cases := map[string]struct {
		sc   simScenario
		most float64 // farthest from 0.75
		turn int
	}{
		"a stall of 5 s": {simScenario{change: func(at float64, v []*simVendor) {
			v[0].c.factor = map[bool]float64{true: 8, false: 1}[at >= 120 && at < 125]
		}}, 0.20, 2},
		"both degrade alike": {simScenario{change: func(at float64, v []*simVendor) {
			f := map[bool]float64{true: 3, false: 1}[at >= 120]
			v[0].c.factor, v[1].c.factor = f, f
		}}, 0.001, 0},
		"both leak 1 % a minute": {simScenario{change: func(at float64, v []*simVendor) {
			v[0].c.factor, v[1].c.factor = 1+at/6000, 1+at/6000
		}}, 0.001, 0},
		"ten times the load": {simScenario{rate: func(at float64) float64 { return 20 + 180*math.Min(math.Max(at-120, 0)/30, 1) }}, 0.001, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.sc.length, c.sc.base, c.sc.start = 300, pair, start
			if c.sc.rate == nil {
				c.sc.rate = flat(100)
			}
			s := newSim(c.sc, false, 3).run()
			for at, w := range s.history {
				if math.Abs(w[0]-0.75) > c.most {
					t.Fatalf("at %d s the first is at %.3f", at, w[0])
				}
			}
			if got := len(s.turns(0)); got > c.turn {
				t.Errorf("turned %d times", got)
			}
			if got := s.history[len(s.history)-1][0]; got < 0.69 {
				t.Errorf("ends at %.3f", got)
			}
		})
	}
}

func TestSimulated_AFlappingVendorDoesNotMakeTheWeightsFlap(t *testing.T) {
	// At 10 s every turn is an ejection or a ramp: as fast as trials allow.
	for period, most := range map[float64]int{10: 8, 20: 6, 60: 6} {
		t.Run(fmt.Sprint(period, " s"), func(t *testing.T) {
			sc := simScenario{length: 600, rate: flat(80), base: []float64{0.75, 0.25}, start: simPair(300, 300)}
			sc.change = func(at float64, v []*simVendor) {
				v[0].c.errors = 0
				if at > 60 && math.Mod(at, 2*period) < period {
					v[0].c.errors = 1
				}
			}
			s := newSim(sc, false, 5).run()
			if got := worstMinute(s.turns(0)); got > most {
				t.Errorf("turned %d times within a minute, at %v", got, s.turns(0))
			}
		})
	}
}

func TestSimulated_OverloadsOfManySizesSettle(t *testing.T) {
	pair, equal := []float64{0.75, 0.25}, []float64{0.5, 0.5}
	cases := map[string]struct {
		rate, before, after, second float64
		base                        []float64
	}{
		"the weakest case, second small":  {120, 140, 85, 60, pair},
		"more than half gone":             {120, 140, 60, 140, pair},
		"equal vendors":                   {100, 70, 40, 80, equal},
		"twice the size":                  {240, 280, 170, 280, pair},
		"enough is left: nothing to move": {120, 140, 95, 140, pair},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			sc := simScenario{length: 600, rate: flat(c.rate), base: c.base, start: simPair(c.before, c.second), event: 120}
			sc.change = between(120, 1e9, func(v []*simVendor) { v[0].c.capacity = c.after }, func([]*simVendor) {})
			s := newSim(sc, false, 1).run()
			r := s.row()
			if r.settles < 0 || r.settles > 120 || r.worst > 2 {
				t.Errorf("settled after %.0f s with %d turns in the worst minute", r.settles, r.worst)
			}
			if carried := r.final * c.rate; carried > c.after*1.01 {
				t.Errorf("left with %.0f of a capacity of %.0f requests/s", carried, c.after)
			}
		})
	}
}

package stress

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestQuantile_IsTheNearestRank(t *testing.T) {
	v := make([]float64, 100)
	for i := range v {
		v[i] = float64(i + 1)
	}
	for q, want := range map[float64]float64{0: 1, 0.01: 1, 0.5: 50, 0.501: 51, 0.9: 90, 0.99: 99, 0.995: 100, 1: 100} {
		if got := quantile(v, q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if !math.IsNaN(quantile(nil, 0.5)) {
		t.Error("there is a quantile of nothing")
	}
}

func TestBinomCDF_IsTheSumOfItsTerms(t *testing.T) {
	for _, c := range []struct {
		n int
		p float64
	}{{1, 0.5}, {20, 0.9}, {300, 0.99}, {1000, 0.5}} {
		sum := 0.0
		for k := range c.n + 1 {
			ln, _ := math.Lgamma(float64(c.n + 1))
			lk, _ := math.Lgamma(float64(k + 1))
			lr, _ := math.Lgamma(float64(c.n - k + 1))
			sum += math.Exp(ln - lk - lr + float64(k)*math.Log(c.p) + float64(c.n-k)*math.Log1p(-c.p))
			if got := binomCDF(k, c.n, c.p); math.Abs(got-sum) > 1e-9 {
				t.Fatalf("P(X <= %d; %d, %g) is %g, want %g", k, c.n, c.p, got, sum)
			}
		}
	}
}

func TestRanks_AQuantileNeedsSamplesForItsInterval(t *testing.T) {
	// The upper bound exists from the n on at which 0.99^n <= 0.025.
	if _, _, ok := ranks(367, 0.99); ok {
		t.Error("367 samples have a two-sided interval of P99")
	}
	if l, u, ok := ranks(368, 0.99); !ok || u != 368 || l >= u {
		t.Errorf("368 samples have ranks %d, %d, %t", l, u, ok)
	}
	if l, u, _ := ranks(1000, 0.99); l != 983 || u != 997 { // by summing the distribution's terms
		t.Errorf("1000 samples have ranks %d, %d", l, u)
	}
	if _, _, ok := ranks(leastP90-1, 0.9); ok {
		t.Error("35 samples have an interval of P90")
	}
	if _, _, ok := ranks(leastP90, 0.9); !ok {
		t.Error("36 samples have no interval of P90")
	}
	if _, _, ok := ranks(0, 0.5); ok {
		t.Error("nothing has an interval")
	}
}

func TestInterval_CoversTheTruthNineteenTimesOfTwenty(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	truth := -math.Log(0.1) // P90 of the exponential distribution
	const runs = 800
	covered := 0
	for range runs {
		v := make([]float64, 200)
		for i := range v {
			v[i] = rng.ExpFloat64()
		}
		slices.Sort(v)
		if ci := interval(v, 0.9); ci[0] <= truth && truth <= ci[1] {
			covered++
		}
	}
	if part := float64(covered) / runs; part < 0.93 || part > 0.985 {
		t.Errorf("%.3f of the intervals hold the truth, want 0.95 and a little more", part)
	}
}

func TestRatios_HoldTheTruthAndSeeADifference(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(scale float64) []timed {
		v := make([]timed, 1000)
		for i := range v {
			v[i] = timed{scale * math.Exp(0.3*rng.NormFloat64()), i / 50}
		}
		return v
	}
	qs := []float64{0.5, 0.9, 0.99}
	for _, ci := range ratios(draw(100), draw(150), qs, rng) {
		if ci == nil || ci[0] > 1.5 || ci[1] < 1.5 || ci[0] <= 1 {
			t.Errorf("the interval of 1.5 times is %v", ci)
		}
	}
	same := 0
	for range 20 {
		if ci := ratios(draw(100), draw(100), qs[:1], rng)[0]; ci[0] <= 1 && 1 <= ci[1] {
			same++
		}
	}
	if same < 16 {
		t.Errorf("of 20 pairs without a difference %d have 1 in their interval", same)
	}
}

func TestRatios_AResampleIsBySeconds(t *testing.T) {
	// Within a second all are alike: single samples drawn at random would give an interval
	// far too narrow.
	rng := rand.New(rand.NewPCG(5, 6))
	var a, b []timed
	for second := range 20 {
		x, y := 100*math.Exp(0.5*rng.NormFloat64()), 100*math.Exp(0.5*rng.NormFloat64())
		for range 100 {
			a, b = append(a, timed{x, second}), append(b, timed{y, second})
		}
	}
	if ci := ratios(a, b, []float64{0.5}, rng)[0]; ci[1]-ci[0] < 0.3 {
		t.Errorf("the interval is %v: too narrow for 20 seconds that differ by half", ci)
	}
}

func TestRatios_OfTooFewSecondsAreNone(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	one := []timed{{1, 0}, {2, 0}}
	if ci := ratios(one, one, []float64{0.5}, rng); ci[0] != nil {
		t.Errorf("one second has the interval %v", ci[0])
	}
	if ci := ratios(nil, one, []float64{0.5}, rng); ci[0] != nil {
		t.Errorf("nothing has the interval %v", ci[0])
	}
}

func TestDispersion_IsOneOfArrivalsAndNothingOfAClock(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	counts := make([]float64, 400)
	at := 0.0
	for at < 400 {
		counts[int(at)]++
		at += rng.ExpFloat64() / 20
	}
	if d := dispersion(counts); d < 0.75 || d > 1.3 {
		t.Errorf("of Poisson arrivals it is %g", d)
	}
	if d := dispersion([]float64{20, 20, 21, 19, 20}); d > 0.1 {
		t.Errorf("of a clock it is %g", d)
	}
	if !math.IsNaN(dispersion(nil)) {
		t.Error("nothing has a dispersion")
	}
}

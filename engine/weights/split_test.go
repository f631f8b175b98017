package weights

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, eps float64) bool { return math.Abs(a-b) <= eps }

func TestSplit_BatchFillsTheSecondaryFirst(t *testing.T) {
	cases := map[string]struct {
		batch, secondaryInteractive, secondaryBatch float64
	}{
		"no batch":      {0, 0.25, 1},
		"tenth":         {0.10, 0.15 / 0.9, 1},
		"quarter":       {0.25, 0.05, 0.85},
		"half":          {0.50, 0.05, 0.45},
		"nearly all":    {0.90, 0.05, 0.245 / 0.9},
		"nothing but":   {1, 0.05, 0.25},
		"nonsense high": {7, 0.05, 0.25},
		"not a number":  {math.NaN(), 0.25, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			i, b := Split([]float64{0.75, 0.25}, 0, c.batch, nil)
			if !near(i[1], c.secondaryInteractive, 1e-4) || !near(b[1], c.secondaryBatch, 1e-4) {
				t.Errorf("secondary has %.4f of interactive and %.4f of batch, want %.4f and %.4f", i[1], b[1], c.secondaryInteractive, c.secondaryBatch)
			}
		})
	}
}

func TestSplit_TogetherTheLanesCarryTheWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n := 1 + rng.IntN(6)
		w, may := make([]float64, n), make([]bool, n)
		for i := range w {
			w[i], may[i] = rng.Float64(), true
		}
		normalise(w)
		b, primary := rng.Float64(), rng.IntN(n+1)-1
		inter, batch := Split(w, primary, b, may)
		if !near(sum(inter), 1, 1e-9) || !near(sum(batch), 1, 1e-9) {
			t.Fatalf("lanes sum to %v and %v", sum(inter), sum(batch))
		}
		for i := range w {
			if got := inter[i]*(1-b) + batch[i]*b; !near(got, w[i], 1e-6) {
				t.Fatalf("weights %v primary %d batch %.3f: vendor %d carries %.6f", w, primary, b, i, got)
			}
			least := math.Min(math.Min(interactiveMin, 1/float64(n)), w[i]/(1-b))
			if inter[i] < least-1e-6 {
				t.Fatalf("weights %v batch %.3f: vendor %d has %.6f of interactive, want %.6f", w, b, i, inter[i], least)
			}
		}
	}
}

func TestSplit_GivesNothingToWhoMayNot(t *testing.T) {
	cases := map[string]struct {
		w           []float64
		may         []bool
		inter, want []float64
	}{
		"primary gone":   {[]float64{0.75, 0.25}, []bool{false, true}, []float64{0, 1}, []float64{0, 1}},
		"secondary gone": {[]float64{0.75, 0.25}, []bool{true, false}, []float64{1, 0}, []float64{1, 0}},
		"nobody":         {[]float64{0.75, 0.25}, []bool{false, false}, []float64{0, 0}, []float64{0, 0}},
		"no weight left": {[]float64{1, 0}, []bool{false, true}, []float64{0, 1}, []float64{0, 1}},
		"all zero":       {[]float64{0, 0}, nil, []float64{0.5, 0.5}, []float64{0, 1}},
		"weight 0":       {[]float64{1, 0}, nil, []float64{1, 0}, []float64{1, 0}},
		"nonsense":       {[]float64{math.NaN(), math.Inf(1)}, nil, []float64{0, 1}, []float64{0, 1}},
		"may too short":  {[]float64{0.5, 0.5}, []bool{true}, []float64{1, 0}, []float64{1, 0}},
		"none":           {nil, nil, nil, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			inter, batch := Split(c.w, 0, 0.25, c.may)
			for i := range c.w {
				if name == "all zero" {
					break
				}
				if !near(inter[i], c.inter[i], 1e-9) || !near(batch[i], c.want[i], 1e-9) {
					t.Fatalf("interactive %v batch %v, want %v %v", inter, batch, c.inter, c.want)
				}
			}
		})
	}
}

func TestSplit_PrefersAllSecondariesByWeight(t *testing.T) {
	_, batch := Split([]float64{0.6, 0.3, 0.1}, 0, 0.2, nil)
	if !near(batch[0], 0, 1e-9) || !near(batch[1], 0.7, 1e-9) && !near(batch[1], 0.75, 1e-9) {
		t.Fatalf("batch %v", batch)
	}
}

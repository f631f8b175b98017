package weights

import (
	"math"
	"math/rand/v2"
	"testing"
)

func all(int) bool { return true }

func TestPicker_IsWithinOneRequestOverAnyRun(t *testing.T) {
	cases := map[string][]float64{
		"75/25": {0.75, 0.25}, "95/5": {0.95, 0.05}, "three": {0.5, 0.3, 0.2}, "equal": {0.5, 0.5},
		"crooked": {0.731, 0.269}, "five": {0.4, 0.3, 0.15, 0.1, 0.05},
	}
	for name, w := range cases {
		t.Run(name, func(t *testing.T) {
			var p Picker
			counts := make([]int, len(w))
			history := [][]int{append([]int(nil), counts...)}
			for range 400 {
				counts[p.Pick(w, all)]++
				history = append(history, append([]int(nil), counts...))
			}
			for from := range history {
				for to := from + 1; to < len(history); to += 7 {
					for i := range w {
						got, want := float64(history[to][i]-history[from][i]), w[i]*float64(to-from)
						if math.Abs(got-want) > 1.6 {
							t.Fatalf("picks %d-%d: vendor %d got %v, exact is %.2f", from, to, i, got, want)
						}
					}
				}
			}
		})
	}
}

func TestPicker_StaysExactWhileWeightsChangeEverySecond(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var p Picker
	owed := make([]float64, 2)
	for range 600 {
		w := 0.05 + 0.9*rng.Float64()
		weights := []float64{w, 1 - w}
		for range 20 {
			owed[0] += weights[0]
			owed[1] += weights[1]
			owed[p.Pick(weights, all)]--
		}
		if math.Abs(owed[0]) > 1 {
			t.Fatalf("off by %.2f requests", owed[0])
		}
	}
}

func TestPicker_AnExcludedVendorCollectsNoDebt(t *testing.T) {
	var p Picker
	w := []float64{0.5, 0.5}
	for range 10000 {
		if p.Pick(w, func(i int) bool { return i == 0 }) != 0 {
			t.Fatal("picked an excluded vendor")
		}
	}
	got := 0
	for range 20 {
		got += p.Pick(w, all)
	}
	if got < 9 || got > 11 {
		t.Fatalf("%d of the first 20 went to the vendor that was away, want about 10", got)
	}
}

func TestPicker_AnIntermittentExclusionMovesOnlyItsOwnPart(t *testing.T) {
	var p Picker
	w, counts := []float64{0.5, 0.3, 0.2}, make([]int, 3)
	for n := range 10000 {
		counts[p.Pick(w, func(i int) bool { return i != 1 || n%4 != 0 })]++
	}
	// A quarter of the time the second is away and its part goes 5:2 to the others.
	want := []float64{0.75*0.5 + 0.25*0.5/0.7, 0.75 * 0.3, 0.75*0.2 + 0.25*0.2/0.7}
	for i := range want {
		if !near(float64(counts[i])/10000, want[i], 0.005) {
			t.Fatalf("counts %v, want %v", counts, want)
		}
	}
}

func TestPicker_AVendorWithoutWeightTakesNothingLater(t *testing.T) {
	var p Picker
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		for range 1 + rng.IntN(7) {
			p.Pick([]float64{0.6, 0.4, 0}, all)
		}
		for range 1 + rng.IntN(7) {
			if p.Pick([]float64{1, 0, 0}, all) != 0 {
				t.Fatal("picked a vendor of weight 0")
			}
		}
	}
	got := 0
	for range 10 {
		if p.Pick([]float64{0.3, 0.2, 0.5}, all) == 2 {
			got++
		}
	}
	if got < 4 || got > 6 {
		t.Fatalf("%d of 10 to a joining vendor of weight 0.5", got)
	}
}

func TestPicker_RescuesInTurnWhenNobodyWithWeightMay(t *testing.T) {
	var p Picker
	w, counts := []float64{1, 0, 0}, make([]int, 3)
	for range 10 {
		counts[p.Pick(w, func(i int) bool { return i != 0 })]++
	}
	if counts[1] != 5 || counts[2] != 5 {
		t.Fatalf("counts %v, want the two rescuers in turn", counts)
	}
	if got := p.Pick(w, func(int) bool { return false }); got != -1 {
		t.Fatalf("picked %d though nobody may", got)
	}
	if got := p.Pick(nil, all); got != -1 {
		t.Fatalf("picked %d of no vendors", got)
	}
}

func TestPicker_SurvivesNonsense(t *testing.T) {
	var p Picker
	for range 100 {
		if got := p.Pick([]float64{math.NaN(), -1, 0.5}, all); got != 2 {
			t.Fatalf("picked %d", got)
		}
	}
}

func BenchmarkPick(b *testing.B) { // budget: 100 ns, 0 allocations
	var p Picker
	w := []float64{0.5, 0.3, 0.2}
	may := func(i int) bool { return i != 1 }
	b.ReportAllocs()
	for b.Loop() {
		p.Pick(w, may)
	}
}

func TestPicker_GrantsAWishWithinABoundAndNoFurther(t *testing.T) {
	cases := map[string]func(k int) int{
		"always the small one": func(int) int { return 1 },
		"always the large one": func(int) int { return 0 },
		"in blocks":            func(k int) int { return k / 50 % 2 },
		"nobody":               func(int) int { return -1 },
		"somebody unknown":     func(int) int { return 7 },
	}
	w := []float64{0.75, 0.25}
	for name, want := range cases {
		t.Run(name, func(t *testing.T) {
			var p Picker
			owed, granted := make([]float64, 2), 0
			for k := range 4000 {
				owed[0] += w[0]
				owed[1] += w[1]
				i := p.Prefer(w, all, want(k))
				owed[i]--
				if i == want(k) {
					granted++
				}
				if math.Abs(owed[0]) > ahead+1 {
					t.Fatalf("after %d requests vendor 0 is off by %.2f", k, owed[0])
				}
			}
			if name == "always the small one" && (granted < 990 || granted > 1010) {
				t.Errorf("%d of 4000 wishes for a vendor of a quarter were granted", granted)
			}
		})
	}
}

func TestPicker_AWishIsNeverOverWhoMayOrHasWeight(t *testing.T) {
	var p Picker
	for range 100 {
		if i := p.Prefer([]float64{0.5, 0.5}, func(i int) bool { return i == 0 }, 1); i != 0 {
			t.Fatalf("vendor %d may not", i)
		}
		if i := p.Prefer([]float64{1, 0}, all, 1); i != 0 {
			t.Fatalf("vendor %d has no weight", i)
		}
	}
	if i := p.Prefer([]float64{0.5, 0.5}, func(int) bool { return false }, 1); i != -1 {
		t.Fatalf("%d where nobody may", i)
	}
}

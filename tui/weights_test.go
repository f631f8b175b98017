package tui

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

func sum(w []float64) float64 {
	s := 0.0
	for _, x := range w {
		s += x
	}
	return s
}

func TestSpread_MakesRoomInProportion(t *testing.T) {
	for _, c := range []struct {
		name  string
		w     []float64
		i     int
		v     float64
		fixed []bool
		want  []float64
		ok    bool
	}{
		{"two", []float64{75, 25}, 0, 60, []bool{false, false}, []float64{60, 40}, true},
		{"in proportion", []float64{40, 40, 20}, 0, 10, make([]bool, 3), []float64{10, 60, 30}, true},
		{"largest remainder", []float64{34, 33, 33}, 0, 35, make([]bool, 3), []float64{35, 33, 32}, true},
		{"a locked one keeps its weight", []float64{40, 40, 20}, 0, 50, []bool{false, true, false}, []float64{50, 40, 10}, true},
		{"no more than there is", []float64{40, 40, 20}, 0, 90, []bool{false, true, false}, []float64{60, 40, 0}, true},
		{"from nothing they share alike", []float64{100, 0, 0}, 0, 40, make([]bool, 3), []float64{40, 30, 30}, true},
		{"nobody can", []float64{75, 25}, 0, 60, []bool{false, true}, []float64{75, 25}, false},
		{"below zero", []float64{75, 25}, 1, -3, make([]bool, 2), []float64{100, 0}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := spread(c.w, c.i, c.v, c.fixed)
			if ok != c.ok || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v, %v, want %v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

func TestSpread_AlwaysSumsTo100InWholePercents(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		n := 2 + r.IntN(6)
		w := make([]float64, n)
		fixed := make([]bool, n)
		for i := range w {
			w[i] = r.Float64() * 50
			fixed[i] = r.IntN(4) == 0
		}
		w = toHundred(w)
		got, _ := spread(w, r.IntN(n), float64(r.IntN(120)-10), fixed)
		for _, v := range [][]float64{w, got, equalise(w, make([]bool, n))} {
			if sum(v) != 100 {
				t.Fatalf("%v sums to %v", v, sum(v))
			}
			for _, x := range v {
				if x < 0 || x != math.Trunc(x) {
					t.Fatalf("%v has a part that is no whole percent", v)
				}
			}
		}
	}
}

func TestToHundred_TakesWhatIsNoNumber(t *testing.T) {
	for _, w := range [][]float64{{math.NaN(), 30}, {math.Inf(1), -4}, {0, 0, 0}, {33.3, 33.3, 33.4}, {1e-9, 99}} {
		if got := toHundred(w); sum(got) != 100 {
			t.Errorf("%v became %v", w, got)
		}
	}
}

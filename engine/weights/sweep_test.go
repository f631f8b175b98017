package weights

import (
	"fmt"
	"os"
	"testing"
)

func TestSweep(t *testing.T) {
	if os.Getenv("SWEEP") == "" {
		t.Skip()
	}
	nothing := func([]*simVendor) {}
	pair := []float64{0.75, 0.25}
	drop := func(to float64) func(float64, []*simVendor) {
		return between(120, 1e9, func(v []*simVendor) { v[0].c.capacity = to }, nothing)
	}
	scs := []simScenario{
		{name: "140-85 second 140", length: 900, rate: flat(120), base: pair, start: simPair(140, 140), event: 120, change: drop(85)},
		{name: "140-85 second 60", length: 900, rate: flat(120), base: pair, start: simPair(140, 60), event: 120, change: drop(85)},
		{name: "140-60", length: 900, rate: flat(120), base: pair, start: simPair(140, 140), event: 120, change: drop(60)},
		{name: "140-95", length: 900, rate: flat(120), base: pair, start: simPair(140, 140), event: 120, change: drop(95)},
		{name: "equal 70-40", length: 900, rate: flat(100), base: []float64{0.5, 0.5}, start: simPair(70, 80), event: 120, change: drop(40)},
		{name: "280-170 at 240", length: 900, rate: flat(240), base: pair, start: simPair(280, 280), event: 120, change: drop(170)},
		{name: "35-21 at 30", length: 900, rate: flat(30), base: pair, start: simPair(35, 35), event: 120, change: drop(21.25)},
		{name: "140-85-140", length: 1200, rate: flat(120), base: pair, start: simPair(140, 140), event: 120, wellAt: 420, change: between(120, 420, func(v []*simVendor) { v[0].c.capacity = 85 }, func(v []*simVendor) { v[0].c.capacity = 140 })},
	}
	for _, sc := range scs {
		for seed := uint64(1); seed <= 6; seed++ {
			r := newSim(sc, false, seed).run().row()
			fmt.Printf("%-34s %9.2f %5d %8.0fs %7.0fs %7.1f%% %8.2f%% %7.2fs %5d\n", sc.name, r.turns, r.worst, r.settles, r.back, 100*r.final, 100*r.errors, r.p90, r.ejections)
		}
	}
}

package weights

import "time"

func flat(rps float64) func(float64) float64 { return func(float64) float64 { return rps } }

func simPair(first, second float64) []simConditions {
	return []simConditions{{factor: 1, capacity: first}, {factor: 1, capacity: second}}
}

// between calls set at the start and clear at the end.
func between(from, to float64, set, clear func(v []*simVendor)) func(float64, []*simVendor) {
	return func(t float64, v []*simVendor) {
		switch t {
		case from:
			set(v)
		case to:
			clear(v)
		}
	}
}

func simScenarios() []simScenario {
	pair := []float64{0.75, 0.25}
	nothing := func([]*simVendor) {}
	return []simScenario{
		{name: "steady, equal", length: 600, rate: flat(100), base: pair, start: simPair(300, 300)},
		{name: "second 10 % slower", length: 600, rate: flat(100), base: pair, start: []simConditions{{factor: 1, capacity: 300}, {factor: 1.1, capacity: 300}}},
		{name: "both at 85 % load", length: 600, rate: flat(170), base: pair, start: simPair(150, 50)},
		{
			name: "latency rises with load, first 1.5x", length: 600, rate: flat(150), base: pair, event: 120,
			start:  []simConditions{{factor: 1, capacity: 170, elastic: true}, {factor: 1, capacity: 80, elastic: true}},
			tune:   func(p *Params) { p.SLOP90 = 600 * time.Millisecond },
			change: between(120, 1e9, func(v []*simVendor) { v[0].c.factor = 1.5 }, nothing),
		},
		{
			name: "first 5x slower", length: 600, rate: flat(100), base: pair, start: simPair(600, 300), event: 120, tune: func(p *Params) { p.SLOHold = 1e9 * time.Second },
			change: between(120, 1e9, func(v []*simVendor) { v[0].c.factor = 5 }, nothing),
		},
		{
			name: "first 5x slower, SLO floor on", length: 600, rate: flat(100), base: pair, start: simPair(600, 300), event: 120,
			change: between(120, 1e9, func(v []*simVendor) { v[0].c.factor = 5 }, nothing),
		},
		{
			name: "first 20 % errors", length: 600, rate: flat(100), base: pair, start: simPair(300, 300), event: 120,
			change: between(120, 1e9, func(v []*simVendor) { v[0].c.errors = 0.2 }, nothing),
		},
		{
			name: "blackhole 120 s", length: 600, rate: flat(100), base: pair, start: simPair(300, 300), event: 120, wellAt: 240,
			change: between(120, 240, func(v []*simVendor) { v[0].c.blackhole = true }, func(v []*simVendor) { v[0].c.blackhole = false }),
		},
		{
			name: "100 % 5xx 120 s", length: 600, rate: flat(100), base: pair, start: simPair(300, 300), event: 120, wellAt: 240,
			change: between(120, 240, func(v []*simVendor) { v[0].c.errors = 1 }, func(v []*simVendor) { v[0].c.errors = 0 }),
		},
		{
			name: "second limited to 20 of 200/s", length: 600, rate: flat(200), base: pair, start: simPair(400, 400), event: 120, limited: true,
			change: between(120, 1e9, func(v []*simVendor) { v[1].c.limit = 20 }, nothing),
		},
		{
			name: "4 -> 1,600 requests/s", length: 300, base: pair, start: simPair(1500, 500), event: 120,
			rate: func(t float64) float64 {
				if t < 120 || t > 180 {
					return 4
				}
				return 1600
			},
		},
		{
			name: "capacity of the first 140 -> 85", length: 900, rate: flat(120), base: pair, start: simPair(140, 140), event: 120, settleIn: 5,
			change: between(120, 1e9, func(v []*simVendor) { v[0].c.capacity = 85 }, nothing),
		},
		{
			name: "both fail 60 s", length: 600, rate: flat(100), base: pair, start: simPair(300, 300), event: 120, wellAt: 180,
			change: between(120, 180, func(v []*simVendor) { v[0].c.errors, v[1].c.errors = 1, 1 }, func(v []*simVendor) { v[0].c.errors, v[1].c.errors = 0, 0 }),
		},
	}
}

package sim

import (
	"math"
	"slices"
	"testing"
	"time"
)

// draws samples the elastic model at a load, without sleeping.
func draws(t *testing.T, n int, load float64, cached int) (first, total []time.Duration) {
	t.Helper()
	o, err := Options{Seed: 7}.fill()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		rng := requestRand(o.Seed, uint64(i))
		tm := drawElastic(&o, conditions{rng: rng, load: load, cached: cached})
		tokens := max(int(lognormal(rng, float64(o.Tokens), o.TokenSigma)+0.5), 1)
		first = append(first, tm.start)
		total = append(total, tm.start+tm.rest(tokens))
	}
	slices.Sort(first)
	slices.Sort(total)
	return first, total
}

func quantile(sorted []time.Duration, q float64) float64 {
	return milliseconds(sorted[int(q*float64(len(sorted)-1))])
}

func TestElastic_FirstTokenMatchesItsCalibration(t *testing.T) {
	first, total := draws(t, 50_000, 0.3, 0)
	for _, c := range []struct {
		name      string
		got, want float64
		within    float64
	}{
		{"first token P50", quantile(first, 0.5), 302, 0.02},
		{"first token P90", quantile(first, 0.9), 471, 0.02},
		{"first token P99", quantile(first, 0.99), 718, 0.04},
		{"FAQ answer P99", quantile(total, 0.99), 1250, 0.08},
	} {
		if math.Abs(c.got-c.want) > c.within*c.want {
			t.Errorf("%s = %.0f ms, want %.0f within %.0f %%", c.name, c.got, c.want, 100*c.within)
		}
	}
}

func TestElastic_LoadSlowsTheFirstTokenByAQuarterAtMost(t *testing.T) {
	idle, _ := draws(t, 20_000, 0, 0)
	full, _ := draws(t, 20_000, 1, 0)
	if ratio := quantile(full, 0.5) / quantile(idle, 0.5); math.Abs(ratio-1.25) > 0.001 {
		t.Errorf("median at load 1 over load 0 = %.3f, want 1.25", ratio)
	}
}

func TestElastic_ACachedPrefixSavesEightyMicrosecondsPerToken(t *testing.T) {
	cold, _ := draws(t, 1000, 0, 0)
	warm, _ := draws(t, 1000, 0, 1024)
	if got := quantile(cold, 0.5) - quantile(warm, 0.5); math.Abs(got-81.92) > 0.01 {
		t.Errorf("1024 cached tokens save %.2f ms, want 81.92", got)
	}
	floor, _ := draws(t, 1000, 0, 1_000_000)
	if floor[0] <= 0 {
		t.Errorf("first token after a huge cached prefix = %v, want above 0", floor[0])
	}
}

func TestRequestRand_SameSeedAndNumberDrawTheSame(t *testing.T) {
	a, b, c := requestRand(1, 5).Uint64(), requestRand(1, 5).Uint64(), requestRand(1, 6).Uint64()
	if a != b || a == c {
		t.Errorf("draws %x %x %x: want the first two equal, the third not", a, b, c)
	}
}

func TestElasticity_GrowsOnlyAfterThirtyHotSeconds(t *testing.T) {
	now := time.Unix(0, 0)
	e := elasticity{capacity: 100}
	if load := e.observe(now, 300, growAfter); load != 1 {
		t.Errorf("load at 300 of 100 = %v, want 1", load)
	}
	e.observe(now.Add(29*time.Second), 90, growAfter)
	if e.capacity != 100 {
		t.Errorf("capacity after 29 s = %v, want 100", e.capacity)
	}
	e.observe(now.Add(30*time.Second), 90, growAfter)
	if e.capacity != 130 {
		t.Errorf("capacity after 30 s = %v, want 130", e.capacity)
	}
	e.observe(now.Add(50*time.Second), 10, growAfter) // cools down: the next thirty seconds begin anew
	e.observe(now.Add(61*time.Second), 129, growAfter)
	if e.capacity != 130 {
		t.Errorf("capacity after a cool spell = %v, want 130", e.capacity)
	}
}

func TestBucket_AdmitsItsRate(t *testing.T) {
	var b bucket
	now := time.Unix(0, 0)
	admitted := 0
	for i := range 1000 { // 100 per second for ten seconds
		if b.take(now.Add(time.Duration(i)*10*time.Millisecond), 20, 1, 1) {
			admitted++
		}
	}
	if admitted < 215 || admitted > 222 {
		t.Errorf("admitted %d in 10 s at 20/s with a bucket of 20, want about 219", admitted)
	}
}

func TestPrefixCache_CountsLeadingBlocksSeenBefore(t *testing.T) {
	c := prefixCache{capacity: 4}
	for _, step := range []struct {
		blocks []uint64
		want   int
	}{
		{[]uint64{1, 2, 3}, 0},
		{[]uint64{1, 2, 9}, 2 * blockTokens},
		{[]uint64{7, 2, 3}, 0},
		{nil, 0},
	} {
		if got := c.visit(step.blocks, blockTokens); got != step.want {
			t.Errorf("visit(%v) = %d, want %d", step.blocks, got, step.want)
		}
	}
	if n := len(c.young) + len(c.old); n > 2*c.capacity {
		t.Errorf("the cache holds %d blocks, want at most %d", n, 2*c.capacity)
	}
}

func TestCompose_WritesAboutAsManyTokensAsWanted(t *testing.T) {
	for _, question := range []string{"", "How do I return the kettle?", "怎么开发票？"} {
		var sum, want float64
		rng := requestRand(3, 0)
		for range 2000 {
			n := max(int(lognormal(rng, 24, 0.3)+0.5), 1)
			sum += float64(len(compose(rng, question, n)))
			want += float64(n)
		}
		if ratio := sum / want; ratio < 0.93 || ratio > 1.07 {
			t.Errorf("answers to %q have %.2f of the wanted tokens, want about 1", question, ratio)
		}
	}
}

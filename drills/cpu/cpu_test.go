package cpu

import (
	"context"
	"sync"
	"testing"
	"time"
)

// busy works until the processor time of everybody who calls it has passed.
func busy(rounds int) uint64 {
	x := uint64(88172645463325252)
	for range rounds {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

var sink uint64

func TestMeasure_TellsPartsApartAndFollowsTheirGoroutines(t *testing.T) {
	// As many rounds as take 50 ms here; then three parts to one.
	rounds := 1 << 20
	for begun := time.Now(); ; rounds *= 2 {
		sink += busy(rounds)
		if d := time.Since(begun); d > 50*time.Millisecond {
			break
		}
		begun = time.Now()
	}
	m, err := Start()
	if err != nil {
		t.Skip(err) // the test itself is being profiled
	}
	work := func(part string, times int) {
		As(t.Context(), part, func(context.Context) {
			var wg sync.WaitGroup
			wg.Go(func() {
				for range times {
					_ = busy(rounds)
				}
			})
			wg.Wait()
		})
	}
	work("light", 10)
	work("heavy", 30)
	if _, err := Start(); err == nil {
		t.Error("two measures at once")
	}
	took, got, err := m.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if r := got["heavy"] / got["light"]; r < 2 || r > 4.5 {
		t.Errorf("heavy took %.1f times of light, it did 3 times the work: %v in %v", r, got, took)
	}
	if got["light"] < 0.2 {
		t.Errorf("light took %.2f s of %v", got["light"], took)
	}
	if _, again, _ := m.Stop(); again["heavy"] != got["heavy"] {
		t.Errorf("a second Stop gives %v, the first %v", again, got)
	}
}

//go:build unix

package cpu

import (
	"context"
	"sync"
	"syscall"
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

// taken is the processor time of the process, as the system counts it.
func taken(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func TestMeasure_TellsPartsApartAndFollowsTheirGoroutines(t *testing.T) {
	// As many rounds as take 50 ms of a processor here; then three parts to one.
	rounds := 1 << 20
	for {
		begun := taken(t)
		sink += busy(rounds)
		if taken(t)-begun > 50*time.Millisecond {
			break
		}
		rounds *= 2
	}
	before := taken(t)
	m, err := Start()
	if err != nil {
		t.Fatal(err)
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
	spent := taken(t) - before
	_, got, err := m.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if r := got["heavy"] / got["light"]; r < 2 || r > 4.5 {
		t.Errorf("heavy took %.1f times of light, it did 3 times the work: %v", r, got)
	}
	if sum := got["heavy"] + got["light"] + got[Other]; sum < 0.75*spent.Seconds()-0.1 || sum > 1.25*spent.Seconds()+0.1 {
		t.Errorf("the parts took %v, the process %v", got, spent)
	}
	if _, again, _ := m.Stop(); again["heavy"] != got["heavy"] {
		t.Errorf("a second Stop gives %v, the first %v", again, got)
	}
}

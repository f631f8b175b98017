package sim

import (
	"testing"
	"time"
)

// However short the line is and at whatever nanosecond its head is due, a queueing limiter lets no more
// through than its rate.
func TestLimit_AShortLineLetsNoMoreThroughThanALongOne(t *testing.T) {
	const rate = 23
	for _, longest := range []int{1, 5, 90} {
		l := newLimits(&Options{Limit: rate, LimitMode: limitQueue, LimitQueue: 1000})
		begun := time.Unix(0, 0)
		now, through, waiting := begun, 0, []*ticket{}
		for i := 0; now.Sub(begun) < 20*time.Second; i++ {
			l.advance(now)
			kept := waiting[:0]
			for _, w := range waiting {
				select {
				case <-w.admitted:
					through++
				default:
					kept = append(kept, w)
				}
			}
			if waiting = kept; len(waiting) < longest {
				w, refused := l.arrive(now, "m", 10)
				switch {
				case refused != nil:
					t.Fatal("refused")
				case w == nil:
					through++
				default:
					waiting = append(waiting, w)
				}
			}
			now = now.Add(7*time.Millisecond + time.Duration(i%1000)*time.Nanosecond)
		}
		if through > rate+20*rate+1 {
			t.Errorf("a line of %d: %d in 20 s at %d/s", longest, through, rate)
		}
	}
}

package story

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// Machine is how well this machine keeps time.
type Machine struct {
	N         int     `json:"n"`
	P50ms     float64 `json:"p50_ms"` // first token of an unloaded elastic vendor, as seen here
	P99ms     float64 `json:"p99_ms"`
	WantP50ms float64 `json:"want_p50_ms"` // what its model says
	LateMs    float64 `json:"late_ms"`     // P99 of how late a timer of this process is
	TooSlow   bool    `json:"too_slow"`
	Note      string  `json:"note"`
}

const (
	// modelP50 is the median first token of an elastic vendor without load, ms: the
	// simulator's own parameter.
	modelP50 = 280.0
	// lateBound is how late timers may be, ms: the shortest first token of the story
	// is some 50 ms.
	lateBound = 25.0
)

// calibrate measures the machine: whether an unloaded vendor's median first token
// arrives as its model says, and how late timers are meanwhile.
func (s *show) calibrate(ctx context.Context) error {
	url, stop, err := s.stage.Vendor(Simulated{Name: "calibration", Profile: "elastic", Seed: 9})
	if err != nil {
		return err
	}
	defer stop()
	begin := time.Now()
	t := new(tally)
	watching, seen := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		each(watching, func() {
			s.tell(Scene{
				Of: len(acts) + 1, Title: "Measuring this machine", Caption: "An unloaded vendor answers; its times are known. What is seen here has to agree with them.",
				Load: arrival.said, At: time.Since(begin), Length: calibration, Left: max(0, Length()-time.Since(s.begun)), Warm: true,
			})
		})
	})
	late := make(chan float64, 1)
	wg.Go(func() { late <- lateness(watching) })
	s.send(ctx, arrival, url, true, calibration-2*time.Second, t)
	seen()
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f := t.between(begin, time.Now(), true)
	s.report.Machine = machine(&f, <-late)
	return nil
}

// machine judges what the calibration has shown.
func machine(f *Figures, late float64) Machine {
	m := Machine{N: f.N, WantP50ms: modelP50, LateMs: late}
	if f.P50ms != nil {
		m.P50ms, m.P99ms = *f.P50ms, *f.P99ms
	}
	switch off := math.Abs(m.P50ms-modelP50) / modelP50; {
	case f.Failed > f.N/20 || f.N < 50:
		m.TooSlow, m.Note = true, "too few of its answers came"
	case off > 0.2:
		m.TooSlow, m.Note = true, "an unloaded vendor's median is off by more than 20 %"
	case late > lateBound:
		m.TooSlow, m.Note = true, "timers are late by more than 25 ms"
	default:
		m.Note = "it keeps the vendors' own times"
	}
	return m
}

// lateness is the P99 of how late a sleep of 10 ms ends, in ms.
func lateness(ctx context.Context) float64 {
	const nap = 10 * time.Millisecond
	var all []float64
	for ctx.Err() == nil {
		begin := time.Now()
		time.Sleep(nap)
		all = append(all, ms(time.Since(begin)-nap))
	}
	slices.Sort(all)
	if v := quantile(all, 0.99); v != nil {
		return *v
	}
	return 0
}

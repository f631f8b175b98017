// Package cpu says how much processor time each part of this process takes,
// where generator, gateway and vendors share one.
//
// Use: run a part's servers under [As]; every goroutine that they start counts
// to it. [Start] begins to measure, and Stop gives the seconds by part:
//
//	go cpu.As(ctx, "gateway", func(ctx context.Context) { server.Serve(l) })
//	m, err := cpu.Start()
//	...
//	seconds, err := m.Stop()
//
// It is a statistical measure: the runtime's own profiler takes a sample each
// 10 ms of processor time, so a part that took 1 s is right to about 10 %
// (1/sqrt(100)), and one that took less than 100 ms is a guess. What has no
// label (garbage collection, the scheduler, the rest of baton) is Other. Only
// one measure can run in a process, and none beside a profile that somebody
// else has started.
package cpu

import (
	"bytes"
	"context"
	"fmt"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/google/pprof/profile"
)

// Other is the part of whatever runs under no label.
const Other = "other"

const label = "part"

// As runs f as the part of that name, with every goroutine that it starts.
func As(ctx context.Context, part string, f func(context.Context)) {
	pprof.Do(ctx, pprof.Labels(label, part), f)
}

// Measure is a measurement under way.
type Measure struct {
	once sync.Once
	data bytes.Buffer
}

// Start begins to measure. It fails where a profile is being taken already.
func Start() (*Measure, error) {
	m := new(Measure)
	if err := pprof.StartCPUProfile(&m.data); err != nil {
		return nil, fmt.Errorf("measure processor time: %w", err)
	}
	return m, nil
}

// Stop ends the measurement and returns how long it was, and the seconds of
// processor time by part. A second Stop gives the same again.
func (m *Measure) Stop() (took time.Duration, seconds map[string]float64, err error) {
	m.once.Do(pprof.StopCPUProfile)
	p, err := profile.Parse(bytes.NewReader(m.data.Bytes()))
	if err != nil {
		return 0, nil, fmt.Errorf("read the measure of processor time: %w", err)
	}
	seconds = map[string]float64{}
	at := len(p.SampleType) - 1 // samples/count, then cpu/nanoseconds
	for _, s := range p.Sample {
		part := Other
		if l := s.Label[label]; len(l) > 0 {
			part = l[0]
		}
		seconds[part] += float64(s.Value[at]) / 1e9
	}
	return time.Duration(p.DurationNanos), seconds, nil
}

package speed

import (
	"fmt"
	"testing"
	"time"
)

// testCase is one kind of load.
type testCase struct {
	name        string
	connections int
	stream      bool
	wait        time.Duration // of the vendor before it answers
	gap         time.Duration // of the vendor between events
	open        bool          // requests come at a rate, whether or not earlier ones were answered
	rate        float64       // of the open loop, requests/s
}

func cases() []*testCase {
	return []*testCase{
		{name: "whole", connections: 64},
		{name: "streamed", connections: 64, stream: true},
		{name: "streamed, paced", connections: 64, stream: true, gap: 5 * time.Millisecond},
		{name: "500 streams, paced", connections: 500, stream: true, gap: 5 * time.Millisecond},
		{name: "open loop, whole", open: true, connections: 512, wait: 60 * time.Millisecond},
		{name: "open loop, streamed", open: true, connections: 512, stream: true, gap: 5 * time.Millisecond},
	}
}

// String says what the case does.
func (c *testCase) String() string {
	what := "whole answers"
	if c.stream {
		what = fmt.Sprintf("streams of %d events", chunks)
	}
	if c.gap > 0 {
		what += fmt.Sprintf(", %s apart", c.gap)
	}
	if c.wait > 0 {
		what += fmt.Sprintf(", a vendor that takes %s", c.wait)
	}
	if c.open {
		return fmt.Sprintf("%.0f requests/s whatever comes back, %s", c.rate, what)
	}
	return fmt.Sprintf("%d connections that ask again at once, %s", c.connections, what)
}

// openPart is the part of what the reference takes in a closed loop that the open
// loop asks for: well under what this machine can do with the load and the mock on
// it, so that what is measured is the way and not the queue.
const openPart = 0.35

// setRate gives an open loop its rate.
func (c *testCase) setRate(t *testing.T, reference *process) {
	switch {
	case *rate > 0:
		c.rate = *rate
	case *seconds == 0:
		c.rate = 100
	default:
		probe := newLoad(reference.addr, &testCase{connections: 64, stream: c.stream, gap: c.gap})
		defer probe.close()
		probe.run(500 * time.Millisecond)
		tally := probe.run(time.Second)
		c.rate = max(openPart*float64(tally.answers), 10)
		t.Logf("the reference takes %d requests/s in a closed loop: the open one asks for %.0f", tally.answers, c.rate)
	}
}

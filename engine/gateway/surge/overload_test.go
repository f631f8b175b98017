package surge

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"baton/engine/control"
	"baton/vendors/sim"
)

// strict asks for what a quiet machine shows. On one that has other work some
// of the requests of a test more or less decide, so that by default the bounds are
// wider: package admission holds the law's own aims in fake time.
var strict = os.Getenv("BATON_SURGE") == "strict"

// or is the bound of a quiet machine, or the loose one.
func or[T any](quiet, loose T) T {
	if strict {
		return quiet
	}
	return loose
}

// slack is what a machine adds to a tail: a quiet one that of a few late timers.
var slack = or(30*time.Millisecond, 500*time.Millisecond)

// capacity is what both vendors do together.
func (b *bench) capacity() float64 {
	b.Helper()
	c, err := can()
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("a vendor answers %.1f/s", c)
	return 2 * c
}

// served holds an overload against capacity and against what it was before it.
func (b *bench) served(f, before figures, capacity float64) {
	b.Helper()
	if f.other > 0 {
		b.Errorf("%d requests ended otherwise than with an answer or a refusal: %s", f.other, f.complaint)
	}
	if f.perSecond < or(0.95, 0.8)*capacity {
		b.Errorf("%.1f answers/s of %.1f that can be had", f.perSecond, capacity)
	}
	if most := before.p99*3/2 + slack; f.p99 > most {
		b.Errorf("the P99 of those who were admitted is %v, more than %v", f.p99, most)
	}
}

// refuses holds refusals against what an answer takes: they come at once.
func (b *bench) refuses(f, before figures) {
	b.Helper()
	if f.refused["interactive"] == 0 || f.refusedIn > before.p50+slack {
		b.Errorf("%d refused, in %v: those for whom there is no room are to hear it at once", f.refused["interactive"], f.refusedIn)
	}
}

// quiet ends the test where the machine has too much else to do: a vendor that is
// slow because its timers are late is another one every second.
func (b *bench) quiet(f figures) figures {
	b.Helper()
	if f.busy {
		b.Skipf("the machine is busy: %v", f)
	}
	return f
}

// normal holds a time after an overload against the time before it.
func (b *bench) normal(f, before figures) {
	b.Helper()
	refused := f.refused["interactive"] + f.refused["batch"]
	if refused*or(1000, 10) > f.n["interactive"]+f.n["batch"] || f.other > 0 {
		b.Errorf("after it %d are refused and %d end otherwise: %s", refused, f.other, f.complaint)
	}
	if most := before.p99*3/2 + slack; f.p99 > most {
		b.Errorf("after it P99 is %v, before %v", f.p99, before.p99)
	}
}

func TestOverload_GoodputStaysAndTheAdmittedAreServedWell(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	c := b.capacity()
	before := b.quiet(b.load(0.5*c, 0, 5*time.Second).figures(time.Second))
	over := b.quiet(b.load(1.3*c, 0, 12*time.Second).figures(4 * time.Second)) // nobody is refused until it shows, and that line has to go
	after := b.quiet(b.load(0.5*c, 0, 5*time.Second).figures(2 * time.Second))
	t.Logf("before: %v", before)
	t.Logf("over:   %v", over)
	t.Logf("after:  %v", after)
	b.served(over, before, c)
	b.refuses(over, before)
	b.normal(after, before)
}

func TestOverload_FromTheFirstRequestOnIsSeen(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	c := b.capacity()
	over := b.quiet(b.load(1.3*c, 0, 14*time.Second).figures(6 * time.Second))
	after := b.quiet(b.load(0.5*c, 0, 5*time.Second).figures(2 * time.Second))
	t.Logf("over:   %v", over)
	t.Logf("after:  %v", after)
	b.served(over, after, c)
	b.refuses(over, after)
	b.normal(after, after)
}

func TestOverload_BatchGoesFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, `deadline = "3s"`)
	c := b.capacity()
	before := b.quiet(b.load(0.5*c, 0, 4*time.Second).figures(time.Second))
	mixed := b.quiet(b.load(1.3*c, 0.5, 12*time.Second).figures(4 * time.Second))
	t.Logf("before: %v", before)
	t.Logf("mixed:  %v", mixed)
	if refused := mixed.refused["interactive"]; refused*or(200, 20) > mixed.n["interactive"] {
		t.Errorf("%d of %d interactive requests refused while batch work could wait", refused, mixed.n["interactive"])
	}
	if mixed.perSecond < or(0.95, 0.8)*c {
		t.Errorf("with batch work %.1f answers/s of %.1f", mixed.perSecond, c)
	}
	if most := before.p99*3/2 + slack; mixed.p99 > most {
		t.Errorf("P99 is %v, more than %v", mixed.p99, most)
	}
	b.leaving()
}

// leaving: clients that leave free their places, and those in the line.
func (b *bench) leaving() {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() { b.ask(ctx, b.url, "batch") })
	}
	b.eventually("batch requests wait in a line", func(s *control.Snapshot) bool { return s.Lanes.Batch.Waiting > 20 })
	cancel()
	all.Wait()
	b.eventually("the line is empty and nothing is in flight", func(s *control.Snapshot) bool {
		return s.Lanes.Batch.Waiting == 0 && s.Vendors[0].InFlight+s.Vendors[1].InFlight == 0
	})
	if x := b.ask(context.Background(), b.url, "interactive"); x.status != 200 {
		b.Errorf("status %d: their places are still taken", x.status)
	}
}

func (b *bench) eventually(what string, ok func(s *control.Snapshot) bool) {
	b.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var s control.Snapshot
		if b.engine.Fill(&s); ok(&s) {
			return
		}
		if time.Now().After(end) {
			b.Fatalf("never: %s", what)
		}
	}
}

func TestOverload_TheSurvivorServesHalfAndTheRestIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t, "")
	c := b.capacity() / 2
	before := b.quiet(b.load(c, 0, 5*time.Second).figures(time.Second))
	b.fail(0, 1)
	killed := b.quiet(b.load(2*c, 0, 14*time.Second).figures(6 * time.Second))
	b.fail(0, 0)
	after := b.quiet(b.load(0.5*c, 0, 5*time.Second).figures(2 * time.Second)) // before the other one has come back
	t.Logf("before: %v", before)
	t.Logf("killed: %v", killed)
	t.Logf("after:  %v", after)
	b.served(killed, before, c)
	b.refuses(killed, before)
	b.normal(after, before)
}

// fail has a vendor answer a part of its requests with 503.
func (b *bench) fail(i int, part float64) {
	if err := b.sims[i].Set(sim.Knobs{ErrorRate: &part}); err != nil {
		b.Fatal(err)
	}
}

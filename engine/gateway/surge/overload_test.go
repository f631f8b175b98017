package surge

import (
	"context"
	"sync"
	"testing"
	"time"

	"baton/engine/control"
	"baton/vendors/sim"
)

// capacities measures both vendors at once.
func (b *bench) capacities() (first, second float64) {
	var all sync.WaitGroup
	all.Go(func() { first = b.capacity(0) })
	all.Go(func() { second = b.capacity(1) })
	all.Wait()
	b.Logf("capacity %.1f and %.1f answers/s", first, second)
	return first, second
}

// slack is what a busy machine adds to a tail. Without admission the lines before
// these vendors add seconds in the time that these tests take.
const slack = 700 * time.Millisecond

// served holds an overload against capacity and against what it was before it. The
// law's aim is 95 % and 1.5 times; a busy machine gets a little room.
func (b *bench) served(f, before figures, capacity float64) {
	b.Helper()
	if f.other > 0 {
		b.Errorf("%d requests ended otherwise than with an answer or a refusal: %s", f.other, f.complaint)
	}
	if f.perSecond < 0.9*capacity {
		b.Errorf("%.1f answers/s of %.1f that can be had", f.perSecond, capacity)
	}
	if most := before.p99*3/2 + slack; f.p99 > most {
		b.Errorf("the P99 of those who were admitted is %v, more than %v", f.p99, most)
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
	if refused*10 > f.n["interactive"]+f.n["batch"] || f.other > 0 {
		b.Errorf("after it %d are refused and %d end otherwise: %s", refused, f.other, f.complaint)
	}
	if most := before.p99*3/2 + slack; f.p99 > most {
		b.Errorf("after it P99 is %v, before %v", f.p99, before.p99)
	}
}

func TestOverload_GoodputStaysAndBatchGoesFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t, `deadline = "3s"`)
	c1, c2 := b.capacities()
	c := c1 + c2
	before := b.quiet(b.load(0.5*c, 0, 3*time.Second).figures(time.Second))
	overLoad := b.load(1.3*c, 0, 6*time.Second) // nobody is refused until it shows, and that line has to go
	mixedLoad := b.load(1.3*c, 0.5, 4500*time.Millisecond) // goes on without a pause
	over, mixed := overLoad.figures(3*time.Second), mixedLoad.figures(2*time.Second)
	b.quiet(over)
	b.quiet(mixed)
	after := b.quiet(b.load(0.5*c, 0, 4*time.Second).figures(2 * time.Second))
	t.Logf("before: %v", before)
	t.Logf("over:   %v", over)
	t.Logf("mixed:  %v", mixed)
	t.Logf("after:  %v", after)

	b.served(over, before, c)
	if over.refused["interactive"] == 0 || over.refusedIn > before.p50+slack {
		t.Errorf("%d refused, in %v: those for whom there is no room are to hear it at once", over.refused["interactive"], over.refusedIn)
	}
	if refused := mixed.refused["interactive"]; refused*8 > mixed.n["interactive"] {
		t.Errorf("%d of %d interactive requests refused while batch work could wait", refused, mixed.n["interactive"])
	}
	if mixed.perSecond < 0.75*c { // those that wait to their deadline end otherwise, and limits are still learned
		t.Errorf("with batch work %.1f answers/s of %.1f", mixed.perSecond, c)
	}
	b.normal(after, before)
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
	_, c := b.capacities()
	before := b.quiet(b.load(c, 0, 3*time.Second).figures(time.Second))
	b.fail(0, 1)
	killed := b.quiet(b.load(2*c, 0, 8*time.Second).figures(4 * time.Second))
	b.fail(0, 0)
	after := b.quiet(b.load(0.5*c, 0, 4*time.Second).figures(2 * time.Second)) // before the other one has come back
	t.Logf("before: %v", before)
	t.Logf("killed: %v", killed)
	t.Logf("after:  %v", after)
	b.served(killed, before, c)
	if killed.refused["interactive"] == 0 || killed.refusedIn > before.p50+slack {
		t.Errorf("%d refused, in %v", killed.refused["interactive"], killed.refusedIn)
	}
	b.normal(after, before)
}

// fail has a vendor answer a part of its requests with 503.
func (b *bench) fail(i int, part float64) {
	if err := b.sims[i].Set(sim.Knobs{ErrorRate: &part}); err != nil {
		b.Fatal(err)
	}
}

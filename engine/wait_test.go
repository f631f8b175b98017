package engine

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/admission"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// saturate has admission see a vendor that is full with n in flight: answers take
// 0.2 s, and twice as long with twice as many, and a line that is an overload. It returns
// the limit.
func (r *rig) saturate(t *testing.T, name string, n int) int {
	t.Helper()
	v := r.ByName(name)
	see := func(n int, took time.Duration) (limiting bool) {
		v.mu.Lock()
		defer v.mu.Unlock()
		now := time.Now()
		v.admission.Began(now.Add(-took), admission.Stream)
		v.admission.Sample(now, now.Add(-took), admission.Stream, took, n, n)
		v.admission.Took(admission.Stream, took)
		_, limiting = v.admission.Value()
		return limiting
	}
	for range 100 * n {
		see(n, 200*time.Millisecond)
		time.Sleep(200 * time.Millisecond / time.Duration(n))
	}
	for !see(2*n, 400*time.Millisecond) {
		time.Sleep(200 * time.Millisecond / time.Duration(n))
	}
	if v.admission.Spare(time.Now(), admission.Interactive, 1000, 1000, 0) {
		t.Fatal("there is always room to spare")
	}
	limit, limiting := v.admission.Value()
	if !limiting || int(limit) < n || int(limit) > 2*n {
		t.Fatalf("the limit of %s is %g (%v), want a little over %d", name, limit, limiting, n)
	}
	return int(limit)
}

// fill takes places until there is none, and returns them.
func (r *rig) fill(t *testing.T) (held []*Lease) {
	t.Helper()
	for {
		l := new(Lease)
		err := r.Acquire(l, Ask{First: true, Kind: weights.Stream})
		if err != nil {
			var limit *Limited
			if !errors.As(err, &limit) || !limit.Full {
				t.Fatalf("full: %v", err)
			}
			return held
		}
		if held = append(held, l); len(held) > 1000 {
			t.Fatal("there is always a place")
		}
	}
}

// fullRig is an engine whose vendors are both full.
func fullRig(t *testing.T) (*rig, []*Lease) {
	r := newRig(t, nil)
	a := r.saturate(t, "a", 4)
	b := r.saturate(t, "b", 4)
	held := r.fill(t)
	if len(held) != a+b {
		t.Fatalf("%d places, want %d + %d", len(held), a, b)
	}
	return r, held
}

func (l *Lease) good() {
	l.FirstToken(time.Now())
	l.Done(time.Now(), outcome.Result{Outcome: outcome.OK}, outcome.Usage{})
}

// waits is one who asks and waits.
type waits struct {
	lease Lease
	err   error
	took  time.Duration
	gone  chan struct{}
	ended chan struct{}
}

func (r *rig) waits(lane control.Lane, deadline time.Time) *waits {
	w := &waits{gone: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		begun := time.Now()
		w.err = r.Acquire(&w.lease, Ask{Lane: lane, First: true, Gone: w.gone, Deadline: deadline})
		w.took = time.Since(begun)
	}()
	synctest.Wait()
	return w
}

func (w *waits) over() bool {
	synctest.Wait()
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

func TestWait_APlaceThatIsFreedGoesToInteractiveAndThenByDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, held := fullRig(t)
		now := time.Now()
		late := r.waits(control.Batch, now.Add(2*time.Hour))
		soon := r.waits(control.Batch, now.Add(time.Hour))
		person := r.waits(control.Interactive, now.Add(time.Hour))
		if r.Waiting(control.Batch) != 2 || r.Waiting(control.Interactive) != 1 {
			t.Fatalf("%d and %d wait", r.Waiting(control.Interactive), r.Waiting(control.Batch))
		}
		held[0].good()
		if !person.over() || person.err != nil || soon.over() || late.over() {
			t.Fatalf("the place did not go to the interactive one: %v", person.err)
		}
		for i := 1; !soon.over(); i++ { // the batch lane leaves a few places
			if late.over() {
				t.Fatal("the later deadline went first")
			}
			held[i].good()
		}
		if soon.err != nil || r.Waiting(control.Batch) != 1 {
			t.Errorf("%v; %d wait", soon.err, r.Waiting(control.Batch))
		}
		close(late.gone)
		if !late.over() || !errors.Is(late.err, ErrLeft) || r.Waiting(control.Batch) != 0 {
			t.Errorf("who left: %v; %d wait", late.err, r.Waiting(control.Batch))
		}
	})
}

func TestWait_InteractiveWaitsAFractionOfItsBudgetAndNoMoreThanFit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := fullRig(t)
		var all []*waits
		for range 10 {
			all = append(all, r.waits(control.Interactive, time.Time{}))
		}
		if n := r.Waiting(control.Interactive); n < 2 || n > 4 {
			t.Fatalf("%d wait for 40 places a second with a patience of 70 ms", n)
		}
		time.Sleep(time.Second)
		atOnce := 0
		for _, w := range all {
			var limit *Limited
			if !w.over() || !errors.As(w.err, &limit) || !limit.Full || w.took > 71*time.Millisecond || !limit.Until.After(time.Now().Add(-time.Second)) {
				t.Fatalf("%v after %v", w.err, w.took)
			}
			if w.took == 0 {
				atOnce++
			} else if w.lease.Waited != w.took {
				t.Errorf("the lease says it waited %v, not %v", w.lease.Waited, w.took)
			}
		}
		if all[0].took == 0 || all[9].took != 0 || atOnce < 6 {
			t.Errorf("%d were refused at once; the newest are to be", atOnce)
		}
	})
}

func TestWait_BatchWaitsOutACooldownAndInteractiveIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		refused := func(string) outcome.Result {
			return outcome.Result{Outcome: outcome.RateLimited, Scope: outcome.ScopeVendor, RetryAfter: 7 * time.Second, HasRetryAfter: true}
		}
		_, _ = r.request(control.Interactive, refused) // both vendors
		person := r.waits(control.Interactive, time.Time{})
		var limit *Limited
		if !person.over() || !errors.As(person.err, &limit) || limit.Full || person.took != 0 {
			t.Fatalf("interactive: %v after %v", person.err, person.took)
		}
		work := r.waits(control.Batch, time.Now().Add(time.Minute))
		hurried := r.waits(control.Batch, time.Now().Add(3*time.Second))
		if !hurried.over() || !errors.As(hurried.err, &limit) {
			t.Errorf("a batch request whose deadline is before the cooldown's end: %v", hurried.err)
		}
		time.Sleep(6 * time.Second)
		if work.over() {
			t.Fatalf("before its time: %v", work.err)
		}
		time.Sleep(1100 * time.Millisecond)
		if !work.over() || work.err != nil {
			t.Fatalf("the limit has passed: %v", work.err)
		}
	})
}

func TestWait_BatchIsShedFirstWhenTheLineIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *config.Config) { c.Gateway.MaxInFlight = 3 * batchPart })
		r.saturate(t, "a", 4)
		r.saturate(t, "b", 4)
		r.fill(t)
		deadline := time.Now().Add(time.Hour)
		var in []*waits
		for i := range 3 {
			in = append(in, r.waits(control.Batch, deadline.Add(time.Duration(i)*time.Second)))
		}
		newest := r.waits(control.Batch, deadline.Add(time.Minute))
		var limit *Limited
		if !newest.over() || !errors.As(newest.err, &limit) {
			t.Errorf("the fourth: %v", newest.err)
		}
		early := r.waits(control.Batch, deadline.Add(-time.Minute))
		if early.over() || !in[2].over() || !errors.As(in[2].err, &limit) {
			t.Errorf("one with an earlier deadline: %v; the latest: %v", early.err, in[2].err)
		}
		for _, w := range append(in[:2], early) {
			close(w.gone)
			<-w.ended
		}
	})
}

func TestWait_NothingBeginsThatCannotBeDoneByItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, held := fullRig(t)
		work := r.waits(control.Batch, time.Now().Add(500*time.Millisecond))
		time.Sleep(400 * time.Millisecond) // answers take 200 ms
		kept := map[*Vendor]*Lease{}       // one at each
		for _, l := range held {
			if kept[l.Vendor] == nil {
				kept[l.Vendor] = l
				continue
			}
			l.good()
		}
		if !work.over() || !errors.Is(work.err, ErrLate) {
			t.Errorf("it began all the same: %v", work.err)
		}
		if r.Waiting(control.Batch) != 0 {
			t.Error("it still waits")
		}
		var l Lease
		if err := r.Acquire(&l, Ask{First: true, Deadline: time.Now().Add(100 * time.Millisecond)}); !errors.Is(err, ErrLate) {
			t.Errorf("one that comes too late: %v", err)
		}
		for _, x := range kept {
			x.good()
		}
		// Somebody has to show that answers have become faster.
		if err := r.Acquire(&l, Ask{First: true, Deadline: time.Now().Add(100 * time.Millisecond)}); err != nil {
			t.Errorf("nobody is under way: %v", err)
		}
	})
}

func TestWait_EndsWhenNoVendorTakesTrafficAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _ := fullRig(t)
		work := r.waits(control.Batch, time.Now().Add(time.Hour))
		for _, v := range []string{"a", "b"} {
			if _, err := r.Do(&control.Drain{Vendor: v}); err != nil {
				t.Fatal(err)
			}
		}
		r.Tick(time.Now())
		if !work.over() || !errors.Is(work.err, ErrNoVendor) {
			t.Errorf("it waits for nobody: %v", work.err)
		}
	})
}

func TestWait_OverflowGoesToTheOtherVendorAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		n := r.saturate(t, "a", 4)
		counts := map[string]int{}
		for range 40 {
			l := new(Lease)
			if err := r.Acquire(l, Ask{First: true}); err != nil || l.Waited != 0 {
				t.Fatalf("%v after %v", err, l.Waited)
			}
			counts[l.Vendor.Name]++
		}
		if counts["a"] != n || counts["b"] != 40-n {
			t.Errorf("40 attempts in flight are %v, want %d at a", counts, n)
		}
	})
}

func TestFill_SaysWhatAdmissionDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		var s control.Snapshot
		if r.Fill(&s); s.Vendors[0].InFlightLimit != nil {
			t.Error("a vendor at rest has a limit")
		}
		n := r.saturate(t, "a", 4)
		r.saturate(t, "b", 4)
		r.fill(t)
		w := r.waits(control.Batch, time.Now().Add(time.Hour))
		r.Begin(control.Interactive)
		r.Finish(Finished{Lane: control.Interactive, Outcome: outcome.RateLimited, Shed: true})
		r.Fill(&s)
		if l := s.Vendors[0].InFlightLimit; l == nil || *l != float64(n) {
			t.Errorf("in_flight_limit %v, want %d", l, n)
		}
		if s.Lanes.Batch.Waiting != 1 || s.Lanes.Interactive.Waiting != 0 || s.Lanes.Interactive.Shed != 1 || s.Lanes.Batch.Shed != 0 {
			t.Errorf("lanes %+v", s.Lanes)
		}
		close(w.gone)
		<-w.ended
	})
}

// Many who come, wait, leave and end, all at once: nobody is lost, and no vendor has
// more in flight than its limit.
func TestWait_NobodyIsForgottenInACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.saturate(t, "a", 4)
		r.saturate(t, "b", 4)
		stop := make(chan struct{})
		var all sync.WaitGroup
		all.Go(func() {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					r.Tick(time.Now())
				case <-stop:
					return
				}
			}
		})
		var served, refused atomic.Int64
		var crowd sync.WaitGroup
		for seed := range uint64(60) {
			crowd.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 1))
				for range 100 {
					gone := make(chan struct{})
					leaves := time.AfterFunc(time.Duration(rng.IntN(3000))*time.Millisecond, func() { close(gone) })
					var l Lease
					a := Ask{Lane: control.Lane(rng.IntN(2)), Kind: weights.Kind(rng.IntN(2)), First: true, Gone: gone, Deadline: time.Now().Add(time.Duration(rng.IntN(5)+1) * time.Second)}
					if err := r.Acquire(&l, a); err != nil {
						refused.Add(1)
						time.Sleep(10 * time.Millisecond)
					} else {
						served.Add(1)
						time.Sleep(time.Duration(100+rng.IntN(200)) * time.Millisecond)
						if a.Kind == weights.Stream {
							l.FirstToken(time.Now())
						}
						l.Done(time.Now(), outcome.Result{Outcome: outcome.OK}, outcome.Usage{})
					}
					leaves.Stop()
				}
			})
		}
		crowd.Wait()
		close(stop)
		all.Wait()
		if served.Load()+refused.Load() != 6000 || served.Load() < 500 {
			t.Errorf("%d served, %d refused", served.Load(), refused.Load())
		}
		for _, v := range r.Vendors() {
			if v.flight.n != 0 {
				t.Errorf("%d places of %s are still taken", v.flight.n, v.Name)
			}
		}
		if n := r.Waiting(control.Interactive) + r.Waiting(control.Batch); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}

func TestAcquire_AllocatesNothingWhereAPlaceIsFree(t *testing.T) {
	r := newRig(t, nil)
	var l Lease
	gone := make(chan struct{})
	a := Ask{First: true, Gone: gone, Deadline: time.Now().Add(time.Hour)}
	if n := testing.AllocsPerRun(500, func() {
		if err := r.Acquire(&l, a); err != nil {
			t.Fatal(err)
		}
		l.good()
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// When every vendor is down all take traffic, and batch work goes first where a place is lacking.
func TestWait_InPanicBatchIsShedAndDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, held := fullRig(t)
		table := *r.table.Load()
		table.panic = true
		r.table.Store(&table)
		work := r.waits(control.Batch, time.Now().Add(time.Hour))
		var limit *Limited
		if !work.over() || !errors.As(work.err, &limit) || work.took != 0 {
			t.Errorf("batch work: %v after %v", work.err, work.took)
		}
		person := r.waits(control.Interactive, time.Now().Add(time.Hour))
		if person.over() {
			t.Fatalf("interactive: %v", person.err)
		}
		held[0].good()
		if !person.over() || person.err != nil {
			t.Errorf("the place that became free: %v", person.err)
		}
	})
}

package recording

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/control"
)

// open plays 20 s, a snapshot and an event each quarter of a second.
func open(t *testing.T) *Player {
	t.Helper()
	p, err := Open(record(t, 81, 250*time.Millisecond), &control.Report{ID: "d1", Vendor: "lanyun"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func shown(t *testing.T, p *Player) time.Duration {
	t.Helper()
	s, err := control.Get[*control.Snapshot](t.Context(), p, control.State{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Time.Sub(noon)
}

func TestPlayer_PlaysAtItsSpeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t)
		step := func(what string, want time.Duration, speed float64) {
			t.Helper()
			if got := shown(t, p); got != want {
				t.Errorf("%s: it shows %s, want %s", what, got, want)
			}
			if at := p.Position(); at.Name != "d1" || at.Length != 20*time.Second || at.Speed != speed || at.At < want || at.At >= want+250*time.Millisecond {
				t.Errorf("%s: %+v", what, at)
			}
		}
		step("the beginning", 0, 1)
		time.Sleep(3 * time.Second)
		step("as it happened", 3*time.Second, 1)
		p.Play(0)
		time.Sleep(time.Minute)
		step("paused", 3*time.Second, 0)
		p.Play(2.5)
		time.Sleep(2 * time.Second)
		step("faster", 8*time.Second, 2.5)
		p.Seek(time.Second)
		step("back", time.Second, 2.5)
		p.Play(1000)
		time.Sleep(500 * time.Millisecond)
		step("as fast as it goes", 11*time.Second, 20)
		time.Sleep(time.Hour)
		step("the end", 20*time.Second, 0)
		p.Play(1)
		time.Sleep(time.Second)
		step("anew", time.Second, 1)
		p.Seek(-time.Hour)
		step("before the beginning", 0, 1)
		p.Play(0)
		p.Seek(time.Hour)
		step("beyond the end", 20*time.Second, 0)
		p.Seek(5*time.Second + 30*time.Millisecond)
		step("between two snapshots, paused", 5*time.Second, 0)
		p.Play(math.NaN())
		p.Play(-3)
		step("no speed", 5*time.Second, 0)
	})
}

func TestPlayer_EventsComeOnceAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t)
		p.Play(20)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var last int64
		for u, err := range p.Watch(ctx, 250*time.Millisecond) {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range u.Events {
				if e.Seq != last+1 {
					t.Fatalf("event %d after %d", e.Seq, last)
				}
				last = e.Seq
			}
			if want := u.Snapshot.Totals.Requests + 1; last != want {
				t.Fatalf("the state of event %d comes with event %d", want, last)
			}
		}
		if last != 81 {
			t.Errorf("%d of 81 events came", last)
		}
	})
}

func TestPlayer_AWatcherSeesAJumpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t)
		p.Play(0)
		begun := time.Now()
		n := 0
		for u, err := range p.Watch(t.Context(), time.Hour) {
			if err != nil {
				t.Fatal(err)
			}
			switch at := u.Snapshot.Time.Sub(noon); n {
			case 0:
				if at != 0 || len(u.Events) != 1 {
					t.Errorf("first %s with %d events", at, len(u.Events))
				}
				p.Seek(10 * time.Second)
			case 1:
				if at != 10*time.Second || len(u.Events) != 40 {
					t.Errorf("then %s with %d events", at, len(u.Events))
				}
				p.Seek(5 * time.Second)
			case 2:
				if at != 5*time.Second || len(u.Events) != 0 {
					t.Errorf("back %s with %d events", at, len(u.Events))
				}
			}
			if n++; n == 3 {
				break
			}
		}
		if time.Since(begun) != 0 {
			t.Errorf("it took %s", time.Since(begun))
		}
	})
}

func TestPlayer_NothingCanBeChanged(t *testing.T) {
	p := open(t)
	for _, c := range []control.Command{&control.SetWeights{}, &control.StartDrill{}, &control.AbortDrill{}, &control.ClearFault{}, &control.Reload{}} {
		var e *control.Error
		if err := p.Do(t.Context(), c); !errors.As(err, &e) || e.Kind != control.Forbidden {
			t.Errorf("%T: %v", c, err)
		}
	}
}

func TestPlayer_AnswersFromTheRecording(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t)
		p.Play(0)
		p.Seek(2 * time.Second)
		events, err := control.Get[[]control.Event](t.Context(), p, control.EventsAfter{Seq: 4})
		if err != nil || len(events) != 5 || events[0].Seq != 5 || events[4].Seq != 9 {
			t.Errorf("events after 4 at 2 s: %+v %v", events, err)
		}
		if r, err := control.Get[*control.Report](t.Context(), p, control.DrillByID{ID: "d1"}); err != nil || r.Vendor != "lanyun" {
			t.Errorf("%+v %v", r, err)
		}
		if _, err := control.Get[*control.Report](t.Context(), p, control.DrillByID{ID: "d2"}); err == nil {
			t.Error("another drill is not in it")
		}
		if all, err := control.Get[[]control.Report](t.Context(), p, control.Drills{}); err != nil || len(all) != 1 {
			t.Errorf("%+v %v", all, err)
		}
		for _, q := range []control.Query{control.Scenarios{}, control.FailuresOf{}} {
			if _, err := p.Ask(t.Context(), q); err != nil {
				t.Errorf("%T: %v", q, err)
			}
		}
		if _, err := p.Ask(t.Context(), control.Counts{}); err == nil {
			t.Error("counts are not recorded")
		}
	})
}

package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is a Backend that remembers what it was told.
type plant struct {
	mu    sync.Mutex
	did   []Command
	asked []Query
	fills int
	fail  error
	slow  func() // called while a command is carried out or a state filled in
}

func (p *plant) backend() Backend {
	return Backend{
		Do: func(_ context.Context, cmd Command) error {
			if p.slow != nil {
				p.slow()
			}
			p.mu.Lock()
			defer p.mu.Unlock()
			p.did = append(p.did, cmd)
			return p.fail
		},
		Ask: func(_ context.Context, q Query) (Answer, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.asked = append(p.asked, q)
			return &Tally{CutStreams: 7}, nil
		},
		Fill: func(s *Snapshot) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.fills++
			s.UptimeS = float64(p.fills)
		},
	}
}

func rev(n int64) *int64 { return &n }

func kindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return 255
}

func TestHub_RevisionCountsChangesThatTookEffect(t *testing.T) {
	p := new(plant)
	h := NewHub(p.backend(), nil)
	steps := []struct {
		name string
		cmd  Command
		fail error
		want int64
	}{
		{"weights", &SetWeights{}, nil, 1},
		{"refused", &SetWeights{}, Errorf(Invalid, "no"), 1},
		{"release", &ReleaseWeights{}, nil, 2},
		{"fault", &SetFault{}, nil, 3},
		{"clear", &ClearFault{}, nil, 4},
		{"drain", &Drain{}, nil, 5},
		{"undrain", &Undrain{}, nil, 6},
		{"reload", &Reload{}, nil, 7},
		{"a drill's start", &StartDrill{}, nil, 7},
		{"a drill's end", &AbortDrill{}, nil, 7},
		{"a drill off the screen", &DismissDrill{}, nil, 7},
	}
	for _, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			p.fail = s.fail
			if err := h.Do(t.Context(), s.cmd); !errors.Is(err, s.fail) {
				t.Fatalf("Do: %v, want %v", err, s.fail)
			}
			if h.Revision() != s.want {
				t.Errorf("revision %d, want %d", h.Revision(), s.want)
			}
			if s.fail == nil && RevisionAfter(s.cmd) != s.want {
				t.Errorf("the command says it made %d, want %d", RevisionAfter(s.cmd), s.want)
			}
			if snap, _ := Get[*Snapshot](t.Context(), h, State{}); snap.Revision != s.want {
				t.Errorf("the snapshot says %d, want %d", snap.Revision, s.want)
			}
		})
	}
}

func TestHub_RefusesWhatWasMadeAgainstAnOlderRevision(t *testing.T) {
	p := new(plant)
	h := NewHub(p.backend(), nil)
	if err := h.Do(t.Context(), &Drain{Meta: Meta{Revision: rev(0)}}); err != nil {
		t.Fatal(err)
	}
	err := h.Do(t.Context(), &Undrain{Meta: Meta{Revision: rev(0)}})
	var e *Error
	if !errors.As(err, &e) || e.Kind != Stale || e.Field != "revision" {
		t.Fatalf("got %v, want a stale revision", err)
	}
	if len(p.did) != 1 || h.Revision() != 1 {
		t.Errorf("a stale command reached the backend: %d commands, revision %d", len(p.did), h.Revision())
	}
}

func TestHub_CarriesCommandsOutOneAfterTheOther(t *testing.T) {
	p := new(plant)
	var busy, most atomic.Int32
	p.slow = func() {
		n := busy.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		for range 100 {
			runtime.Gosched()
		}
		busy.Add(-1)
	}
	h := NewHub(p.backend(), nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { _ = h.Do(t.Context(), &Drain{}) })
	}
	wg.Wait()
	if most.Load() != 1 || h.Revision() != 20 {
		t.Errorf("%d commands at once, revision %d; want 1 and 20", most.Load(), h.Revision())
	}
}

func TestHub_OfCommandsAgainstOneRevisionOnlyOneTakesEffect(t *testing.T) {
	h := NewHub(new(plant).backend(), nil)
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for range 50 {
		wg.Go(func() {
			if h.Do(t.Context(), &Drain{Meta: Meta{Revision: rev(0)}}) == nil {
				mu.Lock()
				won++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if won != 1 {
		t.Errorf("%d of 50 took effect, want 1", won)
	}
}

func TestHub_AsksTheBackendWhatItCannotAnswer(t *testing.T) {
	p := new(plant)
	h := NewHub(p.backend(), nil)
	tally, err := Get[*Tally](t.Context(), h, Counts{})
	if err != nil || tally.CutStreams != 7 {
		t.Fatalf("got %v, %v", tally, err)
	}
	if _, err := Get[[]Event](t.Context(), h, EventsAfter{}); err != nil {
		t.Fatal(err)
	}
	if len(p.asked) != 1 {
		t.Errorf("the backend was asked %d times, want 1", len(p.asked))
	}
	if _, err := Get[*Snapshot](t.Context(), h, Counts{}); kindOf(err) != Internal {
		t.Errorf("an answer of another type: %v, want Internal", err)
	}
}

func TestHub_JournalIsOrderedAndBounded(t *testing.T) {
	var seen []int64
	h := NewHub(new(plant).backend(), func(e Event) { seen = append(seen, e.Seq) })
	const n = journalKept*2 + 5
	for i := range n {
		h.Log(Event{Text: fmt.Sprint(i)})
	}
	all, _ := Get[[]Event](t.Context(), h, EventsAfter{})
	if len(all) > journalKept || len(all) < journalKept*9/10 {
		t.Errorf("%d events kept, want nearly %d", len(all), journalKept)
	}
	for i := range all {
		if want := int64(n - len(all) + i + 1); all[i].Seq != want {
			t.Fatalf("event %d has number %d, want %d", i, all[i].Seq, want)
		}
	}
	if len(seen) != n || seen[0] != 1 || seen[n-1] != n {
		t.Errorf("onEvent saw %d events", len(seen))
	}
	last, _ := Get[[]Event](t.Context(), h, EventsAfter{Seq: n - 3})
	if len(last) != 3 || last[0].Seq != n-2 {
		t.Errorf("after %d: %v", n-3, last)
	}
	none, _ := Get[[]Event](t.Context(), h, EventsAfter{Seq: n})
	if none == nil || len(none) != 0 {
		t.Errorf("after the last: %v, want an empty list", none)
	}
}

func TestHub_EventsAreWhole(t *testing.T) {
	h := NewHub(new(plant).backend(), nil)
	at := time.Date(2026, 12, 1, 18, 0, 0, 0, time.FixedZone("CST", 8*3600))
	h.Log(Event{Time: at})
	h.Log(Event{Who: "operator:x"})
	got, _ := Get[[]Event](t.Context(), h, EventsAfter{})
	if got[0].Time != at.UTC() || got[0].Who != Controller || got[0].Data == nil {
		t.Errorf("got %+v", got[0])
	}
	if got[1].Time.IsZero() || got[1].Who != "operator:x" {
		t.Errorf("got %+v", got[1])
	}
}

func TestHub_EventsHandedOutDoNotChange(t *testing.T) {
	h := NewHub(new(plant).backend(), nil)
	h.Log(Event{Text: "a"})
	got, _ := Get[[]Event](t.Context(), h, EventsAfter{})
	got[0].Text = "spoilt"
	again, _ := Get[[]Event](t.Context(), h, EventsAfter{})
	if again[0].Text != "a" {
		t.Error("a reader changed the journal")
	}
}

func TestHub_SnapshotServesForAMomentOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(plant)
		h := NewHub(p.backend(), nil)
		get := func() *Snapshot { s, _ := Get[*Snapshot](t.Context(), h, State{}); return s }
		first := get()
		if get() != first {
			t.Error("two questions in one moment filled two states")
		}
		time.Sleep(reuse)
		if get() == first {
			t.Error("an old state was served again")
		}
		before := get()
		h.Log(Event{})
		if get() == before {
			t.Error("the state from before an event was served after it")
		}
		before = get()
		_ = h.Do(t.Context(), &DismissDrill{})
		if get() == before {
			t.Error("the state from before a command was served after it")
		}
	})
}

func TestHub_StateFilledBeforeACommandIsNotServedAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(plant)
		b := p.backend()
		shown := true
		b.Fill = func(s *Snapshot) {
			s.Simulated = shown
			time.Sleep(10 * time.Millisecond)
		}
		b.Do = func(context.Context, Command) error { shown = false; return nil }
		h := NewHub(b, nil)
		done := make(chan struct{})
		go func() { defer close(done); _, _ = h.Ask(t.Context(), State{}) }()
		synctest.Wait()
		_ = h.Do(t.Context(), &DismissDrill{})
		<-done
		if s, _ := Get[*Snapshot](t.Context(), h, State{}); s.Simulated {
			t.Error("the state from before the command was served after it")
		}
	})
}

func TestWatch_GivesTheWholeStateFirst(t *testing.T) {
	h := NewHub(new(plant).backend(), nil)
	for range firstEvents + 50 {
		h.Log(Event{})
	}
	for u, err := range h.Watch(t.Context(), time.Hour) {
		if err != nil || u.Snapshot == nil {
			t.Fatalf("got %+v, %v", u, err)
		}
		if len(u.Events) != firstEvents || u.Events[firstEvents-1].Seq != firstEvents+50 {
			t.Errorf("%d events come first, want the last %d", len(u.Events), firstEvents)
		}
		break
	}
}

func TestWatch_KeepsItsPaceAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(new(plant).backend(), nil)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+time.Millisecond)
		defer cancel()
		n := 0
		for _, err := range h.Watch(ctx, 0) {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 9 { // one at once and eight ticks of the default 250 ms
			t.Errorf("%d states in 2 s, want 9", n)
		}
	})
}

func TestWatch_TellsEventsAndCommandsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(new(plant).backend(), nil)
		start := time.Now()
		go func() {
			time.Sleep(10 * time.Millisecond)
			h.Log(Event{Text: "ejected"})
			time.Sleep(10 * time.Millisecond)
			_ = h.Do(context.Background(), &Drain{})
		}()
		i := 0
		for u := range h.Watch(t.Context(), time.Hour) {
			at := time.Since(start)
			switch i++; i {
			case 2:
				if at != 10*time.Millisecond || len(u.Events) != 1 || u.Events[0].Text != "ejected" {
					t.Errorf("the event: %v at %s", u.Events, at)
				}
			case 3:
				if at != 20*time.Millisecond || u.Snapshot.Revision != 1 {
					t.Errorf("the command: revision %d at %s", u.Snapshot.Revision, at)
				}
				return
			}
		}
	})
}

func TestWatch_SlowReaderSkipsStatesAndNoEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(new(plant).backend(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for i := range 500 {
				h.Log(Event{Text: fmt.Sprint(i)})
				time.Sleep(10 * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			cancel()
		}()
		states, next := 0, int64(1)
		for u := range h.Watch(ctx, 50*time.Millisecond) {
			states++
			if time.Since(u.Snapshot.Time) < 0 {
				t.Fatal("a state of the future")
			}
			for _, e := range u.Events {
				if e.Seq != next {
					t.Fatalf("event %d where %d was due", e.Seq, next)
				}
				next++
			}
			time.Sleep(time.Second)
		}
		if next != 501 {
			t.Errorf("%d events came, want 500", next-1)
		}
		if states > 9 {
			t.Errorf("%d states for a reader that takes a second each, in 7 s", states)
		}
	})
}

func TestWatch_SlowReaderHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub(new(plant).backend(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for range h.Watch(ctx, time.Millisecond) {
				<-ctx.Done() // reads one state and hangs
			}
		}()
		synctest.Wait()
		start := time.Now()
		for range 100 {
			h.Log(Event{})
			_ = h.Do(t.Context(), &Drain{})
		}
		if d := time.Since(start); d != 0 {
			t.Errorf("a hanging reader cost the others %s", d)
		}
		cancel()
	})
}

func TestSnapshot_GoesThroughJSONUnchanged(t *testing.T) {
	s := &Snapshot{Vendors: []Vendor{{Name: "lanyun", FirstToken: map[string]Latency{"10s": {Count: 1, P50ms: Figure(2.5)}}}}, Alerts: []string{}}
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var back Snapshot
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if got := back.Vendor("lanyun"); got == nil || *got.FirstToken["10s"].P50ms != 2.5 || got.Share10s != nil {
		t.Errorf("got %+v", got)
	}
	if back.Vendor("nobody") != nil {
		t.Error("a vendor that is not there was found")
	}
}

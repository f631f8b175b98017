package drills

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/window"
)

// world is a Control over scripted vendors: a and b take traffic by weight, and
// what a fault leads to is told by the script.
type world struct {
	// The script; times are counted from the fault, negative ones mean never.
	rps     float64
	detect  time.Duration // when a vendor with a fault is ejected
	shift   time.Duration // when its weight is taken away
	back    time.Duration // from the restore until it is healthy at its old weight
	rescue  bool          // a failed attempt goes to the other vendor
	first   time.Duration // the first token of an answer
	quiet   time.Duration // when traffic stops
	expires bool          // the fault ends by itself
	rate    float64       // requests/s, as the snapshot says
	room    float64       // of b, 0: not known
	sour    int64         // requests that failed today

	machine *Machine // for what the schedule starts

	mu      sync.Mutex
	vendors []*vendor
	events  []control.Event
	totals  control.Totals
	lost    []string
	tokens  window.Histogram
	pin     *control.Pin
	fault   *control.SetFault
	began   time.Time // of the fault
	counts  int       // tallies asked for
	dead    error     // what it answers instead
	refuse  error     // what SetFault answers
	slow    time.Duration
	lastAt  time.Time // of the last attempt at a vendor with a fault
}

type vendor struct {
	control.VendorTally
	base, credit float64
}

func newWorld() *world {
	return &world{
		rps: 50, detect: 3200 * time.Millisecond, shift: 3300 * time.Millisecond, back: 20 * time.Second,
		rescue: true, first: 300 * time.Millisecond, quiet: -1, expires: true,
		vendors: []*vendor{
			{VendorTally: control.VendorTally{Name: "a", State: control.Healthy, Weight: 75}, base: 75},
			{VendorTally: control.VendorTally{Name: "b", State: control.Healthy, Weight: 25}, base: 25},
		},
	}
}

func (w *world) by(name string) *vendor {
	for _, v := range w.vendors {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func (w *world) log(e control.Event) {
	e.Seq = int64(len(w.events) + 1)
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if e.Who == "" {
		e.Who = control.Controller
	}
	w.events = append(w.events, e)
}

func (w *world) Log(e control.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log(e)
}

func (w *world) Do(ctx context.Context, cmd control.Command) error {
	if _, is := cmd.(*control.SetFault); is && w.slow > 0 {
		time.Sleep(w.slow) // another command is being carried out
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch c := cmd.(type) {
	case *control.StartDrill:
		w.mu.Unlock()
		defer w.mu.Lock()
		_, err := w.machine.Do(ctx, c)
		return err
	case *control.SetFault:
		if w.refuse != nil {
			return w.refuse
		}
		w.fault, w.began = c, time.Now()
		w.log(control.Event{Kind: "fault", Vendor: c.Vendor, Who: c.Who(), Data: map[string]any{"on": true}})
		w.later(w.detect, func() { w.eject(c.Vendor) })
		w.later(w.shift, func() { w.weigh(c.Vendor, 0) })
		if w.expires {
			w.later(time.Duration(c.For), func() { w.clear(c.Vendor, control.Controller) })
		}
	case *control.ClearFault:
		w.clear(c.Vendor, c.Who())
	default:
		return fmt.Errorf("%T is not in the script", cmd)
	}
	return nil
}

// later does f unless the fault that is in force now has ended by then.
func (w *world) later(d time.Duration, f func()) {
	if d < 0 {
		return
	}
	now := w.fault
	time.AfterFunc(d, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.fault == now {
			f()
		}
	})
}

func (w *world) eject(name string) {
	v := w.by(name)
	v.State, v.StateSince = control.Ejected, time.Now()
	w.log(control.Event{Kind: "health", Level: control.Crit, Vendor: name, Data: map[string]any{"to": control.Ejected}})
}

// weigh gives a vendor a weight, and the rest to the other.
func (w *world) weigh(name string, weight float64) {
	for _, v := range w.vendors {
		to := 100 - weight
		if v.Name == name {
			to = weight
		}
		if to < v.Weight {
			v.WeightSince = time.Now()
		}
		v.Weight, v.credit = to, 0
	}
}

func (w *world) clear(name, who string) {
	w.fault = nil
	w.log(control.Event{Kind: "fault", Vendor: name, Who: who, Data: map[string]any{"on": false}})
	w.later(w.back, func() {
		v := w.by(name)
		v.State, v.StateSince = control.Healthy, time.Now()
		w.weigh(name, v.base)
	})
}

func (w *world) Ask(_ context.Context, q control.Query) (control.Answer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead != nil {
		return nil, w.dead
	}
	switch q := q.(type) {
	case control.State:
		s := &control.Snapshot{Time: time.Now(), Pin: w.pin, Totals: w.totals, Failover: failoverAuto, Gateway: control.GatewayState{RPS: w.rate, Address: "127.0.0.1:8080"}}
		for i, v := range w.vendors {
			x := control.Vendor{
				Name: v.Name, Label: "vendor " + v.Name, Role: []string{targetPrimary, targetSecondary, targetSecondary}[i], State: v.State, StateSince: v.StateSince,
				Weight: v.Weight, Band: [2]float64{v.base - 5, v.base + 5},
			}
			if v.Name == "b" && w.room > 0 {
				x.Limit.LearnedRPS = &w.room
			}
			s.Vendors = append(s.Vendors, x)
		}
		return s, nil
	case control.CostsOf:
		return &control.Costs{Totals: control.CostGroup{Requests: 200}, ByModel: []control.CostGroup{{Model: "x", Requests: 50}}}, nil
	case control.EventsAfter:
		return append([]control.Event{}, w.events[min(int(q.Seq), len(w.events)):]...), nil
	case control.Counts:
		w.counts++
		t := &control.Tally{Time: time.Now(), Totals: w.totals, Lost: append([]string{}, w.lost...)}
		for _, v := range w.vendors {
			t.Vendors = append(t.Vendors, v.VendorTally)
		}
		for _, b := range w.tokens.Sparse() {
			t.FirstToken = append(t.FirstToken, control.Bucket{Index: b.Index, N: b.N})
		}
		return t, nil
	}
	return nil, fmt.Errorf("%T is not in the script", q)
}

func (w *world) Watch(context.Context, time.Duration) iter.Seq2[control.Update, error] {
	return func(func(control.Update, error) bool) {}
}

// traffic sends requests until ctx ends, a little off the whole moments at
// which the machine looks.
func (w *world) traffic(ctx context.Context) {
	time.Sleep(3 * time.Millisecond)
	for ctx.Err() == nil {
		w.mu.Lock()
		if w.quiet < 0 || w.began.IsZero() || time.Since(w.began) < w.quiet {
			w.request()
		}
		w.mu.Unlock()
		time.Sleep(time.Duration(float64(time.Second) / w.rps))
	}
}

func (w *world) request() {
	w.totals.Requests++
	var turn *vendor
	for _, v := range w.vendors {
		if v.credit += v.Weight; v.Weight > 0 && (turn == nil || v.credit > turn.credit) {
			turn = v
		}
	}
	ok := turn != nil && w.attempt(turn)
	if turn != nil {
		turn.credit -= 100
		if !ok && w.rescue {
			for _, v := range w.vendors {
				if v != turn && takes(v.State) && w.attempt(v) {
					w.totals.FailedOver++
					ok = true
				}
			}
		}
	}
	if ok {
		w.totals.OK++
		w.tokens.Add(w.first)
		return
	}
	w.totals.Failed++
	w.lost = append(w.lost, fmt.Sprintf("req-%d", w.totals.Requests))
	w.lost = w.lost[max(0, len(w.lost)-200):]
}

func (w *world) attempt(v *vendor) bool {
	w.totals.Attempts++
	v.Begun++
	v.LastBegun = time.Now()
	if w.fault != nil && w.fault.Vendor == v.Name && w.fault.Kind != "slow_first_token" {
		w.lastAt = v.LastBegun
		v.Faults++
		return false
	}
	return true
}

// set changes the world while it turns.
func (w *world) set(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// texts are the journal's entries of a kind.
func (w *world) texts(kind string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, e := range w.events {
		if e.Kind == kind {
			out = append(out, e.Text)
		}
	}
	return out
}

// stage is a machine in its world.
type stage struct {
	*testing.T
	*world
	m   *Machine
	dir string
}

// settings are what drills of the world are held to.
func settings() *config.Config {
	c := config.Default()
	c.Digest, c.Console.Environment = "d1", "DEMO"
	return c
}

// rehearse runs f in a bubble of fake time, over a world that has been changed
// by change and has had traffic for a while.
func rehearse(t *testing.T, change func(w *world, o *Options), f func(s *stage)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		o := Options{
			Control: w, Dir: filepath.Join(dir, "drills"), Config: settings(), Version: "test", Log: w.Log,
		}
		if change != nil {
			change(w, &o)
		}
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		w.machine = m
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = m.Run(ctx) })
		wg.Go(func() { w.traffic(ctx) })
		defer wg.Wait()
		defer cancel()
		time.Sleep(5 * time.Second)
		f(&stage{T: t, world: w, m: m, dir: o.Dir})
	})
}

// kill starts the scenario kill and lets its fault go in.
func (s *stage) kill(vendor string, lasts time.Duration) string {
	s.Helper()
	c := &control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: "kill", Vendor: vendor, For: control.Duration(lasts), Note: "a | note\nof two lines"}
	if _, err := s.m.Do(s.Context(), c); err != nil {
		s.Fatal(err)
	}
	synctest.Wait()
	return c.ID
}

// restore ends a fault as a person.
func (s *stage) restore(vendor string) {
	s.Helper()
	if err := s.Do(s.Context(), &control.ClearFault{Meta: control.Meta{By: "li"}, Vendor: vendor}); err != nil {
		s.Fatal(err)
	}
	s.pass(2 * pace)
}

func (s *stage) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// verdict is the verdict on the screen, "" while there is none.
func (s *stage) verdict() string {
	if d := s.m.State(); d != nil && d.Verdict != nil {
		return *d.Verdict
	}
	return ""
}

// at is when a phase was reached, in seconds, -1 if it was not.
func (s *stage) at(phase string) float64 {
	for _, p := range s.m.State().Phases {
		if p.Name == phase {
			return p.TS
		}
	}
	return -1
}

func (s *stage) record(id string) *control.Report {
	s.Helper()
	_, a, err := s.m.Ask(control.DrillByID{ID: id})
	if err != nil {
		s.Fatal(err)
	}
	return a.(*control.Report)
}

func (s *stage) ends(verdict, reason string) {
	s.Helper()
	d := s.m.State()
	if d.Verdict == nil || *d.Verdict != verdict || !match(reason, d.Reason) {
		got := "none"
		if d.Verdict != nil {
			got = *d.Verdict
		}
		s.Fatalf("the verdict is %s: %q; want %s: %q (phases %+v, verify %+v)", got, d.Reason, verdict, reason, d.Phases, d.Verify)
	}
}

func kindOf(err error) control.Kind {
	if e, ok := errors.AsType[*control.Error](err); ok {
		return e.Kind
	}
	return control.Internal
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

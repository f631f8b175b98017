package engine

import (
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/outcome"
	"baton/engine/weights"
)

// rig is an engine of two vendors with its journal.
type rig struct {
	*Engine
	mu     sync.Mutex
	events []control.Event
}

func newRig(t *testing.T, change func(*config.Config)) *rig {
	t.Helper()
	cfg := config.Default()
	cfg.Vendors = []config.Vendor{
		{Name: "a", Role: "primary", BaseURL: "http://127.0.0.1:1/v1", Weight: 75, Band: []float64{70, 80}},
		{Name: "b", Role: "secondary", BaseURL: "http://127.0.0.1:2/v1", Weight: 25, Band: []float64{20, 30}},
	}
	cfg.Probe.Path = ""
	if change != nil {
		change(cfg)
	}
	r := &rig{}
	r.Engine = New(cfg, func(e control.Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	})
	return r
}

// request sends one request through the engine as the gateway does: until it is
// answered or nobody is left. answer says how a vendor's attempt ends.
func (r *rig) request(lane control.Lane, answer func(v string) outcome.Result) (vendors []string, err error) {
	r.Begin(lane)
	var tried []*Vendor
	f := Finished{Lane: lane, Outcome: outcome.VendorFault}
	for n := range 3 {
		var l Lease
		if err = r.Acquire(&l, Ask{Lane: lane, Kind: weights.Stream, Tried: tried, First: n == 0}); err != nil {
			break
		}
		vendors = append(vendors, l.Vendor.Name)
		res := answer(l.Vendor.Name)
		now := time.Now()
		if res.Outcome == outcome.OK {
			l.FirstToken(now)
			f.FirstToken = 100 * time.Millisecond
		}
		l.Done(now, res, outcome.Usage{Input: 3, Output: 5, Has: true})
		f.Vendor, f.FailedOver = l.Vendor, n > 0
		if res.Outcome == outcome.OK {
			f.Outcome = outcome.OK
			break
		}
		tried = append(tried, l.Vendor)
	}
	r.Finish(f)
	return vendors, err
}

func good(string) outcome.Result { return outcome.Result{Outcome: outcome.OK} }

func failing(name string) func(string) outcome.Result {
	return func(v string) outcome.Result {
		if v == name {
			return outcome.Result{Outcome: outcome.VendorFault, Reason: "connection_refused", Connect: true}
		}
		return good(v)
	}
}

// traffic sends rps interactive requests a second for d, ticking the engine
// each second, and counts whom each request's attempts went to.
func (r *rig) traffic(rps int, d time.Duration, answer func(string) outcome.Result) map[string]int {
	n := map[string]int{}
	for range int(d / time.Second) {
		for range rps {
			time.Sleep(time.Second / time.Duration(rps))
			vs, _ := r.request(control.Interactive, answer)
			for _, v := range vs {
				n[v]++
			}
		}
		r.Tick(time.Now())
		r.record(time.Now())
	}
	return n
}

func TestAcquire_SplitsTrafficExactlyByWeight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		n := r.traffic(20, 10*time.Second, good)
		if n["a"] != 150 || n["b"] != 50 {
			t.Fatalf("200 requests at 75/25 went %v", n)
		}
	})
}

func TestSetWeights_MovesTheSplitAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.traffic(20, 5*time.Second, good)
		if _, err := r.Do(&control.SetWeights{Meta: control.Meta{By: "li"}, Weights: map[string]float64{"a": 30, "b": 70}}); err != nil {
			t.Fatal(err)
		}
		if n := r.traffic(20, 5*time.Second, good); n["a"] != 30 || n["b"] != 70 {
			t.Fatalf("100 requests at 30/70 went %v", n)
		}
		var s control.Snapshot
		r.Fill(&s)
		if s.Control != "pinned" || s.Pin == nil || s.Pin.By != "li" || s.Vendors[0].Weight != 30 {
			t.Fatalf("snapshot says %s %+v weight %v", s.Control, s.Pin, s.Vendors[0].Weight)
		}
	})
}

func TestSetWeights_RefusesWhatCannotBe(t *testing.T) {
	r := newRig(t, nil)
	for name, c := range map[string]*control.SetWeights{
		"sum":      {Weights: map[string]float64{"a": 70, "b": 31}},
		"unknown":  {Weights: map[string]float64{"a": 70, "z": 30}},
		"negative": {Weights: map[string]float64{"a": 110, "b": -10}},
		"nan":      {Weights: map[string]float64{"a": math.NaN(), "b": 100}},
		"too long": {Weights: map[string]float64{"a": 70, "b": 30}, For: control.Duration(5 * time.Hour)},
	} {
		_, err := r.Do(c)
		var e *control.Error
		if !errors.As(err, &e) || e.Kind != control.Invalid {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestPin_EndsByItselfAndWarnsBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if _, err := r.Do(&control.SetWeights{Weights: map[string]float64{"a": 30, "b": 70}, For: control.Duration(3 * time.Minute)}); err != nil {
			t.Fatal(err)
		}
		r.traffic(5, 90*time.Second, good)
		if r.pin == nil || !r.warned {
			t.Fatalf("after 90 s of 3m: pin %v, warned %v", r.pin, r.warned)
		}
		r.traffic(5, 100*time.Second, good)
		if r.pin != nil {
			t.Fatal("the pin is still there after its time")
		}
		r.traffic(5, 120*time.Second, good)
		if w := r.ByName("a").weight; w < 0.69 || w > 0.81 {
			t.Fatalf("two minutes after the pin the weight of a is %.2f, not in its band", w)
		}
	})
}

func TestKilledVendor_IsEjectedLosesNothingAndComesBackOverARamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.traffic(20, 20*time.Second, good)
		r.traffic(20, 6*time.Second, failing("a"))
		v := r.ByName("a")
		if v.open.Load() || v.weight != 0 {
			t.Fatalf("after 6 s of refused connections a is open %v, weight %.2f", v.open.Load(), v.weight)
		}
		// It gets a trial every 10 s and nothing else.
		if n := r.traffic(20, 30*time.Second, failing("a")); n["a"] > 4 || n["a"] < 2 {
			t.Fatalf("a killed vendor was asked %d times in 30 s", n["a"])
		}
		if f := r.service.totals.Failed; f != 0 {
			t.Fatalf("%d client requests failed", f)
		}
		r.Restored("a")
		if to, err := r.request(control.Interactive, func(string) outcome.Result { return outcome.Result{Outcome: outcome.OK} }); err != nil || len(to) != 1 || to[0] != "a" {
			t.Fatalf("the first request after a restore went to %v (%v)", to, err)
		}
		r.traffic(20, 2*time.Second, good)
		early := r.ByName("a").weight
		r.traffic(20, 90*time.Second, good)
		if late := r.ByName("a").weight; early > 0.3 || late < 0.69 || late > 0.81 {
			t.Fatalf("weight %.2f just after the trial and %.2f 90 s later", early, late)
		}
	})
}

func TestLastVendor_IsNeverEjected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		all := func(string) outcome.Result { return outcome.Result{Outcome: outcome.VendorFault, Reason: "http_500"} }
		r.traffic(20, 30*time.Second, all)
		if !r.Ready() {
			t.Fatal("no vendor takes traffic though both merely fail")
		}
		n := r.traffic(20, 10*time.Second, all)
		if n["a"] == 0 || n["b"] == 0 {
			t.Fatalf("in panic everyone is tried: %v", n)
		}
		r.traffic(20, 60*time.Second, good)
		before := r.service.totals.Failed
		r.traffic(20, 20*time.Second, good)
		if r.service.totals.Failed != before {
			t.Fatal("requests fail after both vendors are well again")
		}
	})
}

func TestDrain_TakesNothingAndIsNotReadyWhenAllAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		if _, err := r.Do(&control.Drain{Vendor: "a"}); err != nil {
			t.Fatal(err)
		}
		if n := r.traffic(20, 5*time.Second, good); n["a"] != 0 || n["b"] != 100 {
			t.Fatalf("with a drained traffic went %v", n)
		}
		_, _ = r.Do(&control.Drain{Vendor: "b"})
		var l Lease
		if err := r.Acquire(&l, Ask{First: true}); !errors.Is(err, ErrNoVendor) || r.Ready() {
			t.Fatalf("with both drained: %v, ready %v", err, r.Ready())
		}
		_, _ = r.Do(&control.Undrain{Vendor: "a"})
		if n := r.traffic(20, time.Second, good); n["a"] != 20 {
			t.Fatalf("after the undrain traffic went %v", n)
		}
	})
}

func TestDrainNow_CancelsWhatIsUnderWay(t *testing.T) {
	r := newRig(t, nil)
	var l Lease
	var cause error
	l.Cancel = func(err error) { cause = err }
	if err := r.Acquire(&l, Ask{First: true}); err != nil {
		t.Fatal(err)
	}
	_, _ = r.Do(&control.Drain{Vendor: l.Vendor.Name, Now: true})
	if !errors.Is(cause, ErrDrained) {
		t.Fatalf("cause %v", cause)
	}
	l.Done(time.Now(), outcome.Result{Outcome: outcome.GatewayFault}, outcome.Usage{})
}

func TestWeightZero_TakesNoFirstAttemptAndStillRescues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *config.Config) {
			c.Vendors[0].Weight, c.Vendors[0].Band = 100, []float64{100, 100}
			c.Vendors[1].Weight, c.Vendors[1].Band = 0, []float64{0, 0}
		})
		if n := r.traffic(20, 3*time.Second, good); n["b"] != 0 {
			t.Fatalf("a vendor of weight 0 took %d first attempts", n["b"])
		}
		vs, err := r.request(control.Interactive, failing("a"))
		if err != nil || len(vs) != 2 || vs[1] != "b" {
			t.Fatalf("rescue went %v, %v", vs, err)
		}
	})
}

func TestAccountFault_DisablesTheVendorButNeverTheLast(t *testing.T) {
	r := newRig(t, nil)
	unpaid := func(string) outcome.Result {
		return outcome.Result{Outcome: outcome.AccountFault, Reason: "Arrearage", Account: "billing", Scope: outcome.ScopeVendor}
	}
	_, _ = r.request(control.Interactive, unpaid)
	var s control.Snapshot
	r.Fill(&s)
	disabled := 0
	for _, v := range s.Vendors {
		if v.State == control.Disabled {
			disabled++
		}
	}
	if disabled != 1 || !r.Ready() {
		t.Fatalf("%d vendors disabled, ready %v", disabled, r.Ready())
	}
	_, _ = r.Do(&control.Enable{Vendor: "a"})
	r.Fill(&s)
	if s.Vendor("a").State == control.Disabled {
		t.Fatal("a is still disabled")
	}
}

func TestBatch_FillsTheSecondaryFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		n := map[control.Lane]map[string]int{control.Interactive: {}, control.Batch: {}}
		for s := range 120 {
			for i := range 20 {
				lane := control.Interactive
				if i%4 == 0 {
					lane = control.Batch
				}
				time.Sleep(50 * time.Millisecond)
				vs, _ := r.request(lane, good)
				if s >= 60 {
					n[lane][vs[0]]++
				}
			}
			r.Tick(time.Now())
		}
		if b, i := n[control.Batch], n[control.Interactive]; math.Abs(float64(b["b"])/300-0.85) > 0.02 || math.Abs(float64(i["b"])/900-0.05) > 0.01 {
			t.Fatalf("batch %v, interactive %v: not 85 %% and 5 %% on the secondary", b, i)
		}
	})
}

func TestTotals_AddUp(t *testing.T) {
	r := newRig(t, nil)
	for range 10 {
		_, _ = r.request(control.Interactive, good)
	}
	for _, o := range []outcome.Outcome{outcome.ClientFault, outcome.ContentFilter, outcome.ClientCancel, outcome.GatewayFault} {
		r.Begin(control.Batch)
		r.Finish(Finished{Outcome: o, ID: "x"})
	}
	var s control.Snapshot
	r.Fill(&s)
	if tt := s.Totals; tt.Requests != 14 || tt.OK != 10 || tt.ClientFault != 2 || tt.ClientCancel != 1 || tt.Failed != 1 || tt.Attempts != 10 {
		t.Fatalf("totals %+v", tt)
	}
	if s.Gateway.InFlight != 0 || s.Vendors[0].InFlight != 0 {
		t.Fatal("something is still in flight")
	}
	if got := r.Tally().Totals; got != s.Totals {
		t.Fatalf("tally %+v, snapshot %+v", got, s.Totals)
	}
}

func TestReload_KeepsWhatIsKnownOfAVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.traffic(20, 5*time.Second, good)
		before := r.ByName("a")
		next := *r.cfg.Load()
		next.Vendors = append([]config.Vendor{}, next.Vendors...)
		next.Vendors[0].Weight, next.Vendors[0].Band = 60, []float64{55, 65}
		next.Vendors[1].Weight, next.Vendors[1].Band = 40, []float64{35, 45}
		r.Reload(&next)
		if r.ByName("a") != before || before.attempts != 75 {
			t.Fatalf("the vendor lost its state: %d attempts", before.attempts)
		}
		if n := r.traffic(20, 5*time.Second, good); n["a"] != 60 {
			t.Fatalf("after the reload 100 requests at 60/40 went %v", n)
		}
	})
}

func BenchmarkAcquireDone(b *testing.B) {
	cfg := config.Default()
	cfg.Vendors = []config.Vendor{
		{Name: "a", Role: "primary", Weight: 75, Band: []float64{70, 80}},
		{Name: "b", Role: "secondary", Weight: 25, Band: []float64{20, 30}},
	}
	e := New(cfg, func(control.Event) {})
	var l Lease
	r := outcome.Result{Outcome: outcome.OK}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Acquire(&l, Ask{First: true}); err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		l.FirstToken(now)
		l.Done(now, r, outcome.Usage{})
	}
}

func TestManualFailover_AlarmsButLeavesTheWeightsToPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, nil)
		r.traffic(20, 20*time.Second, good)
		r.SetManual(time.Now().Add(30 * time.Minute))
		r.traffic(20, 20*time.Second, failing("a"))
		if w := r.ByName("a").weight; w != 0.75 {
			t.Fatalf("the weight of a failing vendor moved to %.2f by itself", w)
		}
		if f := r.service.totals.Failed; f != 0 {
			t.Fatalf("%d requests were not rescued", f)
		}
		if _, err := r.Do(&control.Drain{Vendor: "a"}); err != nil {
			t.Fatal(err)
		}
		if n := r.traffic(20, 2*time.Second, good); n["a"] != 0 {
			t.Fatalf("after a person drained a it took %d", n["a"])
		}
		_, _ = r.Do(&control.Undrain{Vendor: "a"})
		if n := r.traffic(20, 2*time.Second, good); n["a"] != 30 {
			t.Fatalf("after the undrain a took %d of 40", n["a"])
		}
		r.SetManual(time.Time{})
		r.traffic(20, 10*time.Second, failing("a"))
		if w := r.ByName("a").weight; w != 0 {
			t.Fatalf("automatic again, the failing vendor keeps %.2f", w)
		}
	})
}

func TestObserve_KeepsTheConfiguredWeightsAndSaysWhatTheLawWouldDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(c *config.Config) { c.Routing.Mode = "observe" })
		r.traffic(20, 20*time.Second, good)
		n := r.traffic(20, 10*time.Second, failing("a"))
		if n["a"] != 150 {
			t.Fatalf("observing, a took %d of 200 first attempts", n["a"])
		}
		said := false
		for _, e := range r.events {
			said = said || e.Kind == "weights" && e.Vendor == "" && len(e.Text) > 8 && e.Text[:8] == "observe:"
		}
		if !said {
			t.Fatal("the journal does not say what the law would have done")
		}
	})
}

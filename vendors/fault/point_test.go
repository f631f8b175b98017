package fault

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// held begins a stream that waits in its midst for the path's gate.
func (p *path) held(t *testing.T) *http.Response {
	t.Helper()
	r, err := p.ask(t, t.Context(), "/held")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r.Body, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestFinish_OpenStreamsEndAsTheyWould(t *testing.T) {
	for _, kind := range []Kind{Refuse, DNS, TLS, Blackhole, HTTP503} {
		p := newPath(t)
		r := p.held(t)
		p.inject(t, Spec{Kind: kind})
		close(p.gate)
		b, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil || string(b) != streamed()[10:] {
			t.Errorf("%s: %d bytes, %v", kind, len(b), err)
		}
		if answer, err := p.ask(t, within(t, 20*time.Millisecond), "/whole"); err == nil && answer.StatusCode == 200 {
			t.Errorf("%s: the connection that was open still answers", kind)
		}
	}
}

func TestCut_ResetsOpenStreamsAndWaitingRequests(t *testing.T) {
	for _, s := range []Spec{{Kind: Reset}, {Kind: Refuse, InFlight: Cut}} {
		p := newPath(t)
		r := p.held(t)
		waiting := make(chan error)
		go func() {
			_, err := p.ask(t, t.Context(), "/silent")
			waiting <- err
		}()
		for p.arrivals.Load() < 2 {
			time.Sleep(time.Millisecond)
		}
		p.inject(t, s)
		if _, err := io.ReadAll(r.Body); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: an open stream ends with %v", s.Kind, err)
		}
		_ = r.Body.Close()
		if err := <-waiting; !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: a waiting request ends with %v", s.Kind, err)
		}
	}
}

func TestInject_ClosesIdleConnections(t *testing.T) {
	p := newPath(t)
	open := func() int {
		p.point.mu.Lock()
		defer p.point.mu.Unlock()
		return len(p.point.conns)
	}
	settle := func(want int, when string) {
		t.Helper()
		for range 200 {
			if open() == want {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Errorf("%s: %d connections, want %d", when, open(), want)
	}
	_, _, _ = p.read(t, t.Context(), "/whole")
	settle(1, "after an answer")
	l := p.inject(t, Spec{Kind: CutStream, After: 1 << 20})
	settle(0, "after the injection")
	_, _, _ = p.read(t, t.Context(), "/stream")
	settle(1, "after an answer under the fault")
	l.Release()
	settle(0, "after the restore")
}

func TestLease_EndsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Point)
		changes := 0
		defer p.OnChange(func() { changes++ })()
		l := p.Inject(time.Now(), Spec{Kind: Refuse, For: time.Minute})
		time.Sleep(59 * time.Second)
		if s, ok := p.State(time.Now()); !ok || s.Kind != Refuse || s.Percent != 100 || time.Until(s.Until) != time.Second {
			t.Errorf("in force: %+v, %v", s, ok)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if _, ok := p.State(time.Now()); ok || !l.ended() || changes != 2 {
			t.Errorf("after its time: %v, ended %v, %d changes", ok, l.ended(), changes)
		}
		if l.Renew(time.Now(), time.Minute) {
			t.Error("an ended lease was renewed")
		}
		l.Release() // does nothing
	})
}

func TestLease_EndsWhenNobodyRenewsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Point)
		began := time.Now()
		l := p.Inject(began, Spec{Kind: Refuse, For: time.Minute})
		for range 3 {
			if !l.Renew(time.Now(), 5*time.Second) {
				t.Fatal("not renewed")
			}
			time.Sleep(4 * time.Second)
		}
		<-l.Done()
		if took := time.Since(began); took != 13*time.Second {
			t.Errorf("ended after %v, want 13s", took)
		}

		l = p.Inject(time.Now(), Spec{Kind: Refuse, For: 10 * time.Second})
		began = time.Now()
		l.Renew(time.Now(), time.Hour)
		<-l.Done()
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("renewed beyond its time: %v", took)
		}
	})
}

func TestInject_ReplacesAndAnOldReleaseDoesNotEndTheNewFault(t *testing.T) {
	p := new(Point)
	old := p.Inject(time.Now(), Spec{Kind: Refuse})
	l := p.Inject(time.Now(), Spec{Kind: DNS})
	old.Release()
	if s, ok := p.State(time.Now()); !ok || s.Kind != DNS || !old.ended() {
		t.Errorf("%+v, %v", s, ok)
	}
	l.Release()
	if _, ok := p.State(time.Now()); ok {
		t.Error("still in force")
	}
}

func TestInject_NeverLastsLongerThanAnHour(t *testing.T) {
	p := new(Point)
	l := p.Inject(time.Now(), Spec{Kind: Refuse, For: 1000 * time.Hour})
	defer l.Release()
	if l.Spec().For != time.Hour {
		t.Errorf("for %v", l.Spec().For)
	}
}

// answers always, so that only the point decides.
type answers struct{}

var fine = &http.Response{StatusCode: 200, Body: http.NoBody}

func (answers) RoundTrip(*http.Request) (*http.Response, error) { return fine, nil }

func struckOf(t testing.TB, p *Point, ctx context.Context, n int) int {
	t.Helper()
	w := p.Wrap(answers{})
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/", nil)
	if err != nil {
		t.Fatal(err)
	}
	struck := 0
	for range n {
		if _, err := w.RoundTrip(r); err != nil {
			struck++
		}
	}
	return struck
}

func TestPercent_IsOfAttemptsAndSeeded(t *testing.T) {
	var counts []int
	for range 2 {
		p := new(Point)
		l := p.Inject(time.Now(), Spec{Kind: Refuse, Percent: 30, Seed: 7})
		n := struckOf(t, p, t.Context(), 10_000)
		if n < 2800 || n > 3200 {
			t.Errorf("%d of 10000, want about 3000", n)
		}
		if got, first := l.Struck(); got != int64(n) || first.IsZero() {
			t.Errorf("counted %d since %v, want %d", got, first, n)
		}
		counts = append(counts, n)
		l.Release()
	}
	if counts[0] != counts[1] {
		t.Errorf("the same seed struck %v", counts)
	}
}

func TestLane_SparesTheOthersAndProbes(t *testing.T) {
	p := new(Point)
	defer p.Inject(time.Now(), Spec{Kind: Refuse, Lane: "batch"}).Release()
	for lane, want := range map[string]int{"batch": 10, "interactive": 0} {
		if n := struckOf(t, p, WithLane(t.Context(), lane), 10); n != want {
			t.Errorf("%s: %d of 10 struck, want %d", lane, n, want)
		}
	}
	if n := struckOf(t, p, t.Context(), 10); n != 0 {
		t.Errorf("without a lane: %d of 10 struck", n)
	}
}

func TestRamp_RisesToItsPercent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Point)
		defer p.Inject(time.Now(), Spec{Kind: Refuse, Ramp: 100 * time.Second, Seed: 1}).Release()
		if n := struckOf(t, p, t.Context(), 1000); n != 0 {
			t.Errorf("at once: %d", n)
		}
		time.Sleep(50 * time.Second)
		if n := struckOf(t, p, t.Context(), 1000); n < 430 || n > 570 {
			t.Errorf("halfway: %d", n)
		}
		time.Sleep(50 * time.Second)
		if n := struckOf(t, p, t.Context(), 1000); n != 1000 {
			t.Errorf("at the end: %d", n)
		}
	})
}

func TestSet_KeepsPointsAndClearsAll(t *testing.T) {
	s := NewSet()
	if a := s.Point("a"); a != s.Point("a") || a == s.Point("b") {
		t.Error("points are not one per vendor")
	}
	l := s.Point("a").Inject(time.Now(), Spec{Kind: Refuse})
	s.Clear()
	if !l.ended() {
		t.Error("Clear left a fault")
	}
}

func TestPoint_FromManyGoroutines(t *testing.T) {
	p := newPath(t)
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for at, want := range bothKinds {
					if status, body, err := p.read(t, t.Context(), at); err == nil && status == 200 && body != want {
						t.Errorf("%s: a wrong answer of %d bytes without an error", at, len(body))
					}
				}
			}
		})
	}
	for _, kind := range []Kind{Refuse, Reset, CutStream, HTTP503, Blackhole} {
		l := p.inject(t, Spec{Kind: kind, Percent: 50, After: 3})
		time.Sleep(10 * time.Millisecond)
		p.point.State(time.Now())
		l.Renew(time.Now(), time.Second)
		l.Release()
	}
	close(stop)
	group.Wait()
}

func TestParse_NamesFieldValueAndRule(t *testing.T) {
	percent := func(f float64) *float64 { return &f }
	after := func(n int) *int { return &n }
	nan := percent(0)
	*nan /= *nan
	for name, c := range map[string]struct {
		f    Fields
		want []string // fields that are wrong
	}{
		"plain":                {Fields{Kind: "refuse"}, nil},
		"all of its own":       {Fields{Kind: "slow_drip", Rate: 2, Percent: percent(0.5), For: time.Hour, Ramp: time.Minute, Lane: "batch", InFlight: "finish"}, nil},
		"after none":           {Fields{Kind: "cut_stream", After: after(0)}, nil},
		"no kind":              {Fields{}, []string{"kind"}},
		"unknown kind":         {Fields{Kind: "explode"}, []string{"kind"}},
		"percent 0":            {Fields{Kind: "refuse", Percent: percent(0)}, []string{"percent"}},
		"percent 101":          {Fields{Kind: "refuse", Percent: percent(101)}, []string{"percent"}},
		"percent not a number": {Fields{Kind: "refuse", Percent: nan}, []string{"percent"}},
		"for too long":         {Fields{Kind: "refuse", For: 61 * time.Minute}, []string{"for"}},
		"for before now":       {Fields{Kind: "refuse", For: -1}, []string{"for"}},
		"ramp beyond for":      {Fields{Kind: "refuse", For: time.Minute, Ramp: 2 * time.Minute}, []string{"ramp"}},
		"lane":                 {Fields{Kind: "refuse", Lane: "fast"}, []string{"lane"}},
		"in_flight":            {Fields{Kind: "refuse", InFlight: "maybe"}, []string{"in_flight"}},
		"cut of one lane":      {Fields{Kind: "reset", InFlight: "cut", Lane: "batch"}, []string{"in_flight"}},
		"delay elsewhere":      {Fields{Kind: "refuse", Delay: time.Second}, []string{"delay"}},
		"rate below 0":         {Fields{Kind: "slow_drip", Rate: -1}, []string{"rate"}},
		"after below 0":        {Fields{Kind: "garbage", After: after(-1)}, []string{"after"}},
		"everything at once":   {Fields{Kind: "auth", Percent: percent(-1), Lane: "x", After: after(1), Rate: 1}, []string{"percent", "lane", "after", "rate"}},
	} {
		_, err := Parse(c.f)
		if (err != nil) != (len(c.want) > 0) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, field := range c.want {
			if !strings.Contains(err.Error(), "fault: "+field+" ") {
				t.Errorf("%s: %q does not name %s", name, err, field)
			}
		}
		var f *FieldError
		if err != nil && (!errors.As(err, &f) || f.Rule == "") {
			t.Errorf("%s: %T", name, err)
		}
	}
}

func TestParse_FillsInDefaults(t *testing.T) {
	for _, kind := range Kinds() {
		s, err := Parse(Fields{Kind: string(kind)})
		inFlight := Finish
		if kind == Reset {
			inFlight = Cut
		}
		want := Spec{Kind: kind, Percent: 100, For: 15 * time.Minute, Delay: 20 * time.Second, Rate: 1, After: 10, InFlight: inFlight}
		if err != nil || s != want {
			t.Errorf("%s: %+v, %v", kind, s, err)
		}
	}
	if s, _ := Parse(Fields{Kind: "reset", Lane: "batch"}); s.InFlight != Finish {
		t.Errorf("reset of one lane: in flight %s", s.InFlight)
	}
}

// Budget: one atomic load, no allocation.
func BenchmarkWrap_WithoutFault(b *testing.B) {
	w := new(Point).Wrap(answers{})
	r, _ := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1/", nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.RoundTrip(r); err != nil {
			b.Fatal(err)
		}
	}
}

func TestWrap_WithoutFaultAllocatesNothing(t *testing.T) {
	w := new(Point).Wrap(answers{})
	r, _ := http.NewRequestWithContext(WithLane(t.Context(), "batch"), http.MethodGet, "http://127.0.0.1/", nil)
	if n := testing.AllocsPerRun(100, func() { _, _ = w.RoundTrip(r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestLease_IsOverAtItsTimeThoughTheTimerIsLate(t *testing.T) {
	p := new(Point)
	now := time.Now()
	defer p.Inject(now, Spec{Kind: Refuse, For: time.Minute}).Release()
	if _, ok := p.State(now.Add(time.Minute - 1)); !ok {
		t.Error("over before its time")
	}
	if _, ok := p.State(now.Add(time.Minute)); ok {
		t.Error("in force at its end")
	}
}

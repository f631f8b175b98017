package gateway

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
	"baton/vendors"
)

func TestReload_RequestsUnderWayEndWithWhatTheyBeganWith(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	in, out := make(chan struct{}), make(chan struct{})
	w.a.does(func(rw http.ResponseWriter, _ *http.Request) {
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 30)
		close(in)
		<-out
		s.words("lanyun", 31, 60)
		s.finish("lanyun")
		s.done()
	})
	first := make(chan answer, 1)
	go func() { first <- w.chat(askStream) }()
	<-in
	cfg := *w.cfg
	cfg.Routing.UnknownModels = "reject"
	set, err := vendors.Open(&cfg, vendors.Options{Before: w.g.state.Load().set})
	if err != nil {
		t.Fatal(err)
	}
	old := w.g.state.Load()
	w.engine.Reload(&cfg)
	w.g.Reload(&cfg, set)
	if x := w.chat(askWhole); x.status != http.StatusNotFound {
		t.Errorf("status %d under the new configuration", x.status)
	}
	if old.refs.Load() == 0 {
		t.Error("the old vendors were closed under a request")
	}
	close(out)
	w.wants(<-first, "lanyun")
	eventually(t, "the old configuration is let go", func() bool { return old.refs.Load() == 0 })
}

func TestDrain_WaitsThenCancels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	in := make(chan struct{}, 2)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		s.words("lanyun", 1, 10)
		in <- struct{}{}
		for r.Context().Err() == nil {
			s.words("lanyun", 11, 11)
			time.Sleep(10 * time.Millisecond)
		}
	})
	first := make(chan answer, 1)
	go func() { first <- w.chat(askStream) }()
	<-in
	drained := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		drained <- w.g.Drain(ctx)
	}()
	eventually(t, "the gateway drains", func() bool { return w.g.draining.Load() })
	x := w.chat(askWhole)
	if x.status != http.StatusServiceUnavailable || x.header.Get("Retry-After") == "" {
		t.Errorf("status %d: %s", x.status, x.body)
	}
	if x := w.do(http.MethodGet, "/readyz", ""); x.status != http.StatusServiceUnavailable {
		t.Errorf("ready: status %d", x.status)
	}
	if err := <-drained; err == nil {
		t.Error("Drain does not say that it had to cancel")
	}
	if x := <-first; !strings.Contains(x.body, codeInterrupted) {
		t.Errorf("the stream that was cancelled ends with %q", x.short())
	}
	if n := w.g.InFlight(); n != 0 {
		t.Errorf("%d in flight", n)
	}
}

func TestDrain_ReturnsWhenTheLastRequestEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	in, out := make(chan struct{}), make(chan struct{})
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		close(in)
		<-out
		well("lanyun")(rw, r)
	})
	first := make(chan answer, 1)
	go func() { first <- w.chat(askWhole) }()
	<-in
	drained := make(chan error, 1)
	go func() { drained <- w.g.Drain(t.Context()) }()
	time.Sleep(20 * time.Millisecond)
	close(out)
	if err := <-drained; err != nil {
		t.Error(err)
	}
	w.wants(<-first, "lanyun")
}

// A vendor that is drained at once gives its streams up: unseen before the commit
// point, with an error after it.
func TestDrainedVendor_MovesWhatIsNotCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	in := make(chan struct{}, 2)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		s.role()
		in <- struct{}{}
		<-r.Context().Done()
	})
	first := make(chan answer, 1)
	go func() { first <- w.chat(askStream) }()
	<-in
	if _, err := w.engine.Do(&control.Drain{Vendor: "lanyun", Now: true}); err != nil {
		t.Fatal(err)
	}
	w.wants(<-first, "bailian")
	if list := w.g.Failures("lanyun", 0); len(list) != 1 || list[0].Outcome != "gateway_fault" || list[0].Reason != "drained" {
		t.Errorf("failures %+v: it is not the vendor's fault", list)
	}
}

func TestProbes_RunUntilTheContextEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.g.Run(ctx) }()
	time.Sleep(20 * time.Millisecond)
	w.g.Reload(w.cfg, w.g.state.Load().set)
	time.Sleep(20 * time.Millisecond)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	w.wants(w.chat(askWhole), "lanyun") // the set was kept
}

func TestSlowClients_AreLetGoAndNoVendorIsBlamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	big := strings.Repeat("x", 64<<10)
	w.a.does(func(rw http.ResponseWriter, r *http.Request) {
		s := say{rw}
		s.begin()
		for r.Context().Err() == nil {
			s.raw(`data: {"choices":[{"index":0,"delta":{"content":"` + big + `"}}]}` + "\n\n")
		}
	})
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+chatPath, strings.NewReader(askStream))
	res, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	select { // nothing is read
	case <-w.a.left:
	case <-time.After(20 * time.Second):
		t.Fatal("a client that takes nothing holds its vendor")
	}
	eventually(t, "the request ends", func() bool { return w.g.InFlight() == 0 })
	if list := w.g.Failures("", 0); len(list) != 0 {
		t.Errorf("failures %+v", list)
	}
}

package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// openStream opens the stream as a bare client and returns its lines.
func openStream(t *testing.T, ts *httptest.Server, query string) *bufio.Scanner {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, ts.URL+"/api/v1/stream"+query, nil)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := ts.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	return lines
}

func TestStream_BeginsWithTheJournalAndTheState(t *testing.T) {
	p := newPlant()
	p.Log(control.Event{Text: "started"})
	lines := openStream(t, serve(t, p), "?every=50ms")
	want := []string{"event: event", `data: {"seq":1,`, "", "event: snapshot", `data: {"time":`, "", "event: snapshot", `data: {"time":`, ""}
	for i, w := range want {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
		if got := lines.Text(); !strings.HasPrefix(got, w) || w == "" && got != "" {
			t.Fatalf("line %d is %.60q, want %q…", i, got, w)
		}
	}
}

func TestStream_ComesFourTimesASecond(t *testing.T) {
	lines := openStream(t, serve(t, newPlant()), "")
	var at []time.Time
	for len(at) < 4 && lines.Scan() {
		if lines.Text() == "event: snapshot" {
			at = append(at, time.Now())
		}
	}
	if len(at) < 4 {
		t.Fatal(lines.Err())
	}
	if d := at[3].Sub(at[0]); d < 600*time.Millisecond || d > 2*time.Second {
		t.Errorf("three states later it is %s, want 750 ms", d)
	}
}

func TestPace_ManyEventsBringNoFloodOfStates(t *testing.T) {
	p := pace{every: 250 * time.Millisecond}
	now := time.Unix(1000, 0)
	states, events := 0, 0
	for range 1000 { // an event each millisecond for a second
		now = now.Add(time.Millisecond)
		b, err := p.append(nil, control.Update{Snapshot: &control.Snapshot{}, Events: []control.Event{{}}}, now)
		if err != nil {
			t.Fatal(err)
		}
		states += strings.Count(string(b), "event: snapshot\n")
		events += strings.Count(string(b), "event: event\n")
	}
	if events != 1000 || states < 4 || states > 21 {
		t.Errorf("%d events and %d states, want 1000 and at most 21", events, states)
	}
}

func TestPace_AChangeByPeopleShowsAtOnce(t *testing.T) {
	p := pace{every: time.Hour}
	now := time.Unix(1000, 0)
	for _, c := range []struct {
		revision int64
		want     bool
	}{{0, true}, {0, false}, {1, true}, {1, false}, {2, true}} {
		now = now.Add(time.Millisecond)
		b, err := p.append(nil, control.Update{Snapshot: &control.Snapshot{Revision: c.revision}}, now)
		if err != nil || (len(b) > 0) != c.want {
			t.Errorf("revision %d: %q, %v", c.revision, b, err)
		}
	}
}

func TestStream_ASlowReaderHoldsNobodyUp(t *testing.T) {
	p := newPlant()
	p.state = func(s *control.Snapshot) { s.Alerts = []string{strings.Repeat("x", 256<<10)} } // soon fills the socket
	ts := serve(t, p)
	c, err := net.Dial("tcp", strings.TrimPrefix(ts.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /api/v1/stream?every=50ms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
	n := 0
	for _, err := range client(t, ts).Watch(t.Context(), 50*time.Millisecond) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 20 {
			break
		}
	}
	start := time.Now()
	if r := request(t, ts, "POST", "/api/v1/reload", "", nil); r.status != 200 || time.Since(start) > 2*time.Second {
		t.Errorf("%d after %s", r.status, time.Since(start))
	}
}

func TestStream_LetsADeadReaderGo(t *testing.T) {
	p := newPlant()
	p.state = func(s *control.Snapshot) { s.Alerts = []string{strings.Repeat("x", 1<<20)} }
	s := NewServer(Options{Control: p, Token: token}).(*server)
	s.patience = 100 * time.Millisecond
	ended := make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		close(ended)
	}))
	defer ts.Close()
	c, err := net.Dial("tcp", strings.TrimPrefix(ts.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET /api/v1/stream?every=50ms HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("a reader that reads nothing still holds the stream")
	}
}

func TestWatch_YieldsStatesAndEventsOnce(t *testing.T) {
	p := newPlant()
	p.Log(control.Event{Text: "before"})
	c := client(t, serve(t, p))
	next, states := int64(1), 0
	for u, err := range c.Watch(t.Context(), 50*time.Millisecond) {
		if err != nil || u.Snapshot == nil || u.Snapshot.Version != "1.0.0" {
			t.Fatalf("%+v, %v", u, err)
		}
		for _, e := range u.Events {
			if e.Seq != next {
				t.Fatalf("event %d where %d was due", e.Seq, next)
			}
			next++
		}
		if states++; states == 2 {
			p.Log(control.Event{Text: "during"})
		}
		if next == 3 || states > 50 {
			break
		}
	}
	if next != 3 {
		t.Errorf("%d events came, want 2", next-1)
	}
}

func TestWatch_ShowsACommandSoonAtASlowPace(t *testing.T) {
	p := newPlant()
	c := client(t, serve(t, p))
	start := time.Time{}
	for u, err := range c.Watch(t.Context(), time.Minute) {
		if err != nil {
			t.Fatal(err)
		}
		if u.Snapshot.Revision == 1 {
			break
		}
		start = time.Now()
		if err := c.Do(t.Context(), &control.Drain{Vendor: "lanyun"}); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("the command showed after %s", d)
	}
}

func lastOf(ctx context.Context, c *Client, then func()) error {
	var last error
	n := 0
	for _, err := range c.Watch(ctx, 50*time.Millisecond) {
		last = err
		if n++; n == 1 && then != nil {
			then()
		}
	}
	return last
}

func TestWatch_EndsWithAnErrorWhenTheServerStops(t *testing.T) {
	stops := map[string]func(ts *httptest.Server, cancel context.CancelFunc){
		"cut":          func(ts *httptest.Server, _ context.CancelFunc) { ts.CloseClientConnections() },
		"its contexts": func(_ *httptest.Server, cancel context.CancelFunc) { cancel() },
	}
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ts := httptest.NewUnstartedServer(NewServer(Options{Control: newPlant(), Token: token}))
			ts.Config.BaseContext = func(net.Listener) context.Context { return ctx }
			ts.Start()
			defer ts.Close()
			err := lastOf(t.Context(), client(t, ts), func() { stop(ts, cancel) })
			var e *control.Error
			if !errors.As(err, &e) || e.Kind != control.Unreachable {
				t.Errorf("got %v, want Unreachable", err)
			}
		})
	}
}

func TestWatch_ItsReadersEndIsNoError(t *testing.T) {
	ts := serve(t, newPlant())
	ctx, cancel := context.WithCancel(t.Context())
	if err := lastOf(ctx, client(t, ts), cancel); err != nil {
		t.Errorf("got %v", err)
	}
	done, stop := context.WithCancel(t.Context())
	stop()
	if err := lastOf(done, client(t, ts), nil); err != nil {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestWatch_NoticesAnEngineThatSaysNothing(t *testing.T) {
	p := newPlant()
	ts := serve(t, p)
	c := client(t, ts)
	c.silence = 100 * time.Millisecond
	hang := make(chan struct{})
	defer close(hang)
	err := lastOf(t.Context(), c, func() {
		p.mu.Lock()
		p.hang = hang
		p.mu.Unlock()
	})
	var e *control.Error
	if !errors.As(err, &e) || e.Kind != control.Unreachable || !strings.Contains(e.Message, "said nothing") {
		t.Errorf("got %v", err)
	}
}

func TestWatch_ErrorsOfTheServerKeepTheirKind(t *testing.T) {
	ts := serve(t, newPlant())
	c := NewClient(ts.URL, "wrong")
	defer c.Close()
	err := lastOf(t.Context(), c, nil)
	var e *control.Error
	if !errors.As(err, &e) || e.Kind != control.Denied {
		t.Errorf("got %v, want Denied", err)
	}
	gone := NewClient("127.0.0.1:1", token)
	defer gone.Close()
	if err := lastOf(t.Context(), gone, nil); !errors.As(err, &e) || e.Kind != control.Unreachable {
		t.Errorf("got %v, want Unreachable", err)
	}
}

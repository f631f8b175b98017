package cli

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine/control"
)

// arrivals is a vendor elsewhere that keeps a log of its own: when each request came.
type arrivals struct {
	*httptest.Server
	mu sync.Mutex
	at []time.Time
}

func newArrivals(t *testing.T) *arrivals {
	t.Helper()
	v := &arrivals{}
	v.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came := time.Now()
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		v.mu.Lock()
		v.at = append(v.at, came)
		v.mu.Unlock()
		if !strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		const chunk = "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]}\n\n"
		fmt.Fprintf(w, chunk, `{"role":"assistant","content":"hello"}`, "null")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintf(w, chunk+"data: [DONE]\n\n", `{}`, `"stop"`)
	}))
	v.Config.ErrorLog = log.New(io.Discard, "", 0)
	v.Start()
	t.Cleanup(v.Close)
	return v
}

// log is when the requests came, in the order of the time.
func (v *arrivals) log() []time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := slices.Clone(v.at)
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// asking is a client's own log of its requests.
type asking struct {
	mu  sync.Mutex
	all []got
}

// got is one request as its client saw it.
type got struct {
	sent, ended time.Time
	status      int
	attempts    string // X-Baton-Attempts
	whole       bool
}

// ask sends a request every so often, half of them streams, until stop is closed.
func (c *asking) ask(gateway string, every time.Duration, stop <-chan struct{}) {
	var wg sync.WaitGroup
	defer wg.Wait()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		wg.Go(func() { c.one(gateway, i%2 == 0) })
	}
}

func (c *asking) one(gateway string, stream bool) {
	g := got{sent: time.Now()}
	body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"hi"}]}`, stream)
	resp, err := http.Post(gateway+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err == nil {
		b, rerr := io.ReadAll(resp.Body)
		resp.Body.Close()
		g.status, g.attempts = resp.StatusCode, resp.Header.Get("X-Baton-Attempts")
		g.whole = rerr == nil && strings.Contains(string(b), "hello") && (!stream || strings.Contains(string(b), "[DONE]"))
	}
	g.ended = time.Now()
	c.mu.Lock()
	c.all = append(c.all, g)
	c.mu.Unlock()
}

// log is the requests in the order in which they were sent.
func (c *asking) log() []got {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Clone(c.all)
	slices.SortFunc(all, func(a, b got) int { return a.sent.Compare(b.sent) })
	return all
}

// The moments of a drill are held against what others saw: the vendor that was
// killed, which kept a log of arrivals, and a client, which reads X-Baton-Attempts.
// On a machine at rest they agree within 100 ms (BATON_QUIET=1 asks for that).
func TestDrill_MomentsAgreeWithWhatVendorsAndClientsSaw(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	slack := 2 * time.Second
	if os.Getenv("BATON_QUIET") != "" {
		slack = 100 * time.Millisecond
	}
	a, b := newArrivals(t), newArrivals(t)
	s := serve(t, fmt.Sprintf("[drill]\nhold = \"2s\"\nmin_requests = 20\n[[vendors]]\nname = \"a\"\nbase_url = \"%s/v1\"\nweight = 75\n[[vendors]]\nname = \"b\"\nbase_url = \"%s/v1\"\nweight = 25\n", a.URL, b.URL))
	client, stop := &asking{}, make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { client.ask(s.gateway, 20*time.Millisecond, stop) })
	stopped := sync.OnceFunc(func() { close(stop); wg.Wait() })
	t.Cleanup(stopped)
	until(t, patience, "both have traffic", func() bool { return len(a.log()) > 100 && len(b.log()) > 20 })

	kill := &control.StartDrill{Meta: control.Meta{By: "li"}, Scenario: "kill", Vendor: "a"}
	kill.ID = control.NewDrillID(time.Now())
	s.do(kill)
	until(t, patience, "a verdict", func() bool { d := s.snapshot().Drill; return d != nil && d.Verdict != nil })
	s.do(&control.ClearFault{Meta: control.Meta{By: "li"}, Vendor: "a"})
	until(t, patience, "the vendor is asked again", func() bool {
		d, asked := s.snapshot().Drill, a.log()
		for _, p := range d.Phases {
			if p.Name == control.PhaseRestored {
				return len(asked) > 0 && asked[len(asked)-1].After(p.Time)
			}
		}
		return false
	})
	stopped()

	d := s.snapshot().Drill
	if *d.Verdict != control.Passed || d.CutoverS == nil {
		t.Fatalf("%s: %q, phases %+v", *d.Verdict, d.Reason, d.Phases)
	}
	moment := map[string]time.Time{}
	for _, p := range d.Phases {
		moment[p.Name] = p.Time
	}
	t0, restored := moment[control.PhaseFault], moment[control.PhaseRestored]
	var last, back time.Time
	for _, at := range a.log() {
		if at.Before(restored) {
			last = at
		} else if back.IsZero() {
			back = at
		}
	}
	shifted, failed := t0, 0
	for _, g := range client.log() {
		if g.sent.Before(restored) && g.attempts != "" && g.attempts != "1" && g.attempts != "0" {
			shifted = g.sent
		}
		if refused := g.status == http.StatusTooManyRequests || g.status == http.StatusServiceUnavailable; !g.whole && !refused {
			failed++ // a machine with no time left refuses: that is no failure of the drill
		}
	}
	cutover := max(shifted.Sub(t0), moment[control.PhaseDetected].Sub(t0))
	for _, c := range []struct {
		what         string
		drill, other time.Time
	}{
		{"T0 and the last arrival at the vendor", t0, last},
		{"shifted, and the last request that was asked twice", moment[control.PhaseShifted], shifted},
		{"cutover, and the client's", t0.Add(time.Duration(*d.CutoverS * float64(time.Second))), t0.Add(cutover)},
		{"restored, and the first arrival after it", restored, back},
	} {
		diff := c.drill.Sub(c.other)
		t.Logf("%-50s %7.1f ms", c.what, float64(diff)/float64(time.Millisecond))
		if diff.Abs() > slack {
			t.Errorf("%s: they differ by %s, more than %s", c.what, diff, slack)
		}
	}
	if failed > 0 {
		t.Errorf("%d of %d requests failed", failed, len(client.log()))
	}
}

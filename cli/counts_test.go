package cli

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"baton/engine/control"
)

// outside is a vendor elsewhere, which counts for itself.
type outside struct {
	*httptest.Server
	arrived, whole atomic.Int64 // asked, and answered to the end
}

// newOutside makes a vendor that fails every nth request, 0 for none, before
// its first token.
func newOutside(t *testing.T, nth int64) *outside {
	o := &outside{}
	o.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
			return
		}
		i := o.arrived.Add(1)
		switch {
		case strings.Contains(string(body), "refuse me"):
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"bad"}}`)
			return
		case nth > 0 && i%nth == 0 && i%2 == 0:
			w.WriteHeader(http.StatusInternalServerError)
			return
		case nth > 0 && i%nth == 0: // with its headers: without, it may be asked again as if the connection had been closed while idle
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		const chunk = `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
		if strings.Contains(string(body), `"stream":true`) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: "+chunk+"\n\n", `{"role":"assistant","content":"hello"}`, "null")
			fmt.Fprintf(w, "data: "+chunk+"\n\ndata: [DONE]\n\n", `{}`, `"stop"`)
		} else {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"id":"x","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`)
		}
		o.whole.Add(1)
	}))
	o.Config.ErrorLog = log.New(io.Discard, "", 0)
	o.Start()
	t.Cleanup(o.Close)
	return o
}

func TestSnapshot_CountsWhatTheVendorsSaw(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	a, b := newOutside(t, 25), newOutside(t, 0)
	s := serve(t, fmt.Sprintf("[[vendors]]\nname = \"a\"\nbase_url = \"%s/v1\"\nweight = 60\n[[vendors]]\nname = \"b\"\nbase_url = \"%s/v1\"\nweight = 40\n", a.URL, b.URL))
	const requests = 300
	var ok, refused, other atomic.Int64
	send := func(n, from int) {
		var wg sync.WaitGroup
		next := make(chan int)
		for range 4 {
			wg.Go(func() {
				for i := range next {
					content := "hi"
					if i%10 == 3 {
						content = "refuse me"
					}
					body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":%q}]}`, i%2 == 0, content)
					resp, err := http.Post(s.gateway+"/v1/chat/completions", "application/json", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						continue
					}
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
					switch resp.StatusCode {
					case http.StatusOK:
						ok.Add(1)
					case http.StatusBadRequest:
						refused.Add(1)
					default:
						other.Add(1)
					}
				}
			})
		}
		for i := range n {
			next <- from + i
		}
		close(next)
		wg.Wait()
	}
	send(200, 0)
	s.do(&control.Drain{Vendor: "b"})
	atB := b.arrived.Load()
	send(100, 200)
	if n := b.arrived.Load() - atB; n != 0 {
		t.Errorf("the drained vendor was asked %d times", n)
	}
	var snap *control.Snapshot
	until(t, patience, "every request has been counted", func() bool {
		snap = s.snapshot()
		return snap.Totals.Requests >= requests && snap.Gateway.InFlight == 0 && snap.Vendor("a").InFlight == 0 && snap.Vendor("b").InFlight == 0
	})
	if refused.Load() != requests/10 || other.Load() != 0 && snap.Totals.Failed != other.Load() {
		t.Errorf("clients got %d ok, %d refused, %d else", ok.Load(), refused.Load(), other.Load())
	}
	tot := snap.Totals
	for _, c := range []struct {
		what      string
		got, want int64
	}{
		{"totals.requests", tot.Requests, requests},
		{"totals.ok", tot.OK, ok.Load()},
		{"totals.client_fault", tot.ClientFault, refused.Load()},
		{"totals.failed", tot.Failed, other.Load()},
		{"totals.client_cancel", tot.ClientCancel, 0},
		{"totals.attempts", tot.Attempts, a.arrived.Load() + b.arrived.Load()},
		{"attempts of a", snap.Vendor("a").Attempts, a.arrived.Load()},
		{"attempts of b", snap.Vendor("b").Attempts, b.arrived.Load()},
		{"requests of a", snap.Vendor("a").Requests, a.whole.Load()},
		{"requests of b", snap.Vendor("b").Requests, b.whole.Load()},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, the vendors and the clients say %d", c.what, c.got, c.want)
		}
	}
	if a.arrived.Load() < 100 || atB < 50 || tot.FailedOver == 0 {
		t.Errorf("too little has happened: %d at a, %d at b, %d failed over", a.arrived.Load(), atB, tot.FailedOver)
	}
	if code := s.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

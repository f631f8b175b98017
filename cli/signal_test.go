package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slowVendor streams a word each time somebody says go on, and ends when words is
// closed.
func slowVendor(t *testing.T, words <-chan string) string {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
			return
		}
		const chunk = `{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case <-r.Context().Done():
				return
			case word, more := <-words:
				if !more {
					fmt.Fprintf(w, "data: "+chunk+"\n\ndata: [DONE]\n\n", `{}`, `"stop"`)
					return
				}
				fmt.Fprintf(w, "data: "+chunk+"\n\n", fmt.Sprintf(`{"content":%q}`, word), "null")
				_ = http.NewResponseController(w).Flush()
			}
		}
	}))
	t.Cleanup(ts.Close)
	return fmt.Sprintf("[[vendors]]\nname = \"a\"\nbase_url = \"%s/v1\"\n", ts.URL)
}

const streamBody = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}`

// openStream begins a stream and waits for its first word.
func openStream(t *testing.T, s *served, words chan<- string) *bufio.Scanner {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.gateway+"/v1/chat/completions", strings.NewReader(streamBody))
	if err != nil {
		t.Fatal(err)
	}
	words <- "first"
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), "first") {
		t.Fatalf("the stream begins with %q: %v", lines.Text(), lines.Err())
	}
	return lines
}

func TestSIGTERM_LetsAStreamEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	words := make(chan string, 8)
	s := serve(t, slowVendor(t, words))
	lines := openStream(t, s, words)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, patience, "it drains", func() bool { return strings.Contains(s.log(), "msg=draining") })
	until(t, patience, "a new request is turned away", func() bool {
		resp, err := http.Post(s.gateway+"/v1/chat/completions", "application/json", strings.NewReader(streamBody))
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return resp.StatusCode == http.StatusServiceUnavailable
	})
	select {
	case <-s.done:
		t.Fatal("it ended with a stream under way")
	default:
	}
	words <- "second"
	close(words)
	var text strings.Builder
	for lines.Scan() {
		text.WriteString(lines.Text() + "\n")
	}
	if lines.Err() != nil || !strings.Contains(text.String(), "second") || !strings.Contains(text.String(), "data: [DONE]") {
		t.Errorf("the stream ended with %q: %v", text.String(), lines.Err())
	}
	if code := s.end(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(s.state, "control.addr")); !os.IsNotExist(err) {
		t.Errorf("control.addr is still there: %v", err)
	}
}

func TestSecondSignal_EndsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	words := make(chan string, 8)
	s := serve(t, "[gateway]\ngrace = \"10m\"\n"+slowVendor(t, words))
	openStream(t, s, words)
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	until(t, patience, "it drains", func() bool { return strings.Contains(s.log(), "msg=draining") })
	if code := s.end(syscall.SIGTERM); code != exitError {
		t.Errorf("exit code %d", code)
	}
}

func TestReload_DemoTrafficNeverMeetsAVendorThatIsNotSimulated(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs baton")
	}
	t.Parallel()
	a, b := newOutside(t, 0), newOutside(t, 0)
	const simulated = "[[vendors]]\nname = \"a\"\nsimulate = \"elastic\"\n[[vendors]]\nname = \"b\"\nsimulate = \"elastic\"\n"
	s := serve(t, simulated)
	until(t, patience, "demo traffic runs", func() bool { return s.snapshot().Demo != nil && s.snapshot().Totals.OK > 5 })
	reload(t, s, fmt.Sprintf("[[vendors]]\nname = \"a\"\nbase_url = \"%s/v1\"\n[[vendors]]\nname = \"b\"\nbase_url = \"%s/v1\"\n", a.URL, b.URL), "configuration reloaded")
	var before int64
	until(t, patience, "the requests under way have ended", func() bool {
		snap := s.snapshot()
		before = snap.Totals.Requests
		return snap.Gateway.InFlight == 0
	})
	time.Sleep(time.Second) // at 20 requests/s it would show
	snap := s.snapshot()
	if n := a.arrived.Load() + b.arrived.Load(); n != 0 || snap.Totals.Requests != before || snap.Demo != nil {
		t.Errorf("the vendors were asked %d times, requests went from %d to %d, demo %v", n, before, snap.Totals.Requests, snap.Demo)
	}
	reload(t, s, simulated, "configuration reloaded")
	until(t, patience, "demo traffic is back", func() bool { return s.snapshot().Demo != nil && s.snapshot().Totals.Requests > before+5 })
}

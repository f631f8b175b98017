package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"baton/engine/control"
)

// till is a vendor that keeps its own account of what it has sold.
type till struct {
	mu    sync.Mutex
	sales []sale
}

type sale struct {
	at      time.Time
	in, out int64
}

func (v *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	s := sale{at: time.Now(), in: 1 + rand.Int64N(2000), out: 1 + rand.Int64N(200)}
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d}`, s.in, s.out)
	v.mu.Lock()
	v.sales = append(v.sales, s)
	v.mu.Unlock()
	if !strings.Contains(string(body), `"stream":true`) {
		_, _ = fmt.Fprintf(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":%s}`, usage)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}`+"\n\n"+`data: {"choices":[],"usage":%s}`+"\n\ndata: [DONE]\n\n", usage)
}

// sold sums up what was sold before a time.
func (v *till) sold(before time.Time) (n, in, out int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.sales {
		if s.at.Before(before) {
			n++
			in += s.in
			out += s.out
		}
	}
	return n, in, out
}

// onState serves on a state that may have been there before.
type onState struct {
	cmd             *exec.Cmd
	gateway         string
	log             string
	killed          time.Time
	ended           chan struct{}
	configuredPaths []string
}

var servingLine = regexp.MustCompile(`msg=serving gateway=(\S+)/v1 control=(\S+)`)

func startOn(t *testing.T, state, config string, n int) *onState {
	t.Helper()
	r := &onState{log: filepath.Join(filepath.Dir(state), "log"+strconv.Itoa(n)), ended: make(chan struct{}), configuredPaths: []string{"--state", state, "--config", config}}
	f, err := os.Create(r.log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r.cmd = exec.Command(binary(t), append([]string{"serve", "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"}, r.configuredPaths...)...)
	r.cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	r.cmd.Stdout, r.cmd.Stderr = f, f
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(r.ended); _ = r.cmd.Wait() }()
	t.Cleanup(func() { _ = r.cmd.Process.Kill(); <-r.ended })
	until(t, patience, "it serves", func() bool {
		b, _ := os.ReadFile(r.log)
		m := servingLine.FindSubmatch(b)
		if m != nil {
			r.gateway = string(m[1])
		}
		return m != nil
	})
	return r
}

// costsOf is what `baton costs` says of a state in which nothing runs.
func (r *onState) costsOf(t *testing.T) *control.Costs {
	t.Helper()
	cmd := exec.Command(binary(t), append([]string{"costs", "--json"}, r.configuredPaths...)...)
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("baton costs: %v: %s", err, out)
	}
	c := new(control.Costs)
	if err := json.Unmarshal(out, c); err != nil {
		t.Fatal(err)
	}
	return c
}

// kills is how often the program is killed: 5 in a hurry, as many as $BATON_KILLS
// says otherwise.
func kills() int {
	if n, err := strconv.Atoi(os.Getenv("BATON_KILLS")); err == nil && n > 0 {
		return n
	}
	return 5
}

func TestCosts_OutliveKillsUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it kills a program again and again")
	}
	vendor := new(till)
	server := httptest.NewServer(vendor)
	defer server.Close()
	dir := t.TempDir()
	state, config := filepath.Join(dir, "state"), filepath.Join(dir, "config.toml")
	text := fmt.Sprintf("[[vendors]]\nname = \"east\"\nbase_url = %q\n[[vendors.price]]\ninput = 2.0\noutput = 8.0\n[routing]\nattempts = 1\n", server.URL+"/v1")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var surely, surelyIn, surelyOut int64 // of every run, what was sold over a second before its kill
	for k := range kills() {
		r := startOn(t, state, config, k)
		soldBefore, inBefore, outBefore := vendor.sold(time.Now())
		stop := make(chan struct{})
		var clients sync.WaitGroup
		for c := range 4 {
			clients.Go(func() { buy(r.gateway, c%2 == 0, stop) })
		}
		time.Sleep(time.Duration(1300+rand.IntN(700)) * time.Millisecond)
		r.killed = time.Now()
		_ = r.cmd.Process.Signal(syscall.SIGKILL)
		<-r.ended
		close(stop)
		clients.Wait()
		n, in, out := vendor.sold(r.killed.Add(-time.Second))
		surely, surelyIn, surelyOut = surely+max(0, n-soldBefore), surelyIn+max(0, in-inBefore), surelyOut+max(0, out-outBefore)

		c := r.costsOf(t)
		all, allIn, allOut := vendor.sold(time.Now())
		got := c.Totals
		if got.Attempts-got.Estimated > all || got.InputTokens > allIn+slop(got) || got.OutputTokens > allOut+slop(got) {
			t.Fatalf("after kill %d more is recorded (%+v) than was sold: %d with %d and %d tokens", k+1, got, all, allIn, allOut)
		}
		if got.Answered < surely || got.InputTokens < surelyIn || got.OutputTokens < surelyOut {
			t.Fatalf("after kill %d %d answers with %d and %d tokens are recorded, of %d with %d and %d over a second old", k+1, got.Answered, got.InputTokens, got.OutputTokens, surely, surelyIn, surelyOut)
		}
		if want := 2e-6*float64(got.InputTokens) + 8e-6*float64(got.OutputTokens); got.Cost == nil || *got.Cost < want-1e-9 || *got.Cost > want+1e-9 {
			t.Fatalf("%v spent on these tokens, want %v", got.Cost, want)
		}
	}
	if surely == 0 {
		t.Skip("the machine is too slow: nothing was sold over a second before a kill")
	}
}

// slop is what estimates may have added: what was cut by the kill itself is in no
// ledger, what the vendor dropped is estimated at a few tokens each.
func slop(g control.CostGroup) int64 { return 20 * g.Estimated }

// buy asks until it is stopped.
func buy(gateway string, stream bool, stop <-chan struct{}) {
	body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"hello"}]}`, stream)
	for {
		select {
		case <-stop:
			return
		default:
		}
		resp, err := http.Post(gateway+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			time.Sleep(time.Millisecond)
			continue
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
}

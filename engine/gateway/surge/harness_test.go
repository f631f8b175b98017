package surge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/gateway"
	"baton/vendors"
	"baton/vendors/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pool is what a vendor is: thirty-two places, a first token after about 0.2 s and an
// answer of about 0.45 s, some 70 of them per second.
func pool(name string, seed uint64) sim.Options {
	return sim.Options{Name: name, Profile: "vllm-pool", Seed: seed, Scale: 4, Tokens: 6, TokenSigma: 0.1, Capacity: 32}
}

// bench is a gateway before two simulated vendors, and clients.
type bench struct {
	*testing.T
	engine  *engine.Engine
	sims    [2]*sim.Vendor
	urls    [2]string
	url     string
	clients *http.Client
}

const text = `
[gateway]
listen = "127.0.0.1:0"
%s
[probe]
path = ""
[[vendors]]
name = "lanyun"
base_url = "%s/v1"
weight = 60
band = [40, 80]
[[vendors]]
name = "bailian"
base_url = "%s/v1"
weight = 40
band = [20, 60]
`

func newBench(t *testing.T, gatewayLines string) *bench {
	t.Helper()
	b := &bench{T: t}
	for i, name := range []string{"lanyun", "bailian"} {
		v, err := sim.New(pool(name, uint64(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		b.sims[i], b.urls[i] = v, b.serve(&http.Server{Handler: v})
	}
	cfg, err := config.Parse("test.toml", fmt.Appendf(nil, text, gatewayLines, b.urls[0], b.urls[1]), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	set, err := vendors.Open(cfg, vendors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.engine = engine.New(cfg, func(control.Event) {})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = b.engine.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait(); set.Close() })
	g := gateway.New(gateway.Options{Config: cfg, Engine: b.engine, Vendors: set, Version: "test"})
	b.url = b.serve(g.Server())
	tr := &http.Transport{MaxIdleConnsPerHost: 1000}
	b.clients = &http.Client{Transport: tr}
	t.Cleanup(tr.CloseIdleConnections)
	return b
}

func (b *bench) serve(s *http.Server) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	b.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

// answer is what a client got.
type answer struct {
	lane       string
	status     int
	code       string
	retryAfter string
	first, all time.Duration
	ended      time.Time
	broken     bool
}

// question is one for a stream.
func question(ctx context.Context, url, lane string) *http.Request {
	body := `{"model":"m","messages":[{"role":"user","content":"a question of a few words"}],"stream":true}`
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/chat/completions", strings.NewReader(body))
	r.RequestURI = ""
	r.Header.Set("X-Baton-Lane", lane)
	return r
}

// ask sends one streamed request and reads it to its end.
func (b *bench) ask(ctx context.Context, url, lane string) (x answer) {
	begun := time.Now()
	defer func() { x.ended, x.all, x.lane = time.Now(), time.Since(begun), lane }()
	res, err := b.clients.Do(question(ctx, url, lane))
	if err != nil {
		x.broken = true
		return x
	}
	defer func() { _ = res.Body.Close() }()
	x.status, x.retryAfter = res.StatusCode, res.Header.Get("Retry-After")
	x.first = time.Since(begun)
	rest, err := io.ReadAll(res.Body)
	if x.status != http.StatusOK {
		var e struct{ Error struct{ Code string } }
		_ = json.Unmarshal(rest, &e)
		x.code = e.Error.Code
	}
	x.broken = err != nil || x.status == http.StatusOK && !strings.Contains(string(rest), "[DONE]")
	return x
}

// can is what a vendor answers per second when it has always enough to do, measured
// once and for all tests: all vendors are alike. The requests come at random moments, as they
// do later: who comes by turns shares the reading of prompts with others.
var can = sync.OnceValues(func() (float64, error) {
	v, err := sim.New(pool("alone", 1))
	if err != nil {
		return 0, err
	}
	const rate, warm, length = 120.0, 1500 * time.Millisecond, 5 * time.Second
	rng := rand.New(rand.NewPCG(3, 3))
	var done atomic.Int64
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	begun := time.Now()
	for at := begun; at.Sub(begun) < warm+length; at = at.Add(time.Duration(rng.ExpFloat64() / rate * float64(time.Second))) {
		time.Sleep(time.Until(at))
		all.Go(func() {
			w := httptest.NewRecorder()
			v.ServeHTTP(w, question(ctx, "http://alone", "interactive"))
			if t := time.Since(begun); ctx.Err() == nil && t > warm && t <= warm+length {
				done.Add(1)
			}
		})
	}
	cancel() // those in the line
	all.Wait()
	return float64(done.Load()) / length.Seconds(), nil
})

// load is requests at random moments, whatever becomes of them, for so long.
func (b *bench) load(rate, batch float64, length time.Duration) *results {
	r := &results{begun: time.Now(), length: length}
	rng := rand.New(rand.NewPCG(7, 7))
	at := r.begun
	for {
		at = at.Add(time.Duration(rng.ExpFloat64() / rate * float64(time.Second)))
		if at.Sub(r.begun) > length {
			return r
		}
		time.Sleep(time.Until(at))
		r.late = append(r.late, time.Since(at))
		lane := "interactive"
		if rng.Float64() < batch {
			lane = "batch"
		}
		r.pending.Go(func() {
			begun := time.Since(r.begun)
			x := b.ask(context.Background(), b.url, lane)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.list = append(r.list, timed{begun, x})
		})
	}
}

// busy is how late one in ten of the clients may be for times to be judged.
const busy = 10 * time.Millisecond

// results are of the requests of one load.
type results struct {
	begun   time.Time
	length  time.Duration
	late    []time.Duration // how late the clients were, because the machine is busy
	pending sync.WaitGroup
	mu      sync.Mutex
	list    []timed
}

type timed struct {
	begun time.Duration
	answer
}

// figures are of a part of a load, after a warm-up.
type figures struct {
	n, ok, refused map[string]int
	other          int
	perSecond      float64       // answers
	p50, p99       time.Duration // of the first byte, interactive answers
	refusedIn      time.Duration // P90 of the time that a refusal took
	complaint      string
	busy           bool // the machine was, so that no time says anything
}

func (r *results) figures(after time.Duration) (f figures) {
	r.pending.Wait()
	slices.Sort(r.late)
	f.busy = len(r.late) > 0 && r.late[len(r.late)*9/10] > busy
	f.n, f.ok, f.refused = map[string]int{}, map[string]int{}, map[string]int{}
	var first, refusals []time.Duration
	ended := 0
	for _, x := range r.list {
		if x.status == http.StatusOK && !x.broken {
			if t := x.ended.Sub(r.begun); t > after && t <= r.length {
				ended++
			}
		}
		if x.begun < after {
			continue
		}
		f.n[x.lane]++
		switch {
		case x.status == http.StatusOK && !x.broken:
			f.ok[x.lane]++
			if x.lane == "interactive" {
				first = append(first, x.first)
			}
		case x.status == http.StatusTooManyRequests && x.code == "baton_admission" && x.retryAfter != "":
			f.refused[x.lane]++
			if x.lane == "interactive" {
				refusals = append(refusals, x.all)
			}
		default:
			f.other++
			f.complaint = fmt.Sprintf("status %d code %q broken %v", x.status, x.code, x.broken)
		}
	}
	slices.Sort(first)
	slices.Sort(refusals)
	if len(first) > 0 {
		f.p50, f.p99 = first[len(first)/2], first[len(first)*99/100]
	}
	if len(refusals) > 0 {
		f.refusedIn = refusals[len(refusals)*9/10]
	}
	f.perSecond = float64(ended) / (r.length - after).Seconds()
	return f
}

func (f figures) String() string {
	return fmt.Sprintf("%v asked, %v answered, %v refused (P90 in %v), %d otherwise; %.1f answers/s; first byte P50 %v P99 %v",
		f.n, f.ok, f.refused, f.refusedIn.Round(time.Millisecond), f.other, f.perSecond, f.p50.Round(time.Millisecond), f.p99.Round(time.Millisecond))
}

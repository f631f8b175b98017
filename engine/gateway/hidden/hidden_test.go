package hidden

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"baton/engine"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/gateway"
	"baton/engine/sse"
	"baton/vendors"
	"baton/vendors/sim"
)

// world is a limited vendor and an elastic one, and a gateway in front of a second pair alike.
type world struct {
	naive  [2]string // base addresses: limited, elastic
	gate   string
	engine *engine.Engine
	client *http.Client
}

const configuration = `
[gateway]
listen = "127.0.0.1:0"
[probe]
path = ""
[[vendors]]
name = "limited"
base_url = "<A>/v1"
weight = 90
band = [0, 100]
[[vendors]]
name = "elastic"
base_url = "<B>/v1"
weight = 10
band = [0, 100]
`

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.Start()
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func vendor(t *testing.T, o sim.Options) string {
	t.Helper()
	v, err := sim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, v)
}

func newWorld(t *testing.T, mode string) *world {
	t.Helper()
	w := &world{}
	pair := func(seed uint64) [2]string {
		// Without the guard against slopes, which has a test of its own.
		limited := sim.Options{Profile: "limited", LimitMode: mode, LimitSlope: -1, Seed: seed}
		return [2]string{vendor(t, limited), vendor(t, sim.Options{Profile: "elastic", Seed: seed})}
	}
	w.naive = pair(1)
	own := pair(2)
	text := strings.NewReplacer("<A>", own[0], "<B>", own[1]).Replace(configuration)
	cfg, err := config.Parse("hidden.toml", []byte(text), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	cfg.Routing.SLOP90 = 10 * time.Second // the law is not what is shown here
	set, err := vendors.Open(cfg, vendors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.engine = engine.New(cfg, func(ev control.Event) {
		if ev.Kind == "limit" {
			t.Log(ev.Text)
		}
	})
	g := gateway.New(gateway.Options{Config: cfg, Engine: w.engine, Vendors: set, Version: "test", Logger: slog.New(slog.DiscardHandler)})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := g.Server()
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.engine.Run(ctx) })
	wg.Go(func() { _ = server.Serve(listener) })
	tr := &http.Transport{MaxIdleConnsPerHost: 500}
	w.client = &http.Client{Transport: tr, Timeout: 30 * time.Second}
	t.Cleanup(func() {
		stop()
		_ = server.Close()
		wg.Wait()
		tr.CloseIdleConnections()
		set.Close()
	})
	w.gate = "http://" + listener.Addr().String()
	return w
}

var errRefused = errors.New("refused")

// ask sends one request and returns the time to its first token and who answered.
func (w *world) ask(ctx context.Context, base string) (first time.Duration, vendor string, err error) {
	begun := time.Now()
	body := `{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	res, err := w.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode == http.StatusTooManyRequests {
		_, _ = io.Copy(io.Discard, res.Body)
		return 0, "", errRefused
	}
	events := sse.NewReader(res.Body, 0)
	for {
		ev, err := events.Next()
		if err != nil {
			return 0, "", fmt.Errorf("status %d, no first token: %w", res.StatusCode, err)
		}
		if strings.Contains(string(ev.Data), `"content":"`) && !strings.Contains(string(ev.Data), `"content":""`) {
			first = time.Since(begun)
			break
		}
	}
	_, _ = io.Copy(io.Discard, res.Body)
	return first, res.Header.Get("X-Baton-Vendor"), nil
}

// tally is what the clients of one side got.
type tally struct {
	mu       sync.Mutex
	first    []float64 // seconds
	overflow int       // answered by the elastic vendor
	failed   int
}

func (x *tally) add(first time.Duration, vendor string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		x.failed++
		return
	}
	x.first = append(x.first, first.Seconds())
	if vendor == "elastic" {
		x.overflow++
	}
}

func (x *tally) quantile(q float64) float64 {
	if len(x.first) == 0 {
		return math.NaN()
	}
	slices.Sort(x.first)
	return 1000 * x.first[int(q*float64(len(x.first)-1))]
}

func (x *tally) String() string {
	n := len(x.first)
	return fmt.Sprintf("%.0f/%.0f (%.0f %% overflow, %d failed, n=%d)", x.quantile(0.5), x.quantile(0.99), 100*float64(x.overflow)/float64(max(n, 1)), x.failed, n)
}

// gap draws from a gamma distribution of mean 1 and CV 1.5 (shape 1/CV²), by
// Marsaglia and Tsang's method for shape + 1 and their step down.
func gap(r *rand.Rand) float64 {
	const shape = 1 / (1.5 * 1.5)
	d := shape + 1 - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := r.NormFloat64()
		v := math.Pow(1+c*x, 3)
		if v > 0 && math.Log(1-r.Float64()) < 0.5*x*x+d-d*v+d*math.Log(v) {
			return d * v * math.Pow(1-r.Float64(), 1/shape) / shape
		}
	}
}

// offer sends rate requests a second to both sides for so long, and counts those that began after
// warm.
func (w *world) offer(t *testing.T, rate float64, warm, long time.Duration) (naive, gate *tally) {
	t.Helper()
	naive, gate = &tally{}, &tally{}
	ctx := t.Context()
	var wg sync.WaitGroup
	run := func(seed uint64, out *tally, one func() (time.Duration, string, error)) {
		r := rand.New(rand.NewPCG(seed, 9))
		begun := time.Now()
		for at := 0.0; at < (warm + long).Seconds(); at += gap(r) / rate {
			time.Sleep(time.Until(begun.Add(time.Duration(at * float64(time.Second)))))
			counted := at >= warm.Seconds()
			wg.Go(func() {
				first, vendor, err := one()
				if counted {
					out.add(first, vendor, err)
				}
			})
		}
	}
	wg.Go(func() {
		run(3, naive, func() (time.Duration, string, error) {
			begun := time.Now()
			first, _, err := w.ask(ctx, w.naive[0])
			if !errors.Is(err, errRefused) {
				return first, "limited", err
			}
			lost := time.Since(begun)
			first, _, err = w.ask(ctx, w.naive[1])
			return lost + first, "elastic", err
		})
	})
	wg.Go(func() {
		run(4, gate, func() (time.Duration, string, error) { return w.ask(ctx, w.gate) })
	})
	wg.Wait()
	return naive, gate
}

// limit is what the gateway learned.
func (w *world) limit() control.Limit {
	var s control.Snapshot
	w.engine.Fill(&s)
	return s.Vendor("limited").Limit
}

func TestHidden_TheGatewayStaysUnderALimitThatNobodyTold(t *testing.T) {
	if testing.Short() {
		t.Skip("40 s of real time")
	}
	w := newWorld(t, "queue")
	naive, gate := w.offer(t, 30, 24*time.Second, 10*time.Second)
	t.Logf("first token P50/P99 in ms: fail over on 429 only %s; gateway %s; limit %q", naive, gate, w.limit().Evidence)
	// 4900 and 600 ms on a machine with nothing else to do.
	if p99, without := gate.quantile(0.99), naive.quantile(0.99); p99 > 0.6*without || gate.failed*50 > len(gate.first) {
		t.Errorf("P99 %.0f ms through the gateway, %.0f ms without; %d failed", p99, without, gate.failed)
	}
	if l := w.limit(); l.LearnedRPS == nil || math.Abs(*l.LearnedRPS-20) > 1.4 { // mostly within 0.4
		t.Errorf("learned %+v of 20/s", l)
	}
}

func TestHidden_Table(t *testing.T) {
	if os.Getenv("BATON_HIDDEN") != "table" {
		t.Skip("BATON_HIDDEN=table: twelve minutes")
	}
	fmt.Println("| limiter | offered/s | fail over on 429 only, P50/P99 ms | gateway | learned |")
	fmt.Println("| --- | --- | --- | --- | --- |")
	for _, mode := range []string{"queue", "reject"} {
		for _, rate := range []float64{20, 25, 30, 50, 100, 200} {
			t.Run(fmt.Sprint(mode, " ", rate), func(t *testing.T) {
				w := newWorld(t, mode)
				naive, gate := w.offer(t, rate, 30*time.Second, 30*time.Second)
				l := w.limit()
				fmt.Printf("| %s | %.0f | %s | %s | %s |\n", mode, rate, naive, gate, l.Evidence)
				if p99 := gate.quantile(0.99); rate > 20 && p99 > 800 {
					t.Errorf("P99 %.0f ms through the gateway", p99)
				}
				// At 18/s of its own nobody has to wait for long.
				if l.LearnedRPS == nil && rate > 20 || l.LearnedRPS != nil && math.Abs(*l.LearnedRPS-20) > 1 {
					t.Errorf("learned %+v of 20/s", l)
				}
			})
		}
	}
}

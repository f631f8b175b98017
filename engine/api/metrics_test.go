package api

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"baton/engine/control"
	"baton/engine/window"
)

// full is a state in which every figure is known.
func full(s *control.Snapshot) {
	now := time.Unix(1_800_000_000, 0)
	f := control.Figure
	l := control.Latency{Count: 300, P50ms: f(302), P90ms: f(471), P99ms: f(718), Maxms: f(940)}
	all := map[string]control.Latency{"10s": l, "60s": l, "5m": l}
	s.Totals = control.Totals{Requests: 1200, OK: 1190, Failed: 1, ClientFault: 2, ClientCancel: 7, FailedOver: 3, Attempts: 1204}
	s.Service = control.Service{Success10s: f(0.999), P50ms: f(300)}
	s.Gateway.InFlight = 40
	s.Pin = &control.Pin{Until: now}
	s.Drill = &control.DrillState{ID: "x", Scenario: "kill", Vendor: "lanyun", CutoverS: f(4.2)}
	s.Vendors = []control.Vendor{
		{
			Name: "lanyun", State: control.Ejected, Weight: 75, Target: 70, Share60s: f(75.1), InFlight: 21, InFlightLimit: f(30), Requests: 890, Attempts: 900, Failed: 5,
			FirstToken: all, Latency: all, Errors: control.Errors{Rate10s: f(0.5), Rate60s: f(0.25)}, Tokens: control.Tokens{Input: 11, Output: 12},
			Limit: control.Limit{KnownRPS: f(20), LearnedRPS: f(19), AllowedRPS: f(18)}, Fault: &control.FaultState{Kind: "refuse", Percent: 100, Until: now},
		},
		{Name: "bailian", State: control.Healthy, Weight: 25, Target: 30, FirstToken: map[string]control.Latency{"10s": {}, "60s": {}, "5m": {}}},
	}
}

// scrape returns the samples of /metrics by name and labels.
func scrape(t *testing.T, p *plant) (samples map[string]float64, text []byte) {
	t.Helper()
	r := request(t, serve(t, p), "GET", "/metrics", "", nil)
	if r.status != 200 {
		t.Fatalf("%d %s", r.status, r.body)
	}
	samples = map[string]float64{}
	for line := range strings.Lines(string(r.body)) {
		if i := strings.LastIndexByte(strings.TrimSpace(line), ' '); i > 0 && line[0] != '#' {
			v, err := strconv.ParseFloat(strings.TrimSpace(line[i:]), 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			samples[line[:i]] = v
		}
	}
	return samples, r.body
}

func TestMetrics_SayWhatTheStateSays(t *testing.T) {
	p := newPlant()
	p.state = full
	got, _ := scrape(t, p)
	want := map[string]float64{
		`baton_build_info{version="1.0.0"}`:                                              1,
		`baton_revision`:                                                                 0,
		`baton_pinned`:                                                                   1,
		`baton_pin_until_timestamp_seconds`:                                              1.8e9,
		`baton_failover_manual`:                                                          0,
		`baton_requests_total{result="ok"}`:                                              1190,
		`baton_requests_total{result="failed"}`:                                          1,
		`baton_requests_total{result="client_fault"}`:                                    2,
		`baton_requests_total{result="client_cancel"}`:                                   7,
		`baton_requests_failed_over_total`:                                               3,
		`baton_cut_streams_total`:                                                        3,
		`baton_in_flight`:                                                                40,
		`baton_service_success_ratio`:                                                    0.999,
		`baton_service_first_token_seconds_count`:                                        2,
		`baton_drill_running`:                                                            1,
		`baton_drill_cutover_seconds{scenario="kill",vendor="lanyun"}`:                   4.2,
		`baton_fault_active{kind="refuse",vendor="lanyun"}`:                              1,
		`baton_fault_until_timestamp_seconds{vendor="lanyun"}`:                           1.8e9,
		`baton_attempts_total{vendor="lanyun"}`:                                          900,
		`baton_vendor_requests_total{vendor="lanyun"}`:                                   890,
		`baton_vendor_failed_total{vendor="lanyun"}`:                                     5,
		`baton_vendor_weight_ratio{vendor="lanyun"}`:                                     0.75,
		`baton_vendor_weight_target_ratio{vendor="bailian"}`:                             0.3,
		`baton_vendor_share_ratio{vendor="lanyun"}`:                                      0.751,
		`baton_vendor_in_flight{vendor="lanyun"}`:                                        21,
		`baton_vendor_in_flight_limit{vendor="lanyun"}`:                                  30,
		`baton_vendor_state{state="ejected",vendor="lanyun"}`:                            1,
		`baton_vendor_state{state="healthy",vendor="lanyun"}`:                            0,
		`baton_vendor_state{state="healthy",vendor="bailian"}`:                           1,
		`baton_vendor_error_ratio{vendor="lanyun",window="10s"}`:                         0.5,
		`baton_vendor_error_ratio{vendor="lanyun",window="60s"}`:                         0.25,
		`baton_tokens_total{direction="input",vendor="lanyun"}`:                          11,
		`baton_tokens_total{direction="output",vendor="lanyun"}`:                         12,
		`baton_vendor_first_token_samples{vendor="bailian",window="5m"}`:                 0,
		`baton_vendor_first_token_samples{vendor="lanyun",window="10s"}`:                 300,
		`baton_vendor_first_token_seconds{percentile="90",vendor="lanyun",window="60s"}`: 0.471,
		`baton_vendor_latency_seconds{percentile="99",vendor="lanyun",window="5m"}`:      0.718,
		`baton_vendor_limit_requests_per_second{source="learned",vendor="lanyun"}`:       19,
	}
	for name, v := range want {
		if g, ok := got[name]; !ok || math.Abs(g-v) > 1e-9 {
			t.Errorf("%s is %v (there: %t), want %v", name, g, ok, v)
		}
	}
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "process_open_fds"} {
		if _, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		}
	}
}

func TestMetrics_LeaveOutWhatIsNotKnown(t *testing.T) {
	p := newPlant()
	p.state = func(s *control.Snapshot) { s.Vendors = []control.Vendor{{Name: "lanyun", State: control.Healthy}} }
	_, text := scrape(t, p)
	for _, name := range []string{
		"baton_vendor_share_ratio", "baton_vendor_error_ratio", "baton_vendor_first_token_seconds", "baton_vendor_latency_seconds", "baton_service_success_ratio",
		"baton_fault_active", "baton_fault_until_timestamp_seconds", "baton_drill_cutover_seconds", "baton_pin_until_timestamp_seconds", "baton_vendor_limit_requests_per_second",
	} {
		if strings.Contains(string(text), name) {
			t.Errorf("%s is there", name)
		}
	}
}

func TestMetrics_KeepPrometheusRules(t *testing.T) {
	p := newPlant()
	p.state = full
	_, text := scrape(t, p)
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, pr := range problems {
		t.Errorf("%s: %s", pr.Metric, pr.Text)
	}
	for _, d := range described {
		name := strings.TrimPrefix(d.String()[:strings.Index(d.String(), `",`)], `Desc{fqName: "`)
		if !strings.Contains(string(text), "# HELP "+name+" ") {
			t.Errorf("%s is described and never sent", name)
		}
	}
}

func TestMetrics_TheHistogramIsTheTally(t *testing.T) {
	p := newPlant()
	var h window.Histogram
	waits := []time.Duration{0, 49 * time.Millisecond, 120 * time.Millisecond, 470 * time.Millisecond, 900 * time.Millisecond, 1900 * time.Millisecond, 90 * time.Second}
	sum := 0.0
	for _, d := range waits {
		h.Add(d)
		sum += d.Seconds()
	}
	p.tally.FirstToken = nil
	for _, b := range h.Sparse() {
		p.tally.FirstToken = append(p.tally.FirstToken, control.Bucket(b))
	}
	p.tally.FirstToken = append(p.tally.FirstToken, control.Bucket{Index: -1, N: 9}, control.Bucket{Index: 1 << 20, N: 9})
	got, _ := scrape(t, p)
	const name = "baton_service_first_token_seconds"
	for le, n := range map[string]float64{"0.05": 2, "0.1": 2, "0.2": 3, "0.5": 4, "1": 5, "2": 6, "60": 6, "+Inf": 7} {
		if g := got[name+`_bucket{le="`+le+`"}`]; g != n {
			t.Errorf("up to %s: %g, want %g", le, g, n)
		}
	}
	if got[name+"_count"] != 7 || math.Abs(got[name+"_sum"]-sum) > 0.016*sum {
		t.Errorf("count %g, sum %g, want 7 and %g", got[name+"_count"], got[name+"_sum"], sum)
	}
}

func TestCollector_LeavesAHangingEnginesFiguresOut(t *testing.T) {
	p := newPlant()
	hang := make(chan struct{})
	p.hang = hang
	c := newCollector(p).(*collector)
	start := time.Now()
	for range 5 {
		if f := c.ask(20 * time.Millisecond); f.snap != nil || f.tally != nil {
			t.Fatal("figures of an engine that hangs")
		}
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("five scrapes took %s", d)
	}
	c.mu.Lock()
	q := c.asked
	c.mu.Unlock()
	close(hang)
	<-q.done
	if f := c.ask(5 * time.Second); f.snap == nil || f.tally == nil {
		t.Error("no figures of an engine that answers again")
	}
}

func TestCollector_AsksOncePerScrape(t *testing.T) {
	p := newPlant()
	c := &counting{Control: p}
	f := newCollector(c).(*collector).ask(5 * time.Second)
	if f.snap == nil || f.tally == nil || c.n != 2 {
		t.Errorf("%d questions, want 2", c.n)
	}
}

type counting struct {
	control.Control
	n int
}

func (c *counting) Ask(ctx context.Context, q control.Query) (control.Answer, error) {
	c.n++
	return c.Control.Ask(ctx, q)
}

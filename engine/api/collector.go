package api

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"baton/engine/control"
	"baton/engine/window"
)

// scrapePatience is how long a scrape waits for the engine; then it leaves the
// engine's figures out. Prometheus itself gives up after 10 s by default.
const scrapePatience = time.Second

// figures are what one scrape shows; nil is what the engine did not answer.
type figures struct {
	snap  *control.Snapshot
	tally *control.Tally
}

// collector makes metrics of what Control says, asked once per scrape. What is
// not known is left out: a 0 would be believed.
type collector struct {
	control control.Control

	mu    sync.Mutex
	asked *question // the one under way; nil: none
}

// question is a pair of questions under way; got may be read once done is
// closed.
type question struct {
	done chan struct{}
	got  figures
}

func newCollector(c control.Control) prometheus.Collector { return &collector{control: c} }

// Describe sends every description there is.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range described {
		ch <- d
	}
}

// Collect sends what is known now.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	f := c.ask(scrapePatience)
	out := sink(ch)
	if f.snap != nil {
		out.process(f.snap)
		out.traffic(f.snap)
		for i := range f.snap.Vendors {
			out.vendor(&f.snap.Vendors[i])
		}
	}
	if f.tally != nil {
		out.counter(cutStreams, float64(f.tally.CutStreams))
		out.firstTokens(f.tally.FirstToken)
	}
}

// ask asks for the state and the counts. An engine that hangs gets no second
// question on top of the first.
func (c *collector) ask(patience time.Duration) figures {
	c.mu.Lock()
	q := c.asked
	if q == nil {
		q = &question{done: make(chan struct{})}
		c.asked = q
		go c.answer(q, patience)
	}
	c.mu.Unlock()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-q.done:
		return q.got
	case <-late.C:
		return figures{}
	}
}

func (c *collector) answer(q *question, patience time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if s, err := control.Get[*control.Snapshot](ctx, c.control, control.State{}); err == nil {
		q.got.snap = s
	}
	if t, err := control.Get[*control.Tally](ctx, c.control, control.Counts{}); err == nil {
		q.got.tally = t
	}
	c.mu.Lock()
	c.asked = nil
	c.mu.Unlock()
	close(q.done)
}

// sink is where metrics go.
type sink chan<- prometheus.Metric

func (s sink) put(t prometheus.ValueType, d *prometheus.Desc, v float64, labels ...string) {
	if m, err := prometheus.NewConstMetric(d, t, v, labels...); err == nil {
		s <- m
	}
}

func (s sink) gauge(d *prometheus.Desc, v float64, labels ...string) {
	s.put(prometheus.GaugeValue, d, v, labels...)
}

func (s sink) counter(d *prometheus.Desc, v float64, labels ...string) {
	s.put(prometheus.CounterValue, d, v, labels...)
}

// known sends v times scale unless it is not known.
func (s sink) known(d *prometheus.Desc, v *float64, scale float64, labels ...string) {
	if v != nil {
		s.gauge(d, *v*scale, labels...)
	}
}

func (s sink) flag(d *prometheus.Desc, on bool, labels ...string) {
	v := 0.0
	if on {
		v = 1
	}
	s.gauge(d, v, labels...)
}

// process sends what is of baton as a whole.
func (s sink) process(snap *control.Snapshot) {
	s.gauge(buildInfo, 1, snap.Version)
	s.gauge(revision, float64(snap.Revision))
	s.flag(pinned, snap.Pin != nil)
	if snap.Pin != nil {
		s.gauge(pinUntil, seconds(snap.Pin.Until))
	}
	s.flag(failoverManual, snap.Failover == "manual")
	d := snap.Drill
	s.flag(drillRunning, d != nil && d.Verdict == nil)
	if d != nil {
		s.known(drillCutover, d.CutoverS, 1, d.Scenario, d.Vendor)
	}
}

// traffic sends what clients asked and got.
func (s sink) traffic(snap *control.Snapshot) {
	t := snap.Totals
	s.counter(requests, float64(t.OK), "ok")
	s.counter(requests, float64(t.Failed), "failed")
	s.counter(requests, float64(t.ClientFault), "client_fault")
	s.counter(requests, float64(t.ClientCancel), "client_cancel")
	s.counter(failedOver, float64(t.FailedOver))
	s.gauge(inFlight, float64(snap.Gateway.InFlight))
	s.counter(droppedEvents, float64(snap.Gateway.Dropped))
	s.gauge(waiting, float64(snap.Lanes.Interactive.Waiting), "interactive")
	s.gauge(waiting, float64(snap.Lanes.Batch.Waiting), "batch")
	s.counter(shed, float64(snap.Lanes.Interactive.Shed), "interactive")
	s.counter(shed, float64(snap.Lanes.Batch.Shed), "batch")
	s.known(serviceSuccess, snap.Service.Success10s, 1)
}

// states are the states of a vendor, each a series of its own.
var states = [...]string{control.Healthy, control.Degraded, control.Ejected, control.Recovering, control.Drained, control.Disabled}

// vendor sends one vendor's figures.
func (s sink) vendor(v *control.Vendor) {
	n := v.Name
	s.counter(attempts, float64(v.Attempts), n)
	s.counter(vendorRequests, float64(v.Requests), n)
	s.counter(vendorFailed, float64(v.Failed), n)
	s.counter(tokens, float64(v.Tokens.Input), n, "input")
	s.counter(tokens, float64(v.Tokens.Output), n, "output")
	s.gauge(weight, v.Weight/100, n)
	s.gauge(weightTarget, v.Target/100, n)
	s.known(share, v.Share60s, 0.01, n)
	s.gauge(vendorInFlight, float64(v.InFlight), n)
	s.known(inFlightLimit, v.InFlightLimit, 1, n)
	for _, state := range states {
		s.flag(vendorState, v.State == state, n, state)
	}
	s.known(errorRatio, v.Errors.Rate10s, 1, n, "10s")
	s.known(errorRatio, v.Errors.Rate60s, 1, n, "60s")
	s.latencies(vendorFirstToken, firstTokenSamples, v.FirstToken, n)
	s.latencies(vendorLatency, latencySamples, v.Latency, n)
	s.known(vendorLimit, v.Limit.KnownRPS, 1, n, "known")
	s.known(vendorLimit, v.Limit.LearnedRPS, 1, n, "learned")
	s.known(vendorLimit, v.Limit.AllowedRPS, 1, n, "allowed")
	if v.Fault != nil {
		s.gauge(faultActive, 1, n, v.Fault.Kind)
		s.gauge(faultUntil, seconds(v.Fault.Until), n)
	}
}

// latencies sends the quantiles of every window and how many samples they are
// of.
func (s sink) latencies(quantiles, samples *prometheus.Desc, all map[string]control.Latency, vendor string) {
	for _, w := range control.Windows {
		l, ok := all[w]
		if !ok {
			continue
		}
		s.gauge(samples, float64(l.Count), vendor, w)
		s.known(quantiles, l.P50ms, 0.001, vendor, w, "50")
		s.known(quantiles, l.P90ms, 0.001, vendor, w, "90")
		s.known(quantiles, l.P99ms, 0.001, vendor, w, "99")
	}
}

// firstTokenBounds are the upper bounds of the histogram's buckets, seconds.
var firstTokenBounds = [...]float64{0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30, 60}

// firstTokens sends the tally of clients' first tokens as a histogram. The
// tally's own buckets are at most 1.6 % wide: one that a bound cuts counts as
// above it, and the sum takes each at its middle.
func (s sink) firstTokens(tally []control.Bucket) {
	counts := make(map[float64]uint64, len(firstTokenBounds))
	for _, le := range firstTokenBounds {
		counts[le] = 0
	}
	var n uint64
	sum := 0.0
	for _, b := range tally {
		from, to := window.Bucket{Index: b.Index}.Bounds()
		if to == 0 {
			continue
		}
		n += b.N
		sum += float64(b.N) * (from + (to-from)/2).Seconds()
		for _, le := range firstTokenBounds {
			if to.Seconds() <= le {
				counts[le] += b.N
			}
		}
	}
	if m, err := prometheus.NewConstHistogram(serviceFirstToken, n, sum, counts); err == nil {
		s <- m
	}
}

// seconds is a moment as Prometheus writes it: seconds since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

package load

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"
)

// outstanding is the bound of requests under way where none is given.
const outstanding = 256

// Traffic is a stream of chat completions in both lanes. Its fields are not to
// be changed once Run has been called.
type Traffic struct {
	URL       string  // base URL of the gateway, http://127.0.0.1:8080/v1
	Model     string  // what is asked for
	RPS       float64 // requests per second, all of them; 0 sends none
	Pacer     Pacer   // nil: Poisson arrivals of RPS
	Batch     float64 // part of the requests that are batch work, 0-1
	Stream    float64 // part of the interactive requests that are streamed; of the batch work it is half
	Seed      uint64
	UserAgent string
	Key       string // a client's key, "" where the gateway asks for none
	// Outstanding bounds the requests under way: further ones are dropped and
	// counted, so that a gateway that hangs does not fill this process. 0: 256.
	Outstanding int
	// Transport is what requests are sent through; nil: connections of its own.
	Transport http.RoundTripper

	sent, ok, failed, dropped atomic.Int64
}

// Counts is what has become of the requests so far. Those that Run's end cuts
// off are sent, and neither ok nor failed.
type Counts struct{ Sent, OK, Failed, Dropped int64 }

// Counts returns what has become of the requests so far.
func (t *Traffic) Counts() Counts {
	return Counts{Sent: t.sent.Load(), OK: t.ok.Load(), Failed: t.failed.Load(), Dropped: t.dropped.Load()}
}

// Run sends until ctx ends, which also cuts off the requests under way, and
// returns after the last one has.
func (t *Traffic) Run(ctx context.Context) error {
	if t.RPS <= 0 {
		<-ctx.Done()
		return nil
	}
	rng := rand.New(rand.NewPCG(t.Seed, 1))
	pacer := t.Pacer
	if pacer == nil {
		pacer = Poisson{RPS: t.RPS, Rand: rng}
	}
	client := &http.Client{Transport: t.Transport}
	if client.Transport == nil {
		own := &http.Transport{MaxIdleConnsPerHost: outstanding}
		defer own.CloseIdleConnections()
		client.Transport = own
	}
	bound := t.Outstanding
	if bound <= 0 {
		bound = outstanding
	}
	Open{Pacer: pacer, Outstanding: bound, Dropped: func(time.Time) { t.dropped.Add(1) }}.Run(ctx, func(time.Time) func() {
		q := t.draw(rng)
		t.sent.Add(1)
		return func() { t.ask(ctx, client, q) }
	})
	return nil
}

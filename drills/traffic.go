package drills

import (
	"context"
	"errors"
	"net"
	"sync"

	"baton/drills/load"
)

// userAgent is the one of a drill's own requests.
const userAgent = "baton-drill"

// traffic is a drill's own requests through the gateway.
type traffic struct {
	stop context.CancelFunc
	done sync.WaitGroup
}

// wayIn is how the drill's own requests get into the gateway.
type wayIn struct{ url, model, key string }

func (r *run) wayIn() (wayIn, error) {
	host, port, err := net.SplitHostPort(r.before.Gateway.Address)
	if err != nil {
		return wayIn{}, errors.New("its load cannot be sent: the gateway's address is not known")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	w := wayIn{url: "http://" + net.JoinHostPort(host, port) + "/v1", model: "demo"}
	if m := r.terms.cfg.Models; len(m) > 0 {
		w.model = m[0].Name
	}
	if c := r.terms.cfg.Clients; len(c) > 0 {
		w.key = c[0].Key.Reveal()
	}
	return w, nil
}

// startTraffic begins the scenario's load, if it has one.
func (r *run) startTraffic(ctx context.Context) error {
	l := &r.scenario.Load
	if l.RPS <= 0 {
		return nil
	}
	way, err := r.wayIn()
	if err != nil {
		return err
	}
	t := &load.Traffic{
		URL: way.url, Model: way.model, Key: way.key, RPS: l.RPS, Batch: l.Batch, Stream: l.Stream, Seed: 1,
		UserAgent: userAgent, Outstanding: max(256, int(20*l.RPS)),
	}
	ctx, stop := context.WithCancel(ctx)
	r.traffic = &traffic{stop: stop}
	r.traffic.done.Go(func() { _ = t.Run(ctx) })
	return nil
}

func (r *run) stopTraffic() {
	if r.traffic != nil {
		r.traffic.stop()
		r.traffic.done.Wait()
	}
}

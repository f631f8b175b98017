package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"baton/engine"
	"baton/vendors"
)

// probeTimeout is how long a probe may take: it asks for something that costs a
// vendor nothing.
const probeTimeout = 5 * time.Second

// Run probes the vendors, as often as the engine wants each of them probed, until
// ctx ends. It returns after the last probe has.
func (g *Gateway) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		g.probeAll(ctx)
	}
	return nil
}

// probeAll probes the vendors in force until they change or ctx ends.
func (g *Gateway) probeAll(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	s := g.hold()
	defer s.release()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for _, live := range g.engine.Vendors() {
		if v := s.set.Vendor(live.Name); v != nil {
			all.Go(func() { g.probe(ctx, v, live) })
		}
	}
	select {
	case <-ctx.Done():
	case <-g.reloaded:
	}
}

// probe probes one vendor. How often changes with its state, so that the time is
// looked at every second.
func (g *Gateway) probe(ctx context.Context, v *vendors.Vendor, live *engine.Vendor) {
	var last time.Time
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		g.engine.Keys(live, v.Keys.Live()) // people put keys back, too
		every := g.engine.ProbeEvery(live)
		if every > 0 && time.Since(last) >= every {
			last = time.Now()
			g.probeOnce(ctx, v, live)
		}
		next := time.Second
		if every > 0 {
			next = min(next, max(every-time.Since(last), 0))
		}
		t.Reset(next)
	}
}

func (g *Gateway) probeOnce(ctx context.Context, v *vendors.Vendor, live *engine.Vendor) {
	limited, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	key := v.Keys.Any()
	begun := time.Now()
	err := v.Probe(limited, key)
	if !errors.Is(err, vendors.ErrNoProbe) && ctx.Err() == nil {
		g.enterProbe(v.Name, begun, err)
	}
	switch {
	case errors.Is(err, vendors.ErrNoProbe), ctx.Err() != nil:
		return
	case err != nil:
		if vendors.NothingSent(err) {
			g.reach.saw(v.Name, false)
		}
		g.log.Debug("probe failed", "vendor", v.Name, "error", err)
		g.engine.Probed(live, time.Now(), false, err.Error())
		return
	}
	g.reach.saw(v.Name, true)
	if v.Keys.Live() == 0 {
		key.Restore() // it is good again; the engine tries the vendor once
	}
	g.engine.Probed(live, time.Now(), true, "")
}

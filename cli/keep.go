package cli

import (
	"context"
	"strings"
	"time"

	"baton/engine/control"
)

// keep writes what outlives the process until the returned function is called,
// which writes the last of it.
func (p *process) keep(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.store.Run(ctx, p.saved) // what it cannot write it says by its alert
	}()
	return func() {
		stop()
		<-ended
	}
}

// saved is what the next run goes on from. What a fault on the path to a vendor
// has taught is not in it: the next run has no such fault.
func (p *process) saved() control.Saved {
	p.tellStore()
	s := p.engine.Saved()
	s.Revision = p.hub.Revision()
	now := time.Now()
	p.spiking(now)
	for _, v := range p.engine.Vendors() {
		if _, on := p.faults.Point(v.Name).State(now); on {
			delete(s.Disabled, v.Name)
			delete(s.Limits, v.Name)
			s.Weights = nil
		}
	}
	return s
}

// tellStore puts into the journal when the store ails, and when it is well again.
func (p *process) tellStore() {
	alert := p.store.Alert()
	if alert == p.lastAlert {
		return
	}
	e := control.Event{Level: control.Crit, Kind: "store", Text: alert}
	if strings.Contains(p.lastAlert, alert) { // what is left of it was said
		e.Level, e.Text = control.Info, "the state is written again: "+p.state.path("baton.db")
	}
	p.lastAlert = alert
	p.hub.Log(e)
}

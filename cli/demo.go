package cli

import (
	"context"

	"baton/drills/load"
)

// runDemo sends the demo traffic until ctx ends, with pauses for as long as a
// vendor is real: there it would cost money.
func (p *process) runDemo(ctx context.Context) error {
	for ctx.Err() == nil {
		sending, stop := context.WithCancel(ctx)
		p.stopDemo.Store(&stop) // before the look at the configuration: a reload after it stops what was begun
		if err := p.sendDemo(sending); err != nil {
			stop()
			return err
		}
		<-sending.Done()
		stop()
	}
	return nil
}

func (p *process) sendDemo(ctx context.Context) error {
	if !p.demoOn() {
		return nil
	}
	t := &load.Traffic{
		URL: "http://" + p.gatewayL.Addr().String() + "/v1", Model: p.demoModel(), RPS: p.demo.RPS, Batch: p.demo.Batch, Stream: 0.9,
		Seed: 1, UserAgent: demoAgent, Outstanding: 512,
	}
	if keys := p.cfg.Load().Clients; len(keys) > 0 {
		t.Key = keys[0].Key.Reveal()
	}
	return t.Run(ctx)
}

// turnDemo stops the demo traffic that is being sent, or begins it.
func (p *process) turnDemo() {
	if stop := p.stopDemo.Load(); stop != nil {
		(*stop)()
	}
}

// demoOn says whether demo traffic runs: only while every vendor is simulated, and
// no drill wants the engine for itself.
func (p *process) demoOn() bool {
	return p.demo.RPS > 0 && p.cfg.Load().Simulated() && p.quieted.Load() == 0
}

// quiet stops the demo traffic until the function that it returns is called.
func (p *process) quiet() func() {
	p.quieted.Add(1)
	p.turnDemo()
	return func() {
		p.quieted.Add(-1)
		p.turnDemo()
	}
}

// demoModel is what demo traffic asks for: the first configured model.
func (p *process) demoModel() string {
	if m := p.cfg.Load().Models; len(m) > 0 {
		return m[0].Name
	}
	return "demo"
}

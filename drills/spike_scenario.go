package drills

import (
	"fmt"
	"strings"
	"time"

	"baton/drills/spike"
	"baton/engine/config"
	"baton/engine/control"
)

// Spike is a load spike that a drill sends through the gateway in place of a
// fault: open loop, independent arrivals.
type Spike struct {
	From     float64       `toml:"from"`     // requests per second before and after
	To       float64       `toml:"to"`       // of the spike, from one arrival to the next
	Baseline time.Duration `toml:"baseline"` // before it
	Hold     time.Duration `toml:"hold"`     // of it
	Recovery time.Duration `toml:"recovery"` // after it
	Proof    time.Duration `toml:"proof"`    // of good service after it; default 30s
	Tokens   int           `toml:"tokens"`   // asked for per answer; default 4
	Batch    float64       `toml:"batch"`    // part that is batch work, 0-1; default 0.25
	Stream   float64       `toml:"stream"`   // part of the interactive that is streamed, 0-1; default 0.9
}

// spikeDefaults fills in what is left out.
func (c *check) spikeDefaults(s *Scenario) {
	p := s.Spike
	unless := func(key string, f func()) {
		if !c.doc.Has("spike." + key) {
			f()
		}
	}
	unless("proof", func() { p.Proof = 30 * time.Second })
	unless("tokens", func() { p.Tokens = 4 })
	unless("batch", func() { p.Batch = 0.25 })
	unless("stream", func() { p.Stream = 0.9 })
	if !c.doc.Has("judge") {
		s.Judge = judgeRecovered
	}
	if !c.doc.Has("target") {
		s.Target = targetNone
	}
}

// spike checks a load spike, and that nothing stands beside it that is about a
// vendor.
func (c *check) spike(s *Scenario) {
	p := s.Spike
	rule := func(format string, args ...any) string { return fmt.Sprintf(format, args...) }
	lasts := func(key string, d, least time.Duration) {
		c.want(d >= least && d <= spike.LongestAny, "spike."+key, d, rule("from %s to %s", control.Duration(least), control.Duration(spike.LongestAny)))
	}
	c.want(p.From > 0, "spike.from", p.From, "over 0 requests per second")
	c.want(p.To > p.From && p.To <= spike.MostRPS, "spike.to", p.To, rule("over spike.from and at most %d", spike.MostRPS))
	lasts("baseline", p.Baseline, spike.LeastPhase)
	lasts("hold", p.Hold, spike.LeastPhase)
	lasts("proof", p.Proof, spike.LeastProof)
	if p.Proof >= spike.LeastProof {
		lasts("recovery", p.Recovery, p.Proof+time.Second)
	}
	c.want(p.Tokens >= 1, "spike.tokens", p.Tokens, "1 or more")
	c.part("spike.batch", p.Batch)
	c.part("spike.stream", p.Stream)

	c.want(s.Judge == judgeRecovered, "judge", s.Judge, `"recovered": a spike hits no vendor`)
	c.want(s.Target == targetNone, "target", s.Target, `"none": a spike hits no vendor`)
	for _, key := range []string{"fault", "steps", "load", "window", "sealed", "steady", "failover", "restore", "bounds.success", "bounds.hurt", "bounds.ejections"} {
		c.want(!c.doc.Has(key), key, "given", "nothing: it does not go with a spike")
	}
	s.Fault.Kind, s.Fault.For = kindSpike, p.Hold
}

// target is how much of the clock a scenario may take.
func (s *Scenario) target(rules *config.Drill) time.Duration {
	switch {
	case s.show != nil:
		return s.show.Length
	case s.Spike != nil && s.Bounds.Recovered > 0:
		return s.Spike.Hold + s.Bounds.Recovered
	}
	return rules.Target
}

func (s *Scenario) explainSpike() []string {
	p, b := s.Spike, &s.Bounds
	asks := "It passes if goodput is back after the spike"
	if b.Recovered > 0 {
		asks += fmt.Sprintf(" within %s", control.Duration(b.Recovered))
	}
	if b.Amplification > 0 {
		asks += fmt.Sprintf(", vendors were asked no more than %g times per request", b.Amplification)
	}
	if b.P99 > 0 {
		asks += fmt.Sprintf(", the first-token P99 of what was admitted is %s or less", control.Duration(b.P99))
	}
	return []string{
		"It runs only where every vendor is simulated: the load is real, and would be paid for. Demo traffic pauses meanwhile.",
		fmt.Sprintf("It sends requests of its own, open loop with independent arrivals: %g/s for %s, then %g/s from one arrival to the next for %s, then %g/s again for %s.",
			p.From, control.Duration(p.Baseline), p.To, control.Duration(p.Hold), p.From, control.Duration(p.Recovery)),
		fmt.Sprintf("Answers are of %d tokens; %g %% is batch work, %g %% of the rest is streamed. It counts what is admitted, limited (429), shed (503) and fails, and how much processor time generator, gateway and vendors take.",
			p.Tokens, 100*p.Batch, 100*p.Stream),
		asks + ", and nothing fails other than by a refusal that says when to come again.",
		"A generator that is late itself proves nothing: the verdict is then inconclusive.",
	}
}

// planSpike is what happens, step by step.
func (s *Scenario) planSpike() []string {
	p := s.Spike
	return []string{
		"demo traffic pauses",
		fmt.Sprintf("%g requests/s for %s", p.From, control.Duration(p.Baseline)),
		fmt.Sprintf("%g requests/s for %s", p.To, control.Duration(p.Hold)),
		fmt.Sprintf("%g requests/s for %s, of which %s with a goodput as before prove the recovery", p.From, control.Duration(p.Recovery), control.Duration(p.Proof)),
	}
}

// unaimed is the preflight of what hits no vendor.
func (p *inspection) unaimed() {
	var not []string
	for i := range p.terms.cfg.Vendors {
		if v := &p.terms.cfg.Vendors[i]; v.Simulate == "" {
			not = append(not, v.Name+" is not")
		}
	}
	got := "they are"
	if len(not) > 0 {
		got = strings.Join(not, ", ")
	}
	if p.s.show != nil {
		p.add("vendors", "simulated: it takes processor time from those who serve", got, len(not) == 0, true)
		return
	}
	p.add("vendors", "every one simulated: the load would be paid for", got, len(not) == 0, false)
	p.elsewhere()
	p.healthy()
	p.people()
}

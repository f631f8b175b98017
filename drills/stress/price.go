package stress

import "time"

// Price says what one answer costs in the plan's currency, of so many tokens: input,
// those of it that were cached, output. False: the price is not known.
type Price func(input, cached, output int) (float64, bool)

func (p Price) cost(in, cached, out int) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return p(in, cached, out)
}

// Preview is what a plan will ask for, before anything is asked. It is an estimate:
// how fast the vendor answers is not known yet.
type Preview struct {
	Requests int
	Input    int // tokens
	Output   int
	Cost     *float64 // nil where no target has a price
	Unpriced []string // targets without one
	Seconds  float64
}

// What is assumed of an answer before one was seen.
const (
	assumedFirst    = 300 * time.Millisecond
	assumedPerToken = 15 * time.Millisecond
)

// Preview estimates requests, tokens, cost and time: every level at every target, with
// its warm-up, the closed and the open loop, answers as long as they may be.
func (p Plan) Preview() (Preview, error) {
	p, err := p.fill()
	if err != nil {
		return Preview{}, err
	}
	var v Preview
	answer := (assumedFirst + time.Duration(p.MaxTokens)*assumedPerToken).Seconds()
	input := 0
	for i := range p.Prompts {
		input += p.Prompts[i].tokens()
	}
	input /= len(p.Prompts)
	window := (p.Duration + p.Warmup).Seconds()
	perTarget := 0.0
	levels := float64(len(p.Rates))
	for _, r := range p.Rates {
		perTarget += r * window
	}
	if len(p.Rates) == 0 {
		passes := 2.0
		if p.Arrivals == ClosedLoop {
			passes = 1
		}
		levels = passes * float64(len(p.Ladder))
		for _, c := range p.Ladder {
			perTarget += passes * float64(c) * window / answer
		}
	}
	v.Seconds = float64(len(p.Targets)) * levels * window
	if !p.NoProbe {
		perTarget += probeRequests
		v.Seconds += float64(len(p.Targets)) * probeSeconds
	}
	total, priced := 0.0, false
	for i := range p.Targets {
		v.Requests += int(perTarget)
		v.Input += int(perTarget) * input
		v.Output += int(perTarget) * p.MaxTokens
		one, ok := p.Targets[i].Price.cost(input, 0, p.MaxTokens)
		if !ok {
			v.Unpriced = append(v.Unpriced, p.Targets[i].Vendor.Name)
			continue
		}
		total, priced = total+one*perTarget, true
	}
	if priced {
		v.Cost = &total
	}
	return v, nil
}

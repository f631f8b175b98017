package health

import "time"

// Config are the settings of a vendor's health.
type Config struct {
	FirstToken time.Duration // how long a stream may wait for its first token
	Whole      time.Duration // how long a whole answer may take

	Probes         bool // whether the vendor is probed
	UnhealthyAfter int  // failed probes in a row that count against it
	HealthyAfter   int  // good probes in a row before an ejected one returns

	TrialEvery time.Duration // between trials of an ejected vendor
	Ramp       time.Duration // from a good trial to the full weight
	RampMax    time.Duration // the longest ramp of a vendor that keeps falling
}

// Default returns the settings of the default configuration.
func Default() Config {
	return Config{
		FirstToken:     10 * time.Second,
		Whole:          120 * time.Second,
		Probes:         true,
		UnhealthyAfter: 3,
		HealthyAfter:   2,
		TrialEvery:     10 * time.Second,
		Ramp:           60 * time.Second,
		RampMax:        300 * time.Second,
	}
}

// sane replaces what cannot be meant. A ramp of 0 can: no ramp.
func (c Config) sane() Config {
	d := Default()
	if c.FirstToken <= 0 {
		c.FirstToken = d.FirstToken
	}
	if c.Whole <= 0 {
		c.Whole = d.Whole
	}
	if c.UnhealthyAfter < 1 {
		c.UnhealthyAfter = d.UnhealthyAfter
	}
	if c.HealthyAfter < 1 {
		c.HealthyAfter = d.HealthyAfter
	}
	if c.TrialEvery <= 0 {
		c.TrialEvery = d.TrialEvery
	}
	c.Ramp = max(c.Ramp, 0)
	c.RampMax = max(c.RampMax, c.Ramp)
	return c
}

package config

import (
	"math"
	"strings"
	"time"
)

// Dialects are the ways in which vendors spell errors.
var Dialects = []string{"openai", "bailian", "deepseek", "siliconflow", "zhipu", "moonshot", "ark", "vllm", "azure"}

// Roles are what a vendor can be.
var Roles = []string{Primary, Secondary, Candidate}

// The roles: exactly one vendor is primary; a candidate carries no traffic and
// is only stressed and compared.
const (
	Primary   = "primary"
	Secondary = "secondary"
	Candidate = "candidate"
)

// The environments that change what baton does.
const (
	EnvDemo = "DEMO" // simulated vendors may stand beside real ones
	EnvProd = "PROD" // the console starts locked and applies on Enter
)

const (
	bandWidth      = 5  // percent points on each side of a weight
	primaryWeight  = 75 // of the primary of two
	holdWhereReal  = 60 * time.Second
	holdWhereMeant = 10 * time.Second // every vendor simulated or on loopback
)

// Default is the configuration of a file that says nothing: every scalar has
// its default, and there are no clients, models or vendors.
func Default() *Config {
	return &Config{
		Gateway: Gateway{
			Listen: "127.0.0.1:8080", MaxBody: 64 << 20, Buffer: 256 << 20, MaxInFlight: 4096,
			Deadline: 10 * time.Minute, Grace: 30 * time.Second,
		},
		Control: Control{Listen: "127.0.0.1:8089"},
		Console: Console{Theme: "auto", Lang: "auto", Mouse: true},
		Demo:    Demo{RPS: 20, Batch: 0.25},
		Routing: Routing{
			Mode: "steer", Failover: "auto", Tick: time.Second, SLOP90: time.Second, SLOP99: 2 * time.Second,
			Attempts: 3, RetryBudget: 0.10, UnknownModels: "pass",
		},
		Timeouts: Timeouts{
			Connect: 3 * time.Second, Header: 10 * time.Second, FirstToken: 10 * time.Second,
			Idle: 30 * time.Second, Whole: 120 * time.Second,
		},
		Probe: Probe{Every: 5 * time.Second, Path: "/models", UnhealthyAfter: 3, HealthyAfter: 2},
		Drill: Drill{
			Target: 7 * time.Minute, Baseline: 15 * time.Second, Settle: 30 * time.Second, Hold: holdWhereMeant,
			MinRequests: 100, Success: 0.999, AbortBelow: 0.95, MaxFailed: 500, Timezone: "Asia/Shanghai",
		},
		Ledger: Ledger{Currency: "CNY", Timezone: "Asia/Shanghai", RawDays: 7, RawRows: 1_000_000, MinuteDays: 62, KeepDays: 400},
	}
}

// complete fills in what depends on other values, where the file is silent.
func (v *validation) complete(c *Config) {
	v.roles(c)
	for i := range c.Vendors {
		ven := &c.Vendors[i]
		at := vendorPath(i)
		if !v.given(at+".label", ven.Label != "") {
			ven.Label = ven.Name
		}
		if !v.given(at+".dialect", ven.Dialect != "") {
			ven.Dialect = "openai"
		}
		if u, ok := strings.CutSuffix(ven.BaseURL, "/"); ok {
			ven.BaseURL = strings.TrimRight(u, "/")
		}
	}
	v.weights(c)
	for i := range c.Clients {
		if !v.given(clientPath(i)+".lane", c.Clients[i].Lane != "") {
			c.Clients[i].Lane = "interactive"
		}
	}
	v.pairs(c)
	if !v.given("drill.hold", true) && c.AnyReal() {
		c.Drill.Hold = holdWhereReal
	}
	c.Console.Environment = strings.ToUpper(c.Console.Environment)
	if c.Console.Environment == "" {
		c.Console.Environment = EnvDemo
		if c.AnyReal() {
			c.Console.Environment = EnvProd
		}
	}
	if c.Console.Apply == "" {
		c.Console.Apply = "release"
		if c.Console.Environment == EnvProd {
			c.Console.Apply = "enter"
		}
	}
}

// pairs keeps a default from contradicting its neighbour: whoever sets one of
// two ordered values need not know the other's default.
func (v *validation) pairs(c *Config) {
	r, d := &c.Routing, &c.Drill
	p90, p99 := v.given("routing.slo_p90", true), v.given("routing.slo_p99", true)
	if !p99 && r.SLOP90 > r.SLOP99 && r.SLOP90 <= math.MaxInt64/2 {
		r.SLOP99 = 2 * r.SLOP90
	}
	if !p90 && r.SLOP99 > 0 && r.SLOP99 < r.SLOP90 {
		r.SLOP90 = max(1, r.SLOP99/2)
	}
	if !v.given("drill.abort_below", true) && d.Success >= 0 {
		d.AbortBelow = min(d.AbortBelow, d.Success)
	}
}

// roles makes the first vendor the primary where the file names none.
func (v *validation) roles(c *Config) {
	named := false
	for i := range c.Vendors {
		named = named || c.Vendors[i].Role == Primary
	}
	for i := range c.Vendors {
		if v.given(vendorPath(i)+".role", c.Vendors[i].Role != "") {
			continue
		}
		c.Vendors[i].Role = Secondary
		if i == 0 && !named {
			c.Vendors[i].Role = Primary
		}
	}
}

// weights gives the vendors without a weight their share of what the others
// leave: of two without any, 75 to the primary and 25 to the other; else equal
// parts. Bands are the weight and five points on each side.
func (v *validation) weights(c *Config) {
	routed := c.routed()
	var silent []int
	left := 100.0
	for _, i := range routed {
		if v.given(vendorPath(i)+".weight", c.Vendors[i].Weight != 0) {
			left -= c.Vendors[i].Weight
		} else {
			silent = append(silent, i)
		}
	}
	for _, i := range silent {
		w := max(0, left) / float64(len(silent))
		if len(routed) == 2 && len(silent) == 2 {
			w = 100 - primaryWeight
			if c.Vendors[i].Role == Primary {
				w = primaryWeight
			}
		}
		c.Vendors[i].Weight = w
	}
	c.normalise(routed)
	for _, i := range routed {
		if w := c.Vendors[i].Weight; !v.given(vendorPath(i)+".band", c.Vendors[i].Band != nil) {
			c.Vendors[i].Band = []float64{math.Max(0, w-bandWidth), math.Min(100, w+bandWidth)}
		}
	}
}

// routed lists the vendors that carry traffic: all but the candidates.
func (c *Config) routed() []int {
	var routed []int
	for i := range c.Vendors {
		if c.Vendors[i].Role != Candidate {
			routed = append(routed, i)
		}
	}
	return routed
}

// sumTolerance lets 33.33 three times be a hundred.
const sumTolerance = 0.0101

// normalise makes weights that were rounded by hand sum to exactly 100.
func (c *Config) normalise(routed []int) {
	sum := 0.0
	for _, i := range routed {
		sum += c.Vendors[i].Weight
	}
	if sum == 100 || math.Abs(sum-100) > sumTolerance {
		return
	}
	for _, i := range routed {
		c.Vendors[i].Weight *= 100 / sum
	}
}

// Package config is baton's configuration: a TOML file read strictly into a
// [Config].
//
// [Load] finds the file, [Parse] decodes it over [Default] and validates the
// whole of it: every mistake of a file is reported at once as [Errors], with
// file, line, key, value and rule. A Config is never changed afterwards; a
// reload makes a new one, and [Config.Diff] says what became different. A
// Config made in code instead goes through [Config.Complete].
//
// Zero means zero, absent means default. Secrets arrive resolved (`env:`,
// `file:`) as [Secret], which does not print. A vendor's identity is its name.
//
// The package opens no socket, keeps no state and watches no file; the strict
// TOML decoder beneath it is a package of its own.
package config

import (
	"fmt"
	"time"

	"baton/engine/config/strict"
)

// Config is the whole configuration. Percents are 0-100, rates per second.
type Config struct {
	Path    string `toml:"-"` // the file that was read, "" where none was
	Digest  string `toml:"-"` // sha256 of the file's bytes, hex
	BuiltIn bool   `toml:"-"` // the built-in configuration, or a file byte-identical to it

	doc *strict.Document // where its keys stand; nil without a file

	Gateway  Gateway  `toml:"gateway"`
	Clients  []Client `toml:"clients"`
	Control  Control  `toml:"control"`
	State    State    `toml:"state"`
	Console  Console  `toml:"console"`
	Demo     Demo     `toml:"demo"`
	Routing  Routing  `toml:"routing"`
	Timeouts Timeouts `toml:"timeouts"`
	Probe    Probe    `toml:"probe"`
	Drill    Drill    `toml:"drill"`
	Ledger   Ledger   `toml:"ledger"`
	Models   []Model  `toml:"models"`
	Vendors  []Vendor `toml:"vendors"`
}

// Gateway is the OpenAI-compatible API.
type Gateway struct {
	Listen      string        `toml:"listen"`
	MaxBody     Bytes         `toml:"max_body"`
	Buffer      Bytes         `toml:"buffer"`
	MaxInFlight int           `toml:"max_in_flight"`
	Deadline    time.Duration `toml:"deadline"`
	Grace       time.Duration `toml:"grace"`
}

// Client is a caller of the gateway with a key of its own.
type Client struct {
	Name string `toml:"name"`
	Key  Secret `toml:"key,secret"`
	Lane string `toml:"lane"` // interactive or batch
}

// Control is the control API.
type Control struct {
	Listen string `toml:"listen"`
	Token  Secret `toml:"token,secret"`
}

// State is where baton keeps what outlives it.
type State struct {
	Dir string `toml:"dir"`
}

// Console is how the console looks and behaves.
type Console struct {
	Environment string `toml:"environment"`
	Apply       string `toml:"apply"`
	Theme       string `toml:"theme"`
	Lang        string `toml:"lang"`
	Mouse       bool   `toml:"mouse"`
	ASCII       bool   `toml:"ascii"`
}

// Demo is the trickle of traffic that runs while every vendor is simulated.
type Demo struct {
	RPS   float64 `toml:"rps"`
	Batch float64 `toml:"batch"`
}

// Routing is how requests find a vendor.
type Routing struct {
	Mode             string        `toml:"mode"`     // steer or observe
	Failover         string        `toml:"failover"` // auto or manual
	Tick             time.Duration `toml:"tick"`
	SLOP90           time.Duration `toml:"slo_p90"`
	SLOP99           time.Duration `toml:"slo_p99"`
	Attempts         int           `toml:"attempts"`
	RetryBudget      float64       `toml:"retry_budget"`
	Affinity         string        `toml:"affinity"`
	FailoverOnFilter bool          `toml:"failover_on_filter"`
	UnknownModels    string        `toml:"unknown_models"` // pass or reject
}

// Timeouts are the clocks of one attempt.
type Timeouts struct {
	Connect    time.Duration `toml:"connect"`
	Header     time.Duration `toml:"header"`
	FirstToken time.Duration `toml:"first_token"`
	Idle       time.Duration `toml:"idle"`
	Whole      time.Duration `toml:"whole"`
}

// Probe is the health probe.
type Probe struct {
	Every          time.Duration `toml:"every"`
	Path           string        `toml:"path"`
	UnhealthyAfter int           `toml:"unhealthy_after"`
	HealthyAfter   int           `toml:"healthy_after"`
}

// Drill is what drills are judged by.
type Drill struct {
	Target      time.Duration `toml:"target"`
	Baseline    time.Duration `toml:"baseline"`
	Settle      time.Duration `toml:"settle"`
	Hold        time.Duration `toml:"hold"` // absent: 10s, or 60s where a vendor is real
	MinRequests int           `toml:"min_requests"`
	Success     float64       `toml:"success"`
	AbortBelow  float64       `toml:"abort_below"`
	MaxFailed   int           `toml:"max_failed"`
	MaxCost     float64       `toml:"max_cost"`
	Timezone    string        `toml:"timezone"`
	Blackout    []string      `toml:"blackout,date"` // 2026-10-01 or 2026-10-01..2026-10-07
	Schedule    []Schedule    `toml:"schedule"`
}

// Schedule is a drill that recurs.
type Schedule struct {
	Cron     string        `toml:"cron"`
	Scenario string        `toml:"scenario"`
	Armed    bool          `toml:"armed"`  // may hit a real vendor
	Jitter   time.Duration `toml:"jitter"` // it begins so much later at most, at random
}

// Ledger is how money is counted, and for how long that is kept.
type Ledger struct {
	Currency   string             `toml:"currency"`
	Timezone   string             `toml:"timezone"`      // of days, and of prices that name none
	Holidays   []string           `toml:"holidays,date"` // 2026-10-01 or 2026-10-01..2026-10-07, in that time zone
	Rates      map[string]float64 `toml:"rates"`         // by currency: what one unit of it is in the ledger's
	RawDays    int                `toml:"raw_days"`      // single attempts that answered
	RawRows    int                `toml:"raw_rows"`      // and how many single attempts at most
	MinuteDays int                `toml:"minute_days"`   // by the minute; failed attempts and latencies too
	KeepDays   int                `toml:"keep_days"`     // by the quarter of an hour

	Overhead       *float64 `toml:"overhead"`        // per day: what a second vendor takes beside its calls
	SingleDiscount *float64 `toml:"single_discount"` // 0-1: what the primary alone would take off
	Won            *float64 `toml:"won"`             // 0-1: what competing has taken off already
	OutageCost     *float64 `toml:"outage_cost"`     // per minute without service
	OutageMinutes  *float64 `toml:"outage_minutes"`  // per month, saved by the second vendor
}

// Model is a name that clients ask for, and what each vendor calls it.
type Model struct {
	Name    string            `toml:"name"`    // what clients ask for
	Context map[string]int    `toml:"context"` // by vendor: context length in tokens
	At      map[string]string `toml:",rest"`   // by vendor: the vendor's name of it
}

// NameAt is what a vendor calls the model. A model that names no vendor at all
// goes by its own name everywhere; one that names some is at no other.
func (m *Model) NameAt(vendor string) (string, bool) {
	if len(m.At) == 0 {
		return m.Name, true
	}
	name, ok := m.At[vendor]
	return name, ok
}

// Vendor is one MaaS provider behind one base URL.
type Vendor struct {
	Name      string    `toml:"name"`
	Label     string    `toml:"label"`
	Role      string    `toml:"role"` // primary, secondary or candidate
	Dialect   string    `toml:"dialect"`
	BaseURL   string    `toml:"base_url"`
	APIKeys   []Secret  `toml:"api_keys,secret"`
	Weight    float64   `toml:"weight"`
	Band      []float64 `toml:"band"` // low, high
	LimitRPS  float64   `toml:"limit_rps"`
	Resume    string    `toml:"resume"` // "" or prefill
	Price     []Price   `toml:"price"`
	Limits    []LimitOf `toml:"limits"` // what was said of its limits, for the register
	Published Published `toml:"published"`
	Simulate  string    `toml:"simulate"` // profile of a simulated vendor, in place of base_url
	Sim       Sim       `toml:"sim"`
}

// Price is per million tokens in the ledger's currency; nil is unknown.
type Price struct {
	Model       string   `toml:"model"`
	From        string   `toml:"from,date"` // 2026-08-16; "" always
	Above       int      `toml:"above"`
	Hours       string   `toml:"hours"`    // 00:30-08:30, or several: 09:00-12:00,14:00-18:00; "" always
	Days        string   `toml:"days"`     // mon-fri, or several: sat,sun,holiday; "" all. A holiday is no weekday
	Timezone    string   `toml:"timezone"` // of from, hours and days; "": the ledger's
	Currency    string   `toml:"currency"` // "": the ledger's; another needs ledger.rates
	Batch       *float64 `toml:"batch"`    // multiplier in the batch lane
	Input       *float64 `toml:"input"`
	CachedInput *float64 `toml:"cached_input"`
	Output      *float64 `toml:"output"`
}

// LimitOf is one entry of the register of limits: what somebody said, and when.
// Nothing is routed by it; limit_rps is what admission goes by.
type LimitOf struct {
	What   string `toml:"what"` // documented, asked or granted
	Limit  string `toml:"limit"`
	Date   string `toml:"date,date"`
	Source string `toml:"source"`
}

// Published is what a third party measured.
type Published struct {
	Source        string        `toml:"source"`
	P90FirstToken time.Duration `toml:"p90_first_token"`
}

// Real says whether a vendor is neither simulated nor on loopback.
func (v *Vendor) Real() bool { return v.Simulate == "" && !loopbackURL(v.BaseURL) }

// Simulated says whether every vendor is a simulated one.
func (c *Config) Simulated() bool {
	for i := range c.Vendors {
		if c.Vendors[i].Simulate == "" {
			return false
		}
	}
	return true
}

// AnyReal says whether a vendor is neither simulated nor on loopback.
func (c *Config) AnyReal() bool {
	for i := range c.Vendors {
		if c.Vendors[i].Real() {
			return true
		}
	}
	return false
}

// At is where a key stands, "config.toml:3: gateway.listen", for errors that come
// of its value later; the key alone where the file does not name it.
func (c *Config) At(key string) string {
	if c.doc == nil || !c.doc.Has(key) {
		return key
	}
	return fmt.Sprintf("%s:%d: %s", c.doc.File, c.doc.Line(key), key)
}

package control

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Snapshot is the state of baton at one moment. Times are milliseconds,
// percents 0-100, rates 0-1; a figure that is not known is null.
type Snapshot struct {
	Time        time.Time `json:"time"`
	Version     string    `json:"version"`
	UptimeS     float64   `json:"uptime_s"`
	Environment string    `json:"environment"`
	Revision    int64     `json:"revision"` // counts changes made by people
	Control     string    `json:"control"`  // auto or pinned
	Failover    string    `json:"failover"` // auto or manual
	// FailoverUntil is when a lease of manual failover ends; null: none, or the
	// file says manual.
	FailoverUntil *time.Time  `json:"failover_until"`
	Mode          string      `json:"mode"` // steer or observe
	Pin           *Pin        `json:"pin"`
	Lanes         LaneStates  `json:"lanes"`
	Totals        Totals      `json:"totals"`
	Service       Service     `json:"service"`
	Vendors       []Vendor    `json:"vendors"`
	Drill         *DrillState `json:"drill"`
	Cost          Spend       `json:"cost"` // since the start

	Simulated bool         `json:"simulated"` // every vendor is a simulated one
	Gateway   GatewayState `json:"gateway"`
	Demo      *DemoState   `json:"demo"`  // null: no demo traffic
	Apply     string       `json:"apply"` // how a console applies weights: release or enter
	Target    Targets      `json:"target"`
	Alerts    []string     `json:"alerts"` // what a person has to see to now, worst first

	Overrides []Override  `json:"overrides"` // in force: what people have set over the controller
	Incident  *DrillState `json:"incident"`  // an outage that nobody ordered, until it is over and dismissed
	Schedule  []Scheduled `json:"schedule"`  // the drills that come, soonest first
	Freshness []Freshness `json:"freshness"` // when losing each vendor was last rehearsed and passed
}

// Override is something that people have set over the controller.
type Override struct {
	Kind    string     `json:"kind"`    // pin, drain, manual, limit, disabled, fault or observe
	Vendor  string     `json:"vendor"`  // "" where all are meant
	Text    string     `json:"text"`    // in words, without the time that is left
	By      string     `json:"by"`      // "" where it is not known
	Until   *time.Time `json:"until"`   // null: until somebody ends it
	Release string     `json:"release"` // the command that ends it
	Extend  string     `json:"extend"`  // the command that prolongs it; "": nothing to prolong
	Ending  bool       `json:"ending"`  // in under two minutes
}

// Pin is weights set by hand.
type Pin struct {
	Weights  map[string]float64 `json:"weights"`
	Until    time.Time          `json:"until"`
	By       string             `json:"by"`
	Reason   string             `json:"reason"`
	Override bool               `json:"override"`
}

// LaneStates are both lanes.
type LaneStates struct {
	Interactive LaneState `json:"interactive"`
	Batch       LaneState `json:"batch"`
}

// LaneState is one lane's rate of requests and where its next ones go.
type LaneState struct {
	RPS     float64            `json:"rps"`
	Split   map[string]float64 `json:"split"`   // percent by vendor
	Waiting int                `json:"waiting"` // requests that wait for a place at a vendor
	Shed    int64              `json:"shed"`    // refused by admission since the start
}

// Totals count since the start, at a request's end: requests = ok + failed +
// client_fault + client_cancel.
type Totals struct {
	Requests     int64 `json:"requests"`
	OK           int64 `json:"ok"`
	Failed       int64 `json:"failed"`
	ClientFault  int64 `json:"client_fault"` // content filters too
	ClientCancel int64 `json:"client_cancel"`
	FailedOver   int64 `json:"failed_over"`
	Attempts     int64 `json:"attempts"`
}

// Service is what clients got: first tokens of streams, over 60 s.
type Service struct {
	Success10s *float64 `json:"success_10s"` // ok / (ok + failed)
	Errors60s  *float64 `json:"errors_60s"`
	Count      int      `json:"count"`
	P50ms      *float64 `json:"p50_ms"`
	P90ms      *float64 `json:"p90_ms"`
	P99ms      *float64 `json:"p99_ms"`
}

// GatewayState is the gateway's own figures.
type GatewayState struct {
	Address  string  `json:"address"` // host:port
	RPS      float64 `json:"rps"`     // requests per second over 10 s
	InFlight int     `json:"in_flight"`
	Dropped  int64   `json:"dropped_events"` // left out of streams since the start, because they were no JSON
}

// DemoState is the demo traffic that this process makes.
type DemoState struct {
	RPS   float64 `json:"rps"`
	Batch float64 `json:"batch"`
}

// Targets are what figures are held against.
type Targets struct {
	SLOP90ms float64 `json:"slo_p90_ms"`
	SLOP99ms float64 `json:"slo_p99_ms"`
	CutoverS float64 `json:"cutover_s"`
}

// The states of a vendor.
const (
	Healthy    = "healthy"
	Degraded   = "degraded"
	Ejected    = "ejected"
	Recovering = "recovering"
	Drained    = "drained"
	Disabled   = "disabled"
)

// Vendor is one vendor's part of the snapshot.
type Vendor struct {
	Name          string             `json:"name"`
	Label         string             `json:"label"`
	Role          string             `json:"role"`
	Simulated     bool               `json:"simulated"`
	State         string             `json:"state"`
	StateSince    time.Time          `json:"state_since"`
	Reason        string             `json:"reason"`  // why it is in that state
	Why           string             `json:"why"`     // the last reason for which its weight moved
	Release       string             `json:"release"` // what would end what holds it, "" where nothing does
	Weight        float64            `json:"weight"`
	Target        float64            `json:"target"`
	Band          [2]float64         `json:"band"`
	Pinned        bool               `json:"pinned"`
	Share10s      *float64           `json:"share_10s"`
	Share60s      *float64           `json:"share_60s"`
	RPS           float64            `json:"rps"` // attempts begun per second over 10 s
	InFlight      int                `json:"in_flight"`
	InFlightLimit *float64           `json:"in_flight_limit"` // what adaptive admission lets be in flight; null: not known yet
	Requests      int64              `json:"requests"`        // answered whole by it
	Attempts      int64              `json:"attempts"`        // asked of it, trials too
	Failed        int64              `json:"failed"`          // attempts that did not answer
	FirstToken    map[string]Latency `json:"first_token"`
	Latency       map[string]Latency `json:"latency"`
	Errors        Errors             `json:"errors"`
	Limit         Limit              `json:"limit"`
	Tokens        Tokens             `json:"tokens"`
	Cost          Cost               `json:"cost"`
	Published     *Published         `json:"published"`
	Fault         *FaultState        `json:"fault"`
	Overrides     []string           `json:"overrides"` // what people have set on it, in words
	Ramp          *float64           `json:"ramp"`      // while recovering: 0-1 of its ramp
	History       History            `json:"history"`
}

// Windows are the windows of latencies, keys of FirstToken and Latency.
var Windows = [3]string{"10s", "60s", "5m"}

// Latency is the quantiles of one window; null when it is empty.
type Latency struct {
	Count int      `json:"count"`
	P50ms *float64 `json:"p50_ms"`
	P90ms *float64 `json:"p90_ms"`
	P99ms *float64 `json:"p99_ms"`
	Maxms *float64 `json:"max_ms"`
}

// Errors are vendor_faults over attempts that ended ok or so.
type Errors struct {
	Rate10s      *float64         `json:"rate_10s"`
	Rate60s      *float64         `json:"rate_60s"`
	ByOutcome60s map[string]int64 `json:"by_outcome_60s"` // every outcome word
}

// Limit is what is known of a vendor's rate limit.
type Limit struct {
	KnownRPS   *float64   `json:"known_rps"`
	LearnedRPS *float64   `json:"learned_rps"`
	AllowedRPS *float64   `json:"allowed_rps"` // what admission lets through
	Keys       int        `json:"keys"`
	Evidence   string     `json:"evidence"`
	Type       string     `json:"type"`       // requests, tokens, concurrency or slope; "" none learned
	Scope      string     `json:"scope"`      // key, account or unknown; "" none learned
	Unit       string     `json:"unit"`       // of LearnedRPS when it is not 1/s: "tokens/min", "in flight"
	Value      *float64   `json:"value"`      // as learned, in Unit
	Confidence *float64   `json:"confidence"` // 0-1
	LearnedAt  *time.Time `json:"learned_at"`
}

// Tokens count since the start.
type Tokens struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
}

// Cost is in the ledger's currency; null where a price is not known.
type Cost struct {
	Total            *float64 `json:"total"`
	PerHour          *float64 `json:"per_hour"`
	PerMillionTokens *float64 `json:"per_million_tokens"`
}

// Published is what a third party measured.
type Published struct {
	Source          string   `json:"source"`
	P90FirstTokenMs *float64 `json:"p90_first_token_ms"`
}

// FaultState is the fault in force on the path to a vendor.
type FaultState struct {
	Kind    string    `json:"kind"`
	Percent float64   `json:"percent"`
	Lane    string    `json:"lane,omitempty"` // only attempts of this lane; "": all
	Until   time.Time `json:"until"`
}

// History is the vendor's last minutes, oldest first, a value each StepS
// seconds, each over the 10 s before it; null where nothing was measured.
type History struct {
	P90ms  Series  `json:"p90_ms"`
	P99ms  Series  `json:"p99_ms"`
	Failed Series  `json:"failed"` // attempts that failed in that step
	StepS  float64 `json:"step_s"`
}

// Series is figures in which NaN is null in JSON.
type Series []float64

// MarshalJSON writes one decimal, and null for NaN.
func (s Series) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+6*len(s))
	b = append(b, '[')
	for i, v := range s {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, math.Round(v*10)/10, 'f', -1, 64)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Series) UnmarshalJSON(b []byte) error {
	if bytes.Equal(b, []byte("null")) {
		*s = nil
		return nil
	}
	var ps []*float64
	if err := json.Unmarshal(b, &ps); err != nil {
		return err
	}
	*s = make(Series, len(ps))
	for i, p := range ps {
		(*s)[i] = math.NaN()
		if p != nil {
			(*s)[i] = *p
		}
	}
	return nil
}

// Vendor returns the vendor of that name.
func (s *Snapshot) Vendor(name string) *Vendor {
	for i := range s.Vendors {
		if s.Vendors[i].Name == name {
			return &s.Vendors[i]
		}
	}
	return nil
}

// Figure makes a figure that is known.
func Figure(v float64) *float64 { return &v }

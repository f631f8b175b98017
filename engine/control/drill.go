package control

import "time"

// The phases of a drill, in their order.
const (
	PhaseSteady   = "steady"
	PhaseFault    = "fault"
	PhaseDetected = "detected"
	PhaseShifted  = "shifted"
	PhaseVerified = "verified"
	PhaseRestored = "restored"
	PhaseFailback = "failback"
	PhaseDone     = "done"
)

// The verdicts of a drill.
const (
	Passed       = "passed"
	Failed       = "failed"
	Refused      = "refused"
	Aborted      = "aborted"
	Inconclusive = "inconclusive"
)

// DrillState is the drill that runs, or the last one until it is dismissed.
type DrillState struct {
	ID       string        `json:"id"`
	Scenario string        `json:"scenario"`
	Vendor   string        `json:"vendor"`
	Fault    FaultSpec     `json:"fault"`
	Who      string        `json:"who"`
	Phase    string        `json:"phase"`
	ClockS   float64       `json:"clock_s"` // since the fault; it stands still at the cutover
	TargetS  float64       `json:"target_s"`
	BoundS   float64       `json:"bound_s,omitempty"` // the scenario's own, where it is tighter than the target
	CutoverS *float64      `json:"cutover_s"`         // null until proven
	Phases   []Moment      `json:"phases"`            // reached ones, in their order
	Verdict  *string       `json:"verdict"`           // null while it runs
	Reason   string        `json:"reason"`
	Started  time.Time     `json:"started"`
	Until    *time.Time    `json:"until"` // when the fault ends by itself; null once it has ended
	Requests DrillRequests `json:"requests"`
	Verify   *VerifyState  `json:"verify"` // progress of verification, null before it
	HurtS    float64       `json:"hurt_s"` // seconds in which clients were hurt
	Record   string        `json:"record"` // path of the record, "" while none is written

	Judge     string      `json:"judge"`     // cutover, contained or recovered
	Incident  bool        `json:"incident"`  // nobody ordered it
	Sealed    bool        `json:"sealed"`    // blind: vendor and fault are not told until it ends
	Armed     *time.Time  `json:"armed"`     // while a countdown runs: when the fault goes in
	Waits     string      `json:"waits"`     // what a person has to do for the drill to go on, "" nothing
	Checklist []Task      `json:"checklist"` // the facilitator's
	Baseline  *Latency    `json:"baseline"`  // clients' first tokens before the fault; null without one
	Budget    *DrillRisk  `json:"budget"`    // how much of the stop conditions is used up
	Preflight []Check     `json:"preflight"` // as it was at the start
	Steps     []StepState `json:"steps"`
	Page      string      `json:"page"`              // path of the HTML report, "" while none is written
	Caption   string      `json:"caption,omitempty"` // what happens now, of a spike or a show
}

// Task is one line of a facilitator's checklist.
type Task struct {
	Text string `json:"text"`
	Done bool   `json:"done"`
}

// DrillRisk is what the drill has cost so far against what ends it.
type DrillRisk struct {
	Failed    int64    `json:"failed"`
	MaxFailed int64    `json:"max_failed"`
	Cost      *float64 `json:"cost"`     // extra, in the ledger's currency; null: unpriced
	MaxCost   *float64 `json:"max_cost"` // null: none set
}

// StepState is a further command of a scenario.
type StepState struct {
	AtS  float64 `json:"at_s"` // from T0
	Text string  `json:"text"`
	Done bool    `json:"done"`
}

// Check is one thing that preflight asks for.
type Check struct {
	Name string `json:"name"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
	Warn bool   `json:"warn"` // not so, or not known, and no reason to refuse
}

// Preflight is what would happen if a scenario were started now.
type Preflight struct {
	Scenario  string    `json:"scenario"`
	Claim     string    `json:"claim"`
	Judge     string    `json:"judge"`
	Vendor    string    `json:"vendor"` // who it would hit; "" while it is drawn by lot
	Fault     FaultSpec `json:"fault"`
	Checks    []Check   `json:"checks"`
	TargetS   float64   `json:"target_s"`          // drill.target
	BoundS    float64   `json:"bound_s,omitempty"` // the scenario's own, where it is tighter
	Refused   string    `json:"refused"`           // why it would be refused, "" it would not
	Plan      []string  `json:"plan"`              // what happens, step by step
	ExtraCost *float64  `json:"extra_cost"`        // expected, in the ledger's currency; null: unpriced
}

// Scheduled is a drill that the schedule starts.
type Scheduled struct {
	ID        string    `json:"id"` // of this one occurrence
	Scenario  string    `json:"scenario"`
	Vendor    string    `json:"vendor"` // whose turn it is; "" as the scenario says
	At        time.Time `json:"at"`
	Armed     bool      `json:"armed"`
	Announced bool      `json:"announced"`
	Cancelled string    `json:"cancelled"` // who cancelled it or why it will not run, "" it will
}

// Freshness is when losing a vendor by a fault was last passed.
type Freshness struct {
	Vendor string     `json:"vendor"`
	Fault  string     `json:"fault"`
	Passed *time.Time `json:"passed"` // null: never
	Days   *float64   `json:"days"`
	Stale  bool       `json:"stale"` // over 35 days, or never
}

// WitnessResult is what an observer apart has seen.
type WitnessResult struct {
	CutoverS    *float64 `json:"cutover_s"`    // from the drill's T0, by the witness's clock
	DifferenceS *float64 `json:"difference_s"` // the drill's minus the witness's
	Requests    int64    `json:"requests"`
	Failed      int64    `json:"failed"`
	Log         string   `json:"log"`
	Note        string   `json:"note"` // why there is no figure
}

// Moment is a phase reached.
type Moment struct {
	Name string    `json:"name"`
	TS   float64   `json:"t_s"` // seconds from T0
	Time time.Time `json:"time"`
}

// VerifyState is how far the verification is.
type VerifyState struct {
	HeldS   float64  `json:"held_s"` // good service without the vendor so far
	HoldS   float64  `json:"hold_s"`
	N       int64    `json:"n"` // requests in the window
	MinN    int64    `json:"min_n"`
	Success *float64 `json:"success"`
	P99ms   *float64 `json:"p99_ms"`
	LimitMs float64  `json:"limit_ms"` // what the P99 has to stay under
}

// DrillRequests counts what clients asked and vendors were asked since T0.
type DrillRequests struct {
	Total      int64    `json:"total"`
	OK         int64    `json:"ok"`
	Failed     int64    `json:"failed"`
	FailedOver int64    `json:"failed_over"`
	Attempts   int64    `json:"attempts"`
	CutStreams int64    `json:"cut_streams"`
	Lost       []string `json:"lost"` // ids of failed requests
}

// Report is the record of a drill.
type Report struct {
	ID           string             `json:"id"`
	Scenario     string             `json:"scenario"`
	Vendor       string             `json:"vendor"`
	Fault        FaultSpec          `json:"fault"`
	Verdict      string             `json:"verdict"`
	Reason       string             `json:"reason"`
	Who          string             `json:"who"`
	Environment  string             `json:"environment"`
	Started      time.Time          `json:"started"`
	Ended        *time.Time         `json:"ended"`
	ConfigDigest string             `json:"config_digest"`
	TargetS      float64            `json:"target_s"`
	BoundS       float64            `json:"bound_s,omitempty"` // the scenario's own, where it is tighter than the target
	CutoverS     *float64           `json:"cutover_s"`
	HurtS        float64            `json:"hurt_s"`
	Phases       []Moment           `json:"phases"`
	Hypothesis   []Bound            `json:"hypothesis"`
	Requests     DrillRequests      `json:"requests"`
	Latency      map[string]Latency `json:"latency"` // before, during, after: clients' first tokens
	Series       []Point            `json:"series"`
	Weights      []WeightsAt        `json:"weights"`
	Exercised    []string           `json:"exercised"`
	NotExercised []string           `json:"not_exercised"`
	Note         string             `json:"note"`
	Ticket       string             `json:"ticket"`
	Previous     *Previous          `json:"previous"`
	Files        map[string]string  `json:"files"` // json, markdown, html: paths
	Cost         DrillCost          `json:"cost"`
	Chain        Chain              `json:"chain"`

	Judge      string             `json:"judge"`
	Incident   bool               `json:"incident"`
	Preflight  []Check            `json:"preflight"`
	Steps      []StepState        `json:"steps"`
	Checklist  []Task             `json:"checklist"`
	Baseline   *Latency           `json:"baseline"`
	FailbackS  *float64           `json:"failback_s"` // from the restore until its weight was inside its band; null: not seen
	Failback   string             `json:"failback"`   // passed, failed, or "" not judged
	Comparison []Previous         `json:"comparison"` // up to five earlier runs, newest first
	Trend      string             `json:"trend"`      // in words, "" too few runs
	Witness    *WitnessResult     `json:"witness"`
	Vendors    map[string]Phased  `json:"vendors"`   // first tokens by vendor
	Recording  string             `json:"recording"` // path, "" none
	Versions   map[string]string  `json:"versions"`
	Extra      map[string]float64 `json:"extra"` // a scenario's own figures: spike, story
}

// Phased is a vendor's first tokens before, during and after.
type Phased struct {
	Before Latency `json:"before"`
	During Latency `json:"during"`
	After  Latency `json:"after"`
}

// DrillCost is what a drill cost more than the same time without it would have.
type DrillCost struct {
	Extra *float64 `json:"extra"` // in the ledger's currency; null: unpriced
}

// Chain makes a change to an older record show.
type Chain struct {
	Previous string `json:"previous"` // sha256 of the record before
	SHA256   string `json:"sha256"`   // of this one, without this field
}

// Bound is one thing a drill asks for.
type Bound struct {
	Name string `json:"name"`
	Want string `json:"want"`
	Got  string `json:"got"`
	OK   bool   `json:"ok"`
}

// Point is one second of a drill.
type Point struct {
	TS       float64            `json:"t_s"`
	Requests int64              `json:"requests"`
	Failed   int64              `json:"failed"`
	Attempts map[string]int64   `json:"attempts"` // begun, by vendor
	Share    map[string]float64 `json:"share"`    // percent
	P50ms    map[string]float64 `json:"p50_ms"`   // first tokens of that second, by vendor; absent: none
	P90ms    map[string]float64 `json:"p90_ms"`
	P99ms    map[string]float64 `json:"p99_ms"`
	Extra    map[string]float64 `json:"extra,omitempty"` // a scenario's own figures of that second: spike
}

// WeightsAt is the weights from a moment on.
type WeightsAt struct {
	TS      float64            `json:"t_s"`
	Weights map[string]float64 `json:"weights"`
}

// Previous is an earlier run of the same scenario on the same vendor.
type Previous struct {
	ID       string    `json:"id"`
	CutoverS *float64  `json:"cutover_s"`
	Verdict  string    `json:"verdict"`
	Started  time.Time `json:"started"`
}

// Tally is what was counted since the engine started: differences of two
// tallies are exact for the time between them.
type Tally struct {
	Time       time.Time     `json:"time"`
	Totals     Totals        `json:"totals"`
	CutStreams int64         `json:"cut_streams"` // interactive streams broken after the commit point
	FirstToken []Bucket      `json:"first_token"` // clients' first tokens of streams, cumulative
	Vendors    []VendorTally `json:"vendors"`
	Lost       []string      `json:"lost"` // ids of the last failed requests, oldest first, at most 200
}

// Bucket is one bucket of a cumulative histogram, in the numbering of the
// engine's windows.
type Bucket struct {
	Index int    `json:"i"`
	N     uint64 `json:"n"`
}

// VendorTally is one vendor's part of a Tally.
type VendorTally struct {
	Name        string    `json:"name"`
	Begun       int64     `json:"begun"` // attempts begun, trials and probes apart
	LastBegun   time.Time `json:"last_begun"`
	Faults      int64     `json:"faults"`
	State       string    `json:"state"`
	StateSince  time.Time `json:"state_since"`
	Weight      float64   `json:"weight"`
	WeightSince time.Time `json:"weight_since"` // when the weight last fell
	FirstToken  []Bucket  `json:"first_token"`  // of its streams, cumulative
	FirstFault  time.Time `json:"first_fault"`  // first bad attempt since it last was healthy; zero: none
}

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
	CutoverS *float64      `json:"cutover_s"` // null until proven
	Phases   []Moment      `json:"phases"`    // reached ones, in their order
	Verdict  *string       `json:"verdict"`   // null while it runs
	Reason   string        `json:"reason"`
	Started  time.Time     `json:"started"`
	Until    *time.Time    `json:"until"` // when the fault ends by itself; null once it has ended
	Requests DrillRequests `json:"requests"`
	Verify   *VerifyState  `json:"verify"` // progress of verification, null before it
	HurtS    float64       `json:"hurt_s"` // seconds in which clients were hurt
	Record   string        `json:"record"` // path of the record, "" while none is written
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
	Files        map[string]string  `json:"files"` // json, markdown: paths
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
}

// WeightsAt is the weights from a moment on.
type WeightsAt struct {
	TS      float64            `json:"t_s"`
	Weights map[string]float64 `json:"weights"`
}

// Previous is the last run of the same scenario on the same vendor.
type Previous struct {
	ID       string   `json:"id"`
	CutoverS *float64 `json:"cutover_s"`
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
}

package control

import "time"

// The questions about money.
type (
	// CostsOf asks for the ledger from Since on: *Costs.
	CostsOf struct {
		Since time.Time // zero: the last 24 hours
		Until time.Time // zero: now
	}
	// LeverageOf asks what two vendors are worth at the table: *Leverage.
	LeverageOf struct {
		For   string    // a vendor's name: the copy for it, where the others are masked; "": the internal one
		Since time.Time // zero: the last 30 days
		Until time.Time // zero: now
		Terms Terms     // what overrides the configuration's
	}
)

func (CostsOf) query()    {}
func (LeverageOf) query() {}

// Spend is what a running engine has spent since it started, for the overview.
// Figures are in Currency; null: no price is known.
type Spend struct {
	Currency string   `json:"currency"`
	Total    *float64 `json:"total"`
	PerHour  *float64 `json:"per_hour"` // the run rate, as RunRate has it
	OverS    float64  `json:"over_s"`   // of how long a time
	Unpriced int64    `json:"unpriced"` // attempts whose price is not known: they are in no figure
}

// Costs is the ledger over a time. Totals and all By lists are of what clients
// asked; Apart says how much of that failed, fell into drills or was estimated,
// and, on top of it, what probes and stress tests used. Money is in Currency;
// where no price is known it is null and Unpriced counts the attempts.
type Costs struct {
	Since    time.Time   `json:"since"`
	Until    time.Time   `json:"until"`
	Currency string      `json:"currency"`
	Timezone string      `json:"timezone"` // of the days
	Totals   CostGroup   `json:"totals"`
	ByVendor []CostGroup `json:"by_vendor"`
	ByModel  []CostGroup `json:"by_model"` // as clients call them
	ByLane   []CostGroup `json:"by_lane"`
	ByKey    []CostGroup `json:"by_key"` // clients by name
	ByDay    []CostGroup `json:"by_day"`
	Apart    CostsApart  `json:"apart"`

	RunRate   RunRate     `json:"run_rate"`
	ByHour    []HourCost  `json:"by_hour"`
	ByStep    []HourCost  `json:"by_step"` // the same by the finest steps that are still to be read as a curve; empty where those are hours
	StepS     float64     `json:"step_s"`
	Usage     []UsageOf   `json:"usage"`     // what vendors reported against what we estimated
	Prices    []PriceNow  `json:"prices"`    // the list prices in force at Until
	Missing   int64       `json:"missing"`   // attempts that the ledger had no room for: figures are too low
	Simulated bool        `json:"simulated"` // of simulated vendors only
	Recorded  []time.Time `json:"recorded"`  // the first and last minute with an entry; empty without one
}

// CostGroup is one line of the ledger. Of Vendor, Model, Lane, Key and Day the
// one by which it is grouped is set.
type CostGroup struct {
	Vendor string `json:"vendor,omitempty"`
	Model  string `json:"model,omitempty"`
	Lane   string `json:"lane,omitempty"`
	Key    string `json:"key,omitempty"`
	Day    string `json:"day,omitempty"`

	Requests     int64 `json:"requests"` // what clients asked; by vendor: what it answered
	Attempts     int64 `json:"attempts"` // what vendors were asked
	Failed       int64 `json:"failed"`   // attempts that did not answer
	InputTokens  int64 `json:"input_tokens"`
	CachedTokens int64 `json:"cached_tokens"` // part of the input
	OutputTokens int64 `json:"output_tokens"`
	Unpriced     int64 `json:"unpriced"`

	Cost             *float64 `json:"cost"`
	PerMillionInput  *float64 `json:"per_million_input"` // effective: cached tokens and batch discounts included
	PerMillionOutput *float64 `json:"per_million_output"`
	PerMillion       *float64 `json:"per_million"` // input and output together
	PerSuccess       *float64 `json:"per_success"` // all that was spent over the answers that it bought

	Answered   int64    `json:"answered"`    // attempts that answered
	CachedPart *float64 `json:"cached_part"` // of the input, 0-1
	FailedCost *float64 `json:"failed_cost"` // part of Cost
	DrillCost  *float64 `json:"drill_cost"`  // part of Cost: while a drill's fault was in
	Estimated  int64    `json:"estimated"`   // attempts whose tokens are estimated
}

// CostsApart is what is counted apart. Failed, Drills and Estimated are parts
// of the totals; probes and stress tests are not in them.
type CostsApart struct {
	Failed    CostGroup `json:"failed"`
	Probes    CostGroup `json:"probes"`
	Drills    CostGroup `json:"drills"`
	Stress    CostGroup `json:"stress"`
	Estimated CostGroup `json:"estimated"`
}

// RunRate is what the present spending comes to: what clients' attempts cost in
// the last 10 minutes, or since the engine started if that is shorter. It is the
// same figure as the snapshot's. Of a time that is past, or of a state in which
// no engine runs, it is that of its last hour, from the quarter in which that
// began. OverS says which.
type RunRate struct {
	OverS    float64  `json:"over_s"`
	PerHour  *float64 `json:"per_hour"`
	PerDay   *float64 `json:"per_day"`
	PerMonth *float64 `json:"per_month"` // of 30 days
}

// HourCost is the spending of an hour, or of another step, by vendor; null where
// nothing is priced.
type HourCost struct {
	Hour time.Time           `json:"hour"` // its begin
	Cost map[string]*float64 `json:"cost"`
}

// UsageOf holds a vendor's own counts of tokens against our estimates of the
// same answers, where both are known, and says how much was estimated only.
type UsageOf struct {
	Vendor         string   `json:"vendor"`
	Reported       int64    `json:"reported"` // attempts
	ReportedInput  int64    `json:"reported_input"`
	ReportedOutput int64    `json:"reported_output"`
	ExpectedInput  int64    `json:"expected_input"` // our estimate of the same attempts
	ExpectedOutput int64    `json:"expected_output"`
	RatioInput     *float64 `json:"ratio_input"` // reported over expected
	RatioOutput    *float64 `json:"ratio_output"`
	Estimated      int64    `json:"estimated"` // attempts without a usable report
	EstimatedIn    int64    `json:"estimated_input"`
	EstimatedOut   int64    `json:"estimated_output"`
}

// PriceNow is the list price in force, per million tokens in the ledger's
// currency, for short inputs; null is unknown.
type PriceNow struct {
	Vendor      string   `json:"vendor"`
	Model       string   `json:"model"` // "": of all models without a price of their own
	Input       *float64 `json:"input"`
	CachedInput *float64 `json:"cached_input"`
	Output      *float64 `json:"output"`
	Batch       *float64 `json:"batch"` // multiplier in the batch lane
	Note        string   `json:"note"`  // why it is this one: from, hours, tiers
}

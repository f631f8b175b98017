package stress

import "time"

// Verdicts of a run and of a level.
const (
	OK            = "OK"
	Limited       = "LIMITED"        // a rate limit was measured, not the engine
	ClientLimited = "CLIENT-LIMITED" // this process was, and not the vendor
	Unstable      = "UNSTABLE"       // the first half of the window differs from the second
	TooFew        = "TOO-FEW"        // too few samples for a P90 with an interval
)

// Report is one stress test. Times are ms where a name ends in _ms, rates per
// second, parts 0 to 1; what is not known is null. Its JSON is written by every
// version from 1 on; members are added and not renamed.
type Report struct {
	ID       string            `json:"id"`
	Started  time.Time         `json:"started"`
	Ended    time.Time         `json:"ended"`
	Version  string            `json:"version"`
	Stopped  string            `json:"stopped"` // why it ended early; ""
	Plan     PlanInfo          `json:"plan"`
	Currency string            `json:"currency"`
	Cost     *float64          `json:"cost"` // null: nothing is priced
	Runs     []RunReport       `json:"runs"`
	Formulas map[string]string `json:"formulas"`
}

// PlanInfo is what was asked for.
type PlanInfo struct {
	Concurrency []int     `json:"concurrency"`
	Rates       []float64 `json:"rates"`
	Arrivals    string    `json:"arrivals"`
	DurationS   float64   `json:"duration_s"`
	WarmupS     float64   `json:"warmup_s"`
	Kind        string    `json:"kind"`
	Cache       string    `json:"cache"`
	MaxTokens   int       `json:"max_tokens"`
	Prompts     int       `json:"prompts"`
	Seed        uint64    `json:"seed"`
	Keys        int       `json:"keys"`
	Order       string    `json:"order"` // of the vendors' blocks
	Budget      float64   `json:"budget"`
	SLO         SLOInfo   `json:"slo"`
}

// SLOInfo is the SLO in ms; null bounds nothing.
type SLOInfo struct {
	P90ms      *float64 `json:"first_token_p90_ms"`
	P99ms      *float64 `json:"first_token_p99_ms"`
	PerTokenms *float64 `json:"per_token_ms"`
	Totalms    *float64 `json:"total_ms"`
}

// RunReport is one vendor's part.
type RunReport struct {
	Vendor    string   `json:"vendor"`
	Label     string   `json:"label"`
	Model     string   `json:"model"`
	Simulated bool     `json:"simulated"`
	Verdict   string   `json:"verdict"`
	Reason    string   `json:"reason"`
	Stopped   string   `json:"stopped"` // why its ladder ended early; ""
	SLOMet    *bool    `json:"slo_met"`
	Cost      *float64 `json:"cost"`

	Probe       *Probe       `json:"probe"`
	Levels      []Level      `json:"levels"`
	AtLimit     *Level       `json:"at_limit"` // at 0.9 of the limit
	Degradation *Degradation `json:"degradation"`
	Clean       *Degradation `json:"degradation_below_limit"` // of the levels that measure the engine, where others do not
	Limiter     *Limiter     `json:"limiter"`
	Ask         string       `json:"ask"` // what to ask the vendor for
	Notes       []string     `json:"notes"`
	Published   []Comparison `json:"published"`
	Gaps        []Gap        `json:"p99_over_p90"`
}

// Level is one step of the ladder, of one kind of arrivals.
type Level struct {
	Arrivals    string   `json:"arrivals"`
	Concurrency int      `json:"concurrency"` // of the closed loop, or of the one whose rate this repeats
	Rate        *float64 `json:"rate"`        // of an open loop
	Verdict     string   `json:"verdict"`
	Reason      string   `json:"reason"`
	Partial     bool     `json:"partial"` // it was cut short
	WindowS     float64  `json:"window_s"`

	Requests  int            `json:"requests"` // that were due in the window
	N         int            `json:"n"`        // of them answered well: the samples
	Errors    map[string]int `json:"errors"`   // by outcome
	Reasons   map[string]int `json:"reasons"`  // by the vendor's word
	Dropped   int            `json:"dropped"`  // not sent: this process had too many under way
	InFlight  float64        `json:"in_flight"`
	RPS       float64        `json:"rps"`
	TokensPS  float64        `json:"tokens_per_s"`
	Goodput   *float64       `json:"goodput"`
	GoodRPS   *float64       `json:"goodput_rps"`
	StreamTPS *float64       `json:"stream_tokens_per_s"` // of one stream: 1000 / median per-token time
	SLOMet    *bool          `json:"slo_met"`

	FirstToken   Quantiles `json:"first_token_ms"`
	FirstAnswer  Quantiles `json:"first_answer_ms"`
	PerToken     Quantiles `json:"per_token_ms"`
	ChunkGap     Quantiles `json:"chunk_gap_ms"`
	Total        Quantiles `json:"total_ms"`
	FirstService Quantiles `json:"first_token_service_ms"`
	TotalService Quantiles `json:"total_service_ms"`
	Lag          Quantiles `json:"schedule_lag_ms"`
	Connect      Quantiles `json:"connect_ms"`

	Reused    *float64 `json:"connections_reused"`
	ClientCPU *float64 `json:"client_cpu"`
	Tokens    Tokens   `json:"tokens"`
	Cost      *float64 `json:"cost"`
	Bursts    int      `json:"answers_at_once"` // streams whose events all came together
	Seconds   []Second `json:"series"`

	Histograms map[string]string `json:"histograms"` // HdrHistogram, compressed, base64; µs

	samples []sample
}

// Tokens are counts over the samples, and their means.
type Tokens struct {
	Input     int     `json:"input"`
	Cached    int     `json:"cached"`
	Output    int     `json:"output"`
	MeanIn    float64 `json:"mean_input"`
	MeanOut   float64 `json:"mean_output"`
	Estimated bool    `json:"estimated"` // the vendor gave no usage for some
}

// Quantiles of one metric in ms. An interval is null where the samples are too few for
// one, and P99 below 300 of them.
type Quantiles struct {
	N     int         `json:"n"`
	Mean  *float64    `json:"mean"`
	P50   *float64    `json:"p50"`
	P90   *float64    `json:"p90"`
	P95   *float64    `json:"p95"`
	P99   *float64    `json:"p99"`
	Max   *float64    `json:"max"`
	P50CI *[2]float64 `json:"p50_ci"`
	P90CI *[2]float64 `json:"p90_ci"`
	P99CI *[2]float64 `json:"p99_ci"`
}

// Second is one second of a level's window.
type Second struct {
	T       int      `json:"t"`
	Sent    int      `json:"sent"`
	OK      int      `json:"ok"` // ended well in it
	Refused int      `json:"refused"`
	Failed  int      `json:"failed"`
	P50ms   *float64 `json:"first_token_p50_ms"`
}

// Degradation is how many times worse things get from one level to another. An
// interval is in CI under the figure's name.
type Degradation struct {
	From     int    `json:"from"`
	To       int    `json:"to"`
	Withheld string `json:"withheld"` // why there are no figures; "": there are

	FirstP50    *float64 `json:"first_token_p50"`
	FirstP90    *float64 `json:"first_token_p90"`
	FirstP99    *float64 `json:"first_token_p99"`
	PerTokenP50 *float64 `json:"per_token_p50"`
	PerTokenP90 *float64 `json:"per_token_p90"`
	PerTokenP99 *float64 `json:"per_token_p99"`
	TotalP50    *float64 `json:"total_p50"`
	TotalP90    *float64 `json:"total_p90"`
	TotalP99    *float64 `json:"total_p99"`
	Stream      *float64 `json:"stream"`
	Throughput  *float64 `json:"throughput"` // how many times more answers a second
	Efficiency  *float64 `json:"efficiency"`
	Knee        *int     `json:"knee"`
	KneeWhy     string   `json:"knee_reason"`

	CI     map[string][2]float64 `json:"ci"`
	Struck map[string]float64    `json:"struck"` // what was withheld, for who wants to see the limiter
}

// Limiter is a limit that was found.
type Limiter struct {
	Type       string   `json:"type"` // requests, tokens, concurrency or slope
	Value      float64  `json:"value"`
	Unit       string   `json:"unit"`  // 1/s, 1/min, or "" of concurrency
	Scope      string   `json:"scope"` // key, account or unknown
	Silent     bool     `json:"silent"`
	Confidence float64  `json:"confidence"`
	Evidence   []string `json:"evidence"`
}

// Probe is the look for a limit before the ladder.
type Probe struct {
	Requests    int      `json:"requests"`
	Seconds     float64  `json:"seconds"`
	NeededRPS   float64  `json:"needed_rps"`  // what the ladder's top may ask
	ReachedRPS  float64  `json:"reached_rps"` // what the probe got through
	BaseTotalms *float64 `json:"base_total_ms"`
	Found       bool     `json:"found"`
	Said        string   `json:"said"` // for people
}

// Run is the part of a vendor, nil if it has none.
func (rep *Report) Run(vendor string) *RunReport {
	for i := range rep.Runs {
		if rep.Runs[i].Vendor == vendor {
			return &rep.Runs[i]
		}
	}
	return nil
}

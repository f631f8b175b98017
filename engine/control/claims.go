package control

import "time"

// The questions about what is said to vendors, and by them.
type (
	// DossierOf asks for a vendor's month: *Dossier.
	DossierOf struct {
		Vendor string
		Month  string // 2026-11; "": the present one
	}
	// LinesOf asks for what a vendor's bill should say: []BillLine.
	LinesOf struct {
		Vendor       string
		Since, Until time.Time
		Timezone     string // of the days; "": the ledger's
	}
)

func (DossierOf) query() {}
func (LinesOf) query()   {}

// Dossier is a vendor's month, to mail to it. What faults that we injected have
// done is not in it.
type Dossier struct {
	Vendor    string    `json:"vendor"`
	Label     string    `json:"label"`
	Month     string    `json:"month"`
	Timezone  string    `json:"timezone"` // of the month
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Simulated bool      `json:"simulated"`

	Attempts     int64       `json:"attempts"` // that the vendor answered, failed or refused
	Answered     int64       `json:"answered"`
	Faults       int64       `json:"faults"`
	Refused      int64       `json:"refused"`      // for a limit
	Availability *float64    `json:"availability"` // answered / (answered + faults), 0-1
	Minutes      int64       `json:"minutes"`      // with traffic
	Bad          []BadMinute `json:"bad"`
	Rule         string      `json:"rule"` // what a bad minute is
	FirstToken   Latency     `json:"first_token"`
	Whole        Latency     `json:"whole"`
	Reasons      []Reason    `json:"reasons"`
	Requests     []Refusal   `json:"requests"` // the last ones, newest first
	More         int64       `json:"more"`     // failed attempts beyond those
	Limits       []LimitSay  `json:"limits"`
	Notes        []string    `json:"notes"`
}

// BadMinute is a minute in which too much failed.
type BadMinute struct {
	Time     time.Time `json:"time"`
	Attempts int64     `json:"attempts"` // answered or failed by the vendor
	Faults   int64     `json:"faults"`
	Refused  int64     `json:"refused"`
}

// Reason is how often attempts failed for one reason.
type Reason struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
	Status  int    `json:"status"` // 0: none came
	Count   int64  `json:"count"`
}

// Refusal is one failed attempt, with the ids to look it up by.
type Refusal struct {
	Time     time.Time `json:"time"`
	Request  string    `json:"request_id"`
	VendorID string    `json:"vendor_request_id"`
	Model    string    `json:"model"` // as the vendor calls it
	Outcome  string    `json:"outcome"`
	Reason   string    `json:"reason"`
	Status   int       `json:"status"`
	AfterMs  float64   `json:"after_ms"`
}

// BillLine is what a vendor's bill should say of one day and model.
type BillLine struct {
	Day          string   `json:"day"`
	Model        string   `json:"model"` // as the vendor calls it
	Name         string   `json:"name"`  // as clients do
	Attempts     int64    `json:"attempts"`
	Answered     int64    `json:"answered"`
	InputTokens  int64    `json:"input_tokens"`
	CachedTokens int64    `json:"cached_tokens"`
	OutputTokens int64    `json:"output_tokens"`
	Cost         *float64 `json:"cost"` // null: unpriced
	Unpriced     int64    `json:"unpriced"`
	Estimated    int64    `json:"estimated"` // tokens of the above that are estimates
	Stress       int64    `json:"stress"`    // attempts of stress tests among them
}

// The questions about the store's file. They are answered when it is done.
type (
	// Vacuum gives back the room of what was removed: *Vacuumed.
	Vacuum struct{}
	// CopyStore writes a copy of the file into the state directory: *StoreCopy.
	CopyStore struct{}
)

func (Vacuum) query()    {}
func (CopyStore) query() {}

// Vacuumed is the file's size in bytes before and after.
type Vacuumed struct {
	Before int64 `json:"before"`
	After  int64 `json:"after"`
}

// StoreCopy is where the copy is.
type StoreCopy struct {
	Path string `json:"path"`
}

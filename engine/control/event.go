package control

import "time"

// Event is an entry of the journal.
type Event struct {
	Seq    int64          `json:"seq"`
	Time   time.Time      `json:"time"`
	Level  string         `json:"level"`  // info, warn or crit
	Kind   string         `json:"kind"`   // weights, health, limit, drill, fault, account, config, operator or store
	Vendor string         `json:"vendor"` // "" where none is meant
	Who    string         `json:"who"`    // controller, operator:NAME or drill:ID
	Text   string         `json:"text"`
	Data   map[string]any `json:"data"`
}

// The levels of events.
const (
	Info = "info"
	Warn = "warn"
	Crit = "crit"
)

// Controller is the Who of what baton does by itself.
const Controller = "controller"

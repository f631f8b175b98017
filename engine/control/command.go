package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Command is something done to baton. The set is closed: the types below.
type Command interface {
	// Line is the same command for the shell, "baton drain lanyun" for example.
	Line() string
	// meta gives who sends it and against which revision.
	meta() *Meta
}

// Meta is who sends a command. By is a person's name, or "drill:ID".
type Meta struct {
	By       string `json:"by,omitempty"`
	Revision *int64 `json:"revision,omitempty"` // given and stale: refused

	after int64 // the revision that it made
}

func (m *Meta) meta() *Meta { return m }

// byMax bounds a name, in bytes.
const byMax = 64

// Who is the Who of events that come of the command.
func (m *Meta) Who() string {
	switch {
	case strings.HasPrefix(m.By, "drill:"), m.By == Controller:
		return m.By
	case m.By == "":
		return "operator:unknown"
	}
	return "operator:" + m.By
}

// SetWeights pins the weights.
type SetWeights struct {
	Meta
	Weights  map[string]float64 `json:"weights"` // percent, by vendor; they sum to 100
	For      Duration           `json:"for,omitempty"`
	Reason   string             `json:"reason,omitempty"`
	Override bool               `json:"override,omitempty"` // also against health
}

// ReleaseWeights gives the weights back to the controller.
type ReleaseWeights struct{ Meta }

// FaultSpec is a failure to inject into the path to a vendor.
type FaultSpec struct {
	Kind     string   `json:"kind"`
	Percent  *float64 `json:"percent,omitempty"` // of attempts; absent: 100
	For      Duration `json:"for,omitempty"`     // 0: 15m
	Ramp     Duration `json:"ramp,omitempty"`
	Lane     string   `json:"lane,omitempty"`
	Delay    Duration `json:"delay,omitempty"`     // slow_first_token
	Rate     float64  `json:"rate,omitempty"`      // slow_drip: events per second
	After    *int     `json:"after,omitempty"`     // cut_stream, stall_stream, garbage: events
	InFlight string   `json:"in_flight,omitempty"` // finish or cut
}

// SetFault injects a fault.
type SetFault struct {
	Meta
	Vendor string `json:"-"`
	FaultSpec
}

// ClearFault restores a vendor: its fault ends, and so does its ejection.
type ClearFault struct {
	Meta
	Vendor string `json:"-"`
}

// Drain stops new traffic to a vendor; Now also cuts its streams.
type Drain struct {
	Meta
	Vendor string `json:"-"`
	Now    bool   `json:"now"`
}

// Undrain lets traffic to a vendor again.
type Undrain struct {
	Meta
	Vendor string `json:"-"`
}

// Enable ends a disabling.
type Enable struct {
	Meta
	Vendor string `json:"-"`
}

// SetLimit sets a vendor's limit by hand, in requests per second.
type SetLimit struct {
	Meta
	Vendor string  `json:"-"`
	RPS    float64 `json:"rps"`
}

// ForgetLimit forgets what was learned or set of a vendor's limit.
type ForgetLimit struct {
	Meta
	Vendor string `json:"-"`
}

// StartDrill runs a scenario.
type StartDrill struct {
	Meta
	ID        string   `json:"id,omitempty"` // "": made by whoever serves the command
	Scenario  string   `json:"scenario"`
	Vendor    string   `json:"vendor,omitempty"`
	Fault     string   `json:"fault,omitempty"`
	For       Duration `json:"for,omitempty"`
	Note      string   `json:"note,omitempty"`
	Ticket    string   `json:"ticket,omitempty"`
	Countdown Duration `json:"countdown,omitempty"` // before the fault, to cancel in
	Force     bool     `json:"force,omitempty"`     // against a blackout and a recent run; never against preflight
	Witness   string   `json:"witness,omitempty"`   // path of the log of an observer apart
}

// AbortDrill ends the drill that runs and restores.
type AbortDrill struct{ Meta }

// DismissDrill takes an ended drill off the screen.
type DismissDrill struct{ Meta }

// MarkDrill is a person's keypress that the drill which runs waits for: in an
// external one, that the vendor has been cut now (or is back).
type MarkDrill struct {
	Meta
	Task int `json:"task,omitempty"` // number of a line of the checklist, from 1; 0: what the drill waits for
}

// CancelScheduled takes one occurrence off the schedule.
type CancelScheduled struct {
	Meta
	ID string `json:"-"`
}

// DismissIncident takes an incident that is over off the screen.
type DismissIncident struct{ Meta }

// SetFailover says who moves traffic away from a vendor that is down. Manual is
// a lease: breakers alarm, people move the weights, and it ends by itself.
type SetFailover struct {
	Meta
	Mode string   `json:"mode"`          // auto or manual
	For  Duration `json:"for,omitempty"` // 0: 30m; at most 4h
}

// SetSim changes a simulated vendor while it runs: in DEMO only.
type SetSim struct {
	Meta
	Vendor string          `json:"-"`
	Knobs  json.RawMessage `json:"-"` // the whole body; which there are is the simulator's to say
}

// MarshalJSON writes the knobs, and who turns them.
func (c *SetSim) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	if len(c.Knobs) > 0 {
		if err := json.Unmarshal(c.Knobs, &fields); err != nil {
			return nil, err
		}
	}
	if c.By != "" {
		fields["by"] = c.By
	}
	if c.Revision != nil {
		fields["revision"] = *c.Revision
	}
	return json.Marshal(fields)
}

// UnmarshalJSON takes out what every command has; the rest are the knobs.
func (c *SetSim) UnmarshalJSON(b []byte) error {
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	own, err := json.Marshal(map[string]json.RawMessage{"by": fields["by"], "revision": fields["revision"]})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(own, &c.Meta); err != nil {
		return err
	}
	delete(fields, "by")
	delete(fields, "revision")
	c.Knobs, err = json.Marshal(fields)
	return err
}

// turned writes the knobs as the command line does, " errors=0.2 first_token=2s",
// sorted by name.
func (c *SetSim) turned() string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(c.Knobs, &fields) != nil {
		return ""
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var text string
		if json.Unmarshal(fields[name], &text) != nil {
			text = string(fields[name])
		}
		b.WriteString(" " + plain(name, 64) + "=" + plain(text, 64))
	}
	return b.String()
}

// Reload reads the configuration again.
type Reload struct{ Meta }

// Line and its kin are the commands for the shell.
func (c *SetWeights) Line() string {
	s := "baton weights " + FormatWeights(c.Weights)
	if c.For > 0 {
		s += " --for " + c.For.String()
	}
	if c.Reason != "" {
		s += " --reason " + strconv.Quote(c.Reason)
	}
	if c.Override {
		s += " --override"
	}
	return s
}
func (c *ReleaseWeights) Line() string { return "baton weights auto" }
func (c *SetFault) Line() string {
	return fmt.Sprintf("PUT /api/v1/vendors/%s/fault %s", c.Vendor, c.Kind)
}
func (c *ClearFault) Line() string { return "baton restore " + c.Vendor }
func (c *Drain) Line() string {
	if c.Now {
		return "baton drain " + c.Vendor + " --now"
	}
	return "baton drain " + c.Vendor
}
func (c *Undrain) Line() string     { return "baton undrain " + c.Vendor }
func (c *Enable) Line() string      { return "baton enable " + c.Vendor }
func (c *SetLimit) Line() string    { return fmt.Sprintf("baton limits set %s %g", c.Vendor, c.RPS) }
func (c *ForgetLimit) Line() string { return "baton limits forget " + c.Vendor }
func (c *StartDrill) Line() string {
	if c.Scenario != "kill" {
		return "baton drill run " + c.Scenario
	}
	s := "baton kill " + c.Vendor
	if c.Fault != "" && c.Fault != "refuse" {
		s += " --fault " + c.Fault
	}
	if c.For > 0 && time.Duration(c.For) != 15*time.Minute {
		s += " --for " + c.For.String()
	}
	return s
}
func (c *AbortDrill) Line() string   { return "baton drill abort" }
func (c *DismissDrill) Line() string { return "DELETE /api/v1/drills/shown" }
func (c *Reload) Line() string       { return "POST /api/v1/reload" }
func (c *MarkDrill) Line() string {
	if c.Task > 0 {
		return "baton drill mark " + strconv.Itoa(c.Task)
	}
	return "baton drill mark"
}
func (c *CancelScheduled) Line() string { return "baton drill cancel " + c.ID }
func (c *DismissIncident) Line() string { return "DELETE /api/v1/incidents/shown" }
func (c *SetFailover) Line() string {
	s := "baton failover " + c.Mode
	if c.Mode == "manual" && c.For > 0 {
		s += " --for " + c.For.String()
	}
	return s
}

func (c *SetSim) Line() string {
	return "baton sim set " + c.Vendor + c.turned()
}

// FormatWeights writes weights as the command line does: "lanyun=70 bailian=30",
// larger ones first.
func FormatWeights(w map[string]float64) string {
	names := make([]string, 0, len(w))
	for n := range w {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		if w[names[i]] != w[names[j]] {
			return w[names[i]] > w[names[j]]
		}
		return names[i] < names[j]
	})
	for i, n := range names {
		names[i] = n + "=" + strconv.FormatFloat(w[n], 'f', -1, 64)
	}
	return strings.Join(names, " ")
}

// WhoOf is the Who of events that come of cmd.
func WhoOf(cmd Command) string { return cmd.meta().Who() }

// Sender names who sends cmd, where it does not say so itself.
func Sender(cmd Command, by string) {
	if m := cmd.meta(); m.By == "" {
		m.By = by
	}
}

// RevisionAfter is the revision that cmd made, 0 before it is done. Somebody
// else's later change is not in it: a next command made against it is refused
// if there was one.
func RevisionAfter(cmd Command) int64 { return cmd.meta().after }

// Made says that cmd made a revision: for whoever carries it out.
func Made(cmd Command, revision int64) { cmd.meta().after = revision }

// plain is s without control characters, which a terminal would obey, and at
// most n bytes of it.
func plain(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, s)
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// tidy takes out of a command what no text of a person's should hold.
func tidy(cmd Command) {
	cmd.meta().By = plain(cmd.meta().By, byMax)
	const any = 1 << 20
	switch c := cmd.(type) {
	case *SetWeights:
		c.Reason = plain(c.Reason, any)
	case *StartDrill:
		c.Note, c.Ticket, c.Witness = plain(c.Note, any), plain(c.Ticket, any), plain(c.Witness, any)
	}
}

package weights

import (
	"math"
	"time"
)

// Kind indexes measures: streams by their first token, whole answers by their time. The two are never mixed.
type Kind int

// The kinds, and how many there are.
const (
	Stream Kind = iota
	Whole
	Kinds = 2
)

// State is what health says about a vendor, as far as weights care.
type State uint8

// The states. Down is ejected; Out is drained, disabled or a candidate: it may take nothing and is nobody's
// weight.
const (
	Well State = iota
	Ramp
	Down
	Out
)

func (s State) living() bool { return s == Well || s == Ramp }

// Latency is one kind's latency at one vendor over the last 10, 60 and 300 s.
type Latency struct {
	P90        [3]float64 // seconds, right-censored by what is still in flight; NaN unknown
	N          [3]int     // samples in each window
	Requests60 int        // requests of this kind over 60 s, to weigh kinds against each other
}

// Measure is everything that the law is told about one vendor at one tick. Nonsense (NaN, negatives, a band
// the wrong way round) is read as unknown or clamped; it never reaches a weight.
type Measure struct {
	Name    string        // identity: order and number of measures may change between ticks
	Label   string        // what people call it, for reasons; "": its name
	Base    float64       // configured weight, a fraction
	Band    [2]float64    // configured band, fractions; [0, 0] keeps the vendor at 0
	State   State         // from health
	RampFor time.Duration // since the ramp began; only read in Ramp
	RampLen time.Duration // the ramp's whole length

	Latency                              [Kinds]Latency
	Faults10, Known10, Faults60, Known60 int // vendor faults, and attempts that ended ok or as a vendor fault

	FirstTokenP90 float64 // seconds over 60 s, NaN unknown: against the SLO
	Limited       bool    // limited now, so not well
	Cap           float64 // share of all traffic it can take, +Inf none
	Measured      bool    // a limit of it was learned, whether Cap is less than all or not
}

// Pin is a set of weights that a person holds. Its expiry is the owner's.
type Pin struct {
	Weights  map[string]float64 // fractions by name; a missing name is 0; normalised if they do not sum to 1
	Override bool               // exact even where a vendor is Down or Out
}

// Decision is what a tick came to. All slices are in the order of the measures, and the caller's to keep.
type Decision struct {
	Weights []float64 // sum to 1; all 0 only when every vendor is Out
	Targets []float64 // where the law is going, also while a pin holds Weights
	Reasons []string  // why a weight moved or is held; "" when there is nothing to say
	Moved   bool      // some weight is more than 0.05 points from where it was when Moved was last true
	Panic   bool      // every vendor is down: all at their configured weights
}

func clampFinite(x, lo, hi float64) float64 {
	if math.IsNaN(x) || x < lo {
		return lo
	}
	return math.Min(x, hi)
}

// sane returns m with impossible figures replaced by the nearest harmless reading.
func (m Measure) sane() Measure {
	if math.IsInf(m.Base, 1) {
		m.Base = 0
	}
	m.Base = clampFinite(m.Base, 0, 1e6)
	if math.IsNaN(m.Band[1]) {
		m.Band[1] = 1
	}
	m.Band[0] = clampFinite(m.Band[0], 0, 1)
	m.Band[1] = clampFinite(m.Band[1], m.Band[0], 1)
	if math.IsNaN(m.Cap) || m.Cap <= 0 {
		m.Cap = math.Inf(1)
	}
	if m.State > Out {
		m.State = Out
	}
	m.Known10, m.Known60 = max(m.Known10, 0), max(m.Known60, 0)
	m.Faults10 = min(max(m.Faults10, 0), m.Known10)
	m.Faults60 = min(max(m.Faults60, 0), m.Known60)
	return m
}

// ramped is how far along its ramp a vendor is, 0 to 1; 1 when it is not in one.
func (m *Measure) ramped() float64 {
	if m.State != Ramp || m.RampLen <= 0 {
		return 1
	}
	return clampFinite(float64(m.RampFor)/float64(m.RampLen), 0, 1)
}

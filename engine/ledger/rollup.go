package ledger

import (
	"math"
	"strings"
	"time"
)

// Quarter is what minutes are folded into when they are old: every time zone's
// days begin with one.
const Quarter = 15 * 60

// Flags are the parts of which a row is counted apart.
type Flags uint8

// The flags. The source stands above them.
const (
	FlagFailed    Flags = 1 << iota // did not answer
	FlagEstimated                   // the tokens are ours
	FlagPriced                      // a price was known
	FlagDrill                       // a drill's fault was in
	flagSource    = 4               // bits to the left
)

// Source is whose attempts they are.
func (f Flags) Source() Source { return Source(f >> flagSource) }

// Key is what a row is of.
type Key struct {
	Minute            int64 // unix seconds of its begin, by which the attempts ended
	Vendor, Model, At string
	Lane, Client      string
	Flags             Flags
}

// Sums are a row's figures. Costs are pico-units.
type Sums struct {
	Asked                             int64 // requests that clients made, each with its first attempt
	Attempts, Answered                int64
	Faults, Limited                   int64 // of the attempts: the vendor's fault, and over its limit
	Unpriced                          int64 // of them used something without a known price
	Input, Cached, Output, Reasoning  int64
	CostInput, CostCached, CostOutput int64
	// Of attempts of which both are known: what the vendor reported and what we
	// would have estimated.
	Compared, ReportedIn, ReportedOut, ExpectedIn, ExpectedOut int64
}

// Add adds o.
func (s *Sums) Add(o *Sums) {
	s.Asked += o.Asked
	s.Attempts += o.Attempts
	s.Answered += o.Answered
	s.Faults += o.Faults
	s.Limited += o.Limited
	s.Unpriced += o.Unpriced
	s.Input += o.Input
	s.Cached += o.Cached
	s.Output += o.Output
	s.Reasoning += o.Reasoning
	s.CostInput = plus(s.CostInput, o.CostInput)
	s.CostCached = plus(s.CostCached, o.CostCached)
	s.CostOutput = plus(s.CostOutput, o.CostOutput)
	s.Compared += o.Compared
	s.ReportedIn += o.ReportedIn
	s.ReportedOut += o.ReportedOut
	s.ExpectedIn += o.ExpectedIn
	s.ExpectedOut += o.ExpectedOut
}

// Row is one row of the ledger.
type Row struct {
	Key
	Sums
}

// LatencyKey is what a bucket of latencies is of: streams' first tokens or whole
// answers, counted from the attempt's begin.
type LatencyKey struct {
	Quarter int64 // unix seconds
	Vendor  string
	Stream  bool
	Bucket  int
}

// Rollup is attempts rolled up. The zero value is empty and ready.
type Rollup struct {
	Minutes   map[Key]*Sums
	Latencies map[LatencyKey]int64
}

// Empty says whether there is nothing in it.
func (r *Rollup) Empty() bool { return len(r.Minutes) == 0 && len(r.Latencies) == 0 }

// Add counts an attempt that cost c; drill: while a drill's fault was in. The
// latency of the vendor that has the fault is not its own, and not counted.
func (r *Rollup) Add(a *Attempt, c Cost, drill Drill) {
	if r.Minutes == nil {
		r.Minutes, r.Latencies = map[Key]*Sums{}, map[LatencyKey]int64{}
	}
	k := keyOf(a, c, drill != NoDrill)
	s := r.Minutes[k]
	if s == nil {
		s = new(Sums)
		r.Minutes[k] = s
	}
	one := sumsOf(a, c)
	s.Add(&one)
	if l, ok := latencyOf(a); ok && drill != FaultAtIt {
		r.Latencies[l]++
	}
}

// Merge adds o.
func (r *Rollup) Merge(o *Rollup) {
	if r.Minutes == nil {
		r.Minutes, r.Latencies = map[Key]*Sums{}, map[LatencyKey]int64{}
	}
	for k, s := range o.Minutes {
		if have := r.Minutes[k]; have != nil {
			have.Add(s)
			continue
		}
		own := *s
		r.Minutes[k] = &own
	}
	for k, n := range o.Latencies {
		r.Latencies[k] += n
	}
}

// Fold moves minutes before a time into their quarters.
func (r *Rollup) Fold(before time.Time) {
	for k, s := range r.Minutes {
		if k.Minute >= before.Unix() || k.Minute%Quarter == 0 {
			continue
		}
		delete(r.Minutes, k)
		k.Minute -= k.Minute % Quarter
		if have := r.Minutes[k]; have != nil {
			have.Add(s)
		} else {
			r.Minutes[k] = s
		}
	}
}

func keyOf(a *Attempt, c Cost, drill bool) Key {
	k := Key{
		Minute: a.Ended.Unix() - a.Ended.Unix()%60, Vendor: a.Vendor, Model: a.Model, At: a.At,
		Lane: a.Lane.String(), Client: a.Client, Flags: Flags(a.Source) << flagSource,
	}
	if a.Source == Probe {
		k.Lane = ""
	}
	if a.Vendor != "" && !a.Answered() {
		k.Flags |= FlagFailed
	}
	if a.Estimated {
		k.Flags |= FlagEstimated
	}
	if c.Known {
		k.Flags |= FlagPriced
	}
	if drill {
		k.Flags |= FlagDrill
	}
	return k
}

func sumsOf(a *Attempt, c Cost) Sums {
	s := Sums{
		Input: int64(a.Input), Cached: int64(min(a.Cached, a.Input)), Output: int64(a.Output), Reasoning: int64(min(a.Reasoning, a.Output)),
		CostInput: c.Input, CostCached: c.Cached, CostOutput: c.Output,
	}
	if a.Source == Client && a.N <= 1 {
		s.Asked = 1
	}
	if a.Vendor == "" {
		return s
	}
	s.Attempts = 1
	switch {
	case a.Answered():
		s.Answered = 1
	case a.Outcome == "vendor_fault":
		s.Faults = 1
	case a.Outcome == "rate_limited":
		s.Limited = 1
	}
	if !c.Known && (a.Input > 0 || a.Output > 0 || a.Answered()) {
		s.Unpriced = 1
	}
	if !a.Estimated && a.ExpectedOut > 0 && a.Output > 0 {
		s.Compared, s.ReportedIn, s.ReportedOut = 1, s.Input, s.Output
		s.ExpectedIn, s.ExpectedOut = int64(a.ExpectedIn), int64(a.ExpectedOut)
	}
	return s
}

// latencyOf is where an attempt's latency counts: answers, and attempts that a
// clock of ours ended before their first token, at the age they had. A fast
// failure counts nowhere.
func latencyOf(a *Attempt) (LatencyKey, bool) {
	d := a.Took
	switch {
	case a.Source != Client || a.Vendor == "":
		return LatencyKey{}, false
	case a.Answered() && a.Stream:
		d = a.FirstToken
	case a.Answered():
	case a.Outcome == "vendor_fault" && a.FirstToken == 0 && strings.HasSuffix(a.Reason, "_timeout"):
	default:
		return LatencyKey{}, false
	}
	if d <= 0 {
		return LatencyKey{}, false
	}
	return LatencyKey{Quarter: a.Ended.Unix() - a.Ended.Unix()%Quarter, Vendor: a.Vendor, Stream: a.Stream, Bucket: bucket(d)}, true
}

// perOctave buckets to the octave: one is 2.2 % wide, and what stands for it is
// at most 1.1 % off.
const perOctave = 32

func bucket(d time.Duration) int {
	us := max(float64(d)/float64(time.Microsecond), 1)
	return int(perOctave * math.Log2(us))
}

// milliseconds is what stands for a bucket.
func milliseconds(bucket int) float64 {
	return math.Exp2((float64(bucket)+0.5)/perOctave) / 1000
}

// FlagsOf are the flags under which an attempt is counted.
func FlagsOf(a *Attempt, c Cost, drill bool) Flags { return keyOf(a, c, drill).Flags }

// Windows are the times in which the faults of drills were in.
type Windows []Window

// Window is one of them; To is zero while it lasts.
type Window struct {
	Vendor   string // that has the fault
	From, To time.Time
}

// Drill is what a drill had to do with an attempt.
type Drill uint8

// The kinds of it.
const (
	NoDrill   Drill = iota
	InDrill         // the fault was at another vendor
	FaultAtIt       // the fault was at the attempt's
)

// Of says what the drills had to do with an attempt that ended in one of them, or
// began in one.
func (w Windows) Of(a *Attempt) Drill {
	d := NoDrill
	begun := a.Ended.Add(-a.Took)
	for _, x := range w {
		if x.From.IsZero() || a.Source != Client || a.Ended.Before(x.From) || !x.To.IsZero() && begun.After(x.To) {
			continue
		}
		if d = InDrill; x.Vendor == a.Vendor {
			return FaultAtIt
		}
	}
	return d
}

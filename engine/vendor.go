package engine

import (
	"sync"
	"sync/atomic"
	"time"

	"baton/engine/admission"
	"baton/engine/config"
	"baton/engine/control"
	"baton/engine/health"
	"baton/engine/limit"
	"baton/engine/outcome"
	"baton/engine/weights"
	"baton/engine/window"
)

// historyLen is how many seconds of P90 and P99 are kept for the console.
const historyLen = 300

// The categories of Vendor.counts after the outcomes: attempts begun, trials
// apart, and trials.
const (
	catBegun = outcome.Count
	catTrial = outcome.Count + 1
	catBack  = outcome.Count + 2 // first tokens, and attempts that ended without one: what has come back
)

// Vendor is the live state of one vendor. Its identity is its name and
// outlives reloads.
type Vendor struct {
	Name string

	// open says whether the vendor may take ordinary traffic; kept beside the
	// lock so that others can ask without it.
	open atomic.Bool
	// sounds says whether admission sounds the vendor and wants attempts for it.
	sounds atomic.Bool
	// welcome says that a person has brought the vendor back and the next request is to
	// try it: at a small weight its turn would come late.
	welcome atomic.Bool
	// cfg is the vendor's part of the configuration in force.
	cfg atomic.Pointer[config.Vendor]
	// liveKeys is 1 + the keys that are not revoked; 0: nobody has said.
	liveKeys atomic.Int64

	mu        sync.Mutex // guards what follows
	health    *health.Machine
	limiter   *limit.Limiter
	admission admission.Limit
	limitBy   string // who set its limit by hand, "" if nobody did
	rings     [weights.Kinds]*window.Ring
	counts    window.Counter
	flight    list // attempts in flight, oldest first
	drained   bool
	drainedBy string
	disabled  string // why, "" if it is not
	retest    bool   // disabled, and a probe was good since: one trial
	retesting bool
	since     time.Time // of the present state word
	word      string
	lastBegun time.Time
	lastErr   string // the last vendor_fault's reason, for people

	requests, attempts, failed, begun, faults int64
	firstTokens                               window.Histogram // of its streams, since the start
	bad                                       badRun
	tokensIn, tokensOut                       int64

	history history

	// What the law last did; guarded by Engine.mu.
	weight, target float64 // 0-1
	why            string
	fell           time.Time
	loggedWeight   float64
	would          would // in mode observe
	held           bool  // for a slope limiter, as the journal last said
}

// history is a ring of the last seconds.
type history struct {
	p90, p99, failed [historyLen]float64
	n                int // values written since the start
}

func (h *history) add(p90, p99, failed float64) {
	i := h.n % historyLen
	h.p90[i], h.p99[i], h.failed[i] = p90, p99, failed
	h.n++
}

// series returns the ring oldest first.
func (h *history) series() control.History {
	n := min(h.n, historyLen)
	out := control.History{P90ms: make(control.Series, n), P99ms: make(control.Series, n), Failed: make(control.Series, n), StepS: 1}
	for k := range n {
		i := (h.n - n + k) % historyLen
		out.P90ms[k], out.P99ms[k], out.Failed[k] = h.p90[i], h.p99[i], h.failed[i]
	}
	return out
}

// newVendor makes the state of a vendor that has just been configured.
func newVendor(c *config.Config, vc *config.Vendor, now time.Time) *Vendor {
	v := &Vendor{Name: vc.Name, since: now, word: control.Healthy}
	for k := range v.rings {
		v.rings[k] = window.NewRing()
	}
	v.health = health.New(healthConfig(c))
	v.limiter = limit.New(vc.LimitRPS, max(1, len(vc.APIKeys)))
	v.cfg.Store(vc)
	v.open.Store(true)
	return v
}

// healthConfig is the part of the configuration that health goes by.
func healthConfig(c *config.Config) health.Config {
	h := health.Default()
	h.FirstToken, h.Whole = c.Timeouts.FirstToken, c.Timeouts.Whole
	h.UnhealthyAfter, h.HealthyAfter = c.Probe.UnhealthyAfter, c.Probe.HealthyAfter
	h.Probes = c.Probe.Path != "" && c.Probe.Every > 0
	return h
}

// takes says whether the vendor may take ordinary attempts. v.mu is held.
func (v *Vendor) takes() bool {
	return !v.drained && v.disabled == "" && v.health.State() != health.Ejected
}

// barred says whether people or the vendor's account keep it out, whatever its
// health. v.mu is held.
func (v *Vendor) barred() bool { return v.drained || v.disabled != "" }

// list is the attempts in flight in the order in which they began.
type list struct {
	head, tail *Lease
	n          int
	awaiting   int // of them, those without a first token
	batch      int // of them, batch work
}

func (l *list) add(x *Lease) {
	x.prev, x.next = l.tail, nil
	if l.tail != nil {
		l.tail.next = x
	} else {
		l.head = x
	}
	l.tail = x
	l.n++
	l.awaiting++
	if x.lane == control.Batch {
		l.batch++
	}
}

func (l *list) remove(x *Lease) {
	if x.prev != nil {
		x.prev.next = x.next
	} else {
		l.head = x.next
	}
	if x.next != nil {
		x.next.prev = x.prev
	} else {
		l.tail = x.prev
	}
	x.prev, x.next = nil, nil
	l.n--
	if x.lane == control.Batch {
		l.batch--
	}
	if x.firstToken == 0 {
		l.awaiting--
	}
}

package engine

import (
	"fmt"
	"math"
	"strings"
	"time"

	"baton/engine/control"
	"baton/engine/health"
	"baton/engine/limit"
	"baton/engine/outcome"
	"baton/engine/weights"
	"baton/engine/window"
)

// stale is how long the reason of a weight's last move is shown.
const stale = 30 * time.Second

// waitingMax bounds how many attempts in flight a tick looks at per vendor.
const waitingMax = 4096

// Tick lets health, limits and the law look at what has happened and puts new
// weights in force. Run calls it; tests may instead.
func (e *Engine) Tick(now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expire(now)
	t := e.table.Load()
	for _, v := range t.vendors {
		e.tickHealth(v, now)
	}
	t = e.table.Load()
	e.tickLimits(t, now)
	d := e.law.Tick(now, e.measures(t, now), e.lawPin())
	e.publish(d, now)
	e.tickAdmission(e.table.Load(), now)
}

// tickHealth lets v's health machine see what has been waiting too long.
func (e *Engine) tickHealth(v *Vendor, now time.Time) {
	c := e.cfg.Load()
	alone := !e.othersOpen(v)
	v.mu.Lock()
	var w health.Waiting
	for l := v.flight.head; l != nil; l = l.next {
		age := now.Sub(l.begun)
		if v.health.Stale(l.begun) {
			continue
		}
		switch {
		case l.kind == weights.Stream && l.firstToken == 0 && age > c.Timeouts.FirstToken:
			w.Streams++
		case l.kind == weights.Whole && age > c.Timeouts.Whole:
			w.Wholes++
		}
	}
	v.health.Keep(alone)
	change := v.health.Tick(now, w)
	v.mu.Unlock()
	e.healthChangedLocked(v, change, now)
}

// tickLimits lets the limiters learn.
func (e *Engine) tickLimits(t *table, now time.Time) {
	total := 0.0
	for _, v := range t.vendors {
		v.mu.Lock()
		total += float64(v.counts.Sum(now, catBegun, 10*time.Second)) / 10
		v.mu.Unlock()
	}
	for _, v := range t.vendors {
		v.mu.Lock()
		look := v.limiter.Look(now)
		v.mu.Unlock()
		look.Find()
		v.mu.Lock()
		before, had := v.limiter.Learned()
		o := v.offer(now, total)
		o.Look = look
		v.limiter.Tick(now, o)
		after, has := v.limiter.Learned()
		evidence := v.limiter.Evidence()
		held, holds := v.limiter.Held()
		v.mu.Unlock()
		if holds != v.held {
			v.held = holds
			e.tellSlope(v, held, evidence, now)
		}
		switch {
		case has && (!had || math.Abs(after-before) > 0.25*before && after < before):
			e.log(control.Event{
				Time: now, Level: control.Warn, Kind: "limit", Vendor: v.Name,
				Text: fmt.Sprintf("%s takes about %.0f requests/s: %s", e.label(v), after, evidence),
				Data: map[string]any{"learned_rps": after},
			})
		case had && !has:
			e.log(control.Event{
				Time: now, Level: control.Info, Kind: "limit", Vendor: v.Name,
				Text: fmt.Sprintf("the learned limit of %s is forgotten", e.label(v)),
			})
		}
	}
}

// tellSlope says in the journal that v's rate is held for a slope limiter, and
// that it is no more (rps is 0).
func (e *Engine) tellSlope(v *Vendor, rps float64, evidence string, now time.Time) {
	ev := control.Event{Time: now, Level: control.Info, Kind: "limit", Vendor: v.Name, Text: fmt.Sprintf("%s takes what comes: its rate is held no more", e.label(v))}
	if rps > 0 {
		ev.Level = control.Warn
		ev.Text = fmt.Sprintf("%s is held at %.0f requests/s and rises slowly: %s", e.label(v), rps, evidence)
		ev.Data = map[string]any{"allowed_rps": rps}
	}
	e.log(ev)
}

// offer is what the limiter is shown, over complete seconds. v.mu is held.
func (v *Vendor) offer(now time.Time, total float64) limit.Offer {
	sum := func(category int, s time.Duration) int { return v.counts.SumComplete(now, category, s) }
	const s5, s10 = 5 * time.Second, 10 * time.Second
	sent5 := sum(catBegun, s5)
	o := limit.Offer{
		Sent5:       sent5,
		SentBefore5: sum(catBegun, s10) - sent5,
		Faults5:     sum(int(outcome.VendorFault), s5),
		Refused10:   sum(int(outcome.RateLimited), s10),
		Total:       total,
	}
	for k := range outcome.Count {
		o.N10 += sum(k, s10)
	}
	o.Done5 = sum(catBack, s5) - sum(int(outcome.RateLimited), s5)
	o.Done10 = sum(catBack, s10) - o.Refused10
	o.Accepted = float64(o.N10-o.Refused10) / 10
	kind := weights.Stream
	if v.rings[weights.Whole].Window(now, window.S10).Count > v.rings[weights.Stream].Window(now, window.S10).Count {
		kind = weights.Whole
	}
	if l, ok := v.rings[kind].Latency(now, weights.Default().NMin, v.waiting(now)[kind]); ok {
		o.Latency = l.P90
	}
	return o
}

// measures is what the law is shown.
func (e *Engine) measures(t *table, now time.Time) []weights.Measure {
	ms := make([]weights.Measure, len(t.vendors))
	total := 0.0
	for i, v := range t.vendors {
		vc := v.cfg.Load()
		v.mu.Lock()
		ms[i] = v.figures(now)
		total += float64(v.counts.Sum(now, catBegun, 10*time.Second)) / 10
		v.mu.Unlock()
		ms[i].Label, ms[i].Base = vc.Label, vc.Weight/100
		if len(vc.Band) == 2 {
			ms[i].Band = [2]float64{vc.Band[0] / 100, vc.Band[1] / 100}
		} else {
			ms[i].Band = [2]float64{0, 1}
		}
		if ms[i].State == weights.Down && t.manual {
			ms[i].State = weights.Well
		}
	}
	for i, v := range t.vendors {
		v.mu.Lock()
		ms[i].Cap = v.limiter.Cap(total)
		_, ms[i].Measured = v.limiter.Learned()
		v.mu.Unlock()
	}
	return ms
}

// figures is one vendor's part of it. v.mu is held.
func (v *Vendor) figures(now time.Time) weights.Measure {
	m := weights.Measure{Name: v.Name, FirstTokenP90: math.NaN(), Limited: v.limiter.Limited(now)}
	switch {
	case v.barred():
		m.State = weights.Out
	case v.health.State() == health.Ejected || v.health.Alarm() != "":
		m.State = weights.Down // a failing last vendor is kept: if all are down, the law panics
	case v.health.State() == health.Recovering:
		m.State = weights.Ramp
		m.RampFor, m.RampLen = v.health.RampAge(now)
	}
	waiting := v.waiting(now)
	q, out := [1]float64{0.9}, [1]time.Duration{}
	for k := range v.rings {
		lat := &m.Latency[k]
		for s := window.S10; s <= window.S300; s++ {
			lat.P90[s] = math.NaN()
			lat.N[s] = v.rings[k].Quantiles(now, s, waiting[k], q[:], out[:])
			if lat.N[s] > 0 {
				lat.P90[s] = out[0].Seconds()
			}
		}
		lat.Requests60 = v.rings[k].Window(now, window.S60).Count
	}
	if m.Latency[weights.Stream].N[window.S60] > 0 {
		m.FirstTokenP90 = m.Latency[weights.Stream].P90[window.S60]
	}
	m.Faults10 = v.counts.Sum(now, int(outcome.VendorFault), 10*time.Second)
	m.Faults60 = v.counts.Sum(now, int(outcome.VendorFault), time.Minute)
	m.Known10 = m.Faults10 + v.counts.Sum(now, int(outcome.OK), 10*time.Second)
	m.Known60 = m.Faults60 + v.counts.Sum(now, int(outcome.OK), time.Minute)
	return m
}

// waiting is the ages of the attempts without an answer yet, the oldest first.
// v.mu is held.
func (v *Vendor) waiting(now time.Time) (ages [weights.Kinds][]time.Duration) {
	n := 0
	for l := v.flight.head; l != nil && n < waitingMax; l = l.next {
		if l.firstToken == 0 {
			ages[l.kind] = append(ages[l.kind], now.Sub(l.begun))
			n++
		}
	}
	return ages
}

// publish puts a decision in force. e.mu is held.
func (e *Engine) publish(d weights.Decision, now time.Time) {
	old := e.table.Load()
	if len(d.Weights) != len(old.vendors) {
		return
	}
	c := e.cfg.Load()
	w := d.Weights
	observes := c.Routing.Mode == "observe" && e.pin == nil
	if observes {
		e.observe(old, d, now)
		w = e.configured(old)
	}
	t := *old
	t.weights, t.panic = w, d.Panic
	t.exact = observes || e.pin != nil || t.manual
	may := make([]bool, len(t.vendors))
	for i, v := range t.vendors {
		v.mu.Lock()
		v.open.Store(v.takes())
		may[i] = v.takes() || (!v.barred() && (t.panic || t.still))
		v.mu.Unlock()
	}
	e.service.mu.Lock()
	part := e.service.batchPart(now)
	e.service.mu.Unlock()
	t.split[control.Interactive], t.split[control.Batch] = weights.Split(w, t.primary, part, may)
	if d.Panic && !old.panic {
		e.log(control.Event{Time: now, Level: control.Crit, Kind: "health", Text: "every vendor is down: all take traffic at their configured weights until one is well"})
	}
	e.table.Store(&t)
	e.tell(&t, d, now)
}

// tell keeps what the law said about each vendor and puts moves into the
// journal: at once when they are large, otherwise when they have come to rest.
func (e *Engine) tell(t *table, d weights.Decision, now time.Time) {
	first := false
	large := false
	drift := 0.0
	for i, v := range t.vendors {
		w := t.weights[i]
		first = first || v.fell.IsZero()
		if v.fell.IsZero() {
			v.fell, v.weight, v.loggedWeight = e.started, w, w
		}
		if e.said {
			v.loggedWeight = w
		}
		if w < v.weight-1e-9 {
			v.fell = now
		}
		if math.Abs(w-v.weight) > 0.0005 {
			e.moved = now
		}
		moves := math.Abs(w-v.weight) > 0.0005
		v.weight, v.target = w, d.Targets[i]
		switch r := d.Reasons[i]; {
		case r != "":
			v.why = e.reason(r)
		case moves, now.Sub(e.moved) > stale:
			v.why = "" // what it said is over
		}
		large = large || math.Abs(w-v.loggedWeight) >= 0.05
		drift = max(drift, math.Abs(w-v.loggedWeight))
	}
	if first || drift < 0.005 || (!large && now.Sub(e.moved) < 3*time.Second) {
		return
	}
	e.logWeights(t, d.Reasons, now)
}

// logWeights says in the journal from where to where the weights moved, and why.
func (e *Engine) logWeights(t *table, reasons []string, now time.Time) {
	var names, from, to []string
	why, lead, biggest := "", "", 0.0
	data := map[string]any{}
	for i, v := range t.vendors {
		names = append(names, e.label(v))
		from = append(from, fmt.Sprintf("%.0f", 100*v.loggedWeight))
		to = append(to, fmt.Sprintf("%.0f", 100*v.weight))
		// Of moves as large as each other the one downwards explains both.
		if m := v.loggedWeight - v.weight; m > biggest+1e-9 || why == "" {
			biggest, lead = m, v.Name
			why = v.why
			if i < len(reasons) && reasons[i] != "" {
				why = reasons[i]
			}
		}
		data[v.Name] = math.Round(1000*v.weight) / 10
		v.loggedWeight = v.weight
	}
	text := fmt.Sprintf("weights %s %s→%s", strings.Join(names, "/"), strings.Join(from, "/"), strings.Join(to, "/"))
	if why != "" {
		text += ": " + why
	}
	e.log(control.Event{Time: now, Level: control.Info, Kind: "weights", Vendor: lead, Text: text, Data: map[string]any{"weights": data}})
}

// record appends the second that has passed to each vendor's history.
func (e *Engine) record(now time.Time) {
	for _, v := range e.table.Load().vendors {
		v.mu.Lock()
		p90, p99, n := v.rings[weights.Stream].Last(now)
		if n == 0 {
			p90, p99, n = v.rings[weights.Whole].Last(now)
		}
		a, b := math.NaN(), math.NaN()
		if n > 0 {
			a, b = ms(p90), ms(p99)
		}
		failed := v.counts.SumComplete(now, int(outcome.VendorFault), time.Second)
		v.history.add(a, b, float64(failed))
		v.mu.Unlock()
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

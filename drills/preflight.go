package drills

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

const (
	roomFactor = 1.2 // of the present rate that the others need room for
	// burntPart is how much of the day's errors may be used up before a drill.
	burntPart = 0.5
	// burntLeast is how many failures are never called burnt.
	burntLeast = 10
)

// target is the vendor that a scenario would hit, "" while it is to be drawn.
func target(s *Scenario, vendor string, snap *control.Snapshot) (string, error) {
	switch {
	case !s.hits() && vendor != "":
		return "", invalid("vendor", "the scenario %s hits none", s.Name)
	case !s.hits():
		return "", nil
	case vendor != "":
	case s.Target == targetRandom:
		return "", nil
	case s.Target == targetGiven:
		return "", invalid("vendor", "the scenario %s wants one", s.Name)
	case s.Target == targetPrimary, s.Target == targetSecondary:
		if vendor = byRole(snap, s.Target); vendor == "" {
			return "", invalid("scenario", "%s is for the %s, and there is none", s.Name, s.Target)
		}
	default:
		vendor = s.Target
	}
	if snap.Vendor(vendor) == nil {
		return "", invalid("vendor", "there is no vendor %q", vendor)
	}
	return vendor, nil
}

// byRole is the vendor of a role, of several the one of the largest weight.
func byRole(snap *control.Snapshot, role string) string {
	name, most := "", -1.0
	for i := range snap.Vendors {
		if v := &snap.Vendors[i]; v.Role == role && v.Weight > most {
			name, most = v.Name, v.Weight
		}
	}
	return name
}

// drawVendor draws one that takes traffic.
func drawVendor(snap *control.Snapshot) string {
	var may []string
	for i := range snap.Vendors {
		if takes(snap.Vendors[i].State) {
			may = append(may, snap.Vendors[i].Name)
		}
	}
	if len(may) == 0 {
		may = append(may, snap.Vendors[0].Name) // preflight says what is wrong
	}
	return may[rand.IntN(len(may))]
}

func drawFault(spec control.FaultSpec) control.FaultSpec {
	if spec.Kind == kindRandom {
		spec.Kind = outages[rand.IntN(len(outages))]
	}
	return spec
}

// known refuses a scenario whose steps name vendors that are not there.
func (m *Machine) known(s *Scenario, snap *control.Snapshot) error {
	for i := range s.Steps {
		for name := range s.Steps[i].Weights {
			if resolve(name, snap) == "" {
				return invalid("scenario", "%s: steps[%d].weights: there is no vendor %q", s.Name, i, name)
			}
		}
	}
	return nil
}

// resolve is the vendor that a step means by a name or a role.
func resolve(name string, snap *control.Snapshot) string {
	if snap.Vendor(name) != nil {
		return name
	}
	if name == targetPrimary || name == targetSecondary {
		return byRole(snap, name)
	}
	return ""
}

// takes says whether a vendor in that state may take traffic.
func takes(state string) bool {
	switch state {
	case control.Ejected, control.Drained, control.Disabled:
		return false
	}
	return true
}

// refusal is why a drill must not run, "" if it may.
func refusal(checks []control.Check) string {
	var why []string
	forced := true
	for _, c := range checks {
		if !c.OK && !c.Warn {
			why = append(why, fmt.Sprintf("%s: wanted %s, got %s", c.Name, c.Want, c.Got))
			forced = forced && overridable(c.Name)
		}
	}
	text := strings.Join(why, "; ")
	if text != "" && forced {
		text += ". `baton drill run --force` overrides it"
	}
	return text
}

// What --force overrides.
const (
	checkDates  = "blackout dates"
	checkBudget = "error budget"
	checkToday  = "drills of it today"
)

func overridable(check string) bool {
	return check == checkDates || check == checkBudget || check == checkToday
}

// inspection collects what preflight finds.
type inspection struct {
	m      *Machine
	s      *Scenario
	vendor string // "" where it is to be drawn
	snap   *control.Snapshot
	terms  terms
	now    time.Time
	out    []control.Check
}

func (p *inspection) add(name, want, got string, ok, warn bool) {
	p.out = append(p.out, control.Check{Name: name, Want: want, Got: got, OK: ok, Warn: warn && !ok})
}

// checks is what preflight finds. A scenario without a steady phase is refused
// only when nobody else may take traffic.
func (m *Machine) checks(s *Scenario, vendor string, snap *control.Snapshot, force bool, who string) []control.Check {
	m.mu.Lock()
	t := m.terms
	m.mu.Unlock()
	p := &inspection{m: m, s: s, vendor: vendor, snap: snap, terms: t, now: time.Now()}
	if !s.hits() {
		p.unaimed()
		return p.out
	}
	p.elsewhere()
	if !s.Steady {
		return p.out
	}
	p.itself()
	p.healthy()
	p.outages()
	p.room()
	p.traffic()
	p.people()
	p.homes()
	p.dates(force)
	p.budget(force)
	p.recent(force || who == scheduler)
	return p.out
}

// others are the vendors that have to do without the drill's.
func (p *inspection) others() []*control.Vendor {
	var out []*control.Vendor
	for i := range p.snap.Vendors {
		if v := &p.snap.Vendors[i]; v.Name != p.vendor {
			out = append(out, v)
		}
	}
	return out
}

func named(v *control.Vendor) string {
	if v.Label != "" {
		return v.Label
	}
	return v.Name
}

// elsewhere asks that somebody else may take traffic.
func (p *inspection) elsewhere() {
	var may, not []string
	for _, v := range p.others() {
		if takes(v.State) {
			may = append(may, named(v))
		} else {
			not = append(not, named(v)+" is "+v.State)
		}
	}
	want := "another vendor that may take traffic"
	if len(may) > 0 {
		p.add("somebody else", want, strings.Join(may, ", "), true, false)
		return
	}
	got := "no other vendor may take traffic"
	if len(not) > 0 {
		got += ": " + strings.Join(not, ", ")
	}
	p.add("somebody else", want, got, false, false)
}

// itself asks that the vendor takes traffic whose loss can be noticed.
func (p *inspection) itself() {
	v := p.snap.Vendor(p.vendor)
	if v == nil {
		return
	}
	got := fmt.Sprintf("%s, weight %.4g", v.State, v.Weight)
	p.add("the vendor itself", "takes traffic", got, takes(v.State) && v.State != control.Recovering && v.Weight > 0, false)
}

// healthy asks that all others have been healthy for a while.
func (p *inspection) healthy() {
	settle := p.terms.rules.Settle
	want := "all healthy for " + control.Duration(settle).String()
	var not []string
	for _, v := range p.others() {
		since := p.now.Sub(v.StateSince)
		switch {
		case v.State != control.Healthy:
			s := named(v) + " is " + v.State
			if v.Reason != "" {
				s += " (" + v.Reason + ")"
			}
			not = append(not, s)
		case since < settle:
			not = append(not, fmt.Sprintf("%s for %s", named(v), control.Duration(since.Round(time.Second))))
		}
	}
	got := "they are"
	if len(not) > 0 {
		got = strings.Join(not, "; ")
	}
	p.add("the other vendors", want, got, len(not) == 0, false)
}

// outages warns of incidents that are open: one at the drill's vendor is closed when
// the fault begins.
func (p *inspection) outages() {
	var open []string
	for i := range p.snap.Vendors {
		v := &p.snap.Vendors[i]
		if r := p.m.openAt(v.Name); r != nil {
			open = append(open, named(v)+" ("+r.id+")")
		}
	}
	got := "none"
	if len(open) > 0 {
		got = "not over yet at " + strings.Join(open, ", ")
	}
	p.add("incidents", "none is open", got, len(open) == 0, true)
}

// room asks that the others are not known to lack room. What is not known of one
// is a warning.
func (p *inspection) room() {
	need := roomFactor * p.snap.Gateway.RPS
	sum, unknown := 0.0, []string{}
	for _, v := range p.others() {
		if r, ok := roomOf(&v.Limit); ok {
			sum += r
		} else {
			unknown = append(unknown, named(v))
		}
	}
	want := fmt.Sprintf("%.4g requests/s, %g times what comes now", need, roomFactor)
	switch {
	case sum >= need && len(unknown) < len(p.others()):
		p.add("their room", want, fmt.Sprintf("%.4g requests/s", sum), true, false)
	case len(unknown) > 0:
		p.add("their room", want, "not known of "+strings.Join(unknown, ", "), false, true)
	default:
		p.add("their room", want, fmt.Sprintf("%.4g requests/s", sum), false, false)
	}
}

// roomOf is the least of what is known of a vendor's limit.
func roomOf(l *control.Limit) (rps float64, known bool) {
	for _, r := range []*float64{l.KnownRPS, l.LearnedRPS, l.AllowedRPS} {
		if r != nil && (!known || *r < rps) {
			rps, known = *r, true
		}
	}
	return rps, known
}

// traffic warns where the requests will hardly do for a proof.
func (p *inspection) traffic() {
	rps := p.snap.Gateway.RPS + p.s.Load.RPS
	r := &p.terms.rules
	want := fmt.Sprintf("%d requests in %s, for a proof", r.MinRequests, control.Duration(r.Hold))
	p.add("requests", want, fmt.Sprintf("%.4g/s", rps), rps*r.Hold.Seconds() >= float64(r.MinRequests), true)
	if p.s.Load.RPS > 0 {
		real := p.terms.anyReal()
		got := fmt.Sprintf("%g requests/s of its own", p.s.Load.RPS)
		if real {
			got += ", at vendors that are paid"
		}
		p.add("load", "costs nothing", got, !real, true)
	}
}

func (t *terms) anyReal() bool { return t.cfg.AnyReal() }

// real says whether a vendor is neither simulated nor on loopback.
func (t *terms) real(vendor string) bool {
	i := slices.IndexFunc(t.cfg.Vendors, func(v config.Vendor) bool { return v.Name == vendor })
	return i >= 0 && t.cfg.Vendors[i].Real()
}

// people warns of what people hold that keeps the engine from acting by itself.
func (p *inspection) people() {
	if p.snap.Pin != nil {
		p.add("weights", "the controller's", "pinned by "+p.snap.Pin.By, false, true)
	}
	if p.snap.Mode == "observe" {
		p.add("mode", "steer", "observe: nothing moves by itself", p.s.Failover == failoverManual, true)
	}
	if p.s.Failover == failoverAuto && p.snap.Failover == failoverManual {
		p.add("failover", failoverAuto, "manual: people have to move the weights", false, true)
	}
}

// homes names the models that only the drill's vendor has.
func (p *inspection) homes() {
	if p.vendor == "" {
		return
	}
	var alone []string
	for i := range p.terms.cfg.Models {
		m := &p.terms.cfg.Models[i]
		if _, here := m.NameAt(p.vendor); !here {
			continue
		}
		second := slices.ContainsFunc(p.others(), func(v *control.Vendor) bool {
			_, ok := m.NameAt(v.Name)
			return ok
		})
		if !second {
			alone = append(alone, m.Name+" ("+p.shareOf(m.Name)+")")
		}
	}
	got := "they have"
	if len(alone) > 0 {
		got = "only here: " + strings.Join(alone, ", ")
	}
	p.add("models", "each has a second home", got, len(alone) == 0, true)
}

// shareOf is a model's part of the last day's requests, in words.
func (p *inspection) shareOf(model string) string {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	c, err := control.Get[*control.Costs](ctx, p.m.control, control.CostsOf{})
	if err != nil || c.Totals.Requests == 0 {
		return "its share of the traffic is not known"
	}
	for i := range c.ByModel {
		if g := &c.ByModel[i]; g.Model == model {
			return fmt.Sprintf("%.3g %% of the requests of the last day", 100*float64(g.Requests)/float64(c.Totals.Requests))
		}
	}
	return "no request in the last day"
}

// dates refuses in a blackout.
func (p *inspection) dates(force bool) {
	day, in := blackout(&p.terms.rules, p.now)
	if len(p.terms.rules.Blackout) == 0 {
		return
	}
	got := "none of it"
	if in {
		got = "today is in " + day
	}
	p.add(checkDates, "not in a blackout", got, !in, force)
}

// budget refuses once half of the errors that a day may have are used up; where no
// vendor is real, nobody's errors are, and it warns.
func (p *inspection) budget(force bool) {
	requests, failed, since := p.m.watcher.today(p.snap.Totals)
	may := (1 - p.terms.rules.Success) * float64(requests)
	limit := max(burntPart*may, burntLeast)
	want := fmt.Sprintf("at most %.0f failed requests (half of what success %g allows today, never under %d)", limit, p.terms.rules.Success, burntLeast)
	got := fmt.Sprintf("%d of %d outside drills since %s", failed, requests, since.In(zone(&p.terms.rules)).Format("15:04 MST"))
	p.add(checkBudget, want, got, float64(failed) <= limit, force || !p.terms.anyReal())
}

// recent warns where the same vendor was drilled today already, and refuses where
// it is a real one.
func (p *inspection) recent(force bool) {
	if p.vendor == "" {
		return
	}
	id := p.m.records.drilledOn(p.vendor, p.now, zone(&p.terms.rules))
	got := "none"
	if id != "" {
		got = id
	}
	p.add(checkToday, "none", got, id == "", force || !p.terms.real(p.vendor))
}

// preflightOf is what would happen if a drill were started now.
func (m *Machine) preflightOf(q control.PreflightOf) (*control.Preflight, error) {
	s, err := m.scenario(q.Scenario)
	if err != nil {
		return nil, err
	}
	spec, err := s.fault(q.Fault, 0)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	snap, err := control.Get[*control.Snapshot](ctx, m.control, control.State{})
	if err != nil {
		return nil, err
	}
	vendor, err := target(s, q.Vendor, snap)
	if err != nil {
		return nil, err
	}
	if err := m.known(s, snap); err != nil {
		return nil, err
	}
	p := &control.Preflight{
		Scenario: s.Name, Claim: s.Claim, Judge: s.Judge, Vendor: vendor, Fault: spec,
		Checks: m.checks(s, vendor, snap, false, ""),
	}
	if cur := m.drill(); cur != nil && !cur.replaceable() {
		p.Checks = append(p.Checks, control.Check{Name: "no other drill", Want: "none runs", Got: cur.named()})
	}
	p.Refused = refusal(p.Checks)
	m.mu.Lock()
	rules := m.terms.rules
	m.mu.Unlock()
	p.TargetS, p.BoundS = s.target(&rules).Seconds(), s.tighter(&rules)
	p.Plan = s.plan(&rules, vendor, spec)
	p.ExtraCost = expected(snap, vendor, rules.Hold)
	return p, nil
}

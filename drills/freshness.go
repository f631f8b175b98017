package drills

import (
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"baton/engine/control"
)

// staleAfter is how long a passed drill says that losing a vendor would be well.
const staleAfter = 35 * 24 * time.Hour

// usual is the fault that every vendor ought to have been lost by.
const usual = "refuse"

// freshEvery is how long a look at the records serves.
const freshEvery = 5 * time.Second

// Freshness is when losing each vendor was last passed, by the faults that were
// tried.
func (m *Machine) Freshness(vendors []control.Vendor, now time.Time) []control.Freshness {
	m.fresh.mu.Lock()
	defer m.fresh.mu.Unlock()
	if age := now.Sub(m.fresh.at); age < 0 || age >= freshEvery {
		m.fresh.at, m.fresh.list = now, m.freshness(vendors, now)
	}
	return slices.Clone(m.fresh.list)
}

func (m *Machine) freshness(vendors []control.Vendor, now time.Time) []control.Freshness {
	all, err := m.records.history()
	if err != nil {
		return []control.Freshness{}
	}
	out := []control.Freshness{}
	for i := range vendors {
		name := vendors[i].Name
		passed := map[string]time.Time{usual: {}}
		for k := range all {
			r := &all[k]
			if r.Incident || r.Vendor != name || r.Verdict != control.Passed && r.Verdict != control.Failed {
				continue
			}
			if _, seen := passed[r.Fault.Kind]; !seen {
				passed[r.Fault.Kind] = time.Time{}
			}
			if r.Verdict == control.Passed && r.Started.After(passed[r.Fault.Kind]) {
				passed[r.Fault.Kind] = r.Started
			}
		}
		first := len(out)
		for kind, at := range passed {
			f := control.Freshness{Vendor: name, Fault: kind, Stale: true}
			if !at.IsZero() {
				age := now.Sub(at)
				f.Passed, f.Days = &at, control.Figure(math.Floor(10*age.Hours()/24)/10)
				f.Stale = age > staleAfter
			}
			out = append(out, f)
		}
		slices.SortFunc(out[first:], func(a, b control.Freshness) int { return strings.Compare(a.Fault, b.Fault) })
	}
	return out
}

// drilledOn is the last drill of a vendor in which a fault went in, on the day of a
// moment; "" there was none.
func (s *records) drilledOn(vendor string, at time.Time, z *time.Location) string {
	all, err := s.history()
	if err != nil {
		return ""
	}
	day := at.In(z).Format(time.DateOnly)
	for i := range all {
		r := &all[i]
		if r.Vendor == vendor && !r.Incident && r.Scenario != "kill" && r.Started.In(z).Format(time.DateOnly) == day && faulted(r) {
			return r.ID
		}
	}
	return ""
}

// faulted says whether a fault went in.
func faulted(r *control.Report) bool {
	return slices.ContainsFunc(r.Phases, func(m control.Moment) bool { return m.Name == control.PhaseFault })
}

// lastScheduled is the vendor of the last drill of a scenario that the schedule
// started; "" there was none.
func (s *records) lastScheduled(scenario string) string {
	all, err := s.history()
	if err != nil {
		return ""
	}
	for i := range all {
		if r := &all[i]; r.Scenario == scenario && r.Who == scheduler && faulted(r) {
			return r.Vendor
		}
	}
	return ""
}

// stamp says which state of the directory the records were read in.
func (s *records) stamp() time.Time {
	f, err := os.Stat(s.dir)
	if err != nil {
		return time.Time{}
	}
	return f.ModTime()
}

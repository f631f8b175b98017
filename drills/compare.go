package drills

import (
	"fmt"
	"slices"

	"baton/engine/control"
)

const (
	compared  = 5   // earlier runs
	worsening = 1.2 // of their median, from which a run is slower
)

// earlier is the last runs of the same scenario on the same vendor before id that
// came to a verdict, newest first.
func (s *records) earlier(id, scenario, vendor string) []control.Previous {
	all, err := s.history()
	if err != nil {
		return nil
	}
	var out []control.Previous
	for i := range all {
		r := &all[i]
		if r.ID == id || r.Scenario != scenario || r.Vendor != vendor || r.Verdict != control.Passed && r.Verdict != control.Failed {
			continue
		}
		out = append(out, control.Previous{ID: r.ID, CutoverS: r.CutoverS, Verdict: r.Verdict, Started: r.Started})
		if len(out) == compared {
			break
		}
	}
	return out
}

// trend holds a cutover against those before it, in words; "" where there are too
// few.
func trend(cutover *float64, before []control.Previous) string {
	if cutover == nil {
		return ""
	}
	var was []float64
	for _, p := range before {
		if p.CutoverS != nil {
			was = append(was, *p.CutoverS)
		}
	}
	if len(was) == 0 {
		return ""
	}
	slices.Sort(was)
	median := was[len(was)/2]
	if len(was)%2 == 0 {
		median = (was[len(was)/2-1] + median) / 2
	}
	of := fmt.Sprintf("the median %s of the last %d", clock(median), len(was))
	if median <= 0 {
		return "against " + of
	}
	switch part := *cutover / median; {
	case part > worsening:
		return fmt.Sprintf("WORSE: %.0f %% slower than %s", 100*(part-1), of)
	case part > 1.05:
		return fmt.Sprintf("%.0f %% slower than %s", 100*(part-1), of)
	case part < 0.95:
		return fmt.Sprintf("%.0f %% faster than %s", 100*(1-part), of)
	}
	return "as " + of
}

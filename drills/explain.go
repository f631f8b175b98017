package drills

import (
	"fmt"
	"slices"
	"time"

	"baton/engine/config"
	"baton/engine/control"
)

// Explain says what a scenario does, in sentences.
func (s *Scenario) Explain() []string {
	switch {
	case s.show != nil:
		return slices.Clone(s.show.Explain)
	case s.Spike != nil:
		return s.explainSpike()
	}
	spec := s.spec()
	out := []string{s.begins()}
	switch {
	case s.external():
		out = append(out, fmt.Sprintf("People cut %s themselves, at its endpoint, in a firewall or by its key, and say so with `baton drill mark`; the clock runs from that or from the first bad attempt, whichever comes first.", s.whom()))
	case s.Sealed:
		out = append(out, fmt.Sprintf("Within %s something (%s) happens to %s. Which fault, to whom and when stays sealed until it has ended.", control.Duration(s.Window), s.what(spec), s.whom()))
	default:
		out = append(out, fmt.Sprintf("Then %s meets %s.", s.whom(), s.what(spec)))
	}
	for i := range s.Steps {
		st := &s.Steps[i]
		out = append(out, fmt.Sprintf("%s after the fault: %s.", control.Duration(st.At), st.text()))
	}
	if s.Load.RPS > 0 {
		out = append(out, fmt.Sprintf("It sends %g requests/s of its own.", s.Load.RPS))
	}
	if s.Failover == failoverManual {
		out = append(out, "Failover is manual meanwhile: the breakers alarm, single requests are still rescued, and people have to move the weights. Their first act counts as detected.")
	}
	return append(out, s.asks(), s.ends(spec))
}

func (s *Scenario) begins() string {
	if s.Steady {
		return "It first holds a baseline, and does not run where the others are not well, lack room, or the service is not good anyhow."
	}
	return "It begins at once, and does not run only where nobody else may take traffic."
}

// whom is the target in words.
func (s *Scenario) whom() string {
	switch s.Target {
	case targetGiven:
		return "the vendor that is given"
	case targetPrimary, targetSecondary:
		return "the " + s.Target
	case targetRandom:
		return "a vendor drawn by lot"
	}
	return s.Target
}

func (s *Scenario) what(f control.FaultSpec) string {
	if f.Kind == kindRandom {
		return "a fault drawn by lot"
	}
	return inWords(&f)
}

func (s *Scenario) asks() string {
	b := &s.Bounds
	text := "It passes if "
	switch s.Judge {
	case judgeContained:
		text += "clients are unhurt, and the vendor gets less, in time"
	case judgeRecovered:
		text += "clients are served well again after the last restore, in time"
	default:
		text += "clients are served well without the vendor, in time"
	}
	if d := s.bound(); d > 0 {
		text += fmt.Sprintf(" (%s)", control.Duration(d))
	} else {
		text += " (drill.target)"
	}
	if b.Success > 0 {
		text += fmt.Sprintf(", with a success of %g or more", b.Success)
	}
	if b.P99 > 0 {
		text += fmt.Sprintf(", a first-token P99 of %s or less", control.Duration(b.P99))
	}
	if b.Hurt > 0 {
		text += fmt.Sprintf(", and clients hurt for no more than %s", control.Duration(b.Hurt))
	}
	if b.Ejections != nil {
		text += fmt.Sprintf(", and no more than %d ejections", *b.Ejections)
	}
	return text + "."
}

func (s *Scenario) ends(f control.FaultSpec) string {
	switch {
	case s.external():
		return fmt.Sprintf("People put it back and say so; it is given up after %s.", f.For)
	case s.Restore == restoreByHand:
		return fmt.Sprintf("It ends when somebody restores the vendor, or after %s.", f.For)
	case s.Judge == judgeRecovered:
		return "The way back to the old weights is judged apart."
	}
	return fmt.Sprintf("Once that is proven the fault ends by itself, at the latest after %s; the way back to the old weights is judged apart.", f.For)
}

// plan is what happens, step by step, if a scenario is started now.
func (s *Scenario) plan(rules *config.Drill, vendor string, f control.FaultSpec) []string {
	switch {
	case s.show != nil:
		return slices.Clone(s.show.Explain)
	case s.Spike != nil:
		return s.planSpike()
	}
	if vendor == "" {
		vendor = "a vendor drawn by lot"
	}
	var out []string
	if s.Failover == failoverManual {
		out = append(out, "failover becomes manual, for as long as the drill runs")
	}
	if s.Steady {
		out = append(out, "the baseline is held for "+control.Duration(rules.Baseline).String())
	}
	if s.Window > 0 {
		out = append(out, "a random moment within "+control.Duration(s.Window).String()+" is waited for")
	}
	if s.external() {
		out = append(out, "people cut "+vendor+" and say so", "the engine notices, the weights shift")
	} else {
		out = append(out, s.what(f)+", at "+vendor)
	}
	for i := range s.Steps {
		out = append(out, fmt.Sprintf("%s later: %s", control.Duration(s.Steps[i].At), s.Steps[i].text()))
	}
	out = append(out, fmt.Sprintf("good service is proven over %s, against a target of %s", control.Duration(rules.Hold), control.Duration(min(rules.Target, orElse(s.bound(), rules.Target)))))
	if s.Restore == restoreByHand {
		out = append(out, "people restore it")
	} else if s.Judge != judgeRecovered {
		out = append(out, "the fault ends")
	}
	return append(out, "the vendor is back in its band, within "+clock(failbackTime.Seconds()))
}

func orElse(d, other time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return other
}

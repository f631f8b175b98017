package page

import (
	"fmt"
	"math"
	"strings"
	"time"

	"baton/engine/control"
)

// clock writes seconds as m:ss.t, rounded half up: a result is not made better than
// it was.
func clock(s float64) string {
	t := int64(math.Floor(math.Abs(s)*10 + 0.5 + 1e-6))
	sign := ""
	if s < 0 && t > 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%d:%02d.%d", sign, t/600, t/10%60, t%10)
}

// offset writes seconds from T0: T+0:04.212.
func offset(s float64) string {
	t := int64(math.Round(math.Abs(s) * 1000))
	sign := "T+"
	if s < 0 && t > 0 {
		sign = "T-"
	}
	return fmt.Sprintf("%s%d:%02d.%03d", sign, t/60000, t/1000%60, t%1000)
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000 MST") }

func ms(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.0f", *v)
}

func seconds(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f s", *v)
}

func money(v *float64) string {
	if v == nil {
		return "not known: a model or a vendor has no price"
	}
	return fmt.Sprintf("%.4f in the ledger's currency", *v)
}

// fault is a fault for people.
func fault(f *control.FaultSpec) string {
	switch f.Kind {
	case "", "show":
		return "none injected"
	case "spike":
		return "none injected: a load spike of " + f.For.String()
	}
	s := f.Kind
	if f.Percent != nil {
		s += fmt.Sprintf(" of %g %% of attempts", *f.Percent)
	}
	if f.Lane != "" {
		s += " in the lane " + f.Lane
	}
	if f.Ramp > 0 {
		s += ", ramped over " + f.Ramp.String()
	}
	if f.Delay > 0 {
		s += ", delayed by " + f.Delay.String()
	}
	if f.Rate > 0 {
		s += fmt.Sprintf(", %g events/s", f.Rate)
	}
	if f.After != nil {
		s += fmt.Sprintf(", after %d events", *f.After)
	}
	if f.InFlight != "" {
		s += ", streams in flight: " + f.InFlight
	}
	if f.For > 0 {
		s += ", for at most " + f.For.String()
	}
	return s
}

// meaning is what reaching a phase means.
func meaning(r *control.Report, phase string) string {
	spike := isSpike(r)
	switch phase {
	case control.PhaseSteady:
		return "the baseline was held"
	case control.PhaseFault:
		switch {
		case r.Incident:
			return "the first bad attempt: the clock starts"
		case spike:
			return "the load went up: the clock starts"
		}
		return "the fault was in: the clock starts"
	case control.PhaseDetected:
		return "the vendor was ejected, its weight fell, or a person acted"
	case control.PhaseShifted:
		return "under 1 % of the attempts begun went to it"
	case control.PhaseVerified:
		if spike {
			return "goodput was as before the spike for long enough"
		}
		return "good service without it was proven for the whole hold"
	case control.PhaseRestored:
		switch {
		case r.Incident:
			return "it answered again"
		case spike:
			return "the load went back"
		}
		return "the fault was gone"
	case control.PhaseFailback:
		return "its weight was back where it belongs"
	case control.PhaseDone, control.Failed, control.Aborted, control.Inconclusive:
		return "the end"
	}
	return ""
}

// named is a phase's name for people: a spike has no fault.
func named(r *control.Report, phase string) string {
	if isSpike(r) {
		switch phase {
		case control.PhaseFault:
			return "step up"
		case control.PhaseRestored:
			return "step back"
		}
	}
	return phase
}

// met says whether a bound was met, in a word.
func met(b control.Bound) string {
	switch {
	case b.OK:
		return "yes"
	case strings.HasPrefix(b.Got, "not seen"):
		return "not seen"
	}
	return "no"
}

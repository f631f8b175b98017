package weights

import (
	"cmp"
	"fmt"
	"math"
	"time"
)

// explain gives every vendor whose weight moved its reason: its own, or that of the vendor whose traffic it
// takes or gives.
func (l *Law) explain(ms []Measure, reasons []string) {
	lead, leadPenalty := -1, 0.0
	for i := range ms {
		if p := l.penalty(&ms[i], i); p > leadPenalty {
			lead, leadPenalty = i, p
		}
	}
	for i := range ms {
		v := &l.vendors[i]
		if reasons[i] == "" && v.ramped {
			reasons[i] = "recovered"
		}
		if reasons[i] != "" || math.Abs(v.w-v.told) <= 0.0005 {
			continue
		}
		switch {
		case ms[i].State == Down:
			reasons[i] = "ejected"
		case ms[i].State == Out:
			reasons[i] = "out of service"
		case 2*l.penalty(&ms[i], i) > leadPenalty: // what holds it back is its own, not another's
			reasons[i] = l.cause(&ms[i], i)
		case lead >= 0:
			reasons[i] = cmp.Or(ms[lead].Label, ms[lead].Name) + ": " + l.cause(&ms[lead], lead)
		default:
			reasons[i] = fmt.Sprintf("toward its configured %.0f%%", 100*ms[i].Base)
		}
	}
}

// penalty is how much of what is configured a vendor has lost, 0 to 1, to find the one that explains a move.
func (l *Law) penalty(m *Measure, i int) float64 {
	v := &l.vendors[i]
	switch {
	case !m.State.living() && v.told > 0.0005: // it has just lost it; later it explains nothing
		return 1
	case !m.State.living():
		return 0
	case m.State == Ramp:
		return 0.99
	case v.capped && l.target[i] > l.up[i]-1e-6, v.ceiling < 1 && l.target[i] > l.up[i]-1e-6:
		return 0.9
	}
	if m.Base <= 0 {
		return 0
	}
	return clampFinite(1-l.f[i]/m.Base, 0, 0.98)
}

// cause says what holds one vendor back, with its figures and windows.
func (l *Law) cause(m *Measure, i int) string {
	v := &l.vendors[i]
	errors := 1 - math.Pow(clampFinite(1-v.excess, 0, 1), l.p.Kappa)
	slow := 1 - math.Pow(math.Max(v.r, 1), -l.p.Gamma)
	switch {
	case m.State == Down:
		return "ejected"
	case m.State == Out:
		return "out of service"
	case m.State == Ramp:
		return fmt.Sprintf("recovering, %s of %s", m.RampFor.Round(time.Second), m.RampLen.Round(time.Second))
	case v.capped && l.target[i] > l.up[i]-1e-6:
		return l.causeOfRoom(v, i)
	case v.ceiling < 1 && l.target[i] > l.up[i]-1e-6:
		return fmt.Sprintf("first token P90 %.2fs, was beyond %.2fs for %s", m.FirstTokenP90, l.p.SLOP90.Seconds(), l.p.SLOHold)
	case errors >= slow && v.excess > 0:
		return fmt.Sprintf("errors at least %.1f%% against %.1f%%; %s window, n=%d",
			100*v.errorRate(), 100*(v.errorRate()-v.excess), seconds(v.errors.window), v.errors.n)
	case v.worst >= 0:
		against := ""
		if v.alone {
			against = "its own "
		}
		f := &v.latency[v.worst]
		return fmt.Sprintf("P90 %.2fs against %s%.2fs; %s window, n=%d", f.value, against, v.against, seconds(f.window), f.n)
	}
	return fmt.Sprintf("toward its configured %.0f%%", 100*m.Base)
}

func (l *Law) causeOfRoom(v *vendor, i int) string {
	r := &v.room
	if r.edge > 0 && r.share(l.rate) < r.cap {
		again := "being tested again"
		if left := r.until - l.clock; left > 0 {
			again = "tested again in " + left.Round(time.Second).String()
		}
		return fmt.Sprintf("overloaded at %.0f requests/s: at most %.1f%% of all traffic, %s", r.edge, 100*l.up[i], again)
	}
	return fmt.Sprintf("limited: can take %.1f%% of all traffic", 100*l.up[i])
}

func seconds(window int) string { return fmt.Sprintf("%.0fs", windows[window].Seconds()) }

func explainHold(dir int8, ago, left time.Duration) string {
	way := "up"
	if dir < 0 {
		way = "down"
	}
	return fmt.Sprintf("held: moved %s %s ago, may turn in %s", way, ago.Round(time.Second), left.Round(time.Second))
}

func (l *Law) explainPin(reasons []string) {
	for i := range reasons {
		v := &l.vendors[i]
		switch {
		case !l.override && v.state == Ramp:
			reasons[i] = "recovering: ramps to its pinned weight"
		case l.override || v.state.living():
			reasons[i] = "pinned"
		case v.state == Down:
			reasons[i] = "ejected: its pinned weight is with the others"
		default:
			reasons[i] = "out of service: its pinned weight is with the others"
		}
	}
}

func (l *Law) explainPanic(reasons []string) {
	for i := range reasons {
		reasons[i] = "panic: every vendor is down, all at their configured weights"
	}
}

package page

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"baton/engine/control"
)

// Figure is one of a scenario's own figures in words, with its unit.
type Figure struct{ Name, Value string }

// The units that figures are kept in.
const (
	number   = ""
	count    = "n"
	part     = "%" // kept as a part of 1
	perS     = "/s"
	inS      = "s"
	inMillis = "ms"
)

// told are the figures that are known, in the order in which they are read.
var told = []struct{ key, name, unit string }{
	{"contained_s", "contained, from the fault", inS},
	{"recovered_s", "served well again, from the last restore", inS},
	{"affected_s", "the first bad attempt, from the keypress", inS},
	{"cutover_from_affected_s", "cutover from the first bad attempt", inS},
	{"ejections", "ejections", count},
	{"sent", "requests sent in the spike", count},
	{"admitted", "admitted: answered whole", count},
	{"limited", "limited: refused with 429 and when to come again", count},
	{"shed", "shed: refused with 503 and when to come again", count},
	{"failed", "failed: anything else", count},
	{"dropped", "not sent: the generator had too many under way", count},
	{"goodput", "goodput of the spike: answered whole, of the requests due", part},
	{"admitted_rps", "admitted in the spike, each second", perS},
	{"p50_ms", "first token of those admitted in the spike, P50", inMillis},
	{"p90_ms", "first token of those admitted in the spike, P90", inMillis},
	{"p99_ms", "first token of those admitted in the spike, P99", inMillis},
	{"first_shed_s", "from the step up to the first refusal", inS},
	{"recover_s", "from the step back to goodput as before", inS},
	{"baseline_goodput", "goodput before the spike", part},
	{"baseline_p99_ms", "first token before the spike, P99", inMillis},
	{"recovery_goodput", "goodput after the spike", part},
	{"recovery_p99_ms", "first token after the spike, P99", inMillis},
	{"requests", "requests since the step up, as the engine counted", count},
	{"attempts", "attempts at vendors for them", count},
	{"amplification", "attempts for each request", number},
	{"attempts_per_admitted", "attempts for each request that was not refused", number},
	{"schedule_lag_p99_ms", "the generator sent late by, P99", inMillis},
	{"cpu_gateway_s", "processor time of the gateway in the spike", inS},
	{"cpu_vendors_s", "processor time of the simulated vendors", inS},
	{"cpu_generator_s", "processor time of the generator", inS},
	{"cpu_other_s", "processor time of the rest: scheduler, collector, store, console", inS},
}

// measuredFor is the figure that says how long processor time was measured.
const measuredFor = "cpu_measured_s"

// Figures are a report's own figures: the known ones in words and in the order in
// which they are read, then the others by their names.
func Figures(r *control.Report) []Figure {
	left := maps.Clone(r.Extra)
	if _, both := left["recover_s"]; both {
		delete(left, "recovered_s") // of a spike it is the same
	}
	span := left[measuredFor]
	var out []Figure
	for _, t := range told {
		v, is := left[t.key]
		if !is {
			continue
		}
		delete(left, t.key)
		value := valued(v, t.unit)
		if strings.HasPrefix(t.key, "cpu_") && span > 0 {
			value = fmt.Sprintf("%.1f s in %.1f s: %.0f %% of one core", v, span, 100*v/span)
			delete(left, measuredFor)
		}
		out = append(out, Figure{t.name, value})
	}
	for _, k := range slices.Sorted(maps.Keys(left)) {
		name, unit := unitOf(k)
		out = append(out, Figure{name, valued(left[k], unit)})
	}
	return out
}

// unitOf reads the unit off the end of a figure's name.
func unitOf(key string) (name, unit string) {
	name = key
	for _, u := range []struct{ end, unit string }{{"_ms", inMillis}, {"_rps", perS}, {"_s", inS}} {
		if rest, has := strings.CutSuffix(key, u.end); has {
			name, unit = rest, u.unit
			break
		}
	}
	return strings.ReplaceAll(name, "_", " "), unit
}

func valued(v float64, unit string) string {
	switch unit {
	case count:
		return thousands(int64(v))
	case part:
		return fmt.Sprintf("%.1f %%", 100*v)
	case inMillis:
		if v < 10 {
			return fmt.Sprintf("%.1f ms", v)
		}
		return thousands(int64(v+0.5)) + " ms"
	case inS:
		return fmt.Sprintf("%.1f s", v)
	case perS:
		return fmt.Sprintf("%.1f/s", v)
	}
	return fmt.Sprintf("%.6g", v)
}

// thousands writes a number in groups of three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

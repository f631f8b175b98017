package engine

import (
	"fmt"
	"math"
	"strings"
	"time"

	"baton/engine/control"
	"baton/engine/weights"
)

// observeEvery is how often the journal says of a vendor what the law would do.
const observeEvery = time.Minute

// would is what the journal last said that the law would give a vendor.
type would struct {
	weight float64 // 0-1
	at     time.Time
}

// observe says in the journal what the law would have done: where it would take
// the weights, once that is further from what was said than the law's own
// deadband. e.mu is held.
func (e *Engine) observe(t *table, d weights.Decision, now time.Time) {
	if len(d.Targets) != len(t.vendors) {
		return
	}
	due, lead, most := false, 0, math.Inf(-1)
	configured := e.configured(t)
	for i, v := range t.vendors {
		w := &v.would
		if w.at.IsZero() {
			w.weight = configured[i]
		}
		due = due || math.Abs(d.Targets[i]-w.weight) >= weights.Default().Enter && (w.at.IsZero() || now.Sub(w.at) >= observeEvery)
		// Of moves as large as each other the one downwards explains both.
		if down := w.weight - d.Targets[i]; down > most+1e-9 {
			lead, most = i, down
		}
	}
	if !due {
		return
	}
	why := d.Reasons[lead]
	if why == "" {
		why = strings.TrimPrefix(t.vendors[lead].why, observing)
	}
	if why != "" {
		why = ": " + why
	}
	var parts []string
	data := map[string]any{}
	for i, v := range t.vendors {
		parts = append(parts, fmt.Sprintf("%s %.0f→%.0f", e.label(v), 100*v.would.weight, 100*d.Targets[i]))
		data[v.Name] = math.Round(1000*d.Targets[i]) / 10
		v.would = would{weight: d.Targets[i], at: now}
	}
	e.log(control.Event{
		Time: now, Level: control.Info, Kind: "weights", Data: map[string]any{"would": data},
		Text: observing + "the law would move " + strings.Join(parts, ", ") + why,
	})
}

// observing stands before what the law would have done.
const observing = "observe: "

// reason is what the law says of a vendor's weight, r, as it is shown.
func (e *Engine) reason(r string) string {
	if e.pin == nil && e.cfg.Load().Routing.Mode == "observe" {
		return observing + r
	}
	return r
}

// configured are the weights of the file, over those that may take traffic.
func (e *Engine) configured(t *table) []float64 {
	w := make([]float64, len(t.vendors))
	sum := 0.0
	for i, v := range t.vendors {
		v.mu.Lock()
		barred := v.barred()
		v.mu.Unlock()
		if !barred {
			w[i] = v.cfg.Load().Weight
			sum += w[i]
		}
	}
	for i := range w {
		if sum > 0 {
			w[i] /= sum
		}
	}
	return w
}

// steer lets the law go on from the weights in force when it steers again after it
// has only observed. e.mu is held.
func (e *Engine) steer(old *table) {
	w := make(map[string]float64, len(old.vendors))
	for i, v := range old.vendors {
		w[v.Name] = old.weights[i]
		v.would = would{}
	}
	e.law.Set(w)
}

package drills

import (
	"strings"
	"time"

	"baton/engine/config"
)

// zone is where the days of drills begin and end.
func zone(r *config.Drill) *time.Location {
	if l, err := time.LoadLocation(r.Timezone); err == nil {
		return l
	}
	return time.UTC
}

func (m *Machine) zone() *time.Location {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.terms.zone
}

// blackout is the entry of drill.blackout in which a moment lies.
func blackout(r *config.Drill, at time.Time) (entry string, in bool) {
	day := at.In(zone(r)).Format(time.DateOnly)
	for _, b := range r.Blackout {
		from, to, ranged := strings.Cut(b, "..")
		if !ranged {
			to = from
		}
		if from <= day && day <= to {
			return b, true
		}
	}
	return "", false
}

package cli

import (
	"fmt"
	"strings"
	"time"

	"baton/engine/control"
)

// endsSoon is when what ends by itself is said to be ending.
const endsSoon = 2 * time.Minute

// overrides adds to the state what people have set that is not the engine's: the
// faults in force, and keys that are out of the rotation.
func (p *process) overrides(s *control.Snapshot, now time.Time) {
	p.reloading.Lock()
	set := p.set
	p.reloading.Unlock()
	for i := range s.Vendors {
		v := &s.Vendors[i]
		if st, on := p.faults.Point(v.Name).State(now); on && !p.machine.Sealed(v.Name) {
			until := st.Until.UTC()
			v.Fault = &control.FaultState{Kind: string(st.Kind), Percent: st.Percent, Lane: st.Lane, Until: until}
			restore := (&control.ClearFault{Vendor: v.Name}).Line()
			text := fmt.Sprintf("fault %s at %s", st.Kind, v.Name)
			if st.Percent < 100 {
				text += fmt.Sprintf(", %g%% of attempts", st.Percent)
			}
			if st.Lane != "" {
				text += ", lane " + st.Lane
			}
			s.Overrides = append(s.Overrides, control.Override{
				Kind: "fault", Vendor: v.Name, Text: text, By: p.held.who(v.Name), Until: &until, Release: restore, Ending: until.Sub(now) < endsSoon,
			})
			end := fmt.Sprintf("`%s`, or the end of the fault at %s UTC", restore, until.Format(time.TimeOnly))
			v.Release = strings.Join(append([]string{end}, nonEmpty(v.Release)...), "; ")
		}
		if x := set.Vendor(v.Name); x != nil {
			// Of a vendor whose last key is gone the engine says that it is disabled.
			if live, all := x.Keys.Live(), x.Keys.Len(); live > 0 && live < all {
				s.Overrides = append(s.Overrides, control.Override{
					Kind: "disabled", Vendor: v.Name, Text: fmt.Sprintf("%d of %d keys of %s refused", all-live, all, v.Name), Release: (&control.Enable{Vendor: v.Name}).Line(),
				})
			}
		}
	}
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// enabled puts the keys of a vendor that people have enabled back into the
// rotation: they say that its account is mended.
func (p *process) enabled(c *control.Enable) {
	p.reloading.Lock()
	v := p.set.Vendor(c.Vendor)
	p.reloading.Unlock()
	if v == nil {
		return
	}
	live, all := v.Keys.Live(), v.Keys.Len()
	v.Keys.Reset()
	if live > 0 && live < all { // of none the engine has told
		p.hub.Log(control.Event{
			Level: control.Info, Kind: "account", Vendor: c.Vendor, Who: c.Who(), Data: map[string]any{"command": c.Line()},
			Text: fmt.Sprintf("%s: all %d keys are in the rotation again", c.Vendor, all),
		})
	}
}

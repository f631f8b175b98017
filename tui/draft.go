package tui

import (
	"slices"
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// draft is weights that are not applied yet.
type draft struct {
	names    []string
	values   []float64 // whole percents that sum to 100
	base     []float64 // what they were when the draft was begun
	alive    []bool    // whose weight could be moved then
	revision int64     // what it was made against
	sending  bool      // on its way
	again    bool      // changed while on its way
	hold     bool      // something happened: only Enter applies it
}

func (d *draft) weights() map[string]float64 {
	w := make(map[string]float64, len(d.names))
	for i, n := range d.names {
		w[n] = d.values[i]
	}
	return w
}

func (d *draft) changed() bool {
	for i := range d.values {
		if d.values[i] != d.base[i] {
			return true
		}
	}
	return false
}

// newDraft begins with the present weights.
func newDraft(s *control.Snapshot) *draft {
	d := &draft{revision: s.Revision}
	for i := range s.Vendors {
		v := &s.Vendors[i]
		d.names = append(d.names, v.Name)
		d.values = append(d.values, v.Weight)
		d.alive = append(d.alive, movable(s, v))
	}
	d.values = toHundred(d.values)
	d.base = append([]float64(nil), d.values...)
	return d
}

// movable says whether a vendor's weight is people's to move. Under manual
// failover an ejection moves nothing, so that a vendor that is down carries its
// weight until somebody takes it away.
func movable(s *control.Snapshot, v *control.Vendor) bool {
	return draw.Alive(v.State) || v.State == control.Ejected && s.Failover == "manual"
}

// fixed are the vendors that make no room: the locked ones and those that may
// take no traffic.
func (m *Model) fixed() []bool {
	f := make([]bool, len(m.live.Vendors))
	for i := range m.live.Vendors {
		v := &m.live.Vendors[i]
		f[i] = m.locked[v.Name] || !movable(m.live, v)
	}
	return f
}

// edit sets the draft's weight of vendor i, from values as they were; it says
// why when that is not possible.
func (m *Model) edit(i int, from []float64, v float64) bool {
	vendor := &m.live.Vendors[i]
	switch {
	case len(m.live.Vendors) < 2:
		m.say(control.Warn, "alone")
		return false
	case m.locked[vendor.Name]:
		m.say(control.Warn, "is-locked", label(vendor))
		return false
	case !movable(m.live, vendor):
		_, word, _ := draw.StateWord(vendor.State, m.look)
		m.say(control.Warn, "dead", label(vendor), word)
		return false
	}
	values, ok := spread(from, i, v, m.fixed())
	if !ok {
		m.say(control.Warn, "no-room")
		return false
	}
	m.draft.values = values
	return true
}

// begin makes a draft if there is none.
func (m *Model) begin() {
	if m.draft == nil {
		m.draft = newDraft(m.live)
	}
}

// dropEmpty ends a draft that changes nothing.
func (m *Model) dropEmpty() {
	if m.draft != nil && !m.draft.sending && !m.draft.changed() {
		m.draft = nil
	}
}

// burst is nudges that came close together: the draft shows them at once, and
// they are sent as one change.
type burst struct {
	on    bool
	n     int // counts nudges
	begun time.Time
}

const (
	burstPause = 400 * time.Millisecond // after the last nudge
	burstMost  = 800 * time.Millisecond // after the first: the split follows within a second
)

// nudgedMsg comes a pause after nudge n.
type nudgedMsg int

// nudge moves the selected vendor's weight by delta.
func (m *Model) nudge(delta float64) tea.Cmd {
	if m.vendor() == nil {
		return nil
	}
	m.begin()
	v := m.draft.values[m.selected]
	if !m.edit(m.selected, m.draft.values, v+delta) {
		m.dropEmpty()
		return nil
	}
	if m.draft.values[m.selected] == v {
		m.say(control.Info, "at-end", label(&m.live.Vendors[m.selected]), draw.Whole(v))
		m.dropEmpty()
		return nil
	}
	if m.live.Apply == "enter" || m.draft.hold || m.draft.sending {
		return m.settle()
	}
	now := m.clock()
	if !m.burst.on {
		m.burst.on, m.burst.begun = true, now
	}
	m.burst.n++
	if now.Sub(m.burst.begun) >= burstMost {
		return m.settle()
	}
	return m.later(min(burstPause, burstMost-now.Sub(m.burst.begun)), nudgedMsg(m.burst.n))
}

// nudged sends a burst that has ended, or lasts too long to wait for its end.
func (m *Model) nudged(n nudgedMsg) tea.Cmd {
	over := int(n) == m.burst.n || m.clock().Sub(m.burst.begun) >= burstMost
	if !m.burst.on || !over || m.drag != nil {
		return nil
	}
	if m.draft == nil || m.draft.hold {
		m.burst.on = false
		return nil
	}
	return m.settle()
}

// setTo types a weight for the selected vendor.
func (m *Model) setTo(v float64) tea.Cmd {
	if m.vendor() == nil {
		return nil
	}
	m.begin()
	if !m.edit(m.selected, m.draft.values, v) {
		m.dropEmpty()
		return nil
	}
	return m.settle()
}

// equal stages equal weights.
func (m *Model) equal() tea.Cmd {
	m.begin()
	was := m.draft.values
	m.draft.values = equalise(was, m.fixed())
	if slices.Equal(was, m.draft.values) {
		key := "equal-already"
		if slices.Contains(m.fixed(), true) {
			key = "no-room"
		}
		m.say(control.Info, key)
		m.dropEmpty()
		return nil
	}
	return m.settle()
}

// settle applies a change of the draft, or leaves it staged where weights are
// applied by Enter.
func (m *Model) settle() tea.Cmd {
	d := m.draft
	m.burst.on = false
	switch {
	case d.sending:
		d.again = true
		return nil
	case !d.changed():
		m.draft = nil
		return nil
	case m.live.Apply == "enter" || d.hold:
		m.say(control.Info, "staged")
		return nil
	}
	return m.commit()
}

// commit sends the draft.
func (m *Model) commit() tea.Cmd {
	d := m.draft
	if d == nil || d.sending {
		return nil
	}
	m.burst.on = false
	d.sending, d.again, d.hold = true, false, false
	before := m.current()
	do := m.send(&control.SetWeights{Meta: m.atRevision(d.revision), Weights: d.weights()}, tagDraft)
	return func() tea.Msg {
		done, ok := do().(doneMsg)
		if ok {
			done.before = before
		}
		return done
	}
}

// draftDone takes how sending weights ended. A draft that changed meanwhile is
// sent again; one that was refused stays, to be looked at.
func (m *Model) draftDone(done doneMsg) tea.Cmd {
	d := m.draft
	if done.err == nil {
		m.past.did(done.before, m.now)
		m.sayText(control.Info, m.look.Sayf("applied", done.cmd.Line()))
	}
	if d == nil {
		return nil
	}
	d.sending = false
	if m.live != nil {
		d.revision = m.live.Revision
	}
	if done.err != nil {
		d.hold = true
		key := "refused"
		if stale(done.err) {
			key = "stale"
		}
		m.say(control.Crit, key, done.err)
		return nil
	}
	if d.again {
		copy(d.base, done.weightsOf(d.names))
		return m.settle()
	}
	m.draft = nil
	return nil
}

// weightsOf are the weights that were sent, in the order of names.
func (d *doneMsg) weightsOf(names []string) []float64 {
	out := make([]float64, len(names))
	if c, ok := d.cmd.(*control.SetWeights); ok {
		for i, n := range names {
			out[i] = c.Weights[n]
		}
	}
	return out
}

// checkDraft ends what a new state makes impossible: a vendor that came or went
// ends the draft, one that fell keeps it for a look.
func (m *Model) checkDraft() {
	d := m.draft
	if d == nil {
		return
	}
	if len(d.names) != len(m.live.Vendors) {
		m.draft, m.drag = nil, nil
		return
	}
	for i := range m.live.Vendors {
		v := &m.live.Vendors[i]
		if v.Name != d.names[i] {
			m.draft, m.drag = nil, nil
			return
		}
		alive := movable(m.live, v)
		if d.alive[i] && !alive {
			_, word, _ := draw.StateWord(v.State, m.look)
			m.drag, d.hold = nil, true
			m.say(control.Warn, "moved", label(v), word)
		}
		d.alive[i] = alive
	}
}

// release gives the weights back to the controller.
func (m *Model) release() tea.Cmd {
	if m.draft != nil && !m.draft.sending {
		m.draft, m.drag = nil, nil
	}
	if now := m.current(); !now.auto {
		m.past.did(now, m.now)
	}
	return m.send(&control.ReleaseWeights{Meta: m.atRevision(m.live.Revision)}, tagPlain)
}

// revert throws the draft away.
func (m *Model) revert() {
	m.draft, m.drag = nil, nil
	m.say(control.Info, "reverted")
}

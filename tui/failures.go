package tui

import (
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// failures are the last failed attempts of the vendor that is open.
type failures struct {
	vendor  string
	list    []control.Failure
	err     error
	got     bool
	pending bool
	asked   time.Time
	scroll  int
}

type failuresMsg struct {
	vendor string
	list   []control.Failure
	err    error
}

const (
	failuresKept  = 200
	failuresEvery = 2 * time.Second
)

// askFailures asks for the open vendor's failures, if those at hand are another
// one's or old.
func (m *Model) askFailures() tea.Cmd {
	v := m.vendor()
	f := &m.failures
	if !m.zoom || v == nil || m.frozen || m.lost != nil {
		return nil
	}
	if f.vendor != v.Name {
		*f = failures{vendor: v.Name}
	}
	if f.pending || !f.asked.IsZero() && m.now.Sub(f.asked) < failuresEvery {
		return nil
	}
	f.pending, f.asked = true, m.now
	ctl, name := m.o.Control, v.Name
	return func() tea.Msg {
		ctx, cancel := withTimeout()
		defer cancel()
		list, err := control.Get[[]control.Failure](ctx, ctl, control.FailuresOf{Vendor: name, Limit: failuresKept})
		return failuresMsg{name, list, err}
	}
}

// failuresCame takes an answer; what is being read stays where it is.
func (m *Model) failuresCame(x failuresMsg) {
	f := &m.failures
	if f.vendor != x.vendor {
		return // another vendor was opened meanwhile
	}
	f.pending, f.got, f.err = false, true, x.err
	if x.err != nil {
		return
	}
	if f.scroll > 0 && len(f.list) > 0 {
		for i := range x.list {
			if a, b := &x.list[i], &f.list[0]; a.RequestID == b.RequestID && a.Attempt == b.Attempt && a.Time.Equal(b.Time) {
				f.scroll += i
				break
			}
		}
	}
	f.list = x.list
	m.scrollFailures(0)
}

func (m *Model) scrollFailures(n int) {
	f := &m.failures
	most := len(f.list) - draw.FailureRows(m.lay.Events.W, m.lay.Events.H)
	f.scroll = min(max(0, f.scroll+n), max(0, most))
}

// failuresView is what is drawn in the journal's place while a vendor is open.
func (m *Model) failuresView() *draw.Failures {
	f := &m.failures
	v := &draw.Failures{List: f.list, Asked: f.got, Scroll: f.scroll, Location: m.loc}
	if f.err != nil {
		v.Error = f.err.Error()
	}
	if m.selected < len(m.shown.Vendors) {
		x := &m.shown.Vendors[m.selected]
		v.Label = label(x)
		if x.Name != f.vendor {
			v.List, v.Asked, v.Error = nil, false, ""
		}
	}
	return v
}

// open shows one vendor on the whole screen, or all again.
func (m *Model) open(on bool) tea.Cmd {
	m.zoom = on
	m.failures.scroll = 0
	m.relayout()
	return m.askFailures()
}

package tui

import (
	"time"

	"baton/engine/control"

	tea "github.com/charmbracelet/bubbletea"
)

// vector is weights that were in force; auto is the controller's.
type vector struct {
	auto    bool
	weights map[string]float64
}

// history is what undo and redo go through.
type history struct {
	undo, redo []vector
	last       time.Time
}

const (
	undoKept  = 20
	sameTouch = 1500 * time.Millisecond // changes so close are one to undo
)

// did records what was before a change.
func (h *history) did(before vector, now time.Time) {
	if !h.last.IsZero() && now.Sub(h.last) < sameTouch && len(h.undo) > 0 && len(h.redo) == 0 {
		h.last = now
		return
	}
	h.undo = append(h.undo, before)
	if len(h.undo) > undoKept {
		h.undo = h.undo[1:]
	}
	h.redo, h.last = nil, now
}

// current is what is in force.
func (m *Model) current() vector {
	if m.live.Pin == nil {
		return vector{auto: true}
	}
	return vector{weights: m.live.Pin.Weights}
}

// back undoes: a draft first, then the last change that was applied.
func (m *Model) back() tea.Cmd {
	if m.draft != nil && !m.draft.sending {
		m.revert()
		return nil
	}
	n := len(m.past.undo)
	if n == 0 {
		m.say(control.Info, "nothing-undo")
		return nil
	}
	v := m.past.undo[n-1]
	m.past.undo = m.past.undo[:n-1]
	m.past.redo = append(m.past.redo, m.current())
	m.past.last = time.Time{}
	return m.restoreVector(v, "undo")
}

// forth redoes.
func (m *Model) forth() tea.Cmd {
	n := len(m.past.redo)
	if n == 0 {
		m.say(control.Info, "nothing-redo")
		return nil
	}
	v := m.past.redo[n-1]
	m.past.redo = m.past.redo[:n-1]
	m.past.undo = append(m.past.undo, m.current())
	m.past.last = time.Time{}
	return m.restoreVector(v, "redo")
}

func (m *Model) restoreVector(v vector, reason string) tea.Cmd {
	meta := m.atRevision(m.live.Revision)
	if v.auto {
		return m.send(&control.ReleaseWeights{Meta: meta}, tagPlain)
	}
	return m.send(&control.SetWeights{Meta: meta, Weights: v.weights, Reason: reason}, tagPlain)
}

package tui

import (
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// drag is a knob being held. It ends with a release, the next press, Esc, or
// the loss of the focus; a multiplexer may swallow the release, and then what
// was dragged stays staged and is not applied.
type drag struct {
	vendor int
	grab   int       // cells from the knob to where it was taken hold of
	from   []float64 // weights when it began
	moved  time.Time
	stale  bool // nothing for a while: the release may be lost
}

const dragPatience = 1500 * time.Millisecond

// mouseEvent handles the mouse. Only Update changes what is drawn.
func (m *Model) mouseEvent(e tea.MouseEvent) tea.Cmd {
	x, y := min(max(e.X, 0), m.w-1), min(max(e.Y, 0), m.h-1)
	switch e.Action {
	case tea.MouseActionPress:
		m.dirty = true
		switch e.Button {
		case tea.MouseButtonLeft:
			return m.press(x, y)
		case tea.MouseButtonWheelUp, tea.MouseButtonWheelDown:
			return m.wheel(x, y, e.Button == tea.MouseButtonWheelUp, e.Ctrl)
		}
	case tea.MouseActionMotion:
		if m.costs.held {
			m.costsMouse(x, y, false)
		}
		if m.drag != nil {
			m.dirty = true
			m.dragTo(x)
		}
	case tea.MouseActionRelease:
		m.costs.held = false
		if m.drag != nil {
			m.dirty = true
			m.dragTo(x)
			return m.drop()
		}
	}
	return nil
}

// press takes hold of a knob, jumps a slider to the place, or selects.
func (m *Model) press(x, y int) tea.Cmd {
	m.dropDrag()
	if m.mode != modeNormal || m.live == nil || m.presenter {
		return nil
	}
	m.welcomeSeen()
	if m.place != placeVendors {
		if m.place == placeCosts {
			m.costsMouse(x, y, true)
		}
		return nil
	}
	i, ok := m.lay.SliderAt(x, y)
	if !ok {
		if i, ok := m.lay.PanelAt(x, y); ok {
			m.selected = i
		}
		return nil
	}
	m.selected = i
	if !m.mayWrite() {
		return nil
	}
	m.begin()
	nudged := m.burst.on
	m.burst.on = false   // what was nudged goes with the drag
	m.draft.hold = false // whoever takes hold has looked
	s := m.lay.Slider(i)
	knob := s.X + draw.Knob(m.draft.values[i], s.W)
	d := &drag{vendor: i, from: append([]float64(nil), m.draft.values...), moved: m.now}
	if x >= knob-1 && x <= knob+1 {
		d.grab = x - knob
	}
	m.drag = d
	if x != knob+d.grab && !m.dragTo(x) {
		m.drag = nil
		m.dropEmpty()
		if nudged && m.draft != nil {
			return m.settle() // nudges that this press would have taken along
		}
	}
	return nil
}

// dragTo follows the mouse to column x, whatever the row.
func (m *Model) dragTo(x int) bool {
	d := m.drag
	s := m.lay.Slider(d.vendor)
	if m.draft == nil || s.W <= 0 {
		m.drag = nil
		return false
	}
	d.moved, d.stale = m.now, false
	at := x - d.grab - s.X
	if at == draw.Knob(m.draft.values[d.vendor], s.W) {
		return true // the same cell: a click must not round a weight
	}
	return m.edit(d.vendor, d.from, draw.AtKnob(at, s.W))
}

// drop is the release: what was dragged is applied, or staged.
func (m *Model) drop() tea.Cmd {
	m.drag = nil
	if m.draft == nil {
		return nil
	}
	return m.settle()
}

// dropDrag ends a drag whose release was lost: its weights stay staged.
func (m *Model) dropDrag() {
	if m.drag == nil {
		return
	}
	m.drag = nil
	m.dirty = true
	m.dropEmpty()
	if m.draft != nil {
		m.draft.hold = true
		m.say(control.Warn, "lost-release")
	}
}

// wheel moves a slider by 1, with ctrl by 5, and scrolls the journal elsewhere.
func (m *Model) wheel(x, y int, up, ctrl bool) tea.Cmd {
	step := -1
	if up {
		step = 1
	}
	switch {
	case m.mode == modeHelp:
		m.scrolled = max(0, m.scrolled-step)
	case m.mode != modeNormal || m.live == nil || m.presenter || m.place != placeVendors:
	case m.lay.Events.Has(x, y):
		m.scrollBy(-3 * step)
	default:
		i, ok := m.lay.SliderAt(x, y)
		if !ok {
			return nil
		}
		m.welcomeSeen()
		m.selected = i
		if !m.mayWrite() {
			return nil
		}
		if ctrl {
			step *= 5
		}
		return m.nudge(float64(step))
	}
	return nil
}

// throttle lets a dragged mouse through thirty times a second and drops the
// motion that nobody looks at, before it gets into the queue.
func throttle() func(tea.Model, tea.Msg) tea.Msg {
	var last time.Time
	return func(model tea.Model, msg tea.Msg) tea.Msg {
		e, ok := msg.(tea.MouseMsg)
		if !ok || e.Action != tea.MouseActionMotion {
			return msg
		}
		now := time.Now()
		if m, ok := model.(*Model); !ok || m.drag == nil || now.Sub(last) < 33*time.Millisecond {
			return nil
		}
		last = now
		return msg
	}
}

package tui

import (
	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// place is which screen stands between the banner and the last line.
type place uint8

const (
	placeVendors place = iota // the vendors and the journal
	placeDrills
	placeOverrides
	placeCosts
	placeStress
)

// goTo opens a screen, or goes back to the vendors from it.
func (m *Model) goTo(p place) {
	if m.place == p {
		p = placeVendors
	}
	m.dropDrag()
	m.place, m.presenter = p, false
	m.costs.held = false
	m.relayout()
}

// placeKey gives a key to the screen that is open; ok is false where the key is
// none of its own.
func (m *Model) placeKey(k tea.KeyMsg) (cmd tea.Cmd, ok bool) {
	if m.presenter || m.live == nil {
		return nil, false
	}
	switch m.place {
	case placeDrills:
		return m.drillsKey(k.String())
	case placeOverrides:
		return m.overridesKey(k.String())
	case placeCosts:
		return m.costsKey(k.String())
	case placeStress:
		return m.stressKey(k.String())
	}
	return nil, false
}

// moved is a choice among n after a key; ok is false where the key chooses
// nothing.
func moved(key string, at, n, page int) (to int, ok bool) {
	switch key {
	case "up", "k":
		at--
	case "down", "j":
		at++
	case "pgup":
		at -= page
	case "pgdown":
		at += page
	case "home", "g":
		at = 0
	case "end", "G":
		at = n - 1
	default:
		return at, false
	}
	return max(0, min(at, n-1)), true
}

// body is where the screen that is open lies.
func (m *Model) body() Rect {
	l := &m.lay
	y := l.Header.H + l.Banner.H
	return Rect{0, y, m.w, max(0, m.h-y-l.Footer.H)}
}

// placeLines draws the screen that is open in w x h.
func (m *Model) placeLines(w, h int, k draw.Look) []string {
	switch m.place {
	case placeDrills:
		return m.drillsLines(w, h, k)
	case placeOverrides:
		return m.overridesLines(w, h, k)
	case placeCosts:
		return m.costsLines(w, h, k)
	case placeStress:
		return m.stressLines(w, h, k)
	}
	return nil
}

// placeHints are the keys of the screen that is open.
func (m *Model) placeHints() []draw.Hint {
	k := m.look
	off := m.readOnly || m.frozen || m.lost != nil
	h := func(key, word string, write bool) draw.Hint {
		return draw.Hint{Key: key, Does: k.Hints[word], Off: write && off}
	}
	updown := "↑↓"
	if k.ASCII {
		updown = "Up/Down"
	}
	var out []draw.Hint
	switch m.place {
	case placeDrills:
		d := m.drill()
		running := d != nil && d.Verdict == nil && !d.Incident
		if running {
			out = append(out, h("A", "abort", true))
			if d.Waits != "" {
				out = append(out, h("x", "mark", true))
			}
		}
		switch m.drills.tab {
		case tabScenarios:
			if !running {
				out = append(out, h("Enter", "arm", true))
			}
			out = append(out, h(updown, "choose", false))
		case tabRun:
			if running && len(d.Checklist) > 0 {
				out = append(out, h("Space", "tick", true))
			}
			if d != nil {
				out = append(out, h("c", "presenter", false))
			}
		case tabSchedule:
			out = append(out, h("x", "cancel", true), h(updown, "choose", false))
		default:
			out = append(out, h(updown, "choose", false))
		}
		out = append(out, h("Tab", "tabs", false), h("Esc", "close", false))
	case placeOverrides:
		out = append(out, h("p", "extend", true), h("Enter", "end", true), h(updown, "choose", false), h("Esc", "close", false))
	case placeCosts:
		out = append(out, h(k.Arrows(), "share", false), h("Tab", "select", false), h("Esc", "close", false))
	case placeStress:
		if m.stress.running {
			out = append(out, h("A", "stop", false))
		} else {
			out = append(out, h("Enter", "start", m.o.Stress != nil))
		}
		out = append(out, h("Tab", "select", false), h("Esc", "close", false))
	}
	return out
}

// overridesKey is a key on the overrides' screen.
func (m *Model) overridesKey(key string) (tea.Cmd, bool) {
	all := m.live.Overrides
	if to, ok := moved(key, m.atOver, len(all), 10); ok {
		m.atOver = to
		return nil, true
	}
	at := min(max(0, m.atOver), len(all)-1)
	switch key {
	case "enter":
		if at >= 0 && m.mayWrite() {
			return m.runLine(all[at].Release), true
		}
		return nil, true
	case "p":
		if at >= 0 && m.mayWrite() {
			return m.prolong(&all[at]), true
		}
		return nil, true
	}
	return nil, false
}

func (m *Model) overridesLines(w, h int, k draw.Look) []string {
	iw, ih := draw.PageRoom(w, h)
	v := draw.Overrides{Labels: m.labels(), At: m.atOver, Now: m.moment(), Act: !m.readOnly}
	if m.shown != nil {
		v.List = m.shown.Overrides
	}
	return draw.Page([]draw.Tab{{Name: k.Sayf("overrides-title"), On: true}}, []draw.Span{{Style: k.Dim, Text: "o Esc"}}, v.Lines(iw, ih, k), w, h, k)
}

// extendedNext is what ends next of what can be prolonged, nil where nothing can.
func extendedNext(s *control.Snapshot) *control.Override {
	var next *control.Override
	for i := range s.Overrides {
		o := &s.Overrides[i]
		if o.Extend == "" || o.Until == nil {
			continue
		}
		if next == nil || o.Until.Before(*next.Until) {
			next = o
		}
	}
	return next
}

// extend prolongs what ends next, else the pin.
func (m *Model) extend() tea.Cmd {
	switch next := extendedNext(m.live); {
	case next != nil:
		return m.prolong(next)
	case m.live.Pin != nil:
		return m.extendPin()
	}
	m.say(control.Info, "nothing-extend")
	return nil
}

// prolong gives an override more time: a pin fifteen minutes, with its reason;
// others what their own command says.
func (m *Model) prolong(o *control.Override) tea.Cmd {
	switch {
	case o.Kind == "pin" && m.live.Pin != nil:
		return m.extendPin()
	case o.Extend == "":
		m.say(control.Info, "nothing-extend")
		return nil
	}
	return m.runLine(o.Extend)
}

// extendPin gives a pin another fifteen minutes.
func (m *Model) extendPin() tea.Cmd {
	p := m.live.Pin
	return m.send(&control.SetWeights{
		Meta: m.atRevision(m.live.Revision), Weights: p.Weights, For: control.Duration(pinFor), Reason: p.Reason, Override: p.Override,
	}, tagPlain)
}

// runLine carries out a command line that the engine offers.
func (m *Model) runLine(line string) tea.Cmd {
	c, err := parseCommand(line, m.live, m.look.Words)
	if err != nil || c == nil {
		m.say(control.Warn, "cannot-run", line)
		return nil
	}
	if w, ok := c.(*control.SetWeights); ok {
		w.Meta = m.atRevision(m.live.Revision)
	}
	return m.send(signed(c, m.o.Operator), tagPlain)
}

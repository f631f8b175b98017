package tui

import (
	"math"
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// costPage is what the costs' screen knows.
type costPage struct {
	costs    fetched[*control.Costs]
	leverage fetched[*control.Leverage]
	shares   []float64 // of the what-if, percent by vendor; nil: as they are
	held     bool      // the mouse holds one of its knobs
}

const costsEvery = 5 * time.Second

// costsMsg is an answer about money: one of both.
type costsMsg struct {
	costs    *control.Costs
	leverage *control.Leverage
	of       bool // the leverage
	err      error
}

func (m *Model) openCosts() tea.Cmd {
	m.goTo(placeCosts)
	m.costs.shares = nil
	return m.askPages()
}

func (m *Model) askCosts() tea.Cmd {
	c := &m.costs
	var cmds []tea.Cmd
	if c.costs.due(m.now, costsEvery) {
		cmds = append(cmds, asking(m.o.Control, control.CostsOf{}, func(x *control.Costs, err error) tea.Msg { return costsMsg{costs: x, err: err} }))
	}
	if c.leverage.due(m.now, 6*costsEvery) {
		cmds = append(cmds, asking(m.o.Control, control.LeverageOf{}, func(x *control.Leverage, err error) tea.Msg { return costsMsg{leverage: x, of: true, err: err} }))
	}
	return tea.Batch(cmds...)
}

func (m *Model) costsCame(x costsMsg) {
	if x.of {
		m.costs.leverage.came(x.leverage, x.err)
		return
	}
	m.costs.costs.came(x.costs, x.err)
}

// currency is the ledger's, "" while it is not known.
func (m *Model) currency() string {
	if m.shown == nil {
		return ""
	}
	return m.shown.Cost.Currency
}

// present are the shares of now, in whole percents: what the ledger saw, else
// the weights.
func (m *Model) present() []float64 {
	n := len(m.live.Vendors)
	out := make([]float64, n)
	sum := 0.0
	if l := m.costs.leverage.value; l != nil {
		for i := range m.live.Vendors {
			for j := range l.Vendors {
				if s := &l.Vendors[j]; s.Vendor == m.live.Vendors[i].Name && s.Share != nil {
					out[i] = *s.Share
					sum += *s.Share
				}
			}
		}
	}
	if math.Abs(sum-100) < 1 {
		return toHundred(out)
	}
	for i := range m.live.Vendors {
		out[i] = m.live.Vendors[i].Weight
	}
	return toHundred(out)
}

// suppose moves the selected vendor's share in the what-if; nothing is sent.
func (m *Model) suppose(to float64) {
	from := m.costs.shares
	if len(from) != len(m.live.Vendors) {
		from = m.present()
	}
	if m.selected >= len(from) {
		return
	}
	if next, ok := spread(from, m.selected, to, make([]bool, len(from))); ok {
		m.costs.shares = next
	}
	m.dirty = true
}

func (m *Model) costsKey(key string) (tea.Cmd, bool) {
	by := 0.0
	switch key {
	case "left", "h":
		by = -1
	case "right", "l":
		by = 1
	case "shift+left", "H", "ctrl+left":
		by = -5
	case "shift+right", "L", "ctrl+right":
		by = 5
	case "a", "u":
		m.costs.shares = nil
		return nil, true
	case "esc":
		if m.costs.shares == nil {
			return nil, false
		}
		m.costs.shares = nil
		return nil, true
	default:
		return nil, false
	}
	if from := m.sharesNow(); m.selected < len(from) {
		m.suppose(from[m.selected] + by)
	}
	return nil, true
}

// sharesNow are the what-if's shares, or those of now.
func (m *Model) sharesNow() []float64 {
	if len(m.costs.shares) == len(m.live.Vendors) {
		return m.costs.shares
	}
	return m.present()
}

func (m *Model) costsView() *draw.Costs {
	c := &m.costs
	v := &draw.Costs{C: c.costs.value, L: c.leverage.value, Error: c.costs.fault(), Asked: c.costs.got, Labels: m.labels(), Selected: m.selected}
	if m.live == nil {
		return v
	}
	for i := range m.live.Vendors {
		v.Vendors = append(v.Vendors, m.live.Vendors[i].Name)
	}
	v.Shares, v.Staged = m.sharesNow(), c.shares != nil
	if l := c.leverage.value; l != nil {
		shares := map[string]float64{}
		for i, n := range v.Vendors {
			shares[n] = v.Shares[i]
		}
		what := l.Split(shares)
		v.What = &what
	}
	return v
}

func (m *Model) costsLines(w, h int, k draw.Look) []string {
	iw, ih := draw.PageRoom(w, h)
	v := m.costsView()
	var right []draw.Span
	if v.C != nil && v.C.Simulated {
		right = append(right, draw.Span{Style: k.Dim, Text: k.Sayf("example-prices") + "  "})
	}
	return draw.Page([]draw.Tab{{Name: k.Sayf("costs-title"), On: true}}, append(right, draw.Span{Style: k.Dim, Text: "$ Esc"}), v.Lines(iw, ih, k), w, h, k)
}

// costsMouse takes hold of the what-if's sliders; ok is false elsewhere.
func (m *Model) costsMouse(x, y int, press bool) bool {
	b := m.body()
	iw, ih := draw.PageRoom(b.W, b.H)
	sx, sy, n := m.costsView().SliderAt(iw, ih, m.look)
	if n == 0 {
		return false
	}
	sx, sy = sx+b.X+(b.W-iw)/2, sy+b.Y+(b.H-ih)/2
	if press {
		i := y - sy
		if i < 0 || i >= len(m.live.Vendors) || x < sx-1 || x > sx+n {
			return false
		}
		m.selected, m.costs.held = i, true
	}
	if !m.costs.held {
		return false
	}
	m.suppose(draw.AtKnob(x-sx, n))
	return true
}

package tui

import (
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
)

// View is the frame; it is drawn anew only when something changed.
func (m *Model) View() string {
	if m.dirty || m.cached == "" {
		m.cached = strings.Join(m.frameLines(), "\n")
		m.dirty = false
	}
	return m.cached
}

// shape is what the layout is made for now.
func (m *Model) shape() Shape {
	s := Shape{W: m.w, H: m.h, Selected: m.selected, Zoom: m.zoom}
	if m.shown != nil {
		s.Vendors = len(m.shown.Vendors)
	}
	text, _ := m.banner()
	s.Banner = text != ""
	switch {
	case m.drill() != nil && m.drill().Sealed && m.drill().Verdict == nil:
		s.Top = TopLine
	case m.drill() != nil:
		s.Top = TopDrill
	case m.welcome && m.shown != nil && m.shown.Simulated:
		s.Top, s.Welcome = TopWelcome, m.firstScreen().Rows(m.w)
	}
	return s
}

func (m *Model) relayout() {
	m.lay = Compute(m.shape())
	m.dirty = true
}

// frameLines draws everything.
func (m *Model) frameLines() []string {
	if s := m.shape(); s != m.lay.Shape {
		m.lay = Compute(s)
	}
	l := &m.lay
	look := m.look
	if m.lost != nil || m.frozen {
		look = m.grey
	}
	sc := newScreen(m.w, m.h)
	sc.put(l.Header, []string{m.header().Line(m.w, m.look)})
	if text, st := m.banner(); text != "" {
		sc.put(l.Banner, []string{draw.Banner(st, text, m.w, m.look)})
	}
	switch r := m.body(); {
	case m.presenter && m.drill() != nil:
		sc.put(r, m.drillView().Presenter(r.W, r.H, m.look))
	case m.place != placeVendors && m.shown != nil:
		sc.put(r, m.placeLines(r.W, r.H, look))
	default:
		m.putVendors(sc, look)
	}
	sc.put(l.Footer, []string{m.footer(m.w)})
	lines := sc.lines()
	if box := m.box(); len(box) > 0 {
		draw.Centre(lines, box, m.w)
	}
	return lines
}

// putVendors draws the vendors, with what stands above them and below.
func (m *Model) putVendors(sc *screen, k draw.Look) {
	l := &m.lay
	m.putTop(sc, k)
	m.putPanels(sc, k)
	if m.zoom && m.shown != nil {
		sc.put(l.Events, m.failuresView().Lines(l.Events.W, l.Events.H, k))
		return
	}
	e := draw.Events{List: m.journal(), Filter: m.filter, Scroll: m.scroll, Labels: m.labels(), Location: m.loc}
	sc.put(l.Events, e.Lines(l.Events.W, l.Events.H, k))
}

// journal are the events so far: in a replay those of later moments are known
// already after a step back.
func (m *Model) journal() []control.Event {
	if m.player == nil || m.shown == nil {
		return m.events
	}
	n := len(m.events)
	for n > 0 && m.events[n-1].Time.After(m.shown.Time) {
		n--
	}
	return m.events[:n]
}

func (m *Model) header() *draw.Header {
	h := &draw.Header{S: m.shown, Now: m.moment(), Location: m.loc, ReadOnly: m.readOnly, Frozen: m.frozen, Remote: m.o.Address, Lost: m.lost != nil}
	if m.frozen {
		h.Age = m.now.Sub(m.frozenAt)
	}
	if m.player != nil {
		p := m.player.Position()
		h.Replay = &draw.Replay{Name: p.Name, At: p.At, Length: p.Length, Speed: p.Speed}
	}
	if m.shown != nil {
		h.PerHour, h.OverS, h.Currency = m.shown.Cost.PerHour, m.shown.Cost.OverS, m.shown.Cost.Currency
	}
	return h
}

func (m *Model) lostText() string {
	if m.lost == nil {
		return m.o.Address
	}
	s := draw.Clean(m.lost.Error())
	if m.o.Address != "" && !strings.Contains(s, m.o.Address) {
		s = m.o.Address + ": " + s
	}
	return s
}

// putTop draws the clock or the first screen.
func (m *Model) putTop(sc *screen, k draw.Look) {
	r := m.lay.Top
	if r.H == 0 {
		return
	}
	switch m.lay.Shape.Top {
	case TopDrill, TopLine:
		sc.put(r, m.drillView().Lines(r.W, r.H, m.look))
	case TopWelcome:
		sc.put(r, m.firstScreen().Lines(r.W, r.H, k))
	}
}

func (m *Model) firstScreen() *draw.Welcome {
	w := &draw.Welcome{Address: m.shown.Gateway.Address}
	if m.selected < len(m.shown.Vendors) {
		w.Label = label(&m.shown.Vendors[m.selected])
	}
	return w
}

func (m *Model) putPanels(sc *screen, k draw.Look) {
	if m.shown == nil {
		return
	}
	per := m.percents()
	least := m.h
	for _, r := range m.lay.Panels {
		least = min(least, r.H)
	}
	for i, r := range m.lay.Panels {
		n := m.lay.First + i
		if n >= len(m.shown.Vendors) {
			break
		}
		v := &m.shown.Vendors[n]
		p := draw.Panel{
			N: n + 1, V: v, Selected: n == m.selected, Locked: m.locked[v.Name], Hi: m.scale.hi, Now: m.shown.Time, SLO: m.shown.Target,
			Because: faulty(m.shown), Held: held(m.shown), Lost: m.lost != nil, Spare: r.H - least, PinUntil: m.pinUntil(),
		}
		for i := range m.shown.Vendors {
			if o := &m.shown.Vendors[i]; o.Name != v.Name && strings.HasPrefix(v.Why, o.Name+": ") {
				p.WhyOf = label(o)
			}
		}
		if pin := m.shown.Pin; pin != nil {
			p.PinAt = pin.Weights[v.Name]
		}
		if n < len(per.weight) {
			p.Weight, p.Target, p.Share = per.weight[n], per.target[n], per.share[n]
		}
		if d := m.draft; d != nil && n < len(d.values) && (d.values[n] != d.base[n] || d.sending) {
			p.Staged, p.Draft, p.Applying = true, d.values[n], d.sending || m.burst.on
		}
		sc.put(r, m.panel(i, panelKey{p, r.W, r.H, k, m.zoom}))
	}
}

// pinUntil is when the pin ends, in the operator's time; "" without one.
func (m *Model) pinUntil() string {
	p := m.shown.Pin
	switch {
	case p == nil || p.Until.IsZero():
		return ""
	case p.Until.Sub(m.shown.Time) > 20*time.Hour:
		return p.Until.In(m.loc).Format("01-02 15:04")
	}
	return p.Until.In(m.loc).Format(time.TimeOnly)
}

// panelKey is everything that a panel's lines depend on. A snapshot never
// changes, so its vendor's address stands for all of it.
type panelKey struct {
	draw.Panel
	w, h int
	look draw.Look
	zoom bool
}

// drawnPanel is a panel as it was drawn last.
type drawnPanel struct {
	key   panelKey
	lines []string
}

// panel draws panel i, or gives what was drawn: the clock makes ten frames a
// second, snapshots come four times a second.
func (m *Model) panel(i int, k panelKey) []string {
	for len(m.panels) <= i {
		m.panels = append(m.panels, drawnPanel{})
	}
	d := &m.panels[i]
	if d.lines == nil || d.key != k {
		lines := k.Panel.Lines
		if k.zoom {
			lines = k.Panel.Detail
		}
		*d = drawnPanel{k, lines(k.w, k.h, k.look)}
	}
	return d.lines
}

func (m *Model) labels() map[string]string {
	if m.shown == nil {
		return nil
	}
	l := make(map[string]string, len(m.shown.Vendors))
	for i := range m.shown.Vendors {
		l[m.shown.Vendors[i].Name] = m.shown.Vendors[i].Label
	}
	return l
}

// footer is the line being typed, what was said last, or the keys.
func (m *Model) footer(w int) string {
	k := m.look
	if p := m.prompt; m.mode == modePrompt && p != nil {
		return draw.Prompt(p.label, string(p.text), p.at, p.hint, w, k)
	}
	if m.message.text != "" && m.now.Before(m.message.until) {
		st := k.OK
		switch m.message.level {
		case control.Crit:
			st = k.CritBold
		case control.Warn:
			st = k.WarnBold
		}
		return draw.Message(st, m.message.text, w, k)
	}
	const wide = 110 // beside the notice of a fault, the keys of a screen
	if m.player != nil || m.place != placeVendors && !m.presenter && w < wide {
		return draw.Hints(nil, m.hints(), m.lastHints(), w, k)
	}
	return draw.Hints(m.faultNotice(w), m.hints(), m.lastHints(), w, k)
}

// hints are the keys that matter now, the most important ones first.
func (m *Model) hints() []draw.Hint {
	k := m.look
	off := m.readOnly || m.frozen || m.lost != nil
	h := func(key, word string, write bool) draw.Hint {
		return draw.Hint{Key: key, Does: k.Hints[word], Off: write && off}
	}
	var out []draw.Hint
	if m.player != nil {
		out = append(out, h("Space", "pause", false), h("+ -", "speed", false), h("[ ]", "seek", false))
	}
	switch {
	case m.place != placeVendors && !m.presenter:
		return append(out, m.placeHints()...)
	case m.player != nil: // nothing else does anything
		if m.drill() != nil {
			out = append(out, h("c", "presenter", false))
		}
		return append(out, h("Tab", "select", false), h("d", "drills", false), h("z", "zoom", false), h("/", "filter", false), h("f", "freeze", false))
	}
	switch {
	case m.draft != nil && !m.draft.sending && !m.burst.on:
		out = append(out, h("Enter", "apply", true), h("Esc", "esc", false))
	case m.readOnly && !m.o.ReadOnly:
		out = append(out, h("W", "readonly", false))
	}
	drain := "drain"
	if v := m.vendor(); v != nil && v.State == control.Drained {
		drain = "undrain"
		out = append(out, h("D", drain, true))
	}
	out = append(out, h(k.Arrows(), "nudge", true), h("Tab", "select", false), h("K", "kill", true))
	if m.lost != nil || m.shown == nil || !faulty(m.shown) {
		out = append(out, h("R", "restore", true))
	}
	if d := m.drill(); d != nil {
		if d.Verdict == nil && d.Waits != "" {
			out = append(out, h("x", "mark", true))
		}
		if d.Verdict == nil && !d.Incident {
			out = append(out, h("A", "abort", true))
		}
		out = append(out, h("c", "presenter", false))
	}
	if m.shown != nil && len(m.shown.Overrides) > 0 {
		out = append(out, h("o", "overrides", false))
	}
	out = append(out, h("u", "undo", true), h("a", "auto", true))
	if drain == "drain" {
		out = append(out, h("D", drain, true))
	}
	return append(out, h("=", "number", true), h("d", "drills", false), h("z", "zoom", false), h(":", "command", false), h("/", "filter", false), h("f", "freeze", false), h("$", "costs", false), h("S", "stress", false))
}

func (m *Model) lastHints() []draw.Hint {
	quit := "quit"
	if !m.o.Embedded {
		quit = "leave"
	}
	return []draw.Hint{{Key: "?", Does: m.look.Hints["help"]}, {Key: "q", Does: m.look.Hints[quit]}}
}

// box is what lies over the screen.
func (m *Model) box() []string {
	k := m.look
	w, h := m.w, m.h
	switch m.mode {
	case modeQuestion:
		return m.question.Lines(w, h, k)
	case modeList:
		return m.list.Lines(w, h-2, k)
	case modeHelp:
		return m.help().Lines(w, m.helpHeight(), k)
	}
	return nil
}

// helpHeight leaves the first line and the last one free.
func (m *Model) helpHeight() int { return max(3, m.h-2) }

func (m *Model) help() *draw.Help {
	k := m.look
	d := &draw.Help{Scroll: m.scrolled}
	switch {
	case m.player != nil:
		d.Note = k.Sayf("replay-only")
	case m.o.ReadOnly:
		d.Note = k.Sayf("readonly-forced")
	case m.readOnly:
		d.Note = k.Sayf("readonly")
	}
	for _, x := range helpKeys {
		key := x.keys
		if k.ASCII {
			key = strings.NewReplacer("↑ ↓", "Up Down", "← →", "Left Right").Replace(key)
		}
		d.Keys = append(d.Keys, draw.Hint{Key: key, Does: k.Keys[x.text], Off: x.write && m.readOnly})
	}
	return d
}

package tui

import (
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
	"baton/tui/theme"

	tea "github.com/charmbracelet/bubbletea"
)

// key handles a key, or several runes that came in one read.
func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	if k.Type == tea.KeyCtrlC {
		return m.interrupt()
	}
	if k.Type == tea.KeyRunes && len(k.Runes) > 1 && !k.Paste {
		if fragment(k.Runes) {
			return nil
		}
		var cmds []tea.Cmd
		for _, r := range k.Runes {
			cmds = append(cmds, m.oneKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: k.Alt}))
		}
		return tea.Sequence(cmds...)
	}
	return m.oneKey(k)
}

// oneKey gives a key to whoever has the keyboard.
func (m *Model) oneKey(k tea.KeyMsg) tea.Cmd {
	if m.mode != modePrompt && !(m.mode == modeQuestion && m.question.Typed) && (k.Paste || k.Alt) {
		return nil // a paste is no command; alt+[ is half of a mouse sequence
	}
	switch m.mode {
	case modePrompt:
		return m.promptKey(k)
	case modeQuestion:
		return m.questionKey(k)
	case modeHelp:
		return m.helpKey(k)
	case modeList:
		return m.listKey(k)
	}
	m.welcomeSeen()
	m.message = message{}
	if cmd, ok := m.playerKey(k); ok {
		return cmd
	}
	if cmd, ok := m.placeKey(k); ok {
		return cmd
	}
	a, ok := bound[k.String()]
	if !ok || m.place != placeVendors && onSliders[a] {
		return nil
	}
	return m.act(a, k)
}

// welcomeSeen puts the first screen away; the key that does it does its own
// work too.
func (m *Model) welcomeSeen() {
	if m.welcome && m.live != nil {
		m.welcome = false
		m.relayout()
	}
}

// interrupt is ctrl+c: q, and twice within two seconds the end.
func (m *Model) interrupt() tea.Cmd {
	if !m.interrupted.IsZero() && m.clock().Sub(m.interrupted) < 2*time.Second || !m.o.Embedded {
		return m.leave(m.outright())
	}
	m.interrupted = m.clock()
	cmd := m.askQuit()
	m.say(control.Warn, "quit-again")
	return cmd
}

func (m *Model) outright() Exit {
	if m.o.Embedded {
		return Stopped
	}
	return Left
}

func (m *Model) leave(e Exit) tea.Cmd {
	if m.stress.cancel != nil {
		m.stress.cancel()
	}
	m.exit = e
	return tea.Quit
}

// mayWrite says whether something may be changed, and if not, why.
func (m *Model) mayWrite() bool {
	switch {
	case m.player != nil:
		m.say(control.Warn, "replay-only")
	case m.o.ReadOnly:
		m.say(control.Warn, "readonly-forced")
	case m.readOnly:
		m.say(control.Warn, "readonly")
	case m.frozen:
		m.say(control.Warn, "frozen")
	case m.live == nil || m.lost != nil:
		m.say(control.Warn, "unreachable", m.lostText())
	default:
		return true
	}
	return false
}

// act carries an action out.
func (m *Model) act(a action, k tea.KeyMsg) tea.Cmd {
	if a == actAbort && m.frozen {
		m.freeze() // what ends a drill must not wait
	}
	if writes[a] && !m.mayWrite() {
		return nil
	}
	switch a {
	case actSelect:
		if n := int(k.Runes[0] - '1'); m.live != nil && n >= len(m.live.Vendors) {
			m.say(control.Info, "no-such", n+1)
		} else {
			m.choose(n)
		}
	case actNext:
		m.step(1)
	case actPrevious:
		m.step(-1)
	case actDown1:
		return m.nudge(-1)
	case actUp1:
		return m.nudge(1)
	case actDown5:
		return m.nudge(-5)
	case actUp5:
		return m.nudge(5)
	case actEqual:
		return m.equal()
	case actUndo:
		return m.back()
	case actRedo:
		return m.forth()
	case actAuto:
		return m.release()
	case actExtend:
		return m.extend()
	case actRestore:
		return m.restore(m.vendor())
	case actDrain:
		return m.askDrain(m.vendor(), false)
	case actAbort:
		return m.abort()
	case actApply:
		return m.enter()
	case actEsc:
		return m.escape()
	case actDrills:
		return m.openDrills()
	case actOverrides:
		m.goTo(placeOverrides)
	case actCosts:
		return m.openCosts()
	case actStress:
		m.goTo(placeStress)
	case actMark:
		return m.mark(0)
	case actSnapshot:
		return m.capture()
	case actMouse:
		return m.toggleMouse()
	case actZoom:
		return m.open(!m.zoom)
	case actRedraw:
		return tea.ClearScreen
	case actQuit:
		return m.askQuit()
	default:
		m.view(a)
	}
	return nil
}

// view carries out what changes only what this console shows, and what opens a
// box.
func (m *Model) view(a action) {
	switch a {
	case actKill:
		m.askKill(m.vendor(), control.FaultSpec{Kind: "refuse"})
	case actNumber:
		if v := m.vendor(); v != nil {
			m.openPrompt(promptNumber, strings.ReplaceAll(m.look.Number, "%s", draw.Clean(label(v)))+" ")
		}
	case actCommand:
		m.openPrompt(promptCommand, ":")
	case actFilter:
		m.openPrompt(promptFilter, "/")
		m.prompt.set(m.filter)
	case actLock:
		if v := m.vendor(); v != nil {
			m.locked[v.Name] = !m.locked[v.Name]
			key := "lock-off"
			if m.locked[v.Name] {
				key = "lock-on"
			}
			m.say(control.Info, key, label(v))
		}
	case actClock:
		if m.drill() == nil && !m.presenter {
			m.say(control.Info, "no-presenter")
			return
		}
		m.presenter = !m.presenter
	case actFreeze:
		m.freeze()
	case actOlder:
		m.scrollBy(m.pageRows())
	case actNewer:
		m.scrollBy(-m.pageRows())
	case actTheme:
		m.setTheme(theme.New(m.look.Next(), m.look.ASCII, m.depth), m.look.Words)
		m.say(control.Info, "theme", m.look.Name)
	case actReadOnly:
		m.toggleReadOnly()
	case actHelp:
		m.mode, m.scrolled = modeHelp, 0
	}
}

func (m *Model) choose(i int) {
	if m.live != nil && i < len(m.live.Vendors) {
		m.selected = i
		m.relayout()
	}
}

func (m *Model) step(by int) {
	if m.live == nil || len(m.live.Vendors) == 0 {
		return
	}
	n := len(m.live.Vendors)
	m.selected = (m.selected + by + n) % n
	m.relayout()
}

func (m *Model) freeze() {
	m.frozen = !m.frozen
	m.frozenAt = m.now
	if !m.frozen {
		m.shown = m.live
	}
	m.relayout()
}

func (m *Model) toggleReadOnly() {
	switch {
	case m.player != nil:
		m.say(control.Warn, "replay-only")
		return
	case m.o.ReadOnly:
		m.say(control.Warn, "readonly-forced")
		return
	}
	m.readOnly = !m.readOnly
	if m.readOnly {
		m.draft, m.drag = nil, nil
		m.say(control.Info, "locked")
	} else {
		m.say(control.Info, "unlocked")
	}
}

func (m *Model) toggleMouse() tea.Cmd {
	m.mouse = !m.mouse
	m.dropDrag()
	if m.mouse {
		m.say(control.Info, "mouse-on")
		return tea.EnableMouseCellMotion
	}
	m.say(control.Info, "mouse-off")
	return tea.DisableMouse
}

func (m *Model) pageRows() int {
	if m.zoom {
		return max(1, draw.FailureRows(m.lay.Events.W, m.lay.Events.H)-1)
	}
	return max(1, m.lay.Events.H-3)
}

func (m *Model) scrollBy(n int) {
	if m.zoom {
		m.scrollFailures(n)
		return
	}
	most, labels := 0, m.labels()
	for i := range m.events {
		if m.look.Matches(&m.events[i], labels[m.events[i].Vendor], m.filter) {
			most++
		}
	}
	m.scroll = min(max(0, m.scroll+n), max(0, most-draw.EventRows(m.lay.Events.W, m.lay.Events.H)))
}

// enter applies what is staged, else opens the selected vendor.
func (m *Model) enter() tea.Cmd {
	if m.draft == nil {
		return m.open(!m.zoom)
	}
	if !m.mayWrite() {
		return nil
	}
	m.drag = nil
	if m.draft.revision != m.live.Revision && m.draft.hold {
		m.draft.revision = m.live.Revision // seen, and applied all the same
	}
	return m.commit()
}

// escape reverts or closes one thing; it never quits.
func (m *Model) escape() tea.Cmd {
	d := m.drill()
	switch {
	case m.draft != nil:
		m.revert()
	case m.presenter:
		m.presenter = false
	case m.place != placeVendors:
		m.goTo(placeVendors)
	case m.zoom:
		return m.open(false)
	case m.filter != "":
		m.filter, m.scroll = "", 0
	case m.scroll > 0:
		m.scroll = 0
	case m.frozen:
		m.freeze()
	case d != nil && d.Verdict != nil:
		return m.dismiss(d)
	}
	return nil
}

// restore undoes what keeps a vendor from traffic: a fault, a drain, a
// disabling. No question: it only ever helps.
func (m *Model) restore(v *control.Vendor) tea.Cmd {
	switch {
	case v == nil:
		return nil
	case v.Fault != nil || v.State == control.Ejected:
		return m.send(&control.ClearFault{Meta: m.meta(), Vendor: v.Name}, tagPlain)
	case v.State == control.Drained:
		return m.send(&control.Undrain{Meta: m.meta(), Vendor: v.Name}, tagPlain)
	case v.State == control.Disabled:
		return m.send(&control.Enable{Meta: m.meta(), Vendor: v.Name}, tagPlain)
	}
	// The vendor with a fault is meant when the selected one has nothing to restore.
	for i := range m.live.Vendors {
		if w := &m.live.Vendors[i]; w.Fault != nil {
			return m.restore(w)
		}
	}
	m.say(control.Info, "nothing-restore", label(v))
	return nil
}

// dismiss puts an ended drill or incident away: everywhere, if this console may
// act, else here. A drill whose way back is still watched is only put out of
// sight: to dismiss it would end its record before that is in it.
func (m *Model) dismiss(d *control.DrillState) tea.Cmd {
	if !d.Incident && !draw.Over(d) {
		m.hidden = d.ID
		m.say(control.Info, "hidden")
		m.relayout()
		return nil
	}
	m.dismissed = d.ID
	m.relayout()
	switch {
	case m.readOnly || m.lost != nil || m.player != nil:
		return nil
	case d.Incident:
		return m.send(&control.DismissIncident{Meta: m.meta()}, tagPlain)
	}
	return m.send(&control.DismissDrill{Meta: m.meta()}, tagPlain)
}

// abort ends the drill at once: what makes things safe asks nothing.
func (m *Model) abort() tea.Cmd {
	if d := m.live.Drill; d == nil || d.Verdict != nil {
		m.say(control.Info, "no-drill")
		return nil
	}
	return m.send(&control.AbortDrill{Meta: m.meta()}, tagPlain)
}

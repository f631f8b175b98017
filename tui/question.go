package tui

import (
	"context"
	"strings"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// question is a box, and what its answers do.
type question struct {
	draw.Question
	yes, keep func() tea.Cmd
}

func withTimeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), answerFor)
}

func (m *Model) ask(q question) {
	m.dropDrag()
	m.question, m.mode = &q, modeQuestion
	m.dirty = true
}

// careful makes a question about a vendor ask for its name in production.
func (m *Model) careful(q question, v *control.Vendor) {
	q.Crit = true
	if production(m.live) {
		q.Typed, q.Word = true, v.Name
	}
	m.ask(q)
}

// questionKey answers: y or n and Esc; Enter alone means no.
func (m *Model) questionKey(k tea.KeyMsg) tea.Cmd {
	q := m.question
	s := k.String()
	if q.Typed && s != "esc" && s != "ctrl+g" {
		return m.typedKey(k)
	}
	switch s {
	case "y", "Y":
		m.close()
		return q.yes()
	case "k", "K":
		if q.keep != nil {
			m.close()
			return q.keep()
		}
	case "n", "N", "esc", "enter", "ctrl+g", "q":
		m.close()
	}
	return nil
}

// typedKey is a letter of the name that a question asks for.
func (m *Model) typedKey(k tea.KeyMsg) tea.Cmd {
	q := m.question
	switch k.Type {
	case tea.KeyEnter:
		ok := strings.EqualFold(strings.TrimSpace(q.Input), q.Word)
		m.close()
		if ok {
			return q.yes()
		}
	case tea.KeyBackspace:
		if rs := []rune(q.Input); len(rs) > 0 {
			q.Input = string(rs[:len(rs)-1])
		}
	case tea.KeyRunes, tea.KeySpace:
		if !k.Paste && len(q.Input) < 64 {
			q.Input += string(k.Runes)
		}
	}
	return nil
}

// close ends whatever has the keyboard.
func (m *Model) close() {
	m.mode, m.question, m.prompt, m.list = modeNormal, nil, nil, nil
	m.dirty = true
}

// askQuit asks before the gateway stops; attached, it just leaves.
func (m *Model) askQuit() tea.Cmd {
	if !m.o.Embedded {
		if m.burst.on && m.draft != nil {
			return tea.Sequence(m.settle(), m.leave(Left))
		}
		return m.leave(Left)
	}
	addr := ""
	if m.live != nil {
		addr = m.live.Gateway.Address
	}
	q := question{Question: draw.Question{
		Title: m.look.Sayf("quit-title"), Text: []string{m.look.Sayf("quit-1", addr)}, Yes: m.look.Sayf("quit-yes"), Keep: m.look.Sayf("quit-keep"),
	}}
	q.yes = func() tea.Cmd { return m.leave(Stopped) }
	q.keep = func() tea.Cmd { return m.leave(Kept) }
	m.ask(q)
	return nil
}

// askKill asks before a drill that kills v.
func (m *Model) askKill(v *control.Vendor, f control.FaultSpec) {
	if v == nil {
		return
	}
	switch d := m.live.Drill; {
	case v.Fault != nil:
		m.say(control.Warn, "has-fault", label(v))
		return
	case d != nil && d.Verdict == nil:
		m.say(control.Warn, "drill-runs")
		return
	}
	name := label(v)
	target := draw.MinSec(m.targetS("kill", nil, m.live.Target.CutoverS))
	text := []string{m.look.Sayf("kill-1", name, draw.Whole(v.Weight), draw.Rate(v.RPS), target), m.look.Sayf("kill-2")}
	short := []string{m.look.Sayf("kill-short", name)}
	if !m.othersAlive(v) {
		text = append(text, m.look.Sayf("kill-last"))
		short = append(short, m.look.Sayf("kill-last"))
	}
	q := question{Question: draw.Question{Title: m.look.Sayf("kill-title", name), Text: text, Short: short, Yes: m.look.Sayf("kill-yes")}}
	cmd := &control.StartDrill{Meta: m.meta(), Scenario: "kill", Vendor: v.Name, Fault: f.Kind, For: f.For}
	q.yes = func() tea.Cmd {
		m.dismissed = ""
		return m.send(cmd, tagPlain)
	}
	m.careful(q, v)
}

func (m *Model) othersAlive(v *control.Vendor) bool {
	for i := range m.live.Vendors {
		if o := &m.live.Vendors[i]; o.Name != v.Name && draw.Alive(o.State) {
			return true
		}
	}
	return false
}

// askDrain asks before v is drained; a drained one is let back at once.
func (m *Model) askDrain(v *control.Vendor, now bool) tea.Cmd {
	if v == nil {
		return nil
	}
	if v.State == control.Drained {
		return m.send(&control.Undrain{Meta: m.meta(), Vendor: v.Name}, tagPlain)
	}
	q := question{Question: draw.Question{
		Title: m.look.Sayf("drain-title", label(v)), Text: []string{m.look.Sayf("drain-1", draw.Whole(v.Weight), draw.Rate(v.RPS))},
		Short: []string{m.look.Sayf("drain-short")}, Yes: m.look.Sayf("drain-yes"),
	}}
	if draw.Alive(v.State) && !m.othersAlive(v) {
		q.Text = append(q.Text, m.look.Sayf("drain-last"))
		q.Short = append(q.Short, m.look.Sayf("drain-last"))
	}
	cmd := &control.Drain{Meta: m.meta(), Vendor: v.Name, Now: now}
	q.yes = func() tea.Cmd { return m.send(cmd, tagPlain) }
	m.careful(q, v)
	return nil
}

// list is a box of rows to read.
type list struct{ draw.List }

func (m *Model) listKey(k tea.KeyMsg) tea.Cmd {
	l := m.list
	if to, ok := moved(k.String(), l.At, len(l.Rows), 10); ok {
		l.At = to
		return nil
	}
	switch k.String() {
	case "esc", "q", "enter", "ctrl+g":
		m.close()
	}
	return nil
}

// helpKey scrolls or closes the help.
func (m *Model) helpKey(k tea.KeyMsg) tea.Cmd {
	by := func(n int) { m.scrolled = max(0, min(m.scrolled+n, m.help().Most(m.w, m.helpHeight(), m.look))) }
	page := max(1, m.helpHeight()-3) // one row stays in sight
	by(0)                            // the screen may have grown
	switch k.String() {
	case "down", "j":
		by(1)
	case "up", "k":
		by(-1)
	case "pgdown", " ":
		by(page)
	case "pgup":
		by(-page)
	case "home":
		m.scrolled = 0
	case "esc", "?", "q", "enter", "ctrl+g":
		m.close()
	}
	return nil
}

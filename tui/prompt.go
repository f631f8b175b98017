package tui

import (
	"cmp"
	"errors"
	"strconv"
	"strings"

	"baton/engine/control"

	tea "github.com/charmbracelet/bubbletea"
)

// promptKind is what a line is typed for.
type promptKind uint8

const (
	promptCommand promptKind = iota
	promptFilter
	promptNumber
)

// prompt is a line being typed.
type prompt struct {
	kind  promptKind
	label string
	text  []rune
	at    int
	hint  string
	past  int // where in what was typed before it stands
}

const promptLongest = 400

func (p *prompt) set(s string) { p.text, p.at = []rune(s), len([]rune(s)) }

func (p *prompt) insert(rs []rune) {
	for _, r := range rs {
		if r < ' ' || r == 0x7f || len(p.text) >= promptLongest {
			continue
		}
		p.text = append(p.text[:p.at], append([]rune{r}, p.text[p.at:]...)...)
		p.at++
	}
}

func (p *prompt) erase(from, to int) {
	p.text = append(p.text[:from:from], p.text[to:]...)
	p.at = from
}

func (m *Model) openPrompt(k promptKind, text string) {
	m.dropDrag()
	m.prompt, m.mode = &prompt{kind: k, label: text}, modePrompt
	if k == promptCommand {
		m.prompt.past = len(m.typed)
		m.offer()
	}
}

// promptKey edits the line; Enter carries it out, Esc leaves it.
func (m *Model) promptKey(k tea.KeyMsg) tea.Cmd {
	p := m.prompt
	switch k.Type {
	case tea.KeyEnter:
		m.close()
		return m.entered(p)
	case tea.KeyEsc, tea.KeyCtrlG:
		if p.kind == promptFilter {
			m.filter, m.scroll = "", 0
		}
		m.close()
		return nil
	case tea.KeyBackspace:
		if len(p.text) == 0 {
			m.close()
			return nil
		}
		if p.at > 0 {
			p.erase(p.at-1, p.at)
		}
	case tea.KeyDelete, tea.KeyCtrlD:
		if p.at < len(p.text) {
			p.erase(p.at, p.at+1)
		}
	case tea.KeyLeft, tea.KeyCtrlB:
		p.at = max(0, p.at-1)
	case tea.KeyRight, tea.KeyCtrlF:
		p.at = min(len(p.text), p.at+1)
	case tea.KeyHome, tea.KeyCtrlA:
		p.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		p.at = len(p.text)
	case tea.KeyCtrlU:
		p.erase(0, p.at)
	case tea.KeyCtrlW:
		i := p.at
		for i > 0 && p.text[i-1] == ' ' {
			i--
		}
		for i > 0 && p.text[i-1] != ' ' {
			i--
		}
		p.erase(i, p.at)
	case tea.KeyTab:
		m.complete()
	case tea.KeyUp:
		m.recall(-1)
	case tea.KeyDown:
		m.recall(1)
	case tea.KeyRunes, tea.KeySpace:
		if !k.Alt {
			p.insert(k.Runes)
		}
	}
	if p.kind == promptFilter {
		m.filter, m.scroll = string(p.text), 0
	}
	m.offer()
	return nil
}

func (m *Model) entered(p *prompt) tea.Cmd {
	text := strings.TrimSpace(string(p.text))
	switch p.kind {
	case promptFilter:
		m.filter, m.scroll = text, 0
	case promptNumber:
		if text == "" || !m.mayWrite() {
			return nil
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || !(v >= 0 && v <= 100) {
			m.say(control.Warn, "bad-number", text)
			return nil
		}
		return m.setTo(v)
	case promptCommand:
		return m.command(text)
	}
	return nil
}

// command carries a typed command out.
func (m *Model) command(text string) tea.Cmd {
	if text == "" || m.live == nil {
		return nil
	}
	if n := len(m.typed); n == 0 || m.typed[n-1] != text {
		m.typed = append(m.typed, text)
	}
	c, err := parseCommand(text, m.live, m.look.Words)
	var look lookAt
	switch {
	case errors.As(err, &look):
		return m.lookAt(look)
	case errors.Is(err, errQuit):
		return m.askQuit()
	case errors.Is(err, errHelp):
		m.mode, m.scrolled = modeHelp, 0
		return nil
	case err != nil:
		m.sayText(control.Warn, err.Error())
		return nil
	case !m.mayWrite():
		return nil
	}
	switch c := c.(type) {
	case *control.StartDrill:
		if c.Scenario != "kill" || c.Countdown > 0 {
			m.arm(c)
			return nil
		}
		v := m.live.Vendor(c.Vendor)
		if v == nil {
			v = m.vendor()
		}
		m.askKill(v, control.FaultSpec{Kind: cmp.Or(c.Fault, "refuse"), For: c.For})
		return nil
	case *control.Drain:
		return m.askDrain(m.live.Vendor(c.Vendor), c.Now)
	case *control.SetWeights:
		c.Meta = m.atRevision(m.live.Revision)
		m.past.did(m.current(), m.now)
		m.draft = nil
	case *control.ReleaseWeights:
		return m.release()
	case *control.MarkDrill:
		return m.mark(c.Task)
	}
	return m.send(signed(c, m.o.Operator), tagPlain)
}

// signed gives a command its sender.
func signed(c control.Command, by string) control.Command {
	control.Sender(c, by)
	return c
}

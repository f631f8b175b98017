package tui

import (
	"context"
	"errors"
	"os"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
	"baton/tui/theme"

	tea "github.com/charmbracelet/bubbletea"
)

const (
	journalKept = 1000 // events that can be scrolled to
	quickFrame  = 100 * time.Millisecond
	calmFrame   = 200 * time.Millisecond
	messageFor  = 6 * time.Second
	answerFor   = 10 * time.Second // how long a command may take
)

// mode is who gets the keys.
type mode uint8

const (
	modeNormal mode = iota
	modeQuestion
	modePrompt
	modeHelp
	modeList
)

// Model is the console's state. It is used by one goroutine, bubbletea's.
type Model struct {
	o     Options
	clock func() time.Time
	loc   *time.Location
	home  string // the operator's directory, for short paths
	inbox *inbox
	later func(time.Duration, tea.Msg) tea.Cmd
	out   *os.File // for the bell; nil: none

	look  draw.Look
	grey  draw.Look
	depth theme.Depth

	now    time.Time
	live   *control.Snapshot // the newest
	shown  *control.Snapshot // what is drawn: live, or what it was when frozen
	liveAt time.Time
	events []control.Event
	lostAt time.Time
	lost   error // why the engine is out of reach, nil when it is not

	w, h     int
	selected int
	locked   map[string]bool
	draft    *draft
	drag     *drag
	past     history
	burst    burst
	failures failures
	place    place
	drills   drillPage
	costs    costPage
	stress   stressPage
	shed     shedding
	player   control.Player // a recording in place of an engine; nil: an engine
	atOver   int            // the override that is chosen
	mode     mode
	question *question
	prompt   *prompt
	typed    []string // commands typed so far, the oldest first
	list     *list
	scrolled int // of the help

	zoom, presenter, frozen, welcome bool
	frozenAt                         time.Time
	readOnly, mouse                  bool
	message                          message
	filter                           string
	scroll                           int
	scale                            scale
	timer                            timer
	dismissed                        string // a drill put away here
	hidden                           string // one put away here until it is over
	belled                           int64
	title                            string
	interrupted                      time.Time
	exit                             Exit

	panels []drawnPanel
	per    percents
	lay    Layout
	dirty  bool
	cached string
}

// message is what the last line says for a while.
type message struct {
	text  string
	level string
	until time.Time
}

type (
	frameMsg time.Time
	// doneMsg is how a command ended, with the state after it.
	doneMsg struct {
		cmd    control.Command
		tag    tag
		err    error
		snap   *control.Snapshot
		at     time.Time
		before vector // what was in force when weights were sent
	}
	savedMsg struct {
		path string // without the extension
		err  error
	}
)

// tag says what a command was sent for.
type tag uint8

const (
	tagPlain tag = iota
	tagDraft
)

func newModel(o Options, clock func() time.Time, depth theme.Depth) *Model {
	m := &Model{
		o: o, clock: clock, loc: time.Local, inbox: &inbox{}, depth: depth, w: 80, h: 24,
		locked: map[string]bool{}, readOnly: o.ReadOnly, mouse: o.Mouse, welcome: true, dirty: true,
	}
	m.later = func(d time.Duration, msg tea.Msg) tea.Cmd {
		return tea.Tick(d, func(time.Time) tea.Msg { return msg })
	}
	m.now = clock()
	if p, ok := o.Control.(control.Player); ok {
		m.player, m.readOnly, m.welcome = p, true, false
	}
	m.home, _ = os.UserHomeDir() // without one paths stay whole
	words := draw.Language(o.Lang, os.Getenv)
	m.setTheme(theme.New(o.Theme, o.ASCII, depth), words)
	return m
}

func (m *Model) setTheme(t *theme.Theme, w *draw.Words) {
	m.look = draw.Look{Theme: t, Words: w}
	m.grey = draw.Look{Theme: t.Grey(), Words: w}
}

// Init starts the frames.
func (m *Model) Init() tea.Cmd { return m.tick() }

func (m *Model) tick() tea.Cmd {
	every := calmFrame
	if m.drag != nil || m.timer.running() || m.player != nil {
		every = quickFrame
	}
	return tea.Tick(every, func(t time.Time) tea.Msg { return frameMsg(t) })
}

// Update handles one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case frameMsg:
		return m, tea.Batch(m.frame(), m.tick())
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
		return m, nil
	case tea.KeyMsg:
		m.dirty = true
		return m, m.key(msg)
	case tea.MouseMsg:
		return m, m.mouseEvent(tea.MouseEvent(msg))
	case tea.BlurMsg:
		m.dropDrag()
	case doneMsg:
		m.dirty = true
		return m, m.done(msg)
	case failuresMsg:
		m.dirty = true
		m.failuresCame(msg)
	case nudgedMsg:
		m.dirty = true
		return m, m.nudged(msg)
	case scenariosMsg:
		m.dirty = true
		m.scenariosCame(msg)
	case reportsMsg:
		m.dirty = true
		m.reportsCame(msg)
	case preflightMsg:
		m.dirty = true
		m.preflightCame(msg)
	case costsMsg:
		m.dirty = true
		m.costsCame(msg)
	case stressMsg:
		m.dirty = true
		return m, m.stressCame(msg)
	case savedMsg:
		if msg.err != nil {
			m.say(control.Warn, "not-saved", msg.err)
		} else {
			m.say(control.Info, "saved", m.writtenTo(msg.path))
		}
	}
	return m, nil
}

// resize takes a new size; a terminal that does not know its own is 80x24.
func (m *Model) resize(w, h int) {
	if w < 1 || h < 1 {
		w, h = 80, 24
	}
	m.w, m.h, m.dirty = w, h, true
	m.relayout()
}

// frame moves time on and fetches what has come.
func (m *Model) frame() tea.Cmd {
	before := m.now
	m.now = m.clock()
	m.fetchStress()
	mail, ok := m.inbox.take()
	var bell tea.Cmd
	if ok {
		m.dirty = true
		if m.lost == nil && mail.err != nil {
			m.lostAt = m.now
		}
		m.lost = mail.err
		bell = m.addEvents(mail.events)
		if mail.snap != nil {
			m.take(mail.snap, mail.at)
		}
	}
	if before.Unix() != m.now.Unix() || m.timer.running() {
		m.dirty = true
	}
	if m.drag != nil && !m.drag.stale && m.now.Sub(m.drag.moved) > dragPatience {
		m.drag.stale = true
		m.say(control.Warn, "lost-release")
	}
	return tea.Batch(bell, m.retitle(), m.askFailures(), m.askPages())
}

// take makes s the newest state.
func (m *Model) take(s *control.Snapshot, at time.Time) {
	first := m.live == nil
	if !first && m.live.Revision > s.Revision && at.Before(m.liveAt) {
		return // older than what a command brought back
	}
	s = unsealed(s)
	before := m.live
	m.live, m.liveAt = s, at
	m.caution(before, s)
	m.timer.see(m.eventOf(s), s.Time, at)
	m.shed.see(s, at)
	m.greet()
	m.scale.see(s, at)
	m.checkDraft()
	m.selected = min(m.selected, max(0, len(s.Vendors)-1))
	if !m.frozen {
		m.shown = s
	}
	m.relayout()
}

// caution is what the first state decides, and what a restart or a reload of
// the engine changes: in production the console is locked until W.
func (m *Model) caution(before, s *control.Snapshot) {
	switch {
	case production(s) && (before == nil || before.Environment != s.Environment):
		m.readOnly, m.draft, m.drag, m.burst.on = true, nil, nil, false
		if before != nil {
			m.say(control.Warn, "now-production", draw.Clean(s.Environment))
		}
	case before != nil && before.Apply != s.Apply && s.Apply == "enter":
		if m.draft != nil {
			m.draft.hold = true // begun when it would have been applied at once
		}
		m.say(control.Warn, "now-enter")
	}
}

// production says whether the environment asks for caution.
func production(s *control.Snapshot) bool {
	e := s.Environment
	return e == "PROD" || len(e) > 5 && e[:5] == "PROD-"
}

// greet keeps the first screen for who sees it for the first time: an engine of
// this console's own, simulated, without a past, and with nothing to see to.
func (m *Model) greet() {
	s := m.live
	if !m.welcome || s == nil {
		return
	}
	const starting = 5 * time.Second // events of the start itself
	began := s.Time.Add(-time.Duration(s.UptimeS*float64(time.Second)) - starting)
	past := len(m.events) > 0 && m.events[0].Time.Before(began)
	if past || !m.o.Embedded || !s.Simulated || s.Drill != nil || s.Incident != nil || len(s.Alerts) > 0 {
		m.welcome = false
	}
}

// addEvents takes events of the journal, and rings once where one is critical.
func (m *Model) addEvents(es []control.Event) tea.Cmd {
	ring := false
	opening := len(m.events) == 0
	for i := range es {
		e := &es[i]
		if n := len(m.events); n > 0 && e.Seq <= m.events[n-1].Seq && !e.Time.After(m.events[n-1].Time) {
			continue // seen before the connection was lost; another engine counts anew, later
		}
		m.events = append(m.events, *e)
		if m.scroll > 0 && m.look.Matches(e, m.labels()[e.Vendor], m.filter) {
			m.scroll++ // what is being read stays where it is
		}
		if e.Level == control.Crit && e.Seq > m.belled {
			m.belled, ring = e.Seq, !opening
		}
	}
	if over := len(m.events) - journalKept; over > 0 {
		m.events = append(m.events[:0:0], m.events[over:]...)
	}
	m.greet()
	if !ring || m.out == nil {
		return nil
	}
	out := m.out
	return func() tea.Msg {
		_, _ = out.WriteString("\a")
		return nil
	}
}

// send carries a command out beside Update, and fetches the state after it: the
// next command can name the right revision without waiting for the watch.
func (m *Model) send(c control.Command, t tag) tea.Cmd {
	ctl, clock := m.o.Control, m.clock
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), answerFor)
		defer cancel()
		d := doneMsg{cmd: c, tag: t, err: ctl.Do(ctx, c)}
		if s, err := control.Get[*control.Snapshot](ctx, ctl, control.State{}); err == nil {
			d.snap, d.at = s, clock()
		}
		return d
	}
}

// done takes how a command ended.
func (m *Model) done(d doneMsg) tea.Cmd {
	if d.snap != nil {
		m.take(d.snap, d.at)
	}
	if d.tag == tagDraft {
		return m.draftDone(d)
	}
	if d.err != nil {
		m.sayText(control.Crit, m.look.Sayf("refused", d.err))
		return nil
	}
	switch d.cmd.(type) {
	case *control.DismissDrill, *control.DismissIncident:
	default:
		m.sayText(control.Info, m.look.Sayf("applied", d.cmd.Line()))
	}
	return nil
}

// stale says whether a command was refused for being made against an older
// revision.
func stale(err error) bool {
	var e *control.Error
	return errors.As(err, &e) && e.Kind == control.Stale
}

func (m *Model) say(level, key string, args ...any) { m.sayText(level, m.look.Sayf(key, args...)) }

func (m *Model) sayText(level, text string) {
	m.message = message{text, level, m.now.Add(messageFor)}
	m.dirty = true
}

// meta is who sends a command.
func (m *Model) meta() control.Meta { return control.Meta{By: m.o.Operator} }

// at is meta against the newest revision.
func (m *Model) atRevision(rev int64) control.Meta {
	return control.Meta{By: m.o.Operator, Revision: &rev}
}

// vendor is the selected one, nil when there is none.
func (m *Model) vendor() *control.Vendor {
	if m.live == nil || m.selected >= len(m.live.Vendors) {
		return nil
	}
	return &m.live.Vendors[m.selected]
}

func label(v *control.Vendor) string {
	if v.Label != "" {
		return v.Label
	}
	return v.Name
}

// retitle sets the window's title when it changes: the drill's clock to the
// minute, else the environment.
func (m *Model) retitle() tea.Cmd {
	t := "baton"
	if m.live != nil {
		t += " " + draw.Clean(m.live.Environment)
		if d := m.drill(); d != nil {
			t += " " + draw.Clean(d.Scenario+" "+d.Vendor)
			if m.timer.running() {
				t += " >" + draw.MinSec(float64(int(m.seconds())/60*60))
			} else if d.CutoverS != nil {
				t += " " + draw.Took(*d.CutoverS)
			}
		}
	}
	if t == m.title {
		return nil
	}
	m.title = t
	return tea.SetWindowTitle(t)
}

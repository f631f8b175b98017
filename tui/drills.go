package tui

import (
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// drillTab is a part of the drills' screen.
type drillTab uint8

const (
	tabRun drillTab = iota
	tabScenarios
	tabHistory
	tabSchedule
	drillTabs
)

const (
	countdown      = 10 * time.Second // before a drill's fault, to cancel in
	preflightEvery = 2 * time.Second
	reportsEvery   = 10 * time.Second
	pinFor         = 15 * time.Minute
)

// drillPage is what the drills' screen knows.
type drillPage struct {
	tab       drillTab
	at        [drillTabs]int // the line that is chosen
	scenarios fetched[[]control.Scenario]
	reports   fetched[[]control.Report]
	preflight fetched[*control.Preflight]
	of        control.PreflightOf // what preflight was asked for
	seen      string              // the ended drill that the reports hold
}

// fetched is an answer, and when it was asked for.
type fetched[T any] struct {
	value   T
	err     error
	got     bool
	pending bool
	asked   time.Time
}

// due says whether it is time to ask again, and takes note of it.
func (f *fetched[T]) due(now time.Time, every time.Duration) bool {
	if f.pending || !f.asked.IsZero() && now.Sub(f.asked) < every {
		return false
	}
	f.pending, f.asked = true, now
	return true
}

// came takes an answer; after an error what was known stays.
func (f *fetched[T]) came(v T, err error) {
	f.pending, f.got, f.err = false, true, err
	if err == nil {
		f.value = v
	}
}

func (f *fetched[T]) fault() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

type (
	scenariosMsg struct {
		list []control.Scenario
		err  error
	}
	reportsMsg struct {
		list []control.Report
		err  error
	}
	preflightMsg struct {
		of  control.PreflightOf
		pre *control.Preflight
		err error
	}
)

// asking asks q beside Update and makes a message of the answer.
func asking[T any](c control.Control, q control.Query, msg func(T, error) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := withTimeout()
		defer cancel()
		return msg(control.Get[T](ctx, c, q))
	}
}

// openDrills opens the drills' screen where it is of use: at what runs, else at
// the scenarios.
func (m *Model) openDrills() tea.Cmd {
	m.goTo(placeDrills)
	if m.place != placeDrills {
		return nil
	}
	m.drills.tab = tabScenarios
	if m.drill() != nil {
		m.drills.tab = tabRun
	}
	m.drills.reports.asked = time.Time{}
	return m.askPages()
}

// askPages asks for what the screen that is open shows, where it is old.
func (m *Model) askPages() tea.Cmd {
	if m.live == nil || m.lost != nil || m.frozen {
		return nil
	}
	if m.mode == modePrompt {
		return m.askScenarios() // to complete their names
	}
	switch m.place {
	case placeDrills:
		return tea.Batch(m.askScenarios(), m.askReports(), m.askPreflight())
	case placeCosts:
		return m.askCosts()
	}
	return nil
}

func (m *Model) askScenarios() tea.Cmd {
	d := &m.drills
	if d.scenarios.got && d.scenarios.err == nil || !d.scenarios.due(m.now, reportsEvery) {
		return nil
	}
	return asking(m.o.Control, control.Scenarios{}, func(l []control.Scenario, err error) tea.Msg { return scenariosMsg{l, err} })
}

// askReports asks for past drills: every while on their screen, and when one has
// ended.
func (m *Model) askReports() tea.Cmd {
	d := &m.drills
	if x := m.live.Drill; x != nil && x.Verdict != nil && x.ID != d.seen {
		d.seen, d.reports.asked = x.ID, time.Time{}
	}
	if d.tab != tabHistory || !d.reports.due(m.now, reportsEvery) {
		return nil
	}
	return asking(m.o.Control, control.Drills{}, func(l []control.Report, err error) tea.Msg { return reportsMsg{l, err} })
}

func (m *Model) askPreflight() tea.Cmd {
	d := &m.drills
	s := m.scenario()
	if d.tab != tabScenarios || s == nil {
		return nil
	}
	of := control.PreflightOf{Scenario: s.Name}
	if v := m.vendor(); given(s) && v != nil {
		of.Vendor = v.Name
	}
	if of != d.of {
		d.of, d.preflight = of, fetched[*control.Preflight]{}
	}
	if !d.preflight.due(m.now, preflightEvery) {
		return nil
	}
	return asking(m.o.Control, of, func(p *control.Preflight, err error) tea.Msg { return preflightMsg{of, p, err} })
}

func (m *Model) scenariosCame(x scenariosMsg) { m.drills.scenarios.came(x.list, x.err) }

func (m *Model) reportsCame(x reportsMsg) { m.drills.reports.came(x.list, x.err) }

func (m *Model) preflightCame(x preflightMsg) {
	if x.of == m.drills.of {
		m.drills.preflight.came(x.pre, x.err)
	}
}

// scenario is the chosen one, nil while none is known.
func (m *Model) scenario() *control.Scenario {
	all := m.drills.scenarios.value
	if len(all) == 0 {
		return nil
	}
	return &all[min(max(0, m.drills.at[tabScenarios]), len(all)-1)]
}

// drillsKey is a key on the drills' screen.
func (m *Model) drillsKey(key string) (tea.Cmd, bool) {
	d := &m.drills
	n := map[drillTab]int{tabScenarios: len(d.scenarios.value), tabHistory: len(d.reports.value), tabSchedule: len(m.live.Schedule)}[d.tab]
	x := m.drill()
	if d.tab == tabRun && x != nil {
		n = len(x.Checklist)
	}
	if to, ok := moved(key, d.at[d.tab], n, 10); ok {
		d.at[d.tab] = to
		return m.askPages(), true
	}
	switch key {
	case "tab", "right", "l":
		d.tab = (d.tab + 1) % drillTabs
		return m.askPages(), true
	case "shift+tab", "left", "h":
		d.tab = (d.tab + drillTabs - 1) % drillTabs
		return m.askPages(), true
	case "enter":
		if s := m.scenario(); d.tab == tabScenarios && s != nil {
			m.arm(&control.StartDrill{Scenario: s.Name})
		}
		return nil, true
	case " ":
		if d.tab == tabRun && x != nil && len(x.Checklist) > 0 {
			return m.tickTask(), true
		}
		return nil, true
	case "x":
		switch {
		case d.tab == tabSchedule:
			return m.cancelNext(), true
		case d.tab == tabRun && x != nil && len(x.Checklist) > 0 && x.Waits == "" && x.Fault.Kind != "external":
			return m.tickTask(), true
		}
	case "esc":
		if x != nil && x.Armed != nil && x.Verdict == nil && d.tab == tabRun && !injected(x) && m.mayWrite() {
			return m.abort(), true // nothing has happened yet
		}
		if x != nil && x.Verdict != nil && d.tab == tabRun {
			d.tab = tabScenarios
			return m.dismiss(x), true
		}
	}
	return nil, false
}

// cancelNext takes the chosen drill off the schedule.
func (m *Model) cancelNext() tea.Cmd {
	at := m.drills.at[tabSchedule]
	if at >= len(m.live.Schedule) || m.live.Schedule[at].Cancelled != "" {
		m.say(control.Info, "cancel-none")
		return nil
	}
	if !m.mayWrite() {
		return nil
	}
	return m.send(&control.CancelScheduled{Meta: m.meta(), ID: m.live.Schedule[at].ID}, tagPlain)
}

// mark tells a drill that what it waits for has been done, or ticks a task.
func (m *Model) mark(task int) tea.Cmd {
	d := m.live.Drill
	if d == nil || task == 0 && d.Waits == "" && d.Fault.Kind != "external" {
		m.say(control.Info, "mark-none")
		return nil
	}
	return m.send(&control.MarkDrill{Meta: m.meta(), Task: task}, tagPlain)
}

// tickTask ticks the chosen task; a ticked one stays so.
func (m *Model) tickTask() tea.Cmd {
	d := m.live.Drill
	at := m.drills.at[tabRun]
	if d == nil || d.Verdict != nil || at >= len(d.Checklist) || !m.mayWrite() {
		return nil
	}
	if n := len(d.Checklist); d.Checklist[at].Done && at+1 < n {
		m.drills.at[tabRun]++ // on to the next one
		return nil
	}
	return m.mark(at + 1)
}

// drillsLines draws the drills' screen.
func (m *Model) drillsLines(w, h int, k draw.Look) []string {
	iw, ih := draw.PageRoom(w, h)
	d := &m.drills
	var body []string
	switch d.tab {
	case tabRun:
		if m.drill() == nil {
			body = []string{draw.Message(k.Dim, k.Sayf("no-run"), iw, k)}
		} else {
			body = m.drillView().Screen(iw, ih, k)
		}
	case tabScenarios:
		body = m.scenariosView().Lines(iw, ih, k)
	case tabHistory:
		v := draw.Records{
			List: d.reports.value, Labels: m.labels(), Asked: d.reports.got, Error: d.reports.fault(), At: d.at[tabHistory], Location: m.loc, Home: m.home,
		}
		body = v.Lines(iw, ih, k)
	case tabSchedule:
		v := draw.Schedule{Labels: m.labels(), At: d.at[tabSchedule], Now: m.moment(), Location: m.loc}
		if m.shown != nil {
			v.Coming, v.Fresh = m.shown.Schedule, m.shown.Freshness
		}
		body = v.Lines(iw, ih, k)
	}
	return draw.Page(m.drillTabs(k), []draw.Span{{Style: k.Dim, Text: "d Esc"}}, body, w, h, k)
}

// drillTabs are the tabs' names; the schedule's is marked while something in it
// is stale.
func (m *Model) drillTabs(k draw.Look) []draw.Tab {
	run := "tab-run"
	if d := m.drill(); d != nil && d.Verdict != nil {
		run = "tab-last"
	}
	names := [drillTabs]string{k.Sayf(run), k.Sayf("tab-scenarios"), k.Sayf("tab-history"), k.Sayf("tab-schedule")}
	if m.shown != nil {
		for i := range m.shown.Freshness {
			if m.shown.Freshness[i].Stale {
				names[tabSchedule] = k.Sayf("tab-schedule") + " " + k.Glyphs.Degraded
			}
		}
	}
	out := make([]draw.Tab, drillTabs)
	for i, n := range names {
		out[i] = draw.Tab{Name: n, On: drillTab(i) == m.drills.tab}
	}
	return out
}

func (m *Model) scenariosView() *draw.Scenarios {
	d := &m.drills
	v := &draw.Scenarios{
		List: d.scenarios.value, Asked: d.scenarios.got, Error: d.scenarios.fault(), At: d.at[tabScenarios], Preflight: d.preflight.value, PreError: d.preflight.fault(),
		Currency: m.currency(),
	}
	v.Label = m.hits(m.scenario(), d.preflight.value)
	return v
}

// hits is whom a scenario would hit, as it is shown; "" while it is not known.
func (m *Model) hits(s *control.Scenario, p *control.Preflight) string {
	if s == nil || m.shown == nil {
		return ""
	}
	name := ""
	switch {
	case p != nil && p.Scenario == s.Name && p.Vendor != "":
		name = p.Vendor
	case given(s) && m.selected < len(m.shown.Vendors):
		name = m.shown.Vendors[m.selected].Name
	}
	if v := m.shown.Vendor(name); v != nil {
		return label(v)
	}
	return name
}

// given says whether a scenario asks for the vendor that it hits.
func given(s *control.Scenario) bool { return s.Target == "given" || s.Name == "kill" }

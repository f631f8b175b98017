package tui

import (
	"context"
	"sync"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// StressLevel is one step of a ladder.
type StressLevel = draw.StressLevel

// StressState is how far a stress test is, or what came out.
type StressState = draw.StressState

// Stress runs ladders straight at vendors, past the gateway.
type Stress struct {
	// Run runs the ladder against a vendor until it is done or ctx ends. It calls
	// progress as things happen, from any goroutine, and returns the result.
	Run func(ctx context.Context, vendor string, progress func(StressState)) (StressState, error)
	// Plan says what would be run at a vendor, and about how long it takes:
	// "1, 10, 50, 100 concurrent requests, 30 s each", "2:10".
	Plan func(vendor string) (ladder, takes string)
	// Priced says whether a test of the vendor costs money.
	Priced func(vendor string) bool
}

// stressPage is what the screen of stress tests knows.
type stressPage struct {
	running bool
	vendor  string
	cancel  context.CancelFunc
	box     *stressBox
	state   *StressState
	err     error
}

// stressBox is where a test leaves its newest state and the model fetches it.
type stressBox struct {
	mu    sync.Mutex
	state *StressState
}

func (b *stressBox) put(s StressState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = &s
}

func (b *stressBox) take() *StressState {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	b.state = nil
	return s
}

type stressMsg struct {
	box   *stressBox
	state StressState
	err   error
}

// fetchStress takes a running test's newest state.
func (m *Model) fetchStress() {
	if m.stress.box == nil {
		return
	}
	if s := m.stress.box.take(); s != nil {
		m.stress.state, m.dirty = s, true
	}
}

func (m *Model) stressKey(key string) (tea.Cmd, bool) {
	switch key {
	case "enter":
		m.askStress(m.vendor())
		return nil, true
	case "A":
		if m.stress.running {
			m.stress.cancel()
			return nil, true
		}
	}
	return nil, false
}

// askStress asks before a vendor is stressed: what costs money is asked for by
// its name in production.
func (m *Model) askStress(v *control.Vendor) {
	switch {
	case v == nil:
		return
	case m.o.Stress == nil:
		m.say(control.Warn, "no-stress")
		return
	case m.stress.running:
		m.say(control.Warn, "stress-runs")
		return
	case !m.mayWrite():
		return
	}
	k := m.look
	ladder, takes := m.stressPlan(v.Name)
	q := question{Question: draw.Question{
		Title: k.Sayf("stress-title-q", label(v)), Text: []string{k.Sayf("stress-1", ladder, label(v), takes)}, Yes: k.Sayf("stress-yes"),
	}}
	if m.o.Stress.Priced(v.Name) {
		q.Text = append(q.Text, k.Sayf("stress-price", label(v)))
	}
	name := v.Name
	q.yes = func() tea.Cmd { return m.startStress(name) }
	m.careful(q, v)
}

// stressPlan is what would be run at a vendor, in the console's language.
func (m *Model) stressPlan(vendor string) (ladder, takes string) {
	ladder, takes = m.o.Stress.Plan(vendor)
	return m.look.TellTest(ladder), m.look.TellTest(takes)
}

func (m *Model) startStress(vendor string) tea.Cmd {
	ctx, cancel := context.WithCancel(context.Background())
	box := &stressBox{}
	m.stress = stressPage{running: true, vendor: vendor, cancel: cancel, box: box, state: &StressState{Vendor: vendor}}
	m.place = placeStress
	m.relayout()
	run := m.o.Stress.Run
	return func() tea.Msg {
		defer cancel()
		s, err := run(ctx, vendor, box.put)
		return stressMsg{box, s, err}
	}
}

// stressCame takes a test's end.
func (m *Model) stressCame(x stressMsg) tea.Cmd {
	s := &m.stress
	if s.box != x.box {
		return nil
	}
	s.running, s.box, s.err = false, nil, x.err
	if x.err == nil || len(x.state.Levels) > 0 {
		s.state = &x.state
	}
	return nil
}

func (m *Model) stressLines(w, h int, k draw.Look) []string {
	iw, ih := draw.PageRoom(w, h)
	v := &draw.Stress{State: m.stress.state, Running: m.stress.running, Able: m.o.Stress != nil, Home: m.home}
	if m.stress.err != nil {
		v.Error = m.stress.err.Error()
	}
	if x := m.vendor(); x != nil {
		v.Label = label(x)
		if m.o.Stress != nil {
			ladder, takes := m.stressPlan(x.Name)
			v.Plan, v.Priced = ladder+" "+k.Dot+" "+takes, m.o.Stress.Priced(x.Name)
		}
	}
	if s := m.stress.state; s != nil {
		v.Tested = s.Vendor
		if x := m.shown.Vendor(s.Vendor); x != nil {
			v.Tested = label(x)
		}
	}
	return draw.Page([]draw.Tab{{Name: k.Sayf("stress-title"), On: true}}, []draw.Span{{Style: k.Dim, Text: "S Esc"}}, v.Lines(iw, ih, k), w, h, k)
}

package tui

import (
	"testing"
	"time"

	"baton/engine/control"
	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
)

// mouse sends a mouse event at a cell of the first vendor's slider.
func (c *console) mouse(a tea.MouseAction, b tea.MouseButton, x int) {
	s := c.lay.Sliders[0]
	c.feed(tea.MouseMsg{X: s.X + x, Y: s.Y, Action: a, Button: b})
}

func (c *console) grab() int {
	at := draw.Knob(75, c.lay.Sliders[0].W)
	c.mouse(tea.MouseActionPress, tea.MouseButtonLeft, at)
	return at
}

func dragging(t *testing.T, apply string) (*console, int) {
	t.Helper()
	s := made(2)
	s.Apply = apply
	c := newConsole(s, Options{Embedded: true, Mouse: true})
	c.welcomeSeen()
	return c, c.grab()
}

func TestDrag_AppliesOnReleaseWhateverTheButtonSays(t *testing.T) {
	for _, b := range []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonNone} {
		c, at := dragging(t, "release")
		c.mouse(tea.MouseActionMotion, tea.MouseButtonLeft, at-10)
		if c.draft == nil || c.draft.values[0] >= 75 || c.lines() != "" {
			t.Fatalf("while dragging: draft %+v, sent %q", c.draft, c.lines())
		}
		c.mouse(tea.MouseActionRelease, b, at-12)
		if len(c.f.did) != 1 || c.drag != nil {
			t.Fatalf("after the release: sent %q", c.lines())
		}
		w := c.f.did[0].(*control.SetWeights)
		if want := draw.AtKnob(at-12, c.lay.Sliders[0].W); w.Weights["lanyun"] != want || w.Weights["lanyun"]+w.Weights["bailian"] != 100 || *w.Revision != 7 {
			t.Errorf("sent %v against revision %d, want lanyun=%g", w.Weights, *w.Revision, want)
		}
	}
}

func TestDrag_StaysStagedWhereEnterApplies(t *testing.T) {
	c, at := dragging(t, "enter")
	c.mouse(tea.MouseActionRelease, tea.MouseButtonLeft, at-10)
	if c.lines() != "" || c.draft == nil {
		t.Fatalf("sent %q", c.lines())
	}
	c.press("enter")
	if len(c.f.did) != 1 {
		t.Error("enter does not apply")
	}
}

func TestDrag_WithALostReleaseIsNeverApplied(t *testing.T) {
	for name, lose := range map[string]func(*console, int){
		"the next press": func(c *console, _ int) {
			c.feed(tea.MouseMsg{X: 1, Y: 0, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
		},
		"the focus is lost": func(c *console, _ int) { c.feed(tea.BlurMsg{}) },
		"nothing for a while": func(c *console, _ int) {
			c.now = c.now.Add(5 * time.Second)
			c.feed(frameMsg{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, at := dragging(t, "release")
			c.mouse(tea.MouseActionMotion, tea.MouseButtonLeft, at-10)
			lose(c, at)
			if c.lines() != "" {
				t.Fatalf("sent %q", c.lines())
			}
			if c.draft == nil || !c.draft.changed() {
				t.Fatal("what was dragged is gone")
			}
			c.press("enter")
			if len(c.f.did) != 1 {
				t.Error("enter does not apply what stayed staged")
			}
		})
	}
}

func TestDrag_EscReverts(t *testing.T) {
	c, at := dragging(t, "release")
	c.mouse(tea.MouseActionMotion, tea.MouseButtonLeft, at-10)
	c.press("esc")
	c.mouse(tea.MouseActionRelease, tea.MouseButtonLeft, at-10)
	if c.draft != nil || c.lines() != "" {
		t.Errorf("draft %+v, sent %q", c.draft, c.lines())
	}
}

func TestDrag_FollowsTheColumnWhateverTheRow(t *testing.T) {
	c, _ := dragging(t, "release")
	c.feed(tea.MouseMsg{X: 5000, Y: 0, Action: tea.MouseActionMotion, Button: tea.MouseButtonLeft})
	if c.draft.values[0] != 100 || c.draft.values[1] != 0 {
		t.Errorf("far right gives %v", c.draft.values)
	}
	c.feed(tea.MouseMsg{X: -3, Y: 35, Action: tea.MouseActionMotion, Button: tea.MouseButtonLeft})
	if c.draft.values[0] != 0 {
		t.Errorf("far left gives %v", c.draft.values)
	}
}

func TestDrag_AClickOnTheKnobChangesNothing(t *testing.T) {
	c, at := dragging(t, "release")
	c.mouse(tea.MouseActionRelease, tea.MouseButtonLeft, at)
	if c.draft != nil || c.lines() != "" {
		t.Errorf("draft %+v, sent %q", c.draft, c.lines())
	}
}

func TestDrag_APressOnTheTrackJumpsThere(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true, Mouse: true})
	c.welcomeSeen()
	c.mouse(tea.MouseActionPress, tea.MouseButtonLeft, 10)
	c.mouse(tea.MouseActionRelease, tea.MouseButtonLeft, 10)
	if want := draw.AtKnob(10, c.lay.Sliders[0].W); c.f.snap.Pin == nil || c.f.snap.Pin.Weights["lanyun"] != want {
		t.Errorf("sent %q, want lanyun=%g", c.lines(), want)
	}
}

func TestDrag_EndsStagedWhenAVendorFalls(t *testing.T) {
	c, at := dragging(t, "release")
	c.mouse(tea.MouseActionMotion, tea.MouseButtonLeft, at-10)
	c.take(killed(2, 6), noon)
	c.mouse(tea.MouseActionRelease, tea.MouseButtonLeft, at-10)
	if c.lines() != "" || c.draft == nil {
		t.Errorf("sent %q, draft %+v", c.lines(), c.draft)
	}
}

func TestDrag_ReadOnlySelectsOnly(t *testing.T) {
	c := newConsole(made(2), Options{ReadOnly: true, Mouse: true})
	c.welcomeSeen()
	s := c.lay.Sliders[1]
	c.feed(tea.MouseMsg{X: s.X + 3, Y: s.Y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft})
	if c.selected != 1 || c.drag != nil || c.draft != nil {
		t.Errorf("selected %d, drag %v", c.selected, c.drag)
	}
}

func TestWheel_MovesByOneAndWithCtrlByFive(t *testing.T) {
	c := newConsole(made(2), Options{Embedded: true, Mouse: true})
	c.welcomeSeen()
	c.mouse(tea.MouseActionPress, tea.MouseButtonWheelUp, 3)
	s := c.lay.Sliders[0]
	c.feed(tea.MouseMsg{X: s.X, Y: s.Y, Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown, Ctrl: true})
	if got := c.lines(); got != "baton weights lanyun=76 bailian=24; baton weights lanyun=71 bailian=29" {
		t.Errorf("sent %q", got)
	}
	c.addEvents(many(40))
	e := c.lay.Events
	c.feed(tea.MouseMsg{X: e.X + 3, Y: e.Y + 1, Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown})
	if c.scroll == 0 {
		t.Error("the wheel does not scroll the journal")
	}
}

func TestMotion_ThatNobodyLooksAtIsDropped(t *testing.T) {
	f := throttle()
	c, _ := dragging(t, "release")
	motion := tea.MouseMsg{Action: tea.MouseActionMotion}
	if f(c.Model, motion) == nil {
		t.Error("the first motion of a drag is dropped")
	}
	if f(c.Model, motion) != nil {
		t.Error("two motions in a moment both pass")
	}
	c.drag = nil
	time.Sleep(40 * time.Millisecond)
	if f(c.Model, motion) != nil {
		t.Error("motion without a drag passes")
	}
	if f(c.Model, tea.MouseMsg{Action: tea.MouseActionRelease}) == nil {
		t.Error("a release is dropped")
	}
}

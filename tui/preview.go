package tui

import (
	"os"
	"strings"
	"time"

	"baton/engine/control"
	"baton/tui/draw"
	"baton/tui/theme"
)

// Frame is what Preview shows beside the state.
type Frame struct {
	Events    []control.Event
	Selected  int
	Welcome   bool // the first screen, where every vendor is simulated
	Zoom      bool
	Presenter bool
	Help      bool
	Now       time.Time      // zero: the snapshot's
	Location  *time.Location // nil: local
	Depth     theme.Depth    // theme.Plain: text without escapes
}

// Preview renders one frame of w x h cells without a terminal: exactly h lines
// of exactly w cells, joined by newlines. Of o it uses Theme, Lang, ASCII,
// ReadOnly, Embedded and Address.
func Preview(s *control.Snapshot, w, h int, o Options, f Frame) string {
	now := f.Now
	if now.IsZero() && s != nil {
		now = s.Time
	}
	m := newModel(o, func() time.Time { return now }, f.Depth)
	m.setTheme(theme.New(o.Theme, o.ASCII, f.Depth), draw.Language(o.Lang, os.Getenv))
	if f.Location != nil {
		m.loc = f.Location
	}
	m.addEvents(f.Events)
	if s != nil {
		m.take(s, s.Time)
	}
	m.welcome = f.Welcome
	m.selected, m.zoom, m.presenter = f.Selected, f.Zoom, f.Presenter
	if f.Help {
		m.mode = modeHelp
	}
	m.resize(w, h)
	return strings.Join(m.frameLines(), "\n")
}

package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"baton/tui/draw"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// capture writes the screen as text, the same with its colours, and the state
// behind it, each readable by the operator alone. A snapshot of the state holds
// no keys.
func (m *Model) capture() tea.Cmd {
	frame := strings.Join(m.frameLines(), "\n") + "\n"
	snap := m.shown
	base := filepath.Join(m.o.SnapshotDir, "baton-snap-"+m.clock().UTC().Format("20060102T150405Z"))
	return func() tea.Msg {
		if abs, err := filepath.Abs(base); err == nil { // else it stays relative, which is true too
			base = abs
		}
		state, err := json.MarshalIndent(snap, "", "  ")
		if err != nil {
			return savedMsg{err: fmt.Errorf("writing the state: %w", err)}
		}
		if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
			return savedMsg{err: err}
		}
		for _, f := range []struct {
			ext  string
			data []byte
		}{{".txt", []byte(ansi.Strip(frame))}, {".ans", []byte(frame)}, {".json", append(state, '\n')}} {
			if err := os.WriteFile(base+f.ext, f.data, 0o600); err != nil {
				return savedMsg{err: err}
			}
		}
		return savedMsg{path: base}
	}
}

// writtenTo is where the files are as it fits the last line: whole, else without
// what all of their names have in common, else the directory.
func (m *Model) writtenTo(base string) string {
	base = draw.Tilde(base, m.home)
	dir := filepath.Dir(base)
	room := m.w - 1 - draw.Width(m.look.Sayf("saved", ""))
	for _, s := range [...]string{base + ".txt .ans .json", base + ".txt", filepath.Join(dir, "baton-snap-*")} {
		if draw.Width(draw.Clean(s)) <= room {
			return s
		}
	}
	return dir
}

package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"baton/engine/control"
	"baton/tui/theme"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/term"
)

// Options are what a console is made with.
type Options struct {
	Control  control.Control
	In       io.Reader // the terminal; nil: standard input
	Out      io.Writer // nil: standard output
	ReadOnly bool      // cannot be unlocked
	Embedded bool      // the engine lives in this process
	Theme    string    // auto, dark, light, mono
	Lang     string    // auto, en, zh
	ASCII    bool
	Mouse    bool
	Operator string // who acts, in the journal
	Address  string // the engine's, when attached
	Stop     func() // q then y, embedded: called when the terminal is restored
	Keep     func() // q then k, embedded: likewise
	// Stress runs stress tests; nil: from here they cannot be run.
	Stress *Stress
	// SnapshotDir is where ctrl+s writes, made if it is missing; "" is the working directory.
	SnapshotDir string
}

// Exit is how a console ended.
type Exit uint8

// The ways in which a console ends.
const (
	Lost    Exit = iota // the context ended, or the terminal is gone
	Stopped             // the operator wants the engine drained and stopped
	Kept                // the operator wants it to serve on without the console
	Left                // an attached console was left
)

// ErrNoTerminal is returned where there is no terminal to draw on.
var ErrNoTerminal = errors.New("no terminal: the console needs one for its input and its output; try `baton status --watch` or `baton serve`")

// Run shows the console until it is left or ctx ends. When ctx ends the
// terminal is restored, as far as it is still there, and Run returns Lost: a
// caller that got SIGHUP cancels ctx and serves on. Signals are the caller's.
func Run(ctx context.Context, o Options) (Exit, error) {
	if o.In == nil {
		o.In = os.Stdin
	}
	if o.Out == nil {
		o.Out = os.Stdout
	}
	if !terminal(o.In) || !terminal(o.Out) {
		return Lost, ErrNoTerminal
	}
	m := newModel(o, time.Now, theme.DepthOf(o.Out))
	m.out, _ = o.Out.(*os.File)

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opts := []tea.ProgramOption{
		tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithAltScreen(), tea.WithFPS(10), tea.WithReportFocus(),
		tea.WithoutSignalHandler(), tea.WithContext(ctx), tea.WithFilter(throttle()),
	}
	if o.Mouse {
		opts = append(opts, tea.WithMouseCellMotion())
	}
	p := tea.NewProgram(m, opts...)

	var watching sync.WaitGroup
	watching.Go(func() {
		m.inbox.watch(ctx, o.Control, 250*time.Millisecond)
	})
	_, err := p.Run()
	ended := ctx.Err() != nil
	cancel()
	watching.Wait()
	if err != nil {
		if ended {
			return Lost, nil
		}
		return Lost, fmt.Errorf("console: %w", err)
	}
	switch m.exit {
	case Stopped:
		call(o.Stop)
	case Kept:
		call(o.Keep)
	}
	return m.exit, nil
}

func call(f func()) {
	if f != nil {
		f()
	}
}

// terminal says whether x is one; what is no file is taken to be (a test's).
func terminal(x any) bool {
	f, ok := x.(interface{ Fd() uintptr })
	return !ok || term.IsTerminal(f.Fd())
}

package cli

import (
	"context"
	"log"
	"log/slog"
	"os"
	"runtime/debug"

	"baton/engine/control"
)

const logMax = 16 << 20 // bytes; a larger log of an earlier run begins anew

// openLog is the log file of an engine with a console: whatever is written to
// the terminal would break its screen.
func openLog(path string) (*os.File, error) {
	flags := os.O_CREATE | os.O_WRONLY | os.O_APPEND
	if fi, err := os.Stat(path); err == nil && fi.Size() > logMax {
		flags |= os.O_TRUNC
	}
	return os.OpenFile(path, flags, 0o600)
}

// logTo makes f the place of all logs of the process, crashes too.
func logTo(f *os.File) *slog.Logger {
	logger := slog.New(slog.NewTextHandler(f, nil))
	slog.SetDefault(logger)
	log.SetOutput(f)
	if f != os.Stderr {
		_ = debug.SetCrashOutput(f, debug.CrashOptions{})
	}
	return logger
}

// logEvent writes an event of the journal into the log.
func logEvent(l *slog.Logger, e control.Event) {
	level := slog.LevelInfo
	switch e.Level {
	case control.Warn:
		level = slog.LevelWarn
	case control.Crit:
		level = slog.LevelError
	}
	l.LogAttrs(context.Background(), level, e.Text, slog.String("kind", e.Kind), slog.String("vendor", e.Vendor), slog.String("who", e.Who), slog.Int64("seq", e.Seq)) //nolint:sloglint // the journal has words of its own
}

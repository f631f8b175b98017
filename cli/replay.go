package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"baton/drills"
	"baton/drills/recording"
	"baton/engine/config"
	"baton/tui"
)

func (a *app) replayCommand() *cobra.Command {
	var look consoleFlags
	var speed float64
	c := &cobra.Command{
		Use: "replay ID", Short: "A recorded drill or incident in the console, 1 to 20 times as fast",
		Long: "Open the console on a recording instead of an engine. It needs no engine and no network, and nothing can be changed in it.\n" +
			"Space pauses, + and - change the speed, [ and ] move by 10 s. In place of the ID a recording's file may be named.",
		Example: "  baton replay 20261201-100000-4f2a\n  baton replay 20261201-100000-4f2a --speed 5\n  baton replay ./20261201-100000-4f2a.rec.gz", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if speed < 0 || speed > 20 {
				return fmt.Errorf("--speed = %g is not between 0 (paused) and 20", speed)
			}
			player, err := a.openRecording(args[0])
			if err != nil {
				return err
			}
			if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
				return errors.New("the console needs a terminal: `baton drill show " + args[0] + "` prints the report")
			}
			cfg := config.Default().Console
			if own, err := a.config(); err == nil {
				cfg = own.Console // how it looks is this terminal's affair
			}
			look.readOnly = true
			o, err := look.options(a, player, cfg)
			if err != nil {
				return err
			}
			o.Address, o.SnapshotDir = player.Position().Name, a.snapshots()
			screen, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			player.Play(speed)
			_, err = tui.Run(screen, o)
			return err
		},
	}
	look.add(c)
	c.Flags().Float64Var(&speed, "speed", 1, "how fast, 0 (paused) to 20")
	return c
}

// openRecording finds a recording by the id of its drill, or by its path.
func (a *app) openRecording(name string) (*recording.Player, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		return recording.Open(name, nil)
	}
	state, err := a.findState()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(state, "drills")
	path := recording.Path(dir, name)
	report, reportErr := drills.Read(dir, name)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if reportErr != nil {
			return nil, fmt.Errorf("there is no drill %q in %s: `baton drill history` lists them", name, dir)
		}
		return nil, fmt.Errorf("the drill %s was not recorded, or its recording was removed: there is no %s", name, path)
	}
	if reportErr != nil {
		report = nil // the recording is enough
	}
	return recording.Open(path, report)
}

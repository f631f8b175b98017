package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/config"
	"baton/engine/control"
)

func (a *app) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "Run the engine alone, without a console", Args: cobra.NoArgs,
		Long:    "Run the engine alone, for systemd or a container: structured logs on stderr, SIGHUP reloads the configuration, SIGTERM drains, a second signal ends at once.",
		Example: "  baton serve --config /etc/baton/config.toml",
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			st, err := a.ownState(cfg, false)
			if err != nil {
				return err
			}
			defer st.close()
			p, err := a.newEngine(cfg, st, logTo(os.Stderr))
			if err != nil {
				return err
			}
			return p.headless(context.Background())
		},
	}
	a.listenFlags(c)
	return c
}

// ownState opens the state for an engine of its own. A second engine of the
// built-in configuration gets a temporary one and says so; with a file it is an
// error.
func (a *app) ownState(cfg *config.Config, second bool) (*state, error) {
	if second {
		return a.secondState()
	}
	dir, err := stateDir(a.statePath, cfg.State.Dir, a.env)
	if err != nil { // a bare container may have no home: traffic matters more
		st, tmpErr := temporaryState()
		if tmpErr != nil {
			return nil, fmt.Errorf("%w, and a temporary one cannot be made: %w", err, tmpErr)
		}
		st.problem = err.Error() + ": what would be kept is lost with this process"
		fmt.Fprintln(a.err, "baton: warning:", st.problem)
		return st, nil
	}
	st, err := openState(dir)
	var u *unwritable
	switch {
	case errors.As(err, &u):
		fmt.Fprintln(a.err, "baton: warning:", u)
		st.problem = u.Error()
		return st, nil
	case errors.Is(err, errTaken) && cfg.BuiltIn && a.statePath == "":
		return a.secondState()
	case errors.Is(err, errTaken):
		return nil, fmt.Errorf("an engine already runs on the state %s (control API %s): attach to it with `baton attach`, stop it, or give this one another --state", dir, address(dir))
	}
	return st, err
}

func (a *app) secondState() (*state, error) {
	st, err := temporaryState()
	if err != nil {
		return nil, fmt.Errorf("make a temporary state: %w", err)
	}
	fmt.Fprintf(a.err, "baton: another engine runs already: this one takes free ports and a temporary state, %s\n", st.dir)
	return st, nil
}

// newEngine wires an engine that may reload its configuration.
func (a *app) newEngine(cfg *config.Config, st *state, logger *slog.Logger) (*process, error) {
	p, err := newProcess(cfg, st, freePorts{gateway: cfg.BuiltIn && a.listen == "", control: cfg.BuiltIn && a.controlListen == ""}, logger)
	if err != nil {
		return nil, err
	}
	p.load = a.config
	if st.problem != "" {
		p.warn(st.problem)
	}
	return p, nil
}

// headless serves until a signal ends it: SIGHUP reloads, the first SIGTERM or
// SIGINT drains, the second ends at once.
func (p *process) headless(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()
	return p.attend(stop, signals, done, serving)
}

// attended is how a process without a console stands.
type attended int

const (
	serving attended = iota // for as long as nobody ends it
	idling                  // it lost its console: it ends by itself when nobody asks anything any more
	ending                  // it drains
)

// attend waits for the end of a process that serves without a console.
func (p *process) attend(stop context.CancelFunc, signals <-chan os.Signal, done <-chan error, how attended) error {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-tick.C:
			if how == idling && p.idle() {
				p.logger.Info("no client for 10 minutes and no console: stopping")
				how = ending
				stop()
			}
		case s := <-signals:
			switch {
			case s == syscall.SIGHUP:
				_ = p.hub.Do(context.Background(), &control.Reload{Meta: control.Meta{By: "SIGHUP"}}) // the journal says how it went
			case how == ending:
				p.logger.Warn("second signal: ending at once")
				return exitCode(exitError)
			default:
				p.logger.Info("signal: draining", "signal", s.String())
				how = ending
				stop()
			}
		}
	}
}

// idleAfter is how long a simulated engine that lost its console serves nobody
// before it stops.
const idleAfter = 10 * time.Minute

// idle says whether nobody but the demo traffic has asked anything for a while.
func (p *process) idle() bool {
	return p.cfg.Load().Simulated() && time.Since(time.Unix(p.lastClient.Load(), 0)) > idleAfter
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"baton/engine/config"
	"baton/engine/control"
	"baton/tui"
)

// consoleFlags are how a console looks and what it may do.
type consoleFlags struct {
	readOnly, ascii, noMouse bool
	theme, lang              string
}

func (f *consoleFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.readOnly, "read-only", false, "look, do not touch")
	c.Flags().BoolVar(&f.ascii, "ascii", false, "draw with ASCII only")
	c.Flags().BoolVar(&f.noMouse, "no-mouse", false, "leave the mouse to the terminal")
	c.Flags().StringVar(&f.theme, "theme", "", "auto, dark, light or mono")
	c.Flags().StringVar(&f.lang, "lang", "", "auto, en or zh")
}

// options are the console's settings: the configuration's, then the flags'.
func (f *consoleFlags) options(a *app, c control.Control, look config.Console) (tui.Options, error) {
	o := tui.Options{Control: c, ReadOnly: f.readOnly, Theme: look.Theme, Lang: look.Lang, ASCII: look.ASCII || f.ascii || plainLocale(a.env), Mouse: look.Mouse && !f.noMouse, Operator: a.operator()}
	if f.theme != "" {
		o.Theme = f.theme
	}
	if f.lang != "" {
		o.Lang = f.lang
	}
	for _, check := range []struct{ flag, value, allowed string }{{"--theme", o.Theme, "auto dark light mono"}, {"--lang", o.Lang, "auto en zh"}} {
		if check.value != "" && !strings.Contains(" "+check.allowed+" ", " "+check.value+" ") {
			return o, fmt.Errorf("%s = %q is none of %s", check.flag, check.value, check.allowed)
		}
	}
	if o.Lang == "" || o.Lang == "auto" {
		o.Lang = "en"
		for _, k := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
			if v := a.env(k); v != "" {
				if strings.HasPrefix(v, "zh") {
					o.Lang = "zh"
				}
				break
			}
		}
	}
	return o, nil
}

// plainLocale says that the locale is the one that has nothing but ASCII.
func plainLocale(env func(string) string) bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(k); v != "" {
			return v == "C" || v == "POSIX"
		}
	}
	return false
}

// consoleCommand is `baton` without a command: console and engine.
func (a *app) consoleCommand() *cobra.Command {
	var look consoleFlags
	var demoRPS float64
	c := &cobra.Command{
		Use: "baton", Short: "Two model vendors driven as one, and the loss of either rehearsed", Args: cobra.NoArgs,
		Long: "baton serves an OpenAI-compatible API over two (or more) model vendors and opens a console on it. Without a configuration the vendors are simulated ones:\n" +
			"no key, no money, nothing leaves this machine.",
		Example: "  baton\n  baton --config config.toml --read-only\n  baton serve",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
				return errors.New("the console needs a terminal: use `baton serve` for the engine alone, `baton status --watch` for lines")
			}
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("demo-rps") {
				if cfg, err = withDemo(cfg, demoRPS); err != nil {
					return err
				}
			}
			return a.runConsole(cfg, look)
		},
	}
	look.add(c)
	c.Flags().Float64Var(&demoRPS, "demo-rps", 0, "requests per second of the demo traffic, in place of demo.rps")
	a.listenFlags(c)
	return c
}

// withDemo is cfg with another rate of demo traffic.
func withDemo(cfg *config.Config, rps float64) (*config.Config, error) {
	if !cfg.Simulated() {
		return nil, errors.New("--demo-rps: demo traffic is only for simulated vendors, and one of these is not")
	}
	if rps < 0 || rps > 10000 {
		return nil, fmt.Errorf("--demo-rps = %g is not between 0 and 10000", rps)
	}
	own := *cfg
	own.Demo.RPS = rps
	return &own, nil
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// runConsole opens the console on an engine in this process, or offers to
// attach to the one that runs already.
func (a *app) runConsole(cfg *config.Config, look consoleFlags) error {
	second := false
	if url := a.running(cfg); url != "" {
		switch a.offer(cfg, url) {
		case offerAttach:
			return a.attach(url, look)
		case offerLeave:
			return exitCode(exitNo)
		}
		second = true
	}
	st, err := a.ownState(cfg, second)
	if err != nil {
		return err
	}
	defer st.close()
	file, err := openLog(st.path("baton.log"))
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer file.Close()
	p, err := a.newEngine(cfg, st, logTo(file))
	if err != nil {
		return err
	}
	o, err := look.options(a, p.hub, cfg.Console)
	if err != nil {
		p.closeListeners()
		return err
	}
	o.Stress = p.stresses()
	return p.withConsole(o, file)
}

// running is the control API of an engine that holds the state's lock, "" if
// none does.
func (a *app) running(cfg *config.Config) string {
	dir, err := stateDir(a.statePath, cfg.State.Dir, a.env)
	if err != nil {
		return ""
	}
	st, err := openState(dir)
	if errors.Is(err, errTaken) {
		return address(dir)
	}
	if st != nil {
		st.release()
	}
	return ""
}

type offered int

const (
	offerSecond offered = iota
	offerAttach
	offerLeave
)

// offer asks what to do where an engine already runs. A second one is only for
// the built-in configuration.
func (a *app) offer(cfg *config.Config, url string) offered {
	fmt.Fprintf(a.err, "baton: an engine already runs here (control API %s).\n", url)
	second := cfg.BuiltIn && a.statePath == ""
	question := "y: attach to it   else: leave  "
	if second {
		question = "y: attach to it   s: a second one, free ports, temporary state   else: leave  "
	}
	switch answer := a.question(question); {
	case answer == "y" || answer == "yes":
		return offerAttach
	case answer == "s" && second:
		return offerSecond
	}
	return offerLeave
}

// withConsole serves with a console until one of them ends the other.
func (p *process) withConsole(o tui.Options, logFile *os.File) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()

	screen, closeScreen := context.WithCancel(ctx)
	defer closeScreen()
	o.Embedded = true
	o.SnapshotDir = p.state.path("snapshots")
	exits := make(chan tui.Exit, 1)
	broken := make(chan error, 1)
	go func() {
		exit, err := tui.Run(screen, o)
		if err != nil {
			broken <- err
			return
		}
		exits <- exit
	}()
	for {
		select {
		case err := <-done: // the engine ended by itself
			closeScreen()
			await(exits, broken)
			return err
		case err := <-broken:
			p.logger.Error("the console ended", "error", err)
			fmt.Fprintln(os.Stderr, "baton: the console ended:", err)
			return p.withoutConsole(stop, signals, done, logFile)
		case exit := <-exits:
			if exit == tui.Stopped {
				fmt.Fprintln(os.Stderr, "baton: draining (again to end at once)")
				stop()
				return p.attend(stop, signals, done, ending)
			}
			return p.withoutConsole(stop, signals, done, logFile)
		case s := <-signals:
			closeScreen()
			await(exits, broken)
			if s == syscall.SIGHUP {
				return p.withoutConsole(stop, signals, done, logFile)
			}
			stop()
			return p.attend(stop, signals, done, ending)
		}
	}
}

// await lets the console restore the terminal, but not for ever: the terminal
// may be gone.
func await(exits <-chan tui.Exit, broken <-chan error) {
	select {
	case <-exits:
	case <-broken: //nolint:errcheck // it is on its way out
	case <-time.After(2 * time.Second):
	}
}

// withoutConsole serves on after the console has ended.
func (p *process) withoutConsole(stop context.CancelFunc, signals <-chan os.Signal, done <-chan error, logFile *os.File) error {
	p.logger.Info("serving on without a console")
	p.lastClient.Store(time.Now().Unix())
	// Best effort: the terminal may be gone.
	fmt.Fprintf(os.Stderr, "baton: serving on without a console at http://%s/v1, logging to %s\nbaton: `baton attach %s --token-file %s` opens a console again; ctrl+c stops\n",
		p.gatewayL.Addr(), logFile.Name(), p.controlAddr(), p.state.path("control.token"))
	return p.attend(stop, signals, done, idling)
}

func (a *app) attachCommand() *cobra.Command {
	var look consoleFlags
	c := &cobra.Command{
		Use: "attach [URL]", Short: "Open a console onto a running engine", Args: cobra.MaximumNArgs(1),
		Example: "  baton attach\n  baton attach http://127.0.0.1:8089 --read-only",
		RunE: func(_ *cobra.Command, args []string) error {
			url := ""
			if len(args) == 1 {
				url = args[0]
			}
			if !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
				return errors.New("the console needs a terminal: use `baton status --watch` for lines")
			}
			return a.attach(url, look)
		},
	}
	look.add(c)
	return c
}

// attach opens a console onto a running engine.
func (a *app) attach(url string, look consoleFlags) error {
	client, err := a.remote(url)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	_, err = client.Ask(ctx, control.State{})
	cancel()
	if err != nil {
		return err
	}
	cfg := config.Default().Console
	if own, err := a.config(); err == nil {
		cfg = own.Console // how it looks is this terminal's affair
	}
	o, err := look.options(a, client, cfg)
	if err != nil {
		return err
	}
	o.Address, o.SnapshotDir = client.URL(), a.snapshots()
	screen, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	_, err = tui.Run(screen, o)
	return err
}

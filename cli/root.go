// Package cli is baton's command line and the wiring of the process: one file
// a command. It knows every other package, and none knows it.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"baton/engine/config"
	"baton/engine/control"
)

// Exit codes of every command.
const (
	exitOK    = 0 // done, or the thing asked about is so
	exitNo    = 1 // the thing asked about is not so
	exitError = 2 // could not run: usage, configuration, unreachable
)

// exitCode is an error that says how the process ends; its text, if any, has
// been printed.
type exitCode int

func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// app is what the commands share.
type app struct {
	builtin []byte // the embedded config.toml
	env     func(string) string
	in      io.Reader
	out     io.Writer
	err     io.Writer

	configPath, statePath, controlURL, tokenFile string
	listen, controlListen                        string
}

// Main runs the command line of this process and returns its exit code.
// builtin is the embedded configuration.
func Main(builtin []byte) int {
	a := &app{builtin: builtin, env: os.Getenv, in: os.Stdin, out: os.Stdout, err: os.Stderr}
	return a.run(os.Args[1:])
}

func (a *app) run(args []string) int {
	root := a.root()
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := root.ExecuteContext(context.Background())
	var code exitCode
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(a.err, "baton:", err)
	return exitError
}

// root is `baton` itself and all its commands.
func (a *app) root() *cobra.Command {
	c := a.consoleCommand()
	c.SilenceErrors, c.SilenceUsage = true, true
	c.CompletionOptions.HiddenDefaultCmd = true
	f := c.PersistentFlags()
	f.StringVar(&a.configPath, "config", "", "configuration file (default $BATON_CONFIG, ./config.toml, $XDG_CONFIG_HOME/baton/config.toml, /etc/baton/config.toml, the built-in one)")
	f.StringVar(&a.statePath, "state", "", "state directory (default state.dir of the configuration, then $XDG_STATE_HOME/baton)")
	f.StringVar(&a.controlURL, "control", "", "control API of a running engine (default $BATON_CONTROL, then <state>/control.addr)")
	f.StringVar(&a.tokenFile, "token-file", "", "file with the control API's token (default <state>/control.token)")
	c.AddCommand(a.serveCommand(), a.attachCommand(), a.statusCommand(), a.weightsCommand(), a.killCommand(), a.restoreCommand(),
		a.drainCommand(), a.undrainCommand(), a.enableCommand(), a.failoverCommand(), a.failuresCommand(), a.drillCommand(), a.limitsCommand(), a.checkCommand(), a.simCommand(), a.stressCommand(), a.benchmarksCommand(), a.initCommand(), a.versionCommand())
	c.AddCommand(a.witnessCommand(), a.replayCommand())
	c.AddCommand(a.moneyCommands()...)
	return c
}

// listenFlags are the addresses of a command that starts an engine.
func (a *app) listenFlags(c *cobra.Command) {
	c.Flags().StringVar(&a.listen, "listen", "", "address of the OpenAI-compatible API, in place of gateway.listen")
	c.Flags().StringVar(&a.controlListen, "control-listen", "", "address of the control API, in place of control.listen")
}

// config reads the configuration with what the flags override.
func (a *app) config() (*config.Config, error) {
	cfg, err := config.Load(config.Options{Flag: a.configPath, BuiltIn: a.builtin, Environ: a.env})
	if err != nil {
		return nil, err
	}
	if a.listen == "" && a.controlListen == "" {
		return cfg, nil
	}
	own := *cfg
	if a.listen != "" {
		own.Gateway.Listen = a.listen
	}
	if a.controlListen != "" {
		own.Control.Listen = a.controlListen
	}
	check := own
	check.Path = "--listen, --control-listen"
	if err := check.Validate(); err != nil {
		return nil, err
	}
	return &own, nil
}

// operator is the name of whoever runs the command.
func (a *app) operator() string {
	for _, k := range []string{"USER", "LOGNAME"} {
		if v := a.env(k); v != "" {
			return v
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// meta says who sends a command.
func (a *app) meta() control.Meta { return control.Meta{By: a.operator()} }

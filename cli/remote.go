package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/api"
	"baton/engine/control"
)

// remote finds the control API of the engine that runs: --control, then
// $BATON_CONTROL, then the state directory's.
func (a *app) remote(url string) (*api.Client, error) {
	dir, dirErr := a.findState()
	for _, u := range []string{url, a.controlURL, a.env("BATON_CONTROL")} {
		if u != "" {
			token, err := a.findToken(dir)
			if err != nil {
				return nil, err
			}
			return api.NewClient(u, token), nil
		}
	}
	if dirErr != nil {
		return nil, dirErr
	}
	addr := address(dir)
	if addr == "" {
		return nil, fmt.Errorf("no engine runs on the state %s: start one with `baton` or `baton serve`, or name its control API with --control", dir)
	}
	token, err := a.findToken(dir)
	if err != nil {
		return nil, err
	}
	return api.NewClient(addr, token), nil
}

// findState is the state directory for commands that talk to an engine. A
// configuration that cannot be read must not keep them from it, and the keys of
// vendors, which they do not need, may be in the engine's environment only.
func (a *app) findState() (string, error) {
	configured := ""
	if a.statePath == "" {
		cfg, err := a.looseConfig()
		switch {
		case err == nil:
			configured = cfg.State.Dir
		case errors.Is(err, fs.ErrNotExist): // a file that was named is to be there
			return "", err
		}
	}
	return stateDir(a.statePath, configured, a.env)
}

// snapshots is where a console without an engine of its own keeps saved screens:
// where the engine of this state does, else in the working directory.
func (a *app) snapshots() string {
	dir, err := a.findState()
	if err != nil {
		return "."
	}
	return filepath.Join(dir, "snapshots")
}

// looseEnv is the environment, where what is not set is something: secrets that a
// command does not need.
func (a *app) looseEnv(name string) string {
	if v := a.env(name); v != "" || name == "BATON_CONFIG" || name == "XDG_CONFIG_HOME" || name == "HOME" {
		return v
	}
	return "not in this environment"
}

func (a *app) findToken(dir string) (string, error) {
	path := a.tokenFile
	if path == "" {
		path = filepath.Join(dir, "control.token")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the control API's token: %w (give it with --token-file)", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// ask runs f against the engine with a time limit.
func (a *app) ask(f func(ctx context.Context, c control.Control) error) error {
	c, err := a.remote("")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	return f(ctx, c)
}

// sends is the body of a command that sends one control.Command and says what
// came of it.
func (a *app) sends(make func(args []string) (control.Command, error), done func(args []string) string) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		cmd, err := make(args)
		if err != nil {
			return err
		}
		return a.ask(func(ctx context.Context, c control.Control) error {
			if err := c.Do(ctx, cmd); err != nil {
				return err
			}
			fmt.Fprintln(a.out, done(args))
			return nil
		})
	}
}

// printJSON writes one JSON document.
func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetIndent("", " ")
	return e.Encode(v)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"baton/drills/witness"
	"baton/engine/control"
)

func (a *app) witnessCommand() *cobra.Command {
	var (
		rps             float64
		logTo, model    string
		keyEnv          string
		lasts           time.Duration
		asJSON, quietly bool
	)
	c := &cobra.Command{
		Use: "witness [URL]", Short: "An independent observer with its own clock, for drills",
		Long: "Send a few marked requests a second through a gateway and log what came of each, as a client would see it. The log is given to a drill\n" +
			"(`baton drill run ... --witness FILE`), whose report then has both cutovers and their difference. Without a URL: the gateway of the engine that runs.",
		Example: "  baton witness http://127.0.0.1:8080/v1 --rps 2 --log witness.jsonl\n  baton witness --for 5m", Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if rps < 0.1 || rps > witness.MaxRPS {
				return fmt.Errorf("--rps = %g is not between 0.1 and %d: it observes, it is no load", rps, witness.MaxRPS)
			}
			if lasts < 0 {
				return fmt.Errorf("--for = %s is negative", lasts)
			}
			w := &witness.Witness{RPS: rps, Model: model}
			if keyEnv != "" {
				if w.Key = a.env(keyEnv); w.Key == "" {
					return fmt.Errorf("--key-env: the environment has no %s", keyEnv)
				}
			}
			var err error
			if w.URL, err = a.gatewayURL(args); err != nil {
				return err
			}
			if logTo == "" {
				logTo = "witness-" + time.Now().UTC().Format("20060102-150405") + ".jsonl"
			}
			if !quietly {
				w.Ended = func(e witness.Entry) { a.noteworthy(&e) }
			}
			sum, err := a.observe(w, logTo, lasts)
			switch {
			case err != nil:
				return err
			case asJSON:
				err = a.printJSON(map[string]any{"log": logTo, "url": w.URL, "summary": sum})
			default:
				a.printWitness(sum, logTo)
			}
			if err == nil && sum.Requests == sum.Failed {
				return exitCode(exitNo) // nothing was answered
			}
			return err
		},
	}
	c.Flags().Float64Var(&rps, "rps", 2, "requests per second, at most 5")
	c.Flags().StringVar(&logTo, "log", "", "file that the log is appended to (default witness-TIME.jsonl here)")
	c.Flags().StringVar(&model, "model", "", "model to ask for (default the first that the gateway lists)")
	c.Flags().StringVar(&keyEnv, "key-env", "", "environment variable with the client key, where the gateway asks for one")
	c.Flags().DurationVar(&lasts, "for", 0, "end after this time (default: when it is interrupted)")
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON")
	c.Flags().BoolVarP(&quietly, "quiet", "q", false, "say nothing of single requests")
	return c
}

// gatewayURL is the API to observe: the one named, else of the engine that runs.
func (a *app) gatewayURL(args []string) (string, error) {
	if len(args) == 0 {
		address := ""
		err := a.ask(func(ctx context.Context, c control.Control) error {
			s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
			if err == nil {
				address = s.Gateway.Address
			}
			return err
		})
		if err != nil {
			return "", err
		}
		return "http://" + address + "/v1", nil
	}
	s := args[0]
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%q is no URL of a gateway, such as http://127.0.0.1:8080/v1", args[0])
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return u.String(), nil
}

// observe runs a witness until it is interrupted or its time is over.
func (a *app) observe(w *witness.Witness, path string, lasts time.Duration) (*witness.Summary, error) {
	file, err := openWitnessLog(path)
	if err != nil {
		return nil, err
	}
	w.Log = file
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if lasts > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, lasts)
		defer cancel()
	}
	context.AfterFunc(ctx, stop) // a second signal ends it at once
	fmt.Fprintf(a.err, "witnessing %s, %g requests/s, logging to %s; ctrl+c ends it\n", w.URL, w.RPS, path)
	sum, err := w.Run(ctx)
	return sum, errors.Join(err, file.Close())
}

// openWitnessLog opens a log to append to. Only logs of witnesses are appended to.
func openWitnessLog(path string) (*os.File, error) {
	if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
		if _, err := witness.Read(path); err != nil {
			return nil, fmt.Errorf("--log: %s is there already, and it is no log of a witness", path)
		}
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--log: %w", err)
	}
	return f, nil
}

// noteworthy says what a person who watches would want to see.
func (a *app) noteworthy(e *witness.Entry) {
	at := e.Sent.Local().Format("15:04:05.000")
	switch {
	case !e.OK:
		fmt.Fprintf(a.err, "%s  failed   %s  %s\n", at, e.ID, e.Error)
	case e.Attempts > 1:
		fmt.Fprintf(a.err, "%s  rescued  %s  by %s, attempt %d\n", at, e.ID, e.Vendor, e.Attempts)
	}
}

func (a *app) printWitness(s *witness.Summary, path string) {
	fmt.Fprintf(a.out, "%d requests: %d answered, %d failed, %d of the answered only after more than one attempt\n", s.Requests, s.Requests-s.Failed, s.Failed, s.Rescued)
	for _, v := range slices.Sorted(maps.Keys(s.Vendors)) {
		name := v
		if name == "" {
			name = "(not said)"
		}
		fmt.Fprintf(a.out, "  %-20s %d\n", name, s.Vendors[v])
	}
	if s.P50ms != nil {
		fmt.Fprintf(a.out, "first token: P50 %.0f ms, P90 %.0f ms, P99 %.0f ms, slowest %.0f ms (n = %d)\n", *s.P50ms, *s.P90ms, *s.P99ms, *s.Maxms, s.Requests-s.Failed)
	}
	fmt.Fprintf(a.out, "longest time between two good answers: %.1f s\n", s.WithoutS)
	_, _ = io.WriteString(a.out, "log: "+path+"\n")
}

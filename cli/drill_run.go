package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"baton/drills/load"
	"baton/engine/config"
	"baton/engine/control"
)

// Exit codes of `drill run`, beside passed (0), failed (1) and could not run (2).
const (
	exitRefused      = 3
	exitAborted      = 4
	exitInconclusive = 5
)

// drillRun is what `drill run` was asked.
type drillRun struct {
	start  control.StartDrill
	json   bool
	report string
	yes    bool
}

func (a *app) drillRunCommand() *cobra.Command {
	d := &drillRun{}
	var lasts, countdown time.Duration
	c := &cobra.Command{
		Use: "run SCENARIO", Short: "Run a drill and wait for its end (exit 0 passed, 1 failed, 2 could not run, 3 refused, 4 aborted, 5 inconclusive)",
		Long: "Run a scenario on the engine that runs, or on one of its own where none does (with demo traffic, or as much on vendors of this machine). Progress goes to standard error, " +
			"the report's place to standard output, with --json the whole report. Ctrl-C aborts: the vendor is restored. A second one ends at once.",
		Example: "  baton drill run kill-primary\n  baton drill run kill --vendor lanyun --fault blackhole --for 5m\n  baton drill run kill-secondary --json --ticket OPS-12 > report.json",
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			d.start.Meta, d.start.Scenario = a.meta(), args[0]
			d.start.For, d.start.Countdown = control.Duration(lasts), control.Duration(countdown)
			if d.start.Witness != "" {
				path, err := filepath.Abs(d.start.Witness)
				if err != nil {
					return err
				}
				d.start.Witness = path
			}
			return a.runDrill(d)
		},
	}
	f := c.Flags()
	f.StringVar(&d.start.Vendor, "vendor", "", "whom it hits, in place of the scenario's target")
	f.StringVar(&d.start.Fault, "fault", "", "what happens to the path to it, in place of the scenario's fault")
	f.DurationVar(&lasts, "for", 0, "after which the fault ends by itself (at most 1h)")
	f.DurationVar(&countdown, "countdown", 0, "after the baseline, to abort in before the fault (at most 10m)")
	f.BoolVar(&d.json, "json", false, "print the report as JSON")
	f.StringVar(&d.report, "report", "", "also write the report (JSON, Markdown, HTML) into this directory")
	f.StringVar(&d.start.Note, "note", "", "a note for the report")
	f.StringVar(&d.start.Ticket, "ticket", "", "a ticket for the report")
	f.StringVar(&d.start.Witness, "witness", "", "log of a `baton witness` that runs, to hold the cutover against")
	f.BoolVar(&d.start.Force, "force", false, "also in a blackout, with a burnt error budget, or on a vendor drilled today")
	f.BoolVarP(&d.yes, "yes", "y", false, "do not ask")
	a.listenFlags(c)
	return c
}

// runDrill runs it on the engine that runs, or on one of its own.
func (a *app) runDrill(d *drillRun) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	if d.start.Scenario == storyScenario {
		return a.runStory(d, signals)
	}
	c, err := a.engineThere()
	if err != nil {
		return err
	}
	if c != nil {
		return a.rehearse(d, c, signals)
	}
	return a.onOwnEngine(d, signals)
}

// engineThere is the engine that runs, nil where none does.
func (a *app) engineThere() (control.Control, error) {
	named := a.controlURL != "" || a.env("BATON_CONTROL") != ""
	dir, err := a.findState()
	if err != nil {
		return nil, err
	}
	if !named && address(dir) == "" {
		return nil, nil
	}
	c, err := a.remote("")
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, err = control.Get[*control.Snapshot](ctx, c, control.State{})
	var e *control.Error
	if !named && errors.As(err, &e) && e.Kind == control.Unreachable { // it was killed outright, and left its address
		return nil, nil
	}
	return c, err
}

// onOwnEngine runs it on an engine that ends with it.
func (a *app) onOwnEngine(d *drillRun, signals <-chan os.Signal) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	st, err := a.ownState(cfg, false)
	if err != nil {
		return err
	}
	defer st.close()
	p, err := a.newEngine(cfg, st, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	a.tell("no engine runs: this drill has one of its own, http://%s/v1", p.gatewayL.Addr())
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	done := make(chan error, 1)
	go func() { done <- p.run(ctx) }()
	sending := a.send(ctx, p, cfg, d.start.Scenario)
	err = a.settled(p, cfg, d, signals)
	if err == nil {
		err = a.rehearse(d, p.hub, signals)
	}
	stop()
	sending()
	if ended := <-done; err == nil && ended != nil {
		err = ended
	}
	return err
}

// send gives an engine of a drill's own something to do where it has no demo
// traffic, unless that costs money. The function it returns waits for its end.
func (a *app) send(ctx context.Context, p *process, cfg *config.Config, scenario string) func() {
	switch {
	case p.demoOn() || ownLoad(p, scenario):
		return func() {}
	case cfg.AnyReal():
		a.tell("a vendor is real, and nothing is sent to it: without traffic of your own the drill proves nothing")
		return func() {}
	}
	rps := cfg.Demo.RPS
	if rps <= 0 {
		rps = config.Default().Demo.RPS
	}
	t := &load.Traffic{
		URL: "http://" + p.gatewayL.Addr().String() + "/v1", Model: p.demoModel(), RPS: rps, Batch: cfg.Demo.Batch, Stream: 0.9,
		Seed: 1, UserAgent: demoAgent, Outstanding: 512,
	}
	if keys := cfg.Clients; len(keys) > 0 {
		t.Key = keys[0].Key.Reveal()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = t.Run(ctx)
	}()
	return func() { <-done }
}

// ownLoad says whether a scenario sends its own requests.
func ownLoad(p *process, scenario string) bool {
	all := p.machine.Scenarios()
	i := slices.IndexFunc(all, func(s control.Scenario) bool { return s.Name == scenario })
	return i >= 0 && slices.ContainsFunc(all[i].Explain, func(s string) bool { return strings.Contains(s, "of its own") })
}

// settled waits until an engine that has just begun has been well for as long as
// a drill wants it to be: nothing else that preflight finds is waited for.
func (a *app) settled(p *process, cfg *config.Config, d *drillRun, signals <-chan os.Signal) error {
	const beyond = 30 * time.Second // for what a start shakes
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	said := false
	for until := time.Now().Add(cfg.Drill.Settle + beyond); ; {
		pre, err := control.Get[*control.Preflight](context.Background(), p.hub, control.PreflightOf{Scenario: d.start.Scenario, Vendor: d.start.Vendor, Fault: d.start.Fault})
		var e *control.Error
		switch {
		case errors.As(err, &e) && e.Kind == control.Invalid:
			return err
		case err != nil || pre.Refused == "" || time.Now().After(until):
			return nil // the drill says the rest
		}
		if !said {
			a.tell("it has just begun: its vendors have to be well for %s first", control.Duration(cfg.Drill.Settle))
			said = true
		}
		select {
		case <-signals:
			a.tell("interrupted before the drill began")
			return exitCode(exitAborted)
		case <-tick.C:
		}
	}
}

// tell says how things go, on standard error.
func (a *app) tell(format string, args ...any) { fmt.Fprintf(a.err, "baton: "+format+"\n", args...) }

// rehearse starts the drill, follows it to its end and says how it went.
func (a *app) rehearse(d *drillRun, c control.Control, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	if may, err := a.mayRun(ctx, c, d); err != nil || !may {
		return errors.Join(err, exitIf(err == nil, exitNo))
	}
	d.start.ID = control.NewDrillID(time.Now())
	if err := c.Do(ctx, &d.start); err != nil {
		return a.refusal(err)
	}
	f := &follower{a: a, c: c, id: d.start.ID, tasks: -1}
	err := f.follow(signals)
	if err != nil {
		return err
	}
	return a.outcome(d, c)
}

// refusal is what the start of a drill failed with: refused where another one
// runs, else err itself.
func (a *app) refusal(err error) error {
	var e *control.Error
	if errors.As(err, &e) && e.Kind == control.Conflict {
		a.tell("refused: %s", e.Message)
		return exitCode(exitRefused)
	}
	return err
}

func exitIf(is bool, code int) error {
	if is {
		return exitCode(code)
	}
	return nil
}

// mayRun asks whoever sits at a terminal where a vendor is real; its name is
// typed.
func (a *app) mayRun(ctx context.Context, c control.Control, d *drillRun) (bool, error) {
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	if err != nil || d.yes || !a.onTerminal() || !strings.HasPrefix(s.Environment, "PROD") {
		return err == nil, err
	}
	pre, err := control.Get[*control.Preflight](ctx, c, control.PreflightOf{Scenario: d.start.Scenario, Vendor: d.start.Vendor, Fault: d.start.Fault})
	if err != nil {
		return false, err
	}
	for _, line := range pre.Plan {
		fmt.Fprintln(a.err, "  -", line)
	}
	word := pre.Vendor
	if word == "" {
		word = pre.Scenario
	}
	if a.question(fmt.Sprintf("This is a drill in %s. Type %s to run it: ", s.Environment, word)) == word {
		return true, nil
	}
	fmt.Fprintln(a.err, "nothing was started")
	return false, nil
}

// outcome prints the report and gives the exit code of its verdict.
func (a *app) outcome(d *drillRun, c control.Control) error {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	r, err := control.Get[*control.Report](ctx, c, control.DrillByID{ID: d.start.ID})
	if err != nil {
		return err
	}
	if d.report != "" {
		paths, err := writeReport(d.report, r)
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		a.tell("wrote %s", strings.Join(paths, ", "))
	}
	if d.json {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		a.printOutcome(r)
	}
	return exitIf(r.Verdict != control.Passed, verdictCode(r.Verdict))
}

func verdictCode(verdict string) int {
	switch verdict {
	case control.Passed:
		return exitOK
	case control.Refused:
		return exitRefused
	case control.Aborted:
		return exitAborted
	case control.Inconclusive:
		return exitInconclusive
	}
	return exitNo
}

func (a *app) printOutcome(r *control.Report) {
	fmt.Fprintf(a.out, "%s: %s", strings.TrimSpace(r.ID+" "+r.Scenario+" "+r.Vendor), strings.ToUpper(r.Verdict))
	if r.Reason != "" {
		fmt.Fprintf(a.out, ": %s", r.Reason)
	}
	fmt.Fprintln(a.out)
	for _, b := range r.Hypothesis {
		fmt.Fprintf(a.out, "  %s %s: wanted %s, got %s\n", ticked(b.OK), b.Name, b.Want, b.Got)
	}
	if r.Trend != "" {
		fmt.Fprintf(a.out, "  %s\n", r.Trend)
	}
	if r.Files["html"] != "" {
		fmt.Fprintf(a.out, "  report %s\n", r.Files["html"])
	}
}

package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"baton/engine/control"
)

func (a *app) killCommand() *cobra.Command {
	var (
		kind  string
		lasts time.Duration
		yes   bool
	)
	c := &cobra.Command{
		Use: "kill VENDOR", Short: "Kill a vendor as a drill: the engine has to notice, and the cutover is timed",
		Long: "Run the scenario kill: a fault in the path to the vendor, which the engine is not told of. It prints what it started and returns at once; `baton restore VENDOR` ends it.\n" +
			"Exit code 3 if it is refused, as of `baton drill run kill`: another drill runs, or nobody else may take traffic. To take a vendor out of service now, use `baton drain VENDOR`.",
		Example: "  baton kill lanyun\n  baton kill lanyun --fault blackhole --for 5m", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.ask(func(ctx context.Context, c control.Control) error {
				if !yes && a.onTerminal() {
					may, err := a.mayKill(ctx, c, args[0])
					if err != nil {
						return err
					}
					if !may {
						fmt.Fprintln(a.out, "nothing was killed")
						return exitCode(exitNo)
					}
				}
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
				defer cancel()
				cmd := &control.StartDrill{Meta: a.meta(), ID: control.NewDrillID(time.Now()), Scenario: "kill", Vendor: args[0], Fault: kind, For: control.Duration(lasts)}
				if err := c.Do(ctx, cmd); err != nil {
					return a.refusal(err)
				}
				return a.started(ctx, c, cmd.ID)
			})
		},
	}
	c.Flags().StringVar(&kind, "fault", "refuse", "what happens to the vendor's path: refuse, blackhole, reset, http_500, http_503, http_429, slow_first_token, slow_drip, cut_stream, stall_stream, garbage, dns, tls, auth")
	c.Flags().DurationVar(&lasts, "for", 0, "after which the fault ends by itself (default 15m, at most 1h)")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// started says what a drill that has just been started is doing.
func (a *app) started(ctx context.Context, c control.Control, id string) error {
	for range 20 {
		s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
		if err != nil {
			return err
		}
		d := s.Drill
		switch {
		case d == nil || d.ID != id:
			return fmt.Errorf("the drill %s is gone", id)
		case d.Verdict != nil && *d.Verdict == control.Refused:
			a.tell("refused: %s", d.Reason)
			return exitCode(exitRefused)
		case d.Phase != control.PhaseSteady:
			until := ""
			if d.Until != nil {
				until = ", at the latest at " + d.Until.Local().Format("15:04:05")
			}
			fmt.Fprintf(a.out, "drill %s: %s killed with %s. `baton status` shows the cutover; `baton restore %s` ends it%s\n", id, d.Vendor, d.Fault.Kind, d.Vendor, until)
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	fmt.Fprintf(a.out, "drill %s started\n", id)
	return nil
}

// onTerminal says whether a person can be asked.
func (a *app) onTerminal() bool {
	in, ok := a.in.(*os.File)
	return ok && term.IsTerminal(int(in.Fd()))
}

// confirm asks on the terminal; only y means yes.
func (a *app) confirm(question string) bool {
	answer := a.question(question)
	return answer == "y" || answer == "yes"
}

// question asks on the terminal and returns the answer in lower case.
func (a *app) question(text string) string {
	fmt.Fprint(a.err, text)
	line, _ := bufio.NewReader(a.in).ReadString('\n')
	return strings.ToLower(strings.TrimSpace(line))
}

// mayKill asks whoever sits at a terminal; in PROD the vendor's name is typed.
func (a *app) mayKill(ctx context.Context, c control.Control, vendor string) (bool, error) {
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	if err != nil {
		return false, err
	}
	text := fmt.Sprintf("This is a drill in %s: %s is killed and the engine has to notice. (`baton drain %s` takes it out now.)\n", s.Environment, vendor, vendor)
	if strings.HasPrefix(s.Environment, "PROD") {
		return a.question(text+"Type its name to kill it: ") == vendor, nil
	}
	return a.confirm(text + "Kill it? [y/N] "), nil
}

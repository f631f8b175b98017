package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"baton/engine/control"
)

func (a *app) failoverCommand() *cobra.Command {
	var (
		lasts  time.Duration
		asJSON bool
	)
	c := &cobra.Command{
		Use: "failover [manual | auto]", Short: "Let people move traffic away from a vendor that is down, for a while",
		Long: "Without an argument: how it stands. manual: breakers only alarm and the weights stay where they are, so that people can rehearse moving them; it ends by itself. auto ends it now.\n" +
			"Requests still fail over one by one: clients are not hurt meanwhile as long as another vendor has room.",
		Example: "  baton failover\n  baton failover manual --for 30m\n  baton failover auto",
		Args:    cobra.MaximumNArgs(1), ValidArgs: []string{"manual", "auto"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ask(func(ctx context.Context, c control.Control) error {
				if len(args) == 1 {
					if cmd.Flags().Changed("for") && lasts <= 0 {
						return fmt.Errorf("failover: --for %s is not above 0", lasts)
					}
					if err := c.Do(ctx, &control.SetFailover{Meta: a.meta(), Mode: args[0], For: control.Duration(lasts)}); err != nil {
						return err
					}
				}
				return a.showFailover(ctx, c, asJSON)
			})
		},
	}
	c.Flags().DurationVar(&lasts, "for", 0, "how long manual lasts (default 30m, at most 4h)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) showFailover(ctx context.Context, c control.Control, asJSON bool) error {
	s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
	switch {
	case err != nil:
		return err
	case asJSON:
		return a.printJSON(map[string]any{"failover": s.Failover, "failover_until": s.FailoverUntil, "revision": s.Revision})
	case s.Failover == "auto":
		fmt.Fprintln(a.out, "failover is automatic")
	case s.FailoverUntil == nil:
		fmt.Fprintln(a.out, "failover is manual, as the file says: breakers alarm, people move the weights")
	default:
		fmt.Fprintf(a.out, "failover is manual until %s: breakers alarm, people move the weights\n", s.FailoverUntil.Local().Format("15:04:05"))
	}
	return nil
}

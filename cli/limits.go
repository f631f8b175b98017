package cli

import (
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"baton/engine/control"
)

func (a *app) limitsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "limits", Short: "What is known of each vendor's rate limit", Args: cobra.NoArgs,
		Example: "  baton limits\n  baton limits set bailian 20\n  baton limits forget bailian",
		RunE: func(*cobra.Command, []string) error {
			return a.ask(func(ctx context.Context, c control.Control) error {
				s, err := control.Get[*control.Snapshot](ctx, c, control.State{})
				if err != nil {
					return err
				}
				if asJSON {
					limits := map[string]control.Limit{}
					for _, v := range s.Vendors {
						limits[v.Name] = v.Limit
					}
					return a.printJSON(map[string]any{"limits": limits})
				}
				w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "VENDOR\tKNOWN\tLEARNED\tALLOWED\tKEYS\tEVIDENCE")
				for _, v := range s.Vendors {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", v.Name, perSecond(v.Limit.KnownRPS), perSecond(v.Limit.LearnedRPS), perSecond(v.Limit.AllowedRPS), v.Limit.Keys, v.Limit.Evidence)
				}
				return w.Flush()
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(&cobra.Command{
		Use: "set VENDOR RPS", Short: "Set a vendor's limit, in requests per second and key", Example: "  baton limits set bailian 20", Args: cobra.ExactArgs(2),
		RunE: a.sends(func(args []string) (control.Command, error) {
			rps, err := strconv.ParseFloat(args[1], 64)
			if err != nil || rps <= 0 {
				return nil, fmt.Errorf("limits: %q is no rate above 0 (`baton limits forget %s` takes a limit away)", args[1], args[0])
			}
			return &control.SetLimit{Meta: a.meta(), Vendor: args[0], RPS: rps}, nil
		}, func(args []string) string { return args[0] + " is limited to " + args[1] + " requests/s" }),
	}, &cobra.Command{
		Use: "forget VENDOR", Short: "Forget what was learned or set of a vendor's limit", Example: "  baton limits forget bailian", Args: cobra.ExactArgs(1),
		RunE: a.sends(func(args []string) (control.Command, error) {
			return &control.ForgetLimit{Meta: a.meta(), Vendor: args[0]}, nil
		}, func(args []string) string { return "the limit of " + args[0] + " is forgotten" }),
	})
	return c
}

func perSecond(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'f', -1, 64) + "/s"
}
